"""Whether something in a cluster has run to its end, by what its controller writes into its status."""

from collections.abc import Iterator
from typing import Final

from usher import paths

# k8s.io/api core/v1 PodPhase; argoproj.io WorkflowPhase; codeflare.dev AppWrapperPhase.
_PHASES: Final = {
    "Pod": frozenset({"Succeeded", "Failed"}),
    "Workflow": frozenset({"Succeeded", "Failed", "Error"}),
    "AppWrapper": frozenset({"Succeeded", "Failed"}),
}
# batch/v1 Job: Complete, Failed; kubeflow.org JobConditionType: Succeeded, Failed; JobSet: Completed, Failed.
_CONDITIONS: Final = frozenset({"Complete", "Completed", "Succeeded", "Failed"})
# Tekton's runs have failed where this condition is false; until then it is unknown.
_TEKTON: Final = frozenset({"TaskRun", "PipelineRun"})
# Volcano JobPhase and JobFlow Phase; an Aborted job may be resumed.
_VOLCANO_PHASES: Final = frozenset({"Completed", "Succeed", "Failed", "Terminated"})
# sparkoperator.k8s.io ApplicationStateType; a FAILED submission may be tried again, and is SUBMISSION_FAILED till then.
_SPARK_STATES: Final = frozenset({"COMPLETED", "FAILED"})
# RayJob JobDeploymentStatus.
_RAY_JOB: Final = frozenset({"Complete", "Failed"})


def finished(value: paths.Object) -> bool:
    status = value.get("status")
    if not isinstance(status, dict):
        return False
    kind, state, application = str(value.get("kind")), status.get("state"), status.get("applicationState")
    return (
        str(status.get("phase")) in _PHASES.get(kind, ())
        or any(condition in _CONDITIONS for condition in _conditions(status, "True"))
        or (kind in _TEKTON and "Succeeded" in _conditions(status, "False"))
        or (isinstance(application, dict) and str(application.get("state")) in _SPARK_STATES)
        or (isinstance(state, dict) and str(state.get("phase")) in _VOLCANO_PHASES)
        or str(status.get("jobDeploymentStatus")) in _RAY_JOB
    )


def _conditions(status: paths.Object, value: str) -> Iterator[str]:
    """The types of the conditions that are "True", or that are "False"."""
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else []:
        if isinstance(condition, dict) and condition.get("status") == value:
            yield str(condition.get("type"))
