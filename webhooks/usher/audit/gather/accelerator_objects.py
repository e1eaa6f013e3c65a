"""Nodes, pods and top-level workloads with accelerators, as an audit sees them.

A Deployment and a ReplicaSet have the condition ReplicaFailure while pods are refused (pkg/controller/replicaset and
pkg/controller/deployment of Kubernetes). A StatefulSet makes a pod only after the pods before it are ready, unless its
pods are made in parallel. A job whose status counts pods has made some, and waits before it makes a failed one again.

Labels of nodes say the board, the memory of a device, and how the node is paid for (node_labels.yaml).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Final

import msgspec
from msgspec import Struct, structs

from usher import model, paths
from usher.accelerators import boards, mig
from usher.accelerators.names import GIB, MIB, PARTS
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import NOTHING_REPORTED, CapacityType, Node, Phase, Pod, Reported, Workload
from usher.authorities.kueue.judge import QUEUE_LABEL
from usher.authorities.volcano import read as volcano_read
from usher.check import devices
from usher.check.devices import Amount, Devices
from usher.check.findings import Identity
from usher.cluster.facts import node_pools, nodes
from usher.config.models import Config
from usher.memo import Memo
from usher.workloads import fingerprints

_FAILURE: Final = "ReplicaFailure"
_SUSPENDED: Final = ("Suspended", "RayClusterSuspended")
_POD_COUNTS: Final = ("active", "succeeded", "failed")
_LONGEST_REFUSAL: Final = 300


def read_report(value: paths.Object) -> Reported:
    """The report in the status of an object of any kind."""
    status, spec = paths.mapping(value.get("status")), paths.mapping(value.get("spec"))
    if not status:
        return NOTHING_REPORTED
    conditions = {paths.text(each.get("type")): each for each in fields.mappings(status.get("conditions"))}
    failure = conditions.get(_FAILURE, {})
    suspended = next((conditions[name] for name in _SUSPENDED if name in conditions), {})
    found = Reported(
        refused=_refused(value, spec, status, failure),
        refusal=paths.text(failure.get("message"))[:_LONGEST_REFUSAL] if _condition_holds(failure) else "",
        refused_since=fields.time_of(failure.get("lastTransitionTime")) if _condition_holds(failure) else None,
        suspended_since=fields.time_of(suspended.get("lastTransitionTime")) if _condition_holds(suspended) else None,
    )
    return NOTHING_REPORTED if found == NOTHING_REPORTED else found


def _refused(value: paths.Object, spec: paths.Object, status: paths.Object, failure: paths.Object) -> bool | None:
    if value.get("kind") == "StatefulSet":
        there, ready = _whole_count(status.get("replicas")), _whole_count(status.get("readyReplicas"))
        return False if ready < there and spec.get("podManagementPolicy") != "Parallel" else None
    if paths.text(value.get("apiVersion")).startswith("apps/") and "replicas" in spec:
        return _condition_holds(failure)
    return False if any(_whole_count(each) for each in _pod_counts(status)) else None


def _pod_counts(status: paths.Object) -> Iterator[paths.Json]:
    """The numbers of pods or jobs in the status of a Job, of the jobs of Kubeflow, and of a JobSet."""
    by_type = paths.mapping(status.get("replicaStatuses"))
    for part in (status, *by_type.values(), *fields.mappings(status.get("replicatedJobsStatus"))):
        for name in _POD_COUNTS:
            yield paths.mapping(part).get(name)


def _condition_holds(condition: paths.Object) -> bool:
    return condition.get("status") == "True"


def _whole_count(value: paths.Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
"""The label of pods that Kueue admits as a group."""

_POD_GROUP_SIZE: Final = "kueue.x-k8s.io/pod-group-total-count"
_KUEUE_PRIORITY: Final = "kueue.x-k8s.io/priority-class"
_KAI_QUEUE: Final = "kai.scheduler/queue"
"""The label by which KAI-Scheduler puts pods into a queue, unless its configuration names another."""

_OWN: Final = "gpu-usher.io/"

# Most workloads share this value: an empty set of their own would take 216 bytes.
_NO_LABELS: Final[Mapping[str, str]] = {}
_NO_ANNOTATIONS: Final[frozenset[str]] = frozenset()


class WorkloadReader:
    """Reads workloads with the teams and schedulers of usher.yaml."""

    def __init__(self, config: Config) -> None:
        self._team_labels = config.audit.team_labels
        self._schedulers = {"volcano", *(each.name for each in config.routing if each.scheduler == "volcano")}

    def of(self, value: paths.Object, read: model.Workload, *, with_labels: bool = True) -> Workload:
        """The workload of an object, without its pods.

        Args:
            with_labels: whether to keep its labels. There may be many workloads without accelerators.
        """
        metadata = paths.metadata(value)
        return Workload(
            identity=Identity(api_version=read.api_version, kind=read.kind, namespace=read.namespace, name=read.name),
            uid=paths.text(metadata.get("uid")),
            created=fields.time_of(metadata.get("creationTimestamp")),
            role=read.role,
            wanted=read.pods,
            asks=devices.of_workload(read, by_parts=True),
            exists=read.exists,
            team=self.team(read.labels),
            queue=self._queue(read),
            priority=_priority(read),
            scheduler=next((each.scheduler.name for each in read.pod_sets), ""),
            managed_by=read.managed_by,
            suspended=read.suspended,
            gang_minimum=read.gang.minimum or _elastic_minimum(value),
            deleting=read.deleting,
            reported=read_report(value),
            gang=read.gang.wanted or read.gang.waits or read.gang_native,
            is_template=read.is_template,
            labels=read.labels if with_labels else _NO_LABELS,
            annotations=frozenset(key for key in read.annotations if key.startswith(_OWN)) or _NO_ANNOTATIONS,
        )

    def team(self, labels: Mapping[str, str]) -> str:
        """The team that labels name; empty if no label does."""
        return next((labels[key] for key in self._team_labels if labels.get(key)), "")

    def _queue(self, read: model.Workload) -> str:
        of_kueue = read.queue_labels.get(QUEUE_LABEL, "")
        if of_kueue:
            return of_kueue
        of_volcano = next((each.name for each in volcano_read.named_queues(read, self._schedulers)), "")
        labels = (read.labels, *(each.labels for each in read.pod_sets))
        return of_volcano or next(filter(None, (each.get(_KAI_QUEUE) for each in labels)), "")


def _elastic_minimum(value: paths.Object) -> int | None:
    """The fewest pods with which a PyTorchJob continues elastic training; None for all other workloads."""
    policy = paths.mapping(paths.mapping(value.get("spec")).get("elasticPolicy"))
    found = policy.get("minReplicas") if value.get("kind") == "PyTorchJob" else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


def _priority(read: model.Workload) -> str:
    """The PriorityClass of the gang or of its pods, else the class that only Kueue reads."""
    classes = (read.gang.priority_class, *(each.priority_class_name for each in read.pod_sets))
    return next(filter(None, classes), "") or read.queue_labels.get(_KUEUE_PRIORITY, "")


def pod_group(value: paths.Object) -> str:
    """The name of the group of pods that Kueue admits together; empty for a pod without one."""
    metadata = paths.metadata(value)
    labels, annotations = fields.text_entries(metadata.get("labels")), fields.text_entries(metadata.get("annotations"))
    return labels.get(POD_GROUP) or annotations.get(POD_GROUP, "")


def group_size(value: paths.Object) -> int:
    """The number of pods in a group, as the pods report it; 0 if they do not."""
    text = fields.text_entries(paths.metadata(value).get("annotations")).get(_POD_GROUP_SIZE, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else 0


def grouped(members: Sequence[Workload], *, name: str, size: int) -> Workload:
    """One workload for the pods of a group, with the name that Kueue gives to its own object for the group.

    Args:
        members: each pod as a workload of its own, in the order of their names.
        size: the number of its pods, as they report it; 0 if they do not.
    """
    first = members[0]
    number = max(size, len(members))
    return Workload(
        identity=Identity(
            api_version="kueue.x-k8s.io/v1beta2",
            kind="Workload",
            namespace=first.identity.namespace,
            name=name,
        ),
        uid=first.uid,
        created=min(filter(None, (each.created for each in members)), default=None),
        role=first.role,
        wanted=model.Count(minimum=number, maximum=number),
        asks=devices.added(each.asks for each in members),
        team=first.team,
        queue=first.queue,
        priority=first.priority,
        scheduler=first.scheduler,
        gang=True,
        labels=first.labels,
        annotations=frozenset().union(*(each.annotations for each in members)),
    )


Normalise = Callable[[paths.Object], model.Workload | None]
"""Normalises an object."""

_DIFFERENT: Final = 512
"""How many different pods the memo keeps. Lists are ordered by name, so similar pods follow each other."""

_PLACED: Final = frozenset({"nodeName", "hostname", "subdomain"})
"""Fields of a pod's spec that identify the pod and do not affect its accelerators."""

