"""An estate reads the status of workloads and pods."""

from datetime import UTC, datetime
from typing import Any

import pytest

import builders
from builders import container, existing, pytorch_job, template
from builders.estates import API_VERSIONS
from unit.audit.building import built, only
from usher import paths
from usher.audit.gather import accelerator_objects
from usher.audit.gather.estate import NOTHING_REPORTED, Reported

SINCE = "2026-11-23T05:00:00Z"
THEN = datetime(2026, 11, 23, 5, tzinfo=UTC)


def reporting(kind: str, status: dict[str, Any], **spec: Any) -> paths.Object:
    """An object as an API server lists it, with the replicas that a controller defaults."""
    version = API_VERSIONS[kind]
    replicas = {"replicas": 2} if version == "apps/v1" else {}
    return {"apiVersion": version, "kind": kind, "spec": {**replicas, **spec}, "status": status}


def condition(name: str, status: str = "True", message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": name, "status": status, "message": message, "lastTransitionTime": SINCE}]}


REFUSED = Reported(refused=True, refusal="exceeded quota", refused_since=THEN)
MADE = Reported(refused=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (reporting("Deployment", {}), NOTHING_REPORTED),
        (reporting("Deployment", condition("ReplicaFailure", message="exceeded quota")), REFUSED),
        (reporting("Deployment", condition("ReplicaFailure", "False")), MADE),
        (reporting("ReplicaSet", {"replicas": 2}), MADE),
        (reporting("StatefulSet", {"replicas": 1, "readyReplicas": 0}), MADE),
        (reporting("StatefulSet", {"replicas": 1, "readyReplicas": 1}), NOTHING_REPORTED),
        (reporting("StatefulSet", {"replicas": 1}, podManagementPolicy="Parallel"), NOTHING_REPORTED),
        (reporting("Job", {"failed": 3}), MADE),
        (reporting("Job", {"startTime": SINCE}), NOTHING_REPORTED),
        (reporting("PyTorchJob", {"replicaStatuses": {"Worker": {"failed": 1}}}), MADE),
        (reporting("JobSet", {"replicatedJobsStatus": [{"active": 1}]}), MADE),
        (reporting("Job", condition("Suspended")), Reported(suspended_since=THEN)),
        (reporting("Job", condition("Suspended", "False")), NOTHING_REPORTED),
        (reporting("Job", {"conditions": 1, "replicaStatuses": [1], "failed": True}), NOTHING_REPORTED),
    ],
)
def test_the_status_says_whether_pods_are_refused(value: paths.Object, expected: Reported) -> None:
    assert accelerator_objects.read_report(value) == expected


def starting(*containers: tuple[str, str], message: str = "") -> paths.Object:
    """A pod on a node whose containers wait, each with a reason."""
    states: list[paths.Json] = [
        {"name": name, "state": {"waiting": {"reason": reason, "message": message}}} for name, reason in containers
    ]
    return builders.replaced(
        builders.replaced(existing.running(gpus=1), "/status/phase", "Pending"), "/status/containerStatuses", states
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (starting(("main", "ImagePullBackOff"), message="not found"), "container main: ImagePullBackOff: not found"),
        (starting(("a", "ContainerCreating"), ("b", "ErrImagePull")), "container b: ErrImagePull"),
        (starting(("a", "ContainerCreating")), "container a: ContainerCreating"),
        (existing.running(gpus=1), ""),
    ],
)
def test_a_pod_that_starts_has_the_words_of_the_kubelet(value: paths.Object, words: str) -> None:
    assert [pod.starting for pod in only(built([value])).pods] == [words]


def test_elastic_training_goes_on_with_the_least_of_its_pods() -> None:
    worker = template(container(gpus=1))
    job = existing.existing(pytorch_job(worker, workers=4))
    elastic = existing.existing(pytorch_job(worker, workers=4, elastic_policy={"minReplicas": 2, "maxReplicas": 4}))

    assert only(built([job])).gang_minimum is None
    assert only(built([elastic])).gang_minimum == 2


def test_the_pods_of_a_leader_worker_set_know_their_group_and_its_size() -> None:
    value = builders.custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {}, name="llm")
    groups: paths.Object = {"size": 4, "workerTemplate": template(container(gpus=1))}
    value = builders.replaced(value, "/spec/leaderWorkerTemplate", groups)
    leader_workers = existing.existing(value)
    pod = existing.running(owner=leader_workers, labels={"leaderworkerset.sigs.k8s.io/group-key": "a1b2"})

    workload = only(built([leader_workers, pod]))
    assert (workload.gang_minimum, [each.group for each in workload.pods]) == (4, ["a1b2"])
