"""The Kueue section of `usher queue`: the queue of a workload."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from usher import model
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import free as kueue_free
from usher.authorities.kueue import judge, outlook_texts, read
from usher.authorities.kueue.demand import PODS, Demand
from usher.authorities.kueue.free import Free
from usher.authorities.kueue.queues import NO_QUOTA, UNLIMITED, ClusterQueue, FlavorResource, LocalQueue, quantity_of
from usher.authorities.kueue.read import QUEUE_LABEL, KueueFacts
from usher.authorities.kueue.verdict import KueueVerdict
from usher.authorities.outlook import Balance, Elsewhere, Section, Taken
from usher.authorities.verdict import Answer

_AUTHORITY: Final = "Kueue"

_MOST: Final = 16
"""How many queues, and cohorts of a queue, are named."""


def of(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where Kueue queues the workload."""
    workload = case.workload
    if workload.queue_label_path is None or workload.owner is not None:
        return
    facts = read.for_namespace(workload.namespace, known)
    name = facts.queue_of(workload)
    if name:
        free = kueue_free.of(known.facts, facts.cluster.capacities)
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
        self._demands = kueue_demand.of(workload, facts.configuration, facts.additions)

    def section(self, name: str) -> Section:
        way = [f"LocalQueue {name}"]
        queues, cluster_queues = self._facts.queues, self._facts.cluster.queues
        if queues is None:
            return _unknown(way, "the LocalQueues are not known")
        local = queues.get(name)
        if local is None:
            return self._held_back(way, f"namespace {self._workload.namespace} has no LocalQueue {name}", besides="")
        way.append(f"ClusterQueue {local.cluster_queue}")
        if cluster_queues is None:
            return _unknown(way, "the ClusterQueues are not known")
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
        reasons = list(outlook_texts.obstacles(local, queue, namespace, selected=selected))
        if reasons and answer in (Answer.FITS, Answer.COULD):
            answer = Answer.NOT_NOW
        if selected is None:
            reasons.append(f"usher does not know whether ClusterQueue {queue.name} selects namespace {namespace}")
            answer = answer if answer is Answer.NEVER else Answer.UNKNOWN
        part = kueue_demand.part(self._workload)
        if part:
            reasons.append(f"Kueue admits each {part} separately; the amounts are for one {part}")
        if part and answer is Answer.FITS and not self._all_fit_now(queue):
            answer = Answer.COULD
            reasons.append(f"there is room for a {part} now, but not for all of them")
        if answer is Answer.FITS and not all(demand.complete for demand in self._demands):
            answer = Answer.COULD
            reasons.append("Kueue may count more: usher does not know the LimitRanges, or the RuntimeClass of the pods")
        reasons += outlook_texts.reasons(ever if answer is Answer.NEVER else (*ever, *now), queue, answer)
        return Section(
            authority=_AUTHORITY,
            way=tuple(way),
            answer=answer,
            reasons=tuple(dict.fromkeys(reasons)),
            balances=tuple(self._balances(queue)),
            taken=tuple(_taken(ever, now)),
            elsewhere=() if answer is Answer.FITS else self._elsewhere(local.cluster_queue),
            remedies=tuple(dict.fromkeys(outlook_texts.remedies(ever, queue, answer))),
            waits=tuple(dict.fromkeys(self._waits(now, queue))) if answer is Answer.NOT_NOW else (),
        )

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
        demand = kueue_demand.of_all(self._workload, self._facts.configuration, self._facts.additions)
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
                    yield outlook_texts.wait(shortage, flavor, ever)

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


def _unknown(way: Sequence[str], reason: str) -> Section:
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


def _taken(ever: Sequence[KueueVerdict], now: Sequence[KueueVerdict]) -> Iterator[Taken]:
    for verdict, at_once in zip(ever, now, strict=True):
        for each in at_once.choices or verdict.choices:
            yield Taken(
                pod_set=each.pods.pod_set.name,
                resources=each.resources,
                flavor=each.flavor,
                now=bool(at_once.choices),
            )
