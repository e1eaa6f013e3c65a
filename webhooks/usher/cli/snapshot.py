"""`usher snapshot`: saves the facts of a cluster in a file, and its objects or workloads."""

import contextlib
import itertools
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import orjson

from usher import __version__, errors, paths
from usher.check import findings
from usher.check.batches import Batch, Item
from usher.cli import inputs, main, output
from usher.cluster.api import Api, Lists
from usher.cluster.facts import store
from usher.cluster.facts.store import Recorded, State
from usher.kinds import registry

_FILE_BYTES: Final = 256 * 2**10
"""Bytes after which a file ends. A reader holds one file at a time: its values stay in the cache of the processor.

This saves a third of the time of an audit against files of 2 MiB (`scripts/bench audit`).
"""

_WAITING: Final = ".partial"
"""The hidden folder in which complete files wait."""

_SHOWN: Final = 3

_OF_NODES: Final = "nodeInfo"
"""The versions of a node, which the checklist of an audit compares; records of reviews leave them out."""


class ObjectFiles:
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

    def add(self, batch: Batch) -> None:
        """Takes a page of a kind.

        Raises:
            InputError: a file cannot be written.
        """
        self.problems += len(batch.problems) + len(batch.notes)
        self._not_read += [_not_read(each.source, each.reason) for each in batch.problems]
        self._not_read += [_not_read(each.source, each.reason) for each in batch.notes]
        values = [_object_without_secrets(value) for value in (*(item.value for item in batch.items), *batch.aside)]
        self._number += len(values)
        for value in sorted(values, key=_place):
            text = orjson.dumps(value)
            self._unwritten[batch.source].append(text)
            self._bytes[batch.source] += len(text)
            if self._bytes[batch.source] > _FILE_BYTES:
                self._write_objects(batch.source)

    def further_batches(self, api: Lists) -> Iterator[Batch]:
        """The kinds that only sections of audits read."""
        from usher.audit.gather.needed_inputs import WANTED
        from usher.cluster import recording

        listed = {kind.group_and_kind for kind in registry.LISTED}
        for found in recording.read_facts(api, kinds=[each for each in WANTED if each.key not in listed]):
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


def _batch(found: Recorded) -> Batch:
    source = found.kind.resource
    notes = (
        (findings.Note(source=source, reason=f"not read: {found.reason}"),) if found.state is State.NOT_KNOWN else ()
    )
    return Batch(source=source, items=tuple(Item(value=value) for value in found.values), notes=notes, is_file=False)


def _without_objects(found: Recorded) -> paths.Object:
    """A list that records a kind without objects in any namespace, or one that the API server does not serve."""
    group, version = found.kind.group, found.kind.versions[0]
    written = f"{group}/{version}" if group else version
    link = f"/{'apis' if group else 'api'}/{written}/{found.kind.plural}"
    return {"apiVersion": written, "kind": f"{found.kind.kind}List", "metadata": {"selfLink": link}, "items": []}


def _not_read(source: str, reason: str) -> paths.Object:
    """An API server's answer without objects, which makes an audit of the folder INCOMPLETE."""
    return {"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": f"{source}: {reason}"}


def _object_without_secrets(value: paths.Object) -> paths.Object:
    from usher.review import redaction

    kept, status = redaction.without_secrets(value), value.get("status")
    if value.get("kind") == "Node" and isinstance(status, dict) and _OF_NODES in status:
        within = kept.get("status")
        kept["status"] = {**(within if isinstance(within, dict) else {}), _OF_NODES: status[_OF_NODES]}
    return kept


def _place(value: paths.Object) -> tuple[str, str]:
    metadata = paths.metadata(value)
    return paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))


