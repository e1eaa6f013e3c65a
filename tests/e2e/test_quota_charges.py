"""A GPUQuota charges workloads on a real API server with real controllers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import builders
import reviews
from e2e import accounts, crds, quota_site
from e2e.cluster import ApiError, Cluster, KubectlError, Object, wait_until
from e2e.quota_site import settled, status, used
from server_process import ServerProcess

HARD = 8
SLICE = "nvidia.com/mig-1g.10gb"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The usher.yaml of the server, which a test may change."""
    file = tmp_path_factory.mktemp("config") / "usher.yaml"
    # Tests here wait for the end of reservations, and ask for one object at a time.
    file.write_text(quota_site.CONFIG.read_text().replace("quotaReservation: 8s", "quotaReservation: 4s"))
    return file


@pytest.fixture(scope="module")
def server(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, config: Path) -> Iterator[ServerProcess]:
    """A server that watches the cluster and is asked about everything in it."""
    crds.install(cluster, ["kubeflow.org/pytorchjobs"])
    directory: Path = tmp_path_factory.mktemp("quota")
    with (
        quota_site.account(cluster) as account,
        quota_site.replica(directory, 0, account, config=config) as running,
        quota_site.asked(cluster, [running]),
    ):
        yield running


@pytest.fixture
def quota(cluster: Cluster, namespace: str, server: ServerProcess) -> Iterator[str]:
    """A quota of 8 GPUs and 4 slices for the namespace of the test."""
    limits: Object = {"hard": {"gpus": HARD, "profiles.1g.10gb": 4}}
    with quota_site.quota(cluster, namespace, limits) as name:
        quota_site.wait_until_known([server])
        yield name


def template(gpus: int = 1) -> Object:
    return builders.template(builders.container(gpus=gpus), labels={"app": "server"}, restartPolicy="Always")


def job(name: str, namespace: str, *, pods: int, gpus: int, suspend: bool = False) -> Object:
    pod = builders.template(builders.container(gpus=gpus), restartPolicy="Never")
    made = builders.job(pod, parallelism=pods, completions=pods, name=name, namespace=namespace)
    return builders.replaced(made, "/spec/suspend", suspend)


def stateful_set(name: str, namespace: str, *, replicas: int, gpus: int = 1) -> Object:
    """No pod of it is made before another one has gone, so a rollout takes nothing more."""
    made = builders.stateful_set(template(gpus), replicas=replicas, name=name, namespace=namespace)
    return builders.replaced(made, "/spec/selector", {"matchLabels": {"app": "server"}})


def pods(cluster: Cluster, namespace: str) -> list[Object]:
    return cluster.objects("Pod", namespace=namespace)


def wait_until_settled(cluster: Cluster, quota: str, *, gpus: int) -> None:
    wait_until(
        lambda: settled(cluster, quota) and used(cluster, quota) == gpus,
        description=f"{gpus} GPUs are charged, and nothing is reserved",
        timeout=60,
    )


def test_a_gang_is_refused_whole_with_its_numbers(cluster: Cluster, quota: str) -> None:
    cluster.create(job("first", quota, pods=2, gpus=2))
    gang = builders.pytorch_job(template(2), workers=4, name="gang", namespace=quota)

    with pytest.raises(ApiError) as refused:
        cluster.create(gang)

    assert "USH1230 gpu-quota-exceeded" in refused.value.message
    assert f"GPUQuota {quota}" in refused.value.message
    assert "8 GPUs" in refused.value.message
    assert "4 of 8" in refused.value.message
    assert used(cluster, quota) == 4


def test_a_dry_run_is_refused_as_the_real_thing_is_and_charges_nothing(cluster: Cluster, quota: str) -> None:
    cluster.create(job("try", quota, pods=2, gpus=4), dry_run=True)
    assert used(cluster, quota) == 0

    with pytest.raises(ApiError, match="USH1230"):
        cluster.create(job("try", quota, pods=3, gpus=4), dry_run=True)


def test_pods_that_a_controller_makes_are_part_of_what_their_workload_was_charged(cluster: Cluster, quota: str) -> None:
    cluster.create(job("train", quota, pods=2, gpus=4))
    wait_until(lambda: len(pods(cluster, quota)) == 2, description="the Job has its pods")

    wait_until_settled(cluster, quota, gpus=8)
    assert [each["object"] for each in status(cluster, quota)["charges"]] == [f"Job.batch/{quota}/train"]


