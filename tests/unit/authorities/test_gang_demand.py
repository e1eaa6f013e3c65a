"""How much the pods of a workload take together: to start, and when all of them run."""

import pytest

import builders
from unit.workloads.normalised import workload
from usher import paths, quantities
from usher.authorities import gang_demand

EIGHT = builders.template(builders.container(gpus=8))


def volcano_job(*replicas: int, **spec: paths.Json) -> paths.Object:
    """A Volcano Job with a task for each number of pods."""
    tasks = [builders.volcano_task(f"task-{index}", EIGHT, replicas=each) for index, each in enumerate(replicas)]
    job = builders.volcano_job(*tasks)
    for name, value in spec.items():
        job = builders.replaced(job, f"/spec/{name}", value)
    return job


def together(value: paths.Object, *each: int, minimum: int | None = None) -> gang_demand.GangDemand:
    """What pods take of which each pod set takes so much."""
    amounts = [quantities.parse(number) for number in each]
    return gang_demand.of_workload(workload(value), amounts, minimum=minimum)


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


def test_the_largest_pod_has_to_fit_even_where_smaller_ones_are_enough_to_start() -> None:
    assert starts(volcano_job(2, 1), 1, 8, minimum=2) == ("8", False)
    assert starts(volcano_job(2, 1), 1, 8, minimum=3) == ("10", True)


def test_pods_that_may_come_later_do_not_count_as_existing_pods() -> None:
    group = builders.ray_group(pod_template=EIGHT, replicas=0, min_replicas=0, max_replicas=4)
    found = together(builders.ray_cluster(group, head=EIGHT, autoscaling=True), 8, 8)

    assert [(part.pod_set, part.pods) for part in found.parts] == [("head", 1)]
    assert (str(found.all), str(found.largest)) == ("8", "40")


def test_the_minimum_of_an_owner_is_a_number_as_volcano_reads_it() -> None:
    def minimum(text: str) -> int | None:
        job = builders.job(EIGHT, parallelism=4, completions=4)
        annotations: paths.Json = {"scheduling.volcano.sh/group-min-member": text}
        return gang_demand.minimum_of(workload(builders.replaced(job, "/metadata/annotations", annotations)))

    assert minimum("3") == 3
    assert minimum("999999999") == 999999999
    assert [minimum(text) for text in ("", "three", "-3", "٣", "9999999999")] == [None] * 5


def test_without_a_minimum_of_the_job_those_of_its_tasks_count() -> None:
    job = volcano_job(3, 2)

    assert gang_demand.minimum_of(workload(job)) is None
    assert gang_demand.minimum_of(workload(builders.replaced(job, "/spec/tasks/0/minAvailable", 1))) == 3
    assert gang_demand.minimum_of(workload(volcano_job(3, 2, minAvailable=4))) == 4


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
