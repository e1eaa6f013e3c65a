"""The audit document of a shard: without what belongs to other shards, so that the sum of all counts each thing once.

A shard judges with the facts of the whole cluster: nodes, queues, quotas. Findings about these come from every shard,
and the merge keeps one of each. The nodes themselves are in shard 0 alone.
"""

from collections import Counter
from typing import Final

from usher.audit.document import Audit
from usher.fleet.shards import Shard

_OF_ALL_PODS: Final = (
    *("gpus_out_of_use", "cost_per_hour_free", "cost_per_hour_out_of_use"),
    *("capacity", "free", "out_of_use", "cost_free", "cost_out_of_use"),
)
"""A shard sees its own pods alone, so it does not know which GPUs no pod holds."""


def reduce(audit: Audit, shard: Shard) -> Audit:
    """The document with the objects of the shard alone.

    Findings without a namespace stay, because only all shards together know whether a queue has no workloads.
    """
    if shard.is_whole:
        return audit
    findings = tuple(each for each in audit.findings if not each.subject.namespace or shard.has(each.subject.namespace))
    workloads = tuple(each for each in audit.workloads if shard.has(each.subject.namespace))
    summary = audit.summary.model_copy(
        update={
            "workloads": len(workloads),
            "findings": dict(sorted(Counter(each.outcome for each in findings).items())),
            # Neither a rate of the whole cluster nor a percentile is a sum of shards.
            "queue_wait_p95_seconds": None,
            **dict.fromkeys(_OF_ALL_PODS),
            **({} if shard.has_nodes else {"gpus": None, "gpus_allocatable": None, "gpus_free": None}),
        }
    )
    cluster = audit.cluster if shard.has_nodes else audit.cluster.model_copy(update={"nodes": None})
    return audit.model_copy(
        update={
            "cluster": cluster,
            "summary": summary,
            "workloads": workloads,
            "findings": findings,
            "savings": tuple(each for each in audit.savings if shard.has(each.subject.namespace)),
            "targets": (),
            "prices": audit.prices if shard.has_nodes else (),
        }
    )
