"""Reads the facts of Kueue in a cluster: queues and their capacities, flavors, configuration."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.authorities import knowledge
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.capacity import Capacities
from usher.authorities.kueue.demand import Additions
from usher.authorities.kueue.flavors import Configuration, Flavor, Topology
from usher.authorities.kueue.queues import GROUP, ClusterQueue, LocalQueue, State
from usher.authorities.kueue.topology import TopologyNodes
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import read as nodes_read
from usher.cluster.facts import store
from usher.cluster.facts.store import NODE, Store
from usher.kinds import kind as kinds_kind
from usher.kinds.reading.values import Absence, Reference
from usher.model import placement
from usher.model.placement import Labels

_Read = TypeVar("_Read")

_KINDS: Final = tuple((GROUP, kind) for kind in ("ClusterQueue", "Cohort", "ResourceFlavor", "Topology"))

_LOCAL: Final = ((GROUP, "LocalQueue"),)

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"

_DEFAULT: Final = "default"
"""The LocalQueue of workloads that do not name a queue."""

_MOST: Final = 16
"""How many other queues are tried."""


class Cluster(Struct, frozen=True, kw_only=True):
    """The cluster-scoped objects; None for unknown kinds."""

    queues: Mapping[str, ClusterQueue] | None
    capacities: Capacities
    flavors: Mapping[str, Flavor] | None
    topologies: Mapping[str, Topology] | None
    nodes: TopologyNodes | None = None
    """The nodes for placement by topology."""


class KueueFacts(Struct, frozen=True, kw_only=True):
    """The facts of Kueue for the workloads of one namespace."""

    configuration: Configuration
    cluster: Cluster
    queues: Mapping[str, LocalQueue] | None
    """The LocalQueues of the namespace by name; None where they are unknown."""
    labels: Labels | None
    """The labels of the namespace; None where they are unknown."""
    additions: Additions

    @property
    def manages_namespace(self) -> bool | None:
        """Whether Kueue manages the jobs of the namespace; None where it is unknown."""
        return self.selects(self.configuration.namespace_selector) if self.configuration.known else None

    def selects(self, selector: paths.Json) -> bool | None:
        """Whether a selector matches the namespace; None where its labels decide and are unknown."""
        if self.labels is not None or selector is None or selector == {}:
            return placement.selector_matches(selector, self.labels or {})
        return None

    def queue_of(self, workload: model.Workload) -> str:
        """The LocalQueue that a workload names or gets by default; empty where it does not wait in a queue."""
        named = workload.queue_labels.get(QUEUE_LABEL, "")
        has_default = _DEFAULT in (self.queues or {}) and self.manages_namespace is not False
        return named or (_DEFAULT if has_default else "")

    def other_queues(self, besides: str) -> Iterator[tuple[LocalQueue, ClusterQueue]]:
        """Queues of the namespace that admit workloads now and use another ClusterQueue. Tries at most 16 queues."""
        known = self.cluster.queues or {}
        for each in islice((self.queues or {}).values(), _MOST):
            queue = known.get(each.cluster_queue)
            if (
                queue is not None
                and each.cluster_queue != besides
                and each.state == queue.state == State()
                and self.selects(queue.namespace_selector)
            ):
                yield each, queue


def for_namespace(namespace: str, known: Knowledge) -> KueueFacts:
    """The facts of Kueue for the workloads of a namespace."""
    facts = known.facts
    return KueueFacts(
        configuration=configuration(facts),
        cluster=replace(cluster(facts), nodes=nodes(known)),
        queues=local_queues(facts, namespace),
        labels=store.namespace_labels(namespace, facts),
        additions=kueue_demand.additions_of_namespace(namespace, facts),
    )


def nodes(known: Knowledge) -> TopologyNodes | None:
    """The nodes for placement by topology, kept until one of them changes; None where they are unknown."""
    verdicts = nodes_judge.node_verdicts(known)
    if verdicts is None:
        return None
    return known.derived(
        "nodes of topologies",
        [NODE, knowledge.DEVICE_CLASS],
        lambda: TopologyNodes(
            places=verdicts.places,
            vocabulary=known.vocabulary,
            from_classes=nodes_read.resources_of_device_classes(known.facts),
        ),
    )


def cluster(facts: Store) -> Cluster:
    """The cluster-scoped objects, without the nodes; read again only after one of them has changed."""
    return facts.derived("kueue", _KINDS, lambda: _read(facts))


def configuration(facts: Store) -> Configuration:
    """Kueue's configuration; only its version may be known where its ConfigMap is not in the usual place."""
    return replace(_configured(facts), version=kueue_configuration.version_of_cluster(facts))


def _configured(facts: Store) -> Configuration:
    namespace, name = kinds_kind.KUEUE_CONFIGURATION
    found = facts.find(Reference(group="", kind="ConfigMap", name=name, namespace=namespace))
    if isinstance(found, Absence):
        return kueue_configuration.UNKNOWN_CONFIGURATION
    data = found.get("data")
    text = data.get(kinds_kind.KUEUE_CONFIGURATION_KEY) if isinstance(data, dict) else None
    return _configuration(text) if isinstance(text, str) else kueue_configuration.UNKNOWN_CONFIGURATION


def local_queues(facts: Store, namespace: str) -> Mapping[str, LocalQueue] | None:
    """The LocalQueues of a namespace by name; None where they are unknown."""
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


_configuration = lru_cache(maxsize=4)(kueue_configuration.read_configuration)


def _read(facts: Store) -> Cluster:
    queues = _read_all_of_kind(facts, "ClusterQueue", kueue_queues.cluster_queue)
    cohorts = _read_all_of_kind(facts, "Cohort", kueue_queues.cohort)
    return Cluster(
        queues=queues,
        capacities=Capacities((queues or {}).values(), (cohorts or {}).values(), whole=cohorts is not None),
        flavors=_read_all_of_kind(facts, "ResourceFlavor", kueue_configuration.read_flavor),
        topologies=_read_all_of_kind(facts, "Topology", kueue_configuration.read_topology),
    )


def _read_all_of_kind(
    facts: Store, kind: str, read: Callable[[str, paths.Object], _Read]
) -> Mapping[str, _Read] | None:
    found = facts.objects(GROUP, kind)
    if isinstance(found, Absence):
        return None if found is Absence.NOT_KNOWN else {}
    return {name: read(name, value) for name, value in found.items()}
