"""The fields of each kind that make its pods a gang on Volcano (docs/domain/volcano.md#routing), and their values."""

import pytest
from msgspec.structs import replace

import builders
from unit.workloads.normalised import readable_workload, unknowns, workload
from usher import model, paths
from usher.kinds.reading.values import Objects
from usher.kinds.registry import PODS

QUEUE_ANNOTATION = "scheduling.volcano.sh~1queue-name"
KUBEFLOW = ("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
OF_OWNERS = model.GangPlaces(
    queue=f"/spec/template/metadata/annotations/{QUEUE_ANNOTATION}",
    minimum="/metadata/annotations/scheduling.volcano.sh~1group-min-member",
    on_templates=True,
    counted_by_operator=False,
)
OF_RAY = model.GangPlaces(
    queue="/metadata/labels/volcano.sh~1queue-name", priority_class="/metadata/labels/ray.io~1priority-class-name"
)
TRAINER = "trainer.kubeflow.org/v1alpha1"


def places(group: str, kind: str) -> model.GangPlaces:
    return PODS[group, kind].gang_places


def of_volcano(spec: str) -> model.GangPlaces:
    return model.GangPlaces(
        queue=f"{spec}/queue",
        minimum=f"{spec}/minAvailable",
        priority_class=f"{spec}/priorityClassName",
        scheduler=f"{spec}/schedulerName",
    )


def of_spark(spec: str) -> model.GangPlaces:
    return model.GangPlaces(
        queue=f"{spec}/batchSchedulerOptions/queue",
        priority_class=f"{spec}/batchSchedulerOptions/priorityClassName",
        scheduler=f"{spec}/batchScheduler",
    )


@pytest.mark.parametrize("kind", KUBEFLOW)
def test_the_jobs_of_kubeflow_have_a_scheduling_policy(kind: str) -> None:
    policy = "/spec/runPolicy/schedulingPolicy"

    assert places("kubeflow.org", kind) == model.GangPlaces(
        queue=f"{policy}/queue",
        minimum=f"{policy}/minAvailable",
        priority_class=f"{policy}/priorityClass",
        on_templates=True,
    )


@pytest.mark.parametrize(("group", "kind"), [("batch", "Job"), ("apps", "Deployment"), ("apps", "StatefulSet")])
def test_what_owns_its_pods_says_how_many_and_the_pods_name_the_queue(group: str, kind: str) -> None:
    native = "/spec/scheduling" if kind == "Job" else None

    assert places(group, kind) == replace(OF_OWNERS, native=native)


@pytest.mark.parametrize("kind", ["RayCluster", "RayJob"])
def test_ray_reads_labels_and_names_the_scheduler_itself(kind: str) -> None:
    assert places("ray.io", kind) == OF_RAY


def test_a_leader_worker_set_has_a_place_for_a_queue_and_no_place_for_a_size() -> None:
    found = places("leaderworkerset.x-k8s.io", "LeaderWorkerSet")

    assert found == model.GangPlaces(queue=f"/metadata/annotations/{QUEUE_ANNOTATION}", on_templates=True)


def test_spark_has_fields_of_its_own() -> None:
    assert places("sparkoperator.k8s.io", "SparkApplication") == of_spark("/spec")
    assert places("sparkoperator.k8s.io", "ScheduledSparkApplication") == of_spark("/spec/template")


def test_volcanos_own_kinds_have_them_in_the_spec_of_their_job() -> None:
    assert places("batch.volcano.sh", "Job") == of_volcano("/spec")
    assert places("flow.volcano.sh", "JobTemplate") == of_volcano("/spec")
    assert places("batch.volcano.sh", "CronJob") == of_volcano("/spec/jobTemplate/spec")


def test_a_train_job_names_its_queue_and_leaves_the_rest_to_its_runtime() -> None:
    found = places("trainer.kubeflow.org", "TrainJob")

    assert found == model.GangPlaces(queue=f"/metadata/annotations/{QUEUE_ANNOTATION}")


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("", "Pod"),
        ("apps", "DaemonSet"),
        ("argoproj.io", "Workflow"),
        ("batch", "CronJob"),
        ("jobset.x-k8s.io", "JobSet"),
        ("kubeflow.org", "Notebook"),
        ("ray.io", "RayCronJob"),
        ("ray.io", "RayService"),
        ("serving.knative.dev", "Service"),
        ("serving.kserve.io", "InferenceService"),
        ("tekton.dev", "PipelineRun"),
    ],
)
def test_of_all_other_kinds_volcano_makes_no_gang(group: str, kind: str) -> None:
    assert places(group, kind) == model.NO_GANG_PLACES


