"""Kinds of ray.io: KubeRay keeps replicas between the bounds, several hosts a replica (docs/domain/kinds.md#ray)."""

import json

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, totals, workload
from usher import model, paths, quantities

NO_BOUND = 2**31 - 1
"""The default of the CRDs for a missing maxReplicas."""


def worker_count(group: paths.Object, *, autoscaling: bool | None = None) -> tuple[int, int | None]:
    head, workers = counts(builders.ray_cluster(group, autoscaling=autoscaling))
    assert head == ("head", "/spec/headGroupSpec/template", 1, 1)
    name, path, minimum, maximum = workers
    assert (name, path) == ("workers", "/spec/workerGroupSpecs/0/template")
    return minimum, maximum


def test_a_cluster_is_its_head_and_its_worker_groups() -> None:
    cluster = builders.ray_cluster(
        builders.ray_group("small", replicas=2), builders.ray_group("large", replicas=3, hosts=4)
    )

    assert counts(cluster) == [
        ("head", "/spec/headGroupSpec/template", 1, 1),
        ("small", "/spec/workerGroupSpecs/0/template", 2, 2),
        ("large", "/spec/workerGroupSpecs/1/template", 12, 12),
    ]


@pytest.mark.parametrize(
    ("replicas", "lowest", "highest", "pods"),
    [
        (3, None, None, 3),
        (None, None, None, 0),
        (None, 2, None, 2),
        (1, 2, 5, 2),
        (7, 2, 5, 5),
        (4, 2, 5, 4),
        (4, 2, NO_BOUND, 4),
        (4, 6, 5, 5),  # with contradicting bounds KubeRay takes the higher one
    ],
)
def test_replicas_are_kept_between_the_bounds(
    replicas: int | None, lowest: int | None, highest: int | None, pods: int
) -> None:
    group = builders.ray_group(replicas=replicas, min_replicas=lowest, max_replicas=highest)

    assert worker_count(group) == (pods, pods)


def test_an_autoscaled_group_has_its_bounds_for_a_count_times_the_hosts() -> None:
    group = builders.ray_group(replicas=3, min_replicas=1, max_replicas=5, hosts=2)

    assert worker_count(group, autoscaling=True) == (2, 10)
    assert worker_count(group, autoscaling=False) == (6, 6)


@pytest.mark.parametrize("highest", [None, NO_BOUND])
def test_nothing_bounds_an_autoscaled_group_without_a_maximum(highest: int | None) -> None:
    cluster = builders.ray_cluster(builders.ray_group(min_replicas=1, max_replicas=highest), autoscaling=True)
    (_, group) = readable_workload(cluster).pod_sets

    assert group.count == model.Count(minimum=1, maximum=None, reason="in-tree autoscaling without maxReplicas")


def test_contradicting_bounds_of_an_autoscaled_group_make_no_count_upside_down() -> None:
    assert worker_count(builders.ray_group(min_replicas=6, max_replicas=5), autoscaling=True) == (5, 5)


@pytest.mark.parametrize("autoscaling", [True, False])
def test_a_suspended_group_makes_no_pods(autoscaling: bool) -> None:
    group = builders.ray_group(replicas=3, min_replicas=2, max_replicas=5, suspend=True)

    assert worker_count(group, autoscaling=autoscaling) == (0, 0)


def test_a_cluster_may_have_no_workers() -> None:
    assert counts(builders.ray_cluster()) == [("head", "/spec/headGroupSpec/template", 1, 1)]


def test_a_job_makes_its_cluster_and_a_pod_that_submits_it() -> None:
    assert counts(builders.ray_job(builders.ray_group(replicas=2))) == [
        ("head", "/spec/rayClusterSpec/headGroupSpec/template", 1, 1),
        ("workers", "/spec/rayClusterSpec/workerGroupSpecs/0/template", 2, 2),
        ("submitter", "/spec/submitterPodTemplate", 1, 1),
    ]


