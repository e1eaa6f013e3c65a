"""How each field joins what the user wrote."""

from typing import Any

import pytest

from unit.mutation.manifests import (
    CONTAINER,
    REQUIRED,
    TERMS,
    affinity,
    container,
    intent,
    merged,
    pod,
    pytorch_job,
    replica,
)
from usher import paths
from usher.mutation import merge, strategies

ANY_GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
ON_H100 = {"key": "product", "operator": "In", "values": ["H100"]}
IN_ZONE = {"key": "zone", "operator": "In", "values": ["b"]}
BY_NAME: paths.Json = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}
QUEUE = {"kueue.x-k8s.io/queue-name": "research"}
WORKER = "/spec/pytorchReplicaSpecs/Worker/template"


def at(result: merge.Merged, pointer: str) -> Any:
    return paths.resolve(result.value, pointer)


def refusals(result: merge.Merged) -> list[str]:
    """Why nothing was changed; also proves that nothing was."""
    assert not result.applied
    assert not result.operations
    return [skipped.reason for skipped in result.skipped]


def tolerating(*present: Any, wanted: Any = None) -> merge.Merged:
    return merged(pod(tolerations=list(present)), intent("toleration", wanted or ANY_GPU_TAINT))


def test_a_toleration_goes_behind_those_that_are_there() -> None:
    theirs = {"key": "team", "operator": "Exists"}

    assert at(tolerating(theirs), "/spec/tolerations") == [theirs, ANY_GPU_TAINT]


def test_a_pod_without_tolerations_gets_a_list_of_one() -> None:
    result = merged(pod(), intent("toleration", ANY_GPU_TAINT))

    assert result.operations[0] == {"op": "add", "path": "/spec/tolerations", "value": [ANY_GPU_TAINT]}


@pytest.mark.parametrize(
    "present",
    [
        ANY_GPU_TAINT,
        {"key": "nvidia.com/gpu", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": ""},
        {"operator": "Exists"},
    ],
)
def test_what_is_tolerated_already_is_not_tolerated_again(present: paths.Json) -> None:
    assert refusals(tolerating(present)) == [strategies.ALREADY_THERE]


@pytest.mark.parametrize(
    "present",
    [
        {"key": "nvidia.com/gpu"},
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"},
        {"key": "nvidia.com/gpu.shared", "operator": "Exists"},
    ],
)
def test_a_toleration_of_one_value_or_another_effect_does_not_cover_all_values(present: paths.Json) -> None:
    assert at(tolerating(present), "/spec/tolerations") == [present, ANY_GPU_TAINT]


def test_a_toleration_of_a_value_is_covered_by_an_equal_one() -> None:
    wanted = {"key": "team", "operator": "Equal", "value": "research", "effect": "NoExecute"}
    equal = {"key": "team", "value": "research"}
    other = {"key": "team", "value": "vision"}

    assert refusals(tolerating(equal, wanted=wanted)) == [strategies.ALREADY_THERE]
    assert at(tolerating(other, wanted=wanted), "/spec/tolerations") == [other, wanted]


def test_a_toleration_by_comparison_is_added_once() -> None:
    wanted = {"key": "slice", "operator": "Gt", "value": "4", "effect": "NoSchedule"}

    assert refusals(tolerating(wanted, wanted=wanted)) == [strategies.ALREADY_THERE]


def test_tolerations_that_are_no_list_are_left_alone() -> None:
    result = merged(pod(tolerations={"key": "team"}), intent("toleration", ANY_GPU_TAINT))

    assert refusals(result) == ["something else is in its place: /spec/tolerations"]


def requiring(value: paths.Object) -> merge.Merged:
    return merged(value, intent("nodeRequirement", ON_H100))


@pytest.mark.parametrize("present", [None, {}, {"nodeAffinity": None}, {"nodeAffinity": {REQUIRED: None}}])
def test_without_required_affinity_a_term_is_made(present: paths.Json) -> None:
    assert at(requiring(pod(affinity=present)), TERMS) == [{"matchExpressions": [ON_H100]}]


def test_preferred_affinity_and_pod_affinity_stay_as_they_are() -> None:
    theirs: paths.Object = {
        "podAntiAffinity": {"x": []},
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]},
    }
    result = at(requiring(pod(affinity=theirs)), "/spec/affinity")

    assert result["podAntiAffinity"] == {"x": []}
    assert result["nodeAffinity"] == {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
        REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [ON_H100]}]},
    }


