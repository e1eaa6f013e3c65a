"""The node-pool part of the Rego input: where the pods of a pod set could run, by the pools of usher.yaml."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NotRequired

import orjson
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.accelerators import offers, pool_taints
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import pool_uses
from usher.config import models
from usher.scheduling import pool_placement, taints

_LARGEST: Final = 2048
"""The most bytes of selectors and tolerations in a kept answer; real pods have a few hundred."""

_USUAL_EFFECT: Final = "NoSchedule"
"""The effect to assume for the taint of accelerator nodes, where no pool is declared (docs/domain/nodes.md#taints)."""


class TaintInput(TypedDict):
    key: str
    value: str
    effect: str
    operator: NotRequired[str]
    """The operator with which a mutation tolerates the taint; absent where only the user may tolerate it."""


class PoolFitInput(TypedDict):
    """A declared pool that fits the pods, apart from taints that they do not tolerate."""

    pool: str
    labels: dict[str, str]
    untolerated: list[TaintInput]
    fabric: NotRequired[str]
    """The name of the pool's interconnect profile in `input.fabrics`."""
    gpus: NotRequired[int]
    """GPUs of one node."""
    board: NotRequired[str]
    """The board of its nodes, where usher.yaml names it."""


class KeptOffInput(TypedDict):
    """A declared pool that would fit the pods, but that is for others."""

    pool: str
    reason: str


class ToleratedInput(TypedDict):
    """A toleration without which a pod could not run on some accelerator nodes."""

    index: int
    taint: str
    """The key of the taint."""


class PoolsInput(TypedDict):
    """The node-pool fields of a pod set in the Rego input."""

    poolsDeclared: bool
    selectsAcceleratorNodes: list[bool]
    """For each alternative of node selector and affinity: whether it allows only accelerator nodes."""
    fits: list[PoolFitInput]
    assumedTaints: list[str]
    """Keys of untolerated taints that accelerator nodes usually have; empty where pools are declared."""
    tolerated: list[ToleratedInput]
    """The taints of accelerator nodes that the pods tolerate, where the pods ask for no accelerator."""
    unmatchedClasses: NotRequired[list[str]]
    """Device classes whose pools usher does not know, although usher.yaml declares pools."""
    keptOff: NotRequired[list[KeptOffInput]]
    """Absent without these pools."""
    numbers: NotRequired[dict[str, list[int]]]
    """Labels with a whole number on every node that an accelerator pod may run on, with these numbers."""


NOWHERE: Final[PoolsInput] = {
    "poolsDeclared": False,
    "selectsAcceleratorNodes": [],
    "fits": [],
    "assumedTaints": [],
    "tolerated": [],
}


@dataclass(frozen=True, slots=True)
class _Question:
    """A pod set, compared only by what its placement depends on."""

    key: bytes
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

    def __init__(self, config: models.Config, vocabulary: Vocabulary) -> None:
        self._config = config
        self._vocabulary = vocabulary
        self._uses = pool_uses.PoolUses(config, vocabulary)
        self._kept = lru_cache(maxsize=1024)(self._work_out)

    def of(self, pod_set: model.PodSet, *, workload: model.Workload) -> PoolsInput:
        """The answer for one pod set of a workload. Callers must not change it."""
        # The unknown part of a pod may ask for accelerators.
        if not pod_set.asks_accelerators and not (pod_set.whole and _looks_at_nodes(pod_set)):
            return NOWHERE
        question = self._question(pod_set, workload)
        return self._kept(question) if len(question.key) <= _LARGEST else self._work_out(question)

    def _question(self, pod_set: model.PodSet, workload: model.Workload) -> _Question:
        refusals = otherwise = pool_uses.EVERY_POOL
        if pod_set.asks_accelerators and self._uses.any:  # ordinary pods may use any node
            refusals = self._uses.refusals(pod_set, namespace=workload.namespace, role=workload.role)
            otherwise = refusals
            if refusals and workload.owner is not None:
                otherwise = self._uses.refusals(pod_set, namespace=workload.namespace, role=None)
        key = orjson.dumps(
            (
                dict(refusals),
                dict(otherwise),
                pod_set.asks_accelerators,
                list(pod_set.accelerators),
                [(each.route, each.name, each.like, each.instead) for each in pod_set.requests],
                pod_set.node_selector,
                pod_set.has_required_affinity,
                pod_set.required_terms,
                pod_set.tolerations,
            )
        )
        return _Question(key, pod_set, refusals, otherwise)

    def where(self, pod_set: model.PodSet, *, workload: model.Workload) -> pool_placement.Placement:
        """The placement of one pod set, for people who ask."""
        return self._placement(self._question(pod_set, workload))

    def _placement(self, question: _Question) -> pool_placement.Placement:
        pools = self._config.pools
        offering = offers.offering(question.pod_set, pools, self._vocabulary).pools
        found = pool_placement.placement(question.pod_set, pools, offering, question.refusals)
        if found.fits or not found.kept_off:
            return found
        # The role of what a controller made may differ from that of its owner, whose template has been placed.
        return pool_placement.placement(question.pod_set, pools, offering, question.otherwise)

    def _work_out(self, question: _Question) -> PoolsInput:
        pod_set, where = question.pod_set, self._placement(question)
        found = offers.offering(pod_set, self._config.pools, self._vocabulary)
        result: PoolsInput = {
            "poolsDeclared": where.declared,
            "selectsAcceleratorNodes": list(where.selected),
            "fits": self._fits(where.fits),
            "assumedTaints": [] if self._config.pools else self._assumed_taints(pod_set),
            "tolerated": [] if pod_set.asks_accelerators else list(self._tolerated(pod_set, where.fits)),
        }
        if found.unmatched and self._config.pools:
            result["unmatchedClasses"] = list(found.unmatched)
        if where.kept_off:
            result["keptOff"] = [{"pool": each.pool.name, "reason": each.reason} for each in where.kept_off]
        if pod_set.asks_accelerators and where.numbers:
            result["numbers"] = {key: sorted(values) for key, values in where.numbers.items()}
        return result

    def _tolerated(self, pod_set: model.PodSet, fits: Sequence[pool_placement.PoolFit]) -> Iterator[ToleratedInput]:
        # The pod cannot enter a pool with another untolerated taint.
        guards = [guard for fit in fits if not fit.untolerated and (guard := self._guard(fit.pool)) is not None]
        for index, toleration in enumerate(pod_set.tolerations):
            if self._config.pools:
                keys = [guard.key for guard in guards if taints.tolerates(toleration, guard)]
            elif toleration.get("effect") in (None, "", _USUAL_EFFECT):
                keys = [key for key in self._vocabulary.taint_keys if taints.names_key(toleration, key)]
            else:
                keys = []
            if keys:
                yield {"index": index, "taint": keys[0]}

    def _guard(self, pool: models.Pool) -> models.Taint | None:
        """The taint that keeps other pods off. Nodes may have further taints, as spot nodes do."""
        guarding = [taint for taint in pool.taints if taint.effect in taints.GUARDING]
        usual = (taint for taint in guarding if self._vocabulary.marks_accelerators(taint.key, taint.value))
        return next(usual, guarding[0] if guarding else None)

    def _fits(self, fits: Sequence[pool_placement.PoolFit]) -> list[PoolFitInput]:
        """The pools for the pods: those that they can enter with what mutations add, else all of them.

        A pool with other taints is for other pods.
        """
        found = [self._fit(fit) for fit in fits]
        return [fit for fit in found if all("operator" in taint for taint in fit["untolerated"])] or found

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

    def _taint(self, taint: models.Taint, pool: models.Pool) -> TaintInput:
        result: TaintInput = {"key": taint.key, "value": taint.value, "effect": taint.effect}
        operator = pool_taints.operator(taint, self._vocabulary, for_these_pods=pool.serves is not None)
        if operator is not None:
            result["operator"] = operator
        return result

    def _assumed_taints(self, pod_set: model.PodSet) -> list[str]:
        keys = {key for name in _asked(pod_set) if (key := self._vocabulary.taint_key(name)) is not None}
        return sorted(
            key for key in keys if not any(taints.names_key(toleration, key) for toleration in pod_set.tolerations)
        )


def placements(known: Knowledge) -> PoolPlacements:
    """The placements by the configuration of `known`."""
    return known.once("placements", lambda: PoolPlacements(known.config, known.vocabulary))
