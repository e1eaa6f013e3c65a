"""All facts of a cluster, listed once: for a snapshot, an audit, or `usher queue --live`."""

from collections.abc import Iterable, Iterator

from usher import paths
from usher.cluster import listing, sinks
from usher.cluster.api import Lists
from usher.cluster.listing import Listed, NotServed, Refused, Target
from usher.facts.snapshot import Recorded, State
from usher.facts.store import Store
from usher.kinds.kept_fields import CONFIG_MAP, KUEUE_CONFIGURATION, FactKind
from usher.kinds.registry import FACTS

_ATTEMPTS = 3
"""Attempts for a list whose state expires before its last page."""


def read(api: Lists, *, kinds: Iterable[FactKind] = tuple(FACTS.values())) -> Iterator[Recorded]:
    """The objects of each kind, one kind after the other. A kind that cannot be listed is unknown, with the reason.

    Raises:
        ClusterError: the API server does not answer.
    """
    for kind in kinds:
        found = _read(api, Target(kind=kind))
        if isinstance(found, NotServed):
            yield Recorded(kind=kind, state=State.MISSING)
        elif isinstance(found, Listed):
            values = _with_content(api, kind, found) if kind.key == CONFIG_MAP else found.values
            yield Recorded(kind=kind, state=State.KNOWN, values=values)
        else:
            yield Recorded(kind=kind, state=State.NOT_KNOWN, reason=found.explained, failed=not found.forbidden)


def store(recorded: Iterable[Recorded]) -> Store:
    """A store of the recorded facts."""
    result = Store()
    for each in recorded:
        if each.state is State.KNOWN:
            result.replace(each.kind.key, each.values)
        elif each.state is State.MISSING:
            result.lacks(each.kind.key)
    return result


def _read(api: Lists, target: Target) -> Listed | NotServed | Refused:
    for _ in range(_ATTEMPTS - 1):
        found = listing.read(api, target)
        if not (isinstance(found, Refused) and found.status == 410):
            return found
    return listing.read(api, target)


def _with_content(api: Lists, kind: FactKind, found: Listed) -> list[paths.Object]:
    """The ConfigMaps by name. The one of Kueue has its content, if usher may read it."""
    namespace, name = KUEUE_CONFIGURATION
    sink = sinks.Collected()
    joined = sinks.WithContent(sink, namespace=namespace, name=name)
    content = _read(api, Target(kind=kind, namespace=namespace, name=name))
    if isinstance(content, Listed):
        joined.content.replace(content.values)
    joined.replace(found.values)
    return sink.values
