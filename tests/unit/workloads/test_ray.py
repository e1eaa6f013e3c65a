"""RayCluster and RayJob: KubeRay keeps replicas between the bounds, several hosts a replica (gpu-domain 1.1)."""

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload
from usher import model, paths

NO_BOUND = 2**31 - 1
"""What the CRDs fill in for a missing maxReplicas."""


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


def test_a_job_makes_its_cluster() -> None:
    assert counts(builders.ray_job(builders.ray_group(replicas=2))) == [
        ("head", "/spec/rayClusterSpec/headGroupSpec/template", 1, 1),
        ("workers", "/spec/rayClusterSpec/workerGroupSpecs/0/template", 2, 2),
    ]


@pytest.mark.parametrize("mode", [None, "K8sJobMode", ""])
def test_a_job_is_submitted_by_a_pod_of_its_own(mode: str | None) -> None:
    job = builders.ray_job(submitter=builders.template(), submission_mode=mode)

    assert counts(job)[-1] == ("submitter", "/spec/submitterPodTemplate", 1, 1)


@pytest.mark.parametrize("mode", ["HTTPMode", "InteractiveMode", "SidecarMode"])
def test_other_modes_of_submission_make_no_pod(mode: str) -> None:
    job = builders.ray_job(submitter=builders.template(), submission_mode=mode)

    assert [name for name, *_ in counts(job)] == ["head"]


def test_an_explicit_null_is_the_default_mode_of_submission() -> None:
    job = builders.replaced(builders.ray_job(submitter=builders.template()), "/spec/submissionMode", None)

    assert [name for name, *_ in counts(job)] == ["head", "submitter"]


def test_a_job_that_selects_a_cluster_makes_none() -> None:
    selecting = builders.ray_job(builders.ray_group(replicas=2), cluster_selector={"ray.io/cluster": "shared"})

    assert counts(selecting) == []
    assert [name for name, *_ in counts(builders.ray_job(cluster_selector={}))] == ["head"]


def test_a_job_that_selects_a_cluster_still_has_its_submitter() -> None:
    selecting = builders.ray_job(cluster_selector={"ray.io/cluster": "shared"}, submitter=builders.template())

    assert [name for name, *_ in counts(selecting)] == ["submitter"]


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_both_versions_are_known(version: str) -> None:
    for value in (builders.ray_cluster(), builders.ray_job()):
        assert counts(builders.replaced(value, "/apiVersion", f"ray.io/{version}"))


def test_what_the_kinds_are_for_and_where_kueue_looks() -> None:
    cluster, job = readable_workload(builders.ray_cluster(suspend=True)), readable_workload(builders.ray_job())

    assert (cluster.role, job.role) == (model.Role.BATCH, model.Role.TRAINING)
    assert (cluster.suspended, job.suspended) == (True, False)
    assert cluster.queue_label_path == job.queue_label_path == "/metadata"
