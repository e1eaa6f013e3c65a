"""A pod set against the node pools of usher.yaml: where it could run, and which taints keep it off.

A pod set allows several alternatives: each nodeSelectorTerm together with the node selector. Only some labels of a
pool are known, so there are two questions: "could a node of the pool fit?" and "does this alternative allow only nodes
of the pools?".

A pool says what it offers by its `resources`. It offers a device class if it lists a resource that the devices of this
class have, or the implicit resource of the class. usher guesses nothing from the name of an unknown class.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher import memo, model, paths
from usher.accelerators import boards, mig
from usher.accelerators.names import CLAIM_PREFIX
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts import autoscaled_pools, node_pools
from usher.config import pools
from usher.model import placement

Labels = placement.Labels
Alternative = tuple[Labels, Sequence[Mapping[str, paths.Json]]]
"""A node selector and the matchExpressions of one term."""

# Operators that only nodes with the label satisfy.
_PRESENT = ("In", "Exists", "Gt", "Lt")

_NUMBER = memo.pattern(r"[0-9]{1,9}", re.ASCII)


def node_alternatives(pod_set: model.PodSet) -> list[Alternative]:
    """All ways in which a node may fit the pod set.

    Terms without expressions, and terms with conditions on fields that Kubernetes cannot parse, match no node, so they
    are left out (k8s.io/api core/v1, NodeSelectorTerm).
    """
    if not pod_set.has_required_affinity:
        return [(pod_set.node_selector, ())]
    found: list[Alternative] = []
    for term in pod_set.required_terms:
        expressions = [item for item in paths.elements(term.get("matchExpressions")) if isinstance(item, dict)]
        fields = term.get("matchFields")
        if (expressions or fields) and not any(_is_unparsable_field(item) for item in paths.elements(fields)):
            found.append((pod_set.node_selector, expressions))
    return found


def could_fit(alternative: Alternative, labels: Labels) -> bool:
    """Whether a node with these labels, and with other labels that we do not know, may fit.

    An expression with wrong types could mean anything; one that Kubernetes cannot parse matches no node.
    """
    selector, expressions = alternative
    return all(labels.get(key, value) == value for key, value in selector.items()) and all(
        _could_match(expression, labels) for expression in expressions
    )


def allows_only(alternative: Alternative, pools: Iterable[Labels]) -> bool:
    """Whether every node that fits has all labels of one of the pools; true if no node can fit."""
    required = _required_values(*alternative)
    if not all(required.values()):
        return True
    return _all_carried(required, [labels for labels in pools if labels])


def is_possible(alternative: Alternative) -> bool:
    """Whether a node may fit; false if the requirements contradict each other."""
    return all(_required_values(*alternative).values())


def names_any_label(alternative: Alternative, keys: Iterable[str]) -> bool:
    """Whether the alternative asks for nodes with one of these labels; a key that ends in * is a prefix."""
    selector, expressions = alternative
    required = [*selector, *(str(item.get("key")) for item in expressions if item.get("operator") in _PRESENT)]
    return any(name.startswith(key[:-1]) if key.endswith("*") else name == key for name in required for key in keys)


def allowed_label_numbers(ways: Sequence[Alternative]) -> Mapping[str, frozenset[int]]:
    """Labels that have a whole number on every node that fits, with the possible numbers.

    Numbers of more than nine digits are left out: no label of nodes counts so far.
    """
    required = [_required_values(*way) for way in ways]
    found: dict[str, frozenset[int]] = {}
    for key in required_labels(ways):
        values = frozenset().union(*(values[key] for values in required))
        if all(_NUMBER.fullmatch(value) for value in values):
            found[key] = frozenset(map(int, values))
    return found


def allowed_label_values(ways: Sequence[Alternative], key: str) -> frozenset[str]:
    """The values of a label on the nodes that fit; empty if nodes without it, or with any value, may fit."""
    required = [_required_values(*way).get(key) for way in ways]
    known = [values for values in required if values is not None]
    return frozenset().union(*known) if len(known) == len(required) else frozenset()


def required_labels(ways: Sequence[Alternative]) -> list[str]:
    """The keys of labels that every node that fits must have with certain values, in order."""
    required = [_required_values(*way) for way in ways]
    return sorted(set.intersection(*map(set, required))) if required else []


def _required_values(selector: Labels, expressions: Sequence[Mapping[str, paths.Json]]) -> Mapping[str, frozenset[str]]:
    """Keys whose value must be in a set; the set is empty if the requirements contradict each other."""
    found: dict[str, frozenset[str]] = {key: frozenset({value}) for key, value in selector.items()}
    for expression in expressions:
        key, values = expression.get("key"), _strings(expression.get("values"))
        # Unreadable values could be anything, so this expression requires nothing.
        readable = bool(values) and len(values) == len(paths.elements(expression.get("values")))
        if isinstance(key, str) and expression.get("operator") == "In" and readable:
            found[key] = found.get(key, frozenset(values)).intersection(values)
    return found


def _all_carried(required: Mapping[str, frozenset[str]], pools: Sequence[Labels]) -> bool:
    """Whether every choice of one value for each key carries all labels of one of the pools.

    It goes through the values of one key at a time. All values of a manifest that no pool names count as one, so that
    the size of usher.yaml alone bounds the work.
    """
    pools = [labels for labels in pools if all(value in required.get(key, ()) for key, value in labels.items())]
    if not all(pools):
        return True
    if not pools:
        return False
    key = next(iter(pools[0]))
    without = [labels for labels in pools if key not in labels]
    if not required[key] <= {labels[key] for labels in pools if key in labels}:
        return _all_carried(required, without)
    return all(
        _all_carried(required, [*without, *(_remaining(labels, key) for labels in pools if labels.get(key) == value)])
        for value in required[key]
    )


def _remaining(labels: Labels, key: str) -> Labels:
    return {other: value for other, value in labels.items() if other != key}


def _could_match(expression: Mapping[str, paths.Json], labels: Labels) -> bool:
    requirement = placement.read_requirement(expression)
    if requirement is None:
        return True
    if not placement.is_for_labels(requirement):
        return False
    return requirement.key not in labels or placement.labels_match(requirement, labels)


def _is_unparsable_field(expression: paths.Json) -> bool:
    requirement = placement.read_requirement(expression)
    return requirement is not None and not placement.is_for_fields(requirement)


def _strings(value: object) -> list[str]:
    return [item for item in paths.elements(value) if isinstance(item, str)]


DEVICE_LABELS: Final = (
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "gpu.intel.com/product",
    "gpu.nvidia.com/class",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-gpu-name",
    "kubernetes.azure.com/accelerator",
    boards.PRODUCT_LABEL,
)
"""Node labels whose value is a model of devices (docs/domain/nodes.md#labels)."""

_SHARED_LABELS: Final = (
    *("kubernetes.io/*", "beta.kubernetes.io/arch", "beta.kubernetes.io/os", "topology.*", "failure-domain.*"),
    *("feature.node.kubernetes.io/*", "node-role.kubernetes.io/*", "nvidia.com/*", "amd.com/*", "gpu.intel.com/*"),
    *("karpenter.sh/capacity-type", "karpenter.k8s.aws/*", "eks.amazonaws.com/capacityType", "cloud.google.com/gce-*"),
    *("cloud.google.com/gke-spot", "cloud.google.com/gke-provisioning", "cloud.google.com/gke-accelerator-count"),
    *("cloud.google.com/gke-gpu-driver-version", "kubernetes.azure.com/scalesetpriority"),
)
"""Node labels that nodes of many pools have, so they name no pool; * stands for any end."""


def undeclared_devices(pod_set: model.PodSet, pools: Sequence[pools.Pool]) -> dict[str, list[str]]:
    """The device labels that every allowed node must have and no pool has, with their allowed values.

    A pool that usher.yaml names by a label of its service may have each label of devices that the service gives.
    """
    ways = node_alternatives(pod_set)
    found = {key: allowed_label_values(ways, key) for key in DEVICE_LABELS}
    return {
        key: sorted(values)
        for key, values in found.items()
        if values and not any(_has_label(pool, key, values) or _may_have(pool, key, values) for pool in pools)
    }


def undeclared_labels(pod_set: model.PodSet, pools: Sequence[pools.Pool]) -> dict[str, list[str]]:
    """The labels that every allowed node must have and whose pool usher does not know, with their allowed values.

    Empty where the pods select all labels of a pool: then other labels only choose between its nodes.
    """
    ways = node_alternatives(pod_set)
    if not pools or all(allows_only(way, [pool.node_selector for pool in pools]) for way in ways):
        return {}
    found = {key: allowed_label_values(ways, key) for key in required_labels(ways)}
    return {
        key: sorted(values)
        for key, values in found.items()
        if values
        and not any(key in pool.node_selector or _has_label(pool, key, values) for pool in pools)
        and _names_pool(key, values, pools)
    }


def _names_pool(key: str, values: frozenset[str], pools: Sequence[pools.Pool]) -> bool:
    """Whether a label that no pool names may tell pools apart."""
    if key in DEVICE_LABELS:
        return any(_may_have(pool, key, values) for pool in pools)
    return not any(key.startswith(each[:-1]) if each.endswith("*") else key == each for each in _SHARED_LABELS)


def _has_label(pool: pools.Pool, key: str, values: frozenset[str]) -> bool | None:
    """Whether the nodes of a pool have the label with one of the values; None where usher.yaml does not say it."""
    if key in pool.node_selector:
        return pool.node_selector[key] in values
    machine = autoscaled_pools.machine_of(pool.node_selector) if key in DEVICE_LABELS else None
    if machine is not None and key in machine.labels:
        return machine.labels[key] in values
    if pool.gpu is None or pool.gpu.board is None:
        return None
    on_gke = boards.gke_accelerators(pool.gpu.board)
    if key == _GKE_ACCELERATOR and on_gke and not values & on_gke:
        return False
    board = boards.by_name(pool.gpu.board)
    if key != boards.PRODUCT_LABEL or board is None:
        return None
    products = (boards.by_product(value) for value in values)
    return any(product is not None and product.board is board for product in products)


_GKE_ACCELERATOR: Final = "cloud.google.com/gke-accelerator"


def _may_have(pool: pools.Pool, key: str, values: frozenset[str]) -> bool:
    """Whether the service of a pool may give its nodes a label of devices that usher.yaml does not name."""
    managed = node_pools.managed_pool_label(pool.node_selector)
    if managed is None or _has_label(pool, key, values) is not None:
        return False
    domain = key.partition("/")[0]
    own = managed[0].partition("/")[0]
    return (domain == own and domain in _SERVICES) or domain in _OTHER_DOMAINS.get(managed[0], ())


_SERVICES: Final = ("cloud.google.com", "kubernetes.azure.com")
"""Services that name pools and devices by labels of one domain."""
_OTHER_DOMAINS: Final = {
    **dict.fromkeys(node_pools.KARPENTER, ("karpenter.k8s.aws",)),
    "agentpool": ("kubernetes.azure.com",),
    "compute.coreweave.com/node-pool": ("gpu.nvidia.com",),
}


def has_devices(pool: pools.Pool, pod_set: model.PodSet) -> bool | None:
    """Whether a pool has the devices that every allowed node must have; None where usher.yaml does not say it."""
    ways = node_alternatives(pod_set)
    selected = ((key, allowed_label_values(ways, key)) for key in DEVICE_LABELS)
    found = [_has_label(pool, key, values) for key, values in selected if values]
    return False if False in found else True if True in found else None


# Labels by which people select accelerator nodes if no pool is declared (docs/domain/nodes.md#labels).
WELL_KNOWN_KEYS = (
    "nvidia.com/*",
    "amd.com/*",
    "gpu.intel.com/*",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-*",
    "karpenter.k8s.aws/instance-*",
    "kubernetes.azure.com/accelerator",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/hostname",
)

# Those of these labels that only accelerator nodes have.
LABELS_OF_ACCELERATOR_NODES = (
    "nvidia.com/*",
    "amd.com/gpu*",
    "gpu.intel.com/*",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-*",
    "karpenter.k8s.aws/instance-gpu-*",
    "karpenter.k8s.aws/instance-accelerator-*",
    "kubernetes.azure.com/accelerator",
)


class PoolFit(Struct, frozen=True, kw_only=True):
    """A pool whose resources and labels fit the pod set, with its taints that the pod set does not tolerate."""

    pool: pools.Pool
    untolerated: tuple[pools.Taint, ...]


class KeptOff(Struct, frozen=True, kw_only=True):
    """A pool whose resources and labels fit the pod set, but that is for other pods."""

    pool: pools.Pool
    reason: str


class Placement(Struct, frozen=True, kw_only=True):
    """How the pod set's selectors and tolerations fit the declared pools."""

    fits: tuple[PoolFit, ...]
    declared: bool
    """Whether a declared pool offers the resources of the pod set; otherwise the nodes are unknown."""
    selected: tuple[bool, ...]
    """For each alternative of the pod set that some node fits: whether it allows only accelerator nodes. Nodes of a
    pool for other pods count as nodes without accelerators.
    """
    numbers: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Labels that have a whole number on every allowed node, with the possible numbers."""
    kept_off: tuple[KeptOff, ...] = ()


def place_pod_set(
    pod_set: model.PodSet,
    pools: Sequence[pools.Pool],
    offering: Sequence[pools.Pool],
    refusals: Mapping[str, str] = MappingProxyType({}),
) -> Placement:
    """Where one pod of the set could run.

    Args:
        pools: all pools of usher.yaml.
        offering: the pools that offer what the pods request (accelerators.offers).
        refusals: the reasons why pools are not for the pods, by pool name.
    """
    ways = node_alternatives(pod_set)
    fitting = [pool for pool in offering if any(could_fit(way, pool.node_selector) for way in ways)]
    kept_off = [KeptOff(pool=pool, reason=refusals[pool.name]) for pool in fitting if pool.name in refusals]
    fitting = [pool for pool in fitting if pool.name not in refusals]
    if pools:
        others = {kept.pool.name for kept in kept_off}
        labels = [pool.node_selector for pool in pools if pool.name not in others]
        # A term that contradicts itself selects no nodes at all.
        selected = tuple(allows_only(way, labels) for way in ways if is_possible(way))
    else:
        # A machine type or name may select accelerator nodes or other nodes: it counts only for pods with accelerators.
        keys = WELL_KNOWN_KEYS if pod_set.asks_accelerators else LABELS_OF_ACCELERATOR_NODES
        selected = tuple(names_any_label(way, keys) for way in ways)
    return Placement(
        fits=tuple(
            PoolFit(pool=pool, untolerated=tuple(placement.untolerated(pod_set.tolerations, pool.taints)))
            for pool in fitting
        ),
        declared=bool(offering),
        selected=selected,
        numbers=allowed_label_numbers(ways),
        kept_off=tuple(kept_off),
    )


_ROUTES_OF_NVIDIA: Final = {
    model.Route.FRACTION: ("nvidia.com/gpu",),
    model.Route.DEVICE_ANNOTATION: ("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-*"),
}
"""Annotations of KAI and of GKE name no resource; both are for GPUs of NVIDIA. KAI reserves the GPU of a fraction by a
pod that asks for a whole one (KAI:pkg/binder/binding/resourcereservation/resource_reservation.go).
"""


class Offers(NamedTuple):
    """The pools that offer all that a pod asks for."""

    pools: tuple[pools.Pool, ...]
    unmatched: tuple[str, ...] = ()
    """Device classes whose pools usher does not know; then it names no pools."""


class _Need(NamedTuple):
    """A request, with the resources of pools for each device that satisfies it."""

    alternatives: Mapping[str, tuple[str, ...]]
    of_slices: bool = False
    """Whether a claim is for MIG slices."""
    profile: mig.Profile | None = None
    """The MIG profile that the selectors of a claim choose."""


def offering_pools(pod_set: model.PodSet, pools: Sequence[pools.Pool], vocabulary: Vocabulary) -> Offers:
    """The pools that offer all that one pod of the set asks for; all pools if it asks for no accelerator."""
    needs = list(_needs(pod_set, vocabulary))
    unmatched = [name for need in needs for name in _unmatched(need, pools)]
    if unmatched:
        return Offers((), tuple(dict.fromkeys(unmatched)))
    return Offers(tuple(pool for pool in pools if all(_offers(pool, need) for need in needs)))


def _needs(pod_set: model.PodSet, vocabulary: Vocabulary) -> Iterator[_Need]:
    likes = {request.name: request.like for request in pod_set.requests}
    for name in pod_set.accelerators:
        meaning = vocabulary.meaning(name)
        device_class = None if meaning is None else meaning.device_class
        listed = (name,) if device_class is None else (name, *_resources(device_class, likes.get(name, ""), vocabulary))
        yield _Need({name: listed} if device_class is None else {device_class: listed})
    for request in pod_set.requests:
        if request.route in (model.Route.CLAIM, model.Route.ACCESS) and request.name not in pod_set.accelerators:
            found = {request.name: _resources(request.name, request.like, vocabulary)}
            several = {other: _resources(other, "", vocabulary) for other in request.instead}
            profile = None if several else mig.profile_of_resource(request.selects or request.like)
            of_slices = profile is not None or (not several and request.name == _SLICES)
            yield _Need({**several, **found}, of_slices, None if profile is None else profile.profile)
        elif request.route in _ROUTES_OF_NVIDIA:
            yield _Need({request.name: _ROUTES_OF_NVIDIA[request.route]})


def _resources(device_class: str, like: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The resources of pools with the devices of a class, or of a resource with the same devices."""
    own = (CLAIM_PREFIX + device_class,)
    if "/" in like or "/" in device_class:
        return (*own, like or device_class)
    return (*own, *vocabulary.device_class_meaning(like or device_class).offered_as)


def _unmatched(need: _Need, pools: Sequence[pools.Pool]) -> Iterator[str]:
    """The device classes that usher cannot find among the pools by any resource."""
    for name, resources in need.alternatives.items():
        known = any(not resource.startswith(CLAIM_PREFIX) for resource in resources)
        if not known and not any(_lists(pool, resources) for pool in pools):
            yield name


def _offers(pool: pools.Pool, need: _Need) -> bool:
    if need.of_slices and not _divides(pool, need.profile):
        return False
    return any(_lists(pool, resources) for resources in need.alternatives.values())


_SLICES: Final = "mig.nvidia.com"
_OF_SLICES: Final = (f"{mig.MIG_RESOURCE_PREFIX}*", CLAIM_PREFIX + _SLICES)


def _divides(pool: pools.Pool, profile: mig.Profile | None) -> bool:
    """Whether the GPUs of a pool may be MIG slices, of one profile if a profile is given."""
    if pool.gpu is None:
        return True
    board = boards.by_name(pool.gpu.board) if pool.gpu.board is not None else None
    if profile is not None and board is not None and board.offer(profile) is None:
        return False
    return pool.gpu.mig_strategy != "none" or _lists(pool, _OF_SLICES)


def _lists(pool: pools.Pool, resources: Sequence[str]) -> bool:
    return any(
        name.startswith(resource[:-1]) if resource.endswith("*") else name == resource
        for name in pool.resources
        for resource in resources
    )


def toleration_operator(taint: pools.Taint, vocabulary: Vocabulary, *, for_these_pods: bool = False) -> str | None:
    """The operator of the toleration that a mutation may add; None if only the user may add one.

    A taint that marks accelerators keeps off pods without accelerators, so every pod that fits the pool tolerates it,
    with any value. Other taints reserve nodes, and a pod tolerates them only with their exact value.

    Args:
        taint: a taint of a declared pool that offers what the pods ask for.
        for_these_pods: whether usher.yaml says that the pool is for these pods.
    """
    if vocabulary.marks_accelerators(taint.key, taint.value):
        return "Exists"
    return "Equal" if for_these_pods else None
