"""Merging reports its work, and refuses some intents."""

from typing import Any

import pytest
from msgspec.structs import replace

from builders import custom
from builders.queues import volcano_queue
from unit.policy.mutation.clusters import Cluster
from unit.policy.mutation.manifests import CONTAINER, container, intent, merged, pod, refusals, workload
from usher import errors, model, paths
from usher.kinds.reading.values import NO_OBJECTS, Absence, Lookup, Objects, Reference
from usher.policy.mutation import editing, merge, pod_fields

TOLERATION = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}


def recorded(result: merge.Merged) -> Any:
    return paths.resolve(result.value, paths.join("/metadata/annotations", merge.ANNOTATION))


def test_without_intents_the_object_itself_comes_back() -> None:
    value = pod()

    assert merged(value) == merge.Merged(value=value)


def test_one_annotation_names_the_mutations_that_were_applied() -> None:
    result = merged(
        pod(tolerations=[{"operator": "Exists"}]),
        intent("environment", DEBUG, at=CONTAINER, mutation="fabric/nccl"),
        intent("schedulerName", {"name": "volcano"}, mutation="gang/volcano"),
        intent("toleration", TOLERATION, mutation="placement/toleration"),
    )

    assert recorded(result) == "nccl,volcano"
    assert [skipped.intent.mutation for skipped in result.skipped] == ["placement/toleration"]


def test_names_join_those_of_an_earlier_pass() -> None:
    value = pod(metadata={"annotations": {merge.ANNOTATION: "queue-label,,mutation"}})

    assert recorded(merged(value, intent("toleration", TOLERATION))) == "mutation,queue-label"


def test_nothing_is_recorded_where_nothing_was_done() -> None:
    value = pod(tolerations=[{"operator": "Exists"}])

    assert merged(value, intent("toleration", TOLERATION)).value == value


@pytest.mark.parametrize("metadata", [{"annotations": ["a"]}, {"annotations": "text"}])
def test_what_cannot_be_recorded_is_not_done(metadata: paths.Object) -> None:
    value = pod(metadata=metadata)
    result = merged(value, intent("toleration", TOLERATION))

    assert result.value == value
    assert result.operations == ()
    assert [skipped.reason for skipped in result.skipped] == [merge.NO_RECORD]


def test_two_mutations_that_agree_do_not_conflict() -> None:
    result = merged(
        pod(), intent("toleration", TOLERATION, mutation="a/one"), intent("toleration", TOLERATION, mutation="b/two")
    )

    assert result.conflicts == ()
    assert paths.resolve(result.value, "/spec/tolerations") == [TOLERATION]


def test_a_refused_intent_is_skipped_and_the_others_are_applied() -> None:
    refused, wanted = intent("toleration", TOLERATION, mutation="a/one"), intent("environment", DEBUG, at=CONTAINER)
    value = pod()
    result = merge.merge(
        value,
        workload(value),
        [refused, wanted],
        name_of=str,
        refusal=lambda each: merge.MutationRefusal(reason="no", warned=True) if each is refused else None,
    )

    assert result.applied == (wanted,)
    assert result.skipped == (merge.Skipped(intent=refused, reason="no", warned=True),)


def test_a_refused_intent_conflicts_with_no_other() -> None:
    other = intent("environment", {**DEBUG, "value": "INFO"}, at=CONTAINER, mutation="a/one")
    wanted = intent("environment", DEBUG, at=CONTAINER)
    value = pod()
    result = merge.merge(
        value,
        workload(value),
        [other, wanted],
        name_of=str,
        refusal=lambda each: merge.MutationRefusal(reason="no", warned=False) if each is other else None,
    )

    assert result.conflicts == ()
    assert result.applied == (wanted,)


def test_already_there_finds_the_intents_that_the_object_already_meets() -> None:
    value = pod(containers=[container(env=[DEBUG])])
    there = intent("environment", DEBUG, at=CONTAINER)
    others = [
        intent("environment", {**DEBUG, "value": "INFO"}, at=CONTAINER),
        intent("environment", {"name": "OTHER"}, at=CONTAINER),
        intent("environment", DEBUG, at="/spec/containers/1"),
    ]

    assert merge.already_there(value, workload(value), [there, *others]) == [there]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pod(metadata={"annotations": {merge.ANNOTATION: "a"}}), True),
        (pod(metadata={"annotations": ["text"]}), False),
        (pod(), False),
        ({"metadata": "text"}, False),
        (None, False),
    ],
)
def test_an_object_tells_that_it_was_mutated(value: paths.Object | None, *, expected: bool) -> None:
    assert merge.is_recorded(value) is expected


def replica_set(owner: paths.Object | None) -> paths.Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"ownerReferences": [owner] if owner else []},
        "spec": {"template": {"spec": {"containers": [container()]}}},
    }


def test_a_replica_set_of_a_deployment_is_not_changed_because_the_deployment_would_replace_it_for_ever() -> None:
    value = replica_set({"apiVersion": "apps/v1", "kind": "Deployment", "name": "llm", "controller": True})
    result = merged(value, intent("toleration", TOLERATION, at="/spec/template"))

    assert result.value == value
    assert [skipped.reason for skipped in result.skipped] == [merge.OWNER_COMPARES]


def test_a_replica_set_of_its_own_is_changed() -> None:
    result = merged(replica_set(None), intent("toleration", TOLERATION, at="/spec/template"))

    assert paths.resolve(result.value, "/spec/template/spec/tolerations") == [TOLERATION]