def test_a_requirement_goes_into_every_term() -> None:
    result = requiring(pod(affinity=affinity({"matchExpressions": [IN_ZONE]}, {"matchExpressions": [BY_NAME]})))

    assert at(result, TERMS) == [{"matchExpressions": [IN_ZONE, ON_H100]}, {"matchExpressions": [BY_NAME, ON_H100]}]


@pytest.mark.parametrize("expressions", [{}, {"matchExpressions": []}, {"matchExpressions": None}])
def test_a_term_by_node_name_alone_gets_it_too(expressions: paths.Object) -> None:
    term: paths.Object = {"matchFields": [BY_NAME], **expressions}

    assert at(requiring(pod(affinity=affinity(term))), TERMS) == [
        {"matchFields": [BY_NAME], "matchExpressions": [ON_H100]}
    ]


@pytest.mark.parametrize("empty", [{}, {"matchExpressions": []}, {"matchFields": []}, None, "text"])
def test_an_empty_term_matches_no_node_and_goes_on_matching_none(empty: paths.Json) -> None:
    result = requiring(pod(affinity=affinity(empty, {"matchExpressions": [IN_ZONE]})))

    assert at(result, TERMS) == [empty, {"matchExpressions": [IN_ZONE, ON_H100]}]


@pytest.mark.parametrize("required", [{}, {"nodeSelectorTerms": []}, {"nodeSelectorTerms": None}])
def test_an_affinity_without_terms_goes_on_matching_no_node(required: paths.Json) -> None:
    result = requiring(pod(affinity={"nodeAffinity": {REQUIRED: required}}))

    assert refusals(result) == [strategies.MATCHES_NOTHING]


def test_only_the_terms_that_lack_a_requirement_get_it() -> None:
    result = requiring(pod(affinity=affinity({"matchExpressions": [ON_H100]}, {"matchExpressions": [IN_ZONE]})))

    assert [operation["path"] for operation in result.operations[:-1]] == [f"{TERMS}/1/matchExpressions/-"]


def test_a_requirement_that_every_term_has_is_not_repeated() -> None:
    assert refusals(requiring(pod(affinity=affinity({"matchExpressions": [ON_H100]})))) == [strategies.ALREADY_THERE]


def test_another_requirement_of_the_same_key_stays_beside_it() -> None:
    theirs = {"key": "product", "operator": "NotIn", "values": ["T4"]}

    assert at(requiring(pod(affinity=affinity({"matchExpressions": [theirs]}))), TERMS) == [
        {"matchExpressions": [theirs, ON_H100]}
    ]


