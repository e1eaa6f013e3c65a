"""The node pools of usher.yaml on which a pod set could run: for Rego, and with reasons for people.

The pools of usher.yaml decide. Where no declared pool offers what the pods ask for, the pools that nodes form decide.
Where these do not fit either, usher assumes the usual taints.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NotRequired

import orjson
from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import memo, model
from usher.accelerators import boards, mig
from usher.accelerators.names import CLAIM_PREFIX, HIDING_VARIABLES, WHOLE_GPUS, Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import pool_fit
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.pool_fit import Placement
from usher.cluster.facts import autoscaled_pools, node_pools
from usher.config import models, pools, selection
from usher.model import placement


class TaintInput(TypedDict):
    key: str
    value: str
    effect: str
    operator: NotRequired[str]
    """The operator with which a mutation tolerates the taint; absent where only the user may tolerate it."""


class PoolFitInput(TypedDict):
    """A pool that fits the pods, apart from taints that they do not tolerate."""

    pool: str
    labels: dict[str, str]
    untolerated: list[TaintInput]
    fabric: NotRequired[str]
    """The name of the pool's interconnect profile in `input.fabrics`."""
    gpus: NotRequired[int]
    """GPUs of one node."""
    board: NotRequired[str]
    """The board of its nodes, where usher.yaml names it."""
    devices: NotRequired[list[str]]
    """Extended resources of its nodes, where usher.yaml says what they offer."""


class KeptOffInput(TypedDict):
    """A declared pool that would fit the pods, but that is for others."""

    pool: str
    reason: str


class ToleratedInput(TypedDict):
    """A toleration without which a pod could not run on some accelerator nodes."""

    index: int
    taint: str
    """The key of the taint."""


class SelectedDevicesInput(TypedDict):
    """A node label with the values that the pods allow."""

    label: str
    values: list[str]


class GigabytesInput(TypedDict):
    """The memory of the smallest and of the largest GPU."""

    least: int
    most: int


class UnmetProfileInput(TypedDict):
    """A MIG profile that a claim selects, and that no board of any pool has."""

    resource: str
    profile: str
    boards: list[str]
    """The boards of the pools."""
    instead: list[str]
    """Profiles of these boards with as many compute slices."""
    having: list[str]
    """The known boards that have the profile."""
    declared: bool
    """Whether these are the pools of usher.yaml; else nodes of the cluster form them."""


class PoolsInput(TypedDict):
    """The node-pool fields of a pod set in the Rego input."""

    poolsDeclared: bool
    poolsFound: NotRequired[bool]
    """True where no declared pool offers what the pods ask for, and `fits` are pools that usher read from nodes."""
    undeclaredDevices: NotRequired[list[SelectedDevicesInput]]
    """Devices that the pods select by a label that no pool has, neither a declared nor a found one."""
    undeclaredLabels: NotRequired[list[SelectedDevicesInput]]
    """Labels that the pods select and no declared pool names, for example machine types: their pool is not known."""
    selectsAcceleratorNodes: list[bool]
    """For each alternative of node selector and affinity: whether it allows only accelerator nodes."""
    fits: list[PoolFitInput]
    assumedTaints: list[str]
    """Keys of untolerated taints that accelerator nodes usually have; empty where pools are declared or found."""
    tolerated: list[ToleratedInput]
    """The taints of accelerator nodes that the pods tolerate, where the pods ask for no accelerator."""
    unmatchedClasses: NotRequired[list[str]]
    """Device classes whose pools usher does not know, although usher.yaml declares pools."""
    keptOff: NotRequired[list[KeptOffInput]]
    """Absent without these pools."""
    unmetProfiles: NotRequired[list[UnmetProfileInput]]
    """Only where the boards of all pools with NVIDIA's devices are known."""
    gpuMemory: NotRequired[GigabytesInput]
    """The memory of the boards on which the pods may run; absent where a pool or the node selector does not tell."""
    numbers: NotRequired[dict[str, list[int]]]
    """Labels with a whole number on every node that an accelerator pod may run on, with these numbers."""


