"""The objects of other schedulers that pods name: PodGroups, queues of KAI, NodePools of Karpenter.

Sources: k/k:pkg/scheduler/framework/plugins/gangscheduling, kubernetes-sigs/scheduler-plugins pkg/coscheduling/core,
KAI:pkg/podgrouper/podgrouper/plugins/defaultgrouper/default_grouper.go CalcPodGroupQueue.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, model, paths, quantities
from usher.accelerators.boards import PRODUCT_LABEL
from usher.accelerators.names import GPU_MEMORY
from usher.authorities.authority import Case, Section
from usher.authorities.beside import GROUP_ANNOTATION, GROUP_LABEL
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer, SourceObject, worst
from usher.cluster.facts import nodes, store
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.templates import JOB_CONTROLLER
from usher.kinds.reading.values import Absence, Reference

KAI_LABEL: Final = "kai.scheduler/queue"
KAI_QUEUE: Final = ("scheduling.run.ai", "Queue")
_KAI_ANNOTATIONS: Final = {"grove.io": KAI_LABEL, "nvidia.com": "nvidia.com/kai-scheduler-queue"}
"""Annotations from which operators take the queue, by the group of their kinds (`serving_groups`, `dynamo`)."""


class PodGroupInput(TypedDict):
    """A PodGroup that templates name; `exists` is absent where the PodGroups are unknown."""

    of: str
    """The scheduler that reads it."""
    name: str
    path: str
    exists: NotRequired[bool]
    minimum: NotRequired[int]
    """The pods that start together; absent without this number."""
    field: str
    """The field with that number."""
    least: int
    """The fewest and the most pods of the workload that name it; no most where other objects name it as well."""
    most: NotRequired[int]
    policy: NotRequired[str]
    """`gang` or `basic` of a PodGroup of Kubernetes; absent where the group is unknown or has another policy."""
    priorityClass: NotRequired[str]
    """The class of a PodGroup of Kubernetes, empty without one; absent where the group is unknown."""


class KaiQueueInput(TypedDict):
    """A queue of KAI that the workload names."""

    name: str
    path: str
    exists: bool
    hasParent: bool
    """Whether it has a parent: KAI places no pods in a queue at the top."""
    isParent: bool
    """Whether other queues are below it: KAI only places pods in leaves."""
    limit: NotRequired[Amount]
    """The GPUs that it and the queues above it may use at most; absent without a limit."""
    limitOf: NotRequired[str]
    """The queue with that limit."""


class PodGroupsInput(TypedDict):
    """The PodGroups of Kubernetes and of the coscheduling plugin that a workload names."""

    named: list[PodGroupInput]
    served: NotRequired[bool]
    """Whether the cluster serves PodGroups of Kubernetes; absent where that is unknown."""


class KaiInput(TypedDict):
    """The queues of KAI that a workload names."""

    named: list[KaiQueueInput]


Naming = Callable[[model.PodSet], tuple[str, str]]
"""The name of the group of a pod set, and the path that names it; empty without a group."""


def _in_tree(pod_set: model.PodSet) -> tuple[str, str]:
    return pod_set.scheduling_group, f"{pod_set.spec_path}/schedulingGroup/podGroupName"


def _of_plugin(pod_set: model.PodSet) -> tuple[str, str]:
    return pod_set.labels.get(GROUP_LABEL, ""), paths.join(pod_set.metadata_path, "labels", GROUP_LABEL)


def _of_volcano(pod_set: model.PodSet) -> tuple[str, str]:
    return pod_set.annotations.get(GROUP_ANNOTATION, ""), paths.join(
        pod_set.metadata_path, "annotations", GROUP_ANNOTATION
    )


class _GroupKind(NamedTuple):
    group: str
    of: str
    """The scheduler that reads it."""
    minimum: str
    """The place of the number of pods that start together."""
    naming: Naming


_NATIVE: Final = _GroupKind(
    "scheduling.k8s.io", "the scheduler of Kubernetes", "/spec/schedulingPolicy/gang/minCount", _in_tree
)

_GROUPS: Final = (
    _NATIVE,
    _GroupKind("scheduling.x-k8s.io", "the coscheduling plugin", "/spec/minMember", _of_plugin),
)

_ALL_GROUPS: Final = (*_GROUPS, _GroupKind("scheduling.volcano.sh", "Volcano", "/spec/minMember", _of_volcano))


_OF_KUBERNETES: Final = ("", "default-scheduler")
"""The names of the scheduler of Kubernetes, which does not read PodGroups of Volcano."""


class GroupAsFound(Struct, frozen=True, kw_only=True):
    """A PodGroup that a slice depends on. It changes with the pods of its workload."""

    reference: Reference
    value: paths.Object | Absence

    def still_holds(self, known: Knowledge) -> bool:
        return known.facts.find(self.reference) is self.value


def with_minimum_of_groups(case: Case, known: Knowledge) -> model.Workload:
    """The workload, with the number of pods that its PodGroups wait for; the object itself where it names no group.

    A PodGroup that usher does not know, and one that other objects name too, may start with any pods: its number
    counts as 1. Of several groups the largest number counts, because each group needs its own pods.

    Sources: k/k:pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go PlacementFeasible and getMinCount,
    VC:pkg/scheduler/plugins/gang/gang.go validJobFn.
    """
    workload = case.workload
    if workload.gang_native or workload.gang.minimum is not None:
        return workload
    minima = [number for kind in _ALL_GROUPS for number in _minima(case, known, kind)]
    if not minima:
        return workload
    gang = dataclasses.replace(workload.gang, minimum=max(minima))
    return replace(workload, gang=gang)


def _minima(case: Case, known: Knowledge, kind: _GroupKind) -> Iterator[int]:
    pod_sets = case.workload.pod_sets
    is_unread = kind.of == "Volcano" and all(each.scheduler_name in _OF_KUBERNETES for each in pod_sets)
    for name in {kind.naming(each)[0] for each in pod_sets} - {""}:
        if is_unread:
            yield 1
            continue
        reference = Reference(group=kind.group, kind="PodGroup", name=name, namespace=case.workload.namespace)
        value = known.facts.find(reference)
        case.grounds.append(GroupAsFound(reference=reference, value=value))
        minimum = None if isinstance(value, Absence) else _minimum(kind, name, value)
        yield 1 if minimum is None or name in case.beside.shared_groups else minimum


def _minimum(kind: _GroupKind, name: str, value: paths.Object) -> int | None:
    """The number of pods that a PodGroup waits for; None where it does not say it."""
    found = SourceObject(f"PodGroup {name}", value).at(kind.minimum)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 2**31 else None


def input_slice(case: Case, known: Knowledge) -> PodGroupsInput | None:
    """The PodGroups of a workload, by `named`; None without any, and for objects that a controller made."""
    if case.workload.owner is not None:
        return None
    found: list[PodGroupInput] = [each for kind in _GROUPS for each in _groups(case, known, kind)]
    if not found and not _has_controller_for_groups(case.workload, known):
        return None
    result: PodGroupsInput = {"named": found}
    if known.facts.knows(_NATIVE.group, "PodGroup"):
        result["served"] = known.facts.objects(_NATIVE.group, "PodGroup") is not Absence.MISSING
    return result


def _has_controller_for_groups(workload: model.Workload, known: Knowledge) -> bool:
    """Whether the controller of the kind makes PodGroups of Kubernetes, and the object or usher.yaml asks for one."""
    asks = workload.gang.scheduler == JOB_CONTROLLER
    is_routed = workload.gang_places.native and any(each.scheduler == "native" for each in known.config.routing)
    return asks or bool(is_routed)


def _groups(case: Case, known: Knowledge, kind: _GroupKind) -> Iterator[PodGroupInput]:
    named: dict[str, list[model.PodSet]] = {}
    for pod_set in case.workload.pod_sets:
        name, _ = kind.naming(pod_set)
        if name:
            named.setdefault(name, []).append(pod_set)
    for name, pod_sets in sorted(named.items()):
        reference = Reference(group=kind.group, kind="PodGroup", name=name, namespace=case.workload.namespace)
        value = known.facts.find(reference)
        result: PodGroupInput = {
            "of": kind.of,
            "name": name,
            "path": kind.naming(pod_sets[0])[1],
            "field": kind.minimum.rpartition("/")[2],
            "least": sum(each.count.minimum for each in pod_sets),
        }
        maxima = [each.count.maximum for each in pod_sets]
        if None not in maxima and name not in case.beside.shared_groups:
            result["most"] = sum(filter(None, maxima))
        if value is not Absence.NOT_KNOWN:
            result["exists"] = value is not Absence.MISSING
        if not isinstance(value, Absence):
            minimum = _minimum(kind, name, value)
            if minimum is not None:
                result["minimum"] = minimum
            if kind is _NATIVE:
                source = SourceObject(f"PodGroup {name}", value)
                policies = source.mapping("/spec/schedulingPolicy").keys() & {"gang", "basic"}
                if len(policies) == 1:
                    (result["policy"],) = policies
                result["priorityClass"] = source.text("/spec/priorityClassName")
        yield result


def kai_slice(case: Case, known: Knowledge) -> KaiInput | None:
    """The queues of KAI that a workload names, by `named`; None where they are unknown or not named."""
    queues = known.facts.objects(*KAI_QUEUE)
    if isinstance(queues, Absence) or case.workload.owner is not None:
        return None
    sources = {name: SourceObject(f"Queue {name}", value) for name, value in queues.items()}
    parents = {name: source.text("/spec/parentQueue") for name, source in sources.items()}
    workload = case.workload
    own = _KAI_ANNOTATIONS.get(workload.group, "")
    holders = [("/metadata", workload.labels, workload.annotations)]
    holders += [(each.metadata_path, each.labels, each.annotations) for each in workload.pod_sets]
    places = {(paths.join(at, "labels", KAI_LABEL), labels.get(KAI_LABEL, "")) for at, labels, _ in holders}
    places |= {(paths.join(at, "annotations", own), found.get(own, "")) for at, _, found in holders if own}
    result: list[KaiQueueInput] = []
    for path, name in sorted(places):
        if not name:
            continue
        if name in sources and sources[name].unreadable:
            continue
        entry: KaiQueueInput = {
            "name": name,
            "path": path,
            "exists": name in queues,
            "hasParent": bool(parents.get(name)),
            "isParent": name in parents.values(),
        }
        above = [name, parents.get(name, "")]
        limits = [(limit, each) for each in above if each in sources and (limit := _limit(sources[each])) is not None]
        if limits:
            limit, entry["limitOf"] = min(limits)
            entry["limit"] = amount_of(limit)
        result.append(entry)
    return {"named": result} if result else None


class KaiNeighbour(TypedDict):
    """The queue above a queue of KAI, or one below it."""

    name: str
    limit: NotRequired[Amount]
    quota: NotRequired[Amount]


class KaiTreeInput(TypedDict):
    """The queues around a queue of KAI; absent where they are not known."""

    parent: NotRequired[KaiNeighbour]
    children: NotRequired[list[KaiNeighbour]]


def kai_tree_slice(case: Case, known: Knowledge) -> KaiTreeInput | None:
    """The queues above and below a queue of KAI; None for other objects."""
    if (case.workload.group, case.workload.kind) != KAI_QUEUE:
        return None
    queues = known.facts.objects(*KAI_QUEUE)
    if isinstance(queues, Absence):
        return None
    sources = {name: SourceObject(f"Queue {name}", value) for name, value in sorted(queues.items())}
    above = case.workload.view["kaiQueue"].get("spec", {}).get("parentQueue", "")
    children = [name for name, source in sources.items() if source.text("/spec/parentQueue") == case.workload.name]
    result: KaiTreeInput = {"children": [_neighbour(name, sources[name]) for name in children]}
    if above in sources:
        result["parent"] = _neighbour(above, sources[above])
    return result


def _neighbour(name: str, queue: SourceObject) -> KaiNeighbour:
    result: KaiNeighbour = {"name": name}
    limit, quota = _limit(queue), _limit(queue, "quota")
    if limit is not None:
        result["limit"] = amount_of(limit)
    if quota is not None:
        result["quota"] = amount_of(quota)
    return result


def _limit(queue: SourceObject, field: str = "limit") -> quantities.Quantity | None:
    """The most GPUs of a queue, or its quota; None for -1, which means no limit, and where the queue is silent."""
    try:
        found = quantities.parse(queue.at(f"/spec/resources/gpu/{field}"))
    except errors.QuantityError:
        return None
    return found if found >= quantities.ZERO else None


class BoardsInput(TypedDict):
    """The boards of nodes that one scheduler divides into shares."""

    scheduler: str
    resource: str
    """The shares. A container gets each on another board."""
    number: int
    """The most on one node."""
    memoryResource: str
    memory: NotRequired[int]
    """The most memory of one in MiB; absent if unknown."""


class HamiInput(TypedDict):
    ignored: NotRequired[bool]
    """True where the label of the namespace keeps HAMi's webhook away."""
    registered: NotRequired[bool]
    """Whether HAMi has registered the devices of any node; absent where no node offers devices."""
    boards: NotRequired[list[BoardsInput]]
    """The boards of NVIDIA that schedulers of shares have registered; absent where other nodes offer the resource."""


