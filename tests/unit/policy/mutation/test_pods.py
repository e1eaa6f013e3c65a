"""Mutations add tolerations, node affinity, scheduler, priority, annotations and networks to a pod template."""

from typing import Any

import orjson
import pytest

import builders
from unit.policy.mutation.manifests import (
    IN_THE_WAY,
    REQUIRED,
    TERMS,
    WORKER,
    affinity,
    at,
    container,
    intent,
    merged,
    pod,
    pytorch_job,
    refusals,
    replica,
)
from usher import paths
from usher.policy.mutation import editing, merge, pod_fields

ANY_GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
ON_H100 = {"key": "product", "operator": "In", "values": ["H100"]}
IN_ZONE = {"key": "zone", "operator": "In", "values": ["b"]}
BY_NAME: paths.Json = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}


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
def test_a_toleration_that_exists_is_not_added_again(present: paths.Json) -> None:
    assert refusals(tolerating(present)) == [editing.ALREADY_THERE]


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

    assert refusals(tolerating(equal, wanted=wanted)) == [editing.ALREADY_THERE]
    assert at(tolerating(other, wanted=wanted), "/spec/tolerations") == [other, wanted]


def test_a_toleration_by_comparison_is_added_once() -> None:
    wanted = {"key": "slice", "operator": "Gt", "value": "4", "effect": "NoSchedule"}

    assert refusals(tolerating(wanted, wanted=wanted)) == [editing.ALREADY_THERE]


def test_tolerations_that_are_not_a_list_are_not_changed() -> None:
    result = merged(pod(tolerations={"key": "team"}), intent("toleration", ANY_GPU_TAINT))

    assert refusals(result) == [f"{IN_THE_WAY}/spec/tolerations"]


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
def test_an_empty_term_matches_no_node_and_is_kept_empty(empty: paths.Json) -> None:
    result = requiring(pod(affinity=affinity(empty, {"matchExpressions": [IN_ZONE]})))

    assert at(result, TERMS) == [empty, {"matchExpressions": [IN_ZONE, ON_H100]}]


@pytest.mark.parametrize("required", [{}, {"nodeSelectorTerms": []}, {"nodeSelectorTerms": None}])
def test_an_affinity_without_terms_goes_on_matching_no_node(required: paths.Json) -> None:
    result = requiring(pod(affinity={"nodeAffinity": {REQUIRED: required}}))

    assert refusals(result) == [editing.MATCHES_NOTHING]


def test_only_the_terms_that_lack_a_requirement_get_it() -> None:
    result = requiring(pod(affinity=affinity({"matchExpressions": [ON_H100]}, {"matchExpressions": [IN_ZONE]})))

    assert [operation["path"] for operation in result.operations[:-1]] == [f"{TERMS}/1/matchExpressions/-"]


def test_a_requirement_that_every_term_has_is_not_repeated() -> None:
    assert refusals(requiring(pod(affinity=affinity({"matchExpressions": [ON_H100]})))) == [editing.ALREADY_THERE]


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
def test_an_affinity_with_any_wrong_type_is_not_changed_at_all(broken: paths.Json) -> None:
    value = pod(affinity=broken)
    result = requiring(value)

    assert refusals(result)[0].startswith(IN_THE_WAY)
    assert result.value == value


def test_two_requirements_stand_in_one_term() -> None:
    result = merged(pod(), intent("nodeRequirement", ON_H100), intent("nodeRequirement", IN_ZONE))

    assert at(result, TERMS) == [{"matchExpressions": [ON_H100, IN_ZONE]}]


def scheduled(scheduler: paths.Json) -> merge.Merged:
    return merged(pod(schedulerName=scheduler), intent("schedulerName", {"name": "volcano"}))


@pytest.mark.parametrize("unset", [None, ""])
def test_a_pod_that_names_no_scheduler_gets_one(unset: paths.Json) -> None:
    assert at(scheduled(unset), "/spec/schedulerName") == "volcano"


def test_a_scheduler_that_the_user_named_stays() -> None:
    assert refusals(scheduled("kai-scheduler")) == [editing.USER_DECIDES]
    assert refusals(scheduled("volcano")) == [editing.ALREADY_THERE]


