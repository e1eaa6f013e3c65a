"""The objects of a cluster as files, without secrets: `usher audit` reads them like the cluster itself."""

import contextlib
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from usher import errors, paths

if TYPE_CHECKING:
    from usher.check.batches import Batch
    from usher.cluster.api import Lists
    from usher.cluster.facts.snapshot import Recorded

_FILE_BYTES: Final = 256 * 2**10
"""Bytes after which a file ends. A reader holds one file at a time: its values stay in the cache of the processor.

This saves a third of the time of an audit against files of 2 MiB (`scripts/bench audit`).
"""

_WAITING: Final = ".partial"
"""The hidden folder in which complete files wait."""

_SHOWN: Final = 3

_OF_NODES: Final = "nodeInfo"
"""The versions of a node, which the checklist of an audit compares; records of reviews leave them out."""


class Objects:
    """Takes the pages of all kinds, and makes the files of a folder.

    At most one file of each kind is in memory. Complete files wait in a hidden folder, which `close` removes.
    """

    def __init__(self, folder: Path) -> None:
        """Takes the folder.

        Raises:
            InputError: the folder is not empty, so an audit of it would mix two clusters. Or another snapshot writes
                there. Or the folder cannot be made.
        """
        self.path = folder
        self._is_new = not folder.exists()
        self.problems = 0
        """The number of kinds that could not be read, or only in part."""
        self._waiting = folder / _WAITING
        with self._writing():
            folder.mkdir(parents=True, exist_ok=True)
            _require_empty(folder)
            self._begin()
        self._number = 0
        self._names = list[str]()
        self._unwritten = defaultdict[str, list[bytes]](list)
        self._bytes = Counter[str]()
        """Bytes that are not written yet, by kind."""
        self._numbers = Counter[str]()
        """The number of files, by kind."""
        self._without_objects = list[paths.Object]()
        self._not_read = list[paths.Object]()

    def _begin(self) -> None:
        """Makes the hidden folder, which one snapshot at a time can make."""
        try:
            self._waiting.mkdir()
        except FileExistsError:
            raise _occupied(self.path) from None
        try:
            _require_empty(self.path)  # another snapshot may have ended meanwhile
        except errors.InputError:
            self._waiting.rmdir()
            raise

    def add(self, batch: "Batch") -> None:
        """Takes a page of a kind.

        Raises:
            InputError: a file cannot be written.
        """
        self.problems += len(batch.problems) + len(batch.notes)
        self._not_read += [_not_read(each.source, each.reason) for each in batch.problems]
        self._not_read += [_not_read(each.source, each.reason) for each in batch.notes]
        values = [_kept(value) for value in (*(item.value for item in batch.items), *batch.aside)]
        self._number += len(values)
        for value in sorted(values, key=_place):
            text = orjson.dumps(value)
            self._unwritten[batch.source].append(text)
            self._bytes[batch.source] += len(text)
            if self._bytes[batch.source] > _FILE_BYTES:
                self._write_objects(batch.source)

    def more(self, api: "Lists") -> "Iterator[Batch]":
        """The kinds that only sections of audits read."""
        from usher.audit.wanted import merged
        from usher.cluster import recording
        from usher.cluster.facts.snapshot import State
        from usher.kinds import registry

        listed = {kind.group_and_kind for kind in registry.LISTED}
        for found in recording.read_facts(api, kinds=[each.fact_kind for each in merged() if each.key not in listed]):
            if found.state is not State.NOT_KNOWN and not found.values:
                self._without_objects.append(_without_objects(found))
            yield _batch(found)

    def write(self) -> str:
        """Moves all files into the folder, which is empty until then. Returns what it wrote.

        Raises:
            InputError: one of them cannot be written.
        """
        for source in sorted(self._unwritten):
            self._write_objects(source)
        self._write("kinds-without-objects.json", b"\n".join(map(orjson.dumps, self._without_objects)))
        if self._not_read:
            self._write("kinds-not-read.json", b"\n".join(map(orjson.dumps, self._not_read)))
        with self._writing():
            for name in self._names:
                (self._waiting / name).replace(self.path / name)
        return f"{self.path}: {self._number:,} objects in {len(self._names)} files"

    def close(self) -> None:
        """Removes everything except the files that `write` has moved; without files it leaves no new folder."""
        shutil.rmtree(self._waiting, ignore_errors=True)
        if self._is_new:
            with contextlib.suppress(OSError):
                self.path.rmdir()

    def _write_objects(self, source: str) -> None:
        """Writes the waiting objects of a kind."""
        self._bytes[source] = 0
        if unwritten := self._unwritten.pop(source, []):
            name = f"{source}-{self._numbers[source]:04}.json"
            self._numbers[source] += 1
            self._write(name, b'{"apiVersion":"v1","kind":"List","items":[%b]}' % b",".join(unwritten))

    def _write(self, name: str, content: bytes) -> None:
        with self._writing(), (self._waiting / name).open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        self._names.append(name)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise errors.InputError(f"{self.path}: the snapshot cannot be written: {reason}") from None


def _require_empty(folder: Path) -> None:
    """Raises InputError for a folder that holds something besides the hidden folder."""
    names = sorted(each.name for each in folder.iterdir() if each.name != _WAITING)
    if names:
        there = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        raise errors.InputError(
            f"{folder}: is not empty ({there}); name a new folder, so that it holds one state of one cluster"
        )


def _occupied(folder: Path) -> errors.InputError:
    return errors.InputError(
        f"{folder}: another snapshot is being written there, or one was killed; name a new folder, or remove "
        f"{folder / _WAITING} if no snapshot runs"
    )


def _batch(found: "Recorded") -> "Batch":
    from usher.check import findings
    from usher.check.batches import Batch, Item
    from usher.cluster.facts.snapshot import State

    source = found.kind.resource
    notes = (
        (findings.Note(source=source, reason=f"not read: {found.reason}"),) if found.state is State.NOT_KNOWN else ()
    )
    return Batch(source=source, items=tuple(Item(value=value) for value in found.values), notes=notes, is_file=False)


def _without_objects(found: "Recorded") -> paths.Object:
    """A list that records a kind without objects in any namespace, or one that the API server does not serve."""
    group, version = found.kind.group, found.kind.versions[0]
    written = f"{group}/{version}" if group else version
    link = f"/{'apis' if group else 'api'}/{written}/{found.kind.plural}"
    return {"apiVersion": written, "kind": f"{found.kind.kind}List", "metadata": {"selfLink": link}, "items": []}


def _not_read(source: str, reason: str) -> paths.Object:
    """An API server's answer without objects, which makes an audit of the folder INCOMPLETE."""
    return {"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": f"{source}: {reason}"}


def _kept(value: paths.Object) -> paths.Object:
    """An object without secrets."""
    from usher.review import records

    kept, status = records.without_secrets(value), value.get("status")
    if value.get("kind") == "Node" and isinstance(status, dict) and _OF_NODES in status:
        within = kept.get("status")
        kept["status"] = {**(within if isinstance(within, dict) else {}), _OF_NODES: status[_OF_NODES]}
    return kept


def _place(value: paths.Object) -> tuple[str, str]:
    metadata = paths.metadata(value)
    return paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))
