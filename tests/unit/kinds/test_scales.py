"""Where `/scale` writes, for every kind that has it."""

from collections.abc import Iterator

import pytest

import kind_definitions
from usher.kinds import registry


def defined_scales() -> Iterator[tuple[str, str, str, str]]:
    """The scales of our own definitions; test_registry.py proves at night that published ones say the same."""
    for file in kind_definitions.OWN.rglob("*.yaml"):
        for found in kind_definitions.versions(file):
            if found.replicas:
                yield found.group, found.kind, found.plural, found.replicas


def test_the_scales_are_those_of_kubernetes_and_of_the_definitions() -> None:
    of_kubernetes = {
        ("", "ReplicationController", "replicationcontrollers", "/spec/replicas"),
        ("apps", "Deployment", "deployments", "/spec/replicas"),
        ("apps", "ReplicaSet", "replicasets", "/spec/replicas"),
        ("apps", "StatefulSet", "statefulsets", "/spec/replicas"),
    }

    scales = {(kind.group, kind.kind, kind.plural, kind.scale) for kind in registry.KINDS if kind.scale}
    assert scales == of_kubernetes | set(defined_scales())


@pytest.mark.parametrize(
    ("group", "kind", "field"),
    [
        ("", "ReplicationController", "/spec/replicas"),
        ("apps", "Deployment", "/spec/replicas"),
        ("argoproj.io", "Rollout", "/spec/replicas"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "/spec/replicas"),
        ("kubeflow.org", "PyTorchJob", "/spec/pytorchReplicaSpecs/Worker/replicas"),
        ("kubeflow.org", "JAXJob", "/spec/jaxReplicaSpecs/Worker/replicas"),
        ("kubeflow.org", "PaddleJob", "/spec/paddleReplicaSpecs/Worker/replicas"),
        ("production-stack.vllm.ai", "VLLMRuntime", "/spec/deploymentConfig/replicas"),
    ],
)
def test_every_kind_has_its_number_somewhere(group: str, kind: str, field: str) -> None:
    assert registry.SCALES[group, kind] == field


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
def test_kinds_without_a_scale_are_not_in_the_table_of_scales(group: str, kind: str) -> None:
    assert (group, kind) not in registry.SCALES


def test_the_kind_is_found_by_what_a_request_calls_the_resource() -> None:
    assert registry.scaled("apps", "deployments") is registry.BY_KEY["apps", "Deployment"]
    assert registry.scaled("", "replicationcontrollers") is registry.BY_KEY["", "ReplicationController"]
    assert registry.scaled("batch", "jobs") is None
    assert registry.scaled("example.com", "deployments") is None
