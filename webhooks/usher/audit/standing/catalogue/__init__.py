"""The catalogue of findings about a cluster as a whole. Checks judge single objects."""

from collections.abc import Mapping
from typing import Final

from usher.audit.standing.catalogue import machines, policies, webhooks, workloads
from usher.audit.standing.catalogue.entry import Entry

__all__ = ["BY_CODE", "ENTRIES", "Entry"]

ENTRIES: Final[tuple[Entry, ...]] = tuple(
    sorted((*workloads.ENTRIES, *policies.ENTRIES, *machines.ENTRIES, *webhooks.ENTRIES), key=lambda entry: entry.code)
)
"""All entries, by code."""

BY_CODE: Final[Mapping[str, Entry]] = {entry.code: entry for entry in ENTRIES}
