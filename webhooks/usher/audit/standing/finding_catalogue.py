"""The findings that an audit can make about a cluster as a whole, beside the checks on single objects.

`findings.yaml` has them, by code.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec


class CatalogueEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of finding about a cluster. Codes and names are an interface: their meaning never changes."""

    code: str
    name: str
    title: str
    severity: Literal["critical", "high", "medium", "low"]
    category: str
    """`waiting`, `admission`, `exceptions`, `queues`, `quotas`, `nodes` or `coverage`."""
    why: str
    """The reason why it matters, in one sentence."""
    remedy: str
    """The remedy if the finding itself has no better one."""
    source: str
    """A page of this repository, or of the project behind the subject."""


ENTRIES: Final = msgspec.yaml.decode(
    Path(__file__).with_name("findings.yaml").read_bytes(), type=tuple[CatalogueEntry, ...]
)
"""All entries, by code."""

BY_CODE: Final[Mapping[str, CatalogueEntry]] = {entry.code: entry for entry in ENTRIES}
