"""Judges the files of a run in several processes, and remembers verdicts for later runs.

The key of a verdict covers everything that it follows from: the file's name and content, the effect of other files, the
configuration, the facts, and this installation. A verdict is JSON that a schema checks, so a cache from another user
cannot run code. But it could be false, so usher does not use a directory that others may write to.
"""

import contextlib
import hashlib
import itertools
import os
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar, get_args

import msgspec
import orjson
from msgspec import Struct

from usher import __version__, errors, paths
from usher.check import judging, sources, surroundings
from usher.check.batches import Batch
from usher.check.findings import Part
from usher.check.judging import Settings
from usher.check.runner import Watch, unwatched
from usher.check.surroundings import Named, Outline, Surroundings, directory_of_source
from usher.extensions import installed_programs
from usher.policy import excused_findings
from usher.policy.checks import catalogue
from usher.policy.evaluator import Evaluator

_FILES_AT_ONCE: Final = 500
"""Number of files to read before looking up their verdicts."""


class _Entry(Struct, frozen=True):
    """A file with its objects, or with its content and a remembered verdict."""

    found: sources.FileOrBatch
    outline: Outline
    batch: Batch | None
    content: bytes = b""
    kept: "KeptVerdict | None" = None

    def read(self) -> Batch:
        if isinstance(self.found, Batch):
            return self.found
        return self.batch or sources.parse_file(self.found, self.content)


