"""Places where pods may run, existing nodes or pools; the demand of one pod there, and the obstacles."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths, quantities
from usher.accelerators import boards, mig, names
from usher.accelerators.mig import MIG_RESOURCE_PREFIX, Board, Profile
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import kai, limit_range
from usher.authorities.knowledge import Knowledge, resources_of_device_classes
from usher.authorities.verdict import ClaimedDevices
from usher.cluster.facts.autoscaled_pools import AutoscaledPool, is_undefined, of_facts
from usher.cluster.facts.node_pools import KARPENTER
from usher.cluster.facts.nodes import PODS, Amounts, NodeClass, Nodes, Taint, scheduler_amount
from usher.cluster.facts.store import Store
from usher.config import pools
from usher.kinds.kind import DAEMON_SET
from usher.kinds.reading.values import Absence, Reference
from usher.model import placement
from usher.model.placement import REQUIRED, Requirement
from usher.workloads import pod_sets

MOST_ALTERNATIVES: Final = 64
MOST_VALUES: Final = 4096
"""The most terms of a pod, and values in all terms; real pods have far fewer."""

_OF_DEVICES: Final = frozenset({names.Unit.DEVICE, names.Unit.PARTITION, names.Unit.SHARE})


_LARGEST: Final = 4096
"""The most bytes of a demand that is kept; real pods have a few hundred."""


class Alternative(NamedTuple):
    """One sufficient set of requirements: a term of the affinity, with the node selector."""

    on_labels: tuple[Requirement, ...]
    on_fields: tuple[Requirement, ...]


class PodDemand(Struct, frozen=True, kw_only=True):
    amounts: Amounts
    """Amounts above 0."""
    alternatives: tuple[Alternative, ...]
    """Empty where no node can fit, with any labels."""
    tolerations: tuple[Mapping[str, paths.Json], ...]
    node_name: str
    too_large: bool
    """Whether the affinity has more terms and values than usher reads."""
    claims_devices: bool
    """Whether the pod needs devices that nodes do not advertise."""
    from_classes: frozenset[str]
    """Resources that device classes may serve on nodes that do not advertise them."""
    in_one_container: Amounts
    """The most that any one container asks for."""
    shares_devices: bool = False
    """Whether several of these pods may use one device, though each counts as if it took it whole."""
    devices: ClaimedDevices | None = None
    """Its claims, where the devices of nodes are known."""

    def digest(self) -> bytes:
        """A digest of it, without the devices; empty for a demand that is too large to be kept."""
        text = orjson.dumps(
            (
                dict(self.amounts),
                [
                    [[each.key, each.operator, each.values] for part in terms for each in part]
                    for terms in self.alternatives
                ],
                [[len(part) for part in terms] for terms in self.alternatives],
                self.tolerations,
                self.node_name,
                self.claims_devices,
                self.shares_devices,
                sorted(self.from_classes),
                dict(self.in_one_container),
            )
        )
        return memo.digest(text) if len(text) <= _LARGEST else b""

    def tolerating(self, *tolerations: Mapping[str, paths.Json]) -> "PodDemand":
        """The demand with more tolerations."""
        return replace(self, tolerations=(*self.tolerations, *tolerations))


def demand_of_pod_set(
    pod_set: model.PodSet, vocabulary: Vocabulary, *, from_classes: Collection[str] = ()
) -> PodDemand:
    """The demand of one pod.

    Args:
        from_classes: names of extended resources that DeviceClasses of the cluster serve.
    """
    amounts = pod_sets.requests_of_pod(
        pod_set.containers,
        overhead=pod_set.overhead,
        pod_requests=pod_set.pod_requests,
        pod_limits=pod_set.pod_limits,
    )
    found = {
        name: asked
        for name, quantity in sorted(amounts.items())
        if (asked := scheduler_amount(name, quantity)) > 0 and _is_advertised(name, vocabulary)
    }
    alternatives = tuple(islice(_alternatives(pod_set), MOST_ALTERNATIVES + 1))
    classes = frozenset(name for name in found if name in from_classes or name.startswith(names.CLAIM_PREFIX))
    asking = pod_set.containers
    largest = {name: max(scheduler_amount(name, each.effective(name)) for each in asking) for name in found if asking}
    return PodDemand(
        amounts=found,
        alternatives=alternatives,
        tolerations=pod_set.tolerations,
        node_name=pod_set.node_name,
        too_large=_is_too_large(alternatives),
        claims_devices=bool(pod_set.device_claims)
        or any(request.route is model.Route.CLAIM and request.name not in classes for request in pod_set.requests),
        from_classes=classes,
        in_one_container=largest,
        shares_devices=any(request.route is model.Route.FRACTION for request in pod_set.requests),
    )


def _is_too_large(alternatives: tuple[Alternative, ...]) -> bool:
    values = sum(len(requirement.values) for alternative in alternatives for requirement in alternative.on_labels)
    return len(alternatives) > MOST_ALTERNATIVES or values > MOST_VALUES


def _is_advertised(name: str, vocabulary: Vocabulary) -> bool:
    """Whether nodes advertise a resource. They do not advertise the memory of a share: HAMi's scheduler counts it."""
    meaning = vocabulary.meaning(name)
    known = (*_OF_DEVICES, names.Unit.FABRIC)
    return meaning is None or meaning.unit in known or meaning.divides is None


