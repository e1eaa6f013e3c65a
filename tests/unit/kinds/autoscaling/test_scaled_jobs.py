"""ScaledJob (kedacore/keda at 8b4f083c). What a ScaledObject lets grow is in test_autoscalers.py."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns
from usher import model, paths

PATH = "/spec/jobTargetRef/template"


def scaled_job(
    job: paths.Object | None = None, *, paused: str | None = None, **spec: builders.JsonValue
) -> paths.Object:
    annotations = {} if paused is None else {"autoscaling.keda.sh/paused": paused}
    return builders.custom(
        "keda.sh/v1alpha1", "ScaledJob", {"jobTargetRef": job or builders.job_spec(), **spec}, annotations=annotations
    )


def jobs(value: paths.Object) -> tuple[int, int | None]:
    ((_, path, fewest, most),) = counts(value)
    assert path == PATH
    return fewest, most


@pytest.mark.parametrize(
    ("fewest", "most", "expected"),
    [
        (None, None, (0, 100)),
        (None, 10, (0, 10)),
        (3, 10, (3, 10)),
        (3, None, (3, 103)),
        (10, 10, (10, 10)),
        (8, 5, (5, 10)),
        (0, 1, (0, 1)),
    ],
)
def test_as_many_jobs_run_at_one_time_as_keda_makes(
    fewest: int | None, most: int | None, expected: tuple[int, int]
) -> None:
    assert jobs(scaled_job(minReplicaCount=fewest, maxReplicaCount=most)) == expected


def test_every_job_has_as_many_pods_as_it_runs_at_one_time() -> None:
    template = builders.template(builders.container(gpus=8))
    value = scaled_job(builders.job_spec(template, parallelism=4, completions=2), maxReplicaCount=10)

    assert jobs(value) == (0, 20)
    assert totals(value) == {builders.GPU: ("0", "160")}
    assert pod_set(value).count.reason == "up to 10 Jobs at one time"


@pytest.mark.parametrize(
    ("paused", "expected"), [("true", (0, 10)), ("", (0, 10)), ("yes", (0, 10)), ("false", (2, 10)), ("0", (2, 10))]
)
def test_while_it_is_paused_there_may_be_no_job_at_all(paused: str, expected: tuple[int, int]) -> None:
    assert jobs(scaled_job(paused=paused, minReplicaCount=2, maxReplicaCount=10)) == expected


def test_a_pause_is_the_reason_for_a_minimum_of_zero() -> None:
    found = pod_set(scaled_job(paused="true", maxReplicaCount=10))

    assert found.count.reason == "it is paused; up to 10 Jobs at one time when it is not"


def test_a_maximum_of_jobs_that_is_not_a_number_is_unknown() -> None:
    assert unknowns(scaled_job(maxReplicaCount="ten")) == [
        ("/spec/maxReplicaCount", "expected a whole number, found a string")
    ]


def test_kueue_governs_the_jobs_which_get_the_labels() -> None:
    found = readable_workload(scaled_job(builders.job_spec(suspend=True)))

    assert (found.role, found.queue_label_path, found.suspended) == (model.Role.BATCH, "/metadata", True)


@pytest.mark.parametrize("share", ["0", "0.5", "nan"])
def test_a_custom_strategy_that_takes_off_less_than_the_running_jobs_has_no_bound(share: str) -> None:
    strategy = {"strategy": "custom", "customScalingRunningJobPercentage": share}
    found = pod_set(scaled_job(maxReplicaCount=10, scalingStrategy=strategy))

    reason = "its custom scaling strategy makes more Jobs however many are running"
    assert found.count == model.Count(minimum=0, maximum=None, reason=reason)


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        ({"strategy": "custom", "customScalingRunningJobPercentage": "1"}, 10),
        ({"strategy": "custom", "customScalingRunningJobPercentage": "1.5"}, 10),
        ({"strategy": "custom", "customScalingRunningJobPercentage": "half"}, 10),
        ({"strategy": "custom"}, 10),
        ({"strategy": "accurate", "customScalingRunningJobPercentage": "0"}, 10),
        ({"strategy": "eager"}, 10),
        (
            {
                "strategy": "custom",
                "customScalingRunningJobPercentage": "1",
                "customScalingQueueLengthDeduction": -5,
            },
            None,
        ),
        (
            {"strategy": "custom", "customScalingRunningJobPercentage": "1", "customScalingQueueLengthDeduction": 5},
            10,
        ),
    ],
)
def test_other_strategies_heed_the_most_jobs(strategy: builders.JsonValue, most: int | None) -> None:
    assert jobs(scaled_job(maxReplicaCount=10, scalingStrategy=strategy)) == (0, most)


def test_a_job_with_zero_pods_makes_zero_jobs_under_any_strategy() -> None:
    strategy = {"strategy": "custom", "customScalingRunningJobPercentage": "0"}

    assert jobs(scaled_job(builders.job_spec(parallelism=0), scalingStrategy=strategy)) == (0, 0)
