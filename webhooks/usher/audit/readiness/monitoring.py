"""Metrics of GPUs and of services."""

from collections.abc import Iterator
from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.readiness import drivers, judgement
from usher.audit.readiness.judgement import Item, Judgement, failed, not_applicable, not_known, passed
from usher.audit.readiness.look import Look
from usher.audit.readiness.wanted import CLUSTER_POLICY, POD_MONITOR, SERVICE, SERVICE_MONITOR
from usher.audit.standing import gpu_stack

_AREA: Final = "monitoring"
_DCGM: Final = "dcgm"
_SCRAPE: Final = "prometheus.io/scrape"
_OTHER_SYSTEMS: Final = (
    *("podmonitorings.monitoring.googleapis.com", "clusterpodmonitorings.monitoring.googleapis.com"),
    *("podmonitors.azmonitoring.coreos.com", "servicemonitors.azmonitoring.coreos.com"),
    *("vmpodscrapes.operator.victoriametrics.com", "vmservicescrapes.operator.victoriametrics.com"),
)
"""Definitions by which other monitoring systems find their targets: Google's, Azure's and VictoriaMetrics'."""

_MONITORS: Final = ("servicemonitors.monitoring.coreos.com", "podmonitors.monitoring.coreos.com")


def dcgm_scraped(look: Look) -> Judgement:
    """Whether an object makes Prometheus scrape the DCGM exporter."""
    if look.nodes is None:
        return judgement.not_listed("nodes")
    if not look.nvidia:
        return not_applicable("no node has GPUs of NVIDIA")
    found = sorted(_scraping(look))
    if found:
        return passed(*found)
    kinds = (SERVICE_MONITOR, POD_MONITOR, SERVICE, CLUSTER_POLICY)
    unknown = [each for each in kinds if look.listed(each) is None]
    if unknown:
        return judgement.not_wanted(unknown)
    others = [each for each in _OTHER_SYSTEMS if each in (look.definitions or ())]
    if others:
        return not_known(f"usher does not read {fields.listing(others)}, by which the exporter may be scraped")
    if look.lacks(SERVICE_MONITOR):
        return not_known("the kinds of the Prometheus operator are not there; files that configure it cannot be seen")
    return failed("no ServiceMonitor, PodMonitor or annotation prometheus.io/scrape is for the DCGM exporter")


def _scraping(look: Look) -> Iterator[str]:
    for kind in (SERVICE_MONITOR, POD_MONITOR):
        for value in look.listed(kind) or ():
            selected = fields.strings(value, "/spec/selector/matchLabels").values()
            if _DCGM in fields.name(value) or any(_DCGM in text for text in selected):
                yield f"{kind.kind} {_place(value)}"
    for value in look.listed(SERVICE) or ():
        annotations = fields.strings(value, "/metadata/annotations")
        if _DCGM in fields.name(value) and annotations.get(_SCRAPE) == "true":
            yield f"Service {_place(value)} has the annotation {_SCRAPE}"
    for value in (look.daemons or {}).get(gpu_stack.DCGM_EXPORTER, ()):
        annotations = fields.strings(value, "/spec/template/metadata/annotations")
        if annotations.get(_SCRAPE) == "true":
            yield f"the pods of DaemonSet {_place(value)} have the annotation {_SCRAPE}"
    for value in look.listed(CLUSTER_POLICY) or ():
        if fields.at(value, "/spec/dcgmExporter/serviceMonitor/enabled") is True:
            yield f"ClusterPolicy {fields.name(value)} makes a ServiceMonitor"


def _place(value: paths.Object) -> str:
    return f"{fields.namespace(value)}/{fields.name(value)}"


def service_metrics(look: Look) -> Judgement:
    """Whether a monitoring system finds the metrics of services through Kubernetes objects."""
    if look.definitions is None:
        return judgement.not_listed("customresourcedefinitions.apiextensions.k8s.io")
    found = [each for each in _MONITORS if each in look.definitions]
    if found:
        return passed(*(f"the cluster has {each}" for each in found))
    return not_known("the kinds of the Prometheus operator are not there; other systems cannot be seen from here")


ITEMS: Final = (
    Item(
        id="dcgm-exporter",
        area=_AREA,
        title="The DCGM exporter runs on all its nodes",
        how="All pods of its DaemonSets are ready.",
        remedy="Enable dcgmExporter in the ClusterPolicy, or install the chart dcgm-exporter.",
        reference="https://docs.nvidia.com/datacenter/cloud-native/gpu-telemetry/latest/dcgm-exporter.html",
        conformance="accelerator_metrics",
        judge=drivers.ready(gpu_stack.DCGM_EXPORTER),
    ),
    Item(
        id="dcgm-scraped",
        area=_AREA,
        title="Prometheus scrapes the DCGM exporter",
        how="A ServiceMonitor or PodMonitor names it, its Service or pods have the annotation prometheus.io/scrape, or "
        "the ClusterPolicy makes a ServiceMonitor.",
        remedy="Set dcgmExporter.serviceMonitor.enabled of the GPU operator to true.",
        reference="https://docs.nvidia.com/datacenter/cloud-native/gpu-telemetry/latest/dcgm-exporter.html",
        conformance="accelerator_metrics",
        judge=dcgm_scraped,
    ),
    Item(
        id="service-metrics",
        area=_AREA,
        title="A monitoring system finds the metrics of services",
        how="The kinds of the Prometheus operator are installed. Other systems cannot be seen.",
        remedy="Install a monitoring system that discovers the metrics of workloads.",
        reference="https://github.com/cncf/k8s-ai-conformance",
        conformance="ai_service_metrics",
        judge=service_metrics,
    ),
)
