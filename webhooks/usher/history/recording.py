"""Records audits."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from usher import errors
from usher.audit.document import Audit, Trend
from usher.history import clusters, comparison, postgres, sessions, sqlite_file, tables


def record(place: str, audit: Audit, *, former: Sequence[str] = ()) -> Trend:
    """Adds an audit to a history, and compares it with the audits before. Two runs at once wait for each other.

    Args:
        place: a file of SQLite, which is made if it is missing, or a URL of PostgreSQL.
        audit: its `trend` is not looked at.
        former: names that an earlier usher gave to the cluster.

    Raises:
        InputError: the history cannot be read or written, or a later usher has written it; it is as it was before.
    """
    with _session(place) as session:
        tables.prepare(session, place=shown(place))
        try:
            key = clusters.key(session, audit.cluster, former=former)
            known = tables.read(session, audit, key=key)
        except ValueError as error:
            reason = str(error).splitlines()[0]
            raise errors.InputError(
                f"{shown(place)}: the history holds something else than usher wrote: {reason}"
            ) from None
        change = comparison.compare(known, audit)
        tables.write(session, audit, change, key=key)
    return change.trend


def shown(place: str) -> str:
    """The place in messages, without a password."""
    return postgres.shown(place) if place.startswith(postgres.SCHEMES) else place


def check_place(place: str) -> None:
    """Raises InputError for a URL of a database that cannot hold a history; a file is looked at when it is used."""
    scheme, is_url, _ = place.partition("://")
    if is_url and not place.startswith(postgres.SCHEMES):
        raise errors.InputError(
            f"a history cannot be in {scheme[:40]}://; name a file of SQLite, or postgresql://USER@HOST/DATABASE"
        )


def _session(place: str) -> contextlib.AbstractContextManager[sessions.Session]:
    return postgres.session(place) if place.startswith(postgres.SCHEMES) else sqlite_file.session(Path(place))
