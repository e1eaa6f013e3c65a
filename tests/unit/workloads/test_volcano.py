"""The Volcano Job (gpu-domain 1.1)."""

import builders
from unit.workloads.normalised import counts, readable_workload
from usher import model


def test_every_task_makes_its_replicas_and_none_where_it_names_no_number() -> None:
    job = builders.volcano_job(
        builders.volcano_task("master", replicas=1),
        builders.volcano_task("worker", replicas=4),
        builders.volcano_task("spare"),
    )

    assert counts(job) == [
        ("master", "/spec/tasks/0/template", 1, 1),
        ("worker", "/spec/tasks/1/template", 4, 4),
        ("spare", "/spec/tasks/2/template", 0, 0),
    ]


def test_a_volcano_job_is_always_a_gang_and_unknown_to_kueue() -> None:
    found = readable_workload(builders.volcano_job())

    assert found.gang_native
    assert found.role is model.Role.TRAINING
    assert found.queue_label_path is None
    assert found.queue_labels == {}
    assert found.gang_policy_path is None