NO_POOLS_INPUT: Final[PoolsInput] = {
    "poolsDeclared": False,
    "selectsAcceleratorNodes": [],
    "fits": [],
    "assumedTaints": [],
    "tolerated": [],
}

Refusals = Mapping[str, str]
"""Why a pool is not for some pods, by the name of the pool."""

EVERY_POOL: Final[Refusals] = MappingProxyType({})

_COUNTED: Final = (Unit.DEVICE, Unit.PARTITION, Unit.SHARE)

_BOARD_LABELS: Final = (
    boards.PRODUCT_LABEL,
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
)
"""Labels that name the board of a node (docs/domain/nodes.md#labels)."""


class PoolUses:
    """Answers for one configuration."""

    def __init__(self, config: models.Config, vocabulary: Vocabulary) -> None:
        self._restricted = [pool for pool in config.pools if pool.serves is not None]
        self.any = bool(self._restricted)
        """Whether any pool is for some pods only."""
        self._system = config.priorities.system_namespaces
        self._vocabulary = vocabulary
        self._of_workloads = lru_cache(maxsize=1024)(self._refusals_of_workloads)

    def refusals(self, pod_set: model.PodSet, *, namespace: str, role: model.Role | None) -> Refusals:
        """The pools that are not for the pods, with the reason. Callers must not change the result, because it is kept.

        Without a role, a pool for some roles is for the pods as well.
        """
        known, counting = self._of_workloads(namespace, role)
        if not counting:
            return known
        least, most = _accelerators(pod_set, self._vocabulary)
        by_count = {
            pool.name: reason
            for pool in counting
            if pool.serves is not None and (reason := _too_few_or_many(pool.serves, least, most))
        }
        return {**known, **by_count} if by_count else known

    def _refusals_of_workloads(self, namespace: str, role: model.Role | None) -> tuple[Refusals, list[pools.Pool]]:
        """Refusals by namespace and role, and the other pools that are for some numbers of accelerators."""
        if selection.matches_pattern(namespace, self._system):
            return EVERY_POOL, []
        refused = {
            pool.name: reason
            for pool in self._restricted
            if pool.serves is not None and (reason := _other_workload(pool.serves, namespace, role))
        }
        counting = [
            pool
            for pool in self._restricted
            if pool.name not in refused and pool.serves is not None and _counts_accelerators(pool.serves)
        ]
        return refused, counting


def board_of_pool(pool: pools.Pool) -> str:
    """The board of the nodes of a pool; empty where usher.yaml does not name it."""
    product = boards.by_product(pool.node_selector.get(boards.PRODUCT_LABEL, ""))
    if product is not None:
        return product.board.name
    if pool.gpu is not None and pool.gpu.board is not None:
        return pool.gpu.board
    return next((pool.node_selector[label] for label in _BOARD_LABELS if label in pool.node_selector), "")


def _counts_accelerators(use: pools.PoolUse) -> bool:
    return bool(use.min_accelerators_per_pod) or use.max_accelerators_per_pod is not None


def _other_workload(use: pools.PoolUse, namespace: str, role: model.Role | None) -> str:
    if role is not None and use.roles and role.value not in use.roles:
        return f"it is for the roles {', '.join(use.roles)}, and the role of the workload is {role}"
    if use.namespaces and not selection.matches_pattern(namespace, use.namespaces):
        return f"it is for the namespaces {', '.join(use.namespaces)}"
    return ""


def _too_few_or_many(use: pools.PoolUse, least: int, most: int | None) -> str:
    """Why no pod of the set has a number of accelerators that the pool is for; empty where one may have it."""
    if most is not None and most < use.min_accelerators_per_pod:
        return f"it is for pods with at least {use.min_accelerators_per_pod} accelerators, and a pod asks for {most}"
    limit = use.max_accelerators_per_pod
    if limit is not None and least > limit:
        return f"it is for pods with at most {limit} accelerators, and a pod asks for {least}"
    return ""


