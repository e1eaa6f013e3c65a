"""Writes the dashboards for Grafana into a folder. Run it through scripts/generate."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_COLUMNS: Final = 24
_WIDTH, _HEIGHT = 12, 8

_SPEED: Final = "rate(usher_review_duration_seconds_bucket[5m])"
_PASSED_OVER: Final = 'apiserver_admission_webhook_fail_open_count{name=~".+[.]gpu-usher[.]io"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    title: str
    queries: Sequence[tuple[str, str]]
    """Expression and legend."""
    unit: str = "short"
    description: str = ""
    kind: str = "timeseries"


ADMISSION: Final = (
    Panel(
        title="Reviews a second, by result",
        queries=[("sum by (endpoint, result) (rate(usher_reviews_total[5m]))", "{{endpoint}} {{result}}")],
        unit="reqps",
        description="An error has no verdict: the failurePolicy of the webhook decides.",
    ),
    Panel(
        title="Time of a review",
        queries=[
            (f"histogram_quantile({quantile}, sum by (endpoint, le) ({_SPEED}))", f"{{{{endpoint}}}} p{percent}")
            for quantile, percent in ((0.5, 50), (0.99, 99))
        ],
        unit="s",
    ),
    Panel(
        title="Most frequent denials",
        queries=[('topk(10, sum by (check) (increase(usher_findings_total{outcome="deny"}[1h])))', "{{check}}")],
        description="Findings that denied an object, in an hour.",
    ),
    Panel(
        title="Most frequent warnings",
        queries=[('topk(10, sum by (check) (increase(usher_findings_total{outcome="warn"}[1h])))', "{{check}}")],
    ),
    Panel(
        title="Mutations applied",
        queries=[("sum by (mutation) (increase(usher_mutations_total[1h]))", "{{mutation}}")],
    ),
    Panel(
        title="Objects let in without a webhook",
        queries=[(f"sum by (name) (increase({_PASSED_OVER}[10m]))", "{{name}}")],
        description="Counted by the API server, which waited for an answer in vain.",
    ),
    Panel(
        title="Not evaluated, and mutations that disagree",
        queries=[
            ("sum(increase(usher_not_evaluated_total[1h]))", "not evaluated"),
            ("sum(increase(usher_mutation_conflicts_total[1h]))", "conflicts"),
        ],
    ),
    Panel(
        title="Age of the facts",
        queries=[("max by (kind) (usher_facts_age_seconds)", "{{kind}}")],
        unit="s",
    ),
    Panel(
        title="Days until the certificate expires",
        queries=[("(min(usher_certificate_expires_timestamp_seconds) - time()) / 86400", "days")],
        kind="stat",
    ),
    Panel(
        title="Memory",
        queries=[('process_resident_memory_bytes{job=~".*gpu-usher.*"}', "{{pod}}")],
        unit="bytes",
    ),
)

ACCELERATORS: Final = (
    Panel(
        title="GPUQuotas: share in use",
        queries=[
            ("max by (quota, unit, classes) (usher_quota_used / usher_quota_hard)", "{{quota}} {{unit}} {{classes}}")
        ],
        unit="percentunit",
    ),
    Panel(
        title="GPUQuotas: in use",
        queries=[("max by (quota, unit, classes) (usher_quota_used)", "{{quota}} {{unit}} {{classes}}")],
    ),
    Panel(
        title="Charges, by result",
        queries=[("sum by (result) (rate(usher_quota_charges_total[5m]))", "{{result}}")],
        unit="reqps",
    ),
    Panel(
        title="Time that a review waits for a charge",
        queries=[("histogram_quantile(0.99, sum by (le) (rate(usher_quota_charge_seconds_bucket[5m])))", "p99")],
        unit="s",
    ),
    Panel(
        title="GPUs: what nodes offer, and what pods request",
        queries=[
            ('sum by (resource) (kube_node_status_allocatable{resource=~".*_gpu.*"})', "offered {{resource}}"),
            (
                'sum by (resource) (kube_pod_container_resource_requests{resource=~".*_gpu.*"})',
                "requested {{resource}}",
            ),
        ],
        description="From kube-state-metrics.",
    ),
    Panel(
        title="Kueue: workloads that wait",
        queries=[("sum by (cluster_queue, status) (kueue_pending_workloads)", "{{cluster_queue}} {{status}}")],
        description="From Kueue.",
    ),
)

DASHBOARDS: Final = {
    "admission": ("gpu-usher: admission", ADMISSION),
    "accelerators": ("gpu-usher: GPUs, queues and quotas", ACCELERATORS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    for name, (title, panels) in DASHBOARDS.items():
        text = json.dumps(dashboard(name, title, panels), indent=1, sort_keys=True)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def dashboard(name: str, title: str, panels: Sequence[Panel]) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    return {
        "uid": f"gpu-usher-{name}",
        "title": title,
        "tags": ["gpu-usher"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}],
        },
        "panels": [
            {
                "id": number + 1,
                "type": panel.kind,
                "title": panel.title,
                "description": panel.description,
                "datasource": source,
                "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
                "gridPos": {
                    "x": number * _WIDTH % _COLUMNS,
                    "y": number * _WIDTH // _COLUMNS * _HEIGHT,
                    "w": _WIDTH,
                    "h": _HEIGHT,
                },
                "targets": [
                    {"refId": chr(ord("A") + index), "expr": expression, "legendFormat": legend, "datasource": source}
                    for index, (expression, legend) in enumerate(panel.queries)
                ],
            }
            for number, panel in enumerate(panels)
        ],
    }


if __name__ == "__main__":
    main()