def test_a_rollout_takes_what_a_deployment_may_surge_to(cluster: Cluster, quota: str) -> None:
    """Four replicas and one more while they are replaced; the ReplicaSet and the pods take nothing beside them."""
    server = builders.deployment(template(), replicas=4, name="server", namespace=quota)
    cluster.create(builders.replaced(server, "/spec/selector", {"matchLabels": {"app": "server"}}))
    wait_until(lambda: len(pods(cluster, quota)) == 4, description="the Deployment has its pods")

    wait_until_settled(cluster, quota, gpus=5)
    assert used(cluster, quota) == 5


def test_an_update_is_charged_by_what_it_asks_for_more(cluster: Cluster, quota: str) -> None:
    cluster.create(stateful_set("server", quota, replicas=2))
    wait_until_settled(cluster, quota, gpus=2)
    cluster.apply(stateful_set("server", quota, replicas=8))
    assert used(cluster, quota) == 8

    with pytest.raises(ApiError, match="USH1230"):
        cluster.apply(stateful_set("server", quota, replicas=9))
    cluster.apply(stateful_set("server", quota, replicas=3))
    wait_until_settled(cluster, quota, gpus=3)


def test_a_scale_is_charged_as_an_update_is(cluster: Cluster, quota: str) -> None:
    cluster.create(stateful_set("server", quota, replicas=1))
    cluster.kubectl("scale", "statefulset/server", "--replicas=6", f"--namespace={quota}")
    assert used(cluster, quota) == 6

    with pytest.raises(KubectlError, match="USH1230 gpu-quota-exceeded"):
        cluster.kubectl("scale", "statefulset/server", "--replicas=9", f"--namespace={quota}")
    cluster.kubectl("scale", "statefulset/server", "--replicas=0", f"--namespace={quota}")
    wait_until_settled(cluster, quota, gpus=0)


@pytest.mark.uses_definitions
def test_the_workers_of_a_job_of_kubeflow_are_charged_when_they_are_scaled(cluster: Cluster, quota: str) -> None:
    cluster.create(builders.pytorch_job(template(1), workers=1, name="bert", namespace=quota))
    cluster.kubectl("scale", "pytorchjobs.kubeflow.org/bert", "--replicas=8", f"--namespace={quota}")
    assert used(cluster, quota) == 8

    with pytest.raises(KubectlError, match="USH1230 gpu-quota-exceeded"):
        cluster.kubectl("scale", "pytorchjobs.kubeflow.org/bert", "--replicas=9", f"--namespace={quota}")


def test_the_charge_of_a_deleted_job_is_released_when_its_pods_are_gone(cluster: Cluster, quota: str) -> None:
    cluster.create(job("train", quota, pods=2, gpus=4))
    wait_until_settled(cluster, quota, gpus=8)
    cluster.delete("Job", "train", namespace=quota, api_version="batch/v1")

    wait_until_settled(cluster, quota, gpus=0)
    assert pods(cluster, quota) == []
    cluster.create(job("again", quota, pods=2, gpus=4))


def test_who_names_a_job_of_his_as_the_owner_of_more_pods_is_charged_for_them(cluster: Cluster, quota: str) -> None:
    owner = cluster.create(job("train", quota, pods=1, gpus=2))
    wait_until(lambda: pods(cluster, quota), description="the Job has its pod")
    wait_until_settled(cluster, quota, gpus=2)
    reference = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "train",
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }

    forged = builders.pod(builders.container(gpus=7), name="forged", namespace=quota)
    with pytest.raises(ApiError, match="USH1230"):
        cluster.create(builders.replaced(forged, "/metadata/ownerReferences", [reference]))
    assert used(cluster, quota) == 2


def test_slices_have_a_limit_of_their_own(cluster: Cluster, quota: str) -> None:
    def pod(name: str, number: int) -> Object:
        container = builders.container(requests={SLICE: number}, limits={SLICE: number})
        return builders.pod(container, name=name, namespace=quota)

    cluster.create(pod("three", 3))
    assert used(cluster, quota, "profiles.1g.10gb") == 3
    with pytest.raises(ApiError, match=r"USH1230.*1g\.10gb"):
        cluster.create(pod("two", 2))


def test_the_api_servers_second_try_of_a_request_is_charged_once(
    cluster: Cluster, quota: str, server: ServerProcess
) -> None:
    body = reviews.body(job("twice", quota, pods=1, gpus=3))
    quota_site.wait_until_counted(cluster, quota)

    assert server.review("validate", body)["allowed"]
    assert server.review("validate", body)["allowed"]
    assert used(cluster, quota) == 3
    # Nobody has made it, so that what was reserved comes back.
    wait_until(lambda: used(cluster, quota) == 0, description="the reservation is over", timeout=60)


