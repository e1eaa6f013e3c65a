"""A history in a file of SQLite."""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from usher import errors
from usher.history.sessions import Row

_WAIT: Final = 60.0
"""Seconds to wait for another run that is writing."""
_APPLICATION: Final = 0x75736872
"""Marks the file as a history of usher (https://sqlite.org/pragma.html#pragma_application_id)."""

_REMEDIES: Final = (
    ("SQLITE_CANTOPEN", "see that usher may write the file, and other files into its folder"),
    ("SQLITE_READONLY", "see that usher may write the file and its folder, and that the disk is not read-only"),
    ("SQLITE_PERM", "see that usher may write the file and its folder"),
    ("SQLITE_FULL", "make room on its disk"),
    ("SQLITE_BUSY", f"another audit has held it for {_WAIT:.0f} s; see that none hangs"),
    ("SQLITE_NOTADB", "name another file"),
    ("SQLITE_CORRUPT", "restore a copy, or name a new file"),
    ("SQLITE_IOERR", "see that its disk has room, and can lock files as SQLite needs it: NFS often cannot"),
)
"""By the code of SQLite: https://www.sqlite.org/rescode.html."""


class _Session:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[Row]:
        return self._connection.execute(statement, parameters).fetchall()

    def many(self, statement: str, parameters: Iterable[Sequence[str]]) -> None:
        self._connection.executemany(statement, parameters)


@contextlib.contextmanager
def session(path: Path) -> Iterator[_Session]:
    """A transaction, which no other run reads or writes beside. It counts as a whole, or not at all after an error.

    Raises:
        InputError: the file cannot be read or written, or is something else.
    """
    try:
        connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        with contextlib.closing(connection):
            # Until the first statement SQLite has not read the file.
            connection.execute("BEGIN IMMEDIATE")
            try:
                _check_application(connection, path)
                yield _Session(connection)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
    except sqlite3.Error as error:
        raise errors.InputError(f"{path}: the history cannot be used: {_reason(error, path)}") from None


def _reason(error: sqlite3.Error, path: Path) -> str:
    """Why the file cannot be used, and what to do about it. SQLite says the same for many causes."""
    if path.is_dir():
        return "this is a folder; name a file in it, for example history.sqlite"
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist; make it, or name another file"
    # Extended codes begin with the name of the code: SQLITE_READONLY_DBMOVED.
    name = getattr(error, "sqlite_errorname", "") or ""
    remedy = next((remedy for code, remedy in _REMEDIES if name.startswith(code)), "")
    return f"{error}; {remedy}" if remedy else str(error)


def _check_application(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != _APPLICATION:
        raise errors.InputError(f"{path}: this database is not a history of usher; name another file")
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
