"""Where `/scale` writes, for every kind that has it."""

from collections.abc import Iterator

import pytest

import kind_definitions
from usher.kinds import scales


def defined_scales() -> Iterator[scales.Scale]:
    for found in kind_definitions.definitions():
        if found.replicas:
            yield scales.Scale(group=found.group, kind=found.kind, plural=found.plural, field=found.replicas)


@pytest.mark.uses_definitions
def test_the_scales_are_those_of_kubernetes_and_of_the_definitions() -> None:
    of_kubernetes = {
        scales.Scale(group="", kind="ReplicationController", plural="replicationcontrollers"),
        scales.Scale(group="apps", kind="Deployment", plural="deployments"),
        scales.Scale(group="apps", kind="ReplicaSet", plural="replicasets"),
        scales.Scale(group="apps", kind="StatefulSet", plural="statefulsets"),
    }

    assert set(scales.SCALES) == of_kubernetes | set(defined_scales())
    assert len(scales.SCALES) == len(set(scales.SCALES))


@pytest.mark.parametrize(
    ("group", "kind", "field"),
    [
        ("", "ReplicationController", "/spec/replicas"),
        ("apps", "Deployment", "/spec/replicas"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "/spec/replicas"),
        ("kubeflow.org", "PyTorchJob", "/spec/pytorchReplicaSpecs/Worker/replicas"),
        ("kubeflow.org", "JAXJob", "/spec/jaxReplicaSpecs/Worker/replicas"),
        ("kubeflow.org", "PaddleJob", "/spec/paddleReplicaSpecs/Worker/replicas"),
        ("production-stack.vllm.ai", "VLLMRuntime", "/spec/deploymentConfig/replicas"),
    ],
)
def test_every_kind_has_its_number_somewhere(group: str, kind: str, field: str) -> None:
    assert scales.FIELDS[group, kind] == field


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("apps", "DaemonSet"),
        ("batch", "Job"),
        ("jobset.x-k8s.io", "JobSet"),
        ("kubeflow.org", "MPIJob"),
        ("ray.io", "RayCluster"),
        ("serving.kserve.io", "InferenceService"),
    ],
)
def test_kinds_without_a_scale_have_none_here(group: str, kind: str) -> None:
    assert (group, kind) not in scales.FIELDS


def test_the_kind_is_found_by_what_a_request_calls_the_resource() -> None:
    assert scales.KINDS["apps", "deployments"] == "Deployment"
    assert scales.KINDS["", "replicationcontrollers"] == "ReplicationController"
    assert ("example.com", "deployments") not in scales.KINDS