class Share:
    """Reads its files on creation."""

    def __init__(
        self,
        files: Sequence[sources.FileOrBatch],
        *,
        evaluator: Evaluator,
        settings: Settings,
        verdicts: "Verdicts | None",
        share: judging.Share = judging.ALL,
    ) -> None:
        self._evaluator = evaluator
        self._settings = settings
        self._verdicts = verdicts
        self._share = share
        # It reads some files at a time, because their text may be larger than the objects in it.
        parts = (files[start : start + _FILES_AT_ONCE] for start in range(0, len(files), _FILES_AT_ONCE))
        self._entries = deque(entry for part in parts for entry in self._read_files(part))

    @property
    def outlines(self) -> list[Outline]:
        """The outlines of its files."""
        return [entry.outline for entry in self._entries]

    def judged(self, files: Sequence[Outline], *, watch: Watch = unwatched) -> list[Part]:
        """The results of each of its files. Call it once, because it forgets each file after judging.

        Args:
            files: the outlines of all files of the run.
            watch: receives the progress of the run, as if all processes were as fast as this one: objects where this
                process has all files, otherwise files.
        """
        around = Surroundings(files, namespace=self._settings.namespace, load=_objects)
        parts, new, number = list[Part](), list[tuple[Outline, bytes, Part]](), len(self._entries)
        has_all = number == len(files) and self._verdicts is None
        objects = sum(len(entry.batch.items) for entry in self._entries if entry.batch is not None)
        judged = itertools.count(self._share.number, self._share.number)
        before_each = (
            (lambda: watch("objects judged", min(next(judged), objects), objects)) if has_all else lambda: None
        )
        for done in range(1, number + 1):
            entry = self._entries.popleft()
            digest = around.digest(entry.outline) if entry.outline.key else None
            part = None
            if entry.kept is not None and self._verdicts is not None and entry.kept.surroundings == digest:
                part = self._verdicts.part(entry.kept)
            if part is None:
                part = judging.judge(
                    entry.read(),
                    around,
                    evaluator=self._evaluator,
                    settings=self._settings,
                    before_each=before_each,
                    share=self._share,
                )
                if digest is not None and not part.failures and not entry.outline.growths:
                    new.append((entry.outline, digest, part))
            parts.append(part)
            if not has_all:
                watch("files judged", done * len(files) // number, len(files))
        if self._verdicts is not None:
            self._verdicts.put(new)
        return parts

    def _read_files(self, files: Sequence[sources.FileOrBatch]) -> Iterator[_Entry]:
        """Reads some files, and looks up their verdicts together."""
        read = [_content(found) for found in files]
        keys = [b"" if isinstance(each, Batch) else self._key(*each) for each in read]
        wanted = {
            key: each[0].path for key, each in zip(keys, read, strict=True) if key and not isinstance(each, Batch)
        }
        kept = self._verdicts.find(wanted) if self._verdicts is not None else {}
        for each, key in zip(read, keys, strict=True):
            if isinstance(each, Batch):
                yield _Entry(each, surroundings.outline_of(each, namespace=self._settings.namespace), each)
            else:
                yield self._entry(*each, key, kept.get(key))

    def _key(self, file: sources.File, content: bytes) -> bytes:
        """The digest of a file; empty if no verdicts are remembered."""
        if self._verdicts is None:
            return b""
        return self._verdicts.key(sources.path_text(file.path), content, explicit=file.explicit)

    def _entry(self, file: sources.File, content: bytes, key: bytes, kept: "KeptVerdict | None") -> _Entry:
        if kept is not None:
            return _Entry(file, kept.outline, None, content, kept)
        batch = sources.parse_file(file, content)
        path = os.fspath(file.path)
        return _Entry(
            file, surroundings.outline_of(batch, namespace=self._settings.namespace, path=path, key=key), batch
        )


def _content(found: sources.FileOrBatch) -> tuple[sources.File, bytes] | Batch:
    """A file with its content, or the batch of an input that was read already or cannot be read."""
    if isinstance(found, Batch):
        return found
    content = sources.read_content(found)
    return content if isinstance(content, Batch) else (found, content)


def _objects(outline: Outline) -> list[paths.Object]:
    """The objects of a file that was not read, because its verdict is remembered."""
    if not outline.path:
        return []
    batch = sources.load(sources.File(Path(outline.path), explicit=False, size=0))
    return [item.value for item in batch.items]


# A run in one process without a cache needs neither of these imports.


_Sent = TypeVar("_Sent")
Make = Callable[[], Evaluator]
"""Makes an evaluator, because an engine does not survive a fork."""
Remember = Callable[[Evaluator], "AbstractContextManager[Verdicts | None]"]
"""Opens the remembered verdicts for an evaluator."""

FILES_PER_PROCESS: Final = 100
"""Starting a process takes about as long as judging this many files."""
_BYTES_PER_PROCESS: Final = 500_000
"""The same in bytes of a large file."""
_BYTES_PER_OBJECT: Final = 500
_UNEVEN: Final = 1.5
"""How many times as much as its part of all bytes one process may get before the objects are divided."""


def default_number(files: Sequence[sources.FileOrBatch]) -> int:
    """The best number of processes for some files: at most one for each processor."""
    if sys.platform != "linux":  # on other systems, libraries may not survive a fork
        return 1
    wanted = max(len(files) // FILES_PER_PROCESS, sum(map(_size, files)) // _BYTES_PER_PROCESS)
    return max(1, min(len(os.sched_getaffinity(0)), wanted))


def _size(found: sources.FileOrBatch) -> int:
    """About the number of bytes of a file."""
    return found.size if isinstance(found, sources.File) else len(found.items) * _BYTES_PER_OBJECT


class _Failed(Struct, frozen=True):
    """An error of another process, as text because not every exception can be sent."""

    reason: str


class _Process(Protocol):
    """A process of multiprocessing, which few files do not import."""

    @property
    def exitcode(self) -> int | None: ...
    def join(self, timeout: float | None = None) -> None: ...
    def terminate(self) -> None: ...


class _Connection(Protocol):
    """One end of a pipe between processes."""

    def send(self, obj: Any) -> None: ...  # noqa: ANN401 - any value that pickle knows
    def recv(self) -> Any: ...  # noqa: ANN401
    def close(self) -> None: ...


class _Worker(Struct, frozen=True):
    process: _Process
    connection: _Connection

    def received(self, kind: type[_Sent]) -> _Sent:
        try:
            found = self.connection.recv()
        except EOFError:
            self.process.join(1)
            code = self.process.exitcode
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            raise errors.WorkerError(
                f"a process of this run ended before its files were judged ({how}); try --jobs 1, or fewer files"
            ) from None
        if isinstance(found, _Failed):
            raise errors.WorkerError(found.reason)
        if not isinstance(found, kind):
            raise errors.WorkerError(f"a process of this run sent {type(found).__name__}, not {kind.__name__}")
        return found


class Run:
    """The share of this process, and the processes with the other shares, which wait until `judge` is called."""

    def __init__(
        self,
        own: Sequence[sources.FileOrBatch],
        workers: Sequence[_Worker],
        settings: Settings,
        remember: Remember,
        share: judging.Share,
    ) -> None:
        self._own = own
        self._share = share
        self._workers = workers
        self._settings = settings
        self._remember = remember

    def judge(self, evaluator: Evaluator, *, watch: Watch = unwatched) -> Part:
        """The results of all files in their order; reports the progress to `watch`.

        Raises:
            UsherError: a process failed.
        """
        with self._remember(evaluator) as verdicts:
            own = Share(self._own, evaluator=evaluator, settings=self._settings, verdicts=verdicts, share=self._share)
            outlines = [own.outlines, *(worker.received(list) for worker in self._workers)]
            for number, worker in enumerate(self._workers, start=1):
                with contextlib.suppress(BrokenPipeError):  # it has ended, and `received` reports that
                    worker.connection.send((list(chain(*outlines[:number])), list(chain(*outlines[number + 1 :]))))
            parts = [own.judged(list(chain(*outlines)), watch=watch)]
            parts += [worker.received(list) for worker in self._workers]
        judged = Part()
        # Where each process judged a share of every file, the shares of one file belong together.
        for part in chain(*parts) if self._share == judging.ALL else chain(*zip(*parts, strict=True)):
            judged.add(part)
        return judged


def nothing_remembered(_evaluator: Evaluator) -> AbstractContextManager[None]:
    """Remembers no verdicts."""
    return contextlib.nullcontext()


@contextlib.contextmanager
def start_run(
    found: Sequence[sources.FileOrBatch],
    *,
    make: Make,
    settings: Settings,
    number: int,
    remember: Remember = nothing_remembered,
) -> Iterator[Run]:
    """A run of some files in several processes, which end with the context.

    Args:
        make: makes the evaluator of another process.
        number: the number of processes, including this one.
        remember: opens the verdicts of earlier runs.
    """
    divides = number > 1 and remember is nothing_remembered and _is_uneven(found, number)
    if divides:
        # It reads the files once, for all processes.
        found = [sources.load(each) for each in found]
    own, *others = [found] * number if divides else _parts(found, number)
    shares = [judging.Share(each, number) for each in range(number)] if divides else [judging.ALL] * (len(others) + 1)
    workers = list[_Worker]()
    sys.stdout.flush()
    try:
        for part, share in zip(others, shares[1:], strict=True):
            import multiprocessing

            context = multiprocessing.get_context("fork")
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, part, make, settings, remember, share), daemon=True)
            process.start()
            there.close()
            workers.append(_Worker(process, here))
        yield Run(own, workers, settings, remember, shares[0])
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
            worker.process.join()


