"""Which pods of DaemonSets see GPUs that they do not ask for, and control their nodes: those of system namespaces."""

from typing import Any

import pytest

from builders import container, daemon_set, template
from usher import paths
from usher.cluster.facts.store import Store
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


@pytest.mark.parametrize(
    ("namespace", "lacks"),
    [
        (None, "no namespace"),
        ("{{ .Release.Namespace }}", "a placeholder for its namespace"),
        ("<your-namespace>", "a placeholder for its namespace"),
        ("${NAMESPACE}", "a placeholder for its namespace"),
    ],
)
def test_a_daemon_set_without_a_namespace_is_one_of_a_tenant_and_usher_says_what_it_assumes(
    evaluator: Evaluator, namespace: str | None, lacks: str
) -> None:
    value = daemon_set(template(container(securityContext={"privileged": True}), hostPID=True))
    value["metadata"] = {"name": "agent"} if namespace is None else {"name": "agent", "namespace": namespace}
    found = [each for each in evaluator.decide(Request(value=value)).judgements if each.code == "USH220"]

    assert [each.outcome.value for each in found] == ["warn"]
    assert found[0].because.endswith(f"because its file has {lacks}")


def variables(config: models.Config, facts: Store) -> set[object]:
    """The variables that the webhook sets in a container without accelerators."""
    made = assembly.embedded(config, facts=facts)
    merged = made.mutate(Request(value=pod("/data", "research"), user=User(name="alice"))).value
    environment: Any = paths.resolve(merged, "/spec/containers/0/env")
    return {each["name"] for each in environment if each["value"] == "void"}


def test_the_devices_of_other_vendors_are_hidden_where_pools_or_nodes_offer_them() -> None:
    nvidia = "NVIDIA_VISIBLE_DEVICES"
    pools = [{"name": "mi300", "nodeSelector": {"pool": "mi300"}, "resources": ["amd.com/gpu"]}]
    declared = models.Config.model_validate({"pools": pools})
    node: paths.Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "labels": {}},
        "status": {"allocatable": {"huawei.com/Ascend910": "8"}, "capacity": {"huawei.com/Ascend910": "8"}},
    }

    assert variables(models.Config(), Store()) == {nvidia}
    assert variables(declared, Store()) == {nvidia, "AMD_VISIBLE_DEVICES"}
    assert variables(models.Config(), Store.of([node])) == {nvidia, "ASCEND_VISIBLE_DEVICES"}
