"""Records audits in a history: a file of SQLite, or a database of PostgreSQL. The SQL of the tables is that of both.

The uid of the namespace kube-system identifies a cluster. Names change with contexts, and two clusters may have the
same name. The name decides if usher could not read the uid, and in histories of an earlier usher, which only had names.

Add a version as a list of statements at the end of MIGRATIONS. Older histories run them at their next use.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import unquote

from usher import errors
from usher.audit.document import Audit, Cluster, Point, Subject, Trend
from usher.audit.store import earlier_audits
from usher.audit.store.earlier_audits import Change, Past, Seen

Row = Sequence[str]


class Session(Protocol):
    """A transaction. `?` in a statement stands for a parameter."""

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[Row]:
        """The rows of a query; it also runs statements without rows."""
        ...

    def many(self, statement: str, parameters: Iterable[Sequence[str]]) -> None:
        """Runs a statement once for each of the parameters."""
        ...


def clean_texts(texts: Iterable[str]) -> list[str]:
    """Texts that every database accepts: without NUL, and with whole characters only."""
    return [each.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode() for each in texts]


_LOCK_SECONDS: Final = 60.0
"""Seconds to wait for another run that is writing."""
_APPLICATION: Final = 0x75736872
"""Marks the file as a history of usher (https://sqlite.org/pragma.html#pragma_application_id)."""

_REMEDIES: Final = (
    ("SQLITE_CANTOPEN", "see that usher may write the file, and other files into its folder"),
    ("SQLITE_READONLY", "see that usher may write the file and its folder, and that the disk is not read-only"),
    ("SQLITE_PERM", "see that usher may write the file and its folder"),
    ("SQLITE_FULL", "make room on its disk"),
    ("SQLITE_BUSY", f"another audit has held it for {_LOCK_SECONDS:.0f} s; see that none hangs"),
    ("SQLITE_NOTADB", "name another file"),
    ("SQLITE_CORRUPT", "restore a copy, or name a new file"),
    ("SQLITE_IOERR", "see that its disk has room, and can lock files as SQLite needs it: NFS often cannot"),
)
"""Remedies by SQLite's error code: https://www.sqlite.org/rescode.html."""


class _SqliteSession:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[Row]:
        return self._connection.execute(statement, parameters).fetchall()

    def many(self, statement: str, parameters: Iterable[Sequence[str]]) -> None:
        self._connection.executemany(statement, parameters)


@contextlib.contextmanager
def sqlite_session(path: Path) -> Iterator[_SqliteSession]:
    """A transaction that locks out other runs. An error rolls all of it back.

    Raises:
        InputError: the file cannot be read or written, or is not a history.
    """
    try:
        connection = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)
        with contextlib.closing(connection):
            # SQLite does not read the file before the first statement.
            connection.execute("BEGIN IMMEDIATE")
            try:
                _check_application(connection, path)
                yield _SqliteSession(connection)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
    except sqlite3.Error as error:
        raise errors.InputError(f"{path}: the history cannot be used: {_sqlite_reason(error, path)}") from None


def _sqlite_reason(error: sqlite3.Error, path: Path) -> str:
    """Why the file cannot be used, with a remedy. SQLite has the same message for many causes."""
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


POSTGRES_SCHEMES: Final = ("postgresql://", "postgres://")

_CONNECTING: Final = 10
"""Seconds to wait for a connection."""
_ADVISORY_LOCK: Final = 0x75736872
"""The advisory lock that a run holds: https://www.postgresql.org/docs/current/explicit-locking.html."""