@pytest.mark.parametrize(
    ("field", "value", "at"),
    [
        ("priorityClassName", {"name": "high"}, ""),
        ("toleration", TOLERATION, "/spec/template"),
        ("environment", DEBUG, ""),
        ("kueueLabel", {"key": "a", "value": "b"}, CONTAINER),
        ("kueueLabel", {"a": "b"}, ""),
        ("toleration", None, ""),
        ("toleration", {"key": "gpu"}, ""),
        ("environment", {"value": "1"}, CONTAINER),
        ("schedulerName", "volcano", ""),
    ],
)
def test_an_intent_that_cannot_be_meant_is_an_error_of_the_policies(field: str, value: paths.Json, at: str) -> None:
    with pytest.raises(errors.MutationError, match=f"test/mutation wants {field}"):
        merged(pod(), intent(field, value, at=at))


QUEUE = model.Need(
    group="scheduling.volcano.sh", kind="Queue", name="research", labels={"example.com/state": ("", "open")}
)
FILE = model.Need(group="", kind="ConfigMap", name="topology", namespace="ml-research")


def test_existing_objects_meet_a_need() -> None:
    assert (
        merge.unmet_need([QUEUE, FILE], Cluster(volcano_queue(), custom("v1", "ConfigMap", {}, name="topology"))) == ""
    )


def test_the_first_that_is_missing_is_named() -> None:
    assert merge.unmet_need([QUEUE, FILE], Cluster(volcano_queue())) == "ConfigMap ml-research/topology does not exist"
    assert merge.unmet_need([QUEUE, FILE], Cluster()) == "Queue research does not exist"


@pytest.mark.parametrize("objects", [NO_OBJECTS, Objects([])])
def test_an_unknown_object_does_not_count_as_missing(objects: Lookup) -> None:
    assert merge.unmet_need([QUEUE, FILE], objects) == ""


def test_a_file_of_another_namespace_is_another() -> None:
    assert merge.unmet_need([FILE], Cluster(custom("v1", "ConfigMap", {}, name="topology", namespace="other")))


@pytest.mark.parametrize("labels", [None, {}, {"example.com/state": "open"}, {"example.com/state": ""}])
def test_a_label_may_have_one_of_some_values(labels: Any) -> None:
    assert merge.unmet_need([QUEUE], Cluster(volcano_queue(labels=labels))) == ""


def test_a_label_of_another_value_will_not_do() -> None:
    assert merge.unmet_need([QUEUE], Cluster(volcano_queue(labels={"example.com/state": "closed"}))) == (
        "Queue research has the label example.com/state=closed"
    )


@pytest.mark.parametrize("metadata", [None, "text", {"labels": ["text"]}, {"labels": {"example.com/state": 7}}])
def test_labels_of_a_wrong_type_count_as_empty(metadata: Any) -> None:
    class Odd(Objects):
        def find(self, reference: Reference) -> paths.Object | Absence:  # noqa: ARG002 - knows one object
            return {"metadata": metadata}

    assert merge.unmet_need([QUEUE], Odd(())) == ""


DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}


def given(value: paths.Object) -> merge.Merged:
    return merged(value, intent("environment", DEBUG, at=CONTAINER, needs=(QUEUE,)), objects=Cluster())


def test_an_intent_that_needs_a_missing_object_is_skipped_and_the_user_learns_why() -> None:
    result = given(pod())

    assert refusals(result) == ["Queue research does not exist"]
    assert result.skipped[0].warned


@pytest.mark.parametrize(
    ("fields", "reason", "warned"),
    [
        ({"env": [DEBUG]}, editing.ALREADY_THERE, False),
        ({"env": [{**DEBUG, "value": "INFO"}]}, editing.USER_DECIDES, False),
        ({"env": "text"}, f"something else is in its place: {CONTAINER}/env", False),
        ({"envFrom": [{"secretRef": {"name": "a"}}]}, pod_fields.OPAQUE, True),
    ],
)
def test_a_missing_object_causes_no_warning_if_the_intent_would_not_apply(
    fields: dict[str, Any], reason: str, *, warned: bool
) -> None:
    result = given(pod(containers=[container(**fields)]))

    assert refusals(result) == [reason]
    assert result.skipped[0].warned is warned


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([{"op": "replace", "path": "/spec/tolerations", "value": []}], "does not apply"),
        ([{"op": "remove", "path": "/spec/nothing"}], "does not apply"),
        ([{"op": "remove", "path": "/spec/tolerations/0"}], "does not apply"),
        ([{"op": "add", "path": "/spec/nothing/name", "value": ""}], "does not apply"),
        ([{"op": "add", "path": "/spec/tolerations/x", "value": {}}], "does not apply"),
        ([], "does not give the object that was meant"),
        ([{"op": "add", "path": "/spec/hostname", "value": "a"}], "does not give the object that was meant"),
    ],
    ids=repr,
)
def test_a_patch_that_does_not_give_the_merged_object_is_not_sent(operations: list[Any], reason: str) -> None:
    value = pod()
    good = merged(value, intent("toleration", TOLERATION))
    wrong = replace(good, operations=(*good.operations[:1], *operations))

    with pytest.raises(errors.MutationError, match=reason):
        merge.verified(value, wrong)