def hami_slice(case: Case, known: Knowledge) -> HamiInput | None:
    """The nodes and namespaces of HAMi, for pods that ask for parts of devices; None for others, or if unknown.

    Its webhook passes over namespaces with the label (HAMi:charts/hami/templates/scheduler/webhook.yaml).
    """
    names = {name for each in case.workload.pod_sets for box in each.containers for name in box.accelerators}
    if not any(_is_part(name, known) for name in names):
        # Without an amount, each GPU is all of another board (HAMi:pkg/device/nvidia/device.go).
        found = _with_boards({"registered": True}, known, alone=True) if _GPU in names else {}
        return found if "boards" in found else None
    found = _with_boards(_registered(known), known, alone=False)
    if (store.namespace_labels(case.workload.namespace, known.facts) or {}).get("hami.io/webhook") == "ignore":
        found["ignored"] = True
    return found or None


_GPU: Final = "nvidia.com/gpu"


def _with_boards(found: HamiInput, known: Knowledge, *, alone: bool) -> HamiInput:
    """With the boards that are divided. `alone` leaves out resources that other nodes offer as whole devices too."""
    boards = [entry for row in _DIVIDING if (entry := _boards(row, known, alone=alone)) is not None]
    return {**found, "boards": boards} if boards else found


_DIVIDING: Final = (
    ("HAMi", _GPU, nodes.REGISTERED, "nvidia.com/gpumem", nodes.REGISTERED_MEMORY),
    ("Volcano", "volcano.sh/vgpu-number", nodes.VIRTUAL, "volcano.sh/vgpu-memory", nodes.VIRTUAL_MEMORY),
)
"""Schedulers of shares, their resources, and the labels with the number and the memory of boards."""


