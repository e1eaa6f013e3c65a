"""The alerts and dashboards ask for metrics that the server has, and each alert is explained."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import served_metrics
import yaml

ROOT: Final = Path(__file__).parents[2]
MONITORING: Final = ROOT / "manifests" / "monitoring"
RULES: Final[list[Any]] = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["spec"]["groups"]
    for rule in group["rules"]
]
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


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_that_is_asked_for_is_served(expression: str) -> None:
    served = {series for metric in served_metrics.own() for series in metric.series}

    assert set(re.findall(r"\busher_\w+", expression)) <= served


def test_every_alert_says_what_happened_and_has_its_section() -> None:
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs" / "alerts.md").read_text(), flags=re.MULTILINE)

    assert sections == [rule["alert"] for rule in RULES]
    for rule in RULES:
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert set(rule["annotations"]) == {"summary", "description"}


def test_every_label_that_is_asked_for_is_one_of_its_metric() -> None:
    labels = {series: set(metric.labels) for metric in served_metrics.own() for series in metric.series}

    for expression in EXPRESSIONS:
        for name, selected in re.findall(r"\b(usher_\w+)\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)[=!]", selected)) <= labels[name], expression


def test_panels_do_not_overlap() -> None:
    for dashboard in DASHBOARDS.values():
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
        assert len(set(places)) == len(places)
        assert {panel["gridPos"]["w"] for panel in dashboard["panels"]} == {12}
