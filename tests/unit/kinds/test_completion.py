"""The status shows whether an object has run to its end."""

import pytest

from usher import paths
from usher.kinds import registry


def condition(kind: str, status: paths.Json = "True") -> paths.Object:
    return {"conditions": [{"type": "Running", "status": "False"}, {"type": kind, "status": status}]}


@pytest.mark.parametrize(
    ("api_version", "kind", "status"),
    [
        ("v1", "Pod", {"phase": "Succeeded"}),
        ("v1", "Pod", {"phase": "Failed"}),
        ("batch/v1", "Job", condition("Complete")),
        ("batch/v1", "Job", condition("Failed")),
        ("kubeflow.org/v1", "PyTorchJob", condition("Succeeded")),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", condition("Completed")),
        ("batch.volcano.sh/v1alpha1", "Job", {"state": {"phase": "Terminated"}}),
        ("ray.io/v1", "RayJob", {"jobDeploymentStatus": "Complete"}),
        ("argoproj.io/v1alpha1", "Workflow", {"phase": "Error"}),
        ("workload.codeflare.dev/v1beta2", "AppWrapper", {"phase": "Succeeded"}),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", condition("Complete")),
        ("tekton.dev/v1", "PipelineRun", condition("Succeeded")),
        ("tekton.dev/v1", "TaskRun", condition("Succeeded", "False")),
        ("flow.volcano.sh/v1alpha1", "JobFlow", {"state": {"phase": "Succeed"}}),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", {"applicationState": {"state": "COMPLETED"}}),
    ],
)
def test_what_has_ended_is_finished(api_version: str, kind: str, status: paths.Object) -> None:
    assert registry.is_finished({"apiVersion": api_version, "kind": kind, "status": status})


@pytest.mark.parametrize(
    ("api_version", "kind", "status"),
    [
        ("v1", "Pod", None),
        ("v1", "Pod", {"phase": "Running"}),
        ("v1", "Pod", {"phase": ["Succeeded"]}),
        ("v1", "Pod", condition("Ready")),
        ("v1", "Namespace", {"phase": "Failed"}),
        ("batch/v1", "Job", condition("Complete", "False")),
        ("batch/v1", "Job", condition("Complete", True)),
        ("batch/v1", "Job", condition("Suspended")),
        ("batch.volcano.sh/v1alpha1", "Job", {"state": {"phase": "Aborted"}}),
        ("batch.volcano.sh/v1alpha1", "Job", {"state": "Completed", "conditions": {"type": "Complete"}}),
        ("apps/v1", "Deployment", condition("ReplicaFailure")),
        ("ray.io/v1", "RayJob", {"jobDeploymentStatus": {"a": 1}}),
        ("argoproj.io/v1alpha1", "Workflow", {"phase": "Running"}),
        ("tekton.dev/v1", "TaskRun", condition("Succeeded", "Unknown")),
        ("kubeflow.org/v1", "PyTorchJob", condition("Succeeded", "False")),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", {"applicationState": {"state": "RUNNING"}}),
    ],
)
def test_what_may_go_on_is_not(api_version: str, kind: str, status: paths.Json) -> None:
    assert not registry.is_finished({"apiVersion": api_version, "kind": kind, "status": status})