@pytest.mark.parametrize(
    "broken",
    [
        affinity({"matchExpressions": [IN_ZONE]}, {"matchExpressions": {"key": "zone"}}),
        {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": {"matchExpressions": [IN_ZONE]}}}},
        {"nodeAffinity": ["text"]},
        "text",
    ],
)
def test_an_affinity_with_a_wrong_type_anywhere_is_left_alone_as_a_whole(broken: paths.Json) -> None:
    value = pod(affinity=broken)
    result = requiring(value)

    assert refusals(result)[0].startswith("something else is in its place")
    assert result.value == value


def test_two_requirements_stand_in_one_term() -> None:
    result = merged(pod(), intent("nodeRequirement", ON_H100), intent("nodeRequirement", IN_ZONE))

    assert at(result, TERMS) == [{"matchExpressions": [ON_H100, IN_ZONE]}]


def with_environment(environment: Any) -> merge.Merged:
    value = pod(containers=[container(env=environment)])
    return merged(value, intent("environment", DEBUG, at=CONTAINER))


@pytest.mark.parametrize("environment", [None, []])
def test_a_container_without_variables_gets_one(environment: paths.Json) -> None:
    assert at(with_environment(environment), CONTAINER + "/env") == [DEBUG]


def test_a_variable_goes_behind_those_that_are_there() -> None:
    home = {"name": "HOME", "value": "/"}

    assert at(with_environment([home]), CONTAINER + "/env") == [home, DEBUG]


@pytest.mark.parametrize(
    "theirs",
    [
        {"name": "NCCL_DEBUG", "value": "INFO"},
        {"name": "NCCL_DEBUG", "value": ""},
        {"name": "NCCL_DEBUG"},
        {"name": "NCCL_DEBUG", "valueFrom": {"configMapKeyRef": {"name": "nccl", "key": "debug"}}},
    ],
)
def test_a_variable_of_the_user_stays_however_it_is_set(theirs: paths.Json) -> None:
    assert refusals(with_environment([theirs])) == [strategies.USER_DECIDES]


def test_a_variable_that_is_there_is_not_repeated() -> None:
    assert refusals(with_environment([DEBUG])) == [strategies.ALREADY_THERE]


def test_entries_that_are_no_variables_are_passed_over() -> None:
    assert at(with_environment(["text", None, {}]), CONTAINER + "/env") == ["text", None, {}, DEBUG]


def test_variables_that_are_no_list_are_left_alone() -> None:
    assert refusals(with_environment({"NCCL_DEBUG": "INFO"})) == [
        "something else is in its place: " + CONTAINER + "/env"
    ]


@pytest.mark.parametrize("name", ["MASTER_ADDR", "PET_NNODES"])
def test_a_variable_that_the_operator_sets_is_left_to_it(name: str) -> None:
    wanted = intent("environment", {"name": name, "value": "1"}, at=WORKER + "/spec/containers/0")

    assert refusals(merged(pytorch_job(), wanted)) == [f"the operator sets {name} itself"]


def test_a_name_that_only_starts_like_the_operators_is_ours_to_set() -> None:
    operators = frozenset({"RANK", "PET_*"})

    assert strategies.is_operators("PET_ANYTHING", operators)
    assert not strategies.is_operators("RANKING", operators)
    assert not strategies.is_operators("PETS", operators)


def test_init_containers_have_variables_of_their_own() -> None:
    result = merged(pod(initContainers=[container()]), intent("environment", DEBUG, at="/spec/initContainers/0"))

    assert at(result, "/spec/initContainers/0/env") == [DEBUG]
    assert "env" not in at(result, CONTAINER)


def labelled(metadata: paths.Object) -> merge.Merged:
    return merged(pod(metadata=metadata), intent("queueLabel", QUEUE))


@pytest.mark.parametrize("metadata", [{"name": "a"}, {"name": "a", "labels": None}, {"name": "a", "labels": {}}])
def test_labels_are_made_where_there_are_none(metadata: paths.Object) -> None:
    assert at(labelled(metadata), "/metadata/labels") == QUEUE


def test_other_labels_stay() -> None:
    assert at(labelled({"labels": {"a/b": "1", "c~d": "2"}}), "/metadata/labels") == {"a/b": "1", "c~d": "2", **QUEUE}


def test_a_queue_that_the_user_named_stays() -> None:
    assert refusals(labelled({"labels": {"kueue.x-k8s.io/queue-name": "urgent"}})) == [strategies.USER_DECIDES]
    assert refusals(labelled({"labels": dict(QUEUE)})) == [strategies.ALREADY_THERE]


def test_an_empty_queue_name_is_none() -> None:
    assert at(labelled({"labels": {"kueue.x-k8s.io/queue-name": ""}}), "/metadata/labels") == QUEUE


def test_labels_of_a_wrong_type_are_left_alone() -> None:
    assert refusals(labelled({"labels": ["a"]})) == [
        "something else is in its place: /metadata/labels/kueue.x-k8s.io~1queue-name"
    ]


def test_a_cron_job_carries_the_label_for_its_jobs() -> None:
    cron_job: paths.Object = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "unread"}},
        "spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [container()]}}}}},
    }
    result = merged(cron_job, intent("queueLabel", QUEUE))

    assert at(result, "/spec/jobTemplate/metadata") == {"labels": QUEUE}
    assert at(result, "/metadata/labels") == {"kueue.x-k8s.io/queue-name": "unread"}


