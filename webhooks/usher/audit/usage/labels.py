"""Reads the labels of a series: the device, its node, and the pod that holds it.

A scraper without honor_labels renames the labels of an exporter: then `pod` is the exporter's own pod, and
`exported_pod` the pod that holds the GPU. If the exporter knows no pod, only `pod` is set. It is the exporter, so it
must not count as a holder.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from usher.audit.usage.series import Series
from usher.dataclass import dataclass

Labels = Mapping[str, str]

_EXPORTERS: Final = ("dcgm-exporter", "dcgm_exporter", "metrics-exporter")
"""Parts of the names of pods and containers that measure GPUs: NVIDIA's and AMD's exporters."""

_NODE_LABELS: Final = (
    *("exported_node", "node", "kubernetes_node", "nodename", "node_name", "NodeName", "k8s_node_name"),
    *("Hostname", "exported_hostname", "hostname", "exported_instance", "instance"),
)
"""Labels that name the node. `Hostname` is the node if the exporter knows it (NODE_NAME), else the name of the
exporter's pod.
"""

_CLUSTER_LABELS: Final = ("cluster", "cluster_name", "k8s_cluster_name", "cluster_id")

_UNDIVIDED: Final = frozenset({"", "spx", "na"})
"""Modes of AMD's GPUs that do not divide them."""


class PodName(NamedTuple):
    namespace: str
    pod: str


class Device(NamedTuple):
    """A GPU or a MIG device; `instance` is empty for a whole GPU."""

    gpu: str
    instance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The known node names, which show that the value of a label is a node."""

    names: frozenset[str]
    short: Mapping[str, str]
    """Full names by their part before the first dot, if only one name has that part."""


def nodes(names: Iterable[str]) -> Nodes:
    known = frozenset(names)
    short: dict[str, str] = {}
    for name in sorted(known):
        part = name.partition(".")[0]
        short[part] = "" if part in short else name
    return Nodes(names=known, short={part: name for part, name in short.items() if name})


def node(labels: Labels, known: Nodes) -> str:
    """The node of a series; empty if no label names a known node."""
    for key in _NODE_LABELS:
        value = labels.get(key, "")
        if key.endswith("instance"):
            value = value.rpartition(":")[0] or value
        name = value if value in known.names else known.short.get(value, "")
        if name:
            return name
    return ""


def device(labels: Labels, known: Nodes) -> Device:
    """The device of a series of DCGM or of AMD's exporter.

    The UUID identifies a GPU; without it, the node and the number on the node do. dcgm-exporter calls it `uuid` when it
    writes the names of its first version (render_metrics.go).
    """
    host = node(labels, known) or labels.get("Hostname") or labels.get("hostname") or labels.get("instance", "")
    number = labels.get("gpu") or labels.get("gpu_id", "")
    uuid = labels.get("UUID") or labels.get("gpu_uuid") or labels.get("uuid", "")
    mode = labels.get("gpu_compute_partition_type", "").lower()
    partition = f"{mode} {number}.{labels.get('gpu_partition_id', '')}" if mode not in _UNDIVIDED else ""
    gpu = uuid or f"{host}/{labels.get('serial_number', '')}/{number}"
    return Device(gpu=gpu, instance=labels.get("GPU_I_ID", "") or partition)


def clusters(series: Iterable[Series]) -> tuple[str, list[str]]:
    """The label that names the clusters of the series, and its values; empty if no label does."""
    found = list(series)
    for name in _CLUSTER_LABELS:
        values = {each.labels[name] for each in found if each.labels.get(name)}
        if values:
            return name, sorted(values)
    return "", []


def renamed(series: Iterable[Series]) -> frozenset[tuple[str, str]]:
    """The jobs, each with a label of the exporter that their scraper renames: `namespace`, `pod`, or both.

    Google's collector sets a namespace and no pod, so it renames only the namespace.
    """
    return frozenset(
        (each.labels.get("job", ""), name)
        for each in series
        for name in ("namespace", "pod")
        if each.labels.get(f"exported_{name}")
    )


def holder(labels: Labels, changed: frozenset[tuple[str, str]]) -> PodName | None:
    """The pod that holds the device of a series; None if the exporter names no pod.

    Args:
        labels: the labels of the series.
        changed: the labels that scrapers renamed, from all series.
    """
    job = labels.get("job", "")
    is_changed = [(job, name) in changed for name in ("namespace", "pod")]
    namespace, name = (
        labels.get(f"exported_{name}" if each else name, "")
        for name, each in zip(("namespace", "pod"), is_changed, strict=True)
    )
    found = _pod(namespace, name)
    if any(is_changed):
        return found
    old = _pod(labels.get("pod_namespace", ""), labels.get("pod_name", ""))
    if old is not None:
        return old
    return None if found is None or _is_exporter(labels, found) else found


def pod(labels: Labels) -> PodName | None:
    """The pod that a series of kube-state-metrics is about."""
    return _pod(value(labels, "namespace"), value(labels, "pod"))


def value(labels: Labels, name: str) -> str:
    """A label of kube-state-metrics that a scraper may have renamed."""
    return labels.get(f"exported_{name}") or labels.get(name, "")


def _pod(namespace: str, name: str) -> PodName | None:
    return PodName(namespace, name) if namespace and name else None


def _is_exporter(labels: Labels, found: PodName) -> bool:
    names = (found.pod, labels.get("container", ""))
    return found.pod == labels.get("Hostname") or any(part in name for part in _EXPORTERS for name in names)