def _accelerators(pod_set: model.PodSet, vocabulary: Vocabulary) -> tuple[int, int | None]:
    """The least and the most devices, partitions and shares of one pod; None where nothing bounds them.

    A fraction of a device counts as one.
    """
    least, most = 0, 0
    unbounded = False
    for request in _countable_requests(pod_set, vocabulary):
        least += request.minimum.value
        if request.maximum is None:
            unbounded = True
        else:
            most += request.maximum.value
    if not least and not most and pod_set.requests:
        return 1, None if unbounded else 1
    return least, None if unbounded else most


def _countable_requests(pod_set: model.PodSet, vocabulary: Vocabulary) -> Iterator[model.AcceleratorRequest]:
    for request in pod_set.requests:
        meaning = vocabulary.meaning(request.name)
        if request.route is model.Route.CLAIM or (meaning is not None and meaning.unit in _COUNTED):
            yield request


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
    refusals: Refusals = field(compare=False)
    otherwise: Refusals = field(compare=False)
    """The refusals that hold whatever the role is; used where the role is uncertain and leaves no pool."""


def _looks_at_nodes(pod_set: model.PodSet) -> bool:
    return bool(pod_set.node_selector or pod_set.required_terms or pod_set.tolerations)


def _asked_names(pod_set: model.PodSet) -> list[str]:
    """The names of resources and device classes that a pod set asks for."""
    of_requests = (name for each in pod_set.requests for name in (each.name, each.like, *each.instead) if name)
    return [*dict.fromkeys((*pod_set.accelerators, *of_requests))]