def _alternatives(pod_set: model.PodSet) -> Iterator[Alternative]:
    selected = tuple(
        Requirement(key=key, operator="In", values=(value,)) for key, value in sorted(pod_set.node_selector.items())
    )
    selected += tuple(Requirement(key=key, operator="Exists", values=()) for key in sorted(_topology_keys(pod_set)))
    if not pod_set.has_required_affinity:
        yield Alternative(selected, ())
        return
    for term in pod_set.required_terms:
        found = placement.parse_term(term)
        if found is not None:
            yield Alternative((*selected, *found.on_labels), tuple(found.on_fields))


def _topology_keys(pod_set: model.PodSet) -> set[str]:
    """Labels that each node of the pods must have, whatever their values.

    Sources: k/k:pkg/scheduler/framework/plugins/podtopologyspread/filtering.go Filter (node label not found), and
    k/k:pkg/scheduler/framework/plugins/interpodaffinity/filtering.go satisfyPodAffinity.
    """
    spreads = pod_set.fields.get("topologySpreadConstraints", ())
    found = {each.get("topologyKey", "") for each in spreads if each.get("whenUnsatisfiable") == "DoNotSchedule"}
    beside = pod_set.fields.get("affinity", {}).get("podAffinity", {})
    found |= {each.get("topologyKey", "") for each in beside.get(REQUIRED, ())}
    # Each kubelet writes the host name; files about nodes may leave it out.
    return {key for key in found - {HOSTNAME} if placement.is_label_key(key)}


HOSTNAME: Final = "kubernetes.io/hostname"


_QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"


def demands_of_workload(workload: model.Workload, known: Knowledge) -> list[PodDemand]:
    """The demand of each pod set on nodes, with the tolerations that its pods get before scheduling."""
    added = tuple(_tolerations_of_flavors(workload, known.facts))
    classes = resources_of_device_classes(known.facts)
    found = []
    for pod_set in kai.as_placed(limit_range.as_admitted(workload, known.facts), known).pod_sets:
        demand = demand_of_pod_set(pod_set, known.vocabulary, from_classes=classes).tolerating(
            *_tolerations_of_runtime_class(pod_set, known.facts), *added
        )
        if (demand.claims_devices or demand.from_classes) and known.facts.knows("resource.k8s.io", "ResourceSlice"):
            # Most runs have no slices, and need not wait for this import.
            from usher.authorities.nodes import devices

            demand = replace(demand, devices=devices.claims_of(pod_set, demand.from_classes, known))
        found.append(demand)
    return found


