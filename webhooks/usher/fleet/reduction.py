"""The audit document of a shard: without what belongs to other shards, so that the sum of all counts each thing once.

A shard judges with the facts of the whole cluster: nodes, queues, quotas. Findings about these come from every shard,
and the merge keeps one of each. The nodes themselves are in shard 0 alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from usher.audit.document import AcceleratorEntry, Audit, FindingEntry, GroupTable
from usher.fleet.shards import Shard

_OF_ALL_PODS: Final = (
    *("gpus_out_of_use", "cost_per_hour_free", "cost_per_hour_out_of_use"),
    *("capacity", "free", "out_of_use", "cost_free", "cost_out_of_use"),
)
"""A shard sees its own pods alone, so it does not know which GPUs no pod holds."""

_OF_GROUPS: Final = ("gpus_free", "gpus_out_of_use", "free", "out_of_use", "cost_free", "cost_out_of_use")
"""The same numbers of boards and of ways of paying."""

ABOUT_ABSENCE: Final = frozenset({"USA010", "USA012", "USA020", "USA024", "USA032"})
"""Codes of findings which say that nothing uses or needs something: true only where every shard says it."""

ABOUT_WORKLOADS: Final = frozenset({"USA050", "USA051"})
"""Codes of findings without a namespace that count workloads: each shard has the GPUs of its own."""


def reduce(audit: Audit, shard: Shard, *, shared: int = 0) -> Audit:
    """The document with the objects of the shard alone.

    Findings without a namespace stay, because only all shards together know whether a queue has no workloads.

    Args:
        audit: what the shard has found.
        shard: which one it is.
        shared: how many objects without a namespace it has read, as every shard does; they count in shard 0.
    """
    if shard.is_whole:
        return audit
    findings = tuple(each for each in audit.findings if not each.subject.namespace or shard.has(each.subject.namespace))
    workloads = tuple(each for each in audit.workloads if shard.has(each.subject.namespace))
    summary = audit.summary.model_copy(
        update={
            "workloads": len(workloads),
            "findings": _outcomes(findings),
            # Neither a rate of the whole cluster nor a percentile is a sum of shards.
            "queue_wait_p95_seconds": None,
            **dict.fromkeys(_OF_ALL_PODS),
            **({} if shard.has_nodes else {"gpus": None, "gpus_allocatable": None}),
        }
    )
    cluster, completeness = audit.cluster, audit.completeness
    if not shard.has_nodes:
        cluster = cluster.model_copy(update={"nodes": None})
        completeness = completeness.model_copy(update={"objects": max(0, completeness.objects - shared)})
    return audit.model_copy(
        update={
            "cluster": cluster,
            "completeness": completeness,
            "summary": summary,
            "workloads": workloads,
            "findings": findings,
            "savings": tuple(each for each in audit.savings if shard.has(each.subject.namespace)),
            "targets": (),
            "usage": tuple(map(_held, audit.usage)),
            "prices": audit.prices if shard.has_nodes else (),
            "other_accelerators": tuple(_of_shard(each, shard) for each in audit.other_accelerators),
        }
    )


def _held(table: GroupTable) -> GroupTable:
    """What the pods of the shard hold and held, without groups of which they held nothing."""
    rows = [each for each in table.rows if each.workloads or each.usage.gpus_now or each.usage.allocated]
    return table.model_copy(update={"rows": tuple(each.model_copy(update=dict.fromkeys(_OF_GROUPS)) for each in rows)})


def _of_shard(entry: AcceleratorEntry, shard: Shard) -> AcceleratorEntry:
    """What the pods of the shard hold and want; the numbers of the nodes are in shard 0."""
    of_nodes = {} if shard.has_nodes else {"nodes": None, "capacity": None, "usable": None}
    return entry.model_copy(update={"free": None, "out_of_use": None, **of_nodes})


def alone(reduced: Audit, shard: Shard) -> Audit:
    """What the shard can say by itself, for reports beside its part: without what only all shards together prove.

    Without a namespace only shard 0 reports, so that one of all shards does.
    """
    if shard.is_whole:
        return reduced
    findings = tuple(
        each
        for each in reduced.findings
        if each.subject.namespace or (shard.has_nodes and each.code not in ABOUT_ABSENCE | ABOUT_WORKLOADS)
    )
    # The merge knows the pods of all shards, so it needs the free GPUs of each; a report of one shard would be wrong.
    summary = reduced.summary.model_copy(update={"findings": _outcomes(findings), "gpus_free": None})
    return reduced.model_copy(update={"findings": findings, "summary": summary})


def _outcomes(findings: Iterable[FindingEntry]) -> Mapping[str, int]:
    return dict(sorted(Counter(each.outcome for each in findings).items()))
