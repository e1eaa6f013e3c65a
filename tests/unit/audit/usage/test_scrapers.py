"""The same GPUs, as the scrapers and exporters of the field label their series: every number stays the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from builders import usage as build
from usher.audit.usage import measuring
from usher.audit.usage.series import Answer, Grid, Question, Series, Source
from usher.audit.usage.usage_amounts import Measured
from usher.config.models import Audit

HOURS = 24
NOW = build.BASE + timedelta(hours=HOURS)
CONFIG = Audit.model_validate({"prices": {"rules": [{"perGpuHour": 2}]}})


def cluster() -> build.Table:
    """Two GPUs of a pod, one of another that ends, one that no pod holds, and two MIG devices of pods."""
    found: dict[str, list[Series]] = {}
    requests: list[Series] = []
    phases: list[Series] = []

    def held(node: str, gpu: int, pod: str = "", *, hours: int = HOURS, activity: float = 0.5, mig: str = "") -> None:
        labels: dict[str, Any] = {"job": "dcgm", "instance": f"{node}:9400"}
        labels |= {"namespace": "red", "pod": pod, "container": "main"} if pod else {}
        labels |= {"GPU_I_ID": mig, "GPU_I_PROFILE": "1g.10gb"} if mig else {}
        for metric, value in (
            ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", activity),
            ("DCGM_FI_DEV_GPU_UTIL", 0.0 if mig else activity * 100),
            ("DCGM_FI_DEV_FB_USED", 10_000.0 + gpu),
            ("DCGM_FI_DEV_FB_FREE", 70_000.0),
        ):
            found.setdefault(metric, []).append(build.dcgm(value, hours, gpu=gpu, on=node, **labels))

    def requested(node: str, pod: str, number: int, *, hours: int = HOURS, resource: str = "nvidia_com_gpu") -> None:
        labels: dict[str, Any] = {"job": "ksm", "namespace": "red", "pod": pod}
        named: dict[str, Any] = {**labels, "container": "main", "node": node, "resource": resource}
        requests.append(build.series(float(number), hours, **named))
        phases.append(build.series(1.0, hours, **labels, phase="Running"))

    held("n1", 0, "train-0", activity=0.9)
    held("n1", 1, "train-0", activity=0.7)
    requested("n1", "train-0", 2)
    held("n2", 0, "book-0", hours=10, activity=0.1)
    requested("n2", "book-0", 1, hours=10)
    held("n2", 1, activity=0.0)
    for instance, pod in (("7", "serve-0"), ("8", "serve-1")):
        held("n3", 0, pod, mig=instance)
        requested("n3", pod, 1, resource="nvidia_com_mig_1g_10gb")
    waits = [
        build.series(lambda point: 3.0 * point, HOURS, le="60"),
        build.series(lambda point: 4.0 * point, HOURS, le="+Inf"),
    ]
    return build.Table(
        found={
            **found,
            "kube_pod_container_resource_requests": requests,
            "kube_pod_status_phase": phases,
            "kueue_admission_wait_time_seconds_bucket": waits,
        }
    )


ESTATE = build.estate_of(
    [
        build.node("n1", gpus=2),
        build.node("n2", gpus=2),
        build.node("n3", product=build.A100, capacity={"nvidia.com/mig-1g.10gb": 7}),
    ],
    build.workload("train", build.pod("train-0", gpus=2)),
    build.workload("book"),
    build.workload(
        "serve", *(build.pod(name, on="n3", devices={"nvidia.com/mig-1g.10gb": 1}) for name in ("serve-0", "serve-1"))
    ),
)

Labels = dict[str, str]
Change = Callable[[Labels], list[Labels]]
"""The labels that a scraper makes of those of one series; more than one where several scrape it."""


@dataclass(frozen=True)
class Scraped:
    """A source whose series have other labels."""

    source: Source
    change: Change
    name: str = "prometheus"
    url: str = ""
    selection: str = ""

    def read(self, question: Question, grid: Grid, /) -> Answer:
        found = self.source.read(question, grid).series
        return Answer(series=tuple(copy for each in found for copy in self._copies(each)))

    def _copies(self, series: Series) -> Iterator[Series]:
        for labels in self.change(dict(series.labels)):
            yield replace(series, labels={key: value for key, value in labels.items() if value})


def replicas(labels: Labels) -> list[Labels]:
    """Two servers of a highly available pair."""
    return [{**labels, "prometheus_replica": name, "prometheus": "monitoring/k8s"} for name in ("k8s-0", "k8s-1")]


def federated(labels: Labels) -> list[Labels]:
    """A server, and one above it that reads its series without honor_labels."""
    above = {"job": "federate", "instance": "below:9090", "exported_job": labels.get("job", "")}
    return [labels, {**labels, **above, "exported_instance": labels.get("instance", "")}]


def renaming(labels: Labels) -> list[Labels]:
    """A scraper without honor_labels: its own pod is `pod`."""
    own = {"namespace": "ops", "pod": "exporter-4x7zq", "container": "exporter"}
    return [{**labels, **{f"exported_{name}": labels.get(name, "") for name in own}, **own}]


def google(labels: Labels) -> list[Labels]:
    """Google's collector, which sets the namespace of the exporter."""
    own = {"cluster": "c", "location": "eu", "project_id": "p", "namespace": "gmp-system"}
    return [{**labels, **own, "exported_namespace": labels.get("namespace", "")}]


