"""JobSet (docs/domain/kinds.md#jobset)."""

import builders
from unit.workloads.normalised import counts, readable_workload, totals
from usher import model, paths


def test_every_replicated_job_makes_its_replicas_times_the_pods_of_its_job() -> None:
    job_set = builders.job_set(
        builders.replicated_job("driver"),
        builders.replicated_job("workers", replicas=4, parallelism=8),
        builders.replicated_job("few", replicas=2, parallelism=8, completions=3),
        builders.replicated_job("none", replicas=0, parallelism=8),
    )

    assert counts(job_set) == [
        ("driver", "/spec/replicatedJobs/0/template/spec/template", 1, 1),
        ("workers", "/spec/replicatedJobs/1/template/spec/template", 32, 32),
        ("few", "/spec/replicatedJobs/2/template/spec/template", 6, 6),
        ("none", "/spec/replicatedJobs/3/template/spec/template", 0, 0),
    ]


def test_the_accelerators_of_all_pod_sets_add_up() -> None:
    job_set = builders.job_set(
        builders.replicated_job("a", builders.template(builders.container(gpus=8)), replicas=4),
        builders.replicated_job("b", builders.template(builders.container(gpus=1)), parallelism=3),
        builders.replicated_job("c"),
    )

    assert totals(job_set) == {"nvidia.com/gpu": ("35", "35")}


def test_pods_of_a_job_with_more_completions_than_parallelism_do_not_wait_for_each_other() -> None:
    in_turns = builders.replicated_job("scorer", replicas=2, parallelism=2, completions=10)
    together = builders.replicated_job("trainer", parallelism=2, completions=2)

    def gang_of(*jobs: paths.Object) -> tuple[bool, bool]:
        found = readable_workload(builders.job_set(*jobs)).gang
        return found.wanted, found.waits

    assert gang_of(in_turns) == (False, False)
    assert gang_of(in_turns, builders.replicated_job("driver")) == (False, False)
    assert gang_of(together) == (True, True)
    assert gang_of(in_turns, together) == (True, True)
    assert gang_of(builders.replicated_job("one", replicas=2, completions=10)) == (False, False)


def test_a_job_set_trains_can_be_suspended_and_is_labelled_for_kueue() -> None:
    found = readable_workload(builders.job_set(suspend=True))

    assert found.role is model.Role.TRAINING
    assert found.suspended
    assert found.queue_label_path == "/metadata"
    assert found.gang_places.queue is None
