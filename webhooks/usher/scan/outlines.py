"""Outlines: the data about a file that other processes need to judge its neighbours."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from usher import paths
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.kinds.kubeflow_pipelines.compiled import group_version_kind
from usher.kinds.reading.counts import Growth
from usher.kinds.reading.values import Reference
from usher.scan.batches import Batch
from usher.workloads.grown_workloads import growth_of


class Named(NamedTuple):
    """An object by name. It only holds texts, because processes send each other thousands."""

    group: str
    kind: str
    namespace: str
    name: str
    prefix: str
    """`generateName` of an object without a name."""

    @property
    def reference(self) -> Reference:
        return Reference(group=self.group, kind=self.kind, name=self.name, namespace=self.namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One file of a run."""

    source: str
    directory: str
    """The directory of the file; for other sources, their name."""
    named: Sequence[Named]
    """Each object of the file."""
    growths: Sequence[Growth] = ()
    offers: bool
    """Whether other objects may refer to an object of the file."""
    offered: Sequence[paths.Object] | None
    """These objects; None for a file that was not read because its verdict is remembered."""
    path: str = ""
    """Empty for sources that are not files. A text, because processes send each other thousands."""
    key: bytes = b""
    """Digest of its name and content; empty if its verdict is not to be remembered."""


def of(batch: Batch, *, namespace: str, path: str = "", key: bytes = b"") -> Outline:
    """The outline of a file.

    Args:
        batch: the file.
        namespace: the namespace of objects without one.
        path: the path of the file.
        key: digest of its name and content.
    """
    names, growths, offered = list[Named](), list[Growth](), list[paths.Object]()
    for item in batch.items:
        each = named(item.value, namespace)
        names.append(each)
        if (each.group, each.kind) in registry.NEVER_NAMED:
            continue
        offered.append(item.value)
        growth = growth_of(item.value, namespace=namespace)
        if growth is not None:
            growths.append(growth)
    return Outline(
        source=batch.source,
        directory=directory(batch),
        named=tuple(names),
        growths=tuple(growths),
        offers=bool(offered),
        offered=tuple(offered),
        path=path,
        key=key,
    )


def directory(batch: Batch) -> str:
    """The directory of a file; for other sources, their name."""
    return directory_of(batch.source) if batch.is_file else batch.source


def directory_of(source: str) -> str:
    """The directory of a file by its name."""
    return os.path.dirname(source) or "."  # noqa: PTH120 - pathlib costs ten times as much


def named(value: paths.Object, namespace: str) -> Named:
    """The name of an object; `namespace` is the namespace of objects without one."""
    group, _, kind = group_version_kind(value)
    metadata = paths.metadata(value)
    name = paths.text(metadata.get("name"))
    within = paths.text(metadata.get("namespace")) or namespace
    return Named(group, kind, within, name, "" if name else paths.text(metadata.get("generateName")))
