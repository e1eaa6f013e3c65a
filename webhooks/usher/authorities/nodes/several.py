"""Shortages of several workloads at once, and the fast network of the nodes that pods fill."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import memo, model, paths, quantities
from usher.accelerators import boards, mig
from usher.authorities.authority import Case, Section, Taken
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.judge import GangMember, GangNodesInput, NodeVerdict, NodeVerdicts
from usher.authorities.nodes.places import HOSTNAME, MissingAmount, Place, Places, PodDemand, blocking_taints
from usher.authorities.verdict import Answer, worst
from usher.cluster.facts import autoscaled_pools
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.reading.values import Absence, Reference
from usher.model import placement
from usher.model.placement import REQUIRED


class TogetherInput(TypedDict):
    """Pods with accelerators that always run, for which the nodes have no room at the same time."""

    wanted: int
    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts."""
    names: list[str]
    """Kind and name of the objects that make them."""


def of_together(workloads: Sequence[model.Workload], verdicts: NodeVerdicts, known: Knowledge) -> TogetherInput | None:
    """The shortage where the nodes cannot hold all pods of several workloads that always run."""
    pools = declared_pools.placements(known)
    members = [
        GangMember(
            demand=written.tolerating(*asked_elsewhere(pools.of(pod_set, workload=workload))),
            pods=pod_set.count.minimum,
        )
        for workload in workloads
        for pod_set, written in zip(workload.pod_sets, nodes_places.demands_of_workload(workload, known), strict=True)
        if pod_set.asks_accelerators
    ]
    if any(verdicts.of(each.demand).answer is not Answer.COULD for each in members):
        return None
    wanted, found = sum(each.pods for each in members), verdicts.room(members)
    if found is None or found.most >= wanted:
        return None
    names = [f"{each.kind} {each.name}" for each in workloads]
    return {"wanted": wanted, "most": found.most, "sure": found.sure, "names": names}


def in_flavors(sections: Sequence[Section], case: Case, known: Knowledge) -> Iterator[Section]:
    """The sections, where the one of nodes counts only nodes of the flavors that Kueue would give the pods.

    Kueue adds the labels of a flavor to the selectors of the pods, and does not look whether a node holds a pod
    (KQ:pkg/podset/podset.go Merge).
    """
    admitted = [each for each in sections if each.taken and each.answer in (Answer.FITS, Answer.COULD)]
    taken = [each for section in admitted for each in section.taken]
    reasons = list(_flavors_without_nodes(taken, case.workload, known)) if taken else []
    answer = Answer.NOT_NOW if all(each.now for each in taken) else Answer.UNKNOWN
    for section in sections:
        if reasons and section.is_of_nodes:
            yield replace(section, answer=worst([section.answer, answer]), reasons=(*section.reasons, *reasons))
        else:
            yield section


def _flavors_without_nodes(taken: Sequence[Taken], workload: model.Workload, known: Knowledge) -> Iterator[str]:
    """The flavors that pods would get and whose nodes hold no pod of them."""
    verdicts = nodes_judge.node_verdicts(known)
    for pod_set in workload.pod_sets if verdicts is not None else ():
        names = list(dict.fromkeys(each.flavor for each in taken if each.pod_set == pod_set.name))
        found = [
            known.facts.find(Reference(group="kueue.x-k8s.io", kind="ResourceFlavor", name=name)) for name in names
        ]
        specs = [paths.mapping(each.get("spec")) for each in found if not isinstance(each, Absence)]
        labels = {key: str(value) for spec in specs for key, value in paths.mapping(spec.get("nodeLabels")).items()}
        narrow = replace(pod_set, node_selector={**pod_set.node_selector, **labels})
        # Without the queue, only the tolerations of these flavors count.
        alone = replace(workload, pod_sets=(narrow,), queue_labels={})
        (demand,) = nodes_places.demands_of_workload(alone, known)
        tolerations = [one for spec in specs for one in nodes_places.mappings(spec.get("tolerations"))]
        if labels and verdicts is not None and verdicts.of(demand.tolerating(*tolerations)).answer is Answer.NEVER:
            pods = pod_set.name or "the pods"
            yield f"Kueue would give {pods} flavor {', '.join(names)}, and no node of it could hold one of them"