@pytest.mark.parametrize("mode", [None, "K8sJobMode", ""])
def test_a_job_is_submitted_by_a_pod_of_its_own(mode: str | None) -> None:
    job = builders.ray_job(submitter=builders.template(builders.container(gpus=1)), submission_mode=mode)

    assert counts(job)[-1] == ("submitter", "/spec/submitterPodTemplate", 1, 1)
    assert totals(job) == {builders.GPU: ("1", "1")}


def test_a_submitter_without_a_template_has_no_requests_and_cannot_be_changed() -> None:
    submitter = readable_workload(builders.ray_job()).pod_sets[-1]
    (container,) = submitter.containers

    assert (container.name, container.path) == ("ray-job-submitter", "/spec")
    assert container.limits == {"cpu": quantities.parse(1), "memory": quantities.parse("1Gi")}
    assert submitter.requests == ()
    assert not submitter.changeable
    assert readable_workload(builders.ray_job(submitter=builders.template())).pod_sets[-1].changeable


@pytest.mark.parametrize("mode", ["HTTPMode", "InteractiveMode", "SidecarMode"])
@pytest.mark.parametrize("submitter", [None, builders.template()])
def test_other_modes_of_submission_make_no_pod(mode: str, submitter: paths.Object | None) -> None:
    job = builders.ray_job(submitter=submitter, submission_mode=mode)

    assert [name for name, *_ in counts(job)] == ["head"]


def test_an_explicit_null_is_the_default_mode_of_submission() -> None:
    job = builders.replaced(builders.ray_job(submitter=builders.template()), "/spec/submissionMode", None)

    assert [name for name, *_ in counts(job)] == ["head", "submitter"]


@pytest.mark.parametrize("submitter", [None, builders.template()])
def test_a_job_that_selects_a_cluster_makes_only_its_submitter(submitter: paths.Object | None) -> None:
    selecting = builders.ray_job(
        builders.ray_group(replicas=2), cluster_selector={"ray.io/cluster": "shared"}, submitter=submitter
    )

    assert [name for name, *_ in counts(selecting)] == ["submitter"]


def test_a_selector_that_is_empty_selects_no_cluster() -> None:
    assert [name for name, *_ in counts(builders.ray_job(cluster_selector={}))] == ["head", "submitter"]


def test_a_retried_job_gets_its_next_cluster_when_the_one_before_is_gone() -> None:
    job = builders.replaced(builders.ray_job(builders.ray_group(replicas=2)), "/spec/backoffLimit", 3)

    assert counts(job) == counts(builders.ray_job(builders.ray_group(replicas=2)))


def service(*groups: paths.Object, upgrade: str | None = None, autoscaling: bool | None = None) -> paths.Object:
    spec: paths.Object = {"rayClusterConfig": builders.ray_cluster_spec(*groups, autoscaling=autoscaling)}
    if upgrade is not None:
        spec["upgradeStrategy"] = {"type": upgrade}
    return builders.custom("ray.io/v1", "RayService", spec)


@pytest.mark.parametrize("upgrade", [None, "NewCluster", "NewClusterWithIncrementalUpgrade"])
def test_an_upgrade_of_a_service_runs_two_clusters(upgrade: str | None) -> None:
    value = service(builders.ray_group(replicas=3), upgrade=upgrade)

    assert counts(value) == [
        ("head", "/spec/rayClusterConfig/headGroupSpec/template", 1, 2),
        ("workers", "/spec/rayClusterConfig/workerGroupSpecs/0/template", 3, 6),
    ]
    reasons = {found.count.reason for found in readable_workload(value).pod_sets}
    assert reasons == {"an upgrade without downtime runs two clusters"}


def test_a_service_that_is_never_upgraded_runs_one_cluster() -> None:
    assert [pods for _, _, *pods in counts(service(builders.ray_group(replicas=3), upgrade="None"))] == [[1, 1], [3, 3]]


