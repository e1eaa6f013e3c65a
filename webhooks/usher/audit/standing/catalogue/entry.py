"""One entry of the catalogue."""

from typing import Literal

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One finding about a cluster. Codes and names are an interface: they never get another meaning."""

    code: str
    name: str
    title: str
    severity: Literal["critical", "high", "medium", "low"]
    category: str
    """`waiting`, `admission`, `exceptions`, `queues`, `quotas`, `nodes` or `coverage`."""
    why: str
    """Why it matters, in one sentence."""
    remedy: str
    """What to do where the finding itself has no better remedy."""
    source: str
    """A page of this repository, or of the project that defines the subject."""
