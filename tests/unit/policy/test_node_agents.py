"""Which pods of DaemonSets see GPUs that they do not ask for: agents of their node, and never pods of tenants."""

import pytest

from builders import container, template
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request, User
from usher.policy.evaluator import Evaluator

CONTROLLER = "system:serviceaccount:kube-system:daemon-set-controller"
SOCKETS = "/var/lib/kubelet/pod-resources"
VOID = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return assembly.embedded(models.Config())


def pod(host_path: str) -> paths.Object:
    """A Pod that names a DaemonSet as its owner and mounts a directory of its node."""
    volume: paths.Object = {"name": "node", "hostPath": {"path": host_path}}
    mounted = container(volumeMounts=[{"name": "node", "mountPath": "/node"}])
    owner: paths.Object = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": "exporter",
        "uid": "7c0e2d0a-1111-4222-8333-444455556666",
        "controller": True,
    }
    spec = template(mounted, volumes=[volume])["spec"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "exporter-x7k2p", "namespace": "observability", "ownerReferences": [owner]},
        "spec": spec,
    }


def sees_gpus(evaluator: Evaluator, value: paths.Object, user: str) -> bool:
    """Whether the webhook leaves the variable of the image alone, also for a second Pod like the first."""
    request = Request(value=value, namespace="observability", user=User(name=user))
    patches = [evaluator.patch(request).operations for _ in range(2)]
    assert patches[0] == patches[1]
    return not any(each["value"] in (VOID, [VOID]) for each in patches[0])


def test_an_exporter_that_the_controller_makes_sees_the_gpus_of_its_node(evaluator: Evaluator) -> None:
    assert sees_gpus(evaluator, pod(SOCKETS), CONTROLLER)


def test_a_user_who_writes_the_owner_into_a_pod_sees_no_gpu(evaluator: Evaluator) -> None:
    assert not sees_gpus(evaluator, pod(SOCKETS), "alice")


def test_a_daemon_set_without_permissions_on_its_node_sees_no_gpu(evaluator: Evaluator) -> None:
    assert not sees_gpus(evaluator, pod("/var/log"), CONTROLLER)
