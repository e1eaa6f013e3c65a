"""A real Prometheus with two days of a small cluster: every number of usage, computed again from raw samples."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import nan, pi, sin
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from builders import usage as build
from e2e import ports, processes
from integration import usage_oracle
from integration.recorded_gpus import HOURS, SCRAPE, START, Samples, Stay, lines, requests
from server_process import BOUND
from usher import model
from usher.audit.document import Usage
from usher.audit.gather import estate
from usher.audit.gather.estate import CapacityType
from usher.audit.prometheus import endpoint, promql_source
from usher.audit.prometheus.promql_source import PrometheusSource
from usher.audit.usage.measuring import measure
from usher.audit.usage.series import Answer, Grid, Question, Source
from usher.audit.usage.usage_amounts import Measured
from usher.config.models import Audit

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        shutil.which("promtool") is None or shutil.which("prometheus") is None,
        reason="Prometheus is not installed (Debian: apt-get install prometheus)",
    ),
]

_END: Final = datetime.fromtimestamp(START + HOURS * 3600, tz=UTC)
_PRICES: Final = {"n-train": 3.0, "n-book": 1.25, "n-mig": 4.0, "n-dra": 3.0, "n-dark": 3.0}
"""The prices of a GPU for an hour; the T4s have no price."""


def _wave(hour: float) -> float:
    # Half an hour of low activity is too short to be idle.
    return 0.1 if 5 <= hour < 5.5 else 0.75 + 0.2 * sin(hour * pi / 12)


def _with_gap(hour: float) -> float:
    """Three hours without a sample, two steps that are bridged, and three that are not."""
    return nan if 20 <= hour < 23 or 30 <= hour < 30.34 or 40 <= hour < 40.51 else _wave(hour)


def _notebook(hour: float) -> float:
    return 0.9 if 10 <= hour < 11.5 or 33 <= hour < 33.5 else 0.02


STAYS: Final = [
    Stay(node="n-train", gpu=0, pod="train-worker-0", namespace="red", activity=_with_gap, memory_used=70_000),
    Stay(node="n-train", gpu=1, pod="train-worker-0", namespace="red", activity=_wave, memory_used=60_000),
    Stay(node="n-book", gpu=0, pod="nb-0", namespace="blue", activity=_notebook, memory_used=3_000),
    # Two pods of a Job that ended one after the other, then a pod of a workload that is gone.
    Stay(node="n-book", gpu=1, pod="sweep-x7k2p", namespace="blue", end_hour=10, activity=lambda _: 0.5),
    Stay(node="n-book", gpu=1, pod="sweep-b9d4z", namespace="blue", first_hour=12, end_hour=20, activity=lambda _: 0.3),
    Stay(node="n-book", gpu=1, pod="lost-1", namespace="blue", first_hour=24, end_hour=30, activity=lambda _: 0.1),
    Stay(node="n-book", gpu=1, first_hour=30, activity=lambda _: 0.0),
    *(
        Stay(
            node="n-mig",
            gpu=0,
            pod=f"serve-6f7d8c9b5d-{name}",
            namespace="red",
            model="NVIDIA A100-SXM4-80GB",
            profile="1g.10gb",
            instance=instance,
            resource="nvidia_com_mig_1g_10gb",
            share=1 / 7,
            activity=lambda hour: 0.6 if 8 <= hour % 24 < 20 else 0.05,
            memory_used=6_000,
            memory_free=3_700,
        )
        for instance, name in (("7", "bcdfg"), ("8", "hjklm"))
    ),
    Stay(
        node="n-old",
        gpu=0,
        pod="old-0",
        namespace="blue",
        model="Tesla T4",
        activity=lambda hour: 0.35 + 0.01 * (hour % 10),
        metric="DCGM_FI_DEV_GPU_UTIL",
        unit=100,
        memory_used=10_000,
        memory_free=5_000,
    ),
    Stay(node="n-dra", gpu=0, pod="claim-0", namespace="red", activity=_wave, labelled=False, resource="dra"),
    Stay(node="n-dra", gpu=1, pod="claim-0", namespace="red", activity=lambda _: 0.2, labelled=False, resource="dra"),
    Stay(node="n-dark", gpu=0, pod="dark-0", namespace="red", activity=_wave, scraped=False),
]

_WAITS: Final = (("30", 40), ("60", 70), ("300", 95), ("+Inf", 100))
"""Upper bounds of the wait in seconds, and how many of a hundred workloads waited at most so long."""


def _queue() -> list[tuple[dict[str, str], Samples]]:
    """Kueue admitted a workload each ten minutes, and began to count again at 0 after a day."""
    found = []
    for bound, share in _WAITS:
        samples = []
        for at in range(START + 7, START + HOURS * 3600, SCRAPE):
            admitted = (at - START) // 600 % 144
            samples.append((at, 1000 * (at < START + 86400) + admitted * share / 100))
        found.append(({"le": bound, "cluster_queue": "research"}, samples))
    return found


def a_cluster() -> estate.Estate:
    start = datetime.fromtimestamp(START - 86400, tz=UTC)
    nodes = [
        build.node("n-train", gpus=2),
        build.node("n-book", gpus=2, product="NVIDIA-L40S", capacity_type=CapacityType.SPOT),
        build.node("n-mig", product=build.A100, capacity={"nvidia.com/mig-1g.10gb": 7}),
        build.node("n-old", gpus=1, product="Tesla-T4"),
        build.node("n-dra", gpus=2),
        build.node("n-dark", gpus=1),
    ]
    serving = [
        build.pod(f"serve-6f7d8c9b5d-{name}", on="n-mig", devices={"nvidia.com/mig-1g.10gb": 1}, scheduled=start)
        for name in ("bcdfg", "hjklm")
    ]
    return build.estate_of(
        nodes,
        build.workload("claim", build.pod("claim-0", on="n-dra", gpus=2, scheduled=start), team="a"),
        build.workload("dark", build.pod("dark-0", on="n-dark", scheduled=start), team="a"),
        build.workload(
            "nb",
            build.pod("nb-0", namespace="blue", on="n-book", scheduled=start),
            namespace="blue",
            kind="Notebook",
            api_version="kubeflow.org/v1",
            role=model.Role.INTERACTIVE,
            team="b",
        ),
        build.workload("old", build.pod("old-0", namespace="blue", on="n-old", scheduled=start), namespace="blue"),
        build.deployment("serve", *serving, team="a"),
        build.workload("sweep", namespace="blue", team="b", queue="research"),
        build.workload("train", build.pod("train-worker-0", on="n-train", gpus=2, scheduled=start), team="a"),
    )


CONFIG: Final = Audit.model_validate(
    {
        "prices": {
            "rules": [
                {"product": "nvidia-l40s", "capacityType": "spot", "perGpuHour": 1.25},
                # A node with 7/7 of a GPU costs what its GPU costs, by gpuShare.
                {"product": "NVIDIA-A100-*", "perNodeHour": 4.0 / 0.95},
                {"product": "NVIDIA-H100-*", "perGpuHour": 3.0},
                {"product": "NVIDIA-H800-*", "perGpuHour": 9.0},
            ]
        }
    }
)


@dataclass(frozen=True)
class Without:
    """A source that lacks some metrics."""

    source: Source
    lacking: frozenset[str]
    name: str = "prometheus"
    url: str = ""
    selection: str = ""

    def read(self, question: Question, grid: Grid, /) -> Answer:
        return Answer() if question.metric in self.lacking else self.source.read(question, grid)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Prometheus with the samples of two days."""
    directory = tmp_path_factory.mktemp("prometheus")
    file, data = directory / "samples.txt", directory / "data"
    recorded = requests([stay for stay in STAYS if stay.resource != "dra"])
    with file.open("w") as stream:
        stream.writelines(lines(STAYS, {**recorded, "kueue_admission_wait_time_seconds_bucket": _queue()}))
    command: list[str | Path] = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", file, data]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * BOUND)
    assert done.returncode == 0, done.stdout + done.stderr
    (directory / "prometheus.yaml").write_text("{}")
    with serving(directory, data) as url:
        yield url


