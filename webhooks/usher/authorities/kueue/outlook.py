"""The Kueue section of `usher queue`: the queue of a workload."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from usher import model, quantities
from usher.authorities.authority import Balance, Case, Elsewhere, Section, Taken
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import capacity as kueue_capacity
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue import judge
from usher.authorities.kueue import topology as kueue_topology
from usher.authorities.kueue.capacity import Free
from usher.authorities.kueue.demand import PODS, Demand
from usher.authorities.kueue.flavor_fit import FlavorCapacity, FlavorShortage, KueueVerdict, UnmatchedPods
from usher.authorities.kueue.flavors import Flavor, Topology
from usher.authorities.kueue.judge import QUEUE_LABEL, KueueFacts
from usher.authorities.kueue.queues import (
    NO_QUOTA,
    UNLIMITED,
    ClusterQueue,
    FlavorResource,
    LocalQueue,
    State,
    quantity_of,
)
from usher.authorities.verdict import Answer

_MOST_REASONS: Final = 16
"""How many entries of a list are named."""


def queue_obstacles(local: LocalQueue, queue: ClusterQueue, namespace: str, *, selected: bool | None) -> Iterator[str]:
    """Reasons that hold back all workloads of the namespace in a queue."""
    yield from _held_back(local.state, f"LocalQueue {local.name}")
    yield from _held_back(queue.state, _queue_name(queue))
    if selected is False:
        yield f"{_queue_name(queue)} does not select namespace {namespace}"


def verdict_reasons(verdicts: Sequence[KueueVerdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
    """Reasons that hold back one workload."""
    for verdict in verdicts:
        if verdict.pod_set_limit is not None:
            limit = verdict.pod_set_limit
            yield f"it has {limit.pod_sets} pod sets, and Kueue {limit.version} accepts at most {limit.most}"
        for name in verdict.uncovered[:_MOST_REASONS]:
            yield f"{_queue_name(queue)} has no quota for {name}"
        for unmatched in verdict.unmatched[:_MOST_REASONS]:
            yield _no_flavor_text(unmatched)
        for shortage in verdict.shortages[:_MOST_REASONS]:
            yield _shortage_text(shortage, now=answer is not Answer.NEVER)
        yield from verdict.unknowns[:_MOST_REASONS]
        if not verdict.takes_all:
            yield "all pods would fit, but some pods may find no room, because Kueue chooses flavors pod set by pod set"


def verdict_remedies(verdicts: Sequence[KueueVerdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
    """Changes of the workload or the queue that would help."""
    for verdict in verdicts:
        for unmatched in verdict.unmatched[:_MOST_REASONS]:
            for refusal in unmatched.refusals[:_MOST_REASONS]:
                if refusal.untolerated:
                    pods = unmatched.pods.pod_set.name or "the pods"
                    yield f"tolerate {refusal.untolerated} in {pods}, so that flavor {refusal.flavor} takes them"
        others = verdict.uncovered or verdict.unmatched or verdict.pod_set_limit
        if answer is Answer.NEVER and not others and len(verdict.shortages) == 1:
            yield from _more_quota(verdict.shortages[0], queue)


def wait_text(shortage: FlavorShortage, flavor: FlavorCapacity, ever: int) -> str:
    """The text about the amount that must become free in a flavor; `ever` is the most that the flavor could give."""
    resource = shortage.resource
    taken = quantities.text(resource, quantity_of(resource, max(ever - flavor.most, 0)))
    most = quantities.named(resource, quantity_of(resource, ever), up=False)
    needed = quantities.text(resource, quantity_of(resource, shortage.total))
    return f"wait: {taken} of {most} in flavor {flavor.flavor} are taken now, and {needed} are needed"


def _queue_name(queue: ClusterQueue) -> str:
    return f"ClusterQueue {queue.name}"


def _held_back(state: State, queue: str) -> Iterator[str]:
    if state.stop_policy:
        yield f"{queue} is stopped (stopPolicy {state.stop_policy})"
    elif state.inactive:
        message = f": {state.message}" if state.message else ""
        yield f"{queue} is not active ({state.inactive}){message}"


def _no_flavor_text(unmatched: UnmatchedPods) -> str:
    refusals = "; ".join(f"{each.flavor}: {each.reason}" for each in unmatched.refusals[:_MOST_REASONS])
    pods = unmatched.pods.pod_set.name or "the pods"
    resources = ", ".join(unmatched.resources[:_MOST_REASONS])
    return f"no flavor takes {pods} for {resources} ({refusals or 'the group has no flavor'})"


def _shortage_text(shortage: FlavorShortage, *, now: bool) -> str:
    resource = shortage.resource
    gives = [
        f"{quantities.text(resource, quantity_of(resource, each.most), up=False)} in flavor {each.flavor}"
        for each in shortage.flavors[:_MOST_REASONS]
    ]
    asked = quantities.named(resource, quantity_of(resource, shortage.total))
    verb = "free now:" if now else "the queue can ever give"
    together = " (enough of each resource, but not of all in one flavor)" if shortage.together else ""
    return f"{asked} asked for; {verb} {', '.join(gives) or 'nothing'}{together}"


def _more_quota(shortage: FlavorShortage, queue: ClusterQueue) -> Iterator[str]:
    """How much more quota the flavor needs, where only one flavor takes the pods.

    The capacity of the queue grows as much as its nominalQuota, for any limits above it.
    """
    if shortage.lacks is not None:
        flavor, resource = shortage.flavors[0], shortage.resource
        amount = quantities.named(resource, quantity_of(resource, shortage.lacks))
        yield f"raise the nominalQuota of {_queue_name(queue)} in flavor {flavor.flavor} by {amount}"


_AUTHORITY: Final = "Kueue"

_PREBUILT: Final = "kueue.x-k8s.io/prebuilt-workload-name"

_INT64: Final = 2**63

_MOST: Final = 16
"""How many queues, and cohorts of a queue, are named."""


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where Kueue queues the workload."""
    workload = case.workload
    if workload.queue_label_path is None or workload.owner is not None:
        return
    facts = judge.for_namespace(workload.namespace, known)
    name = facts.queue_of(workload)
    if name:
        free = kueue_capacity.free_amounts(known.facts, facts.cluster.capacities)
        given = case.before is not None and _queue_label(case.before) != _queue_label(workload)
        yield replace(_Queueing(workload, facts, free).section(name), given=given)
    elif facts.configuration.queues_unlabelled and facts.manages_namespace:
        there = ", ".join(islice(facts.queues or {}, _MOST))
        yield Section(
            authority=_AUTHORITY,
            answer=Answer.NOT_NOW,
            reasons=("it has no queue, and Kueue holds back workloads without a queue (manageJobsWithoutQueueName)",),
            remedies=(f"name a queue of the namespace: {there}",) if there else (),
        )