def test_what_was_there_before_the_quota_is_charged_and_said_to_be(
    cluster: Cluster, namespace: str, server: ServerProcess
) -> None:
    cluster.create(job("early", namespace, pods=2, gpus=6))
    with quota_site.quota(cluster, namespace, {"hard": {"gpus": HARD}}) as quota:
        wait_until(lambda: used(cluster, quota) == 12, description="what exists is charged", timeout=60)
        assert [each.get("forced") for each in status(cluster, quota)["charges"]] == [True]
        quota_site.wait_until_known([server])

        with pytest.raises(ApiError, match="USH1230"):
            cluster.create(job("late", namespace, pods=1, gpus=1))
        # A workload that asks for nothing more stays free to be changed.
        labelled = cluster.apply({**job("early", namespace, pods=2, gpus=6), "metadata": _labelled("early", namespace)})
        assert labelled["metadata"]["labels"]["team"] == "research"


ACCOUNT = "gpu-usher-quota-declared"


def declared_charges(cluster: Cluster) -> list[Object]:
    """The charges in the account of the quota that usher.yaml declares."""
    kept = cluster.get("ConfigMap", ACCOUNT, namespace=accounts.OF_QUOTAS)
    read: list[Object] = json.loads(kept["data"]["account.json"])["charges"]
    return read


def all_free(cluster: Cluster) -> bool:
    """Whether the quota of usher.yaml has counted what there is, and nothing is charged."""
    if ACCOUNT not in [each["metadata"]["name"] for each in config_maps(cluster)]:
        return False
    return declared_charges(cluster) == []


@pytest.fixture
def declared(cluster: Cluster, namespace: str, server: ServerProcess) -> str:
    """A namespace that the quota of usher.yaml selects; its 4 GPUs are free."""
    cluster.kubectl("label", "namespace", namespace, "e2e.gpu-usher.io/declared=true")
    wait_until(lambda: knows_labels(server, namespace), description="the server knows the label")
    # A Job of a test before is charged until its namespace has ended.
    cluster.end_namespaces()
    wait_until(lambda: all_free(cluster), description="nothing of tests before is charged", timeout=90)
    return namespace


def test_a_quota_of_usher_yaml_is_charged_and_refuses_what_does_not_fit(cluster: Cluster, declared: str) -> None:
    cluster.create(job("train", declared, pods=2, gpus=2))
    with pytest.raises(ApiError, match=r"USH1230.*quota declared of usher.yaml has 0 of 4 free"):
        cluster.create(job("more", declared, pods=1, gpus=1))
    wait_until(
        lambda: [each.get("until") for each in declared_charges(cluster)] == [None],
        description="the charge is settled",
    )
    cluster.delete("Job", "train", namespace=declared, api_version="batch/v1")
    wait_until(lambda: declared_charges(cluster) == [], description="all is released", timeout=60)


def test_a_gpu_quota_that_overlaps_a_quota_of_usher_yaml_is_refused(cluster: Cluster, declared: str) -> None:
    with (
        pytest.raises(ApiError) as refused,
        quota_site.quota(cluster, declared, {"hard": {"gpus": HARD}}),
    ):
        pass

    assert "USH1233 gpu-quotas-overlap" in refused.value.message
    assert f"GPUQuota {declared}" in refused.value.message
    assert f"quota declared of usher.yaml also holds for namespace {declared}" in refused.value.message


def test_the_account_of_a_quota_goes_after_its_declaration(cluster: Cluster, declared: str, config: Path) -> None:
    cluster.create(job("train", declared, pods=1, gpus=1))
    wait_until(lambda: declared_charges(cluster), description="the quota is charged")
    text = config.read_text()

    config.write_text(text[: text.index("quotas:")])
    try:
        wait_until(
            lambda: ACCOUNT not in [each["metadata"]["name"] for each in config_maps(cluster)],
            description="the account is deleted",
            timeout=90,
        )
        cluster.create(job("more", declared, pods=1, gpus=8))
        assert cluster.exists("Job", "more", namespace=declared, api_version="batch/v1")
    finally:
        config.write_text(text)


def config_maps(cluster: Cluster) -> list[Object]:
    return cluster.objects("ConfigMap", namespace=accounts.OF_QUOTAS)


def knows_labels(server: ServerProcess, namespace: str) -> bool:
    """Whether the server has heard that a quota is for the namespace: more than its 4 GPUs can never be given."""
    body = reviews.body(job("probe", namespace, pods=1, gpus=5), dryRun=True)
    return not server.review("validate", body)["allowed"]


def _labelled(name: str, namespace: str) -> Object:
    return {"name": name, "namespace": namespace, "labels": {"team": "research"}}
