"""`usher audit --prometheus` with a real Prometheus, which scrapes an exporter that replays known series."""

import json
import shutil
import ssl
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import builders
from builders.existing import existing, running
from e2e import processes
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


class Exporter(BaseHTTPRequestHandler):
    """Answers like dcgm-exporter, with the pods in the labels that Prometheus keeps (honor_labels)."""

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
        yield f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {activity}"
        yield f"DCGM_FI_DEV_FB_USED{{{labels}}} {USED}"
        yield f"DCGM_FI_DEV_FB_FREE{{{labels}}} {FREE}"
        yield f"DCGM_FI_DEV_FB_RESERVED{{{labels}}} 0"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Prometheus that has scraped the exporter for more than two steps of 15 s."""
    directory = tmp_path_factory.mktemp("prometheus")
    with served(Exporter) as exporter:
        target = {"targets": [exporter.removeprefix("http://")]}
        job = {"job_name": "dcgm", "honor_labels": True, "static_configs": [target]}
        content = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [job]}
        (directory / "prometheus.yaml").write_text(json.dumps(content))
        (port,) = processes.free_ports(1)
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
            wait_until(lambda: samples(url) > 33, description="half a minute of samples", timeout=120)
            yield url
        finally:
            processes.stop(started.process)


def samples(url: str) -> float:
    """How many samples of a GPU there are."""
    query = urllib.parse.urlencode({"query": "min(count_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[5m]))"})
    with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=10) as answer:
        found = json.load(answer)["data"]["result"]
    return float(found[0]["value"][1]) if found else 0.0


@pytest.fixture(scope="module")
def document(prometheus: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    node = existing(builders.node("gpu-0", gpus=2, labels={"nvidia.com/gpu.count": "2"}), uid="gpu-0")
    pods = [running(name, node="gpu-0", gpus=1) for name in ACTIVITY]
    dump = command.write(tmp_path_factory.mktemp("dump") / "dump.yaml", node, *pods)
    options = ("--prometheus", prometheus, "--window", "1h", "--step", "15s", "--format", "json")
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
    half_a_minute, three_minutes = (2 * seconds / 3600 for seconds in (15, 180))

    assert half_a_minute <= summary["measured"] <= three_minutes
    assert summary["used"] == pytest.approx(summary["measured"] * sum(ACTIVITY.values()) / len(ACTIVITY), abs=1e-5)
    assert summary["measured"] < summary["allocated"]


def test_half_a_minute_is_too_short_for_an_idle_gpu(document: Any) -> None:
    assert document["summary"]["idle"] == 0
