"""What is known of Kueue in a cluster: its queues with what they could give, its flavors, its configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from usher import paths
from usher.authorities.kueue import configuration as kueue_configuration
from usher.authorities.kueue import flavors as kueue_flavors
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.capacity import Capacities
from usher.authorities.kueue.configuration import Configuration
from usher.authorities.kueue.flavors import Flavor, Topology
from usher.authorities.kueue.queues import GROUP, ClusterQueue, LocalQueue
from usher.facts.store import Store
from usher.kinds import kept_fields
from usher.reading.lookup import Absence, Reference

_Read = TypeVar("_Read")

_KINDS: Final = tuple((GROUP, kind) for kind in ("ClusterQueue", "Cohort", "ResourceFlavor", "Topology"))

_LOCAL: Final = ((GROUP, "LocalQueue"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What stands in no namespace. None for kinds of which nothing is known, nothing for those that are not there."""

    queues: Mapping[str, ClusterQueue] | None
    capacities: Capacities
    flavors: Mapping[str, Flavor] | None
    topologies: Mapping[str, Topology] | None


def of(facts: Store) -> Cluster:
    """Read anew only after one of the objects has changed."""
    return facts.derived("kueue", _KINDS, lambda: _read(facts))


def configuration(facts: Store) -> Configuration:
    """Kueue's configuration; UNKNOWN where its ConfigMap is not where it usually is."""
    namespace, name = kept_fields.KUEUE_CONFIGURATION
    found = facts.find(Reference(group="", kind="ConfigMap", name=name, namespace=namespace))
    if isinstance(found, Absence):
        return kueue_configuration.UNKNOWN
    data = found.get("data")
    text = data.get(kept_fields.KUEUE_CONFIGURATION_KEY) if isinstance(data, dict) else None
    return _configuration(text) if isinstance(text, str) else kueue_configuration.UNKNOWN


def local_queues(facts: Store, namespace: str) -> Mapping[str, LocalQueue] | None:
    """The LocalQueues of a namespace by name; None where nothing is known of any."""
    kept: dict[str, Mapping[str, LocalQueue]] = facts.derived("kueue-local-queues", _LOCAL, dict)
    if namespace in kept:
        return kept[namespace]
    found = facts.objects(GROUP, "LocalQueue", namespace)
    if isinstance(found, Absence):
        return None if found is Absence.NOT_KNOWN else {}
    queues = {name: kueue_queues.local_queue(name, found[name]) for name in sorted(found)}
    if queues:
        kept[namespace] = queues
    return queues


_configuration = lru_cache(maxsize=4)(kueue_configuration.read)


def _read(facts: Store) -> Cluster:
    queues = _all(facts, "ClusterQueue", kueue_queues.cluster_queue)
    cohorts = _all(facts, "Cohort", kueue_queues.cohort)
    return Cluster(
        queues=queues,
        capacities=Capacities((queues or {}).values(), (cohorts or {}).values(), whole=cohorts is not None),
        flavors=_all(facts, "ResourceFlavor", kueue_flavors.flavor),
        topologies=_all(facts, "Topology", kueue_flavors.topology),
    )


def _all(facts: Store, kind: str, read: Callable[[str, paths.Object], _Read]) -> Mapping[str, _Read] | None:
    found = facts.objects(GROUP, kind)
    if isinstance(found, Absence):
        return None if found is Absence.NOT_KNOWN else {}
    return {name: read(name, value) for name, value in found.items()}
