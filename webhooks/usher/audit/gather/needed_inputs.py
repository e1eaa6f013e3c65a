"""The kinds that an audit reads beside workloads, nodes and pods, and the needs of each number of its document.

needed_inputs.yaml describes both. A number that is added to `Summary`, `AcceleratorEntry`, `Group` or `Audit` gets its
needs there. A test holds the table complete.
"""

from collections.abc import Collection, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from usher import paths
from usher.audit.document import AcceleratorEntry, Audit, Group, Summary
from usher.audit.document.audit_entries import Part
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Scope
from usher.check import findings
from usher.kinds.kind import FactKind, api, keeping


class Wanted(FactKind, frozen=True, kw_only=True):
    """A kind whose objects the sections of an audit find in `Estate.objects`.

    An audit lists it in the first of the versions that the API server serves. It keeps only what `keep` returns.
    `Estate.objects` has `Absence.MISSING` for a kind that the API server does not serve, and `Absence.NOT_KNOWN` for
    one that usher may not list or that the source does not hold. usher never reads Secrets.
    """

    def __post_init__(self) -> None:
        if (self.group, self.kind) == ("", "Secret"):
            raise ValueError("an audit never reads Secrets")


class _Kind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind as needed_inputs.yaml describes it."""

    kind: str
    versions: tuple[str, ...]
    keep: tuple[str, ...] = ()


class _Described(Struct, frozen=True, forbid_unknown_fields=True):
    kinds: dict[str, _Kind]
    needs: dict[str, dict[str, tuple[str, ...]]]


_DESCRIBED: Final = msgspec.yaml.decode(Path(__file__).with_name("needed_inputs.yaml").read_bytes(), type=_Described)


def _with_containers(value: paths.Object, kept: paths.Object) -> paths.Object:
    """A DaemonSet with only the names and images of its containers and one annotation of its pods. Other fields may be
    secret.
    """
    template = fields.at(kept, "/spec/template")
    scrape = fields.strings(value, "/spec/template/metadata/annotations").get(_SCRAPE)
    if isinstance(template, dict) and scrape is not None:
        template["metadata"] = {"annotations": {_SCRAPE: scrape}}
    spec = fields.at(kept, "/spec/template/spec")
    if isinstance(spec, dict):
        spec["containers"] = [
            {"name": each.get("name"), "image": each.get("image")}
            for each in fields.objects(value, "/spec/template/spec/containers")
        ]
    return kept


def _with_readiness(value: paths.Object, kept: paths.Object) -> paths.Object:
    """A Node with only the condition that shows whether it is ready."""
    status = kept.setdefault("status", {})
    if isinstance(status, dict):
        found = fields.objects(value, "/status/conditions")
        status["conditions"] = [each for each in found if fields.text(each, "/type") == "Ready"]
    return kept


def _with_scraping(value: paths.Object, kept: paths.Object) -> paths.Object:
    """A Service with its identity and only the annotations that Prometheus reads."""
    metadata = kept.get("metadata")
    annotations = fields.strings(value, "/metadata/annotations")
    if isinstance(metadata, dict):
        metadata["annotations"] = {key: text for key, text in annotations.items() if key in _SCRAPED}
    return kept


_SCRAPE: Final = "prometheus.io/scrape"
_SCRAPED: Final = (_SCRAPE, "prometheus.io/port", "prometheus.io/path")
_COMPLETED: Final = {"daemonsets.apps": _with_containers, "nodes": _with_readiness, "services": _with_scraping}
"""Functions that add to the kept fields of an object, by resource."""


def _wanted(resource: str, described: _Kind) -> Wanted:
    plural, _, group = resource.partition(".")
    keep, complete = keeping(*described.keep), _COMPLETED.get(resource)
    return Wanted(
        **api(group, described.kind, plural, *described.versions),
        keep=keep if complete is None else lambda value: complete(value, keep(value)),
    )


_WANTED: Final = {resource: _wanted(resource, each) for resource, each in _DESCRIBED.kinds.items()}
WANTED: Final = tuple(_WANTED.values())

RESOURCE_SLICE: Final = _WANTED["resourceslices.resource.k8s.io"]
MUTATING: Final = _WANTED["mutatingwebhookconfigurations.admissionregistration.k8s.io"]
VALIDATING: Final = _WANTED["validatingwebhookconfigurations.admissionregistration.k8s.io"]
DAEMON_SET: Final = _WANTED["daemonsets.apps"]
NODE: Final = _WANTED["nodes"]
KUEUE_WORKLOAD: Final = _WANTED["workloads.kueue.x-k8s.io"]
POD_GROUP: Final = _WANTED["podgroups.scheduling.volcano.sh"]
KAI_POD_GROUP: Final = _WANTED["podgroups.scheduling.run.ai"]
KAI_QUEUE: Final = _WANTED["queues.scheduling.run.ai"]
KARPENTER_POOL: Final = _WANTED["nodepools.karpenter.sh"]
CLUSTER_POLICY: Final = _WANTED["clusterpolicies.nvidia.com"]
SERVICE_MONITOR: Final = _WANTED["servicemonitors.monitoring.coreos.com"]
POD_MONITOR: Final = _WANTED["podmonitors.monitoring.coreos.com"]
SERVICE: Final = _WANTED["services"]
NETWORK_POLICY: Final = _WANTED["networkpolicies.networking.k8s.io"]
API_SERVICE: Final = _WANTED["apiservices.apiregistration.k8s.io"]
HYPER_NODE: Final = _WANTED["hypernodes.topology.volcano.sh"]


_P = TypeVar("_P", bound=Part)


class Need(Enum):
    """Data that an audit may lack, because it was not read or belongs to another part of the cluster."""

    NODES = auto()
    PODS = auto()
    """Any pods."""
    ALL_PODS = auto()
    """Complete lists of pods: free accelerators follow from all pods."""
    ALL_NAMESPACES = auto()
    """The pods of all namespaces. Those of one namespace or shard do not show what no pod holds."""
    OUTLOOK = auto()
    """Knowledge about whether workloads wait, and a cluster in which they could run."""


_NOTHING: Final = frozenset[Need]()

_NEEDS: Final = {
    "nothing": _NOTHING,
    "nodes": frozenset({Need.NODES}),
    "pods": frozenset({Need.PODS}),
    "all_namespaces": frozenset({Need.ALL_NAMESPACES}),
    "not_held": frozenset({Need.NODES, Need.PODS, Need.ALL_PODS, Need.ALL_NAMESPACES}),
    "outlook": frozenset({Need.OUTLOOK}),
}
"""By their names in needed_inputs.yaml."""

NEEDS: Final[Mapping[type[Part], Mapping[str, frozenset[Need]]]] = {
    kind: {name: _NEEDS[need] for need, names in _DESCRIBED.needs[kind.__name__].items() for name in names}
    for kind in (Summary, AcceleratorEntry, Group, Audit)
}
"""The needs of each field."""

_POD_LISTS: Final = "pods"
"""The source of problems with lists of a live cluster. Problems with files have the file names as source."""


def unread_inputs(estate: Estate, report: findings.Report, *, finds_never: bool) -> frozenset[Need]:
    """The needs that are missing because usher could not read the data.

    Args:
        report: the report with the problems of reading.
        finds_never: whether a finding says that a workload can never run. An authority of usher.yaml can find it
            without a cluster.
    """
    # Manifests have no pods, so usher asks the authorities about each of them.
    manifests_alone = bool(estate.workloads) and not any(each.exists for each in estate.workloads)
    known = {
        Need.NODES: estate.nodes is not None,
        Need.PODS: estate.pods_known,
        Need.ALL_PODS: not any(each.source == _POD_LISTS or not report.origin for each in report.problems),
        Need.OUTLOOK: (estate.facts_known or finds_never) and (estate.pods_known or manifests_alone),
    }
    return frozenset(need for need, is_known in known.items() if not is_known)


def beyond_scope(scope: Scope) -> frozenset[Need]:
    """The needs that a part of a cluster cannot have."""
    if scope.is_whole:
        return _NOTHING
    return frozenset({Need.ALL_NAMESPACES} if scope.has_nodes else {Need.ALL_NAMESPACES, Need.NODES})


def without_unknown(value: _P, missing: Collection[Need], *, keeping: Collection[str] = ()) -> _P:
    """A value without its unknown numbers.

    Args:
        value: a value of a type in `TABLES`.
        missing: what the audit lacks.
        keeping: names of fields to keep anyway.
    """
    lacking = frozenset(missing)
    names = [name for name, needs in NEEDS[type(value)].items() if needs & lacking and name not in keeping]
    return value.model_copy(update={name: _emptied(getattr(value, name)) for name in names})


def _emptied(value: object) -> object:
    """The unknown form of a value: an empty table or mapping, otherwise null."""
    if isinstance(value, tuple):
        return ()
    return {} if isinstance(value, Mapping) else None
