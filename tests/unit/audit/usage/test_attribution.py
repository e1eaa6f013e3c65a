"""The workload of a pod: by the pods of now, by recorded owners, by its name, else its namespace."""

import pytest

from builders import usage as build
from usher.audit.usage.gpu_hours import Attribution, Owner, attribution_of
from usher.audit.usage.series import Answer, PodName, Series

NOTHING = Answer()
WORKLOADS = [
    build.workload("train", build.pod("odd-name")),
    build.deployment("web"),
    build.workload("train-big", kind="PyTorchJob", api_version="kubeflow.org/v1"),
    build.workload("nightly", kind="CronJob"),
]


def owned(kind: str, name: str, **labels: str) -> Answer:
    found = {"namespace": "red", "owner_kind": kind, "owner_name": name, "owner_is_controller": "true", **labels}
    return Answer(series=(Series(labels=found, first=0, values=[1.0]),))


def known(*, pods: Answer = NOTHING, replicasets: Answer = NOTHING, jobs: Answer = NOTHING) -> Attribution:
    return attribution_of(WORKLOADS, pods=pods, replicasets=replicasets, jobs=jobs)


def owner(found: Attribution, pod: str, namespace: str = "red") -> str:
    result = found.owner(PodName(namespace, pod))
    assert result.namespace == namespace
    return WORKLOADS[result.workload].identity.name if result.workload >= 0 else ""


def test_a_pod_of_now_belongs_to_its_workload() -> None:
    assert owner(known(), "odd-name") == "train"


def test_recorded_owners_lead_to_the_workload() -> None:
    found = known(
        pods=owned("ReplicaSet", "rs-1", pod="some-pod"), replicasets=owned("Deployment", "web", replicaset="rs-1")
    )
    nightly = known(pods=owned("Job", "n-1", pod="some-pod"), jobs=owned("CronJob", "nightly", job_name="n-1"))

    assert owner(found, "some-pod") == "web"
    assert owner(nightly, "some-pod") == "nightly"


def test_owners_in_a_circle_lead_nowhere() -> None:
    found = known(pods=owned("ReplicaSet", "a", pod="some-pod"), replicasets=owned("ReplicaSet", "a", replicaset="a"))

    assert owner(found, "some-pod") == ""


@pytest.mark.parametrize(
    ("pod", "name"),
    [
        ("train-0", "train"),
        ("train-x7k2p", "train"),
        ("train-worker-3", "train"),
        ("web-6f7d8c9b5d-bcdfg", "web"),
        ("train-big-master-0", "train-big"),
        ("nightly-29012345-x7k2p", "nightly"),
        # The workload of these may have been another one with a longer name.
        ("train-other-0", ""),
        ("training-0", ""),
        ("train-", ""),
        ("web", "web"),
    ],
)
def test_the_name_of_a_pod_that_is_gone_says_its_workload(pod: str, name: str) -> None:
    assert owner(known(), pod) == name


def test_of_two_names_that_a_pod_begins_with_the_longer_one_is_its_workload() -> None:
    workloads = [build.workload("train"), build.workload("train-0")]
    found = attribution_of(workloads, pods=NOTHING, replicasets=NOTHING, jobs=NOTHING)

    assert [found.owner(PodName("red", pod)).workload for pod in ("train-0-1", "train-1-1")] == [1, 0]


def test_a_pod_of_another_namespace_belongs_to_that_namespace() -> None:
    assert known().owner(PodName("blue", "train-0")) == Owner(-1, "blue")
