"""Kinds of other projects, with their definitions: routed, queued, completed, and valid all the same."""

import json
from typing import Any

import pytest

import builders
from e2e import crds
from e2e.cluster import Cluster, Object
from usher import paths

pytestmark = [pytest.mark.uses_definitions, pytest.mark.usefixtures("webhooks")]

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
VARIABLES = ["NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"]
TRAINING = builders.template(builders.container(gpus=8))
ONCE = builders.template(builders.container(gpus=1), restartPolicy="Never")

in_volcano_namespace = pytest.mark.parametrize("namespace", ["volcano-"], indirect=True)
in_queued_namespace = pytest.mark.parametrize("namespace", ["queued-"], indirect=True)


@pytest.fixture(scope="module", autouse=True)
def kinds(cluster: Cluster) -> None:
    crds.install(
        cluster,
        [
            "batch.volcano.sh/jobs",
            "jobset.x-k8s.io/jobsets",
            "kubeflow.org/mpijobs",
            "kubeflow.org/pytorchjobs",
            "ray.io/rayjobs",
        ],
    )


def at(value: Object, pointer: str) -> Any:
    return paths.resolve(value, pointer)


def variables(template: Object) -> list[str]:
    return [entry["name"] for entry in template["spec"]["containers"][0].get("env", [])]


def is_known_to_its_schema(cluster: Cluster, stored: Object) -> bool:
    """Whether the API server takes the object as it is stored, and has no field of it to prune."""
    printed = cluster.kubectl(
        "replace", "--dry-run=server", "--validate=strict", "--filename=-", stdin=json.dumps(stored), with_warnings=True
    )
    return printed.endswith(" replaced (server dry run)\n") and "Warning" not in printed


@in_volcano_namespace
def test_an_mpi_job_is_routed_to_volcano_with_all_its_templates(cluster: Cluster, namespace: str) -> None:
    """Its workers get no variables of the fabric, because sshd would not hand them on to the ranks."""
    manifest = builders.mpi_job(TRAINING, workers=2, namespace=namespace)
    job = cluster.create(builders.replaced(manifest, "/spec/slotsPerWorker", 8))

    replicas = at(job, "/spec/mpiReplicaSpecs")
    assert {name: each["template"]["spec"]["schedulerName"] for name, each in replicas.items()} == {
        "Launcher": "volcano",
        "Worker": "volcano",
    }
    assert at(job, "/spec/runPolicy/schedulingPolicy") == {"queue": "research"}
    assert variables(replicas["Worker"]["template"]) == []
    assert at(job, "/metadata/annotations") == {
        "gpu-usher.io/mutations": "gpu-node-affinity,gpu-toleration,volcano-routing"
    }
    assert is_known_to_its_schema(cluster, job)


@in_volcano_namespace
def test_a_pytorch_job_is_routed_to_volcano_and_knows_its_fabric(cluster: Cluster, namespace: str) -> None:
    # By this name its operator knows the container that trains.
    training = builders.template(builders.container("pytorch", gpus=8))
    job = cluster.create(builders.pytorch_job(training, workers=2, namespace=namespace))

    worker = at(job, "/spec/pytorchReplicaSpecs/Worker/template")
    assert worker["spec"]["schedulerName"] == "volcano"
    assert at(job, "/spec/runPolicy/schedulingPolicy") == {"queue": "research"}
    assert variables(worker) == VARIABLES
    assert is_known_to_its_schema(cluster, job)


@pytest.mark.parametrize(
    ("job", "template"),
    [
        (
            builders.job_set(builders.replicated_job(pod_template=TRAINING, replicas=2)),
            "/spec/replicatedJobs/0/template/spec/template",
        ),
        (
            builders.replaced(
                builders.ray_job(builders.ray_group(pod_template=TRAINING, replicas=2)),
                "/spec/shutdownAfterJobFinishes",
                True,
            ),
            "/spec/rayClusterSpec/workerGroupSpecs/0/template",
        ),
        (builders.volcano_job(builders.volcano_task(pod_template=TRAINING, replicas=2)), "/spec/tasks/0/template"),
    ],
    ids=["JobSet", "RayJob", "VolcanoJob"],
)
def test_a_training_job_is_completed_and_still_valid(
    cluster: Cluster, namespace: str, job: Object, template: str
) -> None:
    stored = cluster.create(builders.replaced(job, "/metadata/namespace", namespace))

    spec = at(stored, template)["spec"]
    assert at(stored, "/metadata/annotations") == {
        "gpu-usher.io/mutations": "gpu-node-affinity,gpu-toleration,nccl-environment"
    }
    assert spec["tolerations"] == [builders.toleration("nvidia.com/gpu", operator="Exists", effect="NoSchedule")]
    assert "nodeAffinity" in spec["affinity"]
    assert variables(at(stored, template)) == VARIABLES
    assert is_known_to_its_schema(cluster, stored)


@in_queued_namespace
@pytest.mark.parametrize("suspend", [True, False], ids=["suspended", "not suspended"])
def test_a_job_is_put_into_its_queue_and_stays_suspended_or_not(
    cluster: Cluster, namespace: str, *, suspend: bool
) -> None:
    """Kueue reads the label and suspends the job; that is not for us to do."""
    job = cluster.create(builders.job(ONCE, suspend=suspend, namespace=namespace))

    assert at(job, "/metadata/labels") == {QUEUE_LABEL: "research"}
    assert at(job, "/spec/suspend") is suspend
    assert QUEUE_LABEL not in at(job, "/spec/template/metadata").get("labels", {})
    assert "affinity" not in at(job, "/spec/template/spec")


@in_queued_namespace
def test_a_cron_job_puts_its_jobs_into_the_queue(cluster: Cluster, namespace: str) -> None:
    cron_job = cluster.create(builders.cron_job(ONCE, suspend=True, namespace=namespace))
    cluster.kubectl("create", "job", "tonight", "--from=cronjob/example", f"--namespace={namespace}")
    job = cluster.get("Job", "tonight", namespace=namespace, api_version="batch/v1")

    assert at(cron_job, "/spec/jobTemplate/metadata/labels") == {QUEUE_LABEL: "research"}
    assert "labels" not in cron_job["metadata"]
    assert at(cron_job, "/spec/suspend") is True
    assert at(job, "/metadata/labels") == {QUEUE_LABEL: "research"}


@in_queued_namespace
def test_a_pytorch_job_in_a_queue_is_left_for_the_queue_to_place(cluster: Cluster, namespace: str) -> None:
    job = cluster.create(builders.pytorch_job(TRAINING, workers=2, namespace=namespace))

    assert at(job, "/metadata/labels") == {QUEUE_LABEL: "research"}
    assert "affinity" not in at(job, "/spec/pytorchReplicaSpecs/Worker/template/spec")
    assert is_known_to_its_schema(cluster, job)
