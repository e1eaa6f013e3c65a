"""Top-level workloads and pods with accelerators, as an audit sees them, with what controllers say of their pods.

A Deployment and a ReplicaSet have the condition ReplicaFailure while pods are refused (pkg/controller/replicaset and
pkg/controller/deployment of Kubernetes). A StatefulSet makes a pod only after the pods before it are ready, unless its
pods are made in parallel. A job whose status counts pods has made some, and waits before it makes a failed one again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from sys import intern
from typing import Final

from msgspec import Struct

from usher import model, paths
from usher.accelerators import mig
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import NOTHING_REPORTED, Phase, Pod, Reported, Workload
from usher.authorities.kueue.read import QUEUE_LABEL
from usher.authorities.volcano import read as volcano_read
from usher.check import devices
from usher.check.devices import Devices
from usher.check.findings import Identity
from usher.config.models import Config
from usher.memo import Memo
from usher.workloads import fingerprints

_FAILURE: Final = "ReplicaFailure"
_SUSPENDED: Final = ("Suspended", "RayClusterSuspended")
_POD_COUNTS: Final = ("active", "succeeded", "failed")
_LONGEST_REFUSAL: Final = 300


def read_report(value: paths.Object) -> Reported:
    """The report in the status of an object of any kind."""
    status, spec = fields.mapping(value.get("status")), fields.mapping(value.get("spec"))
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
    by_type = fields.mapping(status.get("replicaStatuses"))
    for part in (status, *by_type.values(), *fields.mappings(status.get("replicatedJobsStatus"))):
        for name in _POD_COUNTS:
            yield fields.mapping(part).get(name)


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
            value: the object.
            read: the object, normalised.
            with_labels: whether to keep its labels. There may be many workloads without accelerators.
        """
        metadata = paths.metadata(value)
        return Workload(
            identity=Identity(api_version=read.api_version, kind=read.kind, namespace=read.namespace, name=read.name),
            uid=paths.text(metadata.get("uid")),
            created=fields.time_of(metadata.get("creationTimestamp")),
            role=read.role,
            wanted=read.pods,
            asks=devices.of_workload(read),
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
    policy = fields.mapping(fields.mapping(value.get("spec")).get("elasticPolicy"))
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
        name: the name of the group.
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
    memory_profile: str
    workload: model.Workload | None

    @property
    def tolerations(self) -> Sequence[Mapping[str, paths.Json]]:
        """The tolerations. Similar pods share one value."""
        return self.workload.pod_sets[0].tolerations if self.workload is not None and self.workload.pod_sets else ()


class PodReader:
    """Reads pods."""

    def __init__(self, read: Normalise) -> None:
        self._read = read
        self._asked: Memo[bytes, Asked] = Memo(_DIFFERENT)

    def asked(self, value: paths.Object) -> Asked:
        """The accelerators that a pod requests. `workload` may come from a similar pod with another name."""
        digest = _digest(value)
        return self._made(value) if digest is None else self._asked.get(digest, lambda: self._made(value))

    def _made(self, value: paths.Object) -> Asked:
        workload = self._read(value)
        if workload is None or not workload.asks_accelerators:
            return _NOTHING
        found = devices.of_workload(workload)
        names = (mig.profile_of_resource(name) for name in found)
        profile = next((str(each.profile) for each in names if each is not None), "")
        return Asked(devices=found, memory_profile=profile, workload=workload)


_NOTHING: Final = Asked(devices={}, memory_profile="", workload=None)


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
    found = fields.mapping(value.get("status")).get("phase", Phase.PENDING)
    return Phase(found) if found in list(Phase) else Phase.UNKNOWN


def pod_of(value: paths.Object, asked: Asked) -> Pod:
    """A pod with accelerators as the estate keeps it."""
    metadata, spec = paths.metadata(value), fields.mapping(value.get("spec"))
    status = fields.mapping(value.get("status"))
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
            state = fields.mapping(fields.mapping(container.get("state")).get("waiting"))
            reason = paths.text(state.get("reason"))
            if reason:
                words = ": ".join(filter(None, (reason, paths.text(state.get("message")))))
                found.append((reason in _USUAL, f"container {paths.text(container.get('name'))}: {words}"))
    return min(found, key=lambda each: each[0], default=(True, ""))[1][:_LONGEST_REASON]


def _is_of_scheduler(condition: paths.Object) -> bool:
    return condition.get("type") == "PodScheduled"
