"""The objects of a cluster as files, without secrets: `usher audit` reads them like the cluster itself."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from usher import errors, paths
from usher.cli import whole_files

if TYPE_CHECKING:
    from usher.cluster.api import Lists
    from usher.facts.snapshot import Recorded
    from usher.scan.batches import Batch

_IN_A_FILE: Final = 2000
"""Objects, a few megabytes."""

_OF_NODES: Final = "nodeInfo"
"""Versions of a node, which the checklist of an audit compares; records of reviews leave them out."""


class Objects:
    """Takes the pages of all kinds, and makes the files of a folder."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder.

        Raises:
            InputError: it holds something already: an audit of it would mix two clusters.
        """
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise errors.InputError(
                f"{folder}: is not empty; name a new folder, so that it holds one state of one cluster"
            )
        self.path = folder
        self.problems = 0
        """Kinds that could not be read, or not to their end."""
        self._kinds = defaultdict[str, list[paths.Object]](list)
        self._without_objects = list[paths.Object]()

    def add(self, batch: "Batch") -> None:
        """Takes a page of a kind."""
        self.problems += len(batch.problems) + len(batch.notes)
        self._kinds[batch.source] += (_kept(value) for value in (*(item.value for item in batch.items), *batch.aside))

    def more(self, api: "Lists") -> "Iterator[Batch]":
        """The kinds that only sections of audits read."""
        from usher.audit.wanted import merged
        from usher.cluster import recording
        from usher.facts.snapshot import State
        from usher.kinds import registry

        listed = {kind.group_and_kind for kind in registry.LISTED}
        for found in recording.read(api, kinds=[each.fact_kind for each in merged() if each.key not in listed]):
            if found.state is not State.NOT_KNOWN and not found.values:
                self._without_objects.append(_without_objects(found))
            yield _batch(found)

    def write(self) -> str:
        """Writes all files; if one cannot be written, the folder stays empty. Returns what it wrote.

        Raises:
            InputError: one of them cannot be written.
        """
        files = [file for source, values in sorted(self._kinds.items()) for file in _files(self.path, source, values)]
        content = b"\n".join(map(orjson.dumps, self._without_objects))
        files.append(whole_files.File(path=self.path / "kinds-without-objects.json", content=content))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise errors.InputError(f"{self.path}: cannot be made: {error.strerror}") from None
        whole_files.replace_all(files, what="snapshot")
        return f"{self.path}: {sum(map(len, self._kinds.values())):,} objects in {len(files)} files"


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