def of_growth(workload: model.Workload, members: Sequence[GangMember], verdicts: NodeVerdicts) -> GangNodesInput | None:
    """The shortage where the nodes cannot hold as many pods with accelerators as an autoscaler may make."""
    if len(members) < len(workload.pod_sets) or not any(
        each.count.grown and each.asks_accelerators for each in workload.pod_sets
    ):
        return None
    grown = [
        replace(member, pods=pod_set.count.grown or pod_set.count.minimum)
        for pod_set, member in zip(workload.pod_sets, members, strict=True)
        if pod_set.asks_accelerators
    ]
    wanted, found = sum(each.pods for each in grown), verdicts.room(grown)
    if found is None or found.most >= wanted:
        return None
    return {"wanted": wanted, "most": found.most, "sure": found.sure}


def asked_elsewhere(pools: declared_pools.PoolsInput) -> Iterator[Mapping[str, paths.Json]]:
    """The tolerations that checks of declared pools ask for."""
    for fit in pools["fits"]:
        for taint in fit["untolerated"]:
            yield {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
    for key in pools["assumedTaints"]:
        yield {"key": key, "operator": "Exists"}


_PODS_OF_A_FABRIC: Final = 2


def unused_fabric(workload: model.Workload, demands: Sequence[PodDemand], verdicts: NodeVerdicts) -> dict[str, str]:
    """By the path of a pod set whose pods work together: the device for RDMA of all nodes which its pods fill."""
    together = workload.role is model.Role.TRAINING or workload.gang.waits
    pods = sum(each.count.minimum for each in workload.pod_sets if each.asks_accelerators)
    if not together or pods < _PODS_OF_A_FABRIC:
        return {}
    found = {each.path: _fabric(demand, verdicts) for each, demand in zip(workload.pod_sets, demands, strict=True)}
    return {path: device for path, device in found.items() if device}


def _fabric(demand: PodDemand, verdicts: NodeVerdicts) -> str:
    """The device for RDMA that all nodes which the pod fills offer; empty if the pod asks for one itself."""
    gpus = demand.amounts.get(nodes_places.GPU, 0)
    if not gpus or any(map(_is_for_rdma, demand.amounts)):
        return ""
    holding = verdicts.holding(demand)
    if any(each.nodes is None for each in holding):
        return ""
    amounts = [each for place in holding for each in place.frontier]
    if any(each.get(nodes_places.GPU) != gpus for each in amounts):
        return ""
    offered = [{name for name in each if each[name] and _is_for_rdma(name)} for each in amounts]
    return min(set.intersection(*offered), default="") if offered else ""


def _is_for_rdma(resource: str) -> bool:
    return resource.startswith("rdma/") or resource == "vpc.amazonaws.com/efa"


class DomainsInput(TypedDict):
    """Groups of pods that each want a domain of a label for themselves, more than there are."""

    key: str
    path: str
    """The annotation that says so."""
    groups: int
    domains: int
    """Values of the label on nodes that could hold the pods."""
    lacking: int
    """Nodes that could hold the pods and do not have the label."""


def pools_to_come(
    workload: model.Workload, demands: Sequence[PodDemand], places: nodes_places.Places
) -> dict[str, str]:
    """The pools that would have to add the first node, for pods that Volcano makes only once nodes have room.

    Its PodGroup stays Pending until then (VC:pkg/scheduler/actions/enqueue, VC:pkg/controllers/job).
    """
    if not workload.gang_native:
        return {}
    found = {}
    for pod_set, demand in zip(workload.pod_sets, demands, strict=False):
        holding = [place for place in places.all if nodes_judge.could_hold(demand, place, places.nodes)]
        if holding and all(place.nodes is None for place in holding):
            found[pod_set.path] = ", ".join(dict.fromkeys(place.name.partition(" (")[0] for place in holding))
    return found


def shortage_of_all_groups(
    workload: model.Workload, members: Sequence[GangMember], verdicts: NodeVerdicts
) -> GangNodesInput | None:
    """The shortage of all groups together, where nothing keeps the pods of one group from taking another's nodes."""
    several = max((pod_set.groups for pod_set in workload.pod_sets), default=1) > 1
    placed_alone = all(pod_set.scheduler_name in ("", "default-scheduler") for pod_set in workload.pod_sets)
    if not several or not placed_alone or workload.gang.formed_by not in ("", model.GANG_IF_CONFIGURED):
        return None
    if not workload.gang.waits:
        return None
    gang = dataclasses.replace(workload.gang, wanted=True, minimum=workload.pods.minimum)
    return verdicts.of_gang(replace(workload, gang=gang), members)


_EXCLUSIVE: Final = ("alpha.jobset.sigs.k8s.io/exclusive-topology", "leaderworkerset.sigs.k8s.io/exclusive-topology")
"""Annotations that give each group of pods a domain of a label for itself (JS:pkg/util/placement, LW:pkg/webhooks)."""

_BY_HAND: Final = "alpha.jobset.sigs.k8s.io/node-selector"
"""With it an administrator has labelled a domain for each Job before."""


def exclusive_domains(
    workload: model.Workload, demands: Sequence[PodDemand], places: nodes_places.Places
) -> DomainsInput | None:
    """The domains for groups that each want one; None where there are enough, or where nodes may be added."""
    annotation = next((each for each in _EXCLUSIVE if workload.annotations.get(each)), "")
    if not annotation or workload.annotations.get(_BY_HAND):
        return None
    key, values, lacking = workload.annotations[annotation], set[str](), 0
    for place in places.all:
        if not any(nodes_judge.could_hold(demand, place, places.nodes) for demand in demands):
            continue
        if place.nodes is None:
            return None
        own = places.nodes.individual.get(key)
        with_label = {name for names in (own or {}).values() for name in names} & place.nodes.nodes.keys()
        values |= {value for value, names in (own or {}).items() if names & place.nodes.nodes.keys()}
        values |= {place.labels[key]} if key in place.labels else set()
        lacking += 0 if key in place.labels else place.nodes.count - len(with_label)
    # Templates beside each other, of a leader and its workers, describe the same groups.
    made = {each.path.rpartition("/")[0]: each.groups for each in workload.pod_sets if each.count.minimum}
    groups = sum(made.values())
    if groups <= len(values):
        return None
    path = paths.join("/metadata/annotations", annotation)
    return {"key": key, "path": path, "groups": groups, "domains": len(values), "lacking": lacking}


class ApartInput(TypedDict):
    """Pods that must be apart by a label, more than the nodes have room for."""

    path: str
    key: str
    pods: int
    most: int
    values: list[str]
    """The values of the label on nodes that could hold the pods."""
    empty: list[str]
    """Other values that count, and whose nodes could hold no pod."""
    least: int
    """minDomains of the constraint, where there are fewer values; else 0."""


def apart(
    workload: model.Workload, pod_set: model.PodSet, demand: PodDemand, places: Places
) -> Iterator[tuple[ApartInput, bool]]:
    """The rules by which pods keep each other off too many nodes, and whether only a rollout of theirs is too large.

    It is empty for objects that may run their pods one after another, and where an autoscaler may add nodes.

    Sources: k/k:pkg/scheduler/framework/plugins/interpodaffinity/filtering.go satisfyPodAntiAffinity and
    k/k:pkg/scheduler/framework/plugins/podtopologyspread/filtering.go minMatchNum.
    """
    row, pods = (workload.group, workload.kind), pod_set.count.minimum
    if not (row in registry.SERVING or workload.gang.waits) or not pod_set.asks_accelerators:
        return
    rolls = (kind := registry.PODS.get(row)) is not None and kind.rolls_out and pod_set.count.maximum != pods
    affinity = pod_set.fields.get("affinity", {}).get("podAntiAffinity", {})
    for index, term in enumerate(affinity.get(placement.REQUIRED, ())):
        key, path = (
            term.get("topologyKey", ""),
            f"{pod_set.spec_path}/affinity/podAntiAffinity/{placement.REQUIRED}/{index}",
        )
        found = _values(key, demand, places)
        if found is None or "" in found or term.get("namespaces") or not _holds_within(term, pod_set):
            continue
        once = bool(rolls and not term.get("matchLabelKeys"))
        if len(found) < pods + once:
            yield _apart(path, key, pods, len(found), found), len(found) >= pods
    for index, spread in enumerate(pod_set.fields.get("topologySpreadConstraints", ())):
        key, skew = spread.get("topologyKey", ""), spread.get("maxSkew", 1)
        found = _values(key, demand, places) if spread.get("whenUnsatisfiable") == "DoNotSchedule" else None
        if not found or spread.get("nodeAffinityPolicy") == "Ignore" or not _holds_within(spread, pod_set):
            continue
        counted = replace(demand, amounts={}, in_one_container={}, claims_devices=False, from_classes=frozenset())
        if spread.get("nodeTaintsPolicy") != "Honor":
            counted = counted.tolerating({"operator": "Exists"})
        empty = (_values(key, replace(counted, devices=None), places, grows=False) or set()) - found - {""}
        least = spread.get("minDomains", 0) if len(found | empty) < spread.get("minDomains", 0) else 0
        if (empty or least) and skew * len(found) < pods:
            path = f"{pod_set.spec_path}/topologySpreadConstraints/{index}"
            yield {**_apart(path, key, pods, skew * len(found), found), "empty": sorted(empty), "least": least}, False


def _apart(path: str, key: str, pods: int, most: int, found: set[str]) -> ApartInput:
    return {"path": path, "key": key, "pods": pods, "most": most, "values": sorted(found), "empty": [], "least": 0}


def _holds_within(rule: Mapping[str, Any], pod_set: model.PodSet) -> bool:
    """Whether a rule holds for the pods of a pod set among themselves; not by labels that only later differ."""
    if rule.get("mismatchLabelKeys") or not _SAME.issuperset(rule.get("matchLabelKeys", ())):
        return False
    return placement.selector_matches(rule.get("labelSelector"), pod_set.labels) is True


def _values(key: str, demand: PodDemand, places: Places, *, grows: bool = True) -> set[str] | None:
    """The values of a label on nodes that could hold a pod, "" for nodes without it; None where nodes may be added."""
    found = set[str]()
    for place in places.all:
        names = nodes_judge.holding_nodes(demand, place, places.nodes)
        added = place.nodes is None or (place.pool is not None and place.pool.scales)
        if grows and added and nodes_judge.could_hold(demand, place, places.nodes):
            return None
        if place.nodes is None:
            continue
        for name in names:
            named = name if key == HOSTNAME else ""
            found.add(place.nodes.nodes[name].labels.get(key) or place.labels.get(key) or named)
    return found


_SAME: Final = frozenset({"pod-template-hash", "controller-revision-hash"})
"""Labels that all pods of one rollout share."""


def devices_left_over(workload: model.Workload, members: Sequence[GangMember], places: Places) -> str:
    """Why a gang may wait although the devices suffice: the scheduler chooses them for one pod after another."""

    def for_sure(members: Sequence[GangMember]) -> nodes_judge.GangRoom:
        counts = (
            nodes_judge.pods_with_devices(each, each.demand.devices, places, sure=True)
            if each.demand.devices is not None
            else each.pods
            for each in members
        )
        most = sum(min(each.pods, count) for each, count in zip(members, counts, strict=True))
        return nodes_judge.GangRoom(most=most, sure=True)

    if not workload.gang.wanted or all(each.demand.devices is None for each in members):
        return ""
    found = nodes_judge.gang_shortage(workload, members, for_sure)
    if found is None:
        return ""
    return (
        f"{found['wanted']:,} pods must run at the same time; the scheduler chooses devices for one pod after another, "
        f"and may leave enough for only {found['most']:,}"
    )


def devices_in_use(demand: PodDemand, places: Places, facts: Store) -> str:
    """Why no node has the devices that a pod claims free now; empty where one has, and for pods without claims."""
    if demand.devices is None:
        return ""
    from usher.cluster.facts.device_slices import CLAIM, InUse

    in_use, found, without = InUse(facts.everywhere(*CLAIM).values()), [""], replace(demand, devices=None)
    for place in places.all:
        for name, room in nodes_judge.rooms(without, demand.devices, place, places.nodes) if place.nodes else ():
            if room.sure:
                found.append(demand.devices.why_taken(in_use, *nodes_judge.seen_by_claims(demand, place, name)))
    return "" if "" in found[1:] else found[-1]


_OF_BOARDS: Final = memo.pattern(r"(?:nvidia|amd|habana|intel)\.(?:com|ai)/|gke-accelerator|instance-gpu|/accelerator")
"""Labels of nodes with accelerators."""


def closed_by_taints(demand: PodDemand, closed: PodDemand, places: Places) -> NodeVerdict | None:
    """The verdict on a pod that only taints keep off the places which could hold it with every toleration.

    None where all known places could hold it: the facts may leave out ordinary nodes, unless it selects boards.

    Args:
        demand: the pod with every toleration.
        closed: the pod with its own.
    """
    held = [each for each in places.all if nodes_judge.could_hold(demand, each, places.nodes)]
    if len(held) == len(places.all) and not _OF_BOARDS.search(repr(demand.alternatives)):
        return None
    found = [(nodes_places.blocking_taints(closed, each), each) for each in held]
    taints, place = min(found, key=lambda each: (len(each[0]), each[1].name))
    nearest = nodes_judge.Nearest(place=place, obstacles=nodes_places.Obstacles(taints=taints))
    return NodeVerdict(answer=Answer.NEVER, nearest=nearest)


def without_pool(
    workload: model.Workload, known: Knowledge
) -> Iterator[tuple[model.PodSet, PodDemand, NodeVerdict, Places, bool]]:
    """The pods that no known pool of an autoscaler could hold, where nodes are unknown and a pool offers devices."""
    added = autoscaled_pools.of_facts(known.facts)
    if known.facts.nodes.known or not added or not workload.asks_accelerators:
        return
    kinds = [*autoscaled_pools.KINDS, *nodes_places.SHAPING_DAEMONS]
    verdicts = known.derived("verdicts of pools", kinds, lambda: NodeVerdicts(nodes_places.places_of_known(known)))
    for pod_set, written in zip(workload.pod_sets, nodes_places.demands_of_workload(workload, known), strict=True):
        wanted = {name for name in written.amounts if known.vocabulary.contains(name)}
        offered = any(wanted <= amounts.keys() for place in verdicts.places.all for amounts in place.frontier)
        if not wanted or not offered or pod_set.node_name:
            continue
        pools = declared_pools.placements(known).of(pod_set, workload=workload)
        demand = written.tolerating(*asked_elsewhere(pools))
        verdict = verdicts.of(demand)
        if verdict.answer is Answer.NEVER and verdict.nearest is not None and verdict.nearest.place is not None:
            yield pod_set, demand, verdict, verdicts.places, pools["poolsDeclared"]


def open_affinity(pod_set: model.PodSet, *, nodes: int) -> Iterator[str]:
    """Conditions in the affinity of pods to other pods and to each other that usher does not decide.

    Source: k/k:pkg/scheduler/framework/plugins/interpodaffinity/filtering.go Filter.

    Args:
        nodes: how many nodes could hold one pod.
    """
    affinity = pod_set.fields.get("affinity", {})
    for term in affinity.get("podAffinity", {}).get(REQUIRED, ()):
        if placement.selector_matches(term.get("labelSelector"), pod_set.labels) is not True:
            yield "the pods must be beside other pods, and usher does not know the others"
    for term in affinity.get("podAntiAffinity", {}).get(REQUIRED, ()) if pod_set.count.maximum != 1 else ():
        key = term.get("topologyKey", "")
        apart = placement.selector_matches(term.get("labelSelector"), pod_set.labels) is not False
        if apart and (key != HOSTNAME or pod_set.count.minimum > nodes):
            yield f"each pod needs another {key}, and usher does not know whether enough of them have room"


def is_daemon(workload: model.Workload) -> bool:
    """Whether its pods are those of a DaemonSet, which the others have to leave room for."""
    return "DaemonSet" in (workload.kind, workload.owner.kind if workload.owner is not None else "")


_MOST_NAMED: Final = 3


def daemons_text(missing: MissingAmount) -> str:
    """The amount of a resource that DaemonSets take of the node, with their names: `1 (logging/agent)`."""
    more = len(missing.daemons) - _MOST_NAMED
    names = ", ".join(missing.daemons[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{quantities.amount(missing.resource, missing.taken, up=True)} ({names})"


_PRODUCT: Final = "nvidia.com/gpu.product"
_COUNT: Final = "nvidia.com/gpu.count"


class RepartitioningInput(TypedDict):
    """GPUs of one node that would hold all MIG instances of a pod after another division."""

    place: str
    board: str
    gpus: int
    """How many GPUs of the node the pod takes."""
    of: int
    """How many GPUs the node has."""
    mix: str
    """The instances after the division: `3g.40gb + 4 x 1g.10gb`."""


def find_repartitioning(demand: PodDemand, places: Iterable[Place]) -> RepartitioningInput | None:
    """The first place whose GPUs could hold all MIG instances of a pod after another division; None without one."""
    found = {name: mig.profile_of_resource(name) for name in demand.amounts}
    instances = {
        each.profile: demand.amounts[name] for name, each in found.items() if each is not None and not each.shared
    }
    if not instances:
        return None
    mix = " + ".join(f"{count} x {profile}" if count > 1 else str(profile) for profile, count in instances.items())
    for place in places:
        per_node = place.labels.get(_COUNT, "")
        product = boards.by_product(place.labels.get(_PRODUCT, ""))
        # With the strategy `single`, the label counts slices, not GPUs.
        if product is None or product.profile is not None or not per_node.isdecimal():
            continue
        needed = mig.gpus_needed(product.board, instances)
        if needed is None or not needed.exact or needed.at_least > int(per_node[:9]):
            continue
        if not blocking_taints(demand, place):
            return {
                "place": place.name,
                "board": product.board.name,
                "gpus": needed.at_least,
                "of": int(per_node[:9]),
                "mix": mix,
            }
    return None