def serving(directory: Path, data: Path) -> "_Serving":
    return _Serving(directory, data)


class _Serving:
    def __init__(self, directory: Path, data: Path) -> None:
        (port,) = ports.free(1)
        self.url = f"http://{processes.LOOPBACK}:{port}"
        self.running = processes.start(
            "prometheus",
            [
                *("prometheus", f"--config.file={directory / 'prometheus.yaml'}", f"--storage.tsdb.path={data}"),
                *(f"--web.listen-address={processes.LOOPBACK}:{port}", "--storage.tsdb.retention.time=100y"),
            ],
            health=f"{self.url}/-/ready",
            log=directory / "prometheus.log",
            env={},
        )

    def __enter__(self) -> str:
        processes.wait_until_ready([self.running], tls=ssl.create_default_context())
        return self.url

    def __exit__(self, *_: object) -> None:
        processes.stop(self.running.process)


@pytest.fixture(scope="module")
def source(prometheus: str) -> PrometheusSource:
    return PrometheusSource(promql_source.Client(endpoint.read_address(prometheus, environment={})))


@pytest.fixture(scope="module")
def measured(source: PrometheusSource) -> Measured:
    return measure_all(source)


def measure_all(source: Source, found: estate.Estate | None = None) -> Measured:
    return measure(
        found or a_cluster(),
        source,
        config=CONFIG,
        window=timedelta(hours=HOURS),
        now=_END + timedelta(seconds=90),
        step=timedelta(seconds=usage_oracle.STEP),
    )


