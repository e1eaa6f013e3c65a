"""The alerts by `promtool`, and a real Prometheus that scrapes a real server."""

import copy
import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import yaml

import server_process
from e2e import ports, processes
from e2e.cluster import wait_until
from integration.served_reviews import BAD_JOB
from reviews import body
from server_process import BOUND, ServerProcess
from unit.test_monitoring import ALERTS, DASHBOARDS, GROUPS, MONITORING, RULES
from usher import paths

ROOT: Final = Path(__file__).parents[2]
CASES: Final = {
    ROOT / "tests" / "data" / "alerts" / "cases.yaml": "alerts.yaml",
    ROOT / "tests" / "data" / "alerts" / "objectives.yaml": "objectives.yaml",
    ROOT / "tests" / "data" / "alerts" / "objectives_of_days.yaml": "objectives.yaml",
}
"""Files of cases, and the rules that they are about."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        shutil.which("promtool") is None or shutil.which("prometheus") is None,
        reason="Prometheus is not installed (Debian: apt-get install prometheus)",
    ),
]


def rules(directory: Path, *, at_once: bool = False) -> Path:
    """Alerts and objectives as Prometheus reads them; with `at_once` alerts do not wait."""
    if at_once:
        for group in (groups := copy.deepcopy(GROUPS)):
            group["interval"] = "1s"
            group["rules"] = [{**rule, "for": "0s"} if "alert" in rule else rule for rule in group["rules"]]
    file = directory / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": groups if at_once else GROUPS}))
    return file


def promtool(*arguments: str | Path) -> str:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False, timeout=BOUND)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_alerts_are_rules_of_prometheus(tmp_path: Path) -> None:
    assert f"SUCCESS: {len(RULES)} rules found" in promtool("check", "rules", rules(tmp_path))


@pytest.mark.parametrize(
    ("cases", "name"),
    [
        pytest.param(cases, name, marks=pytest.mark.thorough if "of_days" in cases.name else ())
        for cases, name in CASES.items()
    ],
)
def test_each_alert_fires_when_it_should_and_only_then(cases: Path, name: str, tmp_path: Path) -> None:
    spec = yaml.safe_load((MONITORING / name).read_text())["spec"]
    (tmp_path / name).write_text(yaml.safe_dump(spec))
    copied = tmp_path / "cases.yaml"
    copied.write_text(cases.read_text())

    promtool("test", "rules", copied)


def test_a_case_shows_each_alert() -> None:
    alerts = {rule["alert"] for rule in ALERTS}
    cases = "".join(file.read_text() for file in CASES)

    assert {alert for alert in alerts if f'alertname="{alert}"' in cases} == alerts


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    config: paths.Object = {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"}
    with server_process.running(tmp_path, config=config, arguments=("--reload-interval=0.2",)) as running:
        yield running


@pytest.fixture
def prometheus(server: ServerProcess, tmp_path: Path) -> Iterator[str]:
    """The URL of a Prometheus that scrapes the server twice a second."""
    (port,) = ports.free(1)
    target = server.admin_url.removeprefix("http://")
    (tmp_path / "prometheus.yaml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "500ms", "scrape_timeout": "400ms", "evaluation_interval": "1s"},
                "rule_files": [str(rules(tmp_path, at_once=True))],
                "scrape_configs": [{"job_name": "gpu-usher", "static_configs": [{"targets": [target]}]}],
            }
        )
    )
    url = f"http://{processes.LOOPBACK}:{port}"
    process = processes.start(
        "prometheus",
        [
            *(
                "prometheus",
                f"--config.file={tmp_path / 'prometheus.yaml'}",
                f"--storage.tsdb.path={tmp_path / 'data'}",
            ),
            *(f"--web.listen-address={processes.LOOPBACK}:{port}", "--storage.tsdb.retention.time=1h"),
        ],
        health=f"{url}/-/ready",
        log=tmp_path / "prometheus.log",
        env={},
    )
    try:
        processes.wait_until_ready([process], tls=server.client_context())
        yield url
    finally:
        processes.stop(process.process)


def query(prometheus: str, expression: str) -> list[Any]:
    """The result of a query; fails the test where Prometheus refuses it."""
    question = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"{prometheus}/api/v1/query?{question}", timeout=BOUND) as response:
        answer = orjson.loads(response.read())
    assert answer["status"] == "success", answer
    found: list[Any] = answer["data"]["result"]
    return found


def test_prometheus_scrapes_a_server_and_draws_every_panel(server: ServerProcess, prometheus: str) -> None:
    assert server.review("validate", body(BAD_JOB))["allowed"] is False
    denied = 'usher_findings_total{outcome="deny"} > 0'
    wait_until(lambda: query(prometheus, denied), description="Prometheus has the denial", timeout=BOUND)

    for dashboard in DASHBOARDS.values():
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                query(prometheus, target["expr"])
    (left,) = query(prometheus, "(min(usher_certificate_expires_timestamp_seconds) - time()) / 86400")
    assert 1 < float(left["value"][1]) < 400


def test_a_usher_yaml_that_cannot_be_used_raises_its_alert(server: ServerProcess, prometheus: str) -> None:
    firing = 'ALERTS{alertname="UsherConfigurationRejected", alertstate="firing"}'
    wait_until(lambda: query(prometheus, "usher_configuration_good == 1"), description="all is well", timeout=BOUND)
    assert query(prometheus, firing) == []

    (server.directory / "usher.yaml").write_text("kind: Nonsense")

    wait_until(lambda: query(prometheus, firing), description="the alert fires", timeout=BOUND)
