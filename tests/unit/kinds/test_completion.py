"""What has run to its end, by its status."""

import pytest

from usher import paths
from usher.kinds import completion


def condition(kind: str, status: paths.Json = "True") -> paths.Object:
    return {"conditions": [{"type": "Running", "status": "False"}, {"type": kind, "status": status}]}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("Pod", {"phase": "Succeeded"}),
        ("Pod", {"phase": "Failed"}),
        ("Job", condition("Complete")),
        ("Job", condition("Failed")),
        ("PyTorchJob", condition("Succeeded")),
        ("JobSet", condition("Completed")),
        ("Job", {"state": {"phase": "Terminated"}}),
        ("RayJob", {"jobDeploymentStatus": "Complete"}),
        ("Workflow", {"phase": "Error"}),
        ("AppWrapper", {"phase": "Succeeded"}),
        ("TrainJob", condition("Complete")),
        ("PipelineRun", condition("Succeeded")),
        ("TaskRun", condition("Succeeded", "False")),
        ("JobFlow", {"state": {"phase": "Succeed"}}),
        ("SparkApplication", {"applicationState": {"state": "COMPLETED"}}),
    ],
)
def test_what_has_ended_is_finished(kind: str, status: paths.Object) -> None:
    assert completion.finished({"kind": kind, "status": status})


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("Pod", None),
        ("Pod", {"phase": "Running"}),
        ("Pod", {"phase": ["Succeeded"]}),
        ("Pod", condition("Ready")),
        ("Namespace", {"phase": "Failed"}),
        ("Job", condition("Complete", "False")),
        ("Job", condition("Complete", True)),
        ("Job", condition("Suspended")),
        ("Job", {"state": {"phase": "Aborted"}}),
        ("Job", {"state": "Completed", "conditions": {"type": "Complete"}}),
        ("Deployment", condition("ReplicaFailure")),
        ("RayJob", {"jobDeploymentStatus": {"a": 1}}),
        ("Workflow", {"phase": "Running"}),
        ("TaskRun", condition("Succeeded", "Unknown")),
        ("PyTorchJob", condition("Succeeded", "False")),
        ("SparkApplication", {"applicationState": {"state": "RUNNING"}}),
    ],
)
def test_what_may_go_on_is_not(kind: str, status: paths.Json) -> None:
    assert not completion.finished({"kind": kind, "status": status})
