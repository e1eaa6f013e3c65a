"""A GPUQuota has conditions about its own state."""

from typing import Any

from builders import gpu_quota
from usher import paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.status import COUNTING, IN_FORCE, Condition
from usher.config import models

NOW = "2026-11-22T08:00:00Z"


def condition(value: paths.Object, overlap: str = "") -> Condition:
    return gpu_quota_status.condition_of_quota(
        gpu_quota_definitions.of_object(value), gpu_quota_status.decode(value.get("status")), overlap
    )


def charged(*entries: Any) -> Any:
    return {"version": 1, "charges": [*entries]}


def test_a_quota_that_holds_is_ready() -> None:
    assert condition(gpu_quota(status=charged())) == IN_FORCE
    assert condition(gpu_quota(status=charged({"object": "Pod/ml-a/p", "amounts": {"gpus": 16}}))) == IN_FORCE


def test_a_quota_is_not_in_force_before_usher_has_counted_what_exists() -> None:
    conditions = {"conditions": [{"type": "Ready", "status": "False", "reason": "Counting", "message": ""}]}

    assert condition(gpu_quota()) == COUNTING
    assert condition(gpu_quota(status=conditions)) == COUNTING
    assert condition(gpu_quota(status={**charged(), "counting": True})) == COUNTING


def test_one_that_cannot_be_read_names_the_fields() -> None:
    found = condition(gpu_quota(gpus="many"))

    assert (found.ready, found.reason) == (False, "Malformed")
    assert found.message.startswith("/spec/limits/0/hard/gpus: ")


def test_a_ledger_that_cannot_be_read_names_the_entries() -> None:
    strange = {"object": "Job.batch/ml-a/j", "amounts": {"bananas": 1}}

    found = condition(gpu_quota(status=charged({"object": "Pod/ml-a/p", "amounts": {"gpus": 1}}, strange)))

    assert (found.ready, found.reason) == (False, "LedgerUnreadable")
    assert found.message == "/status/charges/1: 'bananas' is not a unit of a quota"
    assert condition(gpu_quota(status={"version": 9})).message.startswith("/status/version: ")


def test_one_that_is_exceeded_says_by_how_much_and_what_was_forced() -> None:
    forced = {"object": "Job.batch/ml-a/big", "amounts": {"gpus": 20}, "forced": True}

    found = condition(gpu_quota(status=charged({"object": "Pod/ml-a/p", "amounts": {"gpus": 1}}, forced)))

    assert found == Condition(
        ready=True,
        reason="Exceeded",
        message="21 GPUs used of 16; charged by force: Job.batch/ml-a/big",
    )


def test_an_excess_for_some_priority_classes_names_them() -> None:
    said = charged({"object": "Pod/ml-a/p", "classes": {"high": {"gpus": 3, "profiles.1g.10gb": 2}}})
    limits = [{"hard": {"gpus": 2, "profiles.1g.10gb": 1}, "priorityClasses": ["high", "urgent"]}]

    assert condition(gpu_quota(status=said, limits=limits)).message == (
        "3 GPUs of high, urgent used of 2; 2 instances of 1g.10gb of high, urgent used of 1"
    )


def overlaps(*values: paths.Object, **labels: dict[str, str]) -> Any:
    return gpu_quota_status.overlap_texts(
        [gpu_quota_definitions.of_object(value) for value in values],
        {name.replace("_", "-"): each for name, each in labels.items()},
    )


def test_overlapping_quotas_name_each_other_and_a_namespace() -> None:
    team = gpu_quota("team", namespaces=[], namespaceSelector={"matchLabels": {"team": "a"}})

    found = overlaps(
        gpu_quota(namespaces=["ml-*"]), team, ml_b={"team": "a"}, ml_a={"team": "a"}, ml_c={}, web={"team": "a"}
    )

    assert found == {
        "research": "GPUQuota team also holds for namespace ml-a and 1 more; usher enforces no quota there",
        "team": "GPUQuota research also holds for namespace ml-a and 1 more; usher enforces no quota there",
    }
    assert condition(gpu_quota(), found["research"]).reason == "Overlapping"
    assert overlaps(gpu_quota(namespaces=["ml-*"]), team, web={"team": "a"}, ml_c={}) == {}


def test_a_written_condition_is_found_again() -> None:
    made = gpu_quota_status.put_condition(charged(), condition(gpu_quota(gpus=-1)), now=NOW)

    assert gpu_quota_status.find_condition(made) == condition(gpu_quota(gpus=-1))
    assert made["version"] == 1


def test_a_condition_keeps_the_moment_in_which_it_became_what_it_is() -> None:
    other: Any = {"type": "Watched", "status": "True"}
    made = gpu_quota_status.put_condition({"conditions": [other]}, condition(gpu_quota(gpus="many")), now=NOW)
    again: Any = gpu_quota_status.put_condition(made, condition(gpu_quota(gpus="few")), now="2026-11-22T09:00:00Z")
    ready: Any = gpu_quota_status.put_condition(again, IN_FORCE, now="2026-11-22T10:00:00Z")

    assert [each["lastTransitionTime"] for each in again["conditions"][1:]] == [NOW]
    assert ready["conditions"] == [
        other,
        {
            "type": "Ready",
            "status": "True",
            "reason": "InForce",
            "message": IN_FORCE.message,
            "lastTransitionTime": "2026-11-22T10:00:00Z",
        },
    ]


def test_a_status_of_any_shape_gets_one() -> None:
    shapes: list[Any] = [None, 7, [], {"conditions": 7}, {"conditions": [None, {"type": "Ready"}]}]
    for strange in shapes:
        assert gpu_quota_status.find_condition(strange) is None
        assert gpu_quota_status.find_condition(gpu_quota_status.put_condition(strange, IN_FORCE, now=NOW)) == IN_FORCE


def test_a_quota_of_usher_yaml_may_have_the_name_of_one_in_the_cluster() -> None:
    entry = {"name": "research", "namespaces": ["ml-a"], "limits": [{"hard": {"gpus": 8}}]}
    (declared,) = models.Config.model_validate({"quotas": [entry]}).quotas

    found = gpu_quota_status.overlap_texts(
        [gpu_quota_definitions.of_object(gpu_quota()), gpu_quota_definitions.of_entry(declared)], {"ml-a": {}}
    )

    assert found == {
        "research": "quota research of usher.yaml also holds for namespace ml-a; usher enforces no quota there"
    }


def test_a_quota_of_usher_yaml_has_no_condition() -> None:
    entry = {"name": "declared", "namespaces": ["ml-a"], "limits": [{"hard": {"gpus": 8}}]}
    (declared,) = models.Config.model_validate({"quotas": [entry]}).quotas

    found = gpu_quota_status.overlap_texts(
        [gpu_quota_definitions.of_object(gpu_quota()), gpu_quota_definitions.of_entry(declared)], {"ml-a": {}}
    )

    assert list(found) == ["research"]


def test_what_was_forced_is_of_no_concern_where_it_fits() -> None:
    forced = {"object": "Job.batch/ml-a/big", "amounts": {"gpus": 16}, "forced": True}

    assert condition(gpu_quota(status=charged(forced))).reason == "InForce"
