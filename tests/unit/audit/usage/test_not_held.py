"""The cost of GPUs that no pod holds: now, and in the window by the series of nodes."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from builders import usage as build
from usher.audit.document import Group
from usher.audit.gather import estate
from usher.audit.gather.estate import CapacityType, OneNamespace
from usher.audit.usage.measuring import measure
from usher.audit.usage.series import Series
from usher.audit.usage.usage_amounts import Measured
from usher.config.models import Audit

POINTS = 24
PRICE = {"perGpuHour": 2.0}


def offered(gpus: build.Value, *, node: str = "n1", first: int = 0, points: int = POINTS, **labels: str) -> Series:
    given = {"node": node, "resource": "nvidia_com_gpu", **labels}
    return build.series(gpus, points, first=first, **given)


def measured(
    nodes: list[estate.Node] | None,
    *workloads: estate.Workload,
    rules: tuple[dict[str, Any], ...] = (PRICE,),
    **series: Any,
) -> Measured:
    """A window of a day with steps of an hour; series by the metric without `kube_node_`."""
    return measure(
        build.estate_of(nodes, *workloads),
        build.Table(found={f"kube_node_{metric}": found for metric, found in series.items()}),
        config=Audit.model_validate({"prices": {"rules": list(rules)}}),
        window=timedelta(days=1),
        now=build.BASE + timedelta(days=1),
        step=timedelta(hours=1),
    )


def holding(gpus: int, *, on: str = "n1") -> estate.Workload:
    return build.workload("train", build.pod("train-0", gpus=gpus, on=on))


def test_gpus_that_no_pod_held_are_free() -> None:
    found = measured([build.node("n1")], holding(3), status_capacity=[offered(8)]).not_held

    assert (found.free, found.cost_free) == (5 * 24, 5 * 24 * 2)
    assert (found.out_of_use, found.cost_out_of_use) == (0, 0)
    assert (found.free_per_hour, found.out_of_use_per_hour, found.gpus_not_priced) == (10, 0, 0)


def test_a_node_counts_while_it_is_there() -> None:
    came, gone = offered(8, node="new", first=20, points=4), offered(8, node="gone", points=6)

    found = measured([build.node("new")], status_capacity=[came, gone]).not_held

    assert found.free == 8 * 4 + 8 * 6


def test_a_short_hole_of_a_series_is_bridged_and_a_long_one_is_said() -> None:
    short = offered(lambda point: build.NAN if 5 <= point < 7 else 1)
    long = offered(lambda point: build.NAN if 5 <= point < 15 else 1)

    bridged = measured([build.node("n1")], status_capacity=[short])
    holed = measured([build.node("n1")], status_capacity=[long])

    assert (bridged.not_held.free, holed.not_held.free) == (24, 14)
    assert not [each for each in bridged.measurement.problems if "covers" in each]
    assert [each for each in holed.measurement.problems if "covers 14.0 of 24.0 hours" in each]


@pytest.mark.parametrize("metric", ["spec_unschedulable", "status_condition"])
def test_the_rest_of_a_node_that_is_cordoned_or_not_ready_is_out_of_use(metric: str) -> None:
    series: dict[str, Any] = {"status_capacity": [offered(8)], metric: [build.series(1, 6, first=18, node="n1")]}

    found = measured([build.node("n1")], holding(3), **series).not_held

    assert (found.free, found.out_of_use) == (5 * 18, 5 * 6)


def test_devices_that_are_not_healthy_are_out_of_use() -> None:
    found = measured(
        [build.node("n1")], holding(7), status_capacity=[offered(8)], status_allocatable=[offered(6)]
    ).not_held

    # Seven of eight are held, so one of the two lost ones is: it is allocated.
    assert (found.free, found.out_of_use) == (0, 24)


def test_all_gpus_of_a_node_that_has_lost_all_devices_are_out_of_use() -> None:
    found = measured([build.node("n1")], status_capacity=[offered(8)], status_allocatable=[offered(0)]).not_held

    assert (found.free, found.out_of_use) == (0, 8 * 24)


def test_slices_count_by_their_share() -> None:
    mig = build.node("n1", capacity={"nvidia.com/mig-1g.10gb": 7})
    shared = build.node("n2", gpus=2, shared_by=4)

    found = measured(
        [mig, shared],
        status_capacity=[
            offered(7, resource="nvidia_com_mig_1g_10gb"),
            offered(8, node="n2"),
        ],
    ).not_held

    assert found.free == pytest.approx((1 + 2) * 24)


def test_without_series_of_nodes_only_the_money_of_now_is_known() -> None:
    found = measured([build.node("n1", gpus=4)])

    assert (found.not_held.free, found.not_held.out_of_use, found.not_held.cost_free) == (None, None, None)
    assert found.not_held.free_per_hour == 8
    assert [each for each in found.measurement.problems if "no kube_node_status_capacity" in each]


def groups(found: Measured, by: str) -> dict[str, Group]:
    (table,) = [each for each in found.groups if each.by == by]
    return {row.name: row for row in table.rows}


def test_boards_and_ways_of_paying_have_what_no_pod_held() -> None:
    spot = build.node("s1", gpus=4, product=build.A100, capacity_type=CapacityType.SPOT)
    cordoned: dict[str, Any] = {"spec_unschedulable": [build.series(1, 6, first=18, node="s1")]}
    rules = ({"product": "*A100*", "perGpuHour": 1.0}, {"product": "*H100*", "perGpuHour": 3.0})

    found = measured(
        [build.node("n1"), spot],
        holding(3),
        rules=rules,
        status_capacity=[offered(8), offered(4, node="s1")],
        **cordoned,
    )

    for by, names in (("product", (build.H100, build.A100)), ("capacityType", ("on-demand", "spot"))):
        h100, a100 = (groups(found, by)[name] for name in names)
        assert (h100.gpus_free, h100.free, h100.out_of_use, h100.cost_free) == (5, 5 * 24, 0, 5 * 24 * 3)
        # Pods held none of this board, so its row has no workload.
        assert (a100.workloads, a100.usage.gpus_now, a100.usage.allocated) == (0, 0, 0)
        assert (a100.gpus_free, a100.free, a100.out_of_use) == (4, 4 * 18, 4 * 6)
        assert (a100.cost_free, a100.cost_out_of_use, a100.cost_not_held) == (72, 24, 96)


@pytest.mark.parametrize("by", ["team", "namespace", "queue", "priority"])
def test_tables_that_are_not_about_nodes_say_nothing_of_it(by: str) -> None:
    found = measured([build.node("n1")], holding(3), status_capacity=[offered(8)])

    assert {row.not_held for row in groups(found, by).values()} == {None}


def test_a_board_without_series_of_its_nodes_has_no_hours_that_no_pod_held() -> None:
    dark = build.node("dark", product=build.A100)

    found = groups(measured([build.node("n1"), dark], status_capacity=[offered(8)]), "product")[build.A100]

    assert (found.gpus_free, found.free, found.not_held, found.cost_not_held) == (8, None, None, None)
    assert found.usage.allocated is None


def test_without_all_pods_it_is_not_known_which_gpus_no_pod_holds() -> None:
    for unknown in ({"pods_known": False}, {"scope": OneNamespace(name="red")}):
        given = replace(build.estate_of([build.node("n1")], holding(3)), **unknown)
        found = measure(given, None, config=Audit(), window=timedelta(days=1), now=build.BASE)

        assert {row.gpus_free for row in groups(found, "product").values()} <= {None}


def test_series_that_name_no_node_count_for_no_node() -> None:
    found = measured([build.node("n1")], status_capacity=[offered(8), offered(8, node="")]).not_held

    assert found.free == 8 * 24


def test_a_node_without_free_gpus_gives_the_others_no_price() -> None:
    nodes = [build.node("n1", gpus=8, product=build.A100), build.node("full", gpus=2)]
    of_h100 = {"product": "*H100*", "perGpuHour": 3.0}

    assert measured(nodes, holding(2, on="full"), rules=(of_h100,)).not_held.free_per_hour is None


def test_a_node_without_series_is_named() -> None:
    found = measured([build.node("n1"), build.node("dra")], status_capacity=[offered(8)])

    assert [each for each in found.measurement.problems if "no series of 1 of 2 GPU nodes" in each and "dra" in each]


def test_nothing_is_known_where_nodes_are_not() -> None:
    found = measured(None).not_held

    assert (found.gpus_not_priced, found.free_per_hour, found.free, found.cost_free) == (None, None, None, None)


def test_gpus_without_a_price_are_counted_and_cost_nothing_that_is_known() -> None:
    nodes = [build.node("n1", gpus=4), build.node("n2", gpus=8, product=build.A100)]
    of_h100 = {"product": "*H100*", "perGpuHour": 3.0}

    some, none = measured(nodes, rules=(of_h100,)), measured(nodes, rules=())

    assert (some.not_held.gpus_not_priced, some.not_held.free_per_hour) == (8, 12)
    assert (none.not_held.gpus_not_priced, none.not_held.free_per_hour) == (12, None)


def test_the_prices_say_their_rule_and_how_they_follow_from_it() -> None:
    nodes = [build.node("n1"), build.node("n2"), build.node("n3", gpus=4, product=build.A100)]
    rules = ({"product": "*H100*", "perNodeHour": 80.0}, {"product": "*L4*", "perGpuHour": 1.0})

    h100, a100 = measured(nodes, holding(2), rules=rules, status_capacity=[offered(8)]).prices

    assert (h100.product, h100.capacity_type, h100.nodes, h100.gpus) == (build.H100, "on-demand", 2, 16)
    assert (h100.per_gpu_hour, h100.rule) == (9.5, "audit.prices.rules[0]")
    assert h100.formula == "80 USD per node and hour x 0.95 / 8 GPUs"
    assert (a100.per_gpu_hour, a100.rule, a100.gpus) == (None, "", 4)
