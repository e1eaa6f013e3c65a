"""Law: first, do no harm. A property is a function that yields how the mutations harm a case."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from mutation_properties import Case
from usher import model
from usher.authorities import pool_fit
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.places import Place, Places, PodDemand

_EVERYTHING = {"operator": "Exists"}

_OF_OTHERS = frozenset({"kueueLabel", "gangSetting", "schedulerName", "priorityClass", "mount", "network"})
"""Fields of intents that have an effect only if the cluster has another object: a queue, a class, a network."""


_OF_FILES: Final = frozenset({"USH1481", "USH1482", "USH1483"})
"""Findings that only files can have: the API server drops or refuses keys that nothing reads."""


def finds_more(case: Case) -> Iterator[str]:
    """A finding is the same if its check says the same, or says something about the same field."""
    before, after = _judged(case)
    fields = {(each.code, _field(each.finding.path)) for each in before}
    messages = {(each.code, each.finding.message) for each in before}
    for each in after:
        if each.code in _OF_FILES:
            continue
        if (each.code, _field(each.finding.path)) not in fields and (each.code, each.finding.message) not in messages:
            yield f"{each.code} {each.finding.path}: {each.finding.message}"


def _field(path: str) -> str:
    """A path, in which a limit and the request that a mutation makes of it are the same."""
    return path.replace("/resources/requests/", "/resources/limits/")


def denies_more(case: Case) -> Iterator[str]:
    before, after = (
        {each.code for each in judgements if each.outcome is model.Outcome.DENY} for judgements in _judged(case)
    )
    if after - _OF_FILES and not before:
        yield f"denied for {', '.join(sorted(after))}"


def _judged(case: Case) -> tuple[tuple[model.Judgement, ...], tuple[model.Judgement, ...]]:
    after = replace(case.request, value=case.merged.value)
    return case.evaluator.decide(case.request).judgements, case.evaluator.decide(after).judgements


def keeps_pods_off_a_pool(case: Case) -> Iterator[str]:
    """Pods fit the pools that they fitted before, with their taints and without, and as many on a node.

    Pools that usher.yaml keeps for others (`for`) do not count.
    """
    known = case.evaluator.knowledge
    all_places = nodes_places.places_of_cluster(
        known.facts.nodes.now, case.evaluator.config.pools, case.evaluator.vocabulary
    )
    now = case.read(case.merged.value)
    for before, after in zip(case.workload.pod_sets, now.pod_sets if now is not None else (), strict=True):
        first, then = (nodes_places.demand_of_pod_set(each, case.evaluator.vocabulary) for each in (before, after))
        of_others = _kept_for_others(case, before)
        for place in all_places.all:
            if _offers(place, before, case) and (place.pool is None or place.pool.name not in of_others):
                harms = _harms(first, then, place, all_places)
                yield from (f"{before.path!r} {harm} on {place.name}" for harm in harms)


def _kept_for_others(case: Case, pod_set: model.PodSet) -> frozenset[str]:
    workload = case.evaluator.workload(case.request)
    if workload is None:
        return frozenset()
    where = declared_pools.placements(case.evaluator.knowledge).where(pod_set, workload=workload)
    return frozenset(kept.pool.name for kept in where.kept_off)


def _offers(place: Place, pod_set: model.PodSet, case: Case) -> bool:
    """Whether the nodes may have the devices that the pods claim; true where usher knows no pool with them."""
    pools = case.evaluator.config.pools
    found = pool_fit.offering_pools(pod_set, pools, case.evaluator.vocabulary)
    return place.pool is None or not found.pools or place.pool in found.pools


def _harms(before: PodDemand, after: PodDemand, place: Place, known: Places) -> Iterator[str]:
    if _fits(before, place, known) and not _fits(after, place, known):
        yield "fits no more"
    tolerating = before.tolerating(_EVERYTHING), after.tolerating(_EVERYTHING)
    if _fits(tolerating[0], place, known):
        if not _fits(tolerating[1], place, known):
            yield "fits no more, whatever it tolerates"
        elif _on_one_node(after, place) < _on_one_node(before, place):
            yield f"fits {_on_one_node(after, place)} times, not {_on_one_node(before, place)} times,"


def _fits(demand: PodDemand, place: Place, known: Places) -> bool:
    return nodes_judge.could_hold(demand, place, known.nodes)


def _on_one_node(demand: PodDemand, place: Place) -> int:
    """How many of the pods one node of a pool holds; a million where nothing bounds them."""
    return max(
        min((amounts[name] // asked for name, asked in demand.amounts.items() if name in amounts), default=10**6)
        for amounts in place.frontier
    )


def gives_what_no_controller_serves(case: Case) -> Iterator[str]:
    """For a known cluster without the objects that intents need."""
    for intent in case.merged.applied:
        if intent.field in _OF_OTHERS and intent.needs:
            yield f"{intent.mutation} sets {intent.field} at {intent.at!r}"
