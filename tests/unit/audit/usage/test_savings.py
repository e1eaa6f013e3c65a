"""Savings: each with its evidence and an exact change, and only where the numbers carry it."""

import math
from typing import Any

import pytest

from builders import usage as build
from builders.savings import DAYS, POINTS, gpu, notebook, savings
from usher import model
from usher.audit.gather import estate
from usher.audit.gather.estate import CapacityType

SPOT = {"capacityType": "spot", "perGpuHour": 1.0}
ON_DEMAND = {"perGpuHour": 3.0}


def busy_by_day(point: int) -> float:
    return 0.8 if 8 <= point % 24 < 20 else 0.1


def test_an_idle_notebook_is_stopped_by_its_annotation() -> None:
    (first, *others) = savings([notebook(build.pod("nb-0"))], gpu(0.0, "nb-0"), rules=(ON_DEMAND,))

    assert first.kind == "idle workload"
    assert first.gpu_hours == POINTS
    assert first.cost == POINTS * 3
    assert first.change.startswith("Stop Notebook red/nb: set the annotation kubeflow-resource-stopped")
    assert first.evidence[0] == (
        "96.0 of 96.0 measured GPU-hours were idle: activity below 40 % for at least 60 minutes"
    )
    assert first.adds_up
    assert [(each.kind, each.adds_up) for each in others] == [("smaller MIG profile", False)]


@pytest.mark.parametrize(
    ("kind", "api_version", "change"),
    [
        ("Job", "batch/v1", "Set spec.suspend of Job red/w to true, or delete it"),
        ("PyTorchJob", "kubeflow.org/v1", "Set spec.runPolicy.suspend of PyTorchJob red/w to true, or delete it"),
        ("StatefulSet", "apps/v1", "Set spec.replicas of StatefulSet red/w from 1 to 0"),
        ("Pod", "v1", "Delete Pod red/w after its owner agrees"),
    ],
)
def test_the_change_is_that_of_the_kind(kind: str, api_version: str, change: str) -> None:
    idle = build.workload("w", build.pod("w-0"), kind=kind, api_version=api_version)

    (saving,) = savings([idle], gpu(0.001, "w-0"))

    assert saving.change == change
    assert saving.cost is None


def test_replicas_are_kept_for_the_work_that_is_done() -> None:
    pods = [build.pod(f"web-6f7d8c9b5d-bcd{letter}g", gpus=2) for letter in "bcdf"]
    gpus = [gpu(0.3, pod.name, number=2 * index + one, used=70_000) for index, pod in enumerate(pods) for one in (0, 1)]

    (saving,) = savings([build.deployment("web", *pods)], *gpus)

    # 0.3 x 4 replicas need two at 85 % activity.
    assert saving.change == "Set spec.replicas of Deployment red/web from 4 to 2"
    assert saving.gpu_hours == 8 * POINTS / 2


@pytest.mark.parametrize(
    ("activity", "pods"),
    [
        (0.9, [build.pod("nb-0")]),
        (lambda point: 0.9 if point % 4 == 0 else 0.1, [build.pod("nb-0")]),
        (lambda point: 0.0 if point > POINTS * 0.6 else math.nan, [build.pod("nb-0")]),
        (0.0, []),
        (0.0, [build.pod("nb-0", phase=estate.Phase.SUCCEEDED)]),
    ],
    ids=["busy", "idle for three quarters only", "mostly not measured", "gone", "ended"],
)
def test_no_advice_without_evidence(activity: build.Value, pods: list[estate.Pod]) -> None:
    found = savings([notebook(*pods)], gpu(activity, "nb-0", used=80_000))

    assert found == []


