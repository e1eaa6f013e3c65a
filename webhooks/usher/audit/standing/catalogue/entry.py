"""One entry of the catalogue."""

from typing import Literal

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
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
