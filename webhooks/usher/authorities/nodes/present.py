"""The data about nodes for Rego and `usher queue`: obstacles of pods, the meaning of their resources, and their GPUs.

Rego knows no boards and profiles. It gets answers where a pod set asks for nvidia.com/mig-*, or for nodes of slices.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths, quantities
from usher.accelerators import boards, mig
from usher.accelerators.mig import MIG_RESOURCE_PREFIX, Board, Profile
from usher.authorities import pod_groups
from usher.authorities.authority import NODES, Case, Holding, Section
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools, several
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.declared_pools import PoolsInput
from usher.authorities.nodes.judge import GangNodesInput, Nearest, NodeVerdict, NodeVerdicts
from usher.authorities.nodes.places import MissingAmount, Obstacles, Place, Places, PodDemand
from usher.authorities.nodes.several import ApartInput, DomainsInput, TogetherInput
from usher.authorities.verdict import Answer, worst
from usher.config import models
from usher.model.placement import Requirement

_VALUES: Final = 5
"""How many values of a label or a requirement a message names."""

_LONGEST: Final = 63
"""The most characters of a label value."""


def requirement_text(wanted: Requirement) -> str:
    """The text of a requirement: `zone=a`, `zone in (a, b)`."""
    shown = [value[:_LONGEST] for value in wanted.values[:_VALUES]]
    listed = ", ".join([*shown, "..."] if len(wanted.values) > _VALUES else shown)
    match wanted.operator:
        case "In" if len(wanted.values) == 1:
            return f"{wanted.key}={listed}"
        case "In":
            return f"{wanted.key} in ({listed})"
        case "NotIn":
            return f"{wanted.key} not in ({listed})"
        case "Gt" | "Lt":
            return f"{wanted.key} {'>' if wanted.operator == 'Gt' else '<'} {listed}"
        case operator:
            return f"{wanted.key} {operator}"


def label_values(key: str, places: Places) -> list[str]:
    """Some values of a label on the nodes, in order; empty for a label that differs from node to node."""
    return sorted({place.labels[key] for place in places.all if key in place.labels})[:_VALUES]


_VERDICTS: Final = {Answer.COULD: "fits", Answer.NEVER: "never", Answer.UNKNOWN: "unknown"}


class MissingAmountInput(TypedDict):
    resource: str
    asked: str
    most: str
    """The amount on one node; empty where the node does not have the resource."""
    instead: NotRequired[str]
    """The devices of the same vendor that the node offers in its place."""
    daemons: NotRequired[str]
    """The amount that DaemonSets take of the node, with their names; `most` is the rest."""
    path: NotRequired[str]
    """The place of the request, if only one container has it."""


class MismatchInput(TypedDict):
    """An unmet requirement on labels."""

    wants: str
    """The requirement: `zone in (a, b)`."""
    there: list[str]
    """Some values of the label on the nodes."""
    elsewhere: bool
    """Whether nodes of another place meet it."""
    undefined: NotRequired[bool]
    """True where the place has no nodes, and its autoscaler knows no value of the label."""


class NearestInput(TypedDict):
    """The place that lacks least."""

    place: NotRequired[str]
    """Absent where the cluster has no node, or no node with the name that the pod gives."""
    shortages: list[MissingAmountInput]
    taints: list[str]
    labels: list[MismatchInput]
    nowhere: bool
    """Whether the affinity cannot match any node."""
    node: NotRequired[str]
    """The node name that the pod asks for and that no node has."""
    devices: NotRequired[str]
    """Why the devices of the node cannot serve the claims of the pod."""


class CrowdedInput(TypedDict):
    """A pool whose kubelets refuse the pods: no NUMA node has as many GPUs as a container asks for."""

    place: str
    asked: int
    most: int


class PodSetNodesInput(TypedDict):
    verdict: str
    reason: NotRequired[str]
    nearest: NotRequired[NearestInput]
    large: NotRequired[NearestInput]
    """The nearest place that only taints close, where the nearest of all is too small."""
    divided: NotRequired[several.RepartitioningInput]
    crowded: NotRequired[CrowdedInput]
    declared: bool
    """Whether usher.yaml declares a pool for these pods; else an autoscaler may add other nodes."""
    poolsAlone: NotRequired[bool]
    """Whether only pools of autoscalers are known, and no nodes."""


class NodesInput(TypedDict):
    pods: dict[str, PodSetNodesInput]
    """Pod sets by path, without those that some node can hold."""
    gang: NotRequired[GangNodesInput]
    """Absent where all pods that must start together can run."""
    groups: NotRequired[GangNodesInput]
    """All pods of several groups that no scheduler starts as gangs; absent where the nodes hold all of them."""
    domains: NotRequired[DomainsInput]
    apart: NotRequired[list[ApartInput]]
    """Absent where the nodes have enough values of the labels by which pods must be apart."""
    fromZero: NotRequired[dict[str, str]]
    """Pools without nodes, by the path of a pod set of a Volcano Job that only nodes still to come could hold."""
    fabric: NotRequired[dict[str, str]]
    """By the path of a pod set whose pods work together: the device for RDMA of all nodes which its pods fill."""
    together: NotRequired[TogetherInput]
    """Absent where the nodes hold all pods of the workloads of the same files that always run."""
    growth: NotRequired[GangNodesInput]
    """Absent where the nodes hold as many pods with accelerators as an autoscaler may make, and without one."""
    rollout: NotRequired[GangNodesInput]
    """Absent where a rollout has room for its first new pod, and for kinds without rollouts."""


def input_slice(case: Case, known: Knowledge) -> NodesInput | None:
    """The obstacles on all nodes; None without obstacles, with unknown nodes, or without requests for accelerators."""
    verdicts = nodes_judge.node_verdicts(known)
    if verdicts is None:
        alone: dict[str, PodSetNodesInput] = {
            pod_set.path: {**_pod_set_input(pod_set, demand, verdict, places, declared=declared), "poolsAlone": True}
            for pod_set, demand, verdict, places, declared in several.without_pool(case.workload, known)
        }
        return {"pods": alone} if alone else None
    if several.is_daemon(case.workload):
        verdicts = verdicts.without_daemons
    if not case.workload.asks_accelerators:
        return _of_ordinary_pods(case.workload, verdicts, known)
    workload = pod_groups.with_minimum_of_groups(case, known)
    found: dict[str, PodSetNodesInput] = {}
    members: list[nodes_judge.GangMember] = []
    for pod_set, written in zip(workload.pod_sets, nodes_places.demands_of_workload(workload, known), strict=True):
        if pod_set.placed and pod_set.node_name:
            continue
        pools = declared_pools.placements(known).of(pod_set, workload=workload)
        # Another check asks for these tolerations, so this one reports what fits no node even with them.
        demand = written.tolerating(*several.asked_elsewhere(pools))
        verdict = verdicts.of(demand)
        if verdict.answer is not Answer.COULD or verdict.crowded is not None:
            declared = pools["poolsDeclared"] and pod_set.asks_accelerators
            found[pod_set.path] = _pod_set_input(pod_set, demand, verdict, verdicts.places, declared=declared)
        members.append(nodes_judge.gang_member(pod_set, demand, workload.gang))
    result: NodesInput = {"pods": found} if found else _of_several_pods(workload, members, verdicts)
    if case.beside.together and (together := several.of_together(case.beside.together, verdicts, known)) is not None:
        result["together"] = together
    return result if len(result) > 1 or found else None


def _of_ordinary_pods(workload: model.Workload, verdicts: NodeVerdicts, known: Knowledge) -> NodesInput | None:
    """The pods without accelerators that select labels which no node has, or only nodes that taints close to them.

    What they ask for does not count. A DaemonSet may find no node, and a Pod that is bound has found one.
    """
    selecting = [each.node_selector or each.has_required_affinity for each in workload.pod_sets]
    if not any(selecting) or several.is_daemon(workload) or workload.is_pod:
        return None
    found: dict[str, PodSetNodesInput] = {}
    demands = nodes_places.demands_of_workload(workload, known)
    for pod_set, selects, written in zip(workload.pod_sets, selecting, demands, strict=True):
        if not selects or pod_set.node_name or not pod_set.count.maximum:
            continue
        closed = replace(written, amounts={}, claims_devices=False)
        demand = replace(closed, tolerations=({"operator": "Exists"},))
        verdict = verdicts.of(demand)
        if verdict.answer is Answer.COULD and verdicts.of(closed).answer is Answer.NEVER:
            verdict = several.closed_by_taints(demand, closed, verdicts.places) or verdict
        if verdict.answer is Answer.NEVER:
            found[pod_set.path] = _pod_set_input(pod_set, demand, verdict, verdicts.places, declared=False)
    return {"pods": found} if found else None


def _of_several_pods(
    workload: model.Workload, members: Sequence[nodes_judge.GangMember], verdicts: nodes_judge.NodeVerdicts
) -> NodesInput:
    """The shortages of all pods together, where the nodes could hold each of them."""
    result: NodesInput = {"pods": {}}
    gang, rollout = verdicts.of_gang(workload, members), verdicts.of_rollout(workload, members)
    if gang is not None:
        result["gang"] = gang
    elif (all_groups := several.shortage_of_all_groups(workload, members, verdicts)) is not None:
        result["groups"] = all_groups
    if rollout is not None:
        result["rollout"] = rollout
    elif (growth := several.of_growth(workload, members, verdicts)) is not None:
        result["growth"] = growth
    demands = [each.demand for each in members]
    if from_zero := several.pools_to_come(workload, demands, verdicts.places):
        result["fromZero"] = from_zero
    if (domains := several.exclusive_domains(workload, demands, verdicts.places)) is not None:
        result["domains"] = domains
    _add_apart(result, workload, demands, verdicts.places)
    if fabric := several.unused_fabric(workload, demands, verdicts):
        result["fabric"] = fabric
    return result


def _add_apart(result: NodesInput, workload: model.Workload, demands: Sequence[PodDemand], places: Places) -> None:
    """Adds the rules by which pods keep each other off too many nodes, and the rollouts that these never end."""
    for pod_set, demand in zip(workload.pod_sets, demands, strict=False):
        for apart, only_rolling in several.apart(workload, pod_set, demand, places):
            if not only_rolling:
                result.setdefault("apart", []).append(apart)
            elif "rollout" not in result:
                result["rollout"] = {"wanted": apart["pods"] + 1, "most": apart["most"], "sure": False}


def pod_group_slice(case: Case, known: Knowledge) -> GangNodesInput | None:
    """The shortage of a PodGroup with pods made by hand; None where enough of them can run at once."""
    if case.beside.gang is None:
        return None
    found = input_slice(Case(workload=case.beside.gang), known)
    return found.get("gang") if found is not None else None


def _pod_set_input(
    pod_set: model.PodSet, demand: PodDemand, verdict: NodeVerdict, places: Places, *, declared: bool
) -> PodSetNodesInput:
    result: PodSetNodesInput = {"verdict": _VERDICTS[verdict.answer], "declared": declared}
    if verdict.reason:
        result["reason"] = verdict.reason
    if verdict.nearest is not None:
        result["nearest"] = _nearest_input(pod_set, verdict.nearest, places)
        if verdict.large is not None:
            result["large"] = _nearest_input(pod_set, verdict.large, places)
        missing = verdict.nearest.obstacles.amounts
        divided = several.find_repartitioning(demand, places.all) if missing else None
        if divided is not None:
            result["divided"] = divided
    if verdict.crowded is not None:
        result["crowded"] = _crowded_input(verdict.crowded, demand)
    return result


def _crowded_input(place: Place, demand: PodDemand) -> CrowdedInput:
    gpu = None if place.pool is None else place.pool.gpu
    most = None if gpu is None else gpu.per_numa_node
    return {"place": place.name, "asked": demand.in_one_container["nvidia.com/gpu"], "most": most or 0}


def _nearest_input(pod_set: model.PodSet, nearest: nodes_judge.Nearest, places: Places) -> NearestInput:
    obstacles = nearest.obstacles
    result: NearestInput = {
        "shortages": [missing_amount_input(pod_set, each) for each in obstacles.amounts],
        "taints": [str(taint) for taint in obstacles.taints],
        "labels": [_mismatch_input(each, nearest.place, places) for each in obstacles.labels],
        "nowhere": obstacles.nowhere,
    }
    if nearest.place is not None:
        result["place"] = nearest.place.name
    named = ", ".join(value for each in obstacles.names for value in each.values)
    result.update(paths.given(devices=obstacles.devices, node=named))
    return result


def _mismatch_input(wanted: Requirement, place: Place | None, places: Places) -> MismatchInput:
    result: MismatchInput = {
        "wants": requirement_text(wanted),
        "there": label_values(wanted.key, places),
        "elsewhere": places.any_meets(wanted),
    }
    undefined = place is not None and place.defined is not None and wanted.key not in place.labels
    result.update(paths.given(undefined=undefined))
    return result


def missing_amount_input(pod_set: model.PodSet, missing: MissingAmount) -> MissingAmountInput:
    """A missing amount, with the place of the request if only one container has it."""
    resource = missing.resource
    result: MissingAmountInput = {
        "resource": resource,
        "asked": quantities.amount(resource, missing.asked, up=True),
        "most": quantities.amount(resource, missing.most, up=False) if missing.most else "",
    }
    naming = [each for each in pod_set.containers if resource in each.requests or resource in each.limits]
    result.update(
        paths.given(
            instead=missing.instead,
            daemons=missing.taken and several.daemons_text(missing),
            path=naming[0].first_path(resource) if len(naming) == 1 else "",
        )
    )
    return result


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """One section about the nodes and the pools of usher.yaml."""
    workload = pod_groups.with_minimum_of_groups(case, known)
    verdicts = nodes_judge.node_verdicts(known)
    if verdicts is None:
        yield Section(authority=NODES, answer=Answer.UNKNOWN, reasons=("the nodes are not known",))
        return
    if several.is_daemon(workload):
        verdicts = verdicts.without_daemons
    places = verdicts.places
    holding, remedies, divisions, members = [], dict[str, None](), dict[str, None](), []
    for pod_set, demand in zip(workload.pod_sets, nodes_places.demands_of_workload(workload, known), strict=True):
        verdict = verdicts.of(demand)
        holding.append(_holding_nodes(pod_set, demand, verdict, places))
        if verdict.answer is Answer.COULD and (taken := several.devices_in_use(demand, places, known.facts)):
            holding[-1] = replace(holding[-1], answer=Answer.NOT_NOW, missing=(taken,))
        members.append(nodes_judge.gang_member(pod_set, demand, workload.gang))
        if verdict.nearest is not None:
            remedies |= dict.fromkeys(_fitting_texts(pod_set, verdict.nearest))
            divisions |= dict.fromkeys(_dividing_texts(demand, verdict.nearest, places))
    answers = [each.answer for each in holding]
    rooms = zip(workload.pod_sets, holding, strict=True)
    reasons = [text for pod_set, room in rooms for text in several.open_affinity(pod_set, nodes=room.nodes)]
    answers += [Answer.UNKNOWN for _ in reasons]
    gang = None if Answer.NEVER in answers else verdicts.of_gang(workload, members)
    if gang is not None:
        answers.append(Answer.NEVER if gang["sure"] else Answer.UNKNOWN)
        condition = "" if gang["sure"] else "; usher does not know whether an autoscaler adds nodes"
        reasons.append(
            f"{gang['wanted']:,} pods must run at the same time, and the nodes hold {gang['most']:,}{condition}"
        )
    elif Answer.NEVER not in answers and (left := several.devices_left_over(workload, members, places)):
        answers.append(Answer.UNKNOWN)
        reasons.append(left)
    to_come = several.pools_to_come(workload, [each.demand for each in members], places)
    if to_come and Answer.NEVER not in answers:
        answers.append(Answer.NOT_NOW)
        pools = "; ".join(dict.fromkeys(to_come.values()))
        reasons.append(
            f"Volcano makes the pods only when nodes have room for them, and {pools} has no node yet, so no autoscaler "
            "sees the pods"
        )
    yield Section(
        authority=NODES,
        answer=worst(answers),
        reasons=tuple(reasons),
        holding=tuple(holding),
        remedies=(*remedies, *divisions),
        node_changes=tuple(divisions),
    )


def _holding_nodes(pod_set: model.PodSet, demand: PodDemand, verdict: NodeVerdict, places: Places) -> Holding:
    there, grows = 0, list[str]()
    for place in () if demand.too_large else places.all:
        there += len(nodes_judge.holding_nodes(demand, place, places.nodes))
        if place.nodes is None and nodes_judge.could_hold(demand, place, places.nodes):
            grows.append(place.name)
    nearest = ""
    missing: tuple[str, ...] = (verdict.reason,) if verdict.reason else ()
    if verdict.nearest is not None:
        nearest = verdict.nearest.place.name if verdict.nearest.place is not None else ""
        missing = tuple(_obstacle_texts(verdict.nearest.obstacles, places)) or ("the cluster has no node",)
    if verdict.crowded is not None:
        missing = (f"no NUMA node of {verdict.crowded.name} has as many GPUs as a container asks for",)
    return Holding(
        pod_set=pod_set.name, answer=verdict.answer, nodes=there, grows=tuple(grows), nearest=nearest, missing=missing
    )


def _obstacle_texts(obstacles: Obstacles, places: Places) -> Iterator[str]:
    for missing in obstacles.amounts:
        asked = quantities.amount(missing.resource, missing.asked, up=True)
        most = quantities.amount(missing.resource, missing.most, up=False) if missing.most else "none"
        beside = f" beside its DaemonSets, which take {several.daemons_text(missing)}" if missing.taken else ""
        yield f"{asked} {missing.resource} asked for, one node has {most}{beside}"
    for taint in obstacles.taints:
        yield f"taint {taint} is not tolerated"
    for wanted in obstacles.labels:
        there = ", ".join(label_values(wanted.key, places))
        yield f"{requirement_text(wanted)} is not met" + (f" (nodes have {there})" if there else "")
    for wanted in obstacles.names:
        yield f"the pods must be on node {', '.join(wanted.values)}"
    if obstacles.devices:
        yield obstacles.devices
    if obstacles.nowhere:
        yield "their affinity matches no node"


def _fitting_texts(pod_set: model.PodSet, nearest: Nearest) -> Iterator[str]:
    """All changes that together let a pod fit the nearest place."""
    if nearest.place is None:
        return
    obstacles = nearest.obstacles
    steps = list(_steps(obstacles))
    # A resource that the nodes do not have can only be left out of the pod.
    if steps and not obstacles.names and all(each.most for each in obstacles.amounts):
        yield f"to fit {nearest.place.name}, in {pod_set.name or 'the pod'}: {', '.join(steps)}"


def _dividing_texts(demand: PodDemand, nearest: Nearest, places: Places) -> Iterator[str]:
    """A MIG division of a node that would hold a pod."""
    wanted = nearest.place is not None and nearest.obstacles.amounts
    divided = several.find_repartitioning(demand, places.all) if wanted else None
    if divided is not None:
        yield (
            f"divide {divided['gpus']} of {divided['of']} GPUs of a node of {divided['place']} "
            f"({divided['board']}) into {divided['mix']}"
        )


def _steps(obstacles: Obstacles) -> Iterator[str]:
    for taint in obstacles.taints:
        yield f"tolerate {taint}"
    for missing in obstacles.amounts:
        most = quantities.amount(missing.resource, missing.most, up=False)
        yield f"ask for at most {most} {missing.resource}"
    for wanted in obstacles.labels:
        yield f"leave out {requirement_text(wanted)}"


_DIVIDED: Final = "-MIG-"

_LARGEST: Final = 2048
"""The most characters of resource names in a kept answer; real pods have fewer than a hundred."""


class MigProfileInput(TypedDict):
    """The meaning of a resource nvidia.com/mig-*."""

    name: str
    """The driver's name of the profile: 1g.10gb+me."""
    slices: int
    shared: bool
    """True where each unit is a time slice of an instance that other pods use as well."""
    boards: list[str]
    """The known boards that have the profile."""
    known: bool
    """False where no known board has the profile and usher.yaml does not name the resource."""
    whole: bool
    """Whether the profile is a whole GPU of some board, so that no part of it stays unused."""


