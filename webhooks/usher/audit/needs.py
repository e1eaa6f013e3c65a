"""The needs of each number of a document. A number whose need is missing is null and never 0.

Add the needs of a new number of `Summary`, `AcceleratorEntry`, `Group` or `Audit` here. A test keeps the tables
complete.
"""

from collections.abc import Collection, Mapping
from enum import Enum, auto
from typing import Final, TypeVar

from usher.audit.document import AcceleratorEntry, Audit, Group, Summary
from usher.audit.document.part import Part
from usher.audit.estate import Estate
from usher.audit.scopes import Scope
from usher.check import findings

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
_NODES: Final = frozenset({Need.NODES})
_PODS: Final = frozenset({Need.PODS})
_WHOLE: Final = frozenset({Need.ALL_NAMESPACES})
_NOT_HELD: Final = frozenset({Need.NODES, Need.PODS, Need.ALL_PODS, Need.ALL_NAMESPACES})
_OUTLOOK: Final = frozenset({Need.OUTLOOK})

Needs = Mapping[str, frozenset[Need]]
"""By the name of a field."""


def _table(**groups: str) -> Needs:
    by_name = {
        "nothing": _NOTHING,
        "nodes": _NODES,
        "pods": _PODS,
        "whole": _WHOLE,
        "not_held": _NOT_HELD,
        "outlook": _OUTLOOK,
    }
    return {name: by_name[group] for group, names in groups.items() for name in names.split()}


SUMMARY: Final = _table(
    nodes="gpus gpus_allocatable gpus_usable gpus_not_priced",
    pods="gpus_allocated gpus_waiting gpus_half_started accelerators cost_per_hour_allocated",
    not_held="gpus_free gpus_out_of_use cost_per_hour_free cost_per_hour_out_of_use",
    # Series have it even if the cluster does not list its pods.
    whole="capacity free out_of_use cost_free cost_out_of_use queue_wait_p95_seconds readiness",
    outlook="gpus_never workloads_never",
    nothing="workloads gpus_asked gpus_asked_least other_asked workloads_not_known manifests findings allocated "
    "measured used idle activity memory_share currency cost_allocated cost_idle not_priced savings_gpu_hours "
    "savings_cost savings_cost_saved savings_cost_freed exceptions_ending",
)
ACCELERATORS: Final = _table(
    nodes="nodes capacity usable",
    pods="allocated waiting",
    not_held="free out_of_use",
    outlook="never",
    nothing="resource asked",
)
GROUP: Final = _table(
    whole="gpus_free gpus_out_of_use free out_of_use cost_free cost_out_of_use",
    nothing="name workloads usage",
)
AUDIT: Final = _table(
    nodes="prices",
    whole="targets readiness",
    # Findings with a namespace are chosen by it.
    nothing="api_version kind version taken cluster configuration preset completeness summary measurement "
    "other_accelerators workloads findings not_evaluated not_judged exceptions usage savings prevented trend",
)

_POD_LISTS: Final = "pods"
"""The source of problems with lists of a live cluster. Problems with files have the file names as source."""

TABLES: Final[Mapping[type[Part], Needs]] = {
    Summary: SUMMARY,
    AcceleratorEntry: ACCELERATORS,
    Group: GROUP,
    Audit: AUDIT,
}


def unread(estate: Estate, report: findings.Report, *, finds_never: bool) -> frozenset[Need]:
    """The needs that are missing because usher could not read the data.

    Args:
        estate: the objects that usher read.
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


def beyond(scope: Scope) -> frozenset[Need]:
    """The needs that a part of a cluster cannot have."""
    if scope.is_whole:
        return _NOTHING
    return frozenset({Need.ALL_NAMESPACES} if scope.has_nodes else {Need.ALL_NAMESPACES, Need.NODES})


def without(value: _P, missing: Collection[Need], *, keeping: Collection[str] = ()) -> _P:
    """A value without its unknown numbers.

    Args:
        value: a value of a type in `TABLES`.
        missing: what the audit lacks.
        keeping: names of fields to keep anyway.
    """
    lacking = frozenset(missing)
    names = [name for name, needs in TABLES[type(value)].items() if needs & lacking and name not in keeping]
    return value.model_copy(update={name: _unknown(getattr(value, name)) for name in names})


def _unknown(value: object) -> object:
    """The unknown form of a value: an empty table or mapping, otherwise null."""
    if isinstance(value, tuple):
        return ()
    return {} if isinstance(value, Mapping) else None