_GROUP: Final = "leaderworkerset.sigs.k8s.io/group-key"
"""The label of the pods of one group of a LeaderWorkerSet (LW:api/leaderworkerset/v1/leaderworkerset_types.go)."""

_USUAL: Final = ("ContainerCreating", "PodInitializing")
"""Reasons that every starting container has for a while."""

_LONGEST_REASON: Final = 1000
"""Characters of a scheduler's message; a message about many nodes is far longer."""


class Asked(Struct, frozen=True, kw_only=True):
    """The content of a pod's template."""

    devices: Devices
    memory_profile: str = ""
    alone: Workload | None = None
    """The workload that a similar pod is on its own, maybe of another name; None for a pod without accelerators."""
    tolerations: Sequence[Mapping[str, paths.Json]] = ()
    claiming: model.Workload | None = None
    """The pod as a workload, if it names claims that other pods may name too."""

    @property
    def claims(self) -> frozenset[str]:
        """The claims that other pods may name too."""
        return frozenset() if self.claiming is None else _claims(self.claiming)

    def without(self, claims: frozenset[str]) -> "Asked":
        """Without the devices of some claims."""
        if self.claiming is None or not claims:
            return self
        pod_sets = tuple(
            structs.replace(each, requests=tuple(one for one in each.requests if one.claim not in claims))
            for each in self.claiming.pod_sets
        )
        own = structs.replace(self.claiming, pod_sets=pod_sets)
        return structs.replace(self, devices=devices.of_workload(own, by_parts=True))


