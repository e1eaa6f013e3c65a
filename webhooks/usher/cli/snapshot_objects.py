"""The objects of a cluster as files, without secrets: `usher audit` reads them like the cluster itself."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from usher import errors, paths
from usher.cli import whole_files
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.cluster.api import Lists
    from usher.facts.snapshot import Recorded
    from usher.scan.batches import Batch

_IN_A_FILE: Final = 2000
"""Objects, a few megabytes."""

_OF_NODES: Final = "nodeInfo"
"""Versions of a node, which the checklist of an audit compares; records of reviews leave them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    files: tuple[whole_files.File, ...]
    number: int
    problems: tuple[str, ...]
    """What could not be read, and why."""


def read(api: "Lists", folder: Path) -> Objects:
    """The objects that an audit of a cluster reads, as files of a folder.

    Raises:
        InputError: the folder holds something already: an audit of it would mix two clusters.
        ClusterError: usher may list no kind of workload.
    """
    from usher.facts.snapshot import State
    from usher.scan import cluster

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise errors.InputError(f"{folder}: is not empty; name a new folder, so that it holds one state of one cluster")
    kinds, problems = defaultdict[str, list[paths.Object]](list), list[str]()
    others = list(_others(api))
    for batch in (*cluster.read(api), *map(_batch, others)):
        problems += [f"{each.source}: {each.reason}" for each in batch.problems]
        problems += [f"{each.source}: {each.reason}" for each in batch.notes]
        for value in (*(item.value for item in batch.items), *batch.aside):
            kinds[batch.source].append(_kept(value))
    files = [file for source, values in sorted(kinds.items()) for file in _files(folder, source, values)]
    empty = [_without_objects(each) for each in others if each.state is not State.NOT_KNOWN and not each.values]
    files.append(
        whole_files.File(path=folder / "kinds-without-objects.json", content=b"\n".join(map(orjson.dumps, empty)))
    )
    return Objects(files=tuple(files), number=sum(map(len, kinds.values())), problems=tuple(problems))


def _others(api: "Lists") -> "Iterator[Recorded]":
    """The kinds that only sections of audits read."""
    from usher.audit.wanted import merged
    from usher.cluster import recording
    from usher.kinds import registry

    listed = {kind.group_and_kind for kind in registry.LISTED}
    return recording.read(api, kinds=[each.fact_kind for each in merged() if each.key not in listed])


def _batch(found: "Recorded") -> "Batch":
    from usher.facts.snapshot import State
    from usher.scan import findings
    from usher.scan.batches import Batch, Item

    source = found.kind.resource
    notes = (findings.Note(source=source, reason=found.reason),) if found.state is State.NOT_KNOWN else ()
    return Batch(source=source, items=tuple(Item(value=value) for value in found.values), notes=notes, is_file=False)


def _without_objects(found: "Recorded") -> paths.Object:
    """A list that says of a kind that it has no objects, or is not served."""
    group, version = found.kind.group, found.kind.versions[0]
    return {"apiVersion": f"{group}/{version}" if group else version, "kind": f"{found.kind.kind}List", "items": []}


def _kept(value: paths.Object) -> paths.Object:
    """An object without secrets."""
    from usher.review import redaction

    kept, status = redaction.of(value), value.get("status")
    if value.get("kind") == "Node" and isinstance(status, dict) and _OF_NODES in status:
        within = kept.get("status")
        kept["status"] = {**(within if isinstance(within, dict) else {}), _OF_NODES: status[_OF_NODES]}
    return kept


def _files(folder: Path, source: str, values: list[paths.Object]) -> Iterator[whole_files.File]:
    values.sort(key=lambda value: tuple(paths.text(paths.metadata(value).get(key)) for key in ("namespace", "name")))
    for start in range(0, len(values), _IN_A_FILE):
        content = orjson.dumps({"apiVersion": "v1", "kind": "List", "items": values[start : start + _IN_A_FILE]})
        yield whole_files.File(path=folder / f"{source}-{start // _IN_A_FILE}.json", content=content)


def write(found: Objects, folder: Path) -> None:
    """Writes all files; if one cannot be written, the folder stays empty.

    Raises:
        InputError: one of them cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.InputError(f"{folder}: cannot be made: {error.strerror}") from None
    whole_files.replace_all(found.files, what="snapshot")
