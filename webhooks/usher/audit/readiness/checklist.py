"""The checklist: its items, their verdicts, what it looks at, and the items about the software of GPU nodes.

These are drivers, operator, toolkit, device plugin, feature discovery and metrics. Versions are numbers; the ends of
Kubernetes releases and the container escapes of NVIDIA's toolkit are known by them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from usher import paths
from usher.accelerators import boards
from usher.audit.document import Standing
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node
from usher.audit.gather.needed_inputs import CLUSTER_POLICY, DAEMON_SET, POD_MONITOR, SERVICE, SERVICE_MONITOR, Wanted
from usher.audit.standing import cluster_equipment
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import store
from usher.config import models, selection
from usher.kinds.kind import DEFINITION
from usher.kinds.reading.values import Absence

_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])", re.ASCII)

Version = tuple[int, int, int]


def read_version(text: str) -> Version | None:
    """The numbers at the start of a version: (1, 17, 8) from `v1.17.8-ubuntu20.04`; None from other texts."""
    found = _VERSION.match(text[:64])
    if found is None:
        return None
    return _numbers(found[0].removeprefix("v"))


def _numbers(version: str) -> Version:
    major, minor, patch, *_ = map(int, f"{version}.0".split("."))
    return major, minor, patch


def version_of_image(image: str) -> Version | None:
    """The version in the tag of an image; None for a digest and for other tags."""
    name, _, _ = image.partition("@")
    head, colon, tag = name.rpartition(":")
    return read_version(tag) if colon and "/" not in tag and head else None


KUBELET_SKEW: Final = 3
"""A kubelet may be this many minor versions older than the API server, and not newer
(https://kubernetes.io/releases/version-skew-policy/).
"""


class Escape(Struct, frozen=True, kw_only=True):
    """A vulnerability of NVIDIA's container toolkit that lets a container escape."""

    cve: str
    last: Version
    """The last affected version by its CVE record."""

    @property
    def last_text(self) -> str:
        return ".".join(map(str, self.last))


class _Releases(Struct, frozen=True, forbid_unknown_fields=True):
    """The releases of releases.yaml."""

    kubernetes: dict[str, date]
    escapes: dict[str, str]


_RELEASES: Final = msgspec.yaml.decode(Path(__file__).with_name("releases.yaml").read_bytes(), type=_Releases)
RELEASE_ENDS: Final = {_numbers(release)[:2]: end for release, end in _RELEASES.kubernetes.items()}
"""The last day with patches of each release of Kubernetes."""
ESCAPES: Final = tuple(Escape(cve=cve, last=_numbers(last)) for cve, last in _RELEASES.escapes.items())

_BUILT_IN: Final = ".k8s.io"
"""The suffix of API groups that the API server itself serves."""


def _is_nvidia(name: str) -> bool:
    """Whether a resource or a device class is NVIDIA's."""
    return name.startswith("nvidia.com/") or name.endswith(".nvidia.com")


class Look(Struct, frozen=True, kw_only=True, dict=True):
    """One cluster at one moment."""

    estate: Estate
    known: Knowledge
    config: models.Config
    now: datetime
    server_version: str
    """As the API server reports it: `v1.36.2`; empty if unknown."""

    def listed(self, kind: Wanted) -> Sequence[paths.Object] | None:
        """All objects of a kind: empty if the cluster does not have the kind, None if the objects are unknown."""
        return () if self.lacks(kind) else fields.listed(self.estate, *kind.key)

    def lacks(self, kind: Wanted) -> bool:
        """Whether the cluster lacks a kind: the API server does not serve it, or it has no definition."""
        found = self.estate.objects.get(kind.key, Absence.NOT_KNOWN)
        is_defined = not kind.group.endswith(_BUILT_IN) and "." in kind.group
        undefined = is_defined and self.definitions is not None and kind.resource not in self.definitions
        return found is Absence.MISSING or (found is Absence.NOT_KNOWN and undefined)

    @cached_property
    def nodes(self) -> Sequence[Node] | None:
        """The nodes with accelerators; None if unknown."""
        return self.estate.nodes

    @cached_property
    def nvidia(self) -> Sequence[Node]:
        """The nodes with NVIDIA GPUs."""
        nodes = self.nodes or ()
        return [node for node in nodes if any(map(_is_nvidia, node.capacity))]

    @cached_property
    def daemons(self) -> Mapping[str, Sequence[paths.Object]] | None:
        """The DaemonSets of the GPU stack by their part in it; None if DaemonSets are unknown."""
        listed = fields.listed(self.estate, *DAEMON_SET.key)
        if listed is None:
            return None
        found: dict[str, list[paths.Object]] = {}
        for value in listed:
            part = cluster_equipment.stack_part(value)
            if part:
                found.setdefault(part, []).append(value)
        return found

    @cached_property
    def definitions(self) -> frozenset[str] | None:
        """The names of all CustomResourceDefinitions, as `workloads.kueue.x-k8s.io`; None if unknown."""
        return self.known.facts.names(*DEFINITION)

    @cached_property
    def tenants(self) -> Sequence[str]:
        """The namespaces of workloads with accelerators, except exempt and system namespaces of usher.yaml."""
        system = [*self.config.exempt_namespaces, *self.config.priorities.system_namespaces]
        spaces = {each.identity.namespace for each in self.estate.workloads}
        return sorted(name for name in spaces if not selection.matches_pattern(name, system))

    def labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None if unknown."""
        return store.namespace_labels(namespace, self.known.facts)


class Judgement(Struct, frozen=True, kw_only=True):
    """The verdict of a cluster on one item, with the evidence or the reason why it is unknown."""

    standing: Standing
    evidence: tuple[str, ...]


class Item(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item of the checklist. Ids are an interface: they never get another meaning."""

    id: str
    area: Literal["drivers", "monitoring", "scheduling", "isolation", "capacity", "recovery"]
    title: str
    how: str
    """The condition to pass in one sentence, for the documentation."""
    remedy: str
    reference: str
    """The document that asks for it."""
    nodes: Literal["", "accelerators", "NVIDIA"] = ""
    """The nodes that it is about: it does not apply to a cluster without any."""
    conformance: str = ""
    """The item of the CNCF AI conformance programme, where there is one."""


Judge = Callable[[Look], Judgement]

ITEMS: Final = msgspec.yaml.decode(Path(__file__).with_name("items.yaml").read_bytes(), type=tuple[Item, ...])
"""The whole checklist, by area. Each item has a function with its verdict in the module of its area."""


def passed(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.PASS, evidence=evidence)


def failed(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.FAIL, evidence=evidence)


def not_known(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.NOT_KNOWN, evidence=evidence)


def not_applicable(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.NOT_APPLICABLE, evidence=evidence)


def not_listed(*resources: str) -> Judgement:
    """The verdict for kinds that were not read, with the RBAC rule that the auditor of a live cluster needs."""
    return not_known(f"not read: {', '.join(resources)}; an audit of a live cluster needs the verb list on them")


def not_wanted(kinds: Iterable[Wanted]) -> Judgement:
    """The verdict for kinds that only the checklist reads and that were not read."""
    return not_listed(*(each.resource for each in kinds))


_DAEMON_SETS: Final = DAEMON_SET.resource
_DRIVER: Final = "nvidia.com/cuda.driver-version.full"
_PARTS: Final = ("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")
"""Labels of older releases of GPU feature discovery."""


def without_nodes(look: Look, wanted: Literal["", "accelerators", "NVIDIA"]) -> Judgement | None:
    """The verdict for clusters without nodes that an item is about; None if there is one."""
    if not wanted:
        return None
    if look.nodes is None:
        return not_listed("nodes")
    if wanted == "NVIDIA":
        return None if look.nvidia else not_applicable("no node has GPUs of NVIDIA")
    return None if look.nodes else not_applicable("no node has accelerators")


def gpu_operator(look: Look) -> Judgement:
    """Whether NVIDIA's operator reports that it is ready."""
    policies = look.listed(CLUSTER_POLICY)
    if policies is None:
        return not_wanted([CLUSTER_POLICY])
    if policies:
        states = {fields.name(each): fields.text(each, "/status/state") for each in policies}
        seen = [
            f"ClusterPolicy {name} is {fields.excerpt(state) or 'without a state'}" for name, state in states.items()
        ]
        return passed(*seen) if set(states.values()) == {"ready"} else failed(*seen)
    if look.daemons is None:
        return not_listed(_DAEMON_SETS)
    if cluster_equipment.DEVICE_PLUGIN in look.daemons:
        return not_applicable("no ClusterPolicy; the device plugin was installed without the GPU operator")
    if _offer_gpus(look):
        return not_applicable("no ClusterPolicy; the nodes offer their GPUs without the GPU operator")
    return failed("no ClusterPolicy, no DaemonSet of a device plugin, and no node offers a GPU")


def _offer_gpus(look: Look) -> bool:
    """Whether each node with NVIDIA GPUs offers some, through any program."""
    return all(any(amount.number for amount in node.allocatable.values()) for node in look.nvidia)


def toolkit_version(look: Look) -> Judgement:
    """Whether a container can escape through a known vulnerability of the container toolkit."""
    found = sorted(_toolkits(look))
    if not found:
        unread = [CLUSTER_POLICY.resource] if look.listed(CLUSTER_POLICY) is None else []
        unread += [_DAEMON_SETS] if look.daemons is None else []
        if unread:
            return not_listed(*unread)
        return not_known(
            "no ClusterPolicy and no DaemonSet shows the version of the container toolkit; on a node: "
            "nvidia-ctk --version"
        )
    open_escapes = [
        f"{place}: {'.'.join(map(str, version))} has {each.cve} (up to {each.last_text})"
        for version, place in found
        for each in ESCAPES
        if version <= each.last
    ]
    return (
        failed(*open_escapes)
        if open_escapes
        else passed(*(f"{place}: {'.'.join(map(str, version))}" for version, place in found))
    )


def _toolkits(look: Look) -> Iterator[tuple[Version, str]]:
    """Versions of the toolkit, with the object that names each."""
    for each in look.listed(CLUSTER_POLICY) or ():
        version = read_version(fields.text(each, "/spec/toolkit/version"))
        if version is not None and fields.at(each, "/spec/toolkit/enabled") is not False:
            yield version, f"ClusterPolicy {fields.name(each)}"
    for each in (look.daemons or {}).get("container toolkit", ()):
        for container in fields.objects(each, "/spec/template/spec/containers"):
            image = fields.text(container, "/image")
            version = version_of_image(image) if "toolkit" in image else None
            if version is not None:
                yield version, f"DaemonSet {fields.name(each)}"


def driver_versions(look: Look) -> Judgement:
    """Whether the nodes of each pool have the same version of the driver."""
    by_pool: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    unlabelled = []
    for node in look.nvidia:
        version = node.labels.get(_DRIVER) or ".".join(filter(None, (node.labels.get(key) for key in _PARTS)))
        if version:
            by_pool[cluster_equipment.pool_of(node)][version].append(node.name)
        else:
            unlabelled.append(node.name)
    different = [
        f"{pool}: {', '.join(f'{version} on {len(names)}' for version, names in sorted(found.items()))}"
        for pool, found in sorted(by_pool.items())
        if len(found) > 1
    ]
    if different:
        return failed(*different)
    if unlabelled:
        return not_known(f"no label says the driver of {fields.listing(unlabelled)}")
    return passed(*(f"{pool}: {next(iter(found))}" for pool, found in sorted(by_pool.items())))


def _instead_of_plugin(look: Look) -> str:
    """The program that offers the GPUs where no DaemonSet is a device plugin; empty if a node offers no GPU."""
    if not _offer_gpus(look):
        return ""
    if all("/" not in name for node in look.nvidia for name in node.allocatable):
        return "drivers of device claims offer the GPUs"
    return "the nodes offer GPUs, as where the image of a node brings the plugin"


def _instead_of_discovery(look: Look) -> str:
    """The source of board labels if GPU feature discovery never ran; empty unless all nodes have another label."""
    from_services = all(node.product and boards.PRODUCT_LABEL not in node.labels for node in look.nvidia)
    return "labels of the service say the board of each node" if from_services else ""


_REPLACED: Final[Mapping[str, Callable[[Look], str]]] = {
    cluster_equipment.DEVICE_PLUGIN: _instead_of_plugin,
    cluster_equipment.FEATURE_DISCOVERY: _instead_of_discovery,
}
"""For each part of the GPU stack, finds what does its work on nodes without its DaemonSet."""


def daemon_set_ready(part: str) -> Judge:
    """Judges whether the pods of a DaemonSet are ready on all its nodes."""

    def judge(look: Look) -> Judgement:
        if look.daemons is None:
            return not_listed(_DAEMON_SETS)
        found = look.daemons.get(part, ())
        if not found:
            instead = _REPLACED.get(part)
            replaced = "" if instead is None else instead(look)
            missing = f"no DaemonSet of the {part}"
            return not_applicable(f"{missing}; {replaced}") if replaced else failed(missing)
        return _judged_pods([_pods(each) for each in found], [_daemon_set_place(each) for each in found])

    return judge


def _judged_pods(pods: Sequence[tuple[int, int] | None], places: Sequence[str]) -> Judgement:
    """The verdict on the pairs of ready and wanted pods of each DaemonSet. A DaemonSet without nodes may be for other
    boards.
    """
    known = [each for each in pods if each is not None]
    texts = [
        f"{place}: {each[0]} of {each[1]} pods are ready" if each is not None else f"{place} has no status"
        for each, place in zip(pods, places, strict=True)
    ]
    if len(known) < len(pods):
        return not_known(*texts)
    works = any(wanted for _, wanted in known) and all(there >= wanted for there, wanted in known)
    return passed(*texts) if works else failed(*texts)


def _pods(daemon_set: paths.Object) -> tuple[int, int] | None:
    wanted = fields.integer(daemon_set, "/status/desiredNumberScheduled")
    return None if wanted is None else (fields.integer(daemon_set, "/status/numberReady") or 0, wanted)


def _daemon_set_place(daemon_set: paths.Object) -> str:
    return f"DaemonSet {fields.namespace(daemon_set)}/{fields.name(daemon_set)}"


DRIVER_JUDGES: Final[Mapping[str, Judge]] = {
    "gpu-operator": gpu_operator,
    "toolkit-version": toolkit_version,
    "driver-versions": driver_versions,
    "device-plugin": daemon_set_ready(cluster_equipment.DEVICE_PLUGIN),
    "feature-discovery": daemon_set_ready(cluster_equipment.FEATURE_DISCOVERY),
}

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
    found = sorted(_scraping(look))
    if found:
        return passed(*found)
    kinds = (SERVICE_MONITOR, POD_MONITOR, SERVICE, CLUSTER_POLICY)
    unknown = [each for each in kinds if look.listed(each) is None]
    if unknown:
        return not_wanted(unknown)
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
    for value in (look.daemons or {}).get(cluster_equipment.DCGM_EXPORTER, ()):
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
        return not_listed("customresourcedefinitions.apiextensions.k8s.io")
    found = [each for each in _MONITORS if each in look.definitions]
    if found:
        return passed(*(f"the cluster has {each}" for each in found))
    return not_known("the kinds of the Prometheus operator are not there; other systems cannot be seen from here")


MONITORING_JUDGES: Final[Mapping[str, Judge]] = {
    "dcgm-exporter": daemon_set_ready(cluster_equipment.DCGM_EXPORTER),
    "dcgm-scraped": dcgm_scraped,
    "service-metrics": service_metrics,
}