def _claims(workload: model.Workload) -> frozenset[str]:
    return frozenset(each.claim for pods in workload.pod_sets for each in pods.requests if each.claim)


class PodReader:
    """Reads pods."""

    def __init__(self, read: Normalise, workloads: WorkloadReader) -> None:
        self._read = read
        self._workloads = workloads
        self._asked: Memo[bytes, Asked] = Memo(_DIFFERENT)

    def asked(self, value: paths.Object) -> Asked:
        """The accelerators that a pod requests. Similar pods share one value."""
        digest = _digest(value)
        return self._read_asked(value) if digest is None else self._asked.get(digest, lambda: self._read_asked(value))

    def _read_asked(self, value: paths.Object) -> Asked:
        workload = self._read(value)
        if workload is None or not workload.asks_accelerators:
            return _NOTHING
        found = devices.of_workload(workload, by_parts=True)
        names = (mig.profile_of_resource(name) for name in found)
        profile = next((str(each.profile) for each in names if each is not None), "")
        alone = self._workloads.of(value, workload)
        tolerations = workload.pod_sets[0].tolerations if workload.pod_sets else ()
        claiming = workload if _claims(workload) else None
        return Asked(devices=found, memory_profile=profile, alone=alone, tolerations=tolerations, claiming=claiming)