class _PostgresSession:
    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - the type is that of a library that may not be installed
        self._connection = connection

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[Row]:
        cursor = self._connection.execute(_adapted(statement), parameters)
        return [] if cursor.description is None else list(cursor.fetchall())

    def many(self, statement: str, parameters: Iterable[Sequence[str]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_adapted(statement), parameters)


@contextlib.contextmanager
def postgres_session(url: str) -> Iterator[_PostgresSession]:
    """A transaction that locks the history against other runs. An error rolls all of it back.

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
        # The library's message would repeat parts of the URL.
        raise errors.InputError(
            "the URL of the history cannot be read; write postgresql://USER@HOST/DATABASE, and special characters "
            "of the password as %XX"
        )
    place = shown_url(url)
    try:
        with psycopg.connect(url, connect_timeout=_CONNECTING) as connection:
            connection.execute("SET LOCAL lock_timeout = '60s'")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_ADVISORY_LOCK])
            yield _PostgresSession(connection)
    except psycopg.Error as error:
        reason = _without_password(str(error).strip().splitlines()[0] if str(error).strip() else repr(error), url)
        raise errors.InputError(f"{place}: the history cannot be used: {reason}") from None


def shown_url(url: str) -> str:
    """The URL without its password and parameters."""
    scheme, _, rest = url.partition("://")
    # Even a password with a slash or a question mark ends at the last @.
    user, at, host = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{host.partition('?')[0]}"


def _is_readable(url: str) -> bool:
    import psycopg
    from psycopg import conninfo

    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return False
    # The rest of an unescaped password looks like a port.
    return all(not port or port.isdecimal() for port in str(parts.get("port") or "").split(","))


def _without_password(text: str, url: str) -> str:
    from psycopg import conninfo

    secret = conninfo.conninfo_to_dict(url).get("password")
    for each in (url, secret and str(secret), secret and unquote(str(secret))):
        text = text.replace(each, "***") if each else text
    return text


def _adapted(statement: str) -> bytes:
    """The statement with psycopg's placeholders."""
    return statement.replace("%", "%%").replace("?", "%s").encode()


def history_key(session: Session, cluster: Cluster, *, former: Sequence[str] = ()) -> str:
    """The key of the history's rows. Rows with a name as key get the id as soon as usher knows it.

    Args:
        session: a session with up-to-date tables.
        former: names that an earlier usher gave to the cluster.
    """
    names = [key_of_name(each, cluster) for each in (cluster.name, *former)]
    if not cluster.id:
        return _by_names(session, names)
    found = key_of_name(cluster.id, cluster)
    if not _has_rows(session, found):
        _adopt_rows(session, found, names)
    return found


def key_of_name(name: str, cluster: Cluster) -> str:
    """A name or an id of a cluster, with the namespace if the audit covers only one."""
    (found,) = clean_texts([f"{name}\nnamespace {cluster.namespace}" if cluster.namespace else name])
    return found


def _by_names(session: Session, names: Sequence[str]) -> str:
    """The key in use for audits with a name; the name itself if there are no audits, or they belong to several
    clusters.
    """
    for name in names:
        rows = session.rows("SELECT DISTINCT cluster FROM gpu_usher_audits WHERE name = ?", [name])
        if len(rows) == 1:
            return rows[0][0]
        if rows:
            break
    return names[0]


def _adopt_rows(session: Session, found: str, names: Sequence[str]) -> None:
    """Moves the rows of the first name that has any to an id."""
    old = next((each for each in names if _has_rows(session, each)), None)
    if old is not None:
        session.rows("UPDATE gpu_usher_audits SET cluster = ? WHERE cluster = ?", [found, old])
        session.rows("UPDATE gpu_usher_findings SET cluster = ? WHERE cluster = ?", [found, old])


def _has_rows(session: Session, found: str) -> bool:
    return bool(session.rows("SELECT taken FROM gpu_usher_audits WHERE cluster = ? LIMIT 1", [found]))


MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE gpu_usher_audits (
            cluster TEXT NOT NULL, taken TEXT NOT NULL, point TEXT NOT NULL, left_out TEXT NOT NULL,
            PRIMARY KEY (cluster, taken))""",
        """CREATE TABLE gpu_usher_findings (
            cluster TEXT NOT NULL, fingerprint TEXT NOT NULL, code TEXT NOT NULL, title TEXT NOT NULL,
            category TEXT NOT NULL, api_version TEXT NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL,
            name TEXT NOT NULL, first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, gone TEXT NOT NULL,
            PRIMARY KEY (cluster, fingerprint))""",
    ),
    # `cluster` was the name of the cluster. Since then it is what `history_key` gives.
    (
        "ALTER TABLE gpu_usher_audits ADD COLUMN name TEXT NOT NULL DEFAULT ''",
        "UPDATE gpu_usher_audits SET name = cluster",
    ),
)

_SUBJECT: Final = ("api_version", "kind", "namespace", "name")
_FIELDS_OF_SEEN: Final = ("fingerprint", "code", "title", "category", "first_seen", "last_seen", "gone")
_FINDING_COLUMNS: Final = ", ".join((*_FIELDS_OF_SEEN, *_SUBJECT))
_UPSERT_FINDING: Final = f"""INSERT INTO gpu_usher_findings (cluster, {_FINDING_COLUMNS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (cluster, fingerprint) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in (*_FIELDS_OF_SEEN[1:], *_SUBJECT))}"""  # noqa: S608 - names of our own columns

_OF_ALL: Final = "AND left_out NOT LIKE '%\"--in-namespace %' AND left_out NOT LIKE '%\"--namespace %'"
"""Leaves out audits of one namespace; audits of earlier versions have the old spelling."""


def prepare_tables(session: Session, *, place: str) -> None:
    """Makes the tables, or migrates tables of an earlier version.

    Raises:
        InputError: a later usher has written them.
    """
    session.rows("CREATE TABLE IF NOT EXISTS gpu_usher_history (version TEXT NOT NULL)")
    version = int(next(iter(session.rows("SELECT version FROM gpu_usher_history")), ["0"])[0])
    if version > len(MIGRATIONS):
        raise errors.InputError(
            f"{place}: the history has version {version}, and this usher knows version {len(MIGRATIONS)}. "
            "Use the usher that wrote it, or another history"
        )
    if version < len(MIGRATIONS):
        for statement in (each for migration in MIGRATIONS[version:] for each in migration):
            session.rows(statement)
        session.rows("DELETE FROM gpu_usher_history")
        session.rows("INSERT INTO gpu_usher_history (version) VALUES (?)", [str(len(MIGRATIONS))])


def read_past(session: Session, audit: Audit, *, key: str) -> Past:
    """The past of the cluster of an audit: other audits, and findings that were not gone before this audit."""
    points = session.rows(
        # An earlier usher added audits of one namespace to the history of their cluster.
        f"SELECT point FROM gpu_usher_audits WHERE cluster = ? {'' if audit.cluster.namespace else _OF_ALL} "  # noqa: S608
        "ORDER BY taken DESC LIMIT ?",
        [key, str(earlier_audits.POINTS)],
    )
    left_out = session.rows(
        "SELECT taken, left_out FROM gpu_usher_audits WHERE cluster = ? AND left_out <> '[]' AND taken IN "
        "(SELECT last_seen FROM gpu_usher_findings WHERE cluster = ? AND gone = '')",
        [key, key],
    )
    findings = session.rows(
        f"SELECT {_FINDING_COLUMNS} FROM gpu_usher_findings "  # noqa: S608 - names of our own columns
        "WHERE cluster = ? AND (gone = '' OR gone >= ?)",
        [key, audit.taken],
    )
    return Past(
        points=tuple(Point.model_validate_json(point) for (point,) in reversed(points)),
        left_out={taken: frozenset(json.loads(sources)) for taken, sources in left_out},
        findings=tuple(map(_seen_of_row, findings)),
    )


def write_audit(session: Session, audit: Audit, change: Change, *, key: str) -> None:
    """Adds an audit and the new state of its findings. It replaces an audit that exists already."""
    session.rows(
        "INSERT INTO gpu_usher_audits (cluster, taken, point, left_out, name) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (cluster, taken) DO UPDATE SET point = excluded.point, left_out = excluded.left_out, "
        "name = excluded.name",
        clean_texts(
            [
                key,
                audit.taken,
                earlier_audits.point_of(audit).model_dump_json(by_alias=True),
                json.dumps(sorted(earlier_audits.left_out_of(audit))),
                key_of_name(audit.cluster.name, audit.cluster),
            ]
        ),
    )
    session.many(_UPSERT_FINDING, (clean_texts([key, *_finding_row(each)]) for each in change.written))


def _finding_row(seen: Seen) -> list[str]:
    fields = [getattr(seen, name) for name in _FIELDS_OF_SEEN]
    return [*fields, *(getattr(seen.subject, name) for name in _SUBJECT)]


def _seen_of_row(row: Row) -> Seen:
    fields = dict(zip(_FIELDS_OF_SEEN, row, strict=False))
    return Seen(subject=Subject(**dict(zip(_SUBJECT, row[len(fields) :], strict=True))), **fields)


def record(place: str, audit: Audit, *, former: Sequence[str] = ()) -> Trend:
    """Adds an audit to a history, and compares it with the earlier audits. Two simultaneous runs wait for each other.

    Args:
        place: a file of SQLite, which is made if it is missing, or a URL of PostgreSQL.
        audit: the audit; it ignores its `trend`.
        former: names that an earlier usher gave to the cluster.

    Raises:
        InputError: the history cannot be read or written, or a later usher wrote it. The history stays unchanged.
    """
    with postgres_session(place) if place.startswith(POSTGRES_SCHEMES) else sqlite_session(Path(place)) as session:
        prepare_tables(session, place=shown_place(place))
        try:
            key = history_key(session, audit.cluster, former=former)
            known = read_past(session, audit, key=key)
        except ValueError as error:
            reason = str(error).splitlines()[0]
            raise errors.InputError(
                f"{shown_place(place)}: the history holds something else than usher wrote: {reason}"
            ) from None
        change = earlier_audits.compare(known, audit)
        write_audit(session, audit, change, key=key)
    return change.trend


def shown_place(place: str) -> str:
    """The place as messages show it, without a password."""
    return shown_url(place) if place.startswith(POSTGRES_SCHEMES) else place


def check_place(place: str) -> None:
    """Raises InputError for a URL of a database that cannot hold a history. It checks a file only on use."""
    scheme, is_url, _ = place.partition("://")
    if is_url and not place.startswith(POSTGRES_SCHEMES):
        raise errors.InputError(
            f"a history cannot be in {scheme[:40]}://; name a file of SQLite, or postgresql://USER@HOST/DATABASE"
        )
