"""What is known of a cluster, from files: snapshots, and what `kubectl get KIND --all-namespaces -o yaml` prints."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

from usher import errors, paths
from usher.facts import snapshot
from usher.facts.snapshot import Recorded, State
from usher.facts.store import Store
from usher.scan import sources


def from_files(arguments: Sequence[str]) -> Store:
    """What files, directories and snapshots say together.

    Of each kind that there are objects of in files, these are taken for all that there are, beside those of snapshots.
    A snapshot tells as well which kinds have no objects, or are not in the cluster.

    Raises:
        InputError: something cannot be read. With half of the objects, what is there would be taken for missing.
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
        raise errors.InputError(
            f"no objects found in {', '.join(arguments)}, which were to tell what is in the cluster"
        )
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
    """The content of a file that is compressed; None for everything else. What cannot be read is told later."""
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
    """Adds the kinds of which snapshots know that there are no objects."""
    for each in recorded:
        if store.knows(*each.kind.key):
            continue
        if each.state is State.KNOWN:
            store.replace(each.kind.key, [])
        elif each.state is State.MISSING:
            store.lacks(each.kind.key)