_NOTHING: Final = Asked(devices={})


def _digest(value: paths.Object) -> bytes | None:
    """A digest that is equal for pods of one template, through all later changes."""
    spec, metadata = value.get("spec"), paths.metadata(value)
    if not isinstance(spec, dict):
        return None
    kept = {key: each for key, each in spec.items() if key not in _PLACED}
    described = {key: metadata[key] for key in ("namespace", "annotations", "labels") if key in metadata}
    return fingerprints.of_pod({"kind": "Pod", "apiVersion": "v1", "metadata": described, "spec": kept})


def phase_of(value: paths.Object) -> Phase:
    """The phase of a pod; a pod without a status has just been created."""
    found = paths.mapping(value.get("status")).get("phase", Phase.PENDING)
    return Phase(found) if found in list(Phase) else Phase.UNKNOWN


def pod_of(value: paths.Object, asked: Asked) -> Pod:
    """A pod with accelerators as the estate keeps it."""
    metadata, spec = paths.metadata(value), paths.mapping(value.get("spec"))
    status = paths.mapping(value.get("status"))
    placed = next((each for each in fields.mappings(status.get("conditions")) if _is_of_scheduler(each)), {})
    on_node = placed.get("status") == "True"
    return Pod(
        namespace=intern(paths.text(metadata.get("namespace"))),
        name=paths.text(metadata.get("name")),
        uid=paths.text(metadata.get("uid")),
        phase=phase_of(value),
        node=intern(paths.text(spec.get("nodeName"))),
        created=fields.time_of(metadata.get("creationTimestamp")),
        scheduled=fields.time_of(placed.get("lastTransitionTime")) if on_node else None,
        waiting="" if on_node else paths.text(placed.get("message"))[:_LONGEST_REASON],
        starting=_starting(status) if on_node and phase_of(value) is Phase.PENDING else "",
        gates=tuple(paths.text(each.get("name")) for each in fields.mappings(spec.get("schedulingGates"))),
        devices=asked.devices,
        memory_profile=asked.memory_profile,
        tolerations=asked.tolerations,
        terminating=bool(metadata.get("deletionTimestamp")),
        group=fields.text_entries(metadata.get("labels")).get(_GROUP, ""),
    )


def _starting(status: paths.Object) -> str:
    """The kubelet's message about a container that does not start: a container with a mistake before one that is
    starting.
    """
    found = []
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in fields.mappings(status.get(key)):
            state = paths.mapping(paths.mapping(container.get("state")).get("waiting"))
            reason = paths.text(state.get("reason"))
            if reason:
                words = ": ".join(filter(None, (reason, paths.text(state.get("message")))))
                found.append((reason in _USUAL, f"container {paths.text(container.get('name'))}: {words}"))
    return min(found, key=lambda each: each[0], default=(True, ""))[1][:_LONGEST_REASON]


def _is_of_scheduler(condition: paths.Object) -> bool:
    return condition.get("type") == "PodScheduled"


Labels = Mapping[str, str]


class _NodeLabels(Struct, frozen=True, forbid_unknown_fields=True):
    """The labels of node_labels.yaml."""

    products: tuple[str, ...]
    mebibytes: tuple[str, ...]
    gibibytes: tuple[str, ...]
    with_unit: tuple[str, ...]
    payment: dict[str, dict[str, CapacityType]]
    reserved: tuple[str, ...]
    otherwise_on_demand: tuple[str, ...]


_LABELS: Final = msgspec.yaml.decode(Path(__file__).with_name("node_labels.yaml").read_bytes(), type=_NodeLabels)
_SIZE: Final = re.compile(r"(?P<number>[0-9]{1,7})(?P<unit>[MG])i?B?", re.ASCII)


def read_product(labels: Labels) -> str:
    """The board, without the suffixes for sharing and MIG; empty if no label names it."""
    found = labels.get(boards.PRODUCT_LABEL, "")
    if found:
        return found.removesuffix("-SHARED").partition("-MIG-")[0]
    return next((labels[key] for key in _LABELS.products if labels.get(key)), "")


