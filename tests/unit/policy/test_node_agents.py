"""Which pods of DaemonSets see GPUs that they do not ask for, and control their nodes: those of system namespaces."""

from typing import Any

import pytest

from builders import container, daemon_set, template
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


def pod(host_path: str, namespace: str) -> paths.Object:
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
        "metadata": {"name": "exporter-x7k2p", "namespace": namespace, "ownerReferences": [owner]},
        "spec": spec,
    }


def sees_gpus(evaluator: Evaluator, value: paths.Object, user: str) -> bool:
    """Whether the webhook leaves the variable of the image alone, also for a second Pod like the first."""
    request = Request(value=value, user=User(name=user))
    patches = [evaluator.patch(request).operations for _ in range(2)]
    assert patches[0] == patches[1]
    return not any(each["value"] in (VOID, [VOID]) for each in patches[0])


@pytest.mark.parametrize("namespace", ["nvidia-device-plugin", "openshift-nvidia", "longhorn-system"])
def test_an_agent_in_one_of_the_usual_namespaces_sees_the_gpus_of_its_node(
    evaluator: Evaluator, namespace: str
) -> None:
    assert sees_gpus(evaluator, pod(SOCKETS, namespace), CONTROLLER)


@pytest.mark.parametrize("user", [CONTROLLER, "alice"])
@pytest.mark.parametrize("path", [SOCKETS, "/var/log"])
def test_a_daemon_set_elsewhere_sees_no_gpu_whatever_it_mounts(evaluator: Evaluator, user: str, path: str) -> None:
    assert not sees_gpus(evaluator, pod(path, "observability"), user)


@pytest.mark.parametrize("user", [None, User(name="alice")])
@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"hostPID": True}, "USH220"),
        ({"volumes": [{"name": "node", "hostPath": {"path": "/dev/nvidia0"}}]}, "USH204"),
        ({"volumes": [{"name": "node", "hostPath": {"path": SOCKETS}}]}, "USH217"),
        ({"priorityClassName": "system-node-critical"}, "USH601"),
    ],
)
def test_a_daemon_set_of_a_tenant_is_judged_in_ci_as_at_admission(
    evaluator: Evaluator, user: User | None, spec: Any, code: str
) -> None:
    request = Request(value=daemon_set(template(container(), **spec), namespace="research"), user=user)

    assert code in {each.code for each in evaluator.decide(request).judgements}


def test_a_daemon_set_of_a_system_namespace_may_control_its_nodes(evaluator: Evaluator) -> None:
    value = daemon_set(template(container(), hostPID=True), namespace="gpu-operator-resources")

    assert "USH220" not in {each.code for each in evaluator.decide(Request(value=value)).judgements}