def classed(value: paths.Object, place: str = "", **wanted: str) -> merge.Merged:
    return merged(value, intent("priorityClass", {"name": "training", **wanted}, at=place))


@pytest.mark.parametrize("unset", [None, ""])
def test_a_pod_that_names_no_priority_class_gets_one(unset: paths.Json) -> None:
    assert at(classed(pod(priorityClassName=unset)), "/spec/priorityClassName") == "training"


def test_a_priority_class_that_the_user_named_stays() -> None:
    assert refusals(classed(pod(priorityClassName="urgent"), instead="cluster-default")) == [editing.USER_DECIDES]
    assert refusals(classed(pod(priorityClassName="training"))) == [editing.ALREADY_THERE]


def test_of_a_pod_the_numbers_of_the_class_that_kubernetes_wrote_go_with_it() -> None:
    written = pod(priorityClassName="cluster-default", priority=0, preemptionPolicy="PreemptLowerPriority")
    result = classed(written, instead="cluster-default")

    assert at(result, "/spec") == {"containers": [container()], "priorityClassName": "training"}
    assert [operation["op"] for operation in result.operations] == ["add", "remove", "remove", "add"]


def test_a_pod_without_class_may_have_a_number_all_the_same() -> None:
    assert at(classed(pod(priority=0)), "/spec") == {"containers": [container()], "priorityClassName": "training"}


def test_of_a_template_nothing_is_taken_away() -> None:
    job = pytorch_job(replicas={"Worker": replica(2, priority=5)})

    assert at(classed(job, WORKER), WORKER + "/spec") == {
        "containers": [container()],
        "priority": 5,
        "priorityClassName": "training",
    }


def test_a_class_of_the_pod_stays_unless_the_intent_names_it_as_the_default() -> None:
    assert refusals(classed(pod(priorityClassName="cluster-default"))) == [editing.USER_DECIDES]


def annotated(annotations: Any) -> merge.Merged:
    wanted = intent("annotation", {"key": "karpenter.sh/do-not-disrupt", "value": "true"}, at=WORKER)
    worker: paths.Object = {
        "replicas": 2,
        "template": {"metadata": {"annotations": annotations}, "spec": {"containers": [container()]}},
    }
    return merged(pytorch_job(replicas={"Worker": worker}), wanted)


@pytest.mark.parametrize("present", [None, {}, {"karpenter.sh/do-not-disrupt": ""}])
def test_an_annotation_is_one_of_the_pods_and_not_of_the_job(present: Any) -> None:
    result = annotated(present)

    assert at(result, WORKER + "/metadata/annotations") == {"karpenter.sh/do-not-disrupt": "true"}
    assert list(at(result, "/metadata/annotations")) == [merge.ANNOTATION]


def test_an_annotation_of_the_user_stays() -> None:
    assert refusals(annotated({"karpenter.sh/do-not-disrupt": "false"})) == [editing.USER_DECIDES]
    assert refusals(annotated({"karpenter.sh/do-not-disrupt": "true"})) == [editing.ALREADY_THERE]


def test_annotations_of_a_wrong_type_are_not_changed() -> None:
    assert refusals(annotated(["text"])) == [f"{IN_THE_WAY}{WORKER}/metadata/annotations/karpenter.sh~1do-not-disrupt"]


def attached(present: Any, wanted: str = "rdma/rail@net1") -> merge.Merged:
    metadata: paths.Object = {} if present is None else {"annotations": {pod_fields.NETWORKS: present}}
    return merged(pod(metadata=metadata), intent("network", {"name": wanted}))


def networks(result: merge.Merged) -> Any:
    return at(result, paths.join("/metadata/annotations", pod_fields.NETWORKS))


@pytest.mark.parametrize("present", [None, ""])
def test_a_pod_is_attached_to_a_network(present: Any) -> None:
    assert networks(attached(present)) == "rdma/rail@net1"


