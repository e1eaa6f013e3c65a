"""The audit document of a shard: without what belongs to other shards, so that the sum of all counts each thing once.

A shard judges with the facts of the whole cluster: nodes, queues, quotas. Findings about these come from every shard,
and the merge keeps one of each. The nodes themselves are in shard 0 alone.
"""

from typing import Final

from usher.audit import partial
from usher.audit.document import Audit
from usher.fleet.shards import Shard

_OF_MERGE: Final = ("gpus_usable", "gpus_free", "readiness")
"""What no shard knows by itself, and the merge makes whole: it subtracts from the usable GPUs what the pods of each
shard hold there, and an item of the checklist stands as in the worst shard."""


def reduce(audit: Audit, shard: Shard, *, shared: int = 0) -> Audit:
    """The document with the objects of the shard alone.

    Args:
        audit: what the shard has found.
        shard: which one it is.
        shared: how many objects without a namespace it has read, as every shard does; they count in shard 0.
    """
    if shard.is_whole:
        return audit
    found = partial.of_objects(audit, shard, keeping=_OF_MERGE)
    if shard.has_nodes:
        return found
    objects = max(0, found.completeness.objects - shared)
    return found.model_copy(update={"completeness": found.completeness.model_copy(update={"objects": objects})})
