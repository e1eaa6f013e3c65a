"""How much the pods of a workload take together: to start, and when all of them run."""

import pytest

import builders
from unit.workloads.normalised import workload
from usher import paths, quantities
from usher.authorities import verdict

EIGHT = builders.template(builders.container(gpus=8))


def volcano_job(*replicas: int, **spec: paths.Json) -> paths.Object:
    """A Volcano Job with a task for each number of pods."""
    tasks = [builders.volcano_task(f"task-{index}", EIGHT, replicas=each) for index, each in enumerate(replicas)]
    job = builders.volcano_job(*tasks)
    for name, value in spec.items():
        job = builders.replaced(job, f"/spec/{name}", value)
    return job


def together(value: paths.Object, *each: int, minimum: int | None = None) -> verdict.GangDemand:
    """The total of pod sets, given the amount of each."""
    amounts = [quantities.parse(number) for number in each]
    return verdict.demand_of_workload(workload(value), amounts, minimum=minimum)


def starts(value: paths.Object, *each: int, minimum: int | None = None) -> tuple[str, bool]:
    found = together(value, *each, minimum=minimum)
    return str(found.starts), found.is_gang


def test_all_pods_start_together_where_nothing_says_how_many_do() -> None:
    assert starts(volcano_job(3), 8) == ("24", True)


@pytest.mark.parametrize(
    ("minimum", "expected"), [(0, ("8", False)), (-1, ("8", False)), (1, ("8", False)), (2, ("16", True))]
)
def test_a_pod_group_that_waits_for_no_pods_starts_with_any_one_of_them(
    minimum: int, expected: tuple[str, bool]
) -> None:
    """Nothing waits for the others then, but each pod has to fit by itself."""
    assert starts(volcano_job(3), 8, minimum=minimum) == expected


def test_a_gang_starts_without_the_large_pods_that_it_does_not_wait_for() -> None:
    assert starts(volcano_job(2, 1), 1, 8, minimum=2) == ("2", True)
    assert starts(volcano_job(2, 1), 1, 8, minimum=3) == ("10", True)


@pytest.mark.parametrize(
    ("replicas", "minima", "minimum", "first"),
    [
        pytest.param((2, 4), (None, None), None, (2, 4), id="all pods"),
        pytest.param((2, 4), (None, None), 0, (2, 4), id="zero stands for all pods"),
        pytest.param((2, 4), (None, None), 3, (2, 1), id="the first pods in the order of the tasks"),
        pytest.param((2, 4), (1, 2), None, (1, 2), id="the minima of the tasks"),
        pytest.param((2, 4), (1, 2), 2, (2, 0), id="fewer than the minima: by replicas"),
        pytest.param((2, 4), (1, 2), 5, (2, 3), id="more than the minima: filled up in order"),
        pytest.param((2, 4), (0, 4), None, (0, 4), id="a task that is not waited for"),
    ],
)
def test_volcano_waits_for_the_first_pods_of_a_job(
    replicas: tuple[int, int], minima: tuple[int | None, int | None], minimum: int | None, first: tuple[int, int]
) -> None:
    """As calcPGMinResources does, pkg/controllers/job/job_controller_actions.go line 932 of volcano-sh/volcano."""
    job = volcano_job(*replicas)
    for index, least in enumerate(minima):
        if least is not None:
            job = builders.replaced(job, f"/spec/tasks/{index}/minAvailable", least)
    if minimum is not None:
        job = builders.replaced(job, "/spec/minAvailable", minimum)

    assert tuple(verdict.first_volcano_pods(workload(job)) or ()) == first


def test_partitions_set_the_minimum_of_a_task() -> None:
    """pkg/webhooks/admission/jobs/mutate/mutate_job.go line 205 of volcano-sh/volcano."""
    policy: paths.Json = {"minPartitions": 2, "partitionSize": 3, "totalPartitions": 4}
    job = builders.replaced(volcano_job(12), "/spec/tasks/0/partitionPolicy", policy)

    assert verdict.first_volcano_pods(workload(job)) == [6]


def test_priority_classes_may_change_the_order_of_the_tasks() -> None:
    job = builders.replaced(volcano_job(1, 1), "/spec/minAvailable", 1)
    urgent = builders.replaced(job, "/spec/tasks/1/template/spec/priorityClassName", "urgent")

    assert verdict.first_volcano_pods(workload(urgent)) is None
    assert starts(job, 8, 1) == ("8", False)
    assert starts(urgent, 8, 1) == ("1", True)


def test_pods_that_may_come_later_do_not_count_as_existing_pods() -> None:
    group = builders.ray_group(pod_template=EIGHT, replicas=0, min_replicas=0, max_replicas=4)
    found = together(builders.ray_cluster(group, head=EIGHT, autoscaling=True), 8, 8)

    assert [(part.pod_set, part.pods) for part in found.parts] == [("head", 1)]
    assert (str(found.all), str(found.largest)) == ("8", "40")


def test_the_minimum_of_an_owner_is_a_number_as_volcano_reads_it() -> None:
    def minimum(text: str) -> int | None:
        job = builders.job(EIGHT, parallelism=4, completions=4)
        annotations: paths.Json = {"scheduling.volcano.sh/group-min-member": text}
        return verdict.gang_minimum(workload(builders.replaced(job, "/metadata/annotations", annotations)))

    assert minimum("3") == 3
    assert minimum("999999999") == 999999999
    assert [minimum(text) for text in ("", "three", "-3", "٣", "9999999999")] == [1] * 5


def test_without_a_minimum_of_the_job_those_of_its_tasks_count() -> None:
    job = volcano_job(3, 2)

    assert verdict.gang_minimum(workload(job)) is None
    assert verdict.gang_minimum(workload(builders.replaced(job, "/spec/tasks/0/minAvailable", 1))) == 3
    assert verdict.gang_minimum(workload(volcano_job(3, 2, minAvailable=4))) == 4


def test_a_workload_of_one_part_waits_for_no_other() -> None:
    one = builders.job_set(builders.replicated_job("train", EIGHT, replicas=4))
    two = builders.job_set(builders.replicated_job("train", EIGHT), builders.replicated_job("evaluate", EIGHT))

    assert together(one, 8).assumption == ""
    assert together(two, 8, 8).assumption == "its parts run at the same time"


def test_steps_of_a_graph_are_not_a_gang() -> None:
    step: paths.Object = {"name": "step", "container": builders.container(gpus=8)}
    tasks: paths.Json = [{"name": name, "template": "step"} for name in "abc"]
    both: paths.Json = [{"name": "all", "dag": {"tasks": tasks}}, step]
    flow = builders.custom("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "all", "templates": both})
    found = together(flow, *[8] * len(workload(flow).pod_sets))

    assert (str(found.starts), str(found.all), str(found.largest), found.is_gang) == ("8", "8", "8", False)