def _price(stay: Stay) -> float:
    return _PRICES.get(stay.node, 0.0)


def _stays(*names: str) -> list[Stay]:
    return [stay for stay in STAYS if stay.pod and any(stay.pod.startswith(f"{name}-") for name in names)]


def _of(measured: Measured, name: str) -> Usage:
    return next(usage for identity, usage in measured.workloads.items() if identity.name == name)


def _assert_same(usage: Usage, expected: usage_oracle.Hours) -> None:
    assert usage.allocated == pytest.approx(expected.allocated, abs=1e-5)
    assert usage.measured == pytest.approx(expected.measured, abs=1e-5)
    if not expected.measured:
        assert usage.used is usage.idle is usage.activity is usage.memory_share is usage.memory_peak is None
        return
    assert usage.used == pytest.approx(expected.used, abs=1e-5)
    assert usage.idle == pytest.approx(expected.idle, abs=1e-5)
    assert usage.activity == pytest.approx(expected.used / expected.measured, abs=1e-5)
    assert usage.memory_share == pytest.approx(expected.memory_used / expected.memory, abs=1e-5)
    assert usage.memory_peak == expected.memory_peak * 2**20


@pytest.mark.parametrize("name", ["train", "nb", "sweep", "serve", "old", "claim", "dark"])
def test_the_hours_of_each_workload_are_those_of_its_samples(measured: Measured, name: str) -> None:
    expected = usage_oracle.hours(_stays(name), price=_price)

    usage = _of(measured, name)

    _assert_same(usage, expected)
    if name == "old":
        assert usage.cost is None
        assert usage.not_priced == pytest.approx(expected.allocated)
    else:
        assert usage.cost is not None
        assert usage.cost.allocated == pytest.approx(expected.cost, abs=1e-4)
        assert usage.not_priced == 0
    if usage.cost is not None and expected.measured:
        assert usage.cost.used == pytest.approx(expected.cost_used, abs=1e-4)
        assert usage.cost.idle == pytest.approx(expected.cost_idle, abs=1e-4)
        assert usage.cost.idle_memory == pytest.approx(expected.cost_idle_memory, abs=1e-4)


def test_the_total_is_that_of_all_pods(measured: Measured) -> None:
    _assert_same(measured.total, usage_oracle.hours([stay for stay in STAYS if stay.pod], price=_price))


@pytest.mark.parametrize("by", ["team", "namespace", "queue", "priority", "product", "capacityType"])
def test_each_table_adds_up_to_the_total(measured: Measured, by: str) -> None:
    (table,) = [table for table in measured.groups if table.by == by]

    for field in ("allocated", "measured", "used", "idle", "gpus_now"):
        parts = [getattr(row.usage, field) or 0 for row in table.rows]
        assert sum(parts) == pytest.approx(getattr(measured.total, field), abs=1e-4)


def test_pods_of_a_workload_that_is_gone_count_for_their_namespace(measured: Measured) -> None:
    (table,) = [table for table in measured.groups if table.by == "namespace"]
    rows = {row.name: row for row in table.rows}

    _assert_same(rows["blue"].usage, usage_oracle.hours(_stays("nb", "sweep", "lost", "old"), price=_price))
    assert any("6.0 GPU-hours are of pods whose workload" in text for text in measured.measurement.problems)


