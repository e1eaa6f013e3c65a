"""An authority says whether a workload can never start, or cannot start now; with the RuntimeClasses that pods name."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from usher import model, paths
from usher.authorities import verdict
from usher.authorities.beside import NOTHING, Beside
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Section
from usher.kinds.reading.values import Absence, Reference


class QuotaRefusal(Struct, frozen=True, kw_only=True):
    """A GPUQuota that refused the charge of a workload, with the limits that it exceeds."""

    quota: Quota
    excesses: tuple[Excess, ...]


class Ground(Protocol):
    """Facts that a slice depends on and that change without a new revision."""

    def still_holds(self, known: Knowledge) -> bool:
        """Whether the current knowledge gives the same slice."""
        ...


class Case(Struct, frozen=True, kw_only=True):
    """A workload to judge."""

    workload: model.Workload
    before: model.Workload | None = None
    """The workload before the mutating webhook changed it."""
    refusal: QuotaRefusal | None = None
    beside: Beside = NOTHING
    """The facts about the workload from other objects of the same files."""
    grounds: list[Ground] = field(default_factory=list)
    """Slices add facts here whose changes the revisions do not show."""


Slice = Callable[[Case, Knowledge], Mapping[str, Any] | None]
"""Makes the part of the Rego input that one authority gives; None where the authority has nothing to report."""


class Authority(Struct, frozen=True, kw_only=True):
    outlook: Callable[[Case, Knowledge], Iterable[Section]]
    """Gives the sections of `usher queue`."""
    slices: Mapping[str, Slice] = field(default_factory=dict)
    """Slices for objects that make pods, by the field of `input.cluster`."""
    object_slices: Mapping[str, Slice] = field(default_factory=dict)
    """Slices for objects that do not make pods, by the field of `input.cluster`."""
    speaks_without_cluster: bool = False
    """Whether the authority can answer from usher.yaml alone."""


def with_overhead(workload: model.Workload, classes: Mapping[str, paths.Object] | Absence) -> model.Workload:
    """The workload with the overhead of its RuntimeClasses, as the API server adds it to each pod.

    A pod that states an overhead keeps it: the API server refuses an overhead that differs from that of the class.
    """
    if isinstance(classes, Absence) or not any(pod_set.runtime_class_name for pod_set in workload.pod_sets):
        return workload
    return replace(workload, pod_sets=tuple(_with_overhead(pod_set, classes) for pod_set in workload.pod_sets))


def _with_overhead(pod_set: model.PodSet, classes: Mapping[str, paths.Object]) -> model.PodSet:
    found = classes.get(pod_set.runtime_class_name)
    if found is None or pod_set.overhead:
        return pod_set
    source = verdict.SourceObject(f"RuntimeClass {pod_set.runtime_class_name}", found)
    return replace(pod_set, overhead=source.amounts("/overhead/podFixed"))


ClassesInput = dict[str, bool]
"""Whether each class exists, by name; unknown classes are left out."""


def runtime_classes_input(case: Case, known: Knowledge) -> ClassesInput | None:
    """The RuntimeClasses that pod sets name; None without any."""
    names = {pod_set.runtime_class_name for pod_set in case.workload.pod_sets if pod_set.runtime_class_name}
    return _which_exist("node.k8s.io", "RuntimeClass", names, known) if names else None


def device_classes_input(case: Case, known: Knowledge) -> ClassesInput | None:
    """The DeviceClasses that the claims of pod sets name; None without any."""
    if any(pod_set.unclear_devices for pod_set in case.workload.pod_sets):
        return None
    names = {
        name
        for pod_set in case.workload.pod_sets
        for request in pod_set.requests
        if request.route is model.Route.CLAIM
        for name in (request.name, *request.instead)
    }
    return _which_exist("resource.k8s.io", "DeviceClass", names, known) if names else None


def _which_exist(group: str, kind: str, names: Iterable[str], known: Knowledge) -> ClassesInput:
    found = {name: known.facts.find(Reference(group=group, kind=kind, name=name)) for name in sorted(names)}
    return {name: value is not Absence.MISSING for name, value in found.items() if value is not Absence.NOT_KNOWN}
