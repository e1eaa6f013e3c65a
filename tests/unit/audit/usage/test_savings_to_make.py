"""A saving needs free devices and work of the platform team; the bill shows a part of it."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from builders import usage as build
from builders.savings import POINTS, gpu, notebook, savings
from usher import model
from usher.audit.document import Saving
from usher.audit.gather import estate
from usher.audit.gather.estate import CapacityType

SEVENTH = "nvidia.com/mig-1g.10gb"
PRICE = {"perGpuHour": 3.0}


def still(*names: str) -> list[estate.Workload]:
    """Services of one pod with one GPU."""
    return [
        build.workload(name, build.pod(f"{name}-0"), kind="Notebook", api_version="kubeflow.org/v1",
                       role=model.Role.INFERENCE)
        for name in names
    ]  # fmt: skip


def of_services(*names: str, also: Sequence[estate.Workload] = (), **where: Any) -> list[Saving]:
    """The savings by smaller profiles of services that use a tenth of their GPUs, which is not idle here."""
    series = [gpu(0.1, f"{name}-0", number=place) for place, name in enumerate(names)]
    found = savings([*still(*names), *also], *series, idle_below=0.05, **where)
    return [each for each in found if each.kind == "smaller MIG profile"]


def divided(name: str, devices: dict[str, int], **fields: Any) -> estate.Node:
    return build.node(name, capacity=devices, **fields)


def test_a_profile_that_no_node_offers_needs_the_platform_team_and_is_not_in_the_sum() -> None:
    (saving,) = of_services("a")

    assert not saving.adds_up
    assert saving.needs == (
        "The platform team divides 1 GPU of a node with H100-80 into 1g.10gb (nvidia.com/mig.config; 7 fit on one "
        "GPU): node n1 has 7 free nvidia.com/gpu"
    )
    assert "No node with this board offers nvidia.com/mig-1g.10gb" in saving.evidence


def test_a_gpu_to_divide_has_to_be_emptied_where_all_are_held() -> None:
    (saving,) = of_services("a", gpus=1)

    assert saving.needs.endswith("no node with this board has a free GPU now, so first empty 1 GPU")


def test_a_profile_that_nodes_offer_and_have_free_can_be_asked_for_now() -> None:
    (saving,) = of_services("a", nodes=[divided("mig", {SEVENTH: 7})])

    assert (saving.adds_up, saving.needs) == (True, "")
    assert "Nodes with this board offer 7 nvidia.com/mig-1g.10gb, 7 of them free now: mig" in saving.evidence
    assert saving.change.endswith(
        "replace resources.limits nvidia.com/gpu: 1 by nvidia.com/mig-1g.10gb: 1, and let nodeSelector, affinity and "
        "tolerations admit mig"
    )


def test_a_larger_profile_that_is_free_comes_before_a_smaller_one_that_is_not() -> None:
    full = build.workload("full", build.pod("full-0", on="mig", devices={SEVENTH: 1}))
    mig = divided("mig", {SEVENTH: 1, "nvidia.com/mig-2g.20gb": 3})

    (saving,) = of_services("a", also=[full], nodes=[mig])

    assert saving.adds_up
    assert "nvidia.com/mig-2g.20gb: 1" in saving.change
    assert saving.gpu_hours == pytest.approx(POINTS * (1 - 2 / 7), abs=1e-5)


def test_a_device_that_is_free_counts_for_one_saving_alone() -> None:
    found = of_services("a", "b", nodes=[divided("mig", {SEVENTH: 1})])

    assert [(each.subject.name, each.adds_up) for each in found] == [("a", True), ("b", False)]
    assert found[1].needs.startswith(
        "The platform team makes more nvidia.com/mig-1g.10gb available: it takes 1, and 0 are left now"
    )


def test_a_saving_that_cannot_be_made_gives_way_to_a_smaller_one() -> None:
    found = savings([notebook(build.pod("nb-0"), role=model.Role.TRAINING)], gpu(0.0, "nb-0"))
    of_service = savings(
        [build.deployment("web", build.pod("web-1-bbbbb"), build.pod("web-1-ccccc"))],
        gpu(0.1, "web-1-bbbbb"),
        gpu(0.1, "web-1-ccccc", number=1),
        rules=(PRICE,),
    )

    assert [(each.kind, each.adds_up) for each in found] == [("idle workload", True)]
    assert [(each.kind, each.adds_up) for each in of_service] == [
        ("smaller MIG profile", False),
        ("idle workload", True),
    ]


@pytest.mark.parametrize(
    "node",
    [
        divided("mig", {SEVENTH: 7}, product=build.A100),
        divided("mig", {SEVENTH: 7}, shared_by=4),
        replace(divided("mig", {SEVENTH: 7}), cordoned=True),
        replace(divided("mig", {SEVENTH: 7}), ready=False),
        replace(divided("mig", {SEVENTH: 7}), allocatable={}),
        divided("dra", {"mig.nvidia.com": 7}),
    ],
    ids=["another board", "time slices", "cordoned", "not ready", "not healthy", "devices by DRA alone"],
)
def test_some_nodes_offer_nothing_that_a_saving_can_use(node: estate.Node) -> None:
    (saving,) = of_services("a", nodes=[node])

    assert not saving.adds_up
    assert saving.needs


def test_with_strategy_single_pods_ask_for_the_profile_as_for_a_whole_gpu() -> None:
    single = replace(divided("mig", {SEVENTH: 7}), partition=SEVENTH)
    other = build.workload("other", build.pod("other-0", on="mig"))

    (saving,) = of_services("a", also=[other], nodes=[single])

    assert saving.adds_up
    assert "Nodes with this board offer 7 nvidia.com/mig-1g.10gb, 6 of them free now: mig" in saving.evidence
    assert saving.change.endswith("there nvidia.com/gpu: 1 is one 1g.10gb (MIG strategy single)")


def test_spot_needs_spot_nodes_of_the_board() -> None:
    train = build.workload("train", build.pod("train-0"))
    rules = ({"capacityType": "spot", "perGpuHour": 1.0}, PRICE)
    spot = build.node("s1", capacity_type=CapacityType.SPOT)

    (without,) = savings([train], gpu(0.9, "train-0", used=70_000), rules=rules)
    (beside,) = savings([train], gpu(0.9, "train-0", used=70_000), rules=rules, nodes=[spot])

    assert (without.adds_up, beside.adds_up, beside.needs) == (False, True, "")
    assert without.needs == f"The platform team adds spot nodes with {build.H100}: the cluster has none of them now"


@pytest.mark.parametrize(
    ("capacity_type", "saved", "freed"),
    [
        (CapacityType.ON_DEMAND, POINTS * 3, 0),
        (CapacityType.SPOT, POINTS * 3, 0),
        (CapacityType.RESERVED, 0, POINTS * 3),
        (CapacityType.UNKNOWN, 0, POINTS * 3),
    ],
)
def test_money_that_is_paid_anyway_is_freed_and_not_saved(
    capacity_type: CapacityType, saved: float, freed: float
) -> None:
    (saving, *_) = savings([notebook(build.pod("nb-0"))], gpu(0.0, "nb-0"), rules=(PRICE,), capacity_type=capacity_type)

    assert (saving.cost, saving.cost_saved, saving.cost_freed) == (POINTS * 3, saved, freed)


def test_a_saving_of_a_part_of_the_window_says_its_days_and_what_a_week_is() -> None:
    young = notebook(build.pod("nb-0", scheduled=build.BASE + build.DAY * 2))
    new = notebook(build.pod("nb-0", scheduled=build.BASE + build.DAY * 3.5))

    (half, *_) = savings([young], gpu(0.0, "nb-0", first=48), rules=(PRICE,))
    (hours, *_) = savings([new], gpu(0.0, "nb-0", first=84), rules=(PRICE,))

    assert (half.days, half.gpu_hours, half.gpu_hours_per_week, half.cost_per_week) == (2, 48, 168, 504)
    assert "It held GPUs in the last 2.0 of 4.0 days: a whole week is 168 GPU-hours" in half.evidence
    # Half a day says nothing about a week.
    assert (hours.days, hours.gpu_hours_per_week, hours.cost_per_week) == (0.5, None, None)


def test_half_of_a_gang_says_that_it_waits_and_for_what_room() -> None:
    waits = replace(build.pod("gang-worker-1", gpus=8, on="", phase=estate.Phase.PENDING), scheduled=None)
    gang = replace(
        build.workload("gang", build.pod("gang-worker-0", gpus=1), waits, kind="PyTorchJob",
                       api_version="kubeflow.org/v1"),
        gang=True,
    )  # fmt: skip

    (saving,) = savings([gang], gpu(0.0, "gang-worker-0"), nodes=[build.node("n2"), build.node("n3", gpus=4)])

    assert (
        "It is half of a gang: 1 of its pods waits for a node, and without them the others only hold their GPUs"
        in saving.evidence
    )
    assert (
        "Free now on nodes with its board: 19 nvidia.com/gpu, which is room for 1 of the 1 pods with 8 each"
        in saving.evidence
    )
    assert "start it again in a queue that starts all its pods together" in saving.change
