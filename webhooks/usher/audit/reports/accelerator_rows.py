"""The accelerators of an audit other than GPUs, as the rows of a table."""

from collections.abc import Iterator, Sequence
from typing import Final

from usher.audit.document import AcceleratorEntry
from usher.audit.reports import numbers
from usher.audit.reports.numbers import TEXT

HEADERS: Final = ("accelerator", "nodes", "capacity", "allocated", "free", "out of use", "waiting", "never")


def rows(entries: Sequence[AcceleratorEntry]) -> Iterator[tuple[str, ...]]:
    """One for each resource, with its numbers in the units of the resource."""
    for each in entries:
        amounts = (each.nodes, each.capacity, each.allocated, each.free, each.out_of_use, each.waiting, each.never)
        yield numbers.short(each.resource), *map(TEXT.number, amounts)
