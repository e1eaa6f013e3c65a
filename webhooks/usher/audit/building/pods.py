"""Reads pods with accelerators for an audit. Similar pods share one reading."""

from collections.abc import Callable, Mapping, Sequence
from sys import intern
from typing import Final

from usher import model, paths
from usher.accelerators import mig
from usher.audit.building import fields
from usher.audit.estate import Phase, Pod
from usher.check import devices
from usher.check.devices import Devices
from usher.dataclass import dataclass
from usher.memo import Memo
from usher.workloads import fingerprints

Read = Callable[[paths.Object], model.Workload | None]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The content of a pod's template."""

    devices: Devices
    memory_profile: str
    workload: model.Workload | None

    @property
    def tolerations(self) -> Sequence[Mapping[str, paths.Json]]:
        """The tolerations. Similar pods share one value."""
        return self.workload.pod_sets[0].tolerations if self.workload is not None and self.workload.pod_sets else ()


class Pods:
    """Reads pods."""

    def __init__(self, read: Read) -> None:
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


def phase(value: paths.Object) -> Phase:
    """The phase of a pod; a pod without a status has just been created."""
    found = fields.mapping(value.get("status")).get("phase", Phase.PENDING)
    return Phase(found) if found in list(Phase) else Phase.UNKNOWN


def pod(value: paths.Object, asked: Asked) -> Pod:
    """A pod with accelerators as the estate keeps it."""
    metadata, spec = paths.metadata(value), fields.mapping(value.get("spec"))
    status = fields.mapping(value.get("status"))
    placed = next((each for each in fields.mappings(status.get("conditions")) if _is_of_scheduler(each)), {})
    on_node = placed.get("status") == "True"
    return Pod(
        namespace=intern(paths.text(metadata.get("namespace"))),
        name=paths.text(metadata.get("name")),
        uid=paths.text(metadata.get("uid")),
        phase=phase(value),
        node=intern(paths.text(spec.get("nodeName"))),
        created=fields.time(metadata.get("creationTimestamp")),
        scheduled=fields.time(placed.get("lastTransitionTime")) if on_node else None,
        waiting="" if on_node else paths.text(placed.get("message"))[:_LONGEST_REASON],
        starting=_starting(status) if on_node and phase(value) is Phase.PENDING else "",
        gates=tuple(paths.text(each.get("name")) for each in fields.mappings(spec.get("schedulingGates"))),
        devices=asked.devices,
        memory_profile=asked.memory_profile,
        tolerations=asked.tolerations,
        terminating=bool(metadata.get("deletionTimestamp")),
        group=fields.texts(metadata.get("labels")).get(_GROUP, ""),
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
