"""Estates of objects, as an audit builds them."""

from collections.abc import Iterable, Sequence

from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.building.builder import EstateBuilder
from usher.audit.building.wanted import Wanted
from usher.audit.estate import Estate, Workload
from usher.audit.scopes import WHOLE, Scope
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config.models import Config


def builder(*, config: Config | None = None, wanted: Sequence[Wanted] = (), scope: Scope = WHOLE) -> EstateBuilder:
    given = Config() if config is None else config
    known = Knowledge(facts=Store(), config=given, vocabulary=Vocabulary(given.accelerators))
    return EstateBuilder(known, wanted=wanted, namespace="default", scope=scope)


def built(objects: Iterable[paths.Object], *, config: Config | None = None) -> Estate:
    """The estate of the objects in their order."""
    made = builder(config=config)
    for value in objects:
        made.add(value)
    return made.built()


def names(estate: Estate) -> dict[str, list[str]]:
    """The names of the pods of each workload."""
    return {str(each.identity): [pod.name for pod in each.pods] for each in estate.workloads}


def only(estate: Estate) -> Workload:
    (workload,) = estate.workloads
    return workload