def test_a_kind_without_queue_or_gang_settings_has_no_place_for_them() -> None:
    stateless: paths.Object = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {},
        "spec": {"template": {"spec": {"containers": [container()]}}},
    }

    assert refusals(merged(stateless, intent("queueLabel", QUEUE))) == [strategies.NO_PLACE]
    assert refusals(merged(stateless, intent("gangPolicy", {"queue": "research"}))) == [strategies.NO_PLACE]


def gang(run_policy: paths.Json) -> merge.Merged:
    return merged(pytorch_job(run_policy=run_policy), intent("gangPolicy", {"queue": "research", "minAvailable": 4}))


@pytest.mark.parametrize("run_policy", [None, {}, {"schedulingPolicy": None}, {"schedulingPolicy": {}}])
def test_a_gang_policy_is_made_where_there_is_none(run_policy: paths.Json) -> None:
    assert at(gang(run_policy), "/spec/runPolicy/schedulingPolicy") == {"queue": "research", "minAvailable": 4}


def test_of_a_gang_policy_only_what_the_user_left_open_is_set() -> None:
    result = gang({"schedulingPolicy": {"minAvailable": 2, "priorityClass": "high"}})

    assert at(result, "/spec/runPolicy/schedulingPolicy") == {
        "queue": "research",
        "minAvailable": 2,
        "priorityClass": "high",
    }


@pytest.mark.parametrize("number", [0, 3])
def test_a_gang_policy_that_the_user_filled_in_stays(number: int) -> None:
    result = gang({"schedulingPolicy": {"queue": "urgent", "minAvailable": number}})

    assert refusals(result) == [strategies.USER_DECIDES]


@pytest.mark.parametrize("run_policy", ["text", [1], {"schedulingPolicy": []}, {"schedulingPolicy": "text"}])
def test_a_gang_policy_of_a_wrong_type_is_left_alone(run_policy: paths.Json) -> None:
    assert refusals(gang(run_policy))[0].startswith("something else is in its place")


def scheduled(scheduler: paths.Json) -> merge.Merged:
    return merged(pod(schedulerName=scheduler), intent("schedulerName", {"name": "volcano"}))


@pytest.mark.parametrize("unset", [None, ""])
def test_a_pod_that_names_no_scheduler_gets_one(unset: paths.Json) -> None:
    assert at(scheduled(unset), "/spec/schedulerName") == "volcano"


def test_a_scheduler_that_the_user_named_stays() -> None:
    assert refusals(scheduled("kai-scheduler")) == [strategies.USER_DECIDES]
    assert refusals(scheduled("volcano")) == [strategies.ALREADY_THERE]


def test_a_replica_type_with_slashes_and_tildes_is_reached() -> None:
    odd = pytorch_job(replicas={"a/b~c": replica(2)})
    template = paths.join("/spec/pytorchReplicaSpecs", "a/b~c", "template")
    result = merged(
        odd,
        intent("schedulerName", {"name": "volcano"}, at=template),
        intent("toleration", ANY_GPU_TAINT, at=template),
        intent("environment", DEBUG, at=template + "/spec/containers/0"),
    )
    spec = at(result, template + "/spec")

    assert len(result.applied) == 3
    assert spec["schedulerName"] == "volcano"
    assert spec["tolerations"] == [ANY_GPU_TAINT]
    assert spec["containers"][0]["env"] == [DEBUG]


def test_only_the_template_that_is_meant_is_changed() -> None:
    job = pytorch_job(replicas={"Master": replica(1), "Worker": replica(3)})
    result = merged(job, intent("schedulerName", {"name": "volcano"}, at=WORKER))

    assert at(result, WORKER + "/spec/schedulerName") == "volcano"
    assert at(result, "/spec/pytorchReplicaSpecs/Master") == replica(1)
