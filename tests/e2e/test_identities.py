"""Decisions by user and by subresource, as a real API server sends them."""

import json

import pytest

import builders
from e2e.cluster import Cluster, KubectlError, Object
from e2e.registration import decisions
from server_process import ServerProcess

pytestmark = pytest.mark.usefixtures("webhooks")

EXEMPT = "gpu-usher.io/exempt=true"
TENANT = ("--as=alice", "--as-group=tenants")


@pytest.fixture(scope="module", autouse=True)
def tenant(cluster: Cluster) -> None:
    """Alice may do anything that RBAC can allow, so that whatever is denied to her is denied by us."""
    cluster.kubectl("create", "clusterrolebinding", "alice", "--clusterrole=cluster-admin", "--user=alice")


def denied(cluster: Cluster, *arguments: str, stdin: str = "") -> str:
    with pytest.raises(KubectlError) as refused:
        cluster.kubectl(*arguments, stdin=stdin)
    return refused.value.stderr


def test_a_tenant_cannot_exempt_a_namespace_and_an_administrator_can(cluster: Cluster, namespace: str) -> None:
    printed = denied(cluster, "label", "namespace", namespace, EXEMPT, *TENANT)

    assert "USH1201 exemption-by-tenant" in printed
    cluster.kubectl("label", "namespace", namespace, EXEMPT)
    cluster.kubectl("annotate", "namespace", namespace, "team=nlp", *TENANT)


def test_nothing_is_judged_in_a_namespace_that_is_exempt(
    cluster: Cluster, namespace: str, webhooks: ServerProcess
) -> None:
    cluster.kubectl("label", "namespace", namespace, EXEMPT)
    greedy = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})

    cluster.create(builders.pod(greedy, name="web", namespace=namespace), dry_run=True)

    assert [entry["kind"] for entry in decisions(webhooks, namespace) if entry["kind"] != "Namespace"] == []


def test_who_binds_a_pod_by_hand_is_warned(cluster: Cluster, namespace: str) -> None:
    pod = builders.pod(name="web", namespace=namespace, schedulerName="nobody")
    cluster.create(pod)
    binding: Object = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "web", "namespace": namespace},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "gpu-0"},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/web/binding"

    printed = cluster.kubectl(
        "create", f"--raw={path}", "--filename=-", *TENANT, stdin=json.dumps(binding), with_warnings=True
    )

    assert "USH1433 pod-bound-by-hand" in printed
    assert cluster.get("Pod", "web", namespace=namespace)["spec"]["nodeName"] == "gpu-0"


def test_a_resize_is_judged_as_the_pod_that_comes_of_it(
    cluster: Cluster, namespace: str, webhooks: ServerProcess
) -> None:
    """The pod waits, because the nodes of the tests have no kubelet that could resize it."""
    container = builders.container(requests={"cpu": "1"}, limits={"cpu": "2"})
    cluster.create(builders.pod(container, name="web", namespace=namespace, schedulerName="nobody"))
    larger = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}

    cluster.kubectl(
        "patch", "pod", "web", f"--namespace={namespace}", "--subresource=resize", f"--patch={json.dumps(larger)}"
    )

    asked = [(entry["endpoint"], entry["operation"]) for entry in decisions(webhooks, namespace, count=3)]
    assert asked == [("mutate", "CREATE"), ("validate", "CREATE"), ("validate", "UPDATE")]


def test_an_administrator_debugs_a_node_and_a_tenant_does_not(cluster: Cluster, namespace: str) -> None:
    """The pod of kubectl mounts all of the node; the group of the user decides, and not its label."""
    debug = ("debug", "node/gpu-0", "--image=registry.example.com/busybox:1", "--profile=sysadmin", f"-n={namespace}")

    printed = cluster.kubectl(*debug, with_warnings=True)

    assert "Creating debugging pod node-debugger-gpu-0-" in printed
    assert "USH216 broad-host-path" in printed
    (pod,) = cluster.objects("Pod", namespace=namespace)
    assert pod["spec"]["nodeName"] == "gpu-0"
    assert "USH216 broad-host-path" in denied(cluster, *debug, *TENANT)
