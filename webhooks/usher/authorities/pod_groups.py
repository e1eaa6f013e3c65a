"""The objects of other schedulers that pods name: PodGroups, queues of KAI, NodePools of Karpenter.

Sources: k/k:pkg/scheduler/framework/plugins/gangscheduling, kubernetes-sigs/scheduler-plugins pkg/coscheduling/core,
KAI:pkg/podgrouper/podgrouper/plugins/defaultgrouper/default_grouper.go CalcPodGroupQueue.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, model, paths, quantities
from usher.accelerators.boards import PRODUCT_LABEL
from usher.authorities.authority import Case, Section
from usher.authorities.beside import GROUP_LABEL
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import SourceObject
from usher.cluster.facts import nodes, store
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.values import Absence, Reference

KAI_LABEL: Final = "kai.scheduler/queue"
KAI_QUEUE: Final = ("scheduling.run.ai", "Queue")
_KAI_ANNOTATIONS: Final = {"grove.io": KAI_LABEL, "nvidia.com": "nvidia.com/kai-scheduler-queue"}
"""Annotations from which operators take the queue, by the group of their kinds (`kinds.grove`, `kinds.dynamo`)."""


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


class KaiInput(TypedDict):
    """The queues of KAI that a workload names."""

    named: list[KaiQueueInput]


Naming = Callable[[model.PodSet], tuple[str, str]]
"""The name of the group of a pod set, and the path that names it; empty without a group."""


def _in_tree(pod_set: model.PodSet) -> tuple[str, str]:
    return pod_set.scheduling_group, f"{pod_set.spec_path}/schedulingGroup/podGroupName"


def _of_plugin(pod_set: model.PodSet) -> tuple[str, str]:
    return pod_set.labels.get(GROUP_LABEL, ""), paths.join(pod_set.metadata_path, "labels", GROUP_LABEL)


class _GroupKind(NamedTuple):
    group: str
    of: str
    """The scheduler that reads it."""
    minimum: str
    """The place of the number of pods that start together."""
    naming: Naming


_GROUPS: Final = (
    _GroupKind("scheduling.k8s.io", "the scheduler of Kubernetes", "/spec/schedulingPolicy/gang/minCount", _in_tree),
    _GroupKind("scheduling.x-k8s.io", "the coscheduling plugin", "/spec/minMember", _of_plugin),
)


def input_slice(case: Case, known: Knowledge) -> PodGroupsInput | None:
    """The PodGroups of a workload, by `named`; None without any, and for objects that a controller made."""
    if case.workload.owner is not None:
        return None
    found: list[PodGroupInput] = [each for kind in _GROUPS for each in _groups(case, known, kind)]
    return {"named": found} if found else None


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
            minimum = SourceObject(f"PodGroup {name}", value).at(kind.minimum)
            if isinstance(minimum, int) and not isinstance(minimum, bool) and 0 < minimum < 2**31:
                result["minimum"] = minimum
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


class HamiInput(TypedDict):
    ignored: NotRequired[bool]
    """True where the label of the namespace keeps HAMi's webhook away."""
    registered: NotRequired[bool]
    """Whether HAMi has registered the devices of any node; absent where no node offers devices."""
    boards: NotRequired[int]
    """The most boards of NVIDIA that it has registered on one node."""


def hami_slice(case: Case, known: Knowledge) -> HamiInput | None:
    """The nodes and namespaces of HAMi, for pods that ask for parts of devices; None for others, or if unknown.

    Its webhook passes over namespaces with the label (HAMi:charts/hami/templates/scheduler/webhook.yaml).
    """
    names = {name for each in case.workload.pod_sets for box in each.containers for name in box.accelerators}
    if not any(_is_part(name, known) for name in names):
        # Without an amount, each GPU is all of another board (HAMi:pkg/device/nvidia/device.go).
        return _boards_of_hami(known) if _GPU in names else None
    found = _registered(known)
    if (store.namespace_labels(case.workload.namespace, known.facts) or {}).get("hami.io/webhook") == "ignore":
        found["ignored"] = True
    return found or None


_GPU: Final = "nvidia.com/gpu"


def _boards_of_hami(known: Knowledge) -> HamiInput | None:
    """The boards of nodes where HAMi alone offers GPUs; None where another device plugin offers some."""
    if not known.facts.nodes.known:
        return None
    offering = [each for each in known.facts.nodes.now.classes if each.most.get(_GPU)]
    found = [int(each.labels.get(nodes.REGISTERED, "0")) for each in offering]
    return {"registered": True, "boards": max(found)} if found and all(found) else None


def _registered(known: Knowledge) -> HamiInput:
    if not known.facts.nodes.known:
        return {}
    classes = known.facts.nodes.now.classes
    boards = [int(each.labels[nodes.REGISTERED]) for each in classes if nodes.REGISTERED in each.labels]
    if boards:
        return {"registered": True, "boards": max(boards)} if max(boards) else {"registered": True}
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


def _is_part(name: str, known: Knowledge) -> bool:
    meaning = known.vocabulary.meaning(name)
    return meaning is not None and meaning.divides is not None


def no_outlook(_case: Case, _known: Knowledge) -> Iterable[Section]:
    """Nothing: `usher queue` has no section for these objects yet."""
    return ()
