"""The webhook denies an object that breaks a rule and gives its author the reason."""

import json
import os
from pathlib import Path

import pytest

import builders
from e2e import crds
from e2e.cluster import ApiError, Cluster, KubectlError, Object
from e2e.pods import running_pods
from e2e.registration import decisions
from server_process import ServerProcess
from unit.review import test_oversized as oversized
from usher import paths

pytestmark = pytest.mark.usefixtures("webhooks")

GOLDEN = Path(__file__).parents[1] / "data" / "e2e" / "denied-pytorchjob.txt"


def broken(namespace: str) -> Object:
    """A PyTorchJob that breaks two rules."""
    unequal = builders.container("pytorch", requests={builders.GPU: 8}, limits={builders.GPU: 4})
    greedy = builders.container("pytorch", gpus=8, env={"NVIDIA_VISIBLE_DEVICES": "all"})
    return builders.pytorch_job(
        builders.template(greedy), workers=1, master=builders.template(unequal), name="bert", namespace=namespace
    )


def refusal(cluster: Cluster, manifest: Object, *arguments: str) -> str:
    """The message of kubectl when it fails to create an object."""
    with pytest.raises(KubectlError) as refused:
        cluster.kubectl("create", *arguments, "--filename=-", stdin=json.dumps(manifest))
    return refused.value.stderr


@pytest.mark.uses_definitions
def test_a_broken_pytorch_job_is_denied_in_words_that_help(cluster: Cluster, namespace: str) -> None:
    """After an intended change, `USHER_UPDATE_GOLDEN=1` writes the golden file anew; read the diff."""
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])

    printed = refusal(cluster, broken(namespace)).replace(namespace, "NAMESPACE") + "\n"

    if os.environ.get("USHER_UPDATE_GOLDEN"):
        GOLDEN.write_text(printed)
    assert printed == GOLDEN.read_text()
    assert not cluster.exists("PyTorchJob", "bert", namespace=namespace, api_version="kubeflow.org/v1")


@pytest.mark.uses_definitions
def test_a_dry_run_is_denied_in_the_same_words(cluster: Cluster, namespace: str, webhooks: ServerProcess) -> None:
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    series = 'usher_reviews_total{endpoint="validate",result="denied"}'
    reviews = webhooks.metrics().get(series, 0)

    tried = refusal(cluster, broken(namespace), "--dry-run=server")
    logged = decisions(webhooks, namespace, count=2)

    assert [(entry["endpoint"], entry["allowed"], entry["dryRun"]) for entry in logged] == [
        ("mutate", True, True),
        ("validate", False, True),
    ]
    denied = {name for name, outcome in logged[-1]["findings"].items() if outcome == "deny"}
    assert denied == {"gpu-requests-equal-limits", "visible-devices-set-by-hand"}
    assert webhooks.metrics()[series] > reviews
    assert tried == refusal(cluster, broken(namespace))


def test_a_pod_that_helps_itself_to_gpus_is_denied(cluster: Cluster, namespace: str) -> None:
    container = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})

    printed = refusal(cluster, builders.pod(container, name="web", namespace=namespace))

    assert printed.endswith(
        f"Pod {namespace}/web breaks 1 rule:\n"
        '  USH201 visible-devices-set-by-hand: container main: NVIDIA_VISIBLE_DEVICES "all" takes devices '
        "that no quota counts, because the container asks for no accelerator. "
        "Remove NVIDIA_VISIBLE_DEVICES, and ask for the devices in limits.\n"
        "More: usher explain USH201"
    )
    assert not cluster.exists("Pod", "web", namespace=namespace)


def test_a_debug_container_that_helps_itself_to_gpus_is_denied(cluster: Cluster, namespace: str) -> None:
    """It comes through a subresource of a pod that runs already."""
    cluster.create(builders.pod(name="web", namespace=namespace))
    running_pods(cluster, namespace)
    command = ("debug", "web", f"--namespace={namespace}", "--image=debug:1", "--container=debugger", "--attach=false")

    with pytest.raises(KubectlError, match="USH201 visible-devices-set-by-hand: ephemeral container debugger"):
        cluster.kubectl(*command, "--env=NVIDIA_VISIBLE_DEVICES=all")

    cluster.kubectl(*command)
    assert [
        container["name"] for container in cluster.get("Pod", "web", namespace=namespace)["spec"]["ephemeralContainers"]
    ] == ["debugger"]


def test_an_object_that_is_too_much_to_judge_is_denied_although_the_webhooks_may_fail(
    cluster: Cluster, namespace: str
) -> None:
    crds.install(cluster, ["ray.io/rayclusters"])
    names = ["251,000 values", "80 containers x 200 MIG names", "12,000 device annotations", "600 levels"]
    for name in names:
        value = oversized.ATTACKS[name]
        value = {**value, "metadata": {**paths.metadata(value), "namespace": namespace}}
        with pytest.raises(ApiError, match="USH1480 too-large-to-judge"):
            cluster.create(value, dry_run=True)

    labels = {f"l{number}": "" for number in range(1000)}
    large = builders.pod(builders.container(args=["x"] * 40_000), labels=labels, namespace=namespace)
    cluster.create(large, dry_run=True)