@pytest.mark.parametrize(("highest", "pods"), [(4, (1, 8)), (None, (1, None))])
def test_each_cluster_of_an_upgrade_may_grow_to_its_bounds(highest: int | None, pods: tuple[int, int | None]) -> None:
    value = service(builders.ray_group(min_replicas=1, max_replicas=highest), autoscaling=True)

    assert counts(value)[1][2:] == pods


def test_nothing_bounds_the_pods_of_a_cron_job() -> None:
    job = builders.ray_job(builders.ray_group(replicas=2))
    value = builders.custom("ray.io/v1", "RayCronJob", {"schedule": "0 3 * * *", "jobTemplate": job["spec"]})

    assert counts(value) == [
        ("head", "/spec/jobTemplate/rayClusterSpec/headGroupSpec/template", 0, None),
        ("workers", "/spec/jobTemplate/rayClusterSpec/workerGroupSpecs/0/template", 0, None),
        ("submitter", "/spec/jobTemplate/submitterPodTemplate", 0, None),
    ]
    found = readable_workload(value)
    assert {each.count.reason for each in found.pod_sets} == {"nothing keeps the runs of a RayCronJob from overlapping"}
    assert found.queue_label_path is None


def test_a_cron_job_is_suspended_by_its_own_field() -> None:
    value = builders.custom("ray.io/v1", "RayCronJob", {"suspend": True, "jobTemplate": {}})

    assert readable_workload(value).suspended


