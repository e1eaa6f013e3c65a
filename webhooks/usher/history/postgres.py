"""A history in PostgreSQL. No message holds the password of its URL."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from usher import errors
from usher.history.sessions import Row

if TYPE_CHECKING:
    import psycopg

SCHEMES: Final = ("postgresql://", "postgres://")

_CONNECTING: Final = 10
"""Seconds for a connection."""
_LOCK: Final = 0x75736872
"""The advisory lock that a run holds: https://www.postgresql.org/docs/current/explicit-locking.html."""


class _Session:
    def __init__(self, connection: "psycopg.Connection[tuple[str, ...]]") -> None:
        self._connection = connection

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[Row]:
        cursor = self._connection.execute(_adapted(statement), parameters)
        return [] if cursor.description is None else list(cursor.fetchall())

    def many(self, statement: str, parameters: Iterable[Sequence[str]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_adapted(statement), parameters)


@contextlib.contextmanager
def session(url: str) -> Iterator[_Session]:
    """A transaction, beside which no other run changes the history. It counts as a whole, or not at all after an error.

    Raises:
        InputError: psycopg is not installed, or the database cannot be used.
    """
    try:
        import psycopg
    except ImportError:
        raise errors.InputError(
            "a history in PostgreSQL needs the library psycopg: pip install 'gpu-usher[history-postgres]'"
        ) from None
    if not _is_readable(url):
        # The message of the library would repeat parts of the URL.
        raise errors.InputError(
            "the URL of the history cannot be read; write postgresql://USER@HOST/DATABASE, and special characters "
            "of the password as %XX"
        )
    place = shown(url)
    try:
        with psycopg.connect(url, connect_timeout=_CONNECTING) as connection:
            connection.execute("SET LOCAL lock_timeout = '60s'")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            yield _Session(connection)
    except psycopg.Error as error:
        reason = _without_password(str(error).strip().splitlines()[0] if str(error).strip() else repr(error), url)
        raise errors.InputError(f"{place}: the history cannot be used: {reason}") from None


def shown(url: str) -> str:
    """The URL without its password and parameters."""
    scheme, _, rest = url.partition("://")
    # A password with a slash or a question mark ends at the last @ all the same.
    user, at, host = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{host.partition('?')[0]}"


def _is_readable(url: str) -> bool:
    import psycopg
    from psycopg import conninfo

    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return False
    # Half of a password that is not escaped looks like a port.
    return all(not port or port.isdecimal() for port in str(parts.get("port") or "").split(","))


def _without_password(text: str, url: str) -> str:
    from psycopg import conninfo

    secret = conninfo.conninfo_to_dict(url).get("password")
    for each in (url, secret and str(secret), secret and unquote(str(secret))):
        text = text.replace(each, "***") if each else text
    return text


def _adapted(statement: str) -> bytes:
    """The statement with the marks of psycopg."""
    return statement.replace("%", "%%").replace("?", "%s").encode()