def _queue_label(workload: model.Workload) -> str:
    return workload.queue_labels.get(QUEUE_LABEL, "")


class _Queueing:
    """A workload and the queues of its namespace."""

    def __init__(self, workload: model.Workload, facts: KueueFacts, free: Free) -> None:
        self._facts = facts
        self._free = free
        self._workload = workload
        self._demands = kueue_demand.demands(workload, facts.configuration, facts.additions)

    def section(self, name: str) -> Section:
        way = [f"LocalQueue {name}"]
        queues, cluster_queues = self._facts.queues, self._facts.cluster.queues
        if queues is None:
            return _unknown_section(way, "the LocalQueues are not known")
        local = queues.get(name)
        if local is None:
            return self._held_back(way, f"namespace {self._workload.namespace} has no LocalQueue {name}", besides="")
        way.append(f"ClusterQueue {local.cluster_queue}")
        if cluster_queues is None:
            return _unknown_section(way, "the ClusterQueues are not known")
        queue = cluster_queues.get(local.cluster_queue)
        if queue is None:
            missing = local.cluster_queue
            return self._held_back(way, f"there is no ClusterQueue {missing}", besides=missing)
        return self._judged([*way, *self._cohorts(queue)], local, queue)

    def _cohorts(self, queue: ClusterQueue) -> Iterator[str]:
        """The cohorts above a queue; only the first where they do not form a tree."""
        name, counted = queue.cohort, self._facts.cluster.capacities.counted
        for _ in range(_MOST):
            if not name:
                return
            yield f"cohort {name}"
            name = counted[name].parent if name in counted else ""

    def _judged(self, way: Sequence[str], local: LocalQueue, queue: ClusterQueue) -> Section:
        ever, now = self._verdicts(queue), self._verdicts(queue, now=True)
        answer = _answer(ever, now)
        namespace = self._workload.namespace
        selected = self._facts.selects(queue.namespace_selector)
        reasons = list(queue_obstacles(local, queue, namespace, selected=selected))
        if reasons and answer in (Answer.FITS, Answer.COULD):
            answer = Answer.NOT_NOW
        if selected is None:
            reasons.append(f"usher does not know whether ClusterQueue {queue.name} selects namespace {namespace}")
            answer = answer if answer is Answer.NEVER else Answer.UNKNOWN
        part = kueue_demand.admitted_part(self._workload)
        if part:
            reasons.append(f"Kueue admits each {part} separately; the amounts are for one {part}")
        if part and answer is Answer.FITS and not self._all_fit_now(queue):
            answer = Answer.COULD
            reasons.append(f"there is room for a {part} now, but not for all of them")
        if answer is Answer.FITS and not all(demand.complete for demand in self._demands):
            answer = Answer.COULD
            reasons.append("Kueue may count more: usher does not know the LimitRanges, or the RuntimeClass of the pods")
        if answer in (Answer.FITS, Answer.COULD):
            unsure = list(dict.fromkeys((*self._unsure(queue), *_first_full(ever))))
            answer = Answer.UNKNOWN if unsure else answer
            reasons += unsure
        if answer is Answer.FITS and self._with_topology(queue):
            answer = Answer.COULD
            reasons.append("usher does not know which nodes of its Topology are free now")
        reasons += verdict_reasons(ever if answer is Answer.NEVER else (*ever, *now), queue, answer)
        return Section(
            authority=_AUTHORITY,
            way=tuple(way),
            answer=answer,
            reasons=tuple(dict.fromkeys(reasons)),
            balances=tuple(self._balances(queue)),
            taken=tuple(_taken_flavors(ever, now)),
            elsewhere=() if answer is Answer.FITS else self._elsewhere(local.cluster_queue),
            remedies=tuple(dict.fromkeys(verdict_remedies(ever, queue, answer))),
            waits=tuple(dict.fromkeys(self._waits(now, queue))) if answer is Answer.NOT_NOW else (),
        )

    def _with_topology(self, queue: ClusterQueue) -> list[tuple[Flavor, Topology]]:
        """The flavors of a queue with a Topology that usher knows, where the pods may be placed by it."""
        cluster = self._facts.cluster
        flavors = [(cluster.flavors or {}).get(name) for group in queue.quotas.groups for name in group.flavors]
        known = [each for each in flavors if each is not None]
        asks = all(each.topology for each in known) or any(
            kueue_configuration.asks_topology(each) for each in self._workload.pod_sets
        )
        if not asks or not self._facts.configuration.places_by_topology:
            return []
        topologies = cluster.topologies or {}
        return [(each, topologies[each.topology]) for each in known if each.topology in topologies]

    def _unsure(self, queue: ClusterQueue) -> Iterator[str]:
        """Why Kueue may not admit the workload although quota and nodes seem to hold it."""
        holders = (self._workload.labels, self._workload.annotations)
        for name in filter(None, (holder.get(_PREBUILT) for holder in holders)):
            # KQ:pkg/controller/jobframework/reconciler.go:985
            yield f"whether the Workload {name} exists, which the label {_PREBUILT} names, is not known"
        for demand in self._demands:
            if any(each.total(name) >= _INT64 for each in demand.asked for name in each.each):
                # KQ:pkg/resources/requests.go Mul counts in 64 bits.
                yield "it asks for amounts that Kueue does not count in 64 bits"
        nodes, flavors = self._facts.cluster.nodes, self._with_topology(queue)
        if nodes is None:
            return
        for demand in self._demands:
            open_in_each = [kueue_topology.open_questions(demand.asked, *each, nodes) for each in flavors]
            yield from open_in_each[0] if open_in_each and all(open_in_each) else ()

    def _held_back(self, way: Sequence[str], reason: str, *, besides: str) -> Section:
        return Section(
            authority=_AUTHORITY,
            way=tuple(way),
            answer=Answer.NOT_NOW,
            reasons=(reason,),
            elsewhere=self._elsewhere(besides),
        )

    def _verdicts(self, queue: ClusterQueue, *, now: bool = False) -> tuple[KueueVerdict, ...]:
        return tuple(self._verdict(demand, queue, now=now) for demand in self._demands)

    def _verdict(self, demand: Demand, queue: ClusterQueue, *, now: bool) -> KueueVerdict:
        facts = self._facts
        return judge.judge(demand, queue, facts.cluster, facts.configuration, supply=self._free if now else None)

    def _all_fit_now(self, queue: ClusterQueue) -> bool:
        """Whether the queue has room now for all parts that Kueue admits one after the other."""
        demand = kueue_demand.demand_of_all_pods(self._workload, self._facts.configuration, self._facts.additions)
        return self._verdict(demand, queue, now=True).answer is not Answer.NEVER

    def _elsewhere(self, besides: str) -> tuple[Elsewhere, ...]:
        """Other queues of the namespace that could admit the workload; queues with room now come first."""
        found = []
        for local, queue in self._facts.other_queues(besides):
            answer = _answer(self._verdicts(queue), self._verdicts(queue, now=True))
            if answer not in (Answer.NEVER, Answer.UNKNOWN):
                found.append(Elsewhere(queue=local.name, behind=local.cluster_queue, answer=answer))
        order = list(Answer)
        return tuple(sorted(found, key=lambda each: -order.index(each.answer)))

    def _waits(self, now: Sequence[KueueVerdict], queue: ClusterQueue) -> Iterator[str]:
        """The texts about the amounts that must become free, for each resource in the flavor that has most of it."""
        for verdict in now:
            for shortage in verdict.shortages[:_MOST]:
                for flavor in shortage.flavors[:1]:
                    ever = self._facts.cluster.capacities.bound(queue, (flavor.flavor, shortage.resource))
                    yield wait_text(shortage, flavor, ever)

    def _balances(self, queue: ClusterQueue) -> Iterator[Balance]:
        names = {name for demand in self._demands for each in demand.asked for name in each.each}
        # Every pod counts as one of `pods`, where the queue has a quota for them.
        for name in sorted({*names, PODS}):
            asks = max(sum(each.total(name) for each in demand.asked) for demand in self._demands)
            group = queue.quotas.group_of(name)
            for flavor in () if group is None or not asks else group.flavors:
                yield self._balance(queue, (flavor, name), asks)

    def _balance(self, queue: ClusterQueue, key: FlavorResource, asks: int) -> Balance:
        flavor, resource = key
        most = self._facts.cluster.capacities.bound(queue, key)
        own = min(queue.quotas.by_flavor.get(key, NO_QUOTA).nominal, most)
        reserved = self._free.reserved(queue, key)
        free = None if self._free.problems(queue) else self._free.of(queue, key)
        return Balance(
            of=f"flavor {flavor}",
            resource=resource,
            asks=quantity_of(resource, asks),
            most=None if most == UNLIMITED else quantity_of(resource, most),
            own=quantity_of(resource, own) if own != most else None,
            used=None if reserved is None else quantity_of(resource, reserved),
            free=None if free is None else quantity_of(resource, free),
        )


