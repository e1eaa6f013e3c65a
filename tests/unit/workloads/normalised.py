"""Objects as the normaliser sees them with the vocabulary that comes with usher."""

from usher import model, paths
from usher.config import models
from usher.workloads import accelerators
from usher.workloads.normalise import normalise

VOCABULARY = accelerators.Vocabulary(models.Accelerators())


def workload(value: paths.Object, *, namespace: str = "") -> model.Workload:
    found = normalise(value, vocabulary=VOCABULARY, namespace=namespace)
    assert found is not None, "the object makes no pods"
    return found


def readable_workload(value: paths.Object) -> model.Workload:
    """The workload of an object in which nothing is unknown."""
    found = workload(value)
    assert found.unknowns == ()
    return found


def pod_set(value: paths.Object) -> model.PodSet:
    """The only pod set of an object in which nothing is unknown."""
    (found,) = readable_workload(value).pod_sets
    return found


def counts(value: paths.Object) -> list[tuple[str, str, int, int | None]]:
    """Name, path, minimum and maximum of every pod set of an object in which nothing is unknown."""
    return [
        (found.name, found.path, found.count.minimum, found.count.maximum)
        for found in readable_workload(value).pod_sets
    ]


def accelerators_of(value: paths.Object) -> dict[str, str]:
    """The effective request of one pod of the only pod set."""
    return {name: str(quantity) for name, quantity in pod_set(value).accelerators.items()}


def unknowns(value: paths.Object) -> list[tuple[str, str]]:
    """Path and reason of all that could not be read."""
    return [(unknown.path, unknown.reason) for unknown in workload(value).unknowns]