class MigBoardInput(TypedDict):
    """A board that has all profiles of a pod, and how many of its GPUs the pod needs."""

    name: str
    gpus: int
    exact: bool
    """False where the pod may need more: it has too many instances of several profiles to search all divisions."""


class MigInput(TypedDict):
    """The MIG resources that a pod set asks for."""

    profiles: dict[str, MigProfileInput]
    """Profiles by resource."""
    misspelt: dict[str, str]
    """Resources that no device plugin offers under this name, with the likely name; empty where usher has no guess."""
    boards: NotRequired[list[MigBoardInput]]
    """Boards on which a pod could find all its instances together; absent where it asks for no instance of its own."""
    selectedBoard: NotRequired[str]
    """The board that the node selector names."""
    selectedProfile: NotRequired[MigProfileInput]
    """The profile of nvidia.com/gpu on the selected nodes, where the MIG strategy `single` makes it a slice."""
    offered: NotRequired[list[str]]
    """The MIG resources that pools of usher.yaml offer; absent where no pool offers any."""


class _Question(Struct, frozen=True):
    """Everything that the answer depends on."""

    amounts: tuple[tuple[str, int], ...]
    selected: str
    pools: tuple[str, ...]
    """Products of the pools on which the pods could run; empty unless each pool declares its product."""


