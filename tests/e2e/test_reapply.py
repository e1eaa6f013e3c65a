"""`kubectl apply` of an unchanged manifest, again and again, as every GitOps tool does: nothing is denied or lost."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import builders
from e2e import crds
from e2e.cluster import Cluster, Object

pytestmark = [pytest.mark.uses_definitions, pytest.mark.usefixtures("webhooks")]

# With a list of its own in the manifest, every apply writes the whole list anew.
TEMPLATE = builders.template(
    builders.container("main", gpus=1, env={"TEAM": "nlp"}),
    labels={"app": "again"},
    tolerations=[{"key": "team", "operator": "Exists"}],
    restartPolicy="Never",
)


def deployment(namespace: str) -> Object:
    template = builders.replaced(TEMPLATE, "/spec/restartPolicy", "Always")
    value = builders.deployment(template, replicas=1, name="again", namespace=namespace)
    return builders.replaced(value, "/spec/selector", {"matchLabels": {"app": "again"}})


def job(namespace: str) -> Object:
    return builders.job(TEMPLATE, name="again", namespace=namespace)


def pytorch_job(namespace: str) -> Object:
    return builders.pytorch_job(TEMPLATE, workers=2, name="again", namespace=namespace)


@pytest.mark.parametrize("server_side", [False, True], ids=["client-side", "server-side"])
@pytest.mark.parametrize("make", [deployment, job, pytorch_job])
def test_an_unchanged_manifest_can_be_applied_again_and_loses_nothing(
    cluster: Cluster, namespace: str, make: Callable[[str], Object], server_side: bool
) -> None:
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    manifest = make(namespace)
    arguments = ["apply", "--filename=-", *(["--server-side"] if server_side else [])]

    cluster.kubectl(*arguments, stdin=json.dumps(manifest))
    first = stored(cluster, manifest)
    cluster.kubectl(*arguments, stdin=json.dumps(manifest))
    second = stored(cluster, manifest)

    assert first["spec"] == second["spec"]
    assert "gpu-toleration" in second["metadata"]["annotations"]["gpu-usher.io/mutations"]


def test_a_replaced_manifest_gets_back_what_it_had(cluster: Cluster, namespace: str) -> None:
    # No controller writes to it, as one does to a Deployment: `kubectl replace` does not try again on a conflict.
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    manifest = pytorch_job(namespace)
    cluster.kubectl("create", "--filename=-", stdin=json.dumps(manifest))
    first = stored(cluster, manifest)

    cluster.kubectl("replace", "--filename=-", stdin=json.dumps(manifest))

    assert stored(cluster, manifest)["spec"] == first["spec"]


@pytest.mark.parametrize("manager", ["argocd-controller", "kustomize-controller", "helm-controller"])
@pytest.mark.parametrize("make", [deployment, job, pytorch_job])
def test_a_server_side_diff_shows_nothing_of_what_usher_added(
    cluster: Cluster, namespace: str, make: Callable[[str], Object], manager: str
) -> None:
    """Argo CD with ServerSideDiff=true, and Flux: both compare the live object with a dry run of their apply."""
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    manifest = make(namespace)
    server_side(cluster, manifest, manager=manager)
    live = stored(cluster, manifest)
    assert "gpu-toleration" in live["metadata"]["annotations"]["gpu-usher.io/mutations"]

    predicted = json.loads(server_side(cluster, manifest, "--dry-run=server", "--output=json", manager=manager))

    assert compared(predicted) == compared(live)
    # No manager owns what a webhook adds, so `managedFieldsManagers` of ignoreDifferences cannot name one.
    assert {each["manager"] for each in live["metadata"]["managedFields"]} <= {manager, "kube-controller-manager"}


def server_side(cluster: Cluster, manifest: Object, *options: str, manager: str) -> str:
    arguments = ("apply", "--server-side", "--force-conflicts", f"--field-manager={manager}", "--filename=-")
    return cluster.kubectl(*arguments, *options, stdin=json.dumps(manifest))


def compared(value: Object) -> Any:
    """The parts that these tools compare."""
    metadata = {key: value["metadata"].get(key) for key in ("labels", "annotations")}
    # A controller counts rollouts in an annotation, which no manifest has.
    counted = {key: each for key, each in (metadata["annotations"] or {}).items() if "revision" not in key}
    return {**metadata, "annotations": counted, "spec": value["spec"]}


def stored(cluster: Cluster, manifest: Object) -> Object:
    metadata = manifest["metadata"]
    return cluster.get(
        manifest["kind"], metadata["name"], namespace=metadata["namespace"], api_version=manifest["apiVersion"]
    )
