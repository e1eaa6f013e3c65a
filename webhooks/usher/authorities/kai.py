"""KAI-Scheduler: the queues that workloads name, and whether it would start a workload in an empty cluster.

Its fair shares only order workloads, so usher needs them for no answer about an empty cluster. Each queue on the way up
must have the amounts of the pods that start together within its limit, and for pods that KAI does not evict within its
quota. Sources: KAI (github.com/NVIDIA/KAI-scheduler) v0.20.1 pkg/scheduler/plugins/proportion/capacity_policy,
pkg/scheduler/cache/cluster_info, pkg/scheduler/api/pod_info, pkg/podgrouper/podgrouper/plugins, docs/queues.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, memo, model, paths, quantities
from usher.accelerators.mig import MIG_RESOURCE_PREFIX
from usher.accelerators.names import GPU_FRACTION, GPU_FRACTION_DEVICES, GPU_MEMORY
from usher.authorities import limit_range, priority
from usher.authorities.authority import KAI, Balance, Case, Section
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer, SourceObject, worst
from usher.cluster.facts.store import Store
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.values import Absence, Reference
from usher.quantities import Quantity

_GPU: Final = "nvidia.com/gpu"
KAI_LABEL: Final = "kai.scheduler/queue"
KAI_QUEUE: Final = ("scheduling.run.ai", "Queue")
_SHARD: Final = ("kai.scheduler", "SchedulingShard")
_NODE_POOL: Final = "kai.scheduler/node-pool"
_KAI_ANNOTATIONS: Final = {"grove.io": KAI_LABEL, "nvidia.com": "nvidia.com/kai-scheduler-queue"}
"""Annotations from which operators take the queue, by the group of their kinds (`serving_groups`, `dynamo`)."""


def schedulers(known: Knowledge) -> frozenset[str]:
    """The names of KAI-Scheduler in pods."""
    routed = (route.name for route in known.config.routing if route.scheduler == "kai")
    return frozenset({"kai-scheduler", "runai-scheduler", *routed})


def places_pods(workload: model.Workload, known: Knowledge) -> bool:
    """Whether KAI-Scheduler places any pod of a workload."""
    if workload.gang.scheduler == "kai-scheduler":
        return True
    names = schedulers(known)
    return any(each.scheduler.name in names for each in workload.pod_sets)


_RESOURCES = {"gpu": (_GPU, Fraction(1)), "cpu": ("cpu", Fraction(1, 1000)), "memory": ("memory", Fraction(10**6))}
"""By resource of a queue, that of pods and the amount of one (KAI:pkg/apis/scheduling/v2/resources.go)."""

_NANOS: Final = 10**9


class Queue(Struct, frozen=True, kw_only=True):
    name: str
    parent: str
    pool: str | None
    """The value of its label for a shard; None without the label."""
    limits: Mapping[str, Quantity]
    """By resource of pods, without those that have no limit. A queue that does not state a limit has a limit of 0."""
    quotas: Mapping[str, Quantity]
    unreadable: tuple[str, ...]


Queues = Mapping[str, Queue]


def queues_of_cluster(facts: Store) -> Queues | None:
    """All queues of KAI; None where they are unknown."""
    objects = facts.objects(*KAI_QUEUE)
    if isinstance(objects, Absence):
        return None if objects is Absence.NOT_KNOWN else {}
    return facts.derived("queues of KAI-Scheduler", [KAI_QUEUE], lambda: _read_queues(objects))


def _read_queues(objects: Mapping[str, paths.Object]) -> Queues:
    return {name: _read_queue(name, value) for name, value in objects.items()}


def _read_queue(name: str, value: paths.Object) -> Queue:
    source = SourceObject(f"Queue {name}", value)
    return Queue(
        name=name,
        parent=source.text("/spec/parentQueue"),
        pool=_pool(source.mapping("/metadata/labels")),
        limits=dict(_amounts(source, "limit")),
        quotas=dict(_amounts(source, "quota")),
        unreadable=tuple(map(str, source.unreadable)),
    )


def _in_use(name: str, facts: Store, field: str) -> Quantity | None:
    """The GPUs of a queue that are in use; None where its status does not say it.

    It is read from the object each time, because it changes without a new revision.
    """
    group, kind = KAI_QUEUE
    found = facts.find(Reference(group=group, kind=kind, name=name))
    return None if isinstance(found, Absence) else SourceObject(name, found).amounts(f"/status/{field}").get(_GPU)


def _pool(labels: Mapping[str, paths.Json]) -> str | None:
    found = labels.get(_NODE_POOL)
    return found if isinstance(found, str) else None


def _amounts(queue: SourceObject, field: str) -> Iterator[tuple[str, Quantity]]:
    """The limits or quotas of a queue, without those that bound nothing.

    Only -1 bounds nothing; 0, a number that is missing, and for GPUs and CPUs other negative ones let nothing in
    (KAI:pkg/scheduler/plugins/proportion/proportion.go:321, capacity_policy/max_allowed_check.go:52).
    """
    for key, (resource, unit) in _RESOURCES.items():
        above = ("/spec", "/spec/resources", f"/spec/resources/{key}")
        wrong = next((each for each in above if not isinstance(queue.at(each), dict | None)), None)
        if wrong is not None:
            queue.unknown(wrong, "expected an object")
            continue
        pointer = f"/spec/resources/{key}/{field}"
        written = queue.at(pointer)
        try:
            number = quantities.ZERO if written is None else quantities.parse(written)
        except errors.QuantityError as error:
            queue.unknown(pointer, str(error))
            continue
        if number.nanos == -_NANOS or (key == "memory" and number < quantities.ZERO):
            continue
        yield resource, Quantity(max(math.floor(number.nanos * unit), 0))


class KaiQueueInput(TypedDict):
    """A queue of KAI that the workload names."""

    name: str
    path: str
    exists: bool
    hasParent: bool
    """Whether it has a parent: KAI places no pods in a queue at the top."""
    limit: NotRequired[Amount]
    """The GPUs that it and the queues above it may use at most; absent without a limit."""
    limitOf: NotRequired[str]
    """The queue with that limit."""
    quota: NotRequired[Amount]
    quotaOf: NotRequired[str]
    """As of the limit, for pods that KAI does not evict; absent for others."""


class KaiInput(TypedDict):
    named: list[KaiQueueInput]


def input_slice(case: Case, known: Knowledge) -> KaiInput | None:
    """The queues of KAI that a workload names, by `named`; None where they are unknown or not named."""
    places = [] if case.workload.owner is not None else sorted(_named_places(case.workload))
    queues = queues_of_cluster(known.facts) if places else None
    if queues is None or known.facts.objects(*KAI_QUEUE) is Absence.MISSING:
        return None
    result: list[KaiQueueInput] = []
    for path, name in places:
        queue = queues.get(name)
        if queue is not None and queue.unreadable:
            continue
        entry: KaiQueueInput = {
            "name": name,
            "path": path,
            "exists": queue is not None,
            "hasParent": queue is not None and bool(queue.parent),
        }
        chain = [] if queue is None else with_ancestors(queue, queues)
        if limits := [(each.limits[_GPU], each.name) for each in chain if _GPU in each.limits]:
            limit, entry["limitOf"] = min(limits)
            entry["limit"] = amount_of(limit)
        quotas = [(each.quotas[_GPU], each.name) for each in chain if _GPU in each.quotas]
        if quotas and priority.does_kai_evict(case.workload, known.facts) is False:
            quota, entry["quotaOf"] = min(quotas)
            entry["quota"] = amount_of(quota)
        result.append(entry)
    return {"named": result} if result else None


def _named_places(workload: model.Workload) -> set[tuple[str, str]]:
    """The places that name queues, with the names."""
    own = _KAI_ANNOTATIONS.get(workload.group, "")
    holders = [("/metadata", workload.labels, workload.annotations)]
    holders += [(each.metadata_path, each.labels, each.annotations) for each in workload.pod_sets]
    found = {(paths.join(at, "labels", KAI_LABEL), labels.get(KAI_LABEL, "")) for at, labels, _ in holders}
    found |= {(paths.join(at, "annotations", own), given.get(own, "")) for at, _, given in holders if own}
    return {(path, name) for path, name in found if name}


class KaiNeighbour(TypedDict):
    """The queue above a queue of KAI, or one below it."""

    name: str
    limit: NotRequired[Amount]
    quota: NotRequired[Amount]


class KaiTreeInput(TypedDict):
    """The queues around a queue of KAI; absent where they are not known."""

    parent: NotRequired[KaiNeighbour]
    children: NotRequired[list[KaiNeighbour]]


def tree_slice(case: Case, known: Knowledge) -> KaiTreeInput | None:
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
    result.update(paths.given(limit=_written(queue, "limit"), quota=_written(queue, "quota")))
    return result


def _written(queue: SourceObject, field: str) -> Amount | None:
    """The GPUs that a queue states; None for -1, and where the queue is silent."""
    try:
        found = quantities.parse(queue.at(f"/spec/resources/gpu/{field}"))
    except errors.QuantityError:
        return None
    return amount_of(found) if found >= quantities.ZERO else None


def with_ancestors(queue: Queue, queues: Queues) -> list[Queue]:
    """The queue and the queues above it."""
    chain = [queue]
    while (above := queues.get(chain[-1].parent)) is not None and above not in chain:
        chain.append(above)
    return chain


_ALONE: Final = frozenset({("", "Pod"), ("batch", "Job"), ("batch", "CronJob"), ("apps", "Deployment")})
"""Kinds where each pod is a group of its own (KAI:pkg/podgrouper/podgrouper/plugins/job and deployment)."""

_ONE_BY_ONE: Final = frozenset({("apps", "StatefulSet"), ("apps", "ReplicaSet"), ("kubeflow.org", "Notebook")})
"""Kinds whose pods are one group that waits for one pod (KAI:pkg/podgrouper/podgrouper/hub/hub.go, defaultgrouper)."""

_TOGETHER: Final = frozenset(("kubeflow.org", kind) for kind in ("JAXJob", "PyTorchJob", "TFJob", "XGBoostJob"))
"""Kinds whose pods wait for each other (KAI:pkg/podgrouper/podgrouper/plugins/kubeflow/distributed_common.go)."""


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """One section, for workloads that KAI-Scheduler places."""
    if case.workload.owner is not None or not places_pods(case.workload, known):
        return
    workload = limit_range.as_admitted(case.workload, known.facts)
    queues = queues_of_cluster(known.facts)
    names = _queue_names(workload)
    if queues is None or len(names) != 1:
        several = f"the pods name {len(names)} queues, {', '.join(names)}"
        reason = f"KAI-Scheduler decides: {several if len(names) != 1 else 'usher does not know its queues'}"
        way = tuple(f"Queue {name}" for name in names)
        yield Section(authority=KAI, way=way, answer=Answer.UNKNOWN, reasons=(reason,))
        return
    name = names[0]
    queue = queues.get(name)
    chain = [] if queue is None else with_ancestors(queue, queues)
    judged = [*_standing(name, chain, queues), *_shards(workload, chain, known)]
    judged += [(Answer.UNKNOWN, each) for one in chain for each in one.unreadable]
    demands = {resource: _demand(workload, resource) for resource, _ in _RESOURCES.values()}
    for each in chain:
        judged += _bounds(each, workload, demands, known.facts)
    never = [each for each in judged if each[0] is Answer.NEVER]
    judged = never or [*judged, *_not_modelled(workload)]
    yield Section(
        authority=KAI,
        way=tuple(f"Queue {each}" for each in ([one.name for one in chain] or [name])),
        answer=worst([*(answer for answer, _ in judged), Answer.COULD]),
        reasons=tuple(dict.fromkeys(text for _, text in judged)),
        balances=tuple(_balances(chain, demands, known.facts)),
    )


_Judged = tuple[Answer, str]


def _queue_names(workload: model.Workload) -> list[str]:
    """The queues of the pods: by the label of the object, then of the pod, then by the label `project`.

    Source: KAI:pkg/podgrouper/podgrouper/plugins/defaultgrouper/default_grouper.go:131 CalcPodGroupQueue.
    """
    if (workload.group, workload.kind) not in _ALONE | _ONE_BY_ONE | _TOGETHER:
        named = dict.fromkeys(name for _, name in sorted(_named_places(workload)))
        if named:
            return list(named)
    found = dict[str, None]()
    for pod_set in workload.pod_sets:
        labels = (workload.labels, pod_set.labels)
        name = next((each[KAI_LABEL] for each in labels if KAI_LABEL in each), "")
        if not name:
            name = next((each["project"] for each in labels if each.get("project")), "")
            if name and _NODE_POOL in pod_set.labels:
                name = f"{name}-{pod_set.labels[_NODE_POOL]}"
        found[name or "default-queue"] = None
    return list(found)


def _standing(name: str, chain: Sequence[Queue], queues: Queues) -> Iterator[_Judged]:
    """Why the queue takes no pods (KAI:pkg/scheduler/cache/cluster_info/queue.go, actions/utils)."""
    if not chain:
        yield Answer.NOT_NOW, f"there is no Queue {name}"
        return
    if not chain[0].parent:
        yield Answer.NEVER, f"Queue {name} has no queue above it, and KAI-Scheduler places no pods in it"
    top = chain[-1]
    if top.parent and top.parent not in queues:
        yield Answer.NOT_NOW, f"there is no Queue {top.parent}, which Queue {top.name} names as its parent"
    elif top.parent:
        yield Answer.UNKNOWN, f"KAI-Scheduler decides: Queue {top.name} leads in a circle"


def _shards(workload: model.Workload, chain: Sequence[Queue], known: Knowledge) -> Iterator[_Judged]:
    """Why no scheduler sees the pods together with their queue.

    Each shard has a scheduler of its own, which sees queues, nodes and pod groups with its label alone
    (KAI:pkg/scheduler/conf/scheduler_conf.go GetLabelSelector, pkg/podgrouper/pod_controller.go addNodePoolLabel).
    """
    shards = _shard_values(known)
    for pool in dict.fromkeys(_pool(workload.labels) or _pool(each.labels) or "" for each in workload.pod_sets):
        shard = f"the shard {pool}" if pool else "the shard without a label"
        if shards is None and (pool or any(each.pool for each in chain)):
            yield Answer.UNKNOWN, f"KAI-Scheduler decides: usher does not know whether {shard} exists"
        elif shards is not None and pool not in shards:
            yield Answer.NEVER, f"the pods belong to {shard}, and no SchedulingShard is for it"
        for queue in chain:
            if (queue.pool or "") != pool:
                other = f"the shard {queue.pool}" if queue.pool else "the shard without a label"
                yield Answer.NEVER, f"the pods belong to {shard}, and Queue {queue.name} to {other}"


def _shard_values(known: Knowledge) -> frozenset[str] | None:
    """The values of the label of all shards; None where they are unknown."""
    objects = known.facts.objects(*_SHARD)
    if isinstance(objects, Absence):
        return None
    sources = [SourceObject(name, value) for name, value in objects.items()]
    return frozenset(each.text("/spec/partitionLabelValue") for each in sources)


class _Demand(NamedTuple):
    """The amounts of one resource that must be within each bound at once."""

    least: Quantity
    """If the smallest pods come first."""
    most: Quantity
    """If the largest pods come first."""
    pods: int
    """How many pods start together."""


def _minimum(workload: model.Workload) -> int:
    if (workload.group, workload.kind) not in _TOGETHER:
        return 1
    return max(workload.gang.minimum or workload.pods.minimum, 1)


def _demand(workload: model.Workload, resource: str) -> _Demand:
    """The demand of the pods that start together; one pod at least, the largest of any template."""
    sizes = [(_amount(each, resource), each.count.minimum) for each in workload.pod_sets if each.count.maximum != 0]
    minimum = _minimum(workload)
    largest = max((size for size, _ in sizes), default=quantities.ZERO)
    if minimum == 1:
        return _Demand(largest, largest, 1)
    return _Demand(max(_first(sorted(sizes), minimum), largest), _first(sorted(sizes, reverse=True), minimum), minimum)


def _first(sizes: Iterable[tuple[Quantity, int]], pods: int) -> Quantity:
    nanos = 0
    for size, count in sizes:
        nanos += size.nanos * min(count, pods)
        pods -= min(count, pods)
    return Quantity(nanos)


def _amount(pod_set: model.PodSet, resource: str) -> Quantity:
    """The amount that one pod adds to its queue: its containers or its largest init container, and the overhead.

    KAI counts a sidecar as an init container, and reads no `spec.resources` (KAI:pkg/scheduler/api/pod_info/pod_info.go
    getPodResourceRequest). Fractions count in hundredths, and MIG slices by their compute slices
    (KAI:pkg/scheduler/api/resource_info/gpu_resource_requirment.go GetSumGPUs).
    """
    if resource == _GPU and (asked := _fraction(pod_set)) is not None:
        return asked
    app, init = 0, 0
    for container in pod_set.containers:
        nanos = sum(container.effective(name).nanos * slices for name, slices in _counted(container, resource))
        if container.type is model.ContainerType.APP:
            app += nanos
        elif container.type is not model.ContainerType.EPHEMERAL:
            init = max(init, nanos)
    overhead = pod_set.overhead.get(resource, quantities.ZERO).nanos
    return Quantity(max(app, init) + overhead)


_SLICE: Final = memo.pattern(r"nvidia\.com/mig-(\d+)g\.\d+gb", re.ASCII)


def _counted(container: model.Container, resource: str) -> Iterator[tuple[str, int]]:
    """The resources of a container that count as one of a queue, and how much each counts."""
    yield resource, 1
    if resource == _GPU:
        yield "amd.com/gpu", 1
        for name in {*container.requests, *container.limits}:
            if (found := _SLICE.fullmatch(name)) is not None:
                yield name, int(found[1])


def _devices(pod_set: model.PodSet) -> int:
    text = pod_set.annotations.get(GPU_FRACTION_DEVICES, "1")
    return int(text) if re.fullmatch(r"[1-9]\d{0,5}", text, re.ASCII) else 1


def _asked_by(pod_set: model.PodSet, name: str) -> Quantity | None:
    """The amount that an annotation asks for, of all devices together; None without a valid one."""
    requests = [each for each in pod_set.requests if each.route is model.Route.FRACTION and each.name == name]
    return requests[0].minimum if requests else None


def _fraction(pod_set: model.PodSet) -> Quantity | None:
    """The GPUs of a pod with an annotation; None for other pods. Memory counts as no GPU until a node is chosen."""
    if (asked := _asked_by(pod_set, GPU_FRACTION)) is not None:
        devices = _devices(pod_set)
        hundredths = math.floor(Fraction(asked.nanos, devices * _NANOS) * 100 + Fraction(1, 2))
        return Quantity(hundredths * devices * _NANOS // 100)
    return quantities.ZERO if _asked_by(pod_set, GPU_MEMORY) is not None else None


class _Bound(NamedTuple):
    """A limit or a quota of a queue."""

    queue: str
    field: str
    resource: str
    most: Quantity
    used: Quantity | None

    @property
    def text(self) -> str:
        return f"{quantities.text(self.resource, self.most, up=False)} is the {self.field} of Queue {self.queue}"


def _bounds(queue: Queue, workload: model.Workload, demands: Mapping[str, _Demand], facts: Store) -> Iterator[_Judged]:
    """Why the limits of a queue do not let the pods in, or its quotas those that stay.

    Source: KAI:pkg/scheduler/plugins/proportion/capacity_policy/max_allowed_check.go isOverLimit, quota_check.go.
    """
    used = _in_use(queue.name, facts, "allocated")
    for resource, most in queue.limits.items():
        yield from _against(_Bound(queue.name, "limit", resource, most, used), workload, demands[resource])
    evicted = priority.does_kai_evict(workload, facts)
    if evicted:
        return
    used = _in_use(queue.name, facts, "allocatedNonPreemptible")
    for resource, most in queue.quotas.items():
        bound = _Bound(queue.name, "quota", resource, most, used)
        for answer, text in _against(bound, workload, demands[resource]):
            if evicted is None:
                yield Answer.UNKNOWN, f"{text}, and usher does not know whether KAI-Scheduler may evict the pods"
            else:
                yield answer, f"{text}, which pods that KAI-Scheduler does not evict cannot exceed"


def _against(bound: _Bound, workload: model.Workload, demand: _Demand) -> Iterator[_Judged]:
    who = "one pod asks" if demand.pods == 1 else f"the {demand.pods} pods that start together ask"
    if demand.least > bound.most:
        yield Answer.NEVER, f"{who} for {quantities.named(bound.resource, demand.least)}, {bound.text}"
    elif demand.most > bound.most:
        yield Answer.UNKNOWN, f"KAI-Scheduler decides: its largest pods may come first, and {bound.text}"
    if bound.resource != _GPU:
        return
    if bound.used is not None and demand.most and demand.most <= bound.most < demand.most + bound.used:
        text = f"{who} for {quantities.named(_GPU, demand.most)}, {bound.used} are in use, {bound.text}"
        yield Answer.NOT_NOW, text
    yield from _of_memory(bound, workload, demand)


def _of_memory(bound: _Bound, workload: model.Workload, demand: _Demand) -> Iterator[_Judged]:
    """The answer of a bound of GPUs for pods that ask for memory, which is at most one GPU of each device.

    Source: KAI:pkg/scheduler/api/node_info/node_info.go GetRequiredInitQuota.
    """
    asking = [each for each in workload.pod_sets if _asked_by(each, GPU_MEMORY) is not None]
    if not asking:
        return
    if not bound.most:
        yield Answer.NEVER, f"its pods ask for memory of GPUs, and {bound.text}"
    elif bound.most.nanos < max(map(_devices, asking)) * demand.pods * _NANOS + demand.most.nanos:
        yield Answer.UNKNOWN, f"KAI-Scheduler decides: its pods ask for memory of GPUs, and {bound.text}"


_OTHER_KEYS: Final = {f"kai.scheduler/{key}" for key in ("topology", "batch-min-member")}


def _not_modelled(workload: model.Workload) -> Iterator[_Judged]:
    """The reasons why usher does not know the answer."""
    kind = (workload.group, workload.kind)
    if kind not in _ALONE | _ONE_BY_ONE | _TOGETHER:
        yield (
            Answer.UNKNOWN,
            f"KAI-Scheduler decides: usher does not model how it groups the pods of a {workload.kind}",
        )
    for key in workload.annotations.keys() & _OTHER_KEYS:
        yield Answer.UNKNOWN, f"KAI-Scheduler decides: usher does not model {key}"
    if workload.is_pod and any("pod-group-name" in each.annotations for each in workload.pod_sets):
        yield Answer.UNKNOWN, "KAI-Scheduler decides: the pod names a PodGroup of KAI-Scheduler"
    if kind in _TOGETHER and workload.gang.minimum is None and workload.pods.minimum != workload.pods.maximum:
        yield Answer.UNKNOWN, "KAI-Scheduler decides: usher does not model its minimum of elastic jobs"
    if _minimum(workload) > 1 and any(_fraction(each) is not None for each in workload.pod_sets):
        yield Answer.UNKNOWN, "KAI-Scheduler decides: usher does not pack fractions of several pods onto GPUs"


def _balances(chain: Iterable[Queue], demands: Mapping[str, _Demand], facts: Store) -> Iterator[Balance]:
    for queue in chain:
        for resource, most in queue.limits.items():
            asks = demands[resource].most
            used = _in_use(queue.name, facts, "allocated") if resource == _GPU else None
            free = None if used is None else Quantity(max(most.nanos - used.nanos, 0))
            if asks:
                yield Balance(of=f"Queue {queue.name}", resource=resource, asks=asks, most=most, used=used, free=free)


def as_placed(workload: model.Workload, known: Knowledge) -> model.Workload:
    """The workload with what KAI-Scheduler asks of the nodes of its pods; the object itself for other schedulers.

    A fraction needs a GPU that is not shared by MIG, and memory a node that says how much its GPUs have. The scheduler
    of a shard sees nodes with its label alone, and that of the shard without a label those without one.
    Sources: KAI:pkg/scheduler/api/node_info/node_info.go isTaskAllocatableOnNonAllocatedResources,
    PredicateByNodeResourcesType and getNodeGpuMemory, pkg/scheduler/cache/cluster_info/data_lister ListNodes.
    """
    names = schedulers(known)
    if not any(each.scheduler.name in names for each in workload.pod_sets) or not known.facts.nodes.known:
        return workload
    pod_sets = [
        _on_nodes(each, workload, known) if each.scheduler.name in names else each for each in workload.pod_sets
    ]
    return replace(workload, pod_sets=tuple(pod_sets))


def _on_nodes(pod_set: model.PodSet, workload: model.Workload, known: Knowledge) -> model.PodSet:
    wanted = list[paths.Json]()
    pool = _pool(workload.labels) or _pool(pod_set.labels)
    if pool:
        wanted.append({"key": _NODE_POOL, "operator": "In", "values": [pool]})
    elif any(_NODE_POOL in each.labels for each in known.facts.nodes.now.classes):
        wanted.append({"key": _NODE_POOL, "operator": "DoesNotExist"})
    memory = _asked_by(pod_set, GPU_MEMORY)
    if memory is not None:
        # KAI takes the memory of a GPU down to a multiple of 100 MiB.
        each = memory.value // _devices(pod_set)
        wanted.append({"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": [str(-(-each // 100) * 100 - 1)]})
    containers = pod_set.containers
    if memory is not None or _asked_by(pod_set, GPU_FRACTION) is not None:
        first, *rest = containers
        amount = {_GPU: quantities.parse(_devices(pod_set))}
        containers = (replace(first, requests={**first.requests, **amount}, limits={**first.limits, **amount}), *rest)
    if any(each.effective(_GPU) for each in containers) and _are_divided(known):
        wanted.append({"key": _STRATEGY, "operator": "NotIn", "values": ["mixed"]})
    if not wanted:
        return replace(pod_set, containers=containers)
    terms = tuple(filter(None, pod_set.required_terms)) if pod_set.has_required_affinity else ({},)
    joined = tuple({**term, "matchExpressions": [*_expressions(term), *wanted]} for term in terms)
    return replace(pod_set, containers=containers, required_terms=joined, has_required_affinity=True)


def _expressions(term: Mapping[str, paths.Json]) -> list[paths.Json]:
    found = term.get("matchExpressions")
    return found if isinstance(found, list) else []


_STRATEGY: Final = "nvidia.com/mig.strategy"


def _are_divided(known: Knowledge) -> bool:
    """Whether all nodes with the strategy `mixed` offer MIG slices: KAI then places no pod with whole GPUs there."""
    found = [each for each in known.facts.nodes.now.classes if each.labels.get(_STRATEGY) == "mixed"]
    return bool(found) and all(any(name.startswith(MIG_RESOURCE_PREFIX) for name in each.most) for each in found)
