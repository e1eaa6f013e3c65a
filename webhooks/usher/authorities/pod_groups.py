"""The objects of other schedulers that pods name: PodGroups and registered devices of HAMi.

Sources: k/k:pkg/scheduler/framework/plugins/gangscheduling, kubernetes-sigs/scheduler-plugins pkg/coscheduling/core.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.accelerators.boards import PRODUCT_LABEL
from usher.accelerators.names import GPU_MEMORY
from usher.authorities import kai
from usher.authorities.authority import Case, Section
from usher.authorities.beside import GROUP_ANNOTATION, GROUP_LABEL
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer, SourceObject, worst
from usher.cluster.facts import nodes, store
from usher.kinds.reading.templates import JOB_CONTROLLER
from usher.kinds.reading.values import Absence, Reference


class CompositeGroupInput(TypedDict):
    """A CompositePodGroup above a PodGroup; `exists` is absent where the CompositePodGroups are unknown."""

    name: str
    exists: NotRequired[bool]
    minimum: NotRequired[int]
    """The groups below it that start together; absent without a gang."""
    groups: NotRequired[int]
    """The groups that name it."""
    priorityClass: NotRequired[str]
    """Empty without one."""
    invalid: NotRequired[str]
    """Why the scheduler refuses the whole hierarchy."""


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
    above: NotRequired[list[CompositeGroupInput]]
    """The CompositePodGroups above it, the nearest first."""


class PodGroupsInput(TypedDict):
    """The PodGroups of Kubernetes and of the coscheduling plugin that a workload names."""

    named: list[PodGroupInput]
    served: NotRequired[bool]
    """Whether the cluster serves the groups of Kubernetes that are named; absent where that is unknown."""


Naming = Callable[[model.PodSet], tuple[str, str]]
"""The name of the group of a pod set, and the path that names it; empty without a group."""


def _in_tree(pod_set: model.PodSet) -> tuple[str, str]:
    field = "workloadRef/podGroup" if "/" in pod_set.scheduling_group else "schedulingGroup/podGroupName"
    return pod_set.scheduling_group, f"{pod_set.spec_path}/{field}"


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
    minima: defaultdict[str, list[int]] = defaultdict(list)
    for kind in _ALL_GROUPS:
        for together, number in _minima(case, known, kind):
            minima[together].append(number)
    if not minima:
        return workload
    gang = dataclasses.replace(workload.gang, minimum=max(map(sum, minima.values())))
    return replace(workload, gang=gang)


def _minima(case: Case, known: Knowledge, kind: _GroupKind) -> Iterator[tuple[str, int]]:
    """The name of what starts together, which is a group or a CompositePodGroup that waits for all its groups, and the
    pods of each group in it.
    """
    pod_sets = case.workload.pod_sets
    is_unread = kind.of == "Volcano" and all(each.scheduler_name in _OF_KUBERNETES for each in pod_sets)
    for name in {kind.naming(each)[0] for each in pod_sets} - {""}:
        if is_unread:
            yield name, 1
            continue
        value = _find(case, known, kind, name)
        minimum = None if isinstance(value, Absence) else _minimum(kind, name, value)
        number = 1 if minimum is None or name in case.beside.shared_groups else minimum
        above = _above(case, known, value) if kind is _NATIVE else []
        waiting = [each["name"] for each in above if each.get("minimum", 0) >= each.get("groups", 1)]
        yield f"{COMPOSITE} {waiting[-1]}" if waiting else name, number


COMPOSITE: Final = "CompositePodGroup"
_MOST_LEVELS: Final = 4
"""The levels of a hierarchy (KEP-6012, Notes)."""


def _find(case: Case, known: Knowledge, kind: _GroupKind, name: str) -> paths.Object | Absence:
    """A group; one of a Workload of Kubernetes 1.35 as a PodGroup of later versions (API:scheduling/v1alpha1)."""
    of_workload, *parts = name.split("/")
    which = ("Workload", of_workload) if parts else ("PodGroup", name)
    value = _found(case, known, kind.group, *which)
    if not parts or isinstance(value, Absence):
        return value
    source = SourceObject(f"Workload {of_workload}", value)
    named = (each for each in source.items("/spec/podGroups") if source.at(f"{each}/name") == parts[0])
    policy = next((source.at(f"{each}/policy") for each in named), None)
    return Absence.MISSING if policy is None else {"spec": {"schedulingPolicy": policy}}


def _found(case: Case, known: Knowledge, group: str, kind: str, name: str) -> paths.Object | Absence:
    reference = Reference(group=group, kind=kind, name=name, namespace=case.workload.namespace)
    value = known.facts.find(reference)
    case.grounds.append(GroupAsFound(reference=reference, value=value))
    return value


def _above(case: Case, known: Knowledge, value: paths.Object | Absence) -> list[CompositeGroupInput]:
    """The CompositePodGroups above a PodGroup, the nearest first.

    Sources: KEP-6012; kubernetes.io/docs/concepts/workloads/compositepodgroup-api/lifecycle.
    """
    found: list[CompositeGroupInput] = []
    while not isinstance(value, Absence) and (name := _parent(value)):
        result = CompositeGroupInput(name=name)
        found.append(result)
        if len(found) > _MOST_LEVELS:
            result["invalid"] = f"they have a cycle or more than {_MOST_LEVELS} levels"
            break
        value = _found(case, known, _NATIVE.group, COMPOSITE, name)
        if value is not Absence.NOT_KNOWN:
            result["exists"] = value is not Absence.MISSING
        if not isinstance(value, Absence):
            source = SourceObject(f"{COMPOSITE} {name}", value)
            minimum = source.at("/spec/schedulingPolicy/gang/minGroupCount")
            if isinstance(minimum, int) and not isinstance(minimum, bool):
                result["minimum"], result["groups"] = minimum, _children(case, known, name)
            result["priorityClass"] = source.text("/spec/priorityClassName")
    return found


def _parent(value: paths.Object) -> str:
    return paths.text(paths.mapping(value.get("spec")).get("parentCompositePodGroupName"))


def _children(case: Case, known: Knowledge, name: str) -> int:
    kinds = [known.facts.objects(_NATIVE.group, kind, case.workload.namespace) for kind in ("PodGroup", COMPOSITE)]
    return sum(_parent(each) == name for some in kinds if not isinstance(some, Absence) for each in some.values())


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
    by_workload = any("/" in each.scheduling_group for each in case.workload.pod_sets)
    served = _is_served(known, by_workload=by_workload)
    return result if served is None else {**result, "served": served}


def _is_served(known: Knowledge, *, by_workload: bool) -> bool | None:
    """Whether the API server keeps the name of a group in pods: `workloadRef` in 1.35, which has no PodGroups, and
    `schedulingGroup` later; None if unknown.
    """
    kinds = ["PodGroup", "Workload"] if by_workload else ["PodGroup"]
    if not all(known.facts.knows(_NATIVE.group, each) for each in kinds):
        return None
    missing = [known.facts.objects(_NATIVE.group, each) is Absence.MISSING for each in kinds]
    if missing == [False, False] and not known.facts.nodes.known:
        return None  # Files may hold examples of several versions.
    return missing == [True, False] if by_workload else not missing[0]


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
        value = _find(case, known, kind, name)
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
                result.update(_of_kubernetes(case, known, name, value))
        yield result


def _of_kubernetes(case: Case, known: Knowledge, name: str, value: paths.Object) -> PodGroupInput:
    source = SourceObject(f"PodGroup {name}", value)
    policies = source.mapping("/spec/schedulingPolicy").keys() & {"gang", "basic"}
    policy = "".join(policies) if len(policies) == 1 else ""
    result: PodGroupInput = paths.given(policy=policy, above=_above(case, known, value))
    if "/" not in name:
        result["priorityClass"] = source.text("/spec/priorityClassName")
    return result


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
    # A node that cannot be read may be one of HAMi's.
    is_known = not known.facts.nodes.now.unreadable and any(map(known.vocabulary.contains, offered))
    return {"registered": False} if is_known else {}


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
    """A section for each PodGroup that could hold pods back, and one for what pods wait for."""
    if case.workload.owner is not None:
        return
    yield from (each for kind in _ALL_GROUPS for each in _sections_of_groups(case, known, kind))
    reasons = tuple(dict.fromkeys(_conditions(case, known, modelled=kai.schedulers(known))))
    if reasons:
        answers = [answer for answer, _ in reasons]
        yield Section(authority="scheduler", answer=worst(answers), reasons=tuple(text for _, text in reasons))


def _sections_of_groups(case: Case, known: Knowledge, kind: _GroupKind) -> Iterator[Section]:
    for each in _groups(case, known, kind):
        if kind is _NATIVE and _is_served(known, by_workload="/" in each["name"]) is False:
            return  # The API server drops the name of the group, and the pods start one by one.
        reasons = tuple(_reasons_of_group(case, each, kind, _find(case, known, kind, each["name"])))
        if reasons:
            exist = [each.get("exists"), *(above.get("exists") for above in each.get("above", ()))]
            answer = Answer.NOT_NOW if False in exist else Answer.UNKNOWN
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
    for above in group.get("above", ()):
        if above.get("exists") is False or above.get("minimum", 0) > above.get("groups", 0) or "invalid" in above:
            wait = f"waits for {above['minimum']:,} groups" if above.get("exists") else "does not exist"
            reason = "is refused" if "invalid" in above else wait
            yield f"{COMPOSITE} {above['name']} above {name} {reason}, so no pod of the hierarchy starts"
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
