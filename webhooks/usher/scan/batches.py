"""Batches: the objects that a source passes to the runner, one file or one page of a list at a time."""

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
    """The file name as the user wrote it, `<stdin>`, or the listed resource."""
    items: tuple[Item, ...] = ()
    for_policies: tuple[Item, ...] = ()
    """Objects of kinds that only Gatekeeper policies judge. These policies also judge the objects in `aside`."""
    aside: tuple[paths.Object, ...] = ()
    """Objects that usher does not judge: owned, finished and exempt ones. An audit counts the accelerators of their
    pods.
    """
    documents: tuple[reader.Document, ...] = ()
    """All documents of a file, including those without an object."""
    problems: tuple[findings.Problem, ...] = ()
    notes: tuple[findings.Note, ...] = ()
    ignored: int = 0
    """Number of documents that are not Kubernetes objects."""
    owned: int = 0
    """Number of objects left out because they count as part of a listed owner."""
    finished: int = 0
    """Number of objects left out because they are finished."""
    is_file: bool = True
    part: int = 0
    """The first line of a part of a large file; 0 for a whole file."""
