"""The node-pool part of the Rego input: where the pods of a pod set could run.

The pools of usher.yaml decide. Where no declared pool offers what the pods ask for, the pools that nodes form decide.
Where these do not fit either, usher assumes the usual taints.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Final

import orjson

from usher import memo, model
from usher.accelerators import offers, pool_taints
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import hardware, pool_amounts, pool_uses
from usher.authorities.nodes.pool_input import (
    NOWHERE,
    PoolFitInput,
    PoolsInput,
    SelectedDevicesInput,
    TaintInput,
    ToleratedInput,
)
from usher.cluster.facts import node_pools
from usher.config import models
from usher.config import pools as config_pools
from usher.dataclass import dataclass
from usher.model import placement
from usher.scheduling import pool_placement

_LARGEST: Final = 2048
"""The most bytes of selectors and tolerations in a kept answer; real pods have a few hundred."""

_USUAL_EFFECT: Final = "NoSchedule"
"""The effect to assume for the taint of accelerator nodes, where no pool is declared (docs/domain/nodes.md#taints)."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A pod set, compared only by what its placement depends on."""

    key: bytes
    """A digest; empty where the answer is not kept."""
    pod_set: model.PodSet = field(compare=False)
    refusals: pool_uses.Refusals = field(compare=False)
    otherwise: pool_uses.Refusals = field(compare=False)
    """The refusals that hold whatever the role is; used where the role is uncertain and leaves no pool."""


def _looks_at_nodes(pod_set: model.PodSet) -> bool:
    return bool(pod_set.node_selector or pod_set.required_terms or pod_set.tolerations)


def _asked(pod_set: model.PodSet) -> list[str]:
    """The names of resources and device classes that a pod set asks for."""
    of_requests = (name for each in pod_set.requests for name in (each.name, each.like, *each.instead) if name)
    return [*dict.fromkeys((*pod_set.accelerators, *of_requests))]


class PoolPlacements:
    """Answers for one configuration, kept because most pods of a cluster have the same placement."""

    def __init__(
        self, config: models.Config, vocabulary: Vocabulary, *, found: tuple[config_pools.Pool, ...] = ()
    ) -> None:
        """Takes the pools that nodes form as `found`."""
        self._config = config
        self._vocabulary = vocabulary
        self._uses = pool_uses.PoolUses(config, vocabulary)
        self.found = found
        self._kept = lru_cache(maxsize=1024)(self._work_out)

    def of(self, pod_set: model.PodSet, *, workload: model.Workload) -> PoolsInput:
        """The answer for one pod set of a workload. Callers must not change it."""
        # The unknown part of a pod may ask for accelerators.
        if not pod_set.asks_accelerators and not (pod_set.whole and _looks_at_nodes(pod_set)):
            return NOWHERE
        question = self._question(pod_set, workload)
        return self._kept(question) if question.key else self._work_out(question)

    def _question(self, pod_set: model.PodSet, workload: model.Workload) -> _Question:
        refusals = otherwise = pool_uses.EVERY_POOL
        if pod_set.asks_accelerators and self._uses.any:  # ordinary pods may use any node
            refusals = self._uses.refusals(pod_set, namespace=workload.namespace, role=workload.role)
            otherwise = refusals
            if refusals and workload.owner is not None:
                otherwise = self._uses.refusals(pod_set, namespace=workload.namespace, role=None)
        text = orjson.dumps(
            (
                dict(refusals),
                dict(otherwise),
                pod_set.asks_accelerators,
                list(pod_set.accelerators),
                [(each.route, each.name, each.like, each.instead) for each in pod_set.requests],
                [quantity.value for quantity in pod_set.accelerators.values()],
                pod_set.node_selector,
                pod_set.has_required_affinity,
                pod_set.required_terms,
                pod_set.tolerations,
            )
        )
        key = memo.digest(text) if len(text) <= _LARGEST else b""
        return _Question(key, pod_set, refusals, otherwise)

    def where(self, pod_set: model.PodSet, *, workload: model.Workload) -> pool_placement.Placement:
        """The placement of one pod set, for people who ask."""
        return self._placement(self._question(pod_set, workload))

    def _placement(self, question: _Question) -> pool_placement.Placement:
        pools = self._config.pools
        offering = offers.offering(question.pod_set, pools, self._vocabulary).pools
        found = pool_placement.placement(question.pod_set, pools, offering, question.refusals)
        if not found.fits and found.kept_off:
            # A controller's object may have another role than its owner, whose template has been placed.
            found = pool_placement.placement(question.pod_set, pools, offering, question.otherwise)
        return _without_small_pools(found, question.pod_set)

    def _work_out(self, question: _Question) -> PoolsInput:
        pod_set, where = question.pod_set, self._placement(question)
        pools = self._config.pools
        offering = offers.offering(pod_set, pools, self._vocabulary)
        undeclared = self._undeclared(pod_set, offering.pools) if where.declared else {}
        machines = hardware.undeclared_machines(pod_set, offering.pools) if pod_set.asks_accelerators else {}
        elsewhere = self._found_fits(pod_set) if undeclared or not where.declared else ()
        declared = where.declared and not elsewhere
        fits = where.fits if declared else elsewhere
        result: PoolsInput = {
            "poolsDeclared": declared,
            "selectsAcceleratorNodes": list(where.selected),
            "fits": [self._fit(fit) for fit in fits],
            "assumedTaints": [] if pools or fits else self._assumed_taints(pod_set),
            "tolerated": [] if pod_set.asks_accelerators else list(self._tolerated(pod_set, fits)),
        }
        if elsewhere:
            result["poolsFound"] = True
        elif undeclared:
            result["undeclaredDevices"] = _selected(undeclared)
        if declared and machines:
            result["undeclaredMachines"] = _selected(machines)
        if offering.unmatched and pools:
            result["unmatchedClasses"] = list(offering.unmatched)
        if where.kept_off:
            result["keptOff"] = [{"pool": each.pool.name, "reason": each.reason} for each in where.kept_off]
        if pod_set.asks_accelerators and where.numbers:
            result["numbers"] = {key: sorted(values) for key, values in where.numbers.items()}
        return result

    def _undeclared(self, pod_set: model.PodSet, offering: Sequence[config_pools.Pool]) -> dict[str, list[str]]:
        selects = pod_set.node_selector or pod_set.has_required_affinity
        return hardware.undeclared(pod_set, offering) if pod_set.asks_accelerators and selects else {}

    def _found_fits(self, pod_set: model.PodSet) -> tuple[pool_placement.PoolFit, ...]:
        """The found pools that are open to the pods, apart from taints of accelerator nodes.

        Another taint keeps a pool for some users, so usher adds no toleration of it. Pods that claim devices fit no
        found pool, because nodes do not tell which devices they have.
        """
        if pod_set.asks_accelerators and not pod_set.accelerators:
            return ()
        offering = offers.offering(pod_set, self.found, self._vocabulary).pools
        return tuple(
            fit
            for fit in pool_placement.placement(pod_set, self.found, offering).fits
            if pool_amounts.is_large_enough(fit.pool, pod_set) and not self._is_reserved(fit)
        )

    def _is_reserved(self, fit: pool_placement.PoolFit) -> bool:
        return not all(self._vocabulary.marks_accelerators(taint.key, taint.value) for taint in fit.untolerated)

    def _tolerated(self, pod_set: model.PodSet, fits: Sequence[pool_placement.PoolFit]) -> Iterator[ToleratedInput]:
        # The pod cannot enter a pool with another untolerated taint.
        guards = [guard for fit in fits if not fit.untolerated and (guard := self._guard(fit.pool)) is not None]
        for index, toleration in enumerate(pod_set.tolerations):
            if self._config.pools or self.found:
                keys = [guard.key for guard in guards if placement.tolerates(toleration, guard)]
            elif toleration.get("effect") in (None, "", _USUAL_EFFECT):
                keys = [key for key in self._vocabulary.taint_keys if placement.tolerates_key(toleration, key)]
            else:
                keys = []
            if keys:
                yield {"index": index, "taint": keys[0]}

    def _guard(self, pool: config_pools.Pool) -> config_pools.Taint | None:
        """The taint that keeps other pods off. Nodes may have further taints, as spot nodes do."""
        guarding = [taint for taint in pool.taints if taint.effect in placement.GUARDING]
        usual = (taint for taint in guarding if self._vocabulary.marks_accelerators(taint.key, taint.value))
        # A site declares the taints that guard its pools; taints of nodes may have any purpose.
        declared = guarding if self._config.pools else []
        return next(usual, declared[0] if declared else None)

    def _fit(self, fit: pool_placement.PoolFit) -> PoolFitInput:
        result: PoolFitInput = {
            "pool": fit.pool.name,
            "labels": dict(fit.pool.node_selector),
            "untolerated": [self._taint(taint, fit.pool) for taint in fit.untolerated],
        }
        board = pool_uses.board(fit.pool)
        if board:
            result["board"] = board
        if fit.pool.fabric is not None:
            result["fabric"] = fit.pool.fabric
        if fit.pool.gpu is not None:
            result["gpus"] = fit.pool.gpu.per_node
        return result

    def _taint(self, taint: config_pools.Taint, pool: config_pools.Pool) -> TaintInput:
        result: TaintInput = {"key": taint.key, "value": taint.value, "effect": taint.effect}
        operator = pool_taints.operator(taint, self._vocabulary, for_these_pods=pool.serves is not None)
        if operator is not None:
            result["operator"] = operator
        return result

    def _assumed_taints(self, pod_set: model.PodSet) -> list[str]:
        keys = {key for name in _asked(pod_set) if (key := self._vocabulary.taint_key(name)) is not None}
        return sorted(
            key
            for key in keys
            if not any(placement.tolerates_key(toleration, key) for toleration in pod_set.tolerations)
        )


def _selected(labels: Mapping[str, list[str]]) -> list[SelectedDevicesInput]:
    return [{"label": key, "values": values} for key, values in labels.items()]


def _without_small_pools(found: pool_placement.Placement, pod_set: model.PodSet) -> pool_placement.Placement:
    """Leaves out pools whose nodes are too small for one pod. If all are, the verdict about the nodes says so."""
    fits = tuple(fit for fit in found.fits if pool_amounts.is_large_enough(fit.pool, pod_set))
    return replace(found, fits=fits) if 0 < len(fits) < len(found.fits) else found


def placements(known: Knowledge) -> PoolPlacements:
    """The placements by the configuration of `known` and its nodes."""
    found = _found(known)
    kept = known.once("placements", dict[str, PoolPlacements])
    last = kept.get("last")
    if last is None or (last.found is not found and last.found != found):
        last = kept["last"] = PoolPlacements(known.config, known.vocabulary, found=found)
    return last


def _found(known: Knowledge) -> tuple[config_pools.Pool, ...]:
    """The pools that the nodes form now; made again only after a node has changed."""
    table = known.facts.nodes
    if not table.known:
        return ()
    return known.derived(
        "pools of nodes",
        [("", "Node")],
        lambda: tuple(each.pool for each in node_pools.found_pools(table.now, known.vocabulary)),
    )
