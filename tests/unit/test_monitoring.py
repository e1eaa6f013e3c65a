"""Alerts, objectives and dashboards ask for metrics that the server has, and each alert is explained."""

import json
import re
from pathlib import Path
from typing import Any, Final

import document_objectives
import pytest
import served_metrics
import yaml

from usher.server.metrics import Metrics

ROOT: Final = Path(__file__).parents[2]
MONITORING: Final = ROOT / "manifests" / "monitoring"
GROUPS: Final[list[Any]] = [
    group
    for name in ("alerts.yaml", "objectives.yaml")
    for group in yaml.safe_load((MONITORING / name).read_text())["spec"]["groups"]
]
RULES: Final[list[Any]] = [rule for group in GROUPS for rule in group["rules"]]
ALERTS: Final = [rule for rule in RULES if "alert" in rule]
RECORDED: Final = {rule["record"] for rule in RULES if "record" in rule}
DASHBOARDS: Final[dict[str, Any]] = {
    file.stem: json.loads(file.read_text()) for file in sorted((MONITORING / "dashboards").glob("*.json"))
}
EXPRESSIONS: Final = [
    *(rule["expr"] for rule in RULES),
    *(
        target["expr"]
        for dashboard in DASHBOARDS.values()
        for panel in dashboard["panels"]
        for target in panel["targets"]
    ),
]


def test_every_metric_that_is_asked_for_is_served() -> None:
    served = {series for metric in served_metrics.own() for series in metric.series}
    asked = {(name, each) for each in EXPRESSIONS for name in re.findall(r"\busher_\w+", each)}

    assert asked
    assert sorted((name, each) for name, each in asked if name not in served) == []


def test_every_alert_says_what_happened_and_has_its_section() -> None:
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs" / "alerts.md").read_text(), flags=re.MULTILINE)

    assert sections == [rule["alert"] for rule in ALERTS]
    for rule in ALERTS:
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
        assert rule["annotations"]["runbook_url"] == f"{document_objectives.RUNBOOKS}#{rule['alert'].lower()}"


def test_an_alert_about_an_objective_asks_for_series_that_are_recorded() -> None:
    asked = {name for rule in ALERTS for name in re.findall(r"\busher:[\w:]+", rule["expr"])}

    assert asked
    assert asked < RECORDED


def test_a_burn_rate_has_windows_as_the_workbook_says() -> None:
    """The short window is a twelfth of the long one, so that an alert ends soon after its cause."""
    hours = {"m": 1 / 60, "h": 1, "d": 24}
    pairs = [pair for burn in document_objectives.BURNS for pair in burn.pairs]

    for _rate, long, short in pairs:
        assert int(long[:-1]) * hours[long[-1]] == pytest.approx(12 * int(short[:-1]) * hours[short[-1]])
    assert {window for _rate, *windows in pairs for window in windows} == {
        *document_objectives.SHORT,
        *document_objectives.LONG,
    }


def test_an_objective_of_time_is_the_bound_of_a_bucket() -> None:
    """Prometheus can count only what stands in a bucket."""
    (speed,) = [each for each in document_objectives.OBJECTIVES if each.name == "speed"]
    metrics = Metrics(engine="wasm", revision="test")
    metrics.failed("mutate", seconds=1)
    (bound,) = re.findall(r'le="([\d.]+)"', speed.missed)

    assert f'usher_review_duration_seconds_bucket{{endpoint="mutate",le="{bound}"}}' in metrics.exposition().decode()


def test_every_label_that_is_asked_for_is_one_of_its_metric() -> None:
    labels = {series: set(metric.labels) for metric in served_metrics.own() for series in metric.series}

    for expression in EXPRESSIONS:
        for name, selected in re.findall(r"\b(usher_\w+)\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)[=!]", selected)) <= labels[name] | {"le"}, expression


def test_panels_do_not_overlap() -> None:
    for dashboard in DASHBOARDS.values():
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
        assert len(set(places)) == len(places)
        assert {panel["gridPos"]["w"] for panel in dashboard["panels"]} == {12}
