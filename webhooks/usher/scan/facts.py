"""What is known of a cluster, from files: what `kubectl get KIND --all-namespaces -o yaml` prints, kind by kind."""

from collections.abc import Sequence
from io import BytesIO

from usher import errors
from usher.facts.store import Store
from usher.scan import sources


def from_files(arguments: Sequence[str]) -> Store:
    """The objects of files and directories; of each kind among them they are taken for all that there are.

    Raises:
        InputError: something cannot be read. With half of the objects, what is there would be taken for missing.
    """
    if not arguments:
        return Store()
    values = []
    for batch in sources.read(arguments, stdin=BytesIO()):
        for problem in batch.problems:
            place = f"{problem.source}:{problem.line}" if problem.line else problem.source
            raise errors.InputError(f"{place}: {problem.reason}")
        values += [item.value for item in batch.items]
    if not values:
        raise errors.InputError(
            f"no objects found in {', '.join(arguments)}, which were to tell what is in the cluster"
        )
    return Store.of(values)
