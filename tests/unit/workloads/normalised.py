"""Objects as the normaliser sees them with the vocabulary that comes with usher."""

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections
from usher.kinds.reading.values import NO_OBJECTS, Lookup
from usher.workloads.normalise import normalise

VOCABULARY = Vocabulary(sections.Accelerators())


def workload(value: paths.Object, *, namespace: str = "", objects: Lookup = NO_OBJECTS) -> model.Workload:
    found = normalise(value, vocabulary=VOCABULARY, namespace=namespace, objects=objects)
    assert found is not None, "the object makes no pods"
    return found


def readable_workload(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> model.Workload:
    """The workload of an object in which nothing is unknown."""
    found = workload(value, objects=objects)
    assert found.unknowns == ()
    return found


def pod_set(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> model.PodSet:
    """The only pod set of an object in which nothing is unknown."""
    (found,) = readable_workload(value, objects=objects).pod_sets
    return found


def counts(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> list[tuple[str, str, int, int | None]]:
    """Name, path, minimum and maximum of every pod set of an object in which nothing is unknown."""
    return [
        (found.name, found.path, found.count.minimum, found.count.maximum)
        for found in readable_workload(value, objects=objects).pod_sets
    ]


def accelerators_of(value: paths.Object) -> dict[str, str]:
    """The effective request of one pod of the only pod set."""
    return {name: str(quantity) for name, quantity in pod_set(value).accelerators.items()}


def totals(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> dict[str, tuple[str, str]]:
    """The least and the most of every accelerator that all pods together ask for; `unbounded` for no most."""
    return {
        total.name: (str(total.minimum), "unbounded" if total.maximum is None else str(total.maximum))
        for total in readable_workload(value, objects=objects).totals
    }


def unknowns(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> list[tuple[str, str]]:
    """Path and reason of all that could not be read."""
    return [(unknown.path, unknown.reason) for unknown in workload(value, objects=objects).unknowns]
