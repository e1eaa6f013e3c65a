"""A Job whose pods are denied says so itself."""

from collections.abc import Iterator

import pytest

import builders
from e2e import accounts, quota_site
from e2e.cluster import Cluster, Object, wait_until
from e2e.registration import CONFIG, registered
from server_process import ServerProcess


@pytest.fixture(scope="module")
def server(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that watches the cluster and may write Events."""
    with quota_site.account(cluster) as account:
        applied = accounts.granted(cluster, "base/events-role.yaml")
        with quota_site.replica(tmp_path_factory.mktemp("events"), 0, account, config=CONFIG) as server:
            yield server
        for each in reversed(applied):
            cluster.delete(each["kind"], each["metadata"]["name"], api_version=each["apiVersion"])


def events(cluster: Cluster, namespace: str) -> list[Object]:
    return [each for each in cluster.objects("Event", namespace=namespace) if each["reason"] == "DeniedByUsher"]


def test_a_job_from_before_the_webhooks_gets_an_event_with_the_reason(
    cluster: Cluster, namespace: str, server: ServerProcess
) -> None:
    greedy = builders.template(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), restartPolicy="Never")
    job = cluster.create(builders.job(greedy, name="greedy", namespace=namespace, suspend=True))
    with registered(cluster, server):
        cluster.kubectl("patch", "job/greedy", f"--namespace={namespace}", '--patch={"spec": {"suspend": false}}')
        (event,) = wait_until(lambda: events(cluster, namespace), description="the Job has an Event of ours")
        described = cluster.kubectl("describe", "job/greedy", f"--namespace={namespace}")

    assert event["involvedObject"]["uid"] == job["metadata"]["uid"]
    assert "USH201" in event["message"]
    assert "DeniedByUsher" in described


def test_a_forged_owner_gets_no_event(cluster: Cluster, namespace: str, server: ServerProcess) -> None:
    pod = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), name="x", namespace=namespace)
    owner: Object = {"apiVersion": "batch/v1", "kind": "Job", "name": "absent", "uid": "1", "controller": True}
    owned = builders.replaced(pod, "/metadata/ownerReferences", [owner])
    with registered(cluster, server), pytest.raises(Exception, match="USH201"):
        cluster.create(owned)
    wait_until(
        lambda: server.metrics().get('usher_events_total{result="no_owner"}') == 1,
        description="the owner was looked for",
    )

    assert events(cluster, namespace) == []


def test_a_quota_that_refuses_a_job_has_an_event_with_the_numbers(
    cluster: Cluster, namespace: str, server: ServerProcess
) -> None:
    job = builders.job(builders.template(builders.container(gpus=8), restartPolicy="Never"), namespace=namespace)
    with (
        quota_site.quota(cluster, namespace, {"hard": {"gpus": 8}}) as quota,
        registered(cluster, server),
    ):
        quota_site.wait_until_counted(cluster, quota)
        cluster.create(job | {"metadata": {"name": "first", "namespace": namespace}})
        with pytest.raises(Exception, match="USH1230"):
            cluster.create(job | {"metadata": {"name": "second", "namespace": namespace}})
        (event,) = wait_until(lambda: refusals(cluster, quota), description="the GPUQuota has an Event")
        described = cluster.kubectl("describe", f"gpuquota/{quota}")
        cluster.delete("Event", event["metadata"]["name"], namespace="default")
        cluster.delete("Job", "first", namespace=namespace, api_version="batch/v1")

    assert "0 of 8 free" in event["message"]
    assert "ChargeRefused" in described


def refusals(cluster: Cluster, quota: str) -> list[Object]:
    return [
        each
        for each in cluster.objects("Event", namespace="default")
        if each["involvedObject"]["name"] == quota and each["reason"] == "ChargeRefused"
    ]
