"""Whether something in a cluster has run to its end, by what its controller writes into its status."""

from collections.abc import Iterator
from typing import Final

from usher import paths

# Pod: k8s.io/api core/v1 PodPhase.
_POD_PHASES: Final = frozenset({"Succeeded", "Failed"})
# batch/v1 Job: Complete, Failed; kubeflow.org JobConditionType: Succeeded, Failed; JobSet: Completed, Failed.
_CONDITIONS: Final = frozenset({"Complete", "Completed", "Succeeded", "Failed"})
# Volcano JobPhase; an Aborted job may be resumed.
_VOLCANO_PHASES: Final = frozenset({"Completed", "Failed", "Terminated"})
# RayJob JobDeploymentStatus.
_RAY_JOB: Final = frozenset({"Complete", "Failed"})


def finished(value: paths.Object) -> bool:
    status = value.get("status")
    if not isinstance(status, dict):
        return False
    state = status.get("state")
    return (
        (value.get("kind") == "Pod" and str(status.get("phase")) in _POD_PHASES)
        or any(condition in _CONDITIONS for condition in _conditions(status))
        or (isinstance(state, dict) and str(state.get("phase")) in _VOLCANO_PHASES)
        or str(status.get("jobDeploymentStatus")) in _RAY_JOB
    )


def _conditions(status: paths.Object) -> Iterator[str]:
    """The types of the conditions that are true."""
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else []:
        if isinstance(condition, dict) and condition.get("status") == "True":
            yield str(condition.get("type"))
