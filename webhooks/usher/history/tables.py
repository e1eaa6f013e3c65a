"""The tables of a history, and how they are read and written. The SQL is that of SQLite and of PostgreSQL.

A version is added by a list of statements at the end of MIGRATIONS; older histories get them at their next use.
"""

import json
from typing import Final

from usher import errors
from usher.audit.document import Audit, Point, Subject
from usher.history import clusters, comparison, past
from usher.history.comparison import Change
from usher.history.past import Past, Seen
from usher.history.sessions import Row, Session, clean

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
    # `cluster` was the name of the cluster. Since then it is the key of `usher.history.clusters`.
    (
        "ALTER TABLE gpu_usher_audits ADD COLUMN name TEXT NOT NULL DEFAULT ''",
        "UPDATE gpu_usher_audits SET name = cluster",
    ),
)

_FINDING: Final = "fingerprint, code, title, category, api_version, kind, namespace, name, first_seen, last_seen, gone"
_UPSERT: Final = f"""INSERT INTO gpu_usher_findings (cluster, {_FINDING}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (cluster, fingerprint) DO UPDATE SET code = excluded.code, title = excluded.title,
    category = excluded.category, api_version = excluded.api_version, kind = excluded.kind,
    namespace = excluded.namespace, name = excluded.name, first_seen = excluded.first_seen,
    last_seen = excluded.last_seen, gone = excluded.gone"""  # noqa: S608 - names of our own columns

_WHOLE: Final = "AND left_out NOT LIKE '%\"--namespace %'"


def prepare(session: Session, *, place: str) -> None:
    """Makes the tables, or brings those of an earlier version up to date.

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


def read(session: Session, audit: Audit, *, key: str) -> Past:
    """What is known of the cluster beside an audit: other audits, and findings that are not gone before this one."""
    points = session.rows(
        # An earlier usher added audits of one namespace to the history of their cluster.
        f"SELECT point FROM gpu_usher_audits WHERE cluster = ? {'' if audit.cluster.namespace else _WHOLE} "  # noqa: S608
        "ORDER BY taken DESC LIMIT ?",
        [key, str(comparison.POINTS)],
    )
    left_out = session.rows(
        "SELECT taken, left_out FROM gpu_usher_audits WHERE cluster = ? AND left_out <> '[]' AND taken IN "
        "(SELECT last_seen FROM gpu_usher_findings WHERE cluster = ? AND gone = '')",
        [key, key],
    )
    findings = session.rows(
        f"SELECT {_FINDING} FROM gpu_usher_findings "  # noqa: S608 - names of our own columns
        "WHERE cluster = ? AND (gone = '' OR gone >= ?)",
        [key, audit.taken],
    )
    return Past(
        points=tuple(Point.model_validate_json(point) for (point,) in reversed(points)),
        left_out={taken: frozenset(json.loads(sources)) for taken, sources in left_out},
        findings=tuple(map(_seen, findings)),
    )


def write(session: Session, audit: Audit, change: Change, *, key: str) -> None:
    """Adds an audit, and its findings as they are from now on. An audit that is there already is replaced."""
    session.rows(
        "INSERT INTO gpu_usher_audits (cluster, taken, point, left_out, name) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (cluster, taken) DO UPDATE SET point = excluded.point, left_out = excluded.left_out, "
        "name = excluded.name",
        clean(
            [
                key,
                audit.taken,
                past.point(audit).model_dump_json(by_alias=True),
                json.dumps(sorted(past.left_out(audit))),
                clusters.named(audit.cluster.name, audit.cluster),
            ]
        ),
    )
    session.many(_UPSERT, (clean([key, *_fields(each)]) for each in change.written))


def _fields(seen: Seen) -> list[str]:
    of = seen.subject
    subject = [of.api_version, of.kind, of.namespace, of.name]
    return [
        seen.fingerprint,
        seen.code,
        seen.title,
        seen.category,
        *subject,
        seen.first_seen,
        seen.last_seen,
        seen.gone,
    ]


def _seen(row: Row) -> Seen:
    fingerprint, code, title, category, api_version, kind, namespace, name, first_seen, last_seen, gone = row
    return Seen(
        fingerprint=fingerprint,
        code=code,
        title=title,
        category=category,
        subject=Subject(api_version=api_version, kind=kind, namespace=namespace, name=name),
        first_seen=first_seen,
        last_seen=last_seen,
        gone=gone,
    )
