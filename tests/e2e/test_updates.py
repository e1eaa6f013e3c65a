"""Objects from before the webhooks can be changed and deleted, but not made worse."""

import json
from collections.abc import Iterator

import pytest

import builders
from e2e import crds
from e2e.cluster import Cluster, KubectlError, Object, wait_until
from e2e.pods import GPU_NODES, nodes_of, running_pods
from e2e.registration import registered
from server_process import ServerProcess

pytestmark = pytest.mark.uses_definitions

KUBEFLOW = "kubeflow.org/v1"


def unequal(name: str, namespace: str, *, finalizer: str = "") -> Object:
    container = builders.container("pytorch", requests={builders.GPU: 8}, limits={builders.GPU: 4})
    job = builders.pytorch_job(builders.template(container), workers=2, name=name, namespace=namespace)
    return builders.replaced(job, "/metadata/finalizers", [finalizer]) if finalizer else job


def old_deployment(namespace: str) -> Object:
    template = builders.template(builders.container(gpus=1), labels={"app": "old"})
    old = builders.deployment(template, replicas=1, name="old", namespace=namespace)
    return builders.replaced(old, "/spec/selector", {"matchLabels": {"app": "old"}})


@pytest.fixture(scope="module")
def before(cluster: Cluster, server: ServerProcess) -> Iterator[str]:
    """A namespace with objects from before the webhooks; its pods wait, because they tolerate no taint."""
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    namespace = cluster.create_namespace()
    cluster.create(unequal("labelled", namespace))
    cluster.create(unequal("worsened", namespace))
    cluster.create(unequal("deleted", namespace, finalizer="example.com/keep"))
    cluster.create(old_deployment(namespace))
    with registered(cluster, server):
        yield namespace
    cluster.delete_namespace(namespace, wait=False)


def test_what_was_wrong_before_is_only_warned_about(cluster: Cluster, before: str) -> None:
    printed = cluster.kubectl(
        "label", "pytorchjob", "labelled", "team=nlp", f"--namespace={before}", with_warnings=True
    )

    *warnings, done = printed.splitlines()
    assert [line.split()[:2] for line in warnings] == [
        ["Warning:", "USH103"],
        ["Warning:", "USH301"],
        ["Warning:", "USH302"],
    ]
    assert done == "pytorchjob.kubeflow.org/labelled labeled"


def test_what_was_wrong_before_may_shrink_and_not_grow(cluster: Cluster, before: str) -> None:
    def scaled(workers: int) -> str:
        patch = {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": workers}}}}
        command = ("patch", "pytorchjob", "labelled", f"--namespace={before}", "--type=merge", "--dry-run=server")
        return cluster.kubectl(*command, f"--patch={json.dumps(patch)}", "--as=mallory", "--as-group=system:masters")

    assert "patched" in scaled(1)
    with pytest.raises(KubectlError, match="USH103"):
        scaled(80_000)


def test_a_finalizer_can_be_removed_so_that_the_object_goes(cluster: Cluster, before: str) -> None:
    cluster.delete("PyTorchJob", "deleted", namespace=before, api_version=KUBEFLOW)

    without = ("--type=merge", '--patch={"metadata": {"finalizers": null}}')
    printed = cluster.kubectl("patch", "pytorchjob", "deleted", f"--namespace={before}", *without, with_warnings=True)

    assert printed == "pytorchjob.kubeflow.org/deleted patched\n"
    wait_until(
        lambda: not cluster.exists("PyTorchJob", "deleted", namespace=before, api_version=KUBEFLOW),
        description="the job is gone",
    )


def test_an_update_that_breaks_a_new_rule_is_denied_and_names_only_the_new_findings(
    cluster: Cluster, before: str
) -> None:
    worse = cluster.get("PyTorchJob", "worsened", namespace=before, api_version=KUBEFLOW)
    container = worse["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]

    with pytest.raises(KubectlError) as refused:
        cluster.kubectl("replace", "--filename=-", stdin=json.dumps(worse))

    _, _, denial = refused.value.stderr.partition("denied the request: ")
    assert denial.splitlines()[0] == f"PyTorchJob {before}/worsened breaks 1 rule:"
    assert "USH201 visible-devices-set-by-hand" in denial
    assert "USH103" not in denial


def test_a_deployment_from_before_rolls_out_and_its_new_pods_run(cluster: Cluster, before: str) -> None:
    """Nobody changes the template of a ReplicaSet, so nobody may deny it for what its pods will be given."""
    of_it = ("deployment/old", f"--namespace={before}")
    cluster.kubectl("set", "image", *of_it, "main=server:2")
    cluster.kubectl("rollout", "status", "--timeout=30s", *of_it)
    replica_sets = cluster.objects("ReplicaSet", namespace=before, api_version="apps/v1")
    assert len(replica_sets) == 2
    pods = running_pods(cluster, before)
    assert nodes_of(pods) <= GPU_NODES
    assert [pod["metadata"]["annotations"] for pod in pods.values()] == [
        {"gpu-usher.io/mutations": "gpu-node-affinity,gpu-toleration"}
    ]
