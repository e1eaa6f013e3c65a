"""Formats reasons and remedies of Kueue for `usher queue`."""

from collections.abc import Iterator, Sequence
from typing import Final

from usher.authorities import amount_texts
from usher.authorities.kueue.queues import ClusterQueue, LocalQueue, State, quantity_of
from usher.authorities.kueue.verdict import FlavorCapacity, FlavorShortage, KueueVerdict, UnmatchedPods
from usher.authorities.verdict import Answer

_MOST: Final = 16
"""How many entries of a list are named."""


def obstacles(local: LocalQueue, queue: ClusterQueue, namespace: str, *, selected: bool | None) -> Iterator[str]:
    """Reasons that hold back all workloads of the namespace in a queue."""
    yield from _held_back(local.state, f"LocalQueue {local.name}")
    yield from _held_back(queue.state, _named(queue))
    if selected is False:
        yield f"{_named(queue)} does not select namespace {namespace}"


def reasons(verdicts: Sequence[KueueVerdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
    """Reasons that hold back one workload."""
    for verdict in verdicts:
        if verdict.pod_set_limit is not None:
            limit = verdict.pod_set_limit
            yield f"it has {limit.pod_sets} pod sets, and Kueue {limit.version} accepts at most {limit.most}"
        for name in verdict.uncovered[:_MOST]:
            yield f"{_named(queue)} has no quota for {name}"
        for unmatched in verdict.unmatched[:_MOST]:
            yield _no_flavor(unmatched)
        for shortage in verdict.shortages[:_MOST]:
            yield _shortage(shortage, now=answer is not Answer.NEVER)
        yield from verdict.unknowns[:_MOST]
        if not verdict.takes_all:
            yield "all pods would fit, but some pods may find no room, because Kueue chooses flavors pod set by pod set"


def remedies(verdicts: Sequence[KueueVerdict], queue: ClusterQueue, answer: Answer) -> Iterator[str]:
    """Changes of the workload or the queue that would help."""
    for verdict in verdicts:
        for unmatched in verdict.unmatched[:_MOST]:
            for refusal in unmatched.refusals[:_MOST]:
                if refusal.untolerated:
                    pods = unmatched.pods.pod_set.name or "the pods"
                    yield f"tolerate {refusal.untolerated} in {pods}, so that flavor {refusal.flavor} takes them"
        others = verdict.uncovered or verdict.unmatched or verdict.pod_set_limit
        if answer is Answer.NEVER and not others and len(verdict.shortages) == 1:
            yield from _more_quota(verdict.shortages[0], queue)


def wait(shortage: FlavorShortage, flavor: FlavorCapacity, ever: int) -> str:
    """The text about the amount that must become free in a flavor; `ever` is the most that the flavor could give."""
    resource = shortage.resource
    taken = amount_texts.text(resource, quantity_of(resource, max(ever - flavor.most, 0)))
    most = amount_texts.named(resource, quantity_of(resource, ever), up=False)
    needed = amount_texts.text(resource, quantity_of(resource, shortage.total))
    return f"wait: {taken} of {most} in flavor {flavor.flavor} are taken now, and {needed} are needed"


def _named(queue: ClusterQueue) -> str:
    return f"ClusterQueue {queue.name}"


def _held_back(state: State, queue: str) -> Iterator[str]:
    if state.stop_policy:
        yield f"{queue} is stopped (stopPolicy {state.stop_policy})"
    elif state.inactive:
        message = f": {state.message}" if state.message else ""
        yield f"{queue} is not active ({state.inactive}){message}"


def _no_flavor(unmatched: UnmatchedPods) -> str:
    refusals = "; ".join(f"{each.flavor}: {each.reason}" for each in unmatched.refusals[:_MOST])
    pods = unmatched.pods.pod_set.name or "the pods"
    resources = ", ".join(unmatched.resources[:_MOST])
    return f"no flavor takes {pods} for {resources} ({refusals or 'the group has no flavor'})"


def _shortage(shortage: FlavorShortage, *, now: bool) -> str:
    resource = shortage.resource
    gives = [
        f"{amount_texts.text(resource, quantity_of(resource, each.most), up=False)} in flavor {each.flavor}"
        for each in shortage.flavors[:_MOST]
    ]
    asked = amount_texts.named(resource, quantity_of(resource, shortage.total))
    verb = "free now:" if now else "the queue can ever give"
    together = " (enough of each resource, but not of all in one flavor)" if shortage.together else ""
    return f"{asked} asked for; {verb} {', '.join(gives) or 'nothing'}{together}"


def _more_quota(shortage: FlavorShortage, queue: ClusterQueue) -> Iterator[str]:
    """How much more quota the flavor needs, where only one flavor takes the pods.

    The capacity of the queue grows as much as its nominalQuota, for any limits above it.
    """
    if shortage.more is not None:
        flavor, resource = shortage.flavors[0], shortage.resource
        more = amount_texts.named(resource, quantity_of(resource, shortage.more))
        yield f"raise the nominalQuota of {_named(queue)} in flavor {flavor.flavor} by {more}"