def _is_uneven(found: Sequence[sources.FileOrBatch], number: int) -> bool:
    """Whether one file is much more than the part of a process."""
    sizes = [_size(each) for each in found]
    return max(sizes, default=0) * number > sum(sizes) * _UNEVEN


def _parts(found: Sequence[sources.FileOrBatch], number: int) -> list[Sequence[sources.FileOrBatch]]:
    """The files in that many ranges with about the same number of bytes; without files, one empty range."""
    sizes = [_size(each) for each in found]
    total, parts, start, seen = sum(sizes) + len(found), list[Sequence[sources.FileOrBatch]](), 0, 0
    for index, size in enumerate(sizes):
        seen += size + 1
        if seen * number >= total * (len(parts) + 1):
            parts.append(found[start : index + 1])
            start = index + 1
    return parts or [found]


def _work(  # noqa: PLR0913, PLR0917 - what a process needs
    connection: _Connection,
    part: Sequence[sources.FileOrBatch],
    make: Make,
    settings: Settings,
    remember: Remember,
    share: judging.Share,
) -> None:
    """The work of another process. It sends results and errors to the first process and prints nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # at once: it has no files to remove
    try:
        evaluator = make()
        with contextlib.closing(evaluator.engine), remember(evaluator) as verdicts:
            own = Share(part, evaluator=evaluator, settings=settings, verdicts=verdicts, share=share)
            has_all = share != judging.ALL
            connection.send([] if has_all else own.outlines)
            before, behind = connection.recv()
            connection.send(own.judged(own.outlines if has_all else [*before, *own.outlines, *behind]))
    except (EOFError, BrokenPipeError):
        pass  # the first process has given up
    except Exception as error:  # noqa: BLE001 - the first process raises it
        known = isinstance(error, errors.UsherError)
        connection.send(_Failed(str(error) if known else f"internal error in a process of this run: {error!r}"))


_DATABASE_FORMAT: Final = 2
_LARGEST_DATABASE: Final = 256 * 2**20
"""The most bytes of the file; then usher starts a new one."""
_KEPT_SECONDS: Final = 30 * 86400
"""Seconds for which a verdict is kept."""
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS verdicts (key BLOB PRIMARY KEY, made INTEGER, named BLOB, surroundings BLOB, verdict BLOB)
"""
_SELECT: Final = "SELECT key, named, surroundings, verdict FROM verdicts WHERE key IN"
_KEYS_AT_ONCE: Final = 500
"""Keys in one query; SQLite accepts at least 999."""
_WAITS: Final = 2.0
"""Seconds for which a run waits while another one writes."""


