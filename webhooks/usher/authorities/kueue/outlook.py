"""The queue of Kueue in which a workload waits: what it can ever give, what is free now, where else there is room."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from usher import model
from usher.authorities import amount_texts
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import free as kueue_free
from usher.authorities.kueue import judge, read
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.kueue.configuration import Configuration
from usher.authorities.kueue.demand import Demand
from usher.authorities.kueue.free import Free
from usher.authorities.kueue.judge import Outcome, Shortage, Unmatched, Verdict
from usher.authorities.kueue.queues import (
    NO_QUOTA,
    UNLIMITED,
    ClusterQueue,
    FlavorResource,
    LocalQueue,
    State,
    quantity_of,
)
from usher.authorities.kueue.read import Cluster
from usher.authorities.outlook import Balance, Elsewhere, Section, Taken
from usher.authorities.verdict import Answer
from usher.facts import namespaces
from usher.facts.store import Store
from usher.scheduling.requirements import Labels

_MOST: Final = 16
"""Other queues that are looked at, and entries of a list that is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kueue:
    """What is known of Kueue, and of its queues in one namespace."""

    configuration: Configuration
    cluster: Cluster
    free: Free
    queues: Mapping[str, LocalQueue] | None
    labels: Labels | None
    """Of the namespace."""
    managed: bool | None
    """Whether Kueue manages the jobs of the namespace."""


def known(facts: Store, namespace: str) -> Kueue:
    """Read once for a workload, however often it is asked about."""
    configuration, cluster = read.configuration(facts), read.of(facts)
    labels = namespaces.labels(namespace, facts)
    return Kueue(
        configuration=configuration,
        cluster=cluster,
        free=kueue_free.of(facts, cluster.capacities),
        queues=read.local_queues(facts, namespace),
        labels=labels,
        managed=kueue_slice.selects(configuration.namespace_selector, labels) if configuration.known else None,
    )


def of(workload: model.Workload, facts: Kueue, *, given: bool = False) -> Section | None:
    """What Kueue says of a workload; None where it is not asked.

    Args:
        workload: the object.
        facts: what is known.
        given: whether gpu-usher names the queue.
    """
    if workload.queue_label_path is None or workload.owner is not None:
        return None
    name = kueue_slice.queue_of(workload, facts.queues, managed=facts.managed)
    if name:
        return replace(_Asking(workload, facts).section(name), given=given)
    if facts.configuration.queues_unlabelled and facts.managed:
        there = ", ".join(islice(facts.queues or {}, _MOST))
        return Section(
            authority="Kueue",
            answer=Answer.NOT_NOW,
            reasons=("it names no queue, and Kueue holds such workloads back (manageJobsWithoutQueueName)",),
            remedies=(f"name a queue of the namespace: {there}",) if there else (),
        )
    return None


