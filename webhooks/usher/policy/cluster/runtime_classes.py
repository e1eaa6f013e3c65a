"""The RuntimeClasses that pods name."""

from usher import model
from usher.facts.store import Store
from usher.reading.lookup import Absence, Reference

RuntimeClasses = dict[str, bool]
"""Whether they are there, by name; one of which nothing is known is left out."""


def of(workload: model.Workload, facts: Store) -> RuntimeClasses | None:
    """What is known of the classes that pod sets name; None where they name none."""
    names = sorted({pod_set.runtime_class_name for pod_set in workload.pod_sets if pod_set.runtime_class_name})
    if not names:
        return None
    absences = {name: facts.find(Reference(group="node.k8s.io", kind="RuntimeClass", name=name)) for name in names}
    return {name: found is not Absence.MISSING for name, found in absences.items() if found is not Absence.NOT_KNOWN}