def read_memory(labels: Labels) -> int | None:
    """The memory of each device in bytes; None if no label has it."""
    return next(_memories(labels), None)


def _memories(labels: Labels) -> Iterator[int]:
    for keys, unit in ((_LABELS.mebibytes, MIB), (_LABELS.gibibytes, GIB)):
        for key in keys:
            number = _whole_number(labels.get(key, ""))
            if number:
                yield number * unit
    for key in _LABELS.with_unit:
        match = _SIZE.fullmatch(labels.get(key, ""))
        if match is not None and int(match["number"]):
            yield int(match["number"]) * (GIB if match["unit"] == "G" else MIB)


def read_capacity_type(labels: Labels) -> CapacityType:
    """The payment type of the node."""
    if any(labels.get(key, "false") != "false" for key in _LABELS.reserved):
        return CapacityType.RESERVED
    for key, values in _LABELS.payment.items():
        if labels.get(key) in values:
            return values[labels[key]]
    return CapacityType.ON_DEMAND if any(key in labels for key in _LABELS.otherwise_on_demand) else CapacityType.UNKNOWN


def read_shared_by(labels: Labels) -> int:
    """How many pods may share one device; 1 if each device serves one pod."""
    if labels.get("cloud.google.com/gke-gpu-sharing-strategy"):
        return _replicas(labels.get("cloud.google.com/gke-max-shared-clients-per-gpu", ""))
    if labels.get("nvidia.com/gpu.sharing-strategy") == "none":
        return 1
    return _replicas(labels.get("nvidia.com/gpu.replicas", ""))


def read_partition(labels: Labels) -> str:
    """The resource of the partition that `nvidia.com/gpu` or `amd.com/gpu` counts; empty if it counts whole devices."""
    of_amd = labels.get(boards.AMD_PARTITION_LABEL, "")
    if of_amd and not of_amd.startswith(boards.AMD_WHOLE):
        return f"amd.com/{of_amd}"
    layout = labels.get(boards.PRODUCT_LABEL, "").removesuffix("-SHARED").partition("-MIG-")[2]
    profile = mig.parse_profile(layout or labels.get("cloud.google.com/gke-gpu-partition-size", ""))
    return "" if profile is None else profile.resource


def _replicas(value: str) -> int:
    return max(_whole_number(value), 1)


def _whole_number(value: str) -> int:
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 9 else 0


_GPU: Final = "nvidia.com/gpu"
_SHARED: Final = "nvidia.com/gpu.shared"
_AMD_GPU: Final = "amd.com/gpu"
_VIRTUAL: Final = "volcano.sh/vgpu-number"

_SYSTEM: Final = (
    "architecture",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeletVersion",
    "operatingSystem",
    "osImage",
)


