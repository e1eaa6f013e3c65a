"""The objects with which Gatekeeper policies compare in an audit: all objects of the run, if they fit in memory."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from usher.gatekeeper import inventory
from usher.gatekeeper.evaluation import Policies
from usher.scan.batches import Batch, Item

_MOST: Final = inventory.LARGEST * 9 // 10
"""The most bytes of the objects. The names by which rules find them need the rest."""

TOO_LARGE: Final = (
    f"its rules compare an object with all others, and those of this audit have more than {_MOST // 2**20} MiB; audit "
    "one namespace at a time"
)


def held(batches: Iterable[Batch], policies: Policies) -> tuple[Iterable[Batch], list[Item]]:
    """The batches, and all their objects if a policy compares objects and they fit; otherwise usher does not evaluate
    the policy.

    It keeps batches in memory only if a policy needs them, because a whole cluster is too large.
    """
    if not policies.reads_inventory:
        return batches, []
    coming = iter(batches)
    kept, size = list[Batch](), 0
    for batch in coming:
        kept.append(batch)
        size += sum(len(orjson.dumps(item.value)) for item in _objects(batch))
        if size > _MOST:
            policies.leave_out_inventory(TOO_LARGE)
            return itertools.chain(kept, coming), []
    return kept, [item for batch in kept for item in _objects(batch)]


def only_for_policies(batch: Batch) -> Iterator[Item]:
    """The objects of a batch that only policies judge."""
    yield from batch.for_policies
    for value in batch.aside:
        yield Item(value=value)


def _objects(batch: Batch) -> Iterator[Item]:
    yield from batch.items
    yield from only_for_policies(batch)