class WorkloadRecord:
    """Takes the pages of all kinds, and writes a line for each workload."""

    def __init__(self, path: Path) -> None:
        from usher.review import records

        self.path = path
        self.problems = 0
        """Kinds whose list ended early."""
        self._number = 0
        self._data = bytearray(records.head_line(version=__version__, anonymised=False))

    def add(self, batch: Batch) -> None:
        """Takes a page of a kind."""
        from usher.review import records

        self.problems += len(batch.problems)
        for item in batch.items:
            self._number += 1
            self._data += records.object_line(item.value, number=self._number, version=__version__)

    def further_batches(self, _api: Lists) -> Iterable[Batch]:
        """No other kinds."""
        return ()

    def write(self) -> str:
        """Writes the record. Returns what it wrote.

        Raises:
            InputError: it cannot be written.
        """
        output.replace_file(self.path, bytes(self._data), what="record of workloads")
        return f"{self.path}: {self._number:,} workloads, {len(self._data):,} bytes"

    def close(self) -> None:
        """Does nothing: the record is written at once."""


_Taker = WorkloadRecord | ObjectFiles


@inputs.command("snapshot")
@click.pass_context
def snapshot(
    context: click.Context,
    *,
    file: Path,
    workloads: Path | None,
    objects: Path | None,
    kubeconfig: Path | None,
    context_name: str | None,
    partial: bool,
) -> None:
    from usher.check.formats import wording
    from usher.cluster import connection, recording

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    recorded = list(recording.read_facts(api))
    unread = inputs.name_unread_kinds(recorded)
    if unread and not partial:
        context.exit(_not_written(file))
    takers = _takers(workloads, objects)
    for taker in takers:
        context.call_on_close(taker.close)
    _list(api, takers)
    unfinished = [taker.path for taker in takers if taker.problems]
    if unfinished and not partial:
        context.exit(_not_written(unfinished[0]))
    data = store.dumps(recorded)
    output.replace_file(file, data, what="snapshot")
    _count(recorded)
    click.echo(f"{file}: {len(data):,} bytes, from {wording.harmless(wording.printable(api.name))}")
    for taker in takers:
        click.echo(taker.write())
    context.exit(main.FAILED if unread or unfinished else 0)


def _count(recorded: Iterable[Recorded]) -> None:
    """Writes how many objects of each kind there are."""
    for each in recorded:
        if each.state is State.KNOWN:
            click.echo(f"{len(each.values):>8,}  {each.kind.resource}")
        elif each.state is State.MISSING:
            click.echo(f"{'none':>8}  {each.kind.resource}: not in this cluster")


def _not_written(path: Path) -> int:
    click.echo(f"usher: {path} is not written (exit code 2); --partial writes what could be read", err=True)
    return main.FAILED


def _takers(workloads: Path | None, objects: Path | None) -> Sequence[_Taker]:
    """The writers that take the objects of a cluster.

    Raises:
        InputError: the folder of objects is not empty, or cannot be made.
    """
    takers: list[_Taker] = []
    if workloads is not None:
        takers.append(WorkloadRecord(workloads))
    if objects is not None:
        takers.append(ObjectFiles(objects))
    return takers


def _list(api: Api, takers: Sequence[_Taker]) -> None:
    """Lists the objects of a cluster once for all takers. Writes kinds that cannot be read to standard error.

    Raises:
        ClusterError: usher may list no kind of workload.
        InputError: the objects cannot be written.
    """
    from usher.check import cluster_objects
    from usher.check.formats import wording

    if not takers:
        return
    listed = ((batch, takers) for batch in cluster_objects.read(api))
    further = ((batch, [taker]) for taker in takers for batch in taker.further_batches(api))
    unread: list[tuple[str, str]] = []
    for batch, interested in itertools.chain(listed, further):
        unread += ((note.source, note.reason) for note in batch.notes)
        for problem in batch.problems:
            click.echo(f"usher: {wording.harmless(wording.printable(wording.located(problem)))}", err=True)
        for taker in interested:
            taker.add(batch)
    for sources, reason in wording.by_reason(unread):
        click.echo(f"usher: {wording.harmless(wording.printable(f'{sources}: {reason}'))}", err=True)