@pytest.mark.parametrize("present", ["storage", "storage,", "storage , "])
def test_a_network_joins_others_with_a_comma(present: str) -> None:
    assert networks(attached(present)) == "storage, rdma/rail@net1"


def test_a_network_joins_others_in_json() -> None:
    theirs = {"name": "storage", "ips": ["10.1.0.7/24"]}

    assert orjson.loads(networks(attached(orjson.dumps([theirs]).decode()))) == [
        theirs,
        {"name": "rail", "namespace": "rdma", "interface": "net1"},
    ]
    assert orjson.loads(networks(attached(" []", "rail"))) == [{"name": "rail"}]


@pytest.mark.parametrize(
    "present",
    [
        "rdma/rail@net1",
        "rdma/rail",
        "storage,rdma/rail@eth5 ",
        '[{"name": "rail", "namespace": "rdma"}]',
        '[{"name": "rail", "namespace": "rdma", "interface": "eth5"}]',
    ],
)
def test_a_pod_on_the_network_is_not_attached_again_by_whichever_interface(present: str) -> None:
    assert refusals(attached(present)) == [editing.ALREADY_THERE]


@pytest.mark.parametrize("present", ["rail", "storage/rail", '[{"name": "rail"}]', '[{"name": "rail"}, "text", null]'])
def test_a_network_of_another_namespace_is_another(present: str) -> None:
    assert "rdma" in networks(attached(present))


@pytest.mark.parametrize("present", ["[", "[1,", '[{"name": ]', 7, ["rail"], {"name": "rail"}])
def test_networks_that_are_neither_names_nor_json_are_not_changed(present: Any) -> None:
    assert refusals(attached(present))[0].startswith(IN_THE_WAY)


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


@pytest.mark.parametrize(
    ("field", "value"), [("annotation", {"key": "a", "value": "b"}), ("network", {"name": "rail-0"})]
)
def test_metadata_that_other_pods_share_are_not_changed(field: str, value: paths.Json) -> None:
    """The pods of all tasks of a PipelineRun carry what the run itself carries."""
    tasks = [
        {"name": name, "taskSpec": {"steps": [{"name": name, "image": "registry.example.com/tools:1"}]}}
        for name in ("prepare", "train")
    ]
    runs: Any = [{"pipelineTaskName": name, "podTemplate": {}} for name in ("prepare", "train")]
    spec: Any = {"pipelineSpec": {"tasks": tasks}, "taskRunSpecs": runs}
    run = builders.custom("tekton.dev/v1", "PipelineRun", spec)

    result = merged(run, intent(field, value, at="/spec/pipelineSpec/tasks/1/taskSpec"))

    assert refusals(result) == [editing.SHARED_METADATA]


def test_a_label_of_one_template_goes_where_its_other_pods_do_not_get_it() -> None:
    """The pods of a PipelineRun share its labels; those of one task have labels of their own as well."""
    tasks: Any = [
        {"name": name, "taskSpec": {"steps": [{"name": name, "image": "registry.example.com/tools:1"}]}}
        for name in ("prepare", "train")
    ]
    run = builders.custom("tekton.dev/v1", "PipelineRun", {"pipelineSpec": {"tasks": tasks}})
    task = "/spec/pipelineSpec/tasks/1/taskSpec"

    result = merged(run, intent("ownLabel", {"key": "team", "value": "vision"}, at=task))

    assert at(result, task + "/metadata") == {"labels": {"team": "vision"}}
    assert at(result, "/spec/pipelineSpec/tasks/0") == tasks[0]
    assert "labels" not in at(result, "/metadata")


def test_a_label_of_a_template_in_another_object_is_not_added() -> None:
    run = builders.custom(
        "tekton.dev/v1",
        "PipelineRun",
        {
            "pipelineRef": {"name": "release"},
            "taskRunSpecs": [{"pipelineTaskName": "train", "computeResources": {"limits": {"nvidia.com/gpu": 1}}}],
        },
    )

    result = merged(run, intent("ownLabel", {"key": "team", "value": "vision"}, at="/spec/taskRunSpecs/0"))

    assert refusals(result) == [editing.NOT_CHANGEABLE]
