"""What is known of a cluster, from files: what `kubectl get KIND --all-namespaces -o yaml` prints, kind by kind."""

from collections.abc import Sequence
from io import BytesIO

from usher import errors
from usher.scan import sources
from usher.workloads import lookup


def from_files(arguments: Sequence[str]) -> lookup.Lookup:
    """The objects of files and directories; of each kind among them they are taken for all that there are.

    Raises:
        InputError: something cannot be read. With half of the objects, what is there would be taken for missing.
    """
    if not arguments:
        return lookup.NOTHING
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
    return lookup.Cluster(values)
