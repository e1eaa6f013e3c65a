"""The usage of an estate from series: sources that lack something, and labels as different exporters write them."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

import builders
from builders import usage as build
from unit.audit.building import built
from usher.audit.gather import estate
from usher.audit.usage import measuring, usage_metrics
from usher.audit.usage.series import Series, Source, grid_of_window
from usher.audit.usage.usage_amounts import Measured
from usher.config.models import Audit

HOURS = 24
NOW = build.BASE + timedelta(hours=HOURS)

ACTIVE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
KUBELET: dict[str, Any] = {"namespace": "red", "pod": "train-0"}
TRAIN = build.workload("train", build.pod("train-0"), team="a")


def measure(
    source: Source | None, *workloads: estate.Workload, nodes: list[estate.Node] | None = None, **options: Any
) -> Measured:
    config = Audit.model_validate(options.pop("config", {"prices": {"rules": [{"perGpuHour": 2}]}}))
    given = {"window": timedelta(hours=HOURS), "now": NOW, "step": timedelta(hours=1), **options}
    found = build.estate_of([build.node("n1")] if nodes is None else nodes, *(workloads or (TRAIN,)))
    return measuring.measure(found, source, config=config, **given)


def table(*active: Series, **found: list[Series]) -> build.Table:
    return build.Table(found={ACTIVE: active, **found})


def said(measured: Measured) -> str:
    return "\n".join(measured.measurement.problems)


def test_without_a_source_only_what_pods_hold_now_is_known() -> None:
    found = measure(None)

    assert found.measurement.source == "none"
    assert found.total.gpus_now == 1
    assert found.total.cost_per_hour == 2
    assert found.total.allocated is found.total.measured is found.total.idle is None
    assert found.total.cost is None
    assert found.savings == ()
    assert found.savings_gpu_hours is None
    assert {target.actual for target in found.targets} == {None}
    assert found.measurement.problems == ()


def test_a_source_that_is_down_is_asked_once_and_said() -> None:
    source = build.Table(found={}, broken=frozenset({ACTIVE}))

    found = measure(source)

    assert len(source.asked) == 1
    assert found.total.allocated is None
    assert said(found) == f"{ACTIVE} is missing: Prometheus at http://p: it cannot be reached"
    assert found.measurement.failures == found.measurement.problems


def test_a_source_without_series_of_gpus_has_failed_where_a_node_has_gpus() -> None:
    with_gpus, without = measure(table()), measure(table(), nodes=[])

    assert said(with_gpus).startswith("Prometheus has no usable series of dcgm-exporter")
    (failure,) = with_gpus.measurement.failures
    assert failure.endswith("so no usage was measured. Scrape the exporter of the GPU operator")
    assert failure in without.measurement.problems
    assert without.measurement.failures == ()


def test_labels_that_no_series_has_are_named_as_the_likely_cause() -> None:
    source = table()
    source.selection = "cluster=other"

    (failure,) = measure(source).measurement.failures

    assert failure.endswith(
        "with cluster=other, so no usage was measured. Compare --prometheus-label with the labels of these series; or "
        "scrape the exporter of the GPU operator"
    )


def test_series_of_other_shards_show_that_the_exporter_is_scraped() -> None:
    source = table()
    source.left_out = 3

    found = measure(source)

    assert "no usable series" not in said(found)
    assert "no series of a GPU that is not held by other namespaces, so no usage was measured" in said(found)
    assert found.measurement.failures == ()


@pytest.mark.parametrize(("hours", "is_said"), [(1, True), (2, False)])
def test_a_window_that_is_hardly_longer_than_the_idle_period_is_said(hours: int, is_said: bool) -> None:
    source = table(build.dcgm(0.0, 60 * hours, **KUBELET))

    found = measure(source, window=timedelta(hours=hours), step=timedelta(minutes=1))

    sentence = (
        "The window has 1.0 hours, and a GPU is idle after 1.0 hours without a break (audit.idle.lasting), so most "
        "idle GPU-hours are missing. Choose a --window of at least 2h"
    )
    assert (sentence in found.measurement.problems) == is_said


def test_what_one_metric_lacks_does_not_hide_the_others() -> None:
    source = table(build.dcgm(0.5, HOURS, **KUBELET))
    source.broken = frozenset({"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"})
    source.warnings = {ACTIVE: "store-2 did not answer", "kube_pod_owner": "store-2 did not answer"}

    found = measure(source)

    assert found.total.used == 12
    assert found.total.memory_share is None
    missing, warning, *_ = found.measurement.problems
    assert found.measurement.failures == (missing,)
    assert missing.startswith("DCGM_FI_DEV_FB_USED, DCGM_FI_DEV_FB_FREE are missing: Prometheus at http://p: ")
    assert warning == f"demo warns that metrics may be incomplete ({ACTIVE}, kube_pod_owner): store-2 did not answer"


def test_a_source_that_fails_after_its_first_answers_is_not_asked_to_the_end() -> None:
    source = table(build.dcgm(0.5, HOURS, **KUBELET))
    source.broken = frozenset({"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED"})

    found = measure(source)

    assert source.asked[-1].metric == "DCGM_FI_DEV_FB_RESERVED"
    assert found.total.used == 12
    assert found.measurement.problems[1] == "After these failures usher asked for no further metrics"


@pytest.mark.parametrize(
    "labels",
    [
        KUBELET,
        {"namespace": "ops", "pod": "dcgm-exporter-x", "exported_namespace": "red", "exported_pod": "train-0"},
        {"pod_namespace": "red", "pod_name": "train-0"},
        {**KUBELET, "Hostname": "dcgm-exporter-6ldbb", "node": "n1"},
        {**KUBELET, "Hostname": "nowhere"},
    ],
)
def test_series_are_of_their_pod_however_labels_are_renamed(labels: dict[str, Any]) -> None:
    found = measure(table(build.dcgm(0.5, HOURS, **labels)))

    assert found.workloads[TRAIN.identity].used == 12
    assert found.total.cost is not None
    assert found.total.cost.allocated == 2 * HOURS


def test_two_prometheus_servers_that_scrape_one_exporter_count_once() -> None:
    twice = [build.dcgm(0.5, HOURS, **KUBELET, instance=instance) for instance in ("a", "b")]

    assert measure(table(*twice)).total.measured == HOURS


def test_a_pod_that_is_known_from_the_cluster_alone_is_allocated_since_it_was_placed() -> None:
    late = build.workload("late", build.pod("late-0", on="n2", scheduled=build.BASE + timedelta(hours=20)))

    found = measure(table(build.dcgm(0.5, HOURS, **KUBELET)), TRAIN, late, nodes=[build.node("n1"), build.node("n2")])

    usage = found.workloads[late.identity]
    assert (usage.allocated, usage.measured, usage.used, usage.idle) == (4, 0, None, None)
    assert usage.cost is not None
    assert (usage.cost.allocated, usage.cost.used, usage.cost.idle) == (8, None, None)
    assert "1 of 2 GPU nodes have no series, so their GPUs are not measured: n2" in said(found)


def test_where_nodes_are_not_known_products_come_from_the_series() -> None:
    given = estate.Estate(nodes=None, workloads=(TRAIN,))
    config = Audit.model_validate({"prices": {"rules": [{"product": "NVIDIA-H100-80GB-HBM3", "perGpuHour": 2}]}})

    found = measuring.measure(
        given,
        table(build.dcgm(0.5, HOURS, namespace="red", pod="train-1")),
        config=config,
        window=timedelta(hours=HOURS),
        now=NOW,
    )

    (product,) = [each for each in found.groups if each.by == "product"]
    assert build.H100 in [row.name for row in product.rows]


def test_the_gpus_of_amd_are_measured_by_their_own_exporter() -> None:
    labels: dict[str, Any] = {
        "gpu_id": "0",
        "hostname": "n1",
        "serial_number": "S",
        "card_series": "AMD Instinct MI300X OAM",
    }
    named = {**labels, "gpu_compute_partition_type": "spx", **KUBELET}
    source = build.Table(
        found={
            "gpu_gfx_activity": [build.series(25.0, HOURS, **named)],
            "gpu_used_vram": [build.series(50_000.0, HOURS, **named)],
            "gpu_total_vram": [build.series(200_000.0, HOURS, **named)],
        }
    )

    usage = measure(source).total

    assert (usage.measured, usage.used, usage.memory_share) == (HOURS, HOURS / 4, 0.25)
    assert usage.memory_peak == 50_000 * 2**20


def test_parts_of_gpus_of_unknown_size_are_not_counted() -> None:
    labels: dict[str, Any] = {
        "gpu_id": "0",
        "hostname": "n1",
        "gpu_uuid": "u",
        "gpu_compute_partition_type": "cpx",
        **KUBELET,
    }

    found = measure(build.Table(found={"gpu_gfx_activity": [build.series(25.0, HOURS, **labels)]}))

    assert found.total.measured == 0
    assert "1 device is a part of a GPU of unknown size and not counted" in said(found)


def test_values_that_an_exporter_writes_for_what_it_cannot_read_are_gaps() -> None:
    blank = build.dcgm(lambda point: 9223372036854775794.0 if point < 6 else 0.5, HOURS, **KUBELET)
    memory = build.dcgm(2147483632.0, HOURS, **KUBELET)

    found = measure(table(blank, DCGM_FI_DEV_FB_USED=[memory], DCGM_FI_DEV_FB_FREE=[memory]))

    assert found.total.allocated == HOURS
    assert found.total.measured == HOURS - 6
    assert found.total.memory_peak is None
    assert "6.0 of 24.0 allocated GPU-hours have no sample of activity" in said(found)


def test_a_prometheus_that_keeps_less_than_the_window_is_said() -> None:
    found = measure(table(build.dcgm(0.5, 12, first=12, **KUBELET)))

    assert "The first sample is of 2026-03-02T12:00:00Z: before, nothing was measured" in said(found)


def test_steps_longer_than_an_idle_stretch_are_said() -> None:
    found = measure(table(build.dcgm(0.5, 12, **KUBELET)), step=timedelta(hours=2))

    assert "A step has 7200 s, which is longer than audit.idle.lasting (3600 s)" in said(found)


def test_an_idle_threshold_of_usher_yaml_counts() -> None:
    source = table(build.dcgm(0.3, HOURS, **KUBELET))

    assert measure(source).total.idle == HOURS
    assert measure(source, config={"idle": {"below": 0.25}}).total.idle == 0
    assert measure(source, config={"idle": {"lasting": "25h"}}).total.idle == 0


def test_the_memory_that_the_driver_reserves_is_neither_used_nor_free() -> None:
    def of(value: float) -> list[Series]:
        return [build.dcgm(value, HOURS, **KUBELET)]

    found = {"DCGM_FI_DEV_FB_USED": of(40.0), "DCGM_FI_DEV_FB_FREE": of(50.0), "DCGM_FI_DEV_FB_RESERVED": of(10.0)}
    active = build.dcgm(1.0, HOURS, **KUBELET)

    assert measure(table(active, **found)).total.memory_share == 0.4
    assert measure(table(active, **found, DCGM_FI_DEV_FB_TOTAL=of(160.0))).total.memory_share == 0.25


def test_gpus_that_pods_share_count_once() -> None:
    pods = [build.workload(name, build.pod(f"{name}-0")) for name in ("one", "two")]
    series = [build.dcgm(0.5, HOURS, namespace="red", pod=f"{name}-0") for name in ("one", "two")]

    found = measure(table(*series), *pods, nodes=[build.node("n1", gpus=1, shared_by=2)])

    assert found.total.gpus_now == 1
    assert found.total.allocated == found.total.measured == HOURS
    assert [usage.used for usage in found.workloads.values()] == [6, 6]


def test_teams_of_namespaces_are_those_of_pods_without_a_workload() -> None:
    labelled = builders.custom("v1", "Namespace", {}, name="red", namespace=None)
    given = built([builders.node("n1", gpus=8), builders.replaced(labelled, "/metadata/labels", {"team": "a"})])

    found = measuring.measure(
        given, table(build.dcgm(0.5, HOURS, **KUBELET)), config=Audit(), window=timedelta(days=1), now=NOW
    )

    (teams,) = [each for each in found.groups if each.by == "team"]
    assert [(row.name, row.workloads) for row in teams.rows] == [("a", 0)]


def test_a_workload_that_only_waits_counts_in_its_groups_and_in_no_product() -> None:
    """As in the list of workloads by team, so that a report has one number of workloads."""
    waits = build.workload("waits", team="late", queue="research")
    template = replace(build.workload("runtime", team="late"), is_template=True)
    manifest = replace(build.workload("planned", team="late"), exists=False)

    found = measure(table(build.dcgm(0.5, HOURS, **KUBELET)), TRAIN, waits, template, manifest)

    rows = {each.by: {row.name: row.workloads for row in each.rows} for each in found.groups}
    assert rows["team"] == {"a": 1, "late": 1}
    assert rows["queue"] == {"": 1, "research": 1}
    assert rows["namespace"] == {"red": 2}
    assert sum(rows["product"].values()) == sum(rows["capacityType"].values()) == 1


@pytest.mark.parametrize(
    ("window", "step"),
    [(1, 60), (24, 120), (7 * 24, 600), (30 * 24, 3600), (90 * 24, 7200)],
)
def test_a_window_has_at_most_1100_steps_that_end_at_round_times(window: int, step: int) -> None:
    grid = grid_of_window(timedelta(hours=window), now=NOW + timedelta(seconds=59))

    assert grid.step == step
    assert grid.points <= 1100
    assert grid.end % step == 0
    assert 0 <= NOW.timestamp() + 59 - grid.end < step


def test_the_same_series_give_the_same_document() -> None:
    labels: list[dict[str, Any]] = [{"namespace": "red", "pod": f"train-{index}"} for index in range(3)]
    given = [build.dcgm(0.1 * index, HOURS, gpu=index, **each) for index, each in enumerate(labels)]

    assert measure(table(*given)) == measure(table(*reversed(given)))


def test_every_question_is_about_a_metric_of_the_list() -> None:
    source = table(build.dcgm(0.5, HOURS, **KUBELET))

    measure(source)

    names = {question.metric for question in source.asked}
    assert {ACTIVE, "DCGM_FI_DEV_GPU_UTIL", "kube_pod_status_phase", usage_metrics.QUEUE_WAIT.metric} <= names
