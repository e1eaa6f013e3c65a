"""Reads the facts of Kueue, and judges whether a ClusterQueue could ever admit a workload if the cluster were empty.

docs/domain/kueue.md#order-of-decisions gives the steps, and docs/domain/kueue.md#potential the amounts. Kueue takes one
flavor for each pod set and resource group, and adds up the demand on each flavor. For NEVER, all unknowns are assumed
to favour the workload; for COULD, all unknowns are assumed to be against it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Final, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from usher import model, paths
from usher.authorities import knowledge
from usher.authorities.knowledge import Knowledge, resources_of_device_classes
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavor_fit
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.capacity import Capacities, Supply
from usher.authorities.kueue.demand import PODS, Additions, CountedPods, Demand
from usher.authorities.kueue.flavors import Configuration
from usher.authorities.kueue.queues import GROUP, ClusterQueue, FlavorResource, LocalQueue, ResourceGroup, State
from usher.authorities.kueue.topology import TopologyNodes
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes.places import SHAPING_DAEMONS
from usher.authorities.verdict import Answer
from usher.cluster.facts import store
from usher.cluster.facts.store import NODE, Store
from usher.kinds import kind as kinds_kind
from usher.kinds.reading.known_keys import MULTIKUEUE
from usher.kinds.reading.values import Absence, Reference
from usher.model import placement
from usher.model.placement import Labels

_Read = TypeVar("_Read")

_KINDS: Final = tuple(
    (GROUP, kind) for kind in ("AdmissionCheck", "ClusterQueue", "Cohort", "ResourceFlavor", "Topology")
)

_LOCAL: Final = ((GROUP, "LocalQueue"),)

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"

_DEFAULT: Final = "default"
"""The LocalQueue of workloads that do not name a queue."""

_MOST: Final = 16
"""How many other queues are tried."""


class KueueFacts(Struct, frozen=True, kw_only=True):
    """The facts of Kueue for the workloads of one namespace."""

    configuration: Configuration
    cluster: flavor_fit.Cluster
    queues: Mapping[str, LocalQueue] | None
    """The LocalQueues of the namespace by name; None where they are unknown."""
    labels: Labels | None
    """The labels of the namespace; None where they are unknown."""
    additions: Additions
    namespace: str

    @property
    def manages_namespace(self) -> bool | None:
        """Whether Kueue manages the jobs of the namespace; None where it is unknown."""
        return self.selects(self.configuration.namespace_selector) if self.configuration.known else None

    def selects(self, selector: paths.Json) -> bool | None:
        """Whether a selector matches the namespace; None where its labels decide and are unknown."""
        if self.labels is not None or selector is None or selector == {}:
            return placement.selector_matches(selector, self.labels or {})
        # Every namespace has a label with its name.
        asked = [
            each.get("key")
            for each in map(paths.mapping, paths.elements(paths.mapping(selector).get("matchExpressions")))
        ]
        if {*asked, *paths.mapping(paths.mapping(selector).get("matchLabels"))} == {paths.NAMESPACE_NAME_LABEL}:
            return placement.selector_matches(selector, {paths.NAMESPACE_NAME_LABEL: self.namespace})
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
        namespace=namespace,
    )


def nodes(known: Knowledge) -> TopologyNodes | None:
    """The nodes for placement by topology, kept until one of them changes; None where they are unknown."""
    verdicts = nodes_judge.node_verdicts(known)
    if verdicts is None:
        return None
    return known.derived(
        "nodes of topologies",
        [NODE, knowledge.DEVICE_CLASS, *SHAPING_DAEMONS],
        lambda: TopologyNodes(
            places=verdicts.places,
            vocabulary=known.vocabulary,
            from_classes=resources_of_device_classes(known.facts),
        ),
    )


def cluster(facts: Store) -> flavor_fit.Cluster:
    """The cluster-scoped objects, without the nodes; read again only after one of them has changed."""
    return facts.derived("kueue", _KINDS, lambda: _read_cluster(facts))


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


def _read_cluster(facts: Store) -> flavor_fit.Cluster:
    queues = _read_all_of_kind(facts, "ClusterQueue", kueue_queues.cluster_queue)
    if queues and facts.names(GROUP, "AdmissionCheck"):
        queues = {name: kueue_queues.with_checks(each, partial(_spec_of_check, facts)) for name, each in queues.items()}
    cohorts = _read_all_of_kind(facts, "Cohort", kueue_queues.cohort)
    return flavor_fit.Cluster(
        queues=queues,
        capacities=Capacities((queues or {}).values(), (cohorts or {}).values(), complete=cohorts is not None),
        flavors=_read_all_of_kind(facts, "ResourceFlavor", kueue_configuration.read_flavor),
        topologies=_read_all_of_kind(facts, "Topology", kueue_configuration.read_topology),
    )


def _spec_of_check(facts: Store, name: str) -> Mapping[str, paths.Json]:
    found = facts.find(Reference(group=GROUP, kind="AdmissionCheck", name=name))
    return {} if isinstance(found, Absence) else paths.mapping(found.get("spec"))


def sending_queues(facts: Store) -> frozenset[str]:
    """The ClusterQueues whose workloads MultiKueue runs in other clusters."""

    def read() -> frozenset[str]:
        queues = cluster(facts).queues or {}
        checks = {name for each in queues.values() for name in each.checks}
        sending = {each for each in checks if _spec_of_check(facts, each).get("controllerName") == MULTIKUEUE}
        return frozenset(name for name, each in queues.items() if not sending.isdisjoint(each.checks))

    return facts.derived("queues of MultiKueue", _KINDS, read)


def _read_all_of_kind(
    facts: Store, kind: str, read: Callable[[str, paths.Object], _Read]
) -> Mapping[str, _Read] | None:
    found = facts.objects(GROUP, kind)
    if isinstance(found, Absence):
        return None if found is Absence.NOT_KNOWN else {}
    return {name: read(name, value) for name, value in found.items()}


POD_SET_GROUP: Final = "kueue.x-k8s.io/podset-group-name"


class _Search(Struct):
    """The search for flavors of one queue for one demand."""

    queue: ClusterQueue
    demand: Demand
    matching: flavor_fit.FlavorMatcher
    supply: Supply
    choices: list[flavor_fit.FlavorChoice] = field(default_factory=list)
    takes_all: bool = True
    full: str = ""
    """A flavor that Kueue chooses although its nodes hold too few of the pods."""
    unmatched: list[flavor_fit.UnmatchedPods] = field(default_factory=list)
    shortages: list[flavor_fit.FlavorShortage] = field(default_factory=list)
    unknowns: dict[str, None] = field(default_factory=dict)

    def try_group(self, group: ResourceGroup) -> None:
        """Searches a flavor of the group for each pod set that names any of its resources, even with an amount of 0."""
        members: dict[str, list[CountedPods]] = {}
        for index, asked in enumerate(self.demand.asked):
            if any(asked.names(resource) for resource in group.resources):
                members.setdefault(asked.pod_set.annotations.get(POD_SET_GROUP) or str(index), []).append(asked)
        units = [tuple(each) for each in members.values()]
        matched = [self.matching.of(group, unit) for unit in units]
        unmatched = [each.unmatched for each in matched if each.unmatched is not None]
        if unmatched:
            self.unmatched += unmatched
            return
        allowed, sure = [each.flavors for each in matched], [each.sure for each in matched]
        resources = sorted({name for unit in units for each in unit for name in group.resources if each.total(name)})
        found = flavor_fit.can_assign(units, allowed, resources, self._bound)
        problems = self.supply.problems(self.queue)
        if found is False:
            room = flavor_fit.GroupRoom(
                queue=self.queue, units=units, allowed=allowed, resources=resources, most=self._bound
            )
            self.shortages += room.shortages()
        elif found is None:
            self.unknowns["the queue has too many ways to choose flavors"] = None
        elif problems and not flavor_fit.can_assign(units, allowed, resources, self._certain):
            self.unknowns |= dict.fromkeys(problems)
        elif sure != allowed and not (all(sure) and flavor_fit.can_assign(units, sure, resources, self._certain)):
            self.unknowns[flavor_fit.LABELS_BY_VERSION] = None
        else:
            self._take(group, units, matched, resources)

    def _take(
        self,
        group: ResourceGroup,
        units: Sequence[flavor_fit.Unit],
        matched: Sequence[flavor_fit.MatchingFlavors],
        resources: list[str],
    ) -> None:
        """Takes the flavors that Kueue chooses: by quota, so that it looks at their nodes only afterwards."""
        allowed = [_in_order(group, (*each.flavors, *each.full)) for each in matched]
        sure = [_in_order(group, (*each.sure, *each.full)) for each in matched]
        flavors = flavor_fit.choose_in_order(units, allowed, resources, self.queue, self.supply)
        if flavors is None or (
            sure != allowed and flavors != flavor_fit.choose_in_order(units, sure, resources, self.queue, self.supply)
        ):
            self.takes_all = False
            return
        full = [name for name, each in zip(flavors, matched, strict=True) if name in each.full]
        if full:
            self.takes_all, self.full = False, full[0]
            return
        for unit, flavor in zip(units, flavors, strict=True):
            for each in unit:
                names = tuple(name for name in resources if each.total(name))
                if names:
                    self.choices.append(flavor_fit.FlavorChoice(pods=each, resources=names, flavor=flavor))

    def _bound(self, flavor_resource: FlavorResource) -> int:
        return self.supply.bound(self.queue, flavor_resource)

    def _certain(self, flavor_resource: FlavorResource) -> int:
        return self.supply.of(self.queue, flavor_resource)


def judge(
    demand: Demand,
    queue: ClusterQueue,
    cluster: flavor_fit.Cluster,
    configuration: Configuration,
    *,
    supply: Supply | None = None,
) -> flavor_fit.KueueVerdict:
    """The verdict of the queue on a demand.

    Args:
        demand: the pods that Kueue admits together.
        supply: the room of the queue; by default its capacity, even if other workloads run or the queue is stopped.
    """
    matching = flavor_fit.FlavorMatcher(queue=queue, cluster=cluster, configuration=configuration)
    search = _Search(queue=queue, demand=demand, matching=matching, supply=supply or cluster.capacities)
    for group in queue.quotas.groups:
        search.try_group(group)
    uncovered = () if configuration.ignores_undeclared else tuple(_uncovered(demand, queue, configuration))
    limit = _pod_set_limit(demand, configuration)
    doubts = dict.fromkeys(configuration.problems)
    doubts |= {
        f"usher does not know what else {_asking(asked.pod_set)} for": None
        for asked in demand.asked
        if not asked.pod_set.fully_known
    }
    if uncovered or search.unmatched:
        doubts |= dict.fromkeys(queue.problems)
    if limit is not None or (not doubts and (uncovered or search.unmatched or search.shortages)):
        return flavor_fit.KueueVerdict(
            answer=Answer.NEVER,
            pod_set_limit=limit,
            uncovered=() if doubts else uncovered,
            unmatched=() if doubts else tuple(search.unmatched),
            shortages=() if doubts else tuple(search.shortages),
        )
    unknowns = dict.fromkeys((*doubts, *demand.unknowns, *matching.unknowns, *search.unknowns))
    if not kueue_configuration.surely_takes_pod_sets(demand.pod_sets, configuration.version):
        unknowns[f"it has {demand.pod_sets} pod sets, and {kueue_configuration.POD_SET_LIMITS}"] = None
    if unknowns or not demand.exact:
        return flavor_fit.KueueVerdict(answer=Answer.UNKNOWN, unknowns=tuple(unknowns))
    choices = tuple(search.choices) if search.takes_all else ()
    return flavor_fit.KueueVerdict(answer=Answer.COULD, choices=choices, takes_all=search.takes_all, full=search.full)


def _in_order(group: ResourceGroup, names: Sequence[str]) -> list[str]:
    return [name for name in group.flavors if name in names]


def _asking(pod_set: model.PodSet) -> str:
    return f"the pods of {pod_set.name} ask" if pod_set.name else "the pod asks"


def _uncovered(demand: Demand, queue: ClusterQueue, configuration: Configuration) -> Iterator[str]:
    """Requested resources that no group of the queue covers."""
    zeros = not kueue_configuration.skips_uncovered_zeros(configuration.version)
    names = {name for asked in demand.asked for name in asked.each if zeros or asked.total(name)}
    yield from sorted(name for name in names if name != PODS and queue.quotas.group_of(name) is None)


def _pod_set_limit(demand: Demand, configuration: Configuration) -> flavor_fit.PodSetLimit | None:
    most = kueue_configuration.most_pod_sets(configuration.version)
    if most is None or demand.pod_sets <= most:
        return None
    return flavor_fit.PodSetLimit(pod_sets=demand.pod_sets, most=most, version=str(configuration.version))