class MigAnswers:
    """Answers for one configuration, kept because most pods of a cluster ask for the same few slices."""

    def __init__(self, config: models.Config) -> None:
        offered = {name for pool in config.pools for name in pool.resources if name.startswith(MIG_RESOURCE_PREFIX)}
        self._offered = sorted(offered)
        self._declared = offered.union(config.accelerators.names, config.accelerators.resources)
        self._kept = lru_cache(maxsize=1024)(self._work_out)

    def of(self, pod_set: model.PodSet, where: PoolsInput) -> MigInput | None:
        """The answer for one pod set; None where it does not use MIG. Callers must not change it."""
        amounts = tuple(
            (name, quantity.value)
            for name, quantity in pod_set.accelerators.items()
            if name.startswith(MIG_RESOURCE_PREFIX)
        )
        product = pod_set.node_selector.get(boards.PRODUCT_LABEL, "")
        if not amounts and _DIVIDED not in product:
            return None
        products = [fit["labels"].get(boards.PRODUCT_LABEL, "") for fit in where["fits"]]
        question = _Question(amounts, product, tuple(products) if all(products) else ())
        if sum(len(name) for name, _ in amounts) + len(product) > _LARGEST:
            return self._work_out(question)
        return self._kept(question)

    def _work_out(self, question: _Question) -> MigInput:
        result: MigInput = {"profiles": {}, "misspelt": {}}
        instances: dict[Profile, int] = {}
        for name, amount in question.amounts:
            advertised = mig.profile_of_resource(name)
            if advertised is None:
                if name not in self._declared:
                    result["misspelt"][name] = _likely_profile_name(name)
                continue
            result["profiles"][name] = self._profile(name, advertised)
            if not advertised.shared:
                instances[advertised.profile] = instances.get(advertised.profile, 0) + amount
        if self._offered:
            result["offered"] = self._offered
        selected = boards.by_product(question.selected)
        if selected is not None:
            result["selectedBoard"] = selected.board.name
            if selected.profile is not None:
                advertised = mig.Advertised(profile=selected.profile, shared=selected.shared)
                result["selectedProfile"] = self._profile("", advertised)
        if instances:
            candidates = _candidates(selected, question.pools)
            result["boards"] = list(_needs(candidates, instances)) or list(_needs(boards.BOARDS, instances))
        return result

    def _profile(self, name: str, advertised: mig.Advertised) -> MigProfileInput:
        profile = advertised.profile
        having = _HAVING.get(profile, ())
        return {
            "name": str(profile),
            "slices": profile.slices,
            "shared": advertised.shared,
            "boards": [board.name for board in having],
            "known": bool(having) or name in self._declared,
            "whole": any(board.offers[0] is board.offer(profile) for board in having),
        }