class PoolPlacements:
    """Answers for one configuration, kept because most pods of a cluster have the same placement."""

    def __init__(self, config: models.Config, vocabulary: Vocabulary, *, found: tuple[pools.Pool, ...] = ()) -> None:
        """Takes the pools that nodes form as `found`."""
        self._config = config
        self._vocabulary = vocabulary
        self._uses = PoolUses(config, vocabulary)
        self.found = found
        domains = {name.partition("/")[0] for pool in (*config.pools, *found) for name in pool.resources}
        self.hiding_variables = sorted({HIDING_VARIABLES[each] for each in domains if each in HIDING_VARIABLES})
        """Variables that hide devices of these pools from containers, for vendors other than NVIDIA."""
        self.divide_gpus = any(boards.kind_of_parts(pool.node_selector) for pool in (*config.pools, *found))
        """Whether a pool offers shares or slices as whole GPUs."""
        self._kept = lru_cache(maxsize=1024)(self._work_out)

    def of(self, pod_set: model.PodSet, *, workload: model.Workload) -> PoolsInput:
        """The answer for one pod set of a workload. Callers must not change it."""
        # The unknown part of a pod may ask for accelerators.
        if not pod_set.asks_accelerators and not (pod_set.fully_known and _looks_at_nodes(pod_set)):
            return NO_POOLS_INPUT
        question = self._question(pod_set, workload)
        return self._kept(question) if question.key else self._work_out(question)

    def _question(self, pod_set: model.PodSet, workload: model.Workload) -> _Question:
        refusals = otherwise = EVERY_POOL
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
                [(each.route, each.name, each.like, each.instead, each.selects) for each in pod_set.requests],
                [quantity.value for quantity in pod_set.accelerators.values()],
                pod_set.node_selector,
                pod_set.has_required_affinity,
                pod_set.required_terms,
                pod_set.tolerations,
            )
        )
        key = memo.digest(text) if len(text) <= _LARGEST else b""
        return _Question(key, pod_set, refusals, otherwise)

    def where(self, pod_set: model.PodSet, *, workload: model.Workload) -> pool_fit.Placement:
        """The placement of one pod set, for people who ask."""
        return self._placement(self._question(pod_set, workload))

    def _placement(self, question: _Question) -> pool_fit.Placement:
        pools = self._config.pools
        offering = pool_fit.offering_pools(question.pod_set, pools, self._vocabulary).pools
        found = pool_fit.place_pod_set(question.pod_set, pools, offering, question.refusals)
        if not found.fits and found.kept_off:
            # A controller's object may have another role than its owner, whose template has been placed.
            found = pool_fit.place_pod_set(question.pod_set, pools, offering, question.otherwise)
        return _without_unfit_pools(found, question.pod_set)

    def _work_out(self, question: _Question) -> PoolsInput:
        pod_set, where = question.pod_set, self._placement(question)
        pools = self._config.pools
        offering = pool_fit.offering_pools(pod_set, pools, self._vocabulary)
        undeclared = self._undeclared(pod_set, offering.pools) if where.declared else {}
        labels = pool_fit.undeclared_labels(pod_set, offering.pools) if pod_set.asks_accelerators else {}
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
            result["undeclaredDevices"] = _selected_devices_input(undeclared)
        if declared and labels and fits:
            result["undeclaredLabels"] = _selected_devices_input(labels)
        if offering.unmatched and pools:
            result["unmatchedClasses"] = list(offering.unmatched)
        if where.kept_off:
            result["keptOff"] = [{"pool": each.pool.name, "reason": each.reason} for each in where.kept_off]
        unmet = list(_unmet_profiles(pod_set, pools or self.found, declared=bool(pools)))
        if unmet:
            result["unmetProfiles"] = unmet
        memory = _gpu_memory(pod_set, fits) if pod_set.asks_accelerators else None
        if memory is not None:
            result["gpuMemory"] = memory
        if pod_set.asks_accelerators and where.numbers:
            result["numbers"] = {key: sorted(values) for key, values in where.numbers.items()}
        return result

    def _undeclared(self, pod_set: model.PodSet, offering: Sequence[pools.Pool]) -> dict[str, list[str]]:
        selects = pod_set.node_selector or pod_set.has_required_affinity
        return pool_fit.undeclared_devices(pod_set, offering) if pod_set.asks_accelerators and selects else {}

    def _found_fits(self, pod_set: model.PodSet) -> tuple[pool_fit.PoolFit, ...]:
        """The found pools that are open to the pods, apart from taints of accelerator nodes.

        Another taint keeps a pool for some users, so usher adds no toleration of it. Pods that claim devices fit no
        found pool, because nodes do not tell which devices they have.
        """
        if pod_set.asks_accelerators and not pod_set.accelerators:
            return ()
        offering = pool_fit.offering_pools(pod_set, self.found, self._vocabulary).pools
        return tuple(
            fit
            for fit in pool_fit.place_pod_set(pod_set, self.found, offering).fits
            if nodes_places.is_large_enough(fit.pool, pod_set) and not self._is_reserved(fit)
        )

    def _is_reserved(self, fit: pool_fit.PoolFit) -> bool:
        return not all(self._vocabulary.marks_accelerators(taint.key, taint.value) for taint in fit.untolerated)

    def _tolerated(self, pod_set: model.PodSet, fits: Sequence[pool_fit.PoolFit]) -> Iterator[ToleratedInput]:
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

    def _guard(self, pool: pools.Pool) -> pools.Taint | None:
        """The taint that keeps other pods off. Nodes may have further taints, as spot nodes do."""
        guarding = [taint for taint in pool.taints if taint.effect in placement.GUARDING]
        usual = (taint for taint in guarding if self._vocabulary.marks_accelerators(taint.key, taint.value))
        # A site declares the taints that guard its pools; taints of nodes may have any purpose.
        declared = guarding if self._config.pools else []
        return next(usual, declared[0] if declared else None)

    def _fit(self, fit: pool_fit.PoolFit) -> PoolFitInput:
        result: PoolFitInput = {
            "pool": fit.pool.name,
            "labels": dict(fit.pool.node_selector),
            "untolerated": [self._taint(taint, fit.pool) for taint in fit.untolerated],
        }
        board = board_of_pool(fit.pool)
        if board:
            result["board"] = board
        if fit.pool.fabric is not None:
            result["fabric"] = fit.pool.fabric
        if fit.pool.gpu is not None:
            result["gpus"] = fit.pool.gpu.per_node
        if fit.pool.allocatable:
            result["devices"] = sorted({name for name in (*fit.pool.allocatable, *fit.pool.resources) if "/" in name})
        return result

    def _taint(self, taint: pools.Taint, pool: pools.Pool) -> TaintInput:
        result: TaintInput = {"key": taint.key, "value": taint.value, "effect": taint.effect}
        operator = pool_fit.toleration_operator(taint, self._vocabulary, for_these_pods=pool.serves is not None)
        if operator is not None:
            result["operator"] = operator
        return result

    def _assumed_taints(self, pod_set: model.PodSet) -> list[str]:
        keys = {key for name in _asked_names(pod_set) if (key := self._vocabulary.taint_key(name)) is not None}
        return sorted(
            key
            for key in keys
            if not any(placement.tolerates_key(toleration, key) for toleration in pod_set.tolerations)
        )