def test_the_targets_are_those_of_the_samples(measured: Measured) -> None:
    targets = {target.name: target for target in measured.targets}
    expected = usage_oracle.hours(STAYS, price=_price)

    # The GPU without a pod counts for the activity of all GPUs.
    assert targets["activity"].actual == pytest.approx(expected.used / expected.measured, abs=1e-5)
    assert targets["memory"].actual == measured.total.memory_share
    # 95 of 100 waits end at the bound of 300 s, though the counters began again at 0.
    assert targets["queueWaitP95"].actual == pytest.approx(300, abs=3)
    assert targets["queueWaitP95"].met is True


def test_the_report_says_what_is_missing(measured: Measured) -> None:
    said = "\n".join(measured.measurement.problems)

    assert measured.measurement.sources == ("Allocated GPU-hours are those that kube-state-metrics recorded",)
    assert "1 GPU has no DCGM_FI_PROF_GR_ENGINE_ACTIVE" in said
    assert "1 of 6 GPU nodes have no series, so their GPUs are not measured: n-dark" in said
    assert "Series of n-dra name no pods; they count for the one pod" in said
    assert "audit.prices.rules[3] matches no node (product NVIDIA-H800-*" in said
    assert "audit.prices has no price for Tesla-T4 (on-demand)" in said
    assert measured.measurement.start == "2026-03-02T00:00:00Z"
    assert measured.measurement.end == "2026-03-04T00:00:00Z"


def test_the_notebook_is_the_first_saving(measured: Measured) -> None:
    saving = next(each for each in measured.savings if each.subject.name == "nb")
    expected = usage_oracle.hours(_stays("nb"), price=_price)

    assert saving.kind == "idle workload"
    assert saving.gpu_hours == pytest.approx(expected.idle, abs=1e-5)
    assert saving.cost == pytest.approx(expected.cost_idle, abs=1e-4)
    assert "kubeflow-resource-stopped" in saving.change


def test_without_kube_state_metrics_the_series_say_who_held_a_gpu(source: PrometheusSource) -> None:
    lacking = frozenset({"kube_pod_container_resource_requests", "kube_pod_status_phase", "kube_pod_owner"})

    found = measure_all(Without(source, lacking))

    for name in ("train", "nb", "sweep", "serve", "old", "claim", "dark"):
        _assert_same(_of(found, name), usage_oracle.hours(_stays(name), price=_price))
    assert any("no requests of pods for GPUs from kube-state-metrics" in text for text in found.measurement.problems)
    assert found.measurement.sources == ()


def test_without_the_profiling_metrics_mig_is_not_measured_and_other_gpus_are_by_their_utilisation(
    source: PrometheusSource,
) -> None:
    found = measure_all(Without(source, frozenset({"DCGM_FI_PROF_GR_ENGINE_ACTIVE"})))

    served = _of(found, "serve")
    assert served.allocated == pytest.approx(2 / 7 * HOURS, abs=1e-5)
    assert served.measured == 0
    assert served.used is None
    assert served.memory_share is not None
    assert any("2 MIG devices have no DCGM_FI_PROF_GR_ENGINE_ACTIVE" in text for text in found.measurement.problems)
    _assert_same(_of(found, "old"), usage_oracle.hours(_stays("old"), price=_price))


def test_a_dra_node_that_pods_share_is_not_attributed(source: PrometheusSource) -> None:
    given = a_cluster()
    shared = build.workload("other", build.pod("other-0", on="n-dra"), namespace="red")
    found = measure_all(source, replace(given, workloads=(*given.workloads, shared)))

    assert _of(found, "claim").measured == 0
    assert any(
        "Series of n-dra name no pods though pods hold GPUs there" in text for text in found.measurement.problems
    )


def test_the_numbers_do_not_depend_on_the_parts_in_which_prometheus_answers(
    prometheus: str, measured: Measured
) -> None:
    small = promql_source.Client(endpoint.read_address(prometheus, environment={}), largest_answer=40_000)

    found = measure_all(PrometheusSource(small))

    assert found.total == measured.total
    assert found.workloads == measured.workloads


def test_a_prometheus_without_these_metrics_measures_nothing(source: PrometheusSource) -> None:
    found = measure(a_cluster(), source, config=CONFIG, window=timedelta(hours=2), now=datetime(2020, 1, 1, tzinfo=UTC))

    assert found.total.allocated is None
    assert found.total.gpus_now == pytest.approx(2 + 1 + 1 + 1 + 2 + 2 / 7, abs=1e-5)
    assert any("so no usage was measured" in text for text in found.measurement.problems)
    assert all(target.actual is None for target in found.targets)
