"""Which history an audit belongs to: that of its cluster, and of its namespace if it is about one alone.

A cluster is known by the uid of its namespace kube-system. Names change with contexts, and two clusters may have one
name. Where the uid was not read, the name decides; so does it in histories of an earlier usher, which had names alone.
"""

from collections.abc import Sequence

from usher.audit.document import Cluster
from usher.history.sessions import Session, clean


def key(session: Session, cluster: Cluster, *, former: Sequence[str] = ()) -> str:
    """The key of the rows of a history. Rows that have a name as their key get the id, once it is known.

    Args:
        session: the tables are up to date.
        cluster: that of the audit.
        former: names that an earlier usher gave to the cluster.
    """
    names = [named(each, cluster) for each in (cluster.name, *former)]
    if not cluster.id:
        return _by_names(session, names)
    found = named(cluster.id, cluster)
    if not _has_rows(session, found):
        _adopt(session, found, names)
    return found


def named(name: str, cluster: Cluster) -> str:
    """A name or an id of a cluster, with the only namespace of an audit."""
    (found,) = clean([f"{name}\nnamespace {cluster.namespace}" if cluster.namespace else name])
    return found


def _by_names(session: Session, names: Sequence[str]) -> str:
    """The key that the audits of a name have; the name itself where they have none, or are of several clusters."""
    for name in names:
        rows = session.rows("SELECT DISTINCT cluster FROM gpu_usher_audits WHERE name = ?", [name])
        if len(rows) == 1:
            return rows[0][0]
        if rows:
            break
    return names[0]


def _adopt(session: Session, found: str, names: Sequence[str]) -> None:
    """Gives the rows of the first name that has some to an id."""
    old = next((each for each in names if _has_rows(session, each)), None)
    if old is not None:
        session.rows("UPDATE gpu_usher_audits SET cluster = ? WHERE cluster = ?", [found, old])
        session.rows("UPDATE gpu_usher_findings SET cluster = ? WHERE cluster = ?", [found, old])


def _has_rows(session: Session, found: str) -> bool:
    return bool(session.rows("SELECT taken FROM gpu_usher_audits WHERE cluster = ? LIMIT 1", [found]))