def two_jobs(labels: Labels) -> list[Labels]:
    """Two scrapers, of which one honors labels."""
    return [*renaming({**labels, "job": "own"}), labels]


def half_blind(labels: Labels) -> list[Labels]:
    """An exporter that names pods, and one beside it that does not."""
    if "UUID" not in labels:
        return [labels]
    return [labels, {**labels, "job": "host", "namespace": "", "pod": "", "container": ""}]


def old_names(labels: Labels) -> list[Labels]:
    """dcgm-exporter with the names of its first version."""
    if "UUID" not in labels:
        return [labels]
    names = {"UUID": "uuid", "namespace": "pod_namespace", "pod": "pod_name", "container": "container_name"}
    return [{names.get(key, key): value for key, value in labels.items()}]


def without_uuid(labels: Labels) -> list[Labels]:
    """No UUID, a host name that is the pod of the exporter, and another one after its restart."""
    if "UUID" not in labels:
        return [labels]
    return [{**labels, "UUID": "", "Hostname": f"dcgm-exporter-{suffix}"} for suffix in ("6ldbb", "x2k4p")]


def measured(change: Change) -> Measured:
    source = Scraped(cluster(), change)
    return measuring.measure(
        ESTATE, source, config=CONFIG, window=timedelta(hours=HOURS), now=NOW, step=timedelta(hours=1)
    )


@pytest.mark.parametrize(
    "change", [replicas, federated, renaming, google, two_jobs, half_blind, old_names, without_uuid]
)
def test_a_device_counts_once_however_it_is_scraped(change: Change) -> None:
    expected = measured(lambda labels: [labels])

    found = measured(change)

    assert expected.total.allocated == pytest.approx(2 * HOURS + 10 + 2 / 7 * HOURS, abs=1e-5)
    assert expected.total.measured == expected.total.allocated
    assert expected.queue_wait_p95_seconds is not None
    assert found.workloads == expected.workloads
    assert found == replace(expected, measurement=found.measurement)
    assert found.measurement.problems == expected.measurement.problems


def test_series_of_several_clusters_are_said_with_the_option_that_chooses_one() -> None:
    found = measured(lambda labels: [{**labels, "cluster": name} for name in ("prod-2", "prod-1")])

    said = "The series are of 2 clusters (label cluster: prod-1, prod-2), and all of them count. Choose that of this"
    assert f"{said} audit with --prometheus-label cluster=NAME" in found.measurement.problems


def test_gpus_of_intel_are_said_to_be_not_measured() -> None:
    estate = build.estate_of([build.node("n1"), build.node("n9", capacity={"gpu.intel.com/xe": 4})])

    found = measuring.measure(estate, cluster(), config=CONFIG, window=timedelta(hours=HOURS), now=NOW)

    said = "GPUs of Intel are not measured, because usher reads no exporter of Intel: n9"
    assert said in found.measurement.problems
