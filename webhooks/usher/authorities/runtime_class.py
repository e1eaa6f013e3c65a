"""The RuntimeClasses that pods name: whether they exist, and which overhead they add to a pod."""

from collections.abc import Mapping
from dataclasses import replace

from usher import model, paths
from usher.authorities import resource_lists
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.kinds.reading.values import Absence, Reference


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
    source = resource_lists.Source(f"RuntimeClass {pod_set.runtime_class_name}", found)
    return replace(pod_set, overhead=source.amounts("/overhead/podFixed"))


RuntimeClassesInput = dict[str, bool]
"""Whether each class exists, by name; unknown classes are left out."""


def of(case: Case, known: Knowledge) -> RuntimeClassesInput | None:
    """The classes that pod sets name; None where they do not name a class."""
    pod_sets = case.workload.pod_sets
    names = sorted({pod_set.runtime_class_name for pod_set in pod_sets if pod_set.runtime_class_name})
    if not names:
        return None
    absences = {
        name: known.facts.find(Reference(group="node.k8s.io", kind="RuntimeClass", name=name)) for name in names
    }
    return {name: found is not Absence.MISSING for name, found in absences.items() if found is not Absence.NOT_KNOWN}