def _unmet_profiles(
    pod_set: model.PodSet, places: Sequence[pools.Pool], *, declared: bool
) -> Iterator[UnmetProfileInput]:
    """The profiles of claims that no board has; nothing where a board of a pool with NVIDIA's devices is unknown."""
    selected = {each.selects: mig.profile_of_resource(each.selects) for each in pod_set.requests if each.selects}
    profiles = {name: advertised.profile for name, advertised in selected.items() if advertised is not None}
    offering = [each for each in places if any(name.startswith(_NVIDIA) for name in each.resources)] if profiles else []
    names = {board_of_pool(each) for each in offering}
    found = {name: boards.named(name) for name in names}
    known = all(board is not None or boards.gigabytes({boards.PRODUCT_LABEL: name}) for name, board in found.items())
    divisible = [board for board in found.values() if board is not None]
    for resource, profile in profiles.items() if names and known else ():
        if not any(board.offer(profile) for board in divisible):
            offers = {str(name) for board in divisible for offer in board.offers for name in offer.names}
            alike = (each for each in offers if each.startswith(f"{profile.slices}g.") and "+" not in each)
            yield {
                "resource": resource,
                "profile": str(profile),
                "boards": sorted(names),
                "instead": sorted(alike),
                "having": [board.name for board in boards.boards_with(profile)],
                "declared": declared,
            }


_NVIDIA: Final = ("nvidia.com/", CLAIM_PREFIX)


def _gpu_memory(pod_set: model.PodSet, fits: Sequence[pool_fit.PoolFit]) -> GigabytesInput | None:
    places = [{**fit.pool.node_selector, **pod_set.node_selector} for fit in fits] or [{**pod_set.node_selector}]
    sizes = [size for labels in places if (size := _gigabytes(labels)) is not None]
    return {"least": min(sizes), "most": max(sizes)} if len(sizes) == len(places) else None


def _gigabytes(labels: Mapping[str, str]) -> int | None:
    """The memory of the boards of nodes, from the name of the board, or from their machine type or its family."""
    named = boards.gigabytes(labels)
    if named is not None or not labels:
        return named
    machine, family = autoscaled_pools.machine_of(labels), labels.get(_FAMILY)
    if machine is None and family:
        alike = (each for each in autoscaled_pools.machine_types().values() if each.labels.get(_FAMILY) == family)
        machine = next(alike, None)
    return None if machine is None else boards.gigabytes(machine.labels)


_FAMILY: Final = "karpenter.k8s.aws/instance-family"


def _selected_devices_input(labels: Mapping[str, list[str]]) -> list[SelectedDevicesInput]:
    return [{"label": key, "values": values} for key, values in labels.items()]


