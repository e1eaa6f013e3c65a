"""Reads facts of a cluster from files: snapshots, and the output of `kubectl get KIND --all-namespaces -o yaml`."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

from usher import errors, paths
from usher.check import sources
from usher.cluster.facts import snapshot
from usher.cluster.facts.snapshot import Recorded, State
from usher.cluster.facts.store import Store


def from_files(arguments: Sequence[str]) -> Store:
    """The combined facts of files, directories and snapshots.

    For each kind in them, the files must hold all objects. A snapshot also names kinds that have no objects, or do not
    exist in the cluster.

    Raises:
        InputError: a file cannot be read. With only a part of the objects, the others would count as missing.
    """
    if not arguments:
        return Store()
    recorded: list[Recorded] = []
    manifests: list[str] = []
    for argument in arguments:
        content = _snapshot(argument)
        if content is None:
            manifests.append(argument)
        else:
            recorded += snapshot.loads(content, source=argument)
    values = [*_objects(manifests), *(value for each in recorded for value in each.values)]
    if not values and not recorded:
        raise errors.InputError(f"no objects found in {', '.join(arguments)}; --facts needs the objects of a cluster")
    store = Store.of(values)
    _add_empty(store, recorded)
    return store


def _objects(arguments: Sequence[str]) -> Iterable[paths.Object]:
    for batch in sources.read(arguments, stdin=BytesIO()):
        for problem in batch.problems:
            place = f"{problem.source}:{problem.line}" if problem.line else problem.source
            raise errors.InputError(f"{place}: {problem.reason}")
        yield from (item.value for item in batch.items)


def _snapshot(argument: str) -> bytes | None:
    """The content of a compressed file; None for any other. Errors come up when the manifests are read."""
    path = Path(argument)
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            head = stream.read(len(snapshot.MAGIC))
            return head + stream.read(snapshot.LARGEST_FILE) if head == snapshot.MAGIC else None
    except (OSError, ValueError):
        return None


def _add_empty(store: Store, recorded: Iterable[Recorded]) -> None:
    """Adds the kinds of snapshots that have no objects."""
    for each in recorded:
        if store.knows(*each.kind.key):
            continue
        if each.state is State.KNOWN:
            store.replace(each.kind.key, [])
        elif each.state is State.MISSING:
            store.lacks(each.kind.key)