class _Asking:
    def __init__(self, workload: model.Workload, facts: Kueue) -> None:
        self._facts = facts
        self._workload = workload
        self._demands = kueue_demand.of(workload, facts.configuration)

    def section(self, name: str) -> Section:
        way = [f"LocalQueue {name}"]
        queues = self._facts.queues
        if queues is None:
            return _unknown(way, "nothing is known of LocalQueues")
        local = queues.get(name)
        if local is None:
            reason = f"namespace {self._workload.namespace} has no LocalQueue {name}"
            return self._held(way, [reason], elsewhere=self._elsewhere(""))
        way.append(f"ClusterQueue {local.cluster_queue}")
        known = self._facts.cluster.queues
        if known is None:
            return _unknown(way, "nothing is known of ClusterQueues")
        queue = known.get(local.cluster_queue)
        if queue is None:
            reason = f"there is no ClusterQueue {local.cluster_queue}"
            return self._held(way, [reason], elsewhere=self._elsewhere(local.cluster_queue))
        way += _cohorts(queue, self._facts.cluster)
        return self._judged(way, local, queue)

    def _judged(self, way: Sequence[str], local: LocalQueue, queue: ClusterQueue) -> Section:
        ever, now = self._verdicts(queue), self._verdicts(queue, now=True)
        answer = _answer(ever, now)
        reasons = [*_held_back(local.state, f"LocalQueue {local.name}"), *_held_back(queue.state, _named(queue))]
        selected = kueue_slice.selects(queue.namespace_selector, self._facts.labels)
        if selected is False:
            reasons.append(f"{_named(queue)} does not select namespace {self._workload.namespace}")
        if reasons and answer in (Answer.FITS, Answer.COULD):
            answer = Answer.NOT_NOW
        if selected is None:
            reasons.append(f"whether {_named(queue)} selects namespace {self._workload.namespace} is not known")
            answer = answer if answer is Answer.NEVER else Answer.UNKNOWN
        part = kueue_demand.part(self._workload)
        if part:
            reasons.append(f"Kueue admits every {part} by itself; this is what one of them asks for")
        if part and answer is Answer.FITS and not self._fit_together(queue):
            answer = Answer.COULD
            reasons.append(f"there is room for a {part} now, but not for all of them")
        stands = ever if answer is Answer.NEVER else (*ever, *now)
        reasons += _reasons(stands, queue, answer)
        return Section(
            authority="Kueue",
            way=tuple(way),
            answer=answer,
            reasons=tuple(dict.fromkeys(reasons)),
            balances=tuple(self._balances(queue)),
            taken=tuple(_taken(ever, now)),
            elsewhere=() if answer is Answer.FITS else self._elsewhere(local.cluster_queue),
            remedies=tuple(dict.fromkeys(_remedies(ever, queue, answer))),
            waits=tuple(dict.fromkeys(self._waits(now, queue, answer))),
        )

    def _held(self, way: Sequence[str], reasons: Sequence[str], *, elsewhere: tuple[Elsewhere, ...]) -> Section:
        return Section(
            authority="Kueue", way=tuple(way), answer=Answer.NOT_NOW, reasons=tuple(reasons), elsewhere=elsewhere
        )

    def _verdicts(self, queue: ClusterQueue, *, now: bool = False) -> tuple[Verdict, ...]:
        facts = self._facts
        giving = facts.free if now else None
        return tuple(
            judge.judge(demand, queue, facts.cluster, facts.configuration, giving=giving) for demand in self._demands
        )

    def _fit_together(self, queue: ClusterQueue) -> bool:
        """Whether there is room now for all that Kueue admits one after the other."""
        facts = self._facts
        demand = kueue_demand.of_all(self._workload, facts.configuration)
        found = judge.judge(demand, queue, facts.cluster, facts.configuration, giving=facts.free)
        return found.outcome is not Outcome.NEVER

    def _elsewhere(self, besides: str) -> tuple[Elsewhere, ...]:
        """Other queues of the namespace that could admit the workload, those first where it fits now."""
        known, found = self._facts.cluster.queues or {}, []
        for each in islice((self._facts.queues or {}).values(), _MOST):
            queue = known.get(each.cluster_queue)
            if (
                queue is None
                or each.cluster_queue == besides
                or not each.state == queue.state == State()
                or not kueue_slice.selects(queue.namespace_selector, self._facts.labels)
            ):
                continue
            answer = _answer(self._verdicts(queue), self._verdicts(queue, now=True))
            if answer not in (Answer.NEVER, Answer.UNKNOWN):
                found.append(Elsewhere(queue=each.name, behind=each.cluster_queue, answer=answer))
        order = list(Answer)
        return tuple(sorted(found, key=lambda each: -order.index(each.answer)))

    def _waits(self, now: Sequence[Verdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
        """What has to come free, for each resource in the flavor that has most of it."""
        for verdict in now if answer is Answer.NOT_NOW else ():
            for shortage in verdict.shortages[:_MOST]:
                resource = shortage.resource
                for flavor in shortage.flavors[:1]:
                    ever = self._facts.cluster.capacities.bound(queue, (flavor.flavor, resource))
                    taken = amount_texts.text(resource, quantity_of(resource, max(ever - flavor.most, 0)))
                    most = amount_texts.named(resource, quantity_of(resource, ever), up=False)
                    needed = amount_texts.text(resource, quantity_of(resource, shortage.total))
                    yield f"wait: {taken} of {most} in flavor {flavor.flavor} are taken now, and {needed} are needed"

    def _balances(self, queue: ClusterQueue) -> Iterator[Balance]:
        names = sorted({name for demand in self._demands for each in demand.asked for name in each.each})
        for name in names:
            asks = max(_total(demand, name) for demand in self._demands)
            group = queue.quotas.group_of(name)
            for flavor in () if group is None or not asks else group.flavors:
                yield self._balance(queue, (flavor, name), asks)

    def _balance(self, queue: ClusterQueue, key: FlavorResource, asks: int) -> Balance:
        flavor, resource = key
        most = self._facts.cluster.capacities.bound(queue, key)
        own = min(queue.quotas.by_flavor.get(key, NO_QUOTA).nominal, most)
        reserved = self._facts.free.reserved(queue, key)
        free = None if self._facts.free.problems(queue) else self._facts.free.of(queue, key)
        return Balance(
            of=f"flavor {flavor}",
            resource=resource,
            asks=quantity_of(resource, asks),
            most=None if most == UNLIMITED else quantity_of(resource, most),
            own=quantity_of(resource, own) if own != most else None,
            used=None if reserved is None else quantity_of(resource, reserved),
            free=None if free is None else quantity_of(resource, free),
        )


def _total(demand: Demand, resource: str) -> int:
    return sum(each.total(resource) for each in demand.asked)


def _unknown(way: Sequence[str], reason: str) -> Section:
    return Section(authority="Kueue", way=tuple(way), answer=Answer.UNKNOWN, reasons=(reason,))


def _named(queue: ClusterQueue) -> str:
    return f"ClusterQueue {queue.name}"


def _cohorts(queue: ClusterQueue, cluster: Cluster) -> Iterator[str]:
    """Those above a queue; of a tree that is none only the first."""
    name, counted = queue.cohort, cluster.capacities.counted
    for _ in range(_MOST):
        if not name:
            return
        yield f"cohort {name}"
        name = counted[name].parent if name in counted else ""


def _answer(ever: Sequence[Verdict], now: Sequence[Verdict]) -> Answer:
    outcomes = {verdict.outcome for verdict in ever}
    if Outcome.NEVER in outcomes:
        return Answer.NEVER
    if Outcome.UNKNOWN in outcomes:
        return Answer.UNKNOWN
    at_once = {verdict.outcome for verdict in now}
    if Outcome.NEVER in at_once:
        return Answer.NOT_NOW
    certain = at_once == {Outcome.ADMISSIBLE} and all(verdict.takes_all for verdict in now)
    return Answer.FITS if certain else Answer.COULD


def _held_back(state: State, queue: str) -> Iterator[str]:
    if state.stop_policy:
        yield f"{queue} is stopped (stopPolicy {state.stop_policy})"
    elif state.inactive:
        message = f": {state.message}" if state.message else ""
        yield f"{queue} is not active ({state.inactive}){message}"


def _reasons(found: Sequence[Verdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
    for verdict in found:
        for name in verdict.uncovered[:_MOST]:
            yield f"{_named(queue)} has no quota for {name}"
        for unmatched in verdict.unmatched[:_MOST]:
            yield _no_flavor(unmatched)
        for shortage in verdict.shortages[:_MOST]:
            yield _short(shortage, now=answer is not Answer.NEVER)
        yield from verdict.unknowns[:_MOST]
        if not verdict.takes_all:
            yield "there is room for all pods, but Kueue may choose flavors, pod set by pod set, so that some find none"


def _no_flavor(unmatched: Unmatched) -> str:
    reasons = "; ".join(f"{each.flavor}: {each.reason}" for each in unmatched.refusals[:_MOST])
    pods = unmatched.asked.pod_set.name or "the pods"
    return f"no flavor takes {pods} for {', '.join(unmatched.resources[:_MOST])} ({reasons or 'there is none'})"


def _short(shortage: Shortage, *, now: bool) -> str:
    resource = shortage.resource
    gives = [
        f"{amount_texts.text(resource, quantity_of(resource, each.most), up=False)} in flavor {each.flavor}"
        for each in shortage.flavors[:_MOST]
    ]
    asked = amount_texts.named(resource, quantity_of(resource, shortage.total))
    verb = "free now:" if now else "the queue can ever give"
    together = " (enough of each resource, but not of all in one flavor)" if shortage.together else ""
    return f"{asked} asked for; {verb} {', '.join(gives) or 'nothing'}{together}"


def _taken(ever: Sequence[Verdict], now: Sequence[Verdict]) -> Iterator[Taken]:
    for verdict, at_once in zip(ever, now, strict=True):
        for each in at_once.taken or verdict.taken:
            yield Taken(
                pod_set=each.asked.pod_set.name,
                resources=each.resources,
                flavor=each.flavor,
                now=bool(at_once.taken),
            )


def _remedies(ever: Sequence[Verdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
    for verdict in ever:
        for unmatched in verdict.unmatched[:_MOST]:
            for refusal in unmatched.refusals[:_MOST]:
                if refusal.untolerated:
                    pods = unmatched.asked.pod_set.name or "the pods"
                    yield f"tolerate {refusal.untolerated} in {pods}, so that flavor {refusal.flavor} takes them"
        if answer is Answer.NEVER and not (verdict.uncovered or verdict.unmatched) and len(verdict.shortages) == 1:
            yield from _more_quota(verdict.shortages[0], queue)


def _more_quota(shortage: Shortage, queue: ClusterQueue) -> Iterator[str]:
    """How much more of one flavor it would take, where there is no choice of flavors.

    Whatever the limits in its tree, a queue can give as much more as its nominalQuota is raised by.
    """
    if len(shortage.flavors) == 1 and not shortage.together:
        flavor, resource = shortage.flavors[0], shortage.resource
        more = amount_texts.named(resource, quantity_of(resource, shortage.total - flavor.most))
        yield f"raise the nominalQuota of {_named(queue)} in flavor {flavor.flavor} by {more}"
