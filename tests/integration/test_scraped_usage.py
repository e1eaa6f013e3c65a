"""`usher audit --prometheus` with a real Prometheus, which scrapes an exporter that replays known series."""

import functools
import json
import shutil
import ssl
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import builders
from builders.existing import existing, running
from e2e import ports, processes
from e2e.cluster import wait_until
from integration import command
from integration.api_server import served

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        shutil.which("prometheus") is None, reason="Prometheus is not installed (Debian: apt-get install prometheus)"
    ),
]

ACTIVITY = {"busy": 0.75, "still": 0.05}
"""By pod; each holds one GPU of node gpu-0."""

USED, FREE = 20_000, 60_000
"""MiB of each GPU."""

MINUTES = 45
"""That the exporter replays, with three samples in each. They end some minutes before the audit."""
GAP = range(20, 23)
"""Minutes in which the busy GPU has no sample: more than are bridged."""

RESTART = 30
"""The minute in which Kueue began to count again at 0; until then each workload waited less than a minute."""
WAITS = {"60": 0.5, "300": 0.9, "+Inf": 1.0}
"""After that, by bound in seconds: the share of the workloads that waited at most so long."""


@functools.cache
def start() -> int:
    """When the samples begin, in seconds since the epoch. A whole run of tests can take longer than the window."""
    return int(time.time()) // 60 * 60 - 50 * 60


class Exporter(BaseHTTPRequestHandler):
    """Answers like dcgm-exporter, with the pods in the labels that Prometheus keeps (honor_labels).

    Each sample has its time, so that one scrape reads what an exporter says in three quarters of an hour.
    """

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write("\n".join([*metrics(), ""]).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        pass


def metrics() -> Iterator[str]:
    for gpu, (pod, activity) in enumerate(ACTIVITY.items()):
        labels = f'gpu="{gpu}",UUID="GPU-{gpu}",Hostname="gpu-0",namespace="ml-research",pod="{pod}",container="main"'
        minutes = [minute for minute in range(MINUTES) if pod != "busy" or minute not in GAP]
        yield from samples(f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}}", minutes, activity)
        yield from samples(f"DCGM_FI_DEV_FB_USED{{{labels}}}", minutes, USED)
        yield from samples(f"DCGM_FI_DEV_FB_FREE{{{labels}}}", minutes, FREE)
        yield from samples(f"DCGM_FI_DEV_FB_RESERVED{{{labels}}}", minutes, 0)
    for bound, share in WAITS.items():
        name = f'kueue_admission_wait_time_seconds_bucket{{le="{bound}",cluster_queue="research"}}'
        yield from samples(name, range(RESTART), float)
        yield from samples(name, range(RESTART, MINUTES), partial(since_restart, share=share))


def since_restart(minute: int, *, share: float) -> float:
    return (minute - RESTART) * share


def samples(series: str, minutes: Iterable[int], value: float | Callable[[int], float]) -> Iterator[str]:
    for minute in minutes:
        for second in (7, 27, 47):
            number = value(minute) if callable(value) else value
            yield f"{series} {number} {(start() + minute * 60 + second) * 1000}"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Prometheus that has scraped the exporter."""
    directory = tmp_path_factory.mktemp("prometheus")
    with served(Exporter) as exporter:
        target = {"targets": [exporter.removeprefix("http://")]}
        job = {"job_name": "dcgm", "honor_labels": True, "static_configs": [target]}
        content = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [job]}
        (directory / "prometheus.yaml").write_text(json.dumps(content))
        (port,) = ports.free(1)
        url = f"http://{processes.LOOPBACK}:{port}"
        started = processes.start(
            "prometheus",
            [
                *("prometheus", f"--config.file={directory / 'prometheus.yaml'}"),
                *(f"--storage.tsdb.path={directory / 'data'}", f"--web.listen-address={processes.LOOPBACK}:{port}"),
            ],
            health=f"{url}/-/ready",
            log=directory / "prometheus.log",
            env={},
        )
        try:
            processes.wait_until_ready([started], tls=ssl.create_default_context())
            wait_until(lambda: scraped(url) == 3 * MINUTES, description="all samples", timeout=120)
            yield url
        finally:
            processes.stop(started.process)


def scraped(url: str) -> float:
    """How many samples Prometheus has of the last series of the exporter."""
    query = "count_over_time(kueue_admission_wait_time_seconds_bucket{le='+Inf'}[1h])"
    with urllib.request.urlopen(f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}", timeout=60) as answer:
        found = json.load(answer)["data"]["result"]
    return float(found[0]["value"][1]) if found else 0.0


@pytest.fixture(scope="module")
def document(prometheus: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("dump")
    node = existing(builders.node("gpu-0", gpus=2, labels={"nvidia.com/gpu.count": "2"}), uid="gpu-0")
    pods = [running(name, node="gpu-0", gpus=1) for name in ACTIVITY]
    dump = command.write(directory / "dump.yaml", node, *pods)
    config = directory / "usher.yaml"
    audit = {"idle": {"lasting": "30m"}, "prices": {"rules": [{"perGpuHour": 2}]}}
    config.write_text(json.dumps({"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config", "audit": audit}))
    options = ("--config", config, "--prometheus", prometheus, "--window", "1h", "--step", "1m", "--format", "json")
    run = command.usher("audit", dump, *options)
    assert run.code == 0, run.err
    return run.json


def test_the_activity_and_memory_of_each_pod_are_those_that_were_scraped(document: Any) -> None:
    found = {each["subject"]["name"]: each["usage"] for each in document["workloads"]}

    assert {name: usage["activity"] for name, usage in found.items()} == ACTIVITY
    assert {usage["memoryShare"] for usage in found.values()} == {USED / (USED + FREE)}
    assert {usage["memoryPeak"] for usage in found.values()} == {USED * 2**20}


def test_only_the_scraped_part_of_the_window_is_measured(document: Any) -> None:
    summary = document["summary"]
    hours = {"busy": (MINUTES - len(GAP)) / 60, "still": MINUTES / 60}
    used = sum(ACTIVITY[name] * each for name, each in hours.items())

    assert summary["allocated"] == 2
    assert summary["measured"] == pytest.approx(sum(hours.values()), abs=1e-5)
    assert summary["used"] == pytest.approx(used, abs=1e-5)
    assert summary["costAllocated"] == 4


def test_the_gpu_that_did_little_for_longer_than_the_idle_period_is_idle(document: Any) -> None:
    assert document["summary"]["idle"] == pytest.approx(MINUTES / 60, abs=1e-5)
    assert document["summary"]["costIdle"] == pytest.approx(2 * MINUTES / 60, abs=1e-5)


def test_a_counter_that_began_again_at_0_goes_on(document: Any) -> None:
    before, after = RESTART - 1, MINUTES - 1 - RESTART
    within_60, within_300, all_waits = (before + after * share for share in WAITS.values())
    rank = 0.95 * all_waits

    assert within_60 < rank < within_300
    expected = 60 + (300 - 60) * (rank - within_60) / (within_300 - within_60)
    assert document["summary"]["queueWaitP95Seconds"] == pytest.approx(expected, abs=1e-5)


def test_the_gap_is_in_the_report(document: Any) -> None:
    lost = 2 - (2 * MINUTES - len(GAP)) / 60

    said = " ".join(document["measurement"]["problems"])
    assert f"{lost:.1f} of 2.0 allocated GPU-hours have no sample of activity" in said