def _boards(row: tuple[str, str, str, str, str], known: Knowledge, *, alone: bool) -> BoardsInput | None:
    scheduler, resource, label, memory, of = row
    if not known.facts.nodes.known:
        return None
    offering = [each.labels for each in known.facts.nodes.now.classes if each.most.get(resource)]
    dividing = [each for each in offering if int(each.get(label, "0"))]
    if not dividing or (alone and len(dividing) < len(offering)):
        return None
    most = max(int(each[label]) for each in dividing)
    found = BoardsInput(scheduler=scheduler, resource=resource, number=most, memoryResource=memory)
    if all(of in each for each in dividing):
        found["memory"] = max(int(each[of]) for each in dividing)
    return found


def _registered(known: Knowledge) -> HamiInput:
    if not known.facts.nodes.known:
        return {}
    classes = known.facts.nodes.now.classes
    if any(nodes.REGISTERED in each.labels for each in classes):
        return {"registered": True}
    offered = {name for each in classes for name in each.most}
    return {"registered": False} if any(map(known.vocabulary.contains, offered)) else {}


FractionsInput = dict[str, str]
"""By the path of a pod set with a fraction of a GPU: the product of nodes that MIG divides and that it may run on."""


def fractions_slice(case: Case, known: Knowledge) -> FractionsInput | None:
    """The divided nodes that pods with fractions select or do not exclude; None without any."""
    asking = [
        each
        for each in case.workload.pod_sets
        if not each.has_required_affinity and any(one.route is model.Route.FRACTION for one in each.requests)
    ]
    if not asking or not known.facts.nodes.known:
        return None
    found = {
        pod_set.path: product
        for pod_set in asking
        for each in reversed(known.facts.nodes.now.classes)
        if "-MIG-" in (product := each.labels.get(PRODUCT_LABEL, ""))
        and pod_set.node_selector.items() <= each.labels.items()
    }
    return found or None


