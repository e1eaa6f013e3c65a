"""What a module of this package says about one kind: where its objects are, and their shape."""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The shape of one kind. Workload kinds may have one as well, beside their pod sets."""

    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    """Empty for what no API server serves, or is not to ask about; it is judged in files."""
    key: str
    """Its field in `input.object` of the policies: unlike the kind, no two share one."""
    shape: TypeAdapter[Any]
    cluster_scoped: bool = False
    listed: bool = True
    """Whether an API server lists its objects; some kinds are only ever created."""
