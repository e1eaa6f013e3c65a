"""The objects that a source hands to the runner: one file, or one page of a list, at a time."""

from usher import paths
from usher.dataclass import dataclass
from usher.documents import reader
from usher.scan import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One Kubernetes object and its place in a file."""

    value: paths.Object
    document: reader.Document | None = None
    """None for objects of a live cluster."""
    existing: bool = False
    """Whether it was listed in a cluster, with the facts of that cluster."""
    prefix: str = paths.ROOT
    """Pointer to the object in its document: `/items/3` in a List."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    source: str
    """File name as the user wrote it, `<stdin>`, or the resource that was listed."""
    items: tuple[Item, ...] = ()
    for_policies: tuple[Item, ...] = ()
    """Objects of kinds that only policies of Gatekeeper are about. They judge those `aside` as well."""
    aside: tuple[paths.Object, ...] = ()
    """Objects that are not judged: owned, finished and exempt ones. An audit counts the accelerators of their pods."""
    documents: tuple[reader.Document, ...] = ()
    """All documents of a file, those without an object too."""
    problems: tuple[findings.Problem, ...] = ()
    notes: tuple[findings.Note, ...] = ()
    ignored: int = 0
    """Documents that are not Kubernetes objects."""
    owned: int = 0
    """Objects left out because they count as part of an owner that was listed."""
    finished: int = 0
    """Objects left out because they are finished."""
    is_file: bool = True
    part: int = 0
    """The first line of a part of a large file; 0 for a whole one."""