SIDECAR: paths.Object = {"resources": {"limits": {builders.GPU: 1}}, "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}


def test_the_autoscaler_runs_beside_the_head_with_what_it_is_given() -> None:
    group = builders.ray_group(replicas=1, max_replicas=1)
    value = builders.replaced(builders.ray_cluster(group, autoscaling=True), "/spec/autoscalerOptions", SIDECAR)
    head, workers = readable_workload(value).pod_sets

    main, autoscaler = head.containers
    assert (main.name, main.trains) == ("main", True)
    assert (autoscaler.name, autoscaler.path, autoscaler.trains) == ("autoscaler", "/spec/autoscalerOptions", False)
    assert [each.path for each in autoscaler.environment] == ["/spec/autoscalerOptions/env/0"]
    assert [request.path for request in head.requests] == ["/spec/autoscalerOptions/resources/limits/nvidia.com~1gpu"]
    assert len(workers.containers) == 1


def test_without_autoscaling_nothing_runs_beside_the_head() -> None:
    value = builders.replaced(builders.ray_cluster(), "/spec/autoscalerOptions", SIDECAR)

    assert totals(value) == {}


def test_an_autoscaler_without_resources_gets_the_defaults_of_kuberay() -> None:
    value = builders.replaced(builders.ray_cluster(autoscaling=True), "/spec/autoscalerOptions", {"version": "v2"})
    autoscaler = readable_workload(value).pod_sets[0].containers[1]

    assert autoscaler.limits == {"cpu": quantities.parse("500m"), "memory": quantities.parse("512Mi")}


def test_the_collector_of_the_history_server_runs_in_every_pod() -> None:
    history: paths.Object = {"collectorOptions": SIDECAR}
    cluster = builders.ray_cluster(builders.ray_group(replicas=3))

    assert totals(builders.replaced(cluster, "/spec/historyServerOptions", history)) == {builders.GPU: ("4", "4")}


def test_what_ray_may_hand_out_changes_nothing_about_the_pods() -> None:
    group: paths.Object = {
        **builders.ray_group(replicas=1),
        "resources": {"GPU": "8"},
        "rayStartParams": {"num-gpus": "8"},
    }

    assert totals(builders.ray_cluster(group)) == {}


@pytest.mark.parametrize(
    ("label", "scheduler"),
    [
        ("volcano.sh/queue-name", "Volcano"),
        ("kai.scheduler/queue", "KAI-Scheduler"),
        ("ray.io/gang-scheduling-enabled", "YuniKorn or the coscheduling plugin"),
    ],
)
def test_a_label_tells_for_which_scheduler_a_cluster_was_written(label: str, scheduler: str) -> None:
    (head,) = readable_workload(builders.ray_cluster(labels={label: "research"})).pod_sets

    assert head.scheduler == model.Scheduler(
        name="default-scheduler",
        reason=f"the template names no scheduler; its label {label} is for {scheduler}, which places the pods "
        "where KubeRay is configured with it",
    )


def test_no_label_hides_the_scheduler_that_a_template_names() -> None:
    cluster = builders.ray_cluster(
        head=builders.template(schedulerName="volcano"), labels={"kai.scheduler/queue": "research"}
    )

    assert readable_workload(cluster).pod_sets[0].scheduler == model.Scheduler(name="volcano")


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_both_versions_are_known(version: str) -> None:
    for value in (builders.ray_cluster(), builders.ray_job(), service()):
        assert counts(builders.replaced(value, "/apiVersion", f"ray.io/{version}"))


def test_what_the_kinds_are_for_and_where_kueue_looks() -> None:
    cluster, job = readable_workload(builders.ray_cluster(suspend=True)), readable_workload(builders.ray_job())

    assert (cluster.role, job.role) == (model.Role.BATCH, model.Role.TRAINING)
    assert (cluster.suspended, job.suspended) == (True, False)
    assert readable_workload(service()).role is model.Role.INFERENCE
    assert cluster.queue_label_path == job.queue_label_path == "/metadata"


def served(text: str) -> list[tuple[str, int, int]]:
    """Name, GPUs on one node and of all replicas, in thousandths, of what a `serveConfigV2` asks for."""
    value = builders.custom("ray.io/v1", "RayService", {"serveConfigV2": text, "rayClusterConfig": {}})
    found = workload(value).view["rayService"]["spec"]["serveConfigV2"]
    return [(each["name"], each["onOneNode"], each["together"]) for each in found]


def deployment(**fields: builders.JsonValue) -> str:
    return json.dumps({"applications": [{"name": "llm", "deployments": [{"name": "Chat", **fields}]}]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (deployment(ray_actor_options={"num_gpus": 2}, num_replicas=3), [("Chat", 2000, 6000)]),
        (deployment(ray_actor_options={"num_gpus": 0.5}), [("Chat", 500, 500)]),
        (deployment(placement_group_bundles=[{"CPU": 1, "GPU": 4}, {"GPU": 4}]), [("Chat", 4000, 8000)]),
        (
            deployment(placement_group_bundles=[{"GPU": 4}, {"GPU": 4}], placement_group_strategy="STRICT_PACK"),
            [("Chat", 8000, 8000)],
        ),
        (
            deployment(ray_actor_options={"num_gpus": 1}, num_replicas="auto", autoscaling_config={"min_replicas": 2}),
            [("Chat", 1000, 2000)],
        ),
        (
            deployment(
                ray_actor_options={
                    "num_gpus": 2,
                    "runtime_env": {"env_vars": {"TENSOR_PARALLELISM": "2", "PIPELINE_PARALLELISM": "2"}},
                }
            ),
            [("Chat", 2000, 6000)],
        ),
        (
            deployment(ray_actor_options={"num_gpus": 2, "runtime_env": {"env_vars": {"TENSOR_PARALLELISM": "2"}}}),
            [("Chat", 2000, 2000)],
        ),
        (deployment(ray_actor_options={"num_cpus": 2}), []),
        ("applications: [{num_gpus: ", []),
        ("num_gpus: 1\n---\nnum_gpus: 2\n", []),
        ("GPU", []),
    ],
)
def test_a_service_says_what_its_replicas_need(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert served(text) == expected


def test_a_model_of_ray_serve_needs_a_gpu_for_each_rank() -> None:
    model_config: builders.JsonValue = {
        "model_loading_config": {"model_id": "chat"},
        "engine_kwargs": {"tensor_parallel_size": 4, "pipeline_parallel_size": 2},
        "deployment_config": {"autoscaling_config": {"min_replicas": 2}},
    }

    assert served(json.dumps({"applications": [{"args": {"llm_configs": [model_config]}}]})) == [("chat", 1000, 16000)]
