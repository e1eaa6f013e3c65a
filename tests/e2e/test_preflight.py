"""`usher preflight` on a real API server: what is missing, what would be denied, and whose webhooks are in the way."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import builders
from e2e.cluster import Cluster
from e2e.registration import registered
from integration import command
from server_process import ServerProcess

REGISTRATION = "admissionregistration.k8s.io/v1"
HOSTILE = "audit.example.com"


@pytest.fixture(scope="module")
def other_webhook(cluster: Cluster) -> Iterator[None]:
    """A webhook of somebody else whose server is away; it is asked about ConfigMaps of one absent namespace alone."""
    webhook = {
        "name": HOSTILE,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "default", "name": "absent"}},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "absent"}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    }
    value = {
        "apiVersion": REGISTRATION,
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "somebody"},
        "webhooks": [webhook],
    }
    cluster.create(value)
    yield
    cluster.delete("ValidatingWebhookConfiguration", "somebody", api_version=REGISTRATION)


def preflight(cluster: Cluster, *arguments: str) -> command.Run:
    return command.usher("preflight", "--kubeconfig", cluster.kubeconfig, *arguments)


def points(found: Any) -> dict[str, set[str]]:
    """The states of the points by topic."""
    topics: dict[str, set[str]] = {}
    for each in found["points"]:
        topics.setdefault(each["topic"], set()).add(each["state"])
    return topics


@pytest.mark.usefixtures("other_webhook")
def test_before_an_installation_it_names_all_that_is_missing(cluster: Cluster, namespace: str) -> None:
    job = builders.job(
        builders.template(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), restartPolicy="Never"),
        name="greedy",
        namespace=namespace,
        suspend=True,
    )
    cluster.create(job)

    done = preflight(cluster, "--format", "json")
    found = json.loads(done.out)

    assert done.code in (1, 2), done.err
    states = points(found)
    assert states["server"] == states["webhooks"] == {"attention"}
    assert any(HOSTILE in each["text"] and "no ready endpoint" in each["text"] for each in found["points"])
    (denied,) = [each for each in found["denied"] if each["namespace"] == namespace and each["code"] == "USH201"]
    assert (denied["workloads"], denied["example"]) == (1, f"Job {namespace}/greedy")


def test_the_text_is_for_people(cluster: Cluster) -> None:
    done = preflight(cluster)

    assert "attention  server: usher has no Deployment in this namespace" in done.out
    assert done.out.rstrip().splitlines()[-1].endswith("not known")


def test_the_registered_webhooks_are_compared_with_this_version(cluster: Cluster, server: ServerProcess) -> None:
    with registered(cluster, server):
        found = json.loads(preflight(cluster, "--format", "json").out)

    assert points(found)["webhooks"] == {"good"}
    assert points(found)["certificate"] == {"good"}