def test_only_volcano_itself_counts_nothing_where_it_is_not_told() -> None:
    uncounted = {kind for (_, kind), known in PODS.items() if not known.gang_places.counted_by_operator}

    assert uncounted == {"Deployment", "Job", "StatefulSet"}


def leader_worker_set(size: builders.JsonValue) -> paths.Object:
    spec: dict[str, builders.JsonValue] = {
        "leaderWorkerTemplate": {"size": size, "workerTemplate": builders.template()},
    }
    return builders.custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


def test_a_minimum_is_read_where_the_kind_has_it() -> None:
    policy = {"schedulingPolicy": {"minAvailable": 3}}
    volcano = builders.replaced(builders.volcano_job(), "/spec/minAvailable", 2)

    assert readable_workload(builders.pytorch_job(run_policy=policy)).gang.minimum == 3
    assert readable_workload(volcano).gang.minimum == 2
    assert readable_workload(leader_worker_set(4)).gang.minimum == 4
    assert readable_workload(builders.ray_cluster()).gang.minimum is None


def test_a_minimum_in_an_annotation_forms_the_gang_by_itself() -> None:
    job = builders.job(parallelism=4, annotations={"scheduling.volcano.sh/group-min-member": "4"})
    gang = readable_workload(job).gang

    assert gang.minimum is None
    assert gang.formed_by == "a PodGroup that Volcano makes for the owner"


@pytest.mark.parametrize(
    "value",
    [
        builders.pytorch_job(run_policy={"schedulingPolicy": {"priorityClass": "urgent"}}),
        builders.ray_cluster(labels={"ray.io/priority-class-name": "urgent"}),
        builders.replaced(builders.volcano_job(), "/spec/priorityClassName", "urgent"),
        builders.custom(
            "sparkoperator.k8s.io/v1beta2",
            "SparkApplication",
            {"driver": {}, "executor": {}, "batchSchedulerOptions": {"priorityClassName": "urgent"}},
        ),
    ],
    ids=lambda value: str(value["kind"]),
)
def test_the_class_of_a_gang_is_read_where_the_kind_has_it(value: paths.Object) -> None:
    assert readable_workload(value).gang.priority_class == "urgent"


def test_a_class_that_is_not_a_text_is_unknown() -> None:
    value = builders.pytorch_job(run_policy={"schedulingPolicy": {"priorityClass": 7}})

    assert [path for path, _ in unknowns(value)] == ["/spec/runPolicy/schedulingPolicy/priorityClass"]
    assert workload(value).gang.priority_class == ""


def runtime(pod_group_policy: builders.JsonValue) -> paths.Object:
    job = builders.replicated_job("node", builders.template(schedulerName="volcano"))
    spec: dict[str, builders.JsonValue] = {
        "podGroupPolicy": pod_group_policy,
        "template": {"spec": {"replicatedJobs": [job]}},
    }
    return builders.custom(TRAINER, "ClusterTrainingRuntime", spec, name="torch", namespace=None)


TRAIN_JOB = builders.custom(TRAINER, "TrainJob", {"runtimeRef": {"name": "torch"}})


@pytest.mark.parametrize(
    ("policy", "scheduler", "formed_by"),
    [
        ({"volcano": {}}, "volcano", "a PodGroup of Volcano that its operator makes"),
        (
            {"coscheduling": {"scheduleTimeoutSeconds": 60}},
            "coscheduling",
            "a PodGroup of the coscheduling plugin that its operator makes",
        ),
        ({}, "", ""),
        (None, "", ""),
    ],
)
def test_of_a_train_job_its_runtime_says_who_makes_the_gang(
    policy: builders.JsonValue, scheduler: str, formed_by: str
) -> None:
    for found in (readable_workload(TRAIN_JOB, objects=Objects([runtime(policy)])), readable_workload(runtime(policy))):
        assert found.gang.scheduler == scheduler
        assert found.gang.formed_by == formed_by


def test_a_missing_runtime_leaves_the_scheduler_unknown() -> None:
    assert workload(TRAIN_JOB).gang.scheduler == ""
