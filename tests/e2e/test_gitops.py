"""Tools that apply git again and again while usher is away, and when it is back."""

import contextlib
import json
from pathlib import Path

import pytest
import yaml

import builders
from e2e.cluster import Cluster, KubectlError, Object, wait_until
from e2e.pods import running_pods
from e2e.registration import CONFIG, registered, serving
from e2e.test_reapply import deployment, job, stored
from integration import command

TENANT = ("--as=grace", "--as-group=tenants")
OURS = "nvidia.com/gpu"


@pytest.fixture(scope="module", autouse=True)
def tenant(cluster: Cluster) -> None:
    """Grace may do anything that RBAC can allow, so that only a webhook can refuse her requests."""
    cluster.kubectl("create", "clusterrolebinding", "grace", "--clusterrole=cluster-admin", "--user=grace")


def apply(cluster: Cluster, manifest: Object) -> str:
    return cluster.kubectl("apply", "--filename=-", *TENANT, stdin=json.dumps(manifest))


def tolerated(value: Object) -> set[str]:
    return {each["key"] for each in value["spec"]["template"]["spec"].get("tolerations", [])}


def test_what_an_apply_without_usher_drops_comes_back_with_the_next_update(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """With Ignore. The manifests have a list of tolerations, which each apply writes as a whole."""
    manifest = deployment(namespace)
    beside = cluster.create_namespace()
    batch = job(beside)
    bare = without_own_list(deployment(beside))
    fixed = builders.replaced(fixed_by_usher(batch, tmp_path), "/metadata/name", "fixed")
    with contextlib.ExitStack() as stack:
        with serving(tmp_path) as first:
            stack.enter_context(registered(cluster, first))
            for each in (manifest, batch, fixed, bare):
                apply(cluster, each)
            running_pods(cluster, namespace)
            before = stored(cluster, manifest)
            assert tolerated(before) == {OURS, "team"}

        # Away: a rollout begins whose pods find no node, and the Job cannot be applied.
        apply(cluster, manifest)
        assert tolerated(stored(cluster, manifest)) == {"team"}
        wait_until(lambda: "Pending" in phases(cluster, namespace), description="a pod without our toleration waits")
        assert "Running" in phases(cluster, namespace), "the old pod stays until a new one is ready"
        with pytest.raises(KubectlError, match="field is immutable"):
            apply(cluster, batch)
        for each, reason in ((fixed, "git has what usher would add"), (bare, "git does not have the list")):
            kept = stored(cluster, each)["spec"]
            apply(cluster, each)
            assert stored(cluster, each)["spec"] == kept, reason

        with serving(tmp_path, port=first.port):
            wait_until(lambda: heals(cluster, namespace), description="an update of the Deployment is mutated")
            running_pods(cluster, namespace)
            after = stored(cluster, manifest)
            assert after["spec"] == before["spec"]
            apply(cluster, batch)
    cluster.delete_namespace(beside, wait=False)


def without_own_list(manifest: Object) -> Object:
    del manifest["spec"]["template"]["spec"]["tolerations"]
    return manifest


def fixed_by_usher(manifest: Object, directory: Path) -> Object:
    """The manifest in git as `usher fix` writes it."""
    file = directory / "fixed.yaml"
    file.write_text(yaml.safe_dump(manifest))
    done = command.usher("fix", "--only", "mutations", "--config", CONFIG, file)
    assert done.code == 0, done.err
    found: Object = yaml.safe_load(file.read_text())
    assert tolerated(found) == {OURS, "team"}
    return found


def phases(cluster: Cluster, namespace: str) -> set[str]:
    return {each["status"]["phase"] for each in cluster.objects("Pod", namespace=namespace)}


def heals(cluster: Cluster, namespace: str) -> bool:
    """The command of the runbook."""
    cluster.kubectl("annotate", "deployment", "again", f"--namespace={namespace}", "mended=again", *TENANT)
    cluster.kubectl("annotate", "deployment", "again", f"--namespace={namespace}", "mended-", *TENANT)
    return OURS in tolerated(stored(cluster, deployment(namespace)))


def test_with_fail_an_apply_without_usher_changes_nothing(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    manifests = [
        deployment(namespace),
        builders.replaced(job(namespace), "/spec/suspend", True),
    ]
    with contextlib.ExitStack() as stack:
        with serving(tmp_path) as first:
            stack.enter_context(registered(cluster, first, closed=["mutate"]))
            for each in manifests:
                apply(cluster, each)
            running_pods(cluster, namespace)
        before = [stored(cluster, each)["spec"] for each in manifests]

        for each in manifests:
            with pytest.raises(KubectlError, match=r"mutate-accelerators\.gpu-usher\.io"):
                apply(cluster, each)

        assert [stored(cluster, each)["spec"] for each in manifests] == before
        running_pods(cluster, namespace)
