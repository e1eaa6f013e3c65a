"""Rules read a GPUQuota."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import workload
from usher import model


def quota(hard: Any) -> model.Workload:
    return workload(builders.gpu_quota(namespaces=["research-*"], limits=[{"hard": hard}]))


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("gpus", {"known": True}),
        ("profiles.1g.5gb", {"known": True, "boards": ["A100-40"]}),
        ("profiles.5g.99gb", {"known": True, "boards": []}),
        ("profiles.1g.5gb.me", {"known": False, "meant": "profiles.1g.5gb+me"}),
        ("nvidia.com/mig-1g.5gb.me", {"known": False, "meant": "profiles.1g.5gb+me"}),
        ("GPU", {"known": False, "meant": "gpus"}),
        ("memorygib", {"known": False, "meant": "memoryGiB"}),
        ("requests.nvidia.com/gpu", {"known": False, "meant": "gpus"}),
        ("cores", {"known": False}),
    ],
)
def test_each_unit_comes_with_its_meaning(unit: str, expected: dict[str, Any]) -> None:
    spec = quota({unit: 8}).view["gpuQuota"]["spec"]

    amount = {"text": "8", "value": 8, "milli": 8000, "whole": True}
    assert spec["limits"] == [{"hard": {unit: {**expected, "amount": amount}}}]
    assert (spec["problems"] == []) is expected["known"]


def test_an_amount_that_is_not_a_number_is_a_problem_at_its_place() -> None:
    (problem,) = quota({"gpus": "x"}).view["gpuQuota"]["spec"]["problems"]

    assert problem["path"] == "/spec/limits/0/hard/gpus"


def test_what_the_user_calls_problems_is_not_taken_for_ours() -> None:
    value = builders.gpu_quota(namespaces=["research-*"], limits=[{"hard": {"gpus": 1}}])
    value["spec"]["problems"] = []  # type: ignore[index,call-overload]  # built above

    (problem,) = workload(value).view["gpuQuota"]["spec"]["problems"]
    assert problem == {"path": "/spec/problems", "reason": "the field does not exist"}


def test_limits_of_a_wrong_type_are_unknown() -> None:
    assert [each.path for each in quota(["gpus"]).unknowns] == ["/spec/limits/0/hard"]
