"""Routing to Volcano and KAI-Scheduler through the real evaluator: every check sees a routed workload as a gang."""

from typing import Any

import pytest

import builders
from acceptance import decided, evaluator
from unit.policy.mutation.clusters import Cluster, named
from usher import paths
from usher.kinds.reading.values import NO_OBJECTS, Lookup, Objects
from usher.policy.decision import Request
from usher.policy.mutation import merge

ABOUT_GANGS = {
    "gang-missing",
    "mixed-schedulers",
    "routed-to-another-scheduler",
    "unknown-scheduler",
    "volcano-without-gang",
}
TRAINER = "trainer.kubeflow.org/v1alpha1"
KINDS = [
    "PyTorchJob",
    "MPIJob",
    "Job",
    "Deployment",
    "StatefulSet",
    "LeaderWorkerSet",
    "RayCluster",
    "RayJob",
    "SparkApplication",
    "TrainJob",
    "JobSet",
]
ON_VOLCANO: dict[str, Any] = {"routing": [{"kinds": KINDS, "queue": "research"}]}
ON_KAI: dict[str, Any] = {
    "routing": [{"kinds": KINDS, "queue": "research", "scheduler": "kai", "schedulerName": "kai-gpu"}]
}
VOLCANO = (
    named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "podgroups.scheduling.volcano.sh"),
    named("scheduling.volcano.sh/v1beta1", "Queue", "research"),
)
TRAINING = {"gpu-usher.io/role": "training"}
TEMPLATE = builders.template(builders.container(gpus=8))
WORKERS = builders.ray_group("workers", TEMPLATE, replicas=4)
PYTORCH_JOB = builders.pytorch_job(TEMPLATE, workers=4, master=TEMPLATE)
JOB_SET = builders.job_set(builders.replicated_job("workers", TEMPLATE, parallelism=4))
LEADER_WORKER_SET = builders.custom(
    "leaderworkerset.x-k8s.io/v1",
    "LeaderWorkerSet",
    {"leaderWorkerTemplate": {"size": 4, "leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE}},
    labels=TRAINING,
)
SPARK_APPLICATION = builders.custom(
    "sparkoperator.k8s.io/v1beta2",
    "SparkApplication",
    {"driver": {}, "executor": {"instances": 4, "gpu": {"name": builders.GPU, "quantity": 1}}},
    labels=TRAINING,
)
RECREATED = builders.deployment(TEMPLATE, replicas=4, strategy="Recreate", labels=TRAINING)
AT_ONCE = builders.replaced(
    builders.stateful_set(TEMPLATE, replicas=4, labels=TRAINING), "/spec/podManagementPolicy", "Parallel"
)
TRAIN_JOB = builders.custom(
    TRAINER,
    "TrainJob",
    {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 4, "resourcesPerNode": {"limits": {builders.GPU: 8}}}},
)


def runtime(scheduler: str | None, policy: builders.JsonValue = None) -> paths.Object:
    job = builders.replicated_job("node", builders.template(builders.container("node"), schedulerName=scheduler))
    step: paths.Object = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    job = builders.replaced(job, "/template/metadata", step)
    spec: dict[str, builders.JsonValue] = {
        "mlPolicy": {"torch": {}},
        "podGroupPolicy": policy,
        "template": {"spec": {"replicatedJobs": [job]}},
    }
    return builders.custom(TRAINER, "ClusterTrainingRuntime", spec, name="torch", namespace=None)


def routed(value: paths.Object, site: dict[str, Any], objects: Lookup = NO_OBJECTS) -> merge.Merged:
    """An object after the routing alone."""
    scheduler = site["routing"][0].get("scheduler", "volcano")
    return evaluator(site).mutate(Request(value=value, objects=objects), only=f"gang/{scheduler}_routing")


def applied(result: merge.Merged) -> set[str]:
    return {intent.mutation for intent in result.applied}


def warnings(result: merge.Merged) -> list[str]:
    return [note.reason for note in result.warnings]


def identify(value: object) -> str:
    return str(value["kind"]) if isinstance(value, dict) else ""


@pytest.mark.parametrize(
    "value",
    [
        PYTORCH_JOB,
        builders.mpi_job(TEMPLATE, workers=4),
        builders.job(TEMPLATE, parallelism=4, labels=TRAINING),
        RECREATED,
        AT_ONCE,
        LEADER_WORKER_SET,
        builders.ray_cluster(WORKERS, labels=TRAINING),
        builders.ray_job(WORKERS),
        SPARK_APPLICATION,
    ],
    ids=identify,
)
def test_every_check_sees_a_workload_on_volcano_as_a_gang(value: paths.Object) -> None:
    result = routed(value, ON_VOLCANO)

    assert applied(result) == {"gang/volcano_routing"}
    assert warnings(result) == []
    assert routed(result.value, ON_VOLCANO).operations == ()
    decision = decided(result.value, ON_VOLCANO)
    assert {judgement.name for judgement in decision.judgements}.isdisjoint(ABOUT_GANGS)
    assert {unknown.check for unknown in decision.unknowns}.isdisjoint(
        {"gang/gang_missing", "gang/volcano_without_gang"}
    )


@pytest.mark.parametrize(
    "value",
    [
        PYTORCH_JOB,
        builders.mpi_job(TEMPLATE, workers=4),
        JOB_SET,
        LEADER_WORKER_SET,
        builders.ray_cluster(WORKERS, labels=TRAINING),
        builders.ray_job(WORKERS),
    ],
    ids=identify,
)
def test_every_check_sees_a_workload_on_kai_as_a_gang(value: paths.Object) -> None:
    result = routed(value, ON_KAI)

    assert applied(result) == {"gang/kai_routing"}
    assert warnings(result) == []
    assert routed(result.value, ON_KAI).operations == ()
    decision = decided(result.value, ON_KAI)
    assert {judgement.name for judgement in decision.judgements}.isdisjoint(ABOUT_GANGS)
    assert "gang/gang_missing" not in {unknown.check for unknown in decision.unknowns}


def test_the_pods_of_a_route_name_a_scheduler_that_is_known() -> None:
    pod = builders.pod(builders.container(gpus=8), owner_kind="PyTorchJob", schedulerName="kai-gpu")

    assert "unknown-scheduler" not in {judgement.name for judgement in decided(pod, ON_KAI).judgements}


def test_a_train_job_is_routed_where_its_runtime_makes_a_gang_on_volcano() -> None:
    known = runtime("volcano", {"volcano": {}})
    result = routed(TRAIN_JOB, ON_VOLCANO, Objects([known]))

    assert applied(result) == {"gang/volcano_routing"}
    assert [(operation["op"], operation["path"]) for operation in result.operations] == [
        ("add", "/metadata/annotations"),
        ("add", "/metadata/annotations/gpu-usher.io~1mutations"),
    ]
    found = {judgement.name for judgement in decided(result.value, ON_VOLCANO, known).judgements}
    assert found.isdisjoint(ABOUT_GANGS)


@pytest.mark.parametrize(
    ("known", "site", "warning"),
    [
        ([runtime("volcano")], ON_VOLCANO, "usher does not know that its runtime makes a PodGroup of Volcano"),
        ([], ON_VOLCANO, "usher does not know that its runtime makes a PodGroup of Volcano"),
        ([runtime(None, {"volcano": {}})], ON_VOLCANO, "a TrainJob cannot set schedulerName"),
        (
            [runtime("volcano", {"coscheduling": {}})],
            ON_VOLCANO,
            "usher does not know that its runtime makes a PodGroup of Volcano",
        ),
        ([runtime(None)], ON_KAI, "it cannot set schedulerName in node"),
    ],
)
def test_else_nothing_of_it_is_routed_and_the_user_hears_why(
    known: list[paths.Object], site: dict[str, Any], warning: str
) -> None:
    result = routed(TRAIN_JOB, site, Objects(known))

    assert result.operations == ()
    assert [text.partition("because ")[2].partition(";")[0] for text in warnings(result)] == [warning]


def test_a_train_job_on_a_runtime_that_names_kai_needs_its_queue_only() -> None:
    result = routed(TRAIN_JOB, ON_KAI, Objects([runtime("kai-gpu")]))

    assert applied(result) == {"gang/kai_routing"}
    assert "/metadata/labels" in [operation["path"] for operation in result.operations]


def test_without_volcano_or_its_queue_nothing_is_routed() -> None:
    crd, queue = VOLCANO

    assert routed(PYTORCH_JOB, ON_VOLCANO, Cluster(crd, queue)).operations != ()
    for cluster, missing in ((Cluster(crd), "Queue research"), (Cluster(queue), "CustomResourceDefinition podgroups")):
        result = routed(PYTORCH_JOB, ON_VOLCANO, cluster)
        assert result.operations == ()
        assert all(skipped.warned and skipped.reason.startswith(missing) for skipped in result.skipped)


def test_the_queue_that_the_api_server_writes_into_volcanos_own_jobs_gives_way() -> None:
    site = {"routing": [{"kinds": ["batch.volcano.sh/Job"], "queue": "research"}]}
    task = builders.volcano_task(pod_template=TEMPLATE, replicas=4)

    def queue(value: paths.Object) -> paths.Json:
        return paths.resolve(routed(value, site).value, "/spec/queue")

    assert queue(builders.volcano_job(task, queue="default")) == "research"
    assert queue(builders.volcano_job(task)) == "research"
    assert queue(builders.volcano_job(task, queue="urgent")) == "urgent"
