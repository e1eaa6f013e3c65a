"""Reads top-level workloads for an audit."""

from collections.abc import Mapping, Sequence
from typing import Final

from usher import model, paths
from usher.audit.building import fields, reports
from usher.audit.estate import Workload
from usher.authorities.kueue.read import QUEUE_LABEL
from usher.authorities.volcano import read as volcano_read
from usher.check import devices
from usher.check.findings import Identity
from usher.config.models import Config

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


class Workloads:
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
            created=fields.time(metadata.get("creationTimestamp")),
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
            reported=reports.read(value),
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
    labels, annotations = fields.texts(metadata.get("labels")), fields.texts(metadata.get("annotations"))
    return labels.get(POD_GROUP) or annotations.get(POD_GROUP, "")


def group_size(value: paths.Object) -> int:
    """The number of pods in a group, as the pods report it; 0 if they do not."""
    text = fields.texts(paths.metadata(value).get("annotations")).get(_POD_GROUP_SIZE, "")
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