def read_node(
    value: paths.Object, vocabulary: Vocabulary, *, claimable: Devices | None = None, memory: int | None = None
) -> Node | None:
    """A node; None for a node without accelerators.

    Args:
        claimable: the devices that drivers offer on it for claims, by device class. They count only if the node reports
            no accelerator as a resource; else a device offered in both ways would count twice.
        memory: the bytes of each of these, for a node whose labels do not say them.
    """
    metadata, status = paths.metadata(value), paths.mapping(value.get("status"))
    labels = fields.text_entries(metadata.get("labels"))
    shared_by, partition = read_shared_by(labels), read_partition(labels)
    annotations = fields.text_entries(metadata.get("annotations"))
    boards, registered = (found := nodes.registered_boards(annotations)), len(found)
    reported = paths.mapping(status.get("capacity")) or paths.mapping(status.get("allocatable"))
    offers = _offers(labels, reported, registered) or shared_by
    if not registered:
        shared_by = offers
    counted = len(nodes.boards_of_volcano(annotations)) or _whole_number(labels.get(node_pools.GPU_COUNT, ""))
    virtual = (fields.whole_quantity(reported.get(_VIRTUAL)) or 0) // counted if counted else 0
    capacity = _devices(status.get("capacity"), vocabulary, offers=offers, partition=partition, virtual=virtual)
    allocatable = _devices(status.get("allocatable"), vocabulary, offers=offers, partition=partition, virtual=virtual)
    if not any(capacity.values()) and not any(allocatable.values()):
        if not claimable:
            return None
        capacity = allocatable = claimable
    spec = paths.mapping(value.get("spec"))
    system = fields.text_entries(status.get("nodeInfo"))
    return Node(
        name=paths.text(metadata.get("name")),
        labels=labels,
        # Dumps without `capacity` still have what pods may get.
        capacity=capacity or allocatable,
        allocatable=allocatable,
        product=read_product(labels),
        capacity_type=read_capacity_type(labels),
        memory=read_memory(labels) or (min(boards) * 2**20 if boards and all(boards) else memory),
        shared_by=shared_by,
        partition=partition,
        ready=_ready(status),
        cordoned=spec.get("unschedulable") is True,
        created=fields.time_of(metadata.get("creationTimestamp")),
        taints=tuple(
            (paths.text(each.get("key")), paths.text(each.get("value")), paths.text(each.get("effect")))
            for each in fields.mappings(spec.get("taints"))
        ),
        system={key: system[key] for key in _SYSTEM if key in system},
    )


def _offers(labels: Labels, capacity: paths.Object, registered: int) -> int:
    """How often each device stands in the resource of a node; 0 if nothing but the label of replicas tells.

    Time slicing, MPS and HAMi offer a device many times. The label with the number of boards counts each once.
    """
    reported = fields.whole_quantity(capacity.get(_GPU)) or 0
    if registered:
        return max(1, reported // registered)
    counted = _whole_number(labels.get(node_pools.GPU_COUNT, ""))
    return reported // counted if counted and reported > counted and reported % counted == 0 else 0


def trimmed_node(value: paths.Object) -> paths.Object:
    """The fields of a Node that `read_node` reads, without its many images and addresses."""
    status = paths.mapping(value.get("status"))
    metadata = paths.metadata(value)
    return {
        "metadata": {key: metadata[key] for key in ("name", "labels", "creationTimestamp") if key in metadata}
        | {"annotations": _registers(metadata)},
        "spec": value.get("spec"),
        "status": {key: status[key] for key in ("conditions", "nodeInfo") if key in status},
    }


def _registers(metadata: Mapping[str, paths.Json]) -> paths.Object:
    annotations = paths.mapping(metadata.get("annotations"))
    return {key: annotations[key] for key in (*nodes.REGISTERS, nodes.VOLCANO_REGISTER) if key in annotations}


def _ready(status: paths.Object) -> bool:
    """Whether a node is ready. Facts of a snapshot keep no conditions: then it counts as ready."""
    conditions = {each.get("type"): each.get("status") for each in fields.mappings(status.get("conditions"))}
    return conditions.get("Ready", "True") == "True"


def _devices(value: paths.Json, vocabulary: Vocabulary, *, offers: int, partition: str, virtual: int) -> Devices:
    found: dict[str, Amount] = {}
    for resource, reported in _numbers(value, vocabulary).items():
        name, number = resource, reported
        if resource in (_GPU, _SHARED):
            name, number = partition or _GPU, reported // offers
        elif resource == _AMD_GPU:
            name = partition or resource
        elif virtual and resource == _VIRTUAL:
            name, number = _GPU, reported // virtual
        elif virtual and (part := PARTS.get(resource)) is not None and part.divides == _VIRTUAL:
            continue
        found[name] = found.get(name, Amount()) + Amount(number=number)
    return dict(sorted(found.items()))


def _numbers(value: paths.Json, vocabulary: Vocabulary) -> Mapping[str, int]:
    return {
        name: number
        for name, amount in paths.mapping(value).items()
        if vocabulary.contains(name) and (number := fields.whole_quantity(amount)) is not None
    }
