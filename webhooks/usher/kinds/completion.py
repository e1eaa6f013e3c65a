"""Whether an object in a cluster has run to its end, by what its controller writes into its status."""

from collections.abc import Callable, Iterator
from typing import Final

from usher import paths

Finished = Callable[[paths.Object], bool]
"""Says whether an object has run to its end; takes the whole object."""

# batch/v1 Job: Complete, Failed; kubeflow.org JobConditionType: Succeeded, Failed; JobSet: Completed, Failed.
_CONDITIONS: Final = frozenset({"Complete", "Completed", "Succeeded", "Failed"})


def by_condition(value: paths.Object) -> bool:
    """Whether one of the usual conditions for a finished object is true."""
    return any(condition in _CONDITIONS for condition in _conditions(value, "True"))


def by_false_condition(condition: str) -> Finished:
    """A check for kinds that fail by making a condition false, which is unknown until then (Tekton)."""
    return lambda value: by_condition(value) or condition in _conditions(value, "False")


def by_field(field: str, *ends: str) -> Finished:
    """A check for kinds with a status field that names how far an object has come.

    Args:
        field: JSON Pointer from the status.
        ends: values of the field for an object that has run to its end.
    """

    def finished(value: paths.Object) -> bool:
        try:
            found = paths.resolve(value, f"/status{field}")
        except LookupError:
            found = None
        return (isinstance(found, str) and found in ends) or by_condition(value)

    return finished


def _conditions(value: paths.Object, wanted: str) -> Iterator[str]:
    """The types of the conditions with the wanted status, "True" or "False"."""
    status = value.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for condition in conditions if isinstance(conditions, list) else []:
        if isinstance(condition, dict) and condition.get("status") == wanted:
            yield str(condition.get("type"))