def _tolerations_of_flavors(workload: model.Workload, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that Kueue adds with a flavor. The pods may get any flavor, so those of all flavors count."""
    if not workload.queue_labels.get(_QUEUE_LABEL):
        return
    found = facts.objects("kueue.x-k8s.io", "ResourceFlavor")
    for value in () if isinstance(found, Absence) else found.values():
        spec = value.get("spec")
        yield from mappings(spec.get("tolerations") if isinstance(spec, dict) else None)


def _tolerations_of_runtime_class(pod_set: model.PodSet, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that the API server adds to pods with their RuntimeClass."""
    if not pod_set.runtime_class_name:
        return
    reference = Reference(group="node.k8s.io", kind="RuntimeClass", name=pod_set.runtime_class_name)
    found = facts.find(reference)
    scheduling = None if isinstance(found, Absence) else found.get("scheduling")
    yield from mappings(scheduling.get("tolerations") if isinstance(scheduling, dict) else None)


def mappings(value: paths.Json) -> Iterator[Mapping[str, paths.Json]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


GPU: Final = "nvidia.com/gpu"


def gpus_of_node(pool: pools.Pool) -> int | None:
    """The amount of nvidia.com/gpu that `gpu` of a pool gives each node; None where the name means slices."""
    if pool.gpu is None or pool.gpu.mig_strategy == "single" or GPU not in pool.resources:
        return None
    return pool.gpu.per_node


def is_large_enough(pool: pools.Pool, pod_set: model.PodSet) -> bool:
    """Whether a node of the pool may have as many devices as one pod asks for; true where usher.yaml does not say."""
    return all(
        most is None or quantity.value <= most
        for name, quantity in pod_set.accelerators.items()
        for most in [_most_of_node(pool, name)]
    )


def _most_of_node(pool: pools.Pool, name: str) -> int | None:
    if name in pool.allocatable:
        return quantities.parse(pool.allocatable[name]).value
    return gpus_of_node(pool) if name == GPU else None


class NodeTemplate(Struct, frozen=True, kw_only=True, eq=False):
    """The nodes that an autoscaler adds to a pool."""

    resources: frozenset[str]
    """The accelerators that the nodes offer; they offer no others."""
    vocabulary: Vocabulary
    board: Board | None
    """The board of their `gpus` GPUs, if the node divides it when pods ask for slices."""
    gpus: int
    offers_anything: bool = False
    """Whether usher does not know what the nodes offer."""

    def offers(self, resource: str) -> bool:
        """Whether a node may have a resource that its amounts do not name."""
        return self.offers_anything or resource in self.resources or not self.vocabulary.contains(resource)


class Place(Struct, frozen=True, kw_only=True, eq=False):
    name: str
    """The name in messages: `pool h100`, `nodes like gpu-0`."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    frontier: tuple[Amounts, ...]
    """The frontier, as in a class of nodes."""
    nodes: NodeClass | None = None
    """None for nodes that do not exist yet."""
    template: NodeTemplate | None = None
    """For nodes that do not exist yet; `labels` holds some of their future labels."""
    pool: pools.Pool | None = None
    """The declared pool of the nodes."""
    defined: frozenset[str] | None = None
    """The labels that an autoscaler knows of nodes to come, as in AutoscaledPool."""
    most_nodes: int | None = None
    """The most nodes that the limits of a pool of an autoscaler allow."""
    daemons: tuple[str, ...] = ()
    """The DaemonSets of each of its nodes whose requests are taken off the amounts."""
    taken: Amounts = {}
    """The sum of their requests."""

    @property
    def may_never_be(self) -> bool:
        """Whether the place has no node, and usher.yaml does not say that an autoscaler adds one."""
        return self.template is not None and self.pool is not None and not self.pool.scales


class Places(Struct, frozen=True, kw_only=True, eq=False):
    """All places of a cluster at one moment, for one usher.yaml."""

    nodes: Nodes
    all: tuple[Place, ...]
    without_daemons: "Places | None" = None
    """The same places with what DaemonSets take of their nodes; None if that is nothing."""

    def any_meets(self, wanted: Requirement) -> bool:
        """Whether some nodes meet a requirement on labels."""
        individual = self.nodes.individual.get(wanted.key)
        if individual is not None:
            return any(placement.labels_match(wanted, {wanted.key: value}) for value in individual)
        return any(placement.labels_match(wanted, place.labels) for place in self.all)


def places_of_cluster(
    nodes: Nodes, pools: Sequence[pools.Pool], vocabulary: Vocabulary, autoscaled: Sequence[AutoscaledPool] = ()
) -> Places:
    """The places of a cluster: nodes, pools of usher.yaml, and the other pools of autoscalers."""
    there = [_place_of_class(each, _pool_of(each, pools)) for each in nodes.classes]
    empty = {pool.name for pool in pools}.difference(place.pool.name for place in there if place.pool is not None)
    declared = {value for pool in pools for key, value in pool.node_selector.items() if key in (*KARPENTER, _CLASS)}
    added = [
        place for each in autoscaled if each.name not in declared for place in places_of_autoscaled(each, vocabulary)
    ]
    return Places(nodes=nodes, all=(*there, *_places_of_pools(pools, empty, vocabulary), *added))


_CLASS: Final = "cloud.google.com/compute-class"


_LIMIT_RANGE: Final = ("", "LimitRange")
_RUNTIME_CLASS: Final = ("node.k8s.io", "RuntimeClass")
SHAPING_DAEMONS: Final = (DAEMON_SET, _LIMIT_RANGE, _RUNTIME_CLASS)
"""Kinds that say what DaemonSets take of a node."""
_OF_DAEMONS: Final = ("cpu", "ephemeral-storage", "memory")


class Daemon(NamedTuple):
    """A DaemonSet by its namespace and name, with the demand of its pods: one on each node that they match."""

    name: str
    demand: PodDemand


def daemons_of(known: Knowledge) -> Sequence[Daemon]:
    """The DaemonSets among the facts."""

    def read() -> Sequence[Daemon]:
        made = ((name, known.workload(value)) for name, value in known.facts.everywhere(*DAEMON_SET).items())
        found = [(name, demands_of_workload(each, known)) for name, each in made if each is not None]
        return [Daemon(name, demand) for name, demands in found for demand in demands[:1] if not demand.too_large]

    return known.derived("daemons", SHAPING_DAEMONS, read)


def places_of_known(known: Knowledge) -> Places:
    """The places of a cluster as its facts show them, without what DaemonSets take of the nodes."""
    added = of_facts(known.facts)
    found = places_of_cluster(known.facts.nodes.now, known.config.pools, known.vocabulary, added)
    daemons = daemons_of(known)
    if not daemons:
        return found
    left = tuple(beside_daemons(place, daemons, found.nodes.individual) for place in found.all)
    return replace(found, all=left, without_daemons=found)


def beside_daemons(place: Place, daemons: Sequence[Daemon], own: Container[str] = ()) -> Place:
    """The place without the amounts of the DaemonSets that surely run on its nodes, as Karpenter counts them too.

    Sources: kubernetes/kubernetes pkg/controller/daemon/daemon_controller.go NodeShouldRunDaemonPod;
    kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/scheduler.go isDaemonPodCompatible.
    """
    running = [each for each in daemons if _surely_runs(each.demand, place, own)]
    sums = {name: sum(each.demand.amounts.get(name, 0) for each in running) for name in _OF_DAEMONS}
    taken = {**{name: most for name, most in sums.items() if most}, PODS: len(running)}
    if not running:
        return place

    def left(amounts: Amounts) -> Amounts:
        return {name: max(most - taken.get(name, 0), 0) for name, most in amounts.items()}

    nodes = place.nodes
    if nodes is not None:
        # Thousands of nodes share few amounts.
        kept = {id(each.amounts): left(each.amounts) for each in nodes.nodes.values()}
        there = {name: each._replace(amounts=kept[id(each.amounts)]) for name, each in nodes.nodes.items()}
        nodes = replace(nodes, nodes=there)
    asking = tuple(each.name for each in running if each.demand.amounts)
    return replace(place, frontier=tuple(map(left, place.frontier)), nodes=nodes, daemons=asking, taken=taken)


def _surely_runs(demand: PodDemand, place: Place, own: Container[str]) -> bool:
    labels = place.labels if place.template is None else {"kubernetes.io/os": "linux", **place.labels}

    def met(wanted: Requirement) -> bool:
        if wanted.key in labels:
            return placement.labels_match(wanted, labels)
        # Nodes that do not exist yet may get labels, except where Karpenter knows all of them.
        complete = place.template is None or place.defined is not None
        return complete and wanted.key not in own and wanted.operator in ("NotIn", "DoesNotExist")

    chosen = any(not each.on_fields and all(map(met, each.on_labels)) for each in demand.alternatives)
    return chosen and not demand.node_name and not blocking_taints(demand, place)


def places_of_autoscaled(pool: AutoscaledPool, vocabulary: Vocabulary) -> Iterator[Place]:
    """A place for every machine type that a pool of an autoscaler allows, and one for types that usher may not know."""
    others = (None,) if pool.types is None or pool.may_have_others else ()
    for machine in (*(pool.types or ()), *others):
        yield Place(
            name=pool.title(machine),
            labels=pool.labels if machine is None else {**machine.labels, **pool.labels},
            taints=pool.taints,
            frontier=({} if machine is None else pool.amounts(machine),),
            template=NodeTemplate(
                resources=frozenset(), vocabulary=vocabulary, board=None, gpus=0, offers_anything=pool.types is None
            ),
            defined=pool.defined,
            most_nodes=None if machine is None else pool.most_nodes(machine),
        )


def _places_of_pools(pools: Sequence[pools.Pool], empty: set[str], vocabulary: Vocabulary) -> Iterator[Place]:
    for pool in pools:
        described = bool(pool.allocatable) or pool.gpu is not None
        # Existing nodes describe a pool that usher.yaml does not describe.
        counts = pool.scales_from_zero is not False if pool.name in empty else pool.scales and described
        if counts:
            yield _place_of_pool(pool, vocabulary)


def _place_of_class(nodes: NodeClass, pool: pools.Pool | None) -> Place:
    return Place(
        name=f"pool {pool.name}" if pool is not None else f"nodes like {nodes.example}",
        labels=nodes.labels,
        taints=nodes.taints,
        frontier=nodes.frontier,
        nodes=nodes,
        pool=pool,
    )


def _pool_of(nodes: NodeClass, pools: Sequence[pools.Pool]) -> pools.Pool | None:
    own = nodes.nodes[nodes.example].labels
    for pool in pools:
        if all(nodes.labels.get(key, own.get(key)) == value for key, value in pool.node_selector.items()):
            return pool
    return None


def _place_of_pool(pool: pools.Pool, vocabulary: Vocabulary) -> Place:
    amounts = {name: scheduler_amount(name, quantities.parse(text)) for name, text in pool.allocatable.items()}
    board = None
    if pool.gpu is not None:
        if (gpus := gpus_of_node(pool)) is not None:
            amounts.setdefault(GPU, gpus)
        # If usher.yaml counts the slices, the division is fixed.
        if pool.gpu.mig_strategy == "mixed" and not any(name.startswith(MIG_RESOURCE_PREFIX) for name in amounts):
            board = boards.by_name(pool.gpu.board) if pool.gpu.board is not None else None
    return Place(
        name=f"pool {pool.name}",
        labels=pool.node_selector,
        taints=tuple(Taint(each.key, each.value, each.effect) for each in pool.taints),
        frontier=(amounts,),
        template=NodeTemplate(
            resources=frozenset(pool.resources),
            vocabulary=vocabulary,
            board=board,
            gpus=0 if pool.gpu is None else pool.gpu.per_node,
        ),
        pool=pool,
    )


class MissingAmount(Struct, frozen=True, kw_only=True):
    """A resource that one node has less of than the pod asks for."""

    resource: str
    asked: int
    """The amount that the pod asks for, in the scheduler's units like `most`."""
    most: int
    instead: str = ""
    """The devices of the same vendor that the node offers, where it does not have the resource."""
    taken: int = 0
    """The amount that DaemonSets take of the node; `most` is the rest."""
    daemons: tuple[str, ...] = ()


class Obstacles(Struct, frozen=True, kw_only=True):
    amounts: tuple[MissingAmount, ...] = ()
    taints: tuple[Taint, ...] = ()
    labels: tuple[Requirement, ...] = ()
    """Unmet requirements on labels."""
    names: tuple[Requirement, ...] = ()
    """Unmet requirements on the name of the node."""
    nowhere: bool = False
    """Whether the affinity cannot match any node, with any labels."""
    devices: str = ""
    """Why the devices of the node cannot serve the claims of a pod."""

    def __bool__(self) -> bool:
        return any((self.amounts, self.taints, self.labels, self.names, self.nowhere, self.devices))

    @property
    def weight(self) -> tuple[int, Fraction]:
        """The number of kinds of obstacles, and their size together.

        A taint or a label weighs 1. A resource weighs its missing part, and 2 where the node has neither it nor one
        of its vendor. A missing one is a kind of its own: a node without GPUs is farther away than a node with an
        untolerated taint or with too few of them.
        """
        without = any(not each.most for each in self.amounts)
        kinds = (self.amounts, without, self.taints, self.labels or self.nowhere, self.names)
        size = Fraction(len(self.taints) + len(self.labels) + len(self.names) + self.nowhere)
        for each in self.amounts:
            size += Fraction(each.asked - each.most, each.asked) if each.most else 2 - bool(each.instead)
        return sum(map(bool, kinds)), size


def blocking_taints(demand: PodDemand, place: Place) -> tuple[Taint, ...]:
    """The taints that keep the pod off. Only evicting taints keep off a pod that names its node."""
    found = placement.untolerated(demand.tolerations, place.taints)
    return tuple(taint for taint in found if not demand.node_name or taint.effect == "NoExecute")


def unmet_requirements(alternative: Alternative, place: Place, own: Container[str]) -> list[Requirement]:
    """The requirements that the nodes of the place do not meet, except for labels that differ from node to node."""
    labels = place.labels
    if place.template is not None:
        # Other labels of future nodes are unknown, and count as matching unless the autoscaler says that it needs them.
        return [
            each
            for each in alternative.on_labels
            if (each.key in labels and not placement.labels_match(each, labels))
            or (each.key not in labels and is_undefined(each, place.defined))
        ]
    return [each for each in alternative.on_labels if each.key not in own and not placement.labels_match(each, labels)]


def fits_amounts(demand: PodDemand, amounts: Amounts, template: NodeTemplate | None) -> bool:
    """Whether one node with these amounts has what the pod asks for."""
    if template is not None:
        return next(missing_amounts(demand, amounts, template), None) is None
    for name, asked in demand.amounts.items():
        most = amounts.get(name, 0)
        if asked > most and (most or name not in demand.from_classes):
            return False
    return amounts.get(PODS, 1) > 0


def missing_amounts(demand: PodDemand, amounts: Amounts, template: NodeTemplate | None) -> Iterator[MissingAmount]:
    """The amounts that one node with these amounts lacks."""
    divided = _exclusive_slices(demand) if template is not None and template.board is not None else {}
    for name, asked in demand.amounts.items():
        if name in amounts and (amounts[name] or name not in demand.from_classes):
            if asked > amounts[name]:
                yield MissingAmount(resource=name, asked=asked, most=amounts[name])
        elif (template is not None and template.offers(name)) or name in demand.from_classes or name in divided:
            continue
        else:
            yield MissingAmount(resource=name, asked=asked, most=0, instead=_of_the_same_vendor(name, amounts))
    if amounts.get(PODS, 1) < 1:
        yield MissingAmount(resource=PODS, asked=1, most=0)
    if divided and template is not None:
        yield from _missing_slices(divided, demand, template)


def _of_the_same_vendor(resource: str, amounts: Amounts) -> str:
    """The devices with the domain of a resource, at most three: `gpu.intel.com/xe` in place of gpu.intel.com/i915.

    Of slices, those with as many compute slices, because the memory in their names is that of the board.
    """
    vendor, _, name = resource.partition("/")
    asked = mig.profile_of_resource(resource)
    alike = f"{vendor}/" if asked is None else f"{vendor}/mig-{asked.profile.slices}g."
    found = (each for each, amount in amounts.items() if amount and name and each.startswith(alike))
    return " or ".join(sorted(each for each in found if not each.endswith("_monitoring"))[:3])


def _missing_slices(divided: dict[str, Profile], demand: PodDemand, template: NodeTemplate) -> Iterator[MissingAmount]:
    assert template.board is not None  # noqa: S101 - asked before
    instances = {profile: demand.amounts[name] for name, profile in divided.items()}
    needed = mig.gpus_needed(template.board, instances)
    if needed is None or needed.at_least > template.gpus:
        for name, profile in divided.items():
            alone = mig.gpus_needed(template.board, {profile: 1})
            room = 0 if alone is None else (mig.room_beside(template.board, {}) or {}).get(profile, 1) * template.gpus
            yield MissingAmount(resource=name, asked=demand.amounts[name], most=min(room, demand.amounts[name] - 1))


def _exclusive_slices(demand: PodDemand) -> dict[str, Profile]:
    """The exclusive MIG instances that a pod asks for, by resource."""
    found = {name: mig.profile_of_resource(name) for name in demand.amounts}
    return {name: each.profile for name, each in found.items() if each is not None and not each.shared}


def fewest_obstacles(demand: PodDemand, place: Place, own: Container[str]) -> Obstacles:
    """The obstacles for the alternative and the nodes of a place that have the fewest."""
    guarding = blocking_taints(demand, place)
    missing = min(
        (tuple(missing_amounts(demand, amounts, place.template)) for amounts in place.frontier),
        key=lambda each: Obstacles(amounts=each).weight,
    )
    if place.daemons:
        missing = tuple(
            replace(each, taken=place.taken.get(each.resource, 0), daemons=place.daemons) for each in missing
        )
    if not demand.alternatives:
        return Obstacles(amounts=missing, taints=guarding, nowhere=True)
    labels = min((tuple(unmet_requirements(alternative, place, own)) for alternative in demand.alternatives), key=len)
    return Obstacles(amounts=missing, taints=guarding, labels=labels)