def _first_full(verdicts: Sequence[KueueVerdict]) -> Iterator[str]:
    """KQ:pkg/scheduler/flavorassigner/flavorassigner.go:860 looks at the nodes after the choice."""
    for verdict in verdicts:
        if verdict.full:
            yield (
                f"Kueue chooses flavor {verdict.full} for its quota, and its nodes hold too few of the pods; another "
                "flavor is chosen only while other workloads use that quota"
            )


def _unknown_section(way: Sequence[str], reason: str) -> Section:
    return Section(authority=_AUTHORITY, way=tuple(way), answer=Answer.UNKNOWN, reasons=(reason,))


def _answer(ever: Sequence[KueueVerdict], now: Sequence[KueueVerdict]) -> Answer:
    answers = {verdict.answer for verdict in ever}
    for answer in (Answer.NEVER, Answer.UNKNOWN):
        if answer in answers:
            return answer
    at_once = {verdict.answer for verdict in now}
    if Answer.NEVER in at_once:
        return Answer.NOT_NOW
    certain = at_once == {Answer.COULD} and all(verdict.takes_all for verdict in now)
    return Answer.FITS if certain else Answer.COULD


def _taken_flavors(ever: Sequence[KueueVerdict], now: Sequence[KueueVerdict]) -> Iterator[Taken]:
    for verdict, at_once in zip(ever, now, strict=True):
        for each in at_once.choices or verdict.choices:
            yield Taken(
                pod_set=each.pods.pod_set.name,
                resources=each.resources,
                flavor=each.flavor,
                now=bool(at_once.choices),
            )
