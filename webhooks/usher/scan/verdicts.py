"""Remembers verdicts of earlier runs in a file of the user's cache directory.

The key of a verdict covers everything that it follows from: the file's name and content, the effect of other files, the
configuration, the facts, and this installation. A verdict is JSON that a schema checks, so a cache from another user
cannot run code. But it could be false, so usher does not use a directory that others may write to.
"""

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from usher import __version__, cache_directory
from usher.dataclass import dataclass
from usher.policy.checks import bundle
from usher.policy.evaluator import Evaluator
from usher.scan import sources
from usher.scan.judging import Settings
from usher.scan.outlines import Named, Outline, directory_of
from usher.scan.part import Part

_FORMAT: Final = 2
_LARGEST: Final = 256 * 2**20
"""The most bytes of the file; then usher starts a new one."""
_KEPT: Final = 30 * 86400
"""Seconds for which a verdict is kept."""
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS verdicts (key BLOB PRIMARY KEY, made INTEGER, named BLOB, surroundings BLOB, verdict BLOB)
"""
_SELECT: Final = "SELECT key, named, surroundings, verdict FROM verdicts WHERE key IN"
_AT_ONCE: Final = 500
"""Keys in one query; SQLite accepts at least 999."""
_WAITS: Final = 2.0
"""Seconds for which a run waits while another one writes."""


_PARTS: Final = TypeAdapter(Part)


@dataclass(frozen=True, slots=True)
class Kept:
    """A remembered verdict."""

    outline: Outline
    surroundings: bytes
    """The digest of what other files contributed."""
    verdict: bytes


class Verdicts:
    """The verdicts of one configuration, with the facts and the installation of this run."""

    def __init__(self, database: sqlite3.Connection, file: Path, basis: bytes) -> None:
        self._database = database
        self._file = file
        self._basis = basis

    def key(self, source: str, content: bytes, *, explicit: bool) -> bytes:
        """The digest of a file; `explicit` is true if the user named it."""
        name = orjson.dumps([source, explicit])
        return hashlib.sha256(self._basis + len(name).to_bytes(8) + name + content).digest()

    def find(self, files: Mapping[bytes, Path]) -> dict[bytes, Kept]:
        """The remembered verdicts about files, by the digests of the files."""
        found, keys = dict[bytes, Kept](), list(files)
        with contextlib.suppress(sqlite3.Error):
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                for key, *row in self._database.execute(f"{_SELECT} ({','.join('?' * len(some))})", some):
                    with contextlib.suppress(TypeError, ValueError, KeyError):
                        found[key] = _kept(key, files[key], *row)
        return found

    def part(self, kept: Kept) -> Part | None:
        """The part of the report in a verdict; None if it is damaged."""
        with contextlib.suppress(ValidationError):
            return _PARTS.validate_json(kept.verdict)
        return None

    def put(self, judged: Iterable[tuple[Outline, bytes, Part]]) -> None:
        """Remembers verdicts. If this fails, the next run judges again."""
        now = int(time.time())
        rows = [
            (outline.key, now, _named(outline), surroundings, _PARTS.dump_json(part))
            for outline, surroundings, part in judged
        ]
        if not rows:
            return
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", rows)
                self._database.execute("DELETE FROM verdicts WHERE made < ?", (now - _KEPT,))
        except sqlite3.OperationalError:
            pass  # another run writes, or the disk is full
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                self._file.unlink()


def _kept(key: bytes, path: Path, named: bytes, surroundings: bytes, verdict: bytes) -> Kept:
    objects, offers = orjson.loads(named)
    names = [Named(*each) for each in objects]
    if not all(type(text) is str for each in names for text in each):
        raise TypeError("a name is not a text")
    source = sources.name(path)
    outline = Outline(
        source=source,
        directory=directory_of(source),
        named=names,
        offers=bool(offers),
        offered=None,
        path=os.fspath(path),
        key=key,
    )
    return Kept(outline, surroundings, verdict)


def _named(outline: Outline) -> bytes:
    named = [tuple(each) for each in outline.named]
    return orjson.dumps([named, outline.offers])


@contextlib.contextmanager
def opened(evaluator: Evaluator, settings: Settings, *, facts: bytes) -> Iterator[Verdicts | None]:
    """The remembered verdicts for an evaluator and settings; None if no cache can be used.

    Args:
        evaluator: its configuration and policies.
        settings: the settings of the run.
        facts: a digest of the facts.
    """
    try:
        file = cache_directory.find() / f"verdicts-{_FORMAT}.sqlite"
        database = _database(file)
    except (OSError, RuntimeError, sqlite3.OperationalError):  # RuntimeError: no home directory
        yield None
        return
    except sqlite3.DatabaseError:
        file.unlink(missing_ok=True)
        yield None
        return
    with contextlib.closing(database):
        yield Verdicts(database, file, _basis(evaluator, settings, facts))


def _database(file: Path) -> sqlite3.Connection:
    folder = file.parent
    cache_directory.make(folder)
    for each in (folder, file):
        if (each is folder or each.exists()) and not cache_directory.is_own(each):
            raise PermissionError(f"{each} is not the user's own")
    if file.exists() and file.stat().st_size > _LARGEST:
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
        orjson.dumps([each.expires < today for each in evaluator.config.enforcement.exceptions]),
        facts,
    ]
    return hashlib.sha256(b"".join(len(each).to_bytes(8) + each for each in parts)).digest()


def _installation() -> bytes:
    """A digest of the names, sizes and times of the files of this installation: verdicts depend on its code too."""
    found = [
        (path, status.st_size, status.st_mtime_ns)
        for top in {Path(__file__).parents[1], bundle.find()}
        for folder, _, names in os.walk(top)
        for name in names
        if name.endswith((".py", ".wasm", ".json", ".rego")) and (status := os.stat(path := f"{folder}/{name}"))  # noqa: PTH116 - faster
    ]
    return hashlib.sha256(orjson.dumps(sorted(found))).digest()
