"""What merging says about its work, and what it refuses to do."""

from typing import Any

import pytest

from unit.mutation.manifests import CONTAINER, container, intent, merged, pod, workload
from usher import errors, paths
from usher.mutation import merge

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


def test_two_mutations_that_agree_are_no_conflict() -> None:
    result = merged(
        pod(), intent("toleration", TOLERATION, mutation="a/one"), intent("toleration", TOLERATION, mutation="b/two")
    )

    assert result.conflicts == ()
    assert paths.resolve(result.value, "/spec/tolerations") == [TOLERATION]


def test_what_is_refused_is_left_out_and_the_rest_is_done() -> None:
    refused, wanted = intent("toleration", TOLERATION, mutation="a/one"), intent("environment", DEBUG, at=CONTAINER)
    value = pod()
    result = merge.merge(
        value,
        workload(value),
        [refused, wanted],
        name_of=str,
        refusal=lambda each: merge.Refusal(reason="no", told=True) if each is refused else None,
    )

    assert result.applied == (wanted,)
    assert result.skipped == (merge.Skipped(intent=refused, reason="no", told=True),)


def test_what_is_refused_conflicts_with_nothing() -> None:
    other = intent("environment", {**DEBUG, "value": "INFO"}, at=CONTAINER, mutation="a/one")
    wanted = intent("environment", DEBUG, at=CONTAINER)
    value = pod()
    result = merge.merge(
        value,
        workload(value),
        [other, wanted],
        name_of=str,
        refusal=lambda each: merge.Refusal(reason="no", told=False) if each is other else None,
    )

    assert result.conflicts == ()
    assert result.applied == (wanted,)


def test_of_what_a_mutation_asks_for_it_is_known_what_is_there() -> None:
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


def test_a_replica_set_of_a_deployment_is_left_alone_because_the_deployment_would_replace_it_for_ever() -> None:
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