def unmeasured_slice(case: Case, known: Knowledge) -> FractionsInput | None:
    """By the path of a pod set that asks for memory of a GPU: a node, if no selected one says how much its GPUs have.

    KAI-Scheduler reads the label nvidia.com/gpu.memory (KAI:pkg/scheduler/api/node_info/node_info.go).
    """
    asking = [
        each
        for each in case.workload.pod_sets
        if not each.has_required_affinity
        and any(one.route is model.Route.FRACTION and one.name == GPU_MEMORY for one in each.requests)
    ]
    if not asking or not known.facts.nodes.known:
        return None
    offering = [each for each in known.facts.nodes.now.classes if each.most.get("nvidia.com/gpu")]
    found = {}
    for pod_set in asking:
        selected = [each for each in offering if pod_set.node_selector.items() <= each.labels.items()]
        if selected and all(_MEMORY_LABEL not in each.labels for each in selected):
            found[pod_set.path] = selected[0].example
    return found or None


_MEMORY_LABEL: Final = "nvidia.com/gpu.memory"


def _is_part(name: str, known: Knowledge) -> bool:
    meaning = known.vocabulary.meaning(name)
    return meaning is not None and meaning.divides is not None


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section for each PodGroup that could hold pods back, one for KAI-Scheduler, and one for what pods wait for."""
    if case.workload.owner is not None:
        return
    yield from (each for kind in _ALL_GROUPS for each in _sections_of_groups(case, known, kind))
    names = {each.scheduler.name for each in case.workload.pod_sets}
    kai = {*_KAI_SCHEDULERS, *(route.name for route in known.config.routing if route.scheduler == "kai")}
    if names & kai or case.workload.gang.scheduler == "kai-scheduler":
        yield _section_of_kai(case, known)
    reasons = tuple(dict.fromkeys(_conditions(case, known, modelled=kai)))
    if reasons:
        answers = [answer for answer, _ in reasons]
        yield Section(authority="scheduler", answer=worst(answers), reasons=tuple(text for _, text in reasons))


_KAI_SCHEDULERS: Final = ("kai-scheduler", "runai-scheduler")


def _sections_of_groups(case: Case, known: Knowledge, kind: _GroupKind) -> Iterator[Section]:
    if kind is _NATIVE and known.facts.objects(kind.group, "PodGroup") is Absence.MISSING:
        return  # The API server drops the name of the group, and the pods start one by one.
    for each in _groups(case, known, kind):
        named = {"group": kind.group, "kind": "PodGroup", "name": each["name"]}
        reference = Reference(**named, namespace=case.workload.namespace)
        value = known.facts.find(reference)
        reasons = tuple(_reasons_of_group(case, each, kind, value))
        if reasons:
            answer = Answer.NOT_NOW if each.get("exists") is False else Answer.UNKNOWN
            yield Section(authority="PodGroup", way=(f"PodGroup {each['name']}",), answer=answer, reasons=reasons)


def _reasons_of_group(
    case: Case, group: PodGroupInput, kind: _GroupKind, value: paths.Object | Absence
) -> Iterator[str]:
    """Why a group may never start, as the sources above say it."""
    name = f"PodGroup {group['name']}"
    if isinstance(value, Absence):
        yield (
            f"there is no {name}, and {kind.of} places no pod without it"
            if "exists" in group
            else (f"whether {name} exists is not known")
        )
        return
    shared = case.beside.shared_groups.get(group["name"], 0)
    own = [each.count.maximum for each in case.workload.pod_sets if kind.naming(each)[0] == group["name"]]
    pods = shared or sum(filter(None, own))
    minimum = group.get("minimum")
    if minimum is not None and shared is not None and None not in own and pods < minimum:
        yield f"{name} waits for {minimum:,} pods, {pods:,} of these files name it, and usher knows no other pods"
    if (wanted := group.get("priorityClass")) is not None:
        classes = {each.priority_class_name for each in case.workload.pod_sets if kind.naming(each)[0] == group["name"]}
        if classes != {wanted}:
            written = ", ".join(sorted(each or "no class" for each in classes))
            yield f"{name} has {wanted or 'no class'}, its pods have {written}, and both must have one priority"
    if kind.naming is _in_tree and SourceObject(name, value).at("/spec/schedulingConstraints"):
        yield f"{name} wants its pods in one topology domain, and usher does not know the room of each domain"


def _conditions(case: Case, known: Knowledge, *, modelled: Collection[str]) -> Iterator[tuple[Answer, str]]:
    """The conditions that pods wait for, beside room on nodes.

    Sources: k/k:pkg/scheduler/framework/plugins/schedulinggates, volumebinding and dynamicresources.
    """
    ours = {*_OF_KUBERNETES, "volcano", *(route.name for route in known.config.routing if route.name), *modelled}
    for pod_set in case.workload.pod_sets:
        of = f"{pod_set.name}: " if pod_set.name else ""
        if pod_set.scheduler.name not in ours:
            yield Answer.UNKNOWN, f"{of}scheduler {pod_set.scheduler.name} decides, and usher does not know its rules"
        if gates := [each for each in pod_set.scheduling_gates if not each.startswith("kueue.x-k8s.io/")]:
            yield Answer.NOT_NOW, f"{of}the pods wait until somebody removes the scheduling gate {', '.join(gates)}"
        for volume in pod_set.fields.get("volumes", ()):
            claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
            if claim and claim not in case.beside.disks:
                yield Answer.UNKNOWN, f"{of}whether PersistentVolumeClaim {claim} exists and has a volume is not known"
        for named in pod_set.fields.get("resourceClaims", ()):
            if named.get("resourceClaimName"):
                yield Answer.UNKNOWN, f"{of}whether ResourceClaim {named['resourceClaimName']} exists is not known"


def _section_of_kai(case: Case, known: Knowledge) -> Section:
    """The answer where a limit of a queue of KAI-Scheduler proves it; everything else is unknown.

    Source: KAI:pkg/scheduler/plugins/proportion/capacity_policy/max_allowed_check.go isOverLimit and quota_check.go
    isAllocatedNonPreemptibleOverQuota: each queue on the way up must have the GPUs of the pods that start together.
    That is one pod at least.
    """
    named = kai_slice(case, known)
    queues = known.facts.objects(*KAI_QUEUE)
    sources = (
        {}
        if isinstance(queues, Absence)
        else {name: SourceObject(f"Queue {name}", value) for name, value in queues.items()}
    )
    reasons, answers = list[str](), [Answer.UNKNOWN]
    names = [each["name"] for each in named["named"]] if named is not None else []
    for each in named["named"] if named is not None else ():
        if not each["exists"]:
            answers.append(Answer.UNKNOWN)
            reasons.append(f"there is no Queue {each['name']}")
    least = _least_gpus(case.workload)
    never = list(_limits_below(names[0], sources, case.workload, least)) if len(names) == 1 and least else []
    if never:
        return Section(authority="KAI-Scheduler", way=(f"Queue {names[0]}",), answer=Answer.NEVER, reasons=tuple(never))
    reasons.append(
        "KAI-Scheduler decides: usher does not model its fair shares, over-quota weights, shards and groups of pods"
    )
    way = tuple(f"Queue {name}" for name in names)
    return Section(authority="KAI-Scheduler", way=way, answer=worst(answers), reasons=tuple(reasons))


def _least_gpus(workload: model.Workload) -> quantities.Quantity:
    """The fewest GPUs of any one pod; 0 where a pod asks for a part of one, or has no GPU."""
    amounts = [each.accelerators.get("nvidia.com/gpu", quantities.ZERO) for each in workload.pod_sets]
    return min(amounts, default=quantities.ZERO)


def _limits_below(
    name: str, sources: Mapping[str, SourceObject], workload: model.Workload, least: quantities.Quantity
) -> Iterator[str]:
    """The limits, and for pods that KAI may not evict the quotas, that are below one pod, from the queue upwards."""
    labels = [workload.labels.get(_PREEMPTIBILITY), *(each.labels.get(_PREEMPTIBILITY) for each in workload.pod_sets)]
    stays = {each for each in labels if each is not None} == {"non-preemptible"} and None not in labels[1:]
    seen = set[str]()
    while name in sources and name not in seen:
        seen.add(name)
        for field in ("limit", "quota") if stays else ("limit",):
            most = _limit(sources[name], field)
            if most is not None and most < least:
                asked = quantities.text("nvidia.com/gpu", least, up=True)
                kept = "" if field == "limit" else ", which pods that KAI does not evict cannot exceed"
                yield f"one pod asks for {asked} GPUs, {most} is the {field} of Queue {name}{kept}"
        name = sources[name].text("/spec/parentQueue")


_PREEMPTIBILITY: Final = "kai.scheduler/preemptibility"
