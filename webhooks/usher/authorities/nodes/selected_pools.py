"""The pools of autoscalers and the machine types that pods select, also where no nodes are known."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NotRequired

from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import memo, model
from usher.authorities import pool_fit
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import judge, places, present, several
from usher.authorities.nodes.places import NodeTemplate, Place, PodDemand
from usher.cluster.facts import autoscaled_pools
from usher.model import placement


class TooSmallInput(TypedDict):
    """Nodes that the pods select and that cannot hold one of them, even if they are empty."""

    place: str
    """The nearest of these nodes: `NodePool gpu (g5.xlarge)`."""
    shortages: list[present.MissingAmountInput]
    labels: list[str]
    """The requirements of the pods that the nodes do not meet."""
    counted: bool
    """Whether an autoscaler counts the devices, which may be shared on nodes that exist."""
    selected: bool
    """Whether the pods select these nodes; else they only tolerate their taints."""
    assumed: NotRequired[str]
    """Why the pods may run elsewhere; absent where they cannot."""


class ExpiringInput(TypedDict):
    pool: str
    after: str
    """As the NodePool says it: `24h`."""
    grace: NotRequired[str]
    """The time after which Karpenter ends the pods of an expired node, whatever they forbid; absent where it waits."""


class AboveNodesInput(TypedDict):
    """GPUs that the claims of one pod ask for, and the most that a node has."""

    asked: int
    most: int


class BeyondLimitsInput(TypedDict):
    """Pods of a pod set that ask for more together than the limits of their NodePools allow, or that fill them."""

    pools: list[str]
    resource: str
    each: int
    asked: int
    most: int
    assumed: NotRequired[str]
    """As of TooSmallInput."""


class MixedInput(TypedDict):
    """Two machines; pods of one training may start on both."""

    one: str
    """A pool with its machine, and the GPU or the fabric: `NodePool gpu (p5.48xlarge: h100)`."""
    other: str


class AutopilotInput(TypedDict):
    """Parts of a pod that GKE refuses in Autopilot clusters."""

    keys: list[str]
    """Labels that pods may not select."""
    withoutType: bool
    """Whether the pods ask for GPUs and select neither their type nor a class."""


class NodePoolsInput(TypedDict):
    """The pools of autoscalers whose nodes pods select, by the path of the pod set."""

    consolidating: NotRequired[dict[str, str]]
    """NodePools that move pods to save nodes."""
    expiring: NotRequired[dict[str, ExpiringInput]]
    """NodePools that replace each node at an age that they set."""
    tolerating: NotRequired[list[str]]
    """Pod sets that only tolerate the taints of these NodePools, and do not select them."""
    tooSmall: NotRequired[dict[str, TooSmallInput]]
    beyondLimits: NotRequired[dict[str, BeyondLimitsInput]]
    aboveNodes: NotRequired[dict[str, AboveNodesInput]]
    """Pod sets whose pods each claim more whole GPUs than any node has."""
    atZero: NotRequired[dict[str, str]]
    """Pools without nodes that alone could hold pods which claim devices."""
    autopilot: NotRequired[dict[str, AutopilotInput]]
    """By pod set, in Autopilot clusters of GKE, which add nodes for pods that do not fit."""
    mixed: NotRequired[dict[str, MixedInput]]
    """Pods that work together and may start on machines with different GPUs or fabrics."""


def node_pools_slice(case: Case, known: Knowledge) -> NodePoolsInput | None:
    """The pools and machine types that pod sets select; None where nothing is to be said about them."""
    workload = case.workload
    above = dict(_claims_above_nodes(workload, known))
    result: NodePoolsInput = {"aboveNodes": above} if above else {}
    if workload.asks_accelerators and _is_autopilot(known):
        return {"autopilot": {each.path: _on_autopilot(each) for each in workload.pod_sets}}
    if not workload.asks_accelerators:
        return result or None
    pools = autoscaled_pools.of_facts(known.facts)
    # Most pods select no nodes, and reading their demand is a large part of this slice.
    if not any(_selects(each) or _tolerated_pools(each, pools) for each in workload.pod_sets):
        return result or None
    daemons = () if several.is_daemon(workload) else places.daemons_of(known)
    for pod_set, demand in zip(workload.pod_sets, places.demands_of_workload(workload, known), strict=True):
        path = pod_set.path
        _add_disruption(result, pod_set, pools, known)
        if not demand.too_large and not demand.node_name:
            if (small := _too_small(pod_set, demand, pools, daemons, known)) is not None:
                result.setdefault("tooSmall", {})[path] = small
            elif (beyond := _beyond_limits(pod_set, demand, pools, known)) is not None:
                result.setdefault("beyondLimits", {})[path] = beyond
            if name := _at_zero(pod_set, demand, pools, known):
                result.setdefault("atZero", {})[path] = name
    mixed = dict(_mixed(workload, pools, known))
    if mixed:
        result["mixed"] = mixed
    return result or None


def _is_autopilot(known: Knowledge) -> bool:
    """Whether the nodes have the names of those of Autopilot."""
    names = known.facts.nodes.now.by_name if known.facts.nodes.known else ()
    return bool(names) and all(name.startswith("gk3-") for name in names)


def _on_autopilot(pod_set: model.PodSet) -> AutopilotInput:
    asked = {each.name for each in pod_set.requests}
    ways = pool_fit.node_alternatives(pod_set)
    typed = all(pool_fit.names_any_label(each, _TYPE_ON_AUTOPILOT) for each in ways)
    return {
        "keys": [each for each in pod_set.node_selector if each in _NOT_ON_AUTOPILOT],
        "withoutType": "nvidia.com/gpu" in asked and not typed,
    }


_TYPE_ON_AUTOPILOT: Final = ("cloud.google.com/gke-accelerator", "cloud.google.com/compute-class")
_NOT_ON_AUTOPILOT: Final = frozenset({
    "cloud.google.com/gke-nodepool", "kubernetes.io/hostname", "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type", "nvidia.com/gpu.product", "nvidia.com/gpu.present",
})  # fmt: skip
"""Labels that the webhook of Autopilot refuses in selectors (GoogleCloudPlatform/ai-on-gke#983 has its list)."""

_FABRIC: Final = "vpc.amazonaws.com/efa"


def _board(machine: autoscaled_pools.MachineType) -> str:
    """The GPU of a machine type, as its labels or its name say it."""
    labels = (f"{start}{end}" for start in ("karpenter.k8s.aws/", "cloud.google.com/") for end in _BOARDS)
    found = next((machine.labels[key] for key in labels if key in machine.labels), "")
    return found or next(iter(re.findall(r"_([A-Z]+\d+)_", machine.name)), machine.name)


_BOARDS: Final = ("instance-gpu-name", "gke-accelerator")
_QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""With a queue, the flavor that Kueue assigns may select the machines."""


def _mixed(
    workload: model.Workload, pools: Sequence[autoscaled_pools.AutoscaledPool], known: Knowledge
) -> Iterator[tuple[str, MixedInput]]:
    """Two machines with different GPUs or fabrics on which pods of a training may start, in pools that they select."""
    if not pools or workload.role is not model.Role.TRAINING or _QUEUE in workload.labels:
        return
    for pod_set, demand in zip(workload.pod_sets, places.demands_of_workload(workload, known), strict=True):
        found: dict[str, str] = {}
        if pod_set.count.minimum < _SEVERAL or demand.claims_devices or demand.node_name:
            continue
        for pool in _chosen_pools(pod_set, pools) or _pools_by_labels(pod_set, demand, pools)[0]:
            for machine in pool.types or ():
                only = places.places_of_autoscaled(replace(pool, types=(machine,)), known.vocabulary)
                if not any(places.fewest_obstacles(demand, each, ()) for each in only):
                    gpu = _board(machine) + (" and EFA" if machine.amounts.get(_FABRIC, 0) > 1 else "")
                    found.setdefault(gpu, f"{pool.kind} {pool.name} ({machine.name}: {gpu})")
        names = [*found.values()]
        if len(names) > 1:
            yield pod_set.path, {"one": names[0], "other": names[1]}


_SEVERAL: Final = 2


def _selects(pod_set: model.PodSet) -> bool:
    return bool(pod_set.node_selector) or pod_set.has_required_affinity


def _tolerated_pools(
    pod_set: model.PodSet, pools: Sequence[autoscaled_pools.AutoscaledPool]
) -> list[autoscaled_pools.AutoscaledPool]:
    """The pools whose taints pods tolerate that choose no pool; empty unless the pods name one of these taints."""
    chosen = pool_fit.required_labels(pool_fit.node_alternatives(pod_set)) if pools and _selects(pod_set) else ()
    if not pools or not all(map(_OF_ANY_POOL.fullmatch, chosen)):
        return []
    found = [each for each in pools if not placement.untolerated(pod_set.tolerations, each.taints)]
    named = {each.get("key") for each in pod_set.tolerations}
    return found if any(taint.key in named for each in found for taint in each.taints) else []


_OF_ANY_POOL: Final = memo.pattern(
    r"topology\.kubernetes\.io/(?:zone|region)|kubernetes\.io/(?:arch|os)|karpenter\.sh/capacity-type"
    r"|karpenter\.k8s\.aws/.*|eks\.amazonaws\.com/instance-.*|karpenter\.azure\.com/.*"
)
"""Labels of nodes of Karpenter by which pods choose machines and zones, and not a pool."""


def _add_disruption(
    result: NodePoolsInput,
    pod_set: model.PodSet,
    pools: Sequence[autoscaled_pools.AutoscaledPool],
    known: Knowledge,
) -> None:
    found = [*_selected_by_any_label(pod_set, pools)]
    if not found and judge.node_verdicts(known) is None:
        found = [each for each in _tolerated_pools(pod_set, pools) if each.types != ()]
        # Another pool may take the pods, and may let them run to their end.
        found = found if all(each.consolidates or each.expires_after for each in found) else []
        if found:
            result.setdefault("tolerating", []).append(pod_set.path)
    for pool in found:
        if pool.consolidates:
            result.setdefault("consolidating", {})[pod_set.path] = pool.name
        if pool.expires_after:
            result.setdefault("expiring", {})[pod_set.path] = _expiring(pool)


def _expiring(pool: autoscaled_pools.AutoscaledPool) -> ExpiringInput:
    result: ExpiringInput = {"pool": pool.name, "after": pool.expires_after}
    if pool.grace:
        result["grace"] = pool.grace
    return result


def _selected_by_any_label(
    pod_set: model.PodSet, pools: Sequence[autoscaled_pools.AutoscaledPool]
) -> Iterator[autoscaled_pools.AutoscaledPool]:
    asked = pod_set.node_selector
    for pool in pools:
        if asked.items() & pool.labels.items() and all(pool.labels.get(key, asked[key]) == asked[key] for key in asked):
            yield pool


def _too_small(
    pod_set: model.PodSet,
    demand: PodDemand,
    pools: Sequence[autoscaled_pools.AutoscaledPool],
    daemons: Sequence[places.Daemon],
    known: Knowledge,
) -> TooSmallInput | None:
    """The nearest node of those that the pods select, if no node can hold one pod; None if a node may hold it."""
    chosen, assumed = _chosen_pools(pod_set, pools), ""
    if not chosen and judge.node_verdicts(known) is None:
        chosen, assumed = _pools_by_labels(pod_set, demand, pools)
    tolerated = [] if chosen or judge.node_verdicts(known) is not None else _tolerated_pools(pod_set, pools)
    if tolerated:
        chosen, assumed = tolerated, _OTHER_NODES
    if chosen:
        empty = (place for pool in chosen for place in places.places_of_autoscaled(pool, known.vocabulary))
        found = [places.beside_daemons(place, daemons) for place in empty]
    else:
        found = [_place_of_type(machine, known) for machine in _chosen_types(pod_set)]
    if not found:
        return None
    nearest: tuple[Place, places.Obstacles] | None = None
    for place in found:
        obstacles = places.fewest_obstacles(demand, place, ())
        if not obstacles.amounts and not obstacles.labels:
            return None
        if nearest is None or obstacles.weight < nearest[1].weight:
            nearest = place, obstacles
    # A row about disks of NodeClasses names disks of unselected nodes (kinds.reading.known_keys).
    if nearest is None or (tolerated and {each.resource for each in nearest[1].amounts} == {_DISK}):
        return None
    place, obstacles = nearest
    result: TooSmallInput = {
        "place": place.name,
        "shortages": [present.missing_amount_input(pod_set, each) for each in obstacles.amounts],
        "labels": [present.requirement_text(each) for each in obstacles.labels],
        "counted": bool(chosen),
        "selected": not tolerated,
    }
    if assumed := assumed or next((each.assumption for each in chosen if each.assumption), ""):
        result["assumed"] = assumed
    return result


def _pools_by_labels(
    pod_set: model.PodSet, demand: PodDemand, pools: Sequence[autoscaled_pools.AutoscaledPool]
) -> tuple[list[autoscaled_pools.AutoscaledPool], str]:
    """The pools whose own labels the pods select, with one of these labels; empty where pods select other labels.

    Labels of devices that an operator writes later select all pools that have the devices.
    """
    ways = pool_fit.node_alternatives(pod_set)
    required = {key: pool_fit.allowed_label_values(ways, key) for key in pool_fit.required_labels(ways)}
    own = {key: values for key, values in required.items() if not autoscaled_pools.is_well_known(key)}
    for key, values in own.items():
        found = [
            each
            for each in pools
            if each.labels.get(key) in values
            and all(each.labels.get(other, next(iter(some), "")) in some for other, some in own.items())
        ]
        if found:
            return found, f"{_OTHERS} {key}={found[0].labels[key]}"
    later = next((key for key in own if key.startswith(_OF_DEVICES)), "")
    offering = [each for each in pools if later and _may_offer(each, demand)]
    return offering, f"{_OTHERS} {later}" if offering else ""


_OTHERS: Final = "usher assumes that no other nodes have the label"
_DISK: Final = "ephemeral-storage"
_OTHER_NODES: Final = "usher assumes that no other nodes offer these devices"


_OF_DEVICES: Final = ("nvidia.com/", "amd.com/", "feature.node.kubernetes.io/")


def _may_offer(pool: autoscaled_pools.AutoscaledPool, demand: PodDemand) -> bool:
    devices = [name for name in demand.amounts if name in _WHOLE_DEVICES]
    return pool.types is None or any(all(name in each.amounts for name in devices) for each in pool.types)


def _beyond_limits(
    pod_set: model.PodSet, demand: PodDemand, pools: Sequence[autoscaled_pools.AutoscaledPool], known: Knowledge
) -> BeyondLimitsInput | None:
    """The first device whose limits in all pools of the pods leave no room for another pod; None if all have room."""
    chosen, tolerated = _chosen_pools(pod_set, pools), False
    if not chosen and judge.node_verdicts(known) is None:
        chosen = _pools_by_labels(pod_set, demand, pools)[0]
        if not chosen:
            chosen = [each for each in _tolerated_pools(pod_set, pools) if each.types != ()]
            tolerated = bool(chosen)
    for resource, each in demand.amounts.items():
        asked = each * pod_set.count.minimum
        if chosen and all(resource in pool.limits for pool in chosen):
            most = sum(pool.limits[resource] for pool in chosen)
            if asked + each > most:
                names = [pool.title(None) for pool in chosen]
                found = BeyondLimitsInput(pools=names, resource=resource, each=each, asked=asked, most=most)
                return {**found, "assumed": _OTHER_NODES} if tolerated else found
    return None


def _chosen_pools(
    pod_set: model.PodSet, pools: Sequence[autoscaled_pools.AutoscaledPool]
) -> list[autoscaled_pools.AutoscaledPool]:
    """The only pools whose nodes the pods may use; empty where others are possible, or where one is not known."""
    ways = pool_fit.node_alternatives(pod_set)
    for label in {pool.own_label for pool in pools if pool.own_label}:
        values = pool_fit.allowed_label_values(ways, label)
        named = [pool for pool in pools if pool.own_label == label and pool.name in values]
        if values and len(named) == len(values):
            return named
    return []


def _chosen_types(pod_set: model.PodSet) -> list[autoscaled_pools.MachineType]:
    """The only machine types on which the pods may run; empty where one is not known."""
    ways = pool_fit.node_alternatives(pod_set)
    for label in autoscaled_pools.TYPE_LABELS:
        values = sorted(pool_fit.allowed_label_values(ways, label))
        found = [autoscaled_pools.machine_of({label: value}) for value in values]
        known = [each for each in found if each is not None]
        if found and len(known) == len(found):
            return known
    return []


_WHOLE_DEVICES: Final = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "habana.ai/gaudi")


def _place_of_type(machine: autoscaled_pools.MachineType, known: Knowledge) -> Place:
    """A node of a machine type. Only its devices count: a kubelet decides how much of the rest pods get."""
    devices = {name: machine.amounts[name] for name in _WHOLE_DEVICES if name in machine.amounts}
    template = NodeTemplate(
        resources=frozenset(), vocabulary=known.vocabulary, board=None, gpus=0, offers_anything=True
    )
    return Place(name=f"a node of type {machine.name}", labels={}, taints=(), frontier=(devices,), template=template)


def _at_zero(
    pod_set: model.PodSet, demand: PodDemand, pools: Sequence[autoscaled_pools.AutoscaledPool], known: Knowledge
) -> str:
    """The pool without nodes that alone could hold pods which claim devices; empty where a node could, or no pool."""
    verdicts = judge.node_verdicts(known) if demand.claims_devices else None
    if verdicts is None and demand.claims_devices:
        chosen = _chosen_pools(pod_set, pools) or _pools_by_labels(pod_set, demand, pools)[0]
        return next((each.title(None) for each in chosen if each.kind == autoscaled_pools.NODE_POOL[1]), "")
    if verdicts is None or verdicts.places.nodes.unreadable:
        return ""
    found = [each for each in verdicts.places.all if judge.could_hold(demand, each, verdicts.places.nodes)]
    if not found or any(each.nodes is not None or each.labels.get(_GKE_DRA) == "true" for each in found):
        return ""
    if not pod_set.node_selector.items() & found[0].labels.items():
        # A mutation may have chosen the pool, not the user.
        return ""
    # With Cluster API, an annotation may say the driver.
    return "" if any(each.name.startswith("Machine") for each in found) else found[0].name


_GKE_DRA: Final = "cloud.google.com/gke-nvidia-gpu-dra-driver"
"""With this label GKE knows which ResourceSlices a new node would have
(docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra).
"""


_COUNT: Final = "nvidia.com/gpu.count"
_WHOLE_GPUS: Final = "gpu.nvidia.com"
"""The device class of NVIDIA's driver for whole GPUs. All devices of one pod are on its node."""


def _claims_above_nodes(workload: model.Workload, known: Knowledge) -> Iterator[tuple[str, AboveNodesInput]]:
    """The pod sets whose pods each claim more GPUs than any node has, unless a node may have as many.

    GPU feature discovery labels every node that has GPUs of NVIDIA. A node without the label has 0 GPUs.
    """
    claiming = [each for each in workload.pod_sets if each.device_claims and not each.node_name]
    verdicts = judge.node_verdicts(known) if claiming else None
    if verdicts is None or verdicts.places.nodes.unreadable or _COUNT in verdicts.places.nodes.individual:
        return
    counts = [_gpus(each) for each in verdicts.places.all]
    known_counts = [each for each in counts if each]
    if None in counts or not known_counts:
        return
    for pod_set in claiming:
        asked = sum(int(each.minimum.value) for each in pod_set.requests if _is_of_whole_gpus(each))
        if asked > max(known_counts):
            yield pod_set.path, {"asked": asked, "most": max(known_counts)}


def _is_of_whole_gpus(request: model.AcceleratorRequest) -> bool:
    is_claim = request.route is model.Route.CLAIM and request.name == _WHOLE_GPUS
    return is_claim and not request.instead and request.memory is None


def _gpus(place: Place) -> int | None:
    """The GPUs of a node by its label, 0 without GPUs; None if a place without the label may have some."""
    count = place.labels.get(_COUNT, "")
    if count.isdecimal():
        return int(count[:9])
    may_have = place.nodes is None or any(amounts.get("nvidia.com/gpu") for amounts in place.frontier)
    return None if may_have else 0