def _without_unfit_pools(found: pool_fit.Placement, pod_set: model.PodSet) -> pool_fit.Placement:
    """Leaves out pools with nodes too small for one pod, and with other devices where a pool surely has the right ones.

    If all nodes are too small, the verdict about the nodes says so.
    """
    devices = [pool_fit.has_devices(fit.pool, pod_set) for fit in found.fits]
    fits = found.fits
    if True in devices:
        fits = tuple(fit for fit, has in zip(fits, devices, strict=True) if has is not False)
    fits = tuple(fit for fit in fits if nodes_places.is_large_enough(fit.pool, pod_set)) or fits
    return replace(found, fits=fits) if len(fits) < len(found.fits) else found


def placements(known: Knowledge) -> PoolPlacements:
    """The placements by the configuration of `known` and its nodes."""
    found = _found_pools(known)
    kept = known.once("placements", dict[str, PoolPlacements])
    last = kept.get("last")
    if last is None or (last.found is not found and last.found != found):
        last = kept["last"] = PoolPlacements(known.config, known.vocabulary, found=found)
    return last


def _found_pools(known: Knowledge) -> tuple[pools.Pool, ...]:
    """The pools that the nodes form now; made again only after a node has changed."""
    table = known.facts.nodes
    if not table.known:
        return ()
    return known.derived(
        "pools of nodes",
        [("", "Node")],
        lambda: tuple(each.pool for each in node_pools.found_pools(table.now, known.vocabulary)),
    )


def divided_gpus(workload: model.Workload, known: Knowledge) -> str:
    """`shares of ` or `slices of ` if all nodes of all pods offer these as whole GPUs; empty if not, or unknown.

    Selectors of pods say so, or all pools that fit.
    """
    found = set()
    for pod_set in workload.pod_sets:
        if not WHOLE_GPUS.isdisjoint(pod_set.accelerators):
            selected = boards.kind_of_parts(pod_set.node_selector)
            asked = not selected and placements(known).divide_gpus
            fits = placements(known).of(pod_set, workload=workload)["fits"] if asked else []
            found |= {selected} if selected else {boards.kind_of_parts(fit["labels"]) for fit in fits} or {""}
    return f"{found.pop()} of " if len(found) == 1 and "" not in found else ""


class PoolReason(Struct, frozen=True):
    """One pool and one pod set."""

    pool: str
    fits: bool
    reason: str


def pool_reasons(pod_set: model.PodSet, *, workload: model.Workload, known: Knowledge) -> tuple[PoolReason, ...]:
    """All pools, those that fit first; empty for pods without accelerators and where no pool is declared."""
    if not pod_set.asks_accelerators or not known.config.pools:
        return ()
    where = placements(known).where(pod_set, workload=workload)
    offering = {pool.name for pool in pool_fit.offering_pools(pod_set, known.config.pools, known.vocabulary).pools}
    return tuple(sorted(_reasons(where, known.config.pools, offering), key=lambda each: not each.fits))


def _reasons(where: Placement, pools: list[pools.Pool], offering: set[str]) -> Iterator[PoolReason]:
    fitting = {fit.pool.name: fit for fit in where.fits}
    kept_off = {kept.pool.name: kept.reason for kept in where.kept_off}
    for pool in pools:
        fit = fitting.get(pool.name)
        if fit is not None:
            about = [*_pool_texts(pool), *(f"taint {taint.key} not tolerated yet" for taint in fit.untolerated)]
            yield PoolReason(pool.name, True, f"fits{''.join(f', {text}' for text in about)}")
        elif pool.name in kept_off:
            yield PoolReason(pool.name, False, kept_off[pool.name])
        elif pool.name not in offering:
            yield PoolReason(pool.name, False, "it does not offer every device that the pods ask for")
        else:
            yield PoolReason(pool.name, False, "its labels are not those that the pods select")


def _pool_texts(pool: pools.Pool) -> Iterator[str]:
    board = board_of_pool(pool)
    if board:
        yield f"board {board}"
    if pool.fabric is not None:
        yield f"fabric {pool.fabric}"