def _counter(kind: Any, value: dict[str, int]) -> Counter[Any]:  # noqa: ANN401 - msgspec gives any type
    """A counter from its JSON: msgspec reads no counters of its own."""
    return Counter(msgspec.convert(value, dict[get_args(kind)[0], int], str_keys=True))  # type: ignore[misc]


_PARTS: Final = msgspec.json.Decoder(Part, dec_hook=_counter)


class KeptVerdict(Struct, frozen=True):
    """A remembered verdict."""

    outline: Outline
    surroundings: bytes
    """The digest of what other files contributed."""
    verdict: bytes


class _Database(Protocol):
    """A database of SQLite, which few files do not import."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Iterable[Any]: ...
    def executemany(self, sql: str, parameters: Iterable[Any], /) -> object: ...
    def close(self) -> None: ...
    def __enter__(self) -> object: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> object: ...


class Verdicts:
    """The verdicts of one configuration, with the facts and the installation of this run."""

    def __init__(self, database: _Database, file: Path, basis: bytes, *, today: date) -> None:
        self._today = str(today).encode()
        self._database = database
        self._file = file
        self._basis = basis

    def key(self, source: str, content: bytes, *, explicit: bool) -> bytes:
        """The digest of a file; `explicit` is true if the user named it."""
        name = orjson.dumps([source, explicit])
        # What an author suppresses may end today.
        day = self._today if excused_findings.ANNOTATION.encode() in content else b""
        return hashlib.sha256(self._basis + len(name).to_bytes(8) + name + day + content).digest()

    def find(self, files: Mapping[bytes, Path]) -> dict[bytes, KeptVerdict]:
        """The remembered verdicts about files, by the digests of the files."""
        import sqlite3

        found, keys = dict[bytes, KeptVerdict](), list(files)
        with contextlib.suppress(sqlite3.Error):
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                some = keys[start : start + _KEYS_AT_ONCE]
                for key, *row in self._database.execute(f"{_SELECT} ({','.join('?' * len(some))})", some):
                    with contextlib.suppress(TypeError, ValueError, KeyError):
                        found[key] = _decode_verdict(key, files[key], *row)
        return found

    def part(self, kept: KeptVerdict) -> Part | None:
        """The part of the report in a verdict; None if it is damaged."""
        with contextlib.suppress(msgspec.DecodeError, ValueError):
            return _PARTS.decode(kept.verdict)
        return None

    def put(self, judged: Iterable[tuple[Outline, bytes, Part]]) -> None:
        """Remembers verdicts. If this fails, the next run judges again."""
        import sqlite3

        now = int(time.time())
        rows = [
            (outline.key, now, _encode_names(outline), surroundings, msgspec.json.encode(part))
            for outline, surroundings, part in judged
        ]
        if not rows:
            return
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", rows)
                self._database.execute("DELETE FROM verdicts WHERE made < ?", (now - _KEPT_SECONDS,))
        except sqlite3.OperationalError:
            pass  # another run writes, or the disk is full
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                self._file.unlink()


def _decode_verdict(key: bytes, path: Path, named: bytes, surroundings: bytes, verdict: bytes) -> KeptVerdict:
    objects, offers = orjson.loads(named)
    names = [Named(*each) for each in objects]
    if not all(type(text) is str for each in names for text in each):
        raise TypeError("a name is not a text")
    source = sources.path_text(path)
    outline = Outline(
        source=source,
        directory=directory_of_source(source),
        named=names,
        offers=bool(offers),
        offered=None,
        path=os.fspath(path),
        key=key,
    )
    return KeptVerdict(outline, surroundings, verdict)


def _encode_names(outline: Outline) -> bytes:
    named = [tuple(each) for each in outline.named]
    return orjson.dumps([named, outline.offers])


@contextlib.contextmanager
def open_verdicts(evaluator: Evaluator, settings: Settings, *, facts: bytes) -> Iterator[Verdicts | None]:
    """The remembered verdicts for an evaluator and settings; None if no cache can be used.

    Args:
        facts: a digest of the facts.
    """
    import sqlite3

    try:
        file = installed_programs.cache_directory() / f"verdicts-{_DATABASE_FORMAT}.sqlite"
        database = _database(file)
    except (OSError, RuntimeError, sqlite3.OperationalError):  # RuntimeError: no home directory
        yield None
        return
    except sqlite3.DatabaseError:
        file.unlink(missing_ok=True)
        yield None
        return
    with contextlib.closing(database):
        yield Verdicts(database, file, _basis(evaluator, settings, facts), today=evaluator.today())


def _database(file: Path) -> _Database:
    import sqlite3

    folder = file.parent
    installed_programs.make_cache_folder(folder)
    for each in (folder, file):
        if (each is folder or each.exists()) and not installed_programs.belongs_to_user(each):
            raise PermissionError(f"{each} is not the user's own")
    if file.exists() and file.stat().st_size > _LARGEST_DATABASE:
        file.unlink()
    database = sqlite3.connect(file, timeout=_WAITS)
    file.chmod(0o600)
    # A lost verdict is made again, so writes need not reach the disk.
    database.execute("PRAGMA synchronous=OFF")
    database.execute(_TABLE)
    return database


def _basis(evaluator: Evaluator, settings: Settings, facts: bytes) -> bytes:
    """The digest of everything that verdicts depend on, except the files."""
    today = evaluator.today()
    parts = [
        __version__.encode(),
        _installation(),
        evaluator.engine.name.encode(),
        evaluator.config.model_dump_json().encode(),
        orjson.dumps([settings.command.value, settings.namespace, settings.only_namespace, settings.mutated]),
        orjson.dumps(settings.facts_of_files),
        orjson.dumps([each.expires < today for each in evaluator.config.enforcement.exceptions]),
        facts,
    ]
    return hashlib.sha256(b"".join(len(each).to_bytes(8) + each for each in parts)).digest()


def _installation() -> bytes:
    """A digest of the names, sizes and times of the files of this installation: verdicts depend on its code too."""
    found = [
        (path, status.st_size, status.st_mtime_ns)
        for top in {Path(__file__).parents[1], catalogue.find()}
        for folder, _, names in os.walk(top)
        for name in names
        if name.endswith((".py", ".wasm", ".json", ".rego")) and (status := os.stat(path := f"{folder}/{name}"))  # noqa: PTH116 - faster
    ]
    return hashlib.sha256(orjson.dumps(sorted(found))).digest()