def _having() -> Mapping[Profile, tuple[Board, ...]]:
    """The boards of every profile, computed once because a manifest may name thousands of profiles."""
    names = {name for board in boards.BOARDS for offer in board.offers for name in offer.names}
    return {name: boards.boards_with(name) for name in names}


_HAVING: Final = _having()


def _likely_profile_name(name: str) -> str:
    """The likely name. It repairs a + for a dot, upper case, and a compute instance for its GPU instance."""
    text = name.removeprefix(MIG_RESOURCE_PREFIX).lower()
    text, dot, shared = text.partition(".shared")
    profile = mig.parse_profile(text)
    if profile is None:
        instance = mig.compute_instance(text)
        profile = None if instance is None else instance.profile
    return "" if profile is None else profile.resource + dot + shared


def _candidates(selected: boards.Product | None, pools: Iterable[str]) -> Iterable[Board]:
    """The boards that the pods could get, by the node selector or else by the pools."""
    if selected is not None:
        return [selected.board]
    products = [boards.by_product(product) for product in pools]
    known = {product.board.name: product.board for product in products if product is not None}
    return known.values() if known and None not in products else boards.BOARDS


def _needs(candidates: Iterable[Board], instances: mig.Instances) -> Iterator[MigBoardInput]:
    for board in candidates:
        needed = mig.gpus_needed(board, instances)
        if needed is not None:
            yield {"name": board.name, "gpus": needed.at_least, "exact": needed.exact}
