"""The RuntimeClasses that pods name: whether they exist, and what they add to a pod."""

from collections.abc import Mapping
from dataclasses import replace

from usher import model, paths
from usher.authorities import resource_lists
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.reading.lookup import Absence, Reference


def with_overhead(workload: model.Workload, classes: Mapping[str, paths.Object] | Absence) -> model.Workload:
    """The workload with the overhead of RuntimeClasses, as the API server writes it into each pod.

    Pods that state an overhead keep it: the API server refuses any other than that of the class.
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
"""Whether a class is there, by name; without classes of which nothing is known."""


def of(case: Case, known: Knowledge) -> RuntimeClassesInput | None:
    """The classes that pod sets name; None where they name none."""
    pod_sets = case.workload.pod_sets
    names = sorted({pod_set.runtime_class_name for pod_set in pod_sets if pod_set.runtime_class_name})
    if not names:
        return None
    absences = {
        name: known.facts.find(Reference(group="node.k8s.io", kind="RuntimeClass", name=name)) for name in names
    }
    return {name: found is not Absence.MISSING for name, found in absences.items() if found is not Absence.NOT_KNOWN}
