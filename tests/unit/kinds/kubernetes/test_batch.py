"""Job and CronJob (docs/domain/kinds.md#batch)."""

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, totals
from usher import model


@pytest.mark.parametrize(
    ("parallelism", "completions", "pods"),
    [
        (None, None, 1),
        (4, None, 4),
        (4, 10, 4),
        (10, 4, 4),
        (None, 10, 1),
        (0, 5, 0),
        (5, 0, 0),
    ],
)
def test_a_job_runs_its_parallelism_but_never_more_than_its_completions(
    parallelism: int | None, completions: int | None, pods: int
) -> None:
    job = builders.job(parallelism=parallelism, completions=completions)

    assert counts(job) == [("", "/spec/template", pods, pods)]


@pytest.mark.parametrize("policy", ["Forbid", "Replace"])
def test_a_cron_job_that_forbids_overlap_runs_one_job_at_a_time(policy: str) -> None:
    cron_job = builders.cron_job(parallelism=4, completions=3, concurrency_policy=policy)

    assert counts(cron_job) == [("", "/spec/jobTemplate/spec/template", 0, 3)]


@pytest.mark.parametrize("policy", ["Allow", None])
def test_nothing_bounds_a_cron_job_whose_runs_may_overlap(policy: str | None) -> None:
    workload = readable_workload(builders.cron_job(parallelism=4, concurrency_policy=policy))

    assert workload.pods == model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")


def test_the_accelerators_of_an_unbounded_workload_are_unbounded() -> None:
    template = builders.template(builders.container(gpus=2))

    assert totals(builders.cron_job(template)) == {"nvidia.com/gpu": ("0", "unbounded")}
    assert totals(builders.job(template, parallelism=4)) == {"nvidia.com/gpu": ("8", "8")}


def test_both_can_be_suspended() -> None:
    assert readable_workload(builders.job(suspend=True)).suspended
    assert not readable_workload(builders.job(suspend=False)).suspended
    assert not readable_workload(builders.job()).suspended
    assert readable_workload(builders.cron_job(suspend=True)).suspended


def test_kueue_sees_the_jobs_of_a_cron_job_with_the_labels_of_the_job_template() -> None:
    queue = {"kueue.x-k8s.io/queue-name": "research"}
    found = readable_workload(builders.cron_job(labels={"app": "nightly"}, job_labels=queue))

    assert found.queue_label_path == "/spec/jobTemplate/metadata"
    assert found.queue_labels == queue
    assert found.labels == {"app": "nightly"}
    assert readable_workload(builders.cron_job(labels=queue)).queue_labels == {}


def test_both_are_batch_work() -> None:
    assert readable_workload(builders.job()).role is model.Role.BATCH
    assert readable_workload(builders.cron_job()).role is model.Role.BATCH