@pytest.mark.parametrize(
    ("used", "activity", "profile", "share"),
    [
        (8_000, 0.1, "nvidia.com/mig-1g.10gb", 1 / 7),
        (9_000, 0.1, "nvidia.com/mig-1g.20gb", 2 / 8),
        (8_000, 0.2, "nvidia.com/mig-2g.20gb", 2 / 7),
        (30_000, 0.1, "nvidia.com/mig-3g.40gb", 4 / 8),
        (30_000, 0.5, "nvidia.com/mig-4g.40gb", 4 / 7),
        (40_000, 0.1, None, 1),
        (8_000, 0.7, None, 1),
    ],
)
def test_a_profile_holds_the_peak_of_memory_with_a_margin_and_the_activity(
    used: float, activity: float, profile: str | None, share: float
) -> None:
    found = savings([notebook(build.pod("nb-0"))], gpu(activity, "nb-0", used=used), rules=(ON_DEMAND,))

    smaller = [each for each in found if each.kind == "smaller MIG profile"]

    assert [profile in each.change for each in smaller if profile] == ([True] if profile else [])
    assert len(smaller) == (profile is not None)
    for each in smaller:
        assert each.gpu_hours == pytest.approx(POINTS * (1 - share), abs=1e-5)
        assert each.cost == pytest.approx(each.gpu_hours * 3, abs=1e-4)
        assert "In spec.template.spec of Notebook red/nb, replace resources.limits nvidia.com/gpu: 1 by" in each.change


@pytest.mark.parametrize(
    ("workload", "node"),
    [
        (build.workload("nb", build.pod("nb-0"), role=model.Role.TRAINING), {}),
        (notebook(build.pod("nb-0", gpus=2)), {}),
        (notebook(build.pod("nb-0")), {"product": "NVIDIA-L40S"}),
        (notebook(build.pod("nb-0")), {"shared_by": 2}),
    ],
    ids=["training", "two GPUs", "a board without MIG", "a shared GPU"],
)
def test_some_workloads_need_whole_gpus(workload: estate.Workload, node: dict[str, Any]) -> None:
    found = savings([workload], gpu(0.1, "nb-0"), **node)

    assert [each for each in found if each.kind == "smaller MIG profile"] == []


@pytest.mark.parametrize(
    ("role", "capacity_type", "rules", "cost"),
    [
        (model.Role.TRAINING, CapacityType.ON_DEMAND, (SPOT, ON_DEMAND), POINTS * 2.0),
        (model.Role.BATCH, CapacityType.ON_DEMAND, (SPOT, ON_DEMAND), POINTS * 2.0),
        (model.Role.INFERENCE, CapacityType.ON_DEMAND, (SPOT, ON_DEMAND), None),
        (model.Role.TRAINING, CapacityType.SPOT, (SPOT, ON_DEMAND), None),
        (model.Role.TRAINING, CapacityType.RESERVED, (SPOT, ON_DEMAND), None),
        (model.Role.TRAINING, CapacityType.ON_DEMAND, (ON_DEMAND,), None),
        (model.Role.TRAINING, CapacityType.ON_DEMAND, (), None),
    ],
)
def test_spot_saves_the_difference_of_the_prices(
    role: model.Role, capacity_type: CapacityType, rules: tuple[dict[str, Any], ...], cost: float | None
) -> None:
    train = build.workload("train", build.pod("train-0"), role=role)

    found = savings([train], gpu(0.9, "train-0", used=70_000), rules=rules, capacity_type=capacity_type)

    assert [(each.kind, each.cost, each.gpu_hours) for each in found] == ([("spot", cost, 0)] if cost else [])
    for each in found:
        assert "add nodeSelector karpenter.sh/capacity-type: spot" in each.change


def test_a_service_needs_fewer_replicas_at_night() -> None:
    pods = [build.pod(f"web-6f7d8c9b5d-bcd{letter}g") for letter in "bcdf"]
    gpus = [gpu(busy_by_day, pod.name, number=index, used=70_000) for index, pod in enumerate(pods)]

    found = savings([build.deployment("web", *pods, team="a")], *gpus, rules=(ON_DEMAND,))

    # It is idle for half of the time, but by day it needs all its replicas.
    assert [(each.kind, each.adds_up) for each in found] == [("fewer replicas at night", True)]
    assert found[0].change == (
        "Set spec.replicas of Deployment red/web from 4 to 1 between 20:00 and 08:00 UTC, for example by the cron "
        "scaler of KEDA"
    )
    assert found[0].gpu_hours == DAYS * 12 * 3
    assert found[0].cost == DAYS * 12 * 3 * 3
    assert found[0].team == "a"
