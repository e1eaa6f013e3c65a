"""Queues and PodGroups of Volcano: whether a workload could ever start in them."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import GPU
from builders.queues import volcano_queue
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.verdict import REACHES, Reach
from usher.authorities.volcano import present as volcano_present
from usher.authorities.volcano import read
from usher.authorities.volcano.present import QueueVerdict, Standing
from usher.authorities.volcano.read import Queues

VOLCANO = frozenset({"volcano"})


def queues(*objects: paths.Object) -> Queues:
    return read.read_queues({str(paths.resolve(value, "/metadata/name")): value for value in objects})


def volcano_job(replicas: int, *, gpus: int = 8, minimum: int | None = None, queue: str | None = None) -> paths.Object:
    template = builders.template(builders.container(gpus=gpus))
    job = builders.volcano_job(builders.volcano_task(pod_template=template, replicas=replicas), queue=queue)
    return job if minimum is None else builders.replaced(job, "/spec/minAvailable", minimum)


def judge(
    value: paths.Object, *objects: paths.Object, name: str = "research", minimum: int | None = None
) -> QueueVerdict:
    return volcano_present.judge(workload(value), name, queues(*objects), minimum=minimum)


def shortages(
    value: paths.Object, *objects: paths.Object, minimum: int | None = None
) -> list[tuple[str, str, str, str, str]]:
    """Queue, resource, verdict, need and capability."""
    found = judge(value, *objects, minimum=minimum).shortages
    return [(each.of, each.resource, REACHES[each.reach], str(each.needs), str(each.most)) for each in found]


def test_a_job_needs_a_queue_that_is_open_and_takes_jobs() -> None:
    job = volcano_job(1)

    assert judge(job, volcano_queue()).standing is Standing.USABLE
    assert judge(job, volcano_queue(state="")).standing is Standing.USABLE
    assert judge(job, volcano_queue("other")).standing is Standing.MISSING
    assert judge(job, volcano_queue(state="Closing")).standing is Standing.NOT_OPEN
    assert judge(job, volcano_queue(), volcano_queue("team", parent="research")).standing is Standing.NOT_LEAF
    assert judge(job, volcano_queue(), name="root").standing is Standing.ROOT
    assert judge(job, volcano_queue("root"), name="root").standing is Standing.ROOT


def test_a_gang_above_the_capability_never_starts() -> None:
    assert shortages(volcano_job(8), volcano_queue(gpu=32)) == [("research", GPU, "never", "64", "32")]
    assert shortages(volcano_job(4), volcano_queue(gpu=32)) == []


def test_a_gang_that_starts_with_a_part_of_its_pods_needs_what_they_take() -> None:
    assert shortages(volcano_job(8, minimum=4), volcano_queue(gpu=32)) == [("research", GPU, "not all", "64", "32")]
    assert shortages(volcano_job(8, minimum=5), volcano_queue(gpu=32)) == [("research", GPU, "never", "40", "32")]
    assert shortages(volcano_job(8), volcano_queue(gpu=32), minimum=2) == [("research", GPU, "not all", "64", "32")]


def test_a_model_serving_starts_with_the_least_roles_of_one_of_its_sets() -> None:
    """Kthena makes a PodGroup for each set (pkg/model-serving-controller/podgroupmanager/manager.go)."""
    template: paths.Object = {"spec": builders.pod_spec(builders.container(gpus=8))}
    role: paths.Object = {"name": "decode", "replicas": 3, "workerReplicas": 1}
    role |= {"entryTemplate": template, "workerTemplate": template}
    roles: paths.Object = {"roles": [role], "gangPolicy": {"minRoleReplicas": {"decode": 2}}}
    serving = builders.custom(
        "workload.serving.volcano.sh/v1alpha1", "ModelServing", {"replicas": 2, "template": roles}
    )

    assert shortages(serving, volcano_queue(gpu=32)) == [("research", GPU, "not all", "96", "32")]
    assert shortages(serving, volcano_queue(gpu=24)) == [("research", GPU, "never", "32", "24")]


def test_tasks_that_wait_for_others_may_run_after_them() -> None:
    template = builders.template(builders.container(gpus=8))
    tasks = [builders.volcano_task(name, template, replicas=1) for name in ("first", "second")]
    waiting: list[paths.Object] = [tasks[0], {**tasks[1], "dependsOn": {"name": ["first"]}}]
    assumptions = [
        [each.assumption for each in judge(builders.volcano_job(*listed), volcano_queue(gpu=8)).shortages]
        for listed in (tasks, waiting)
    ]

    assert assumptions == [[""], ["its parts run at the same time"]]
    one_by_one = judge(builders.volcano_job(*waiting), volcano_queue(gpu=8), minimum=1).shortages
    assert [(REACHES[each.reach], each.assumption) for each in one_by_one] == [
        ("not all", "its parts run at the same time")
    ]
    alone = judge(builders.volcano_job(*waiting), volcano_queue(gpu=4), minimum=1).shortages
    assert [(REACHES[each.reach], each.assumption) for each in alone] == [("never", "")]


def test_volcano_does_not_compare_the_number_of_pods_with_a_capability() -> None:
    """pkg/scheduler/api/resource_info.go line 232 of volcano-sh/volcano."""
    assert shortages(volcano_job(8), volcano_queue(cpu="1", pods=4)) == []


def test_a_zero_cpu_capability_does_not_bound_cpu() -> None:
    pods = builders.template(builders.container(requests={"cpu": "4"}, gpus=1))
    job = builders.volcano_job(builders.volcano_task(pod_template=pods, replicas=1))

    assert shortages(job, volcano_queue(cpu="0", gpu=1)) == []
    assert shortages(job, volcano_queue(cpu="0", gpu=0)) == [("research", GPU, "never", "1", "0")]


def test_the_queues_above_are_looked_at_as_well() -> None:
    found = judge(
        volcano_job(4),
        volcano_queue(parent="lab"),
        volcano_queue("lab", parent="root", gpu=16),
        volcano_queue("root", gpu=100),
    )

    assert [each.of for each in found.shortages] == ["lab"]
    assert found.unreadable == ()


def test_a_way_up_that_leads_nowhere_or_in_a_circle_is_named() -> None:
    lost = judge(volcano_job(1), volcano_queue(parent="gone")).unreadable
    circle = judge(volcano_job(1), volcano_queue(parent="lab"), volcano_queue("lab", parent="research")).unreadable

    assert [(each.of, each.reason) for each in lost] == [("Queue research", "names gone, which does not exist")]
    assert [(each.of, each.reason) for each in circle] == [("Queue lab", "leads in a circle, or too far")]


@pytest.mark.parametrize(
    ("pointer", "value", "field"),
    [
        ("/spec", [], "spec"),
        ("/spec/capability", "32", "spec.capability"),
        ("/spec/capability", {GPU: "many"}, f'spec.capability["{GPU}"]'),
    ],
)
def test_what_cannot_be_read_is_named(pointer: str, value: paths.Json, field: str) -> None:
    found = judge(volcano_job(8), builders.replaced(volcano_queue(gpu=32), pointer, value))

    assert found.shortages == ()
    assert [each.field for each in found.unreadable] == [field]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=4), st.integers(1, 20), st.data())
def test_a_gang_needs_what_its_first_pods_take(
    listed: list[tuple[int, int]], capability: int, data: st.DataObject
) -> None:
    pods = [gpus for replicas, gpus in listed for _ in range(replicas)]
    minimum = data.draw(st.integers(1, max(1, len(pods))))
    made = [
        builders.volcano_task(f"task-{index}", builders.template(builders.container(gpus=gpus)), replicas=replicas)
        for index, (replicas, gpus) in enumerate(listed)
    ]
    job = builders.replaced(builders.volcano_job(*made), "/spec/minAvailable", minimum)
    never = [each for each in judge(job, volcano_queue(gpu=capability)).shortages if each.reach is Reach.START]

    assert bool(never) is (sum(pods[:minimum]) > capability)


def named(value: paths.Object) -> list[tuple[str, str, bool]]:
    """Name, path and whether an assumption is made."""
    found = read.named_queues(workload(value), VOLCANO)
    return [(each.name, each.path, bool(each.assumption)) for each in found]


def test_a_queue_is_read_where_the_kind_names_it() -> None:
    annotation = {"scheduling.volcano.sh/queue-name": "research"}
    on_volcano = builders.template(annotations=annotation, schedulerName="volcano")
    slashed = "annotations/scheduling.volcano.sh~1queue-name"

    assert named(volcano_job(1, queue="research")) == [("research", "/spec/queue", False)]
    assert named(builders.job(on_volcano)) == [("research", f"/spec/template/metadata/{slashed}", False)]
    assert named(builders.pod(annotations=annotation, schedulerName="volcano")) == [
        ("research", f"/metadata/{slashed}", False)
    ]
    ray = builders.ray_cluster(labels={"volcano.sh/queue-name": "research"})
    assert named(ray) == [("research", "/metadata/labels/volcano.sh~1queue-name", True)]


def test_what_the_operator_of_a_kind_may_not_read_is_assumed() -> None:
    policy: Mapping[str, builders.JsonValue] = {"schedulingPolicy": {"queue": "research"}}
    path = "/spec/runPolicy/schedulingPolicy/queue"
    worker = builders.template(schedulerName="volcano")

    assert named(builders.pytorch_job(run_policy=policy)) == [("research", path, True)]
    assert named(builders.pytorch_job(worker, run_policy=policy)) == [("research", path, False)]


def test_what_names_no_queue_gets_the_usual_one() -> None:
    assert named(volcano_job(1)) == [("default", "/spec/queue", False)]
    assert named(builders.pod(schedulerName="volcano")) == [("default", "/spec/schedulerName", False)]
    assert named(builders.pod()) == []
    assert named(builders.pod(annotations={"scheduling.volcano.sh/queue-name": "research"})) == []


def test_the_pods_of_a_group_are_those_that_name_it() -> None:
    template = builders.template(annotations={"scheduling.k8s.io/group-name": "group"})
    (found,) = read.named_groups(workload(builders.pytorch_job(template, workers=7, master=template)))

    assert (found.name, found.least, found.most) == ("group", 8, 8)
    assert found.path.endswith("/template/metadata/annotations/scheduling.k8s.io~1group-name")
    owned = builders.pod(annotations={"scheduling.k8s.io/group-name": "group"}, owner_kind="PyTorchJob")
    assert read.named_groups(workload(owned)) == ()


def test_a_group_has_no_most_pods_where_nothing_bounds_one_of_its_pod_sets() -> None:
    grouped = builders.template(annotations={"scheduling.k8s.io/group-name": "group"})
    (bounded,) = read.named_groups(workload(builders.job(grouped, parallelism=2, completions=2)))
    (unbounded,) = read.named_groups(workload(builders.daemon_set(grouped)))

    assert (bounded.most, unbounded.most) == (2, None)


def test_a_queue_without_a_parent_does_not_make_the_empty_name_a_parent() -> None:
    assert queues(volcano_queue(), volcano_queue("lab", parent="research")).parents == {"research"}


def test_a_way_up_that_is_longer_than_anybody_means_is_not_gone() -> None:
    names = ["research", *(f"q{index:02}" for index in range(20))]
    tower = [volcano_queue(name, parent=above) for name, above in zip(names, [*names[1:], "root"], strict=True)]

    (unreadable,) = judge(volcano_job(1), *tower).unreadable
    assert unreadable.reason == "leads in a circle, or too far"
    assert judge(volcano_job(1), *tower[-10:], name="q11").unreadable == ()


def test_a_shortage_is_made_of_all_pods_only_where_all_of_them_are_needed() -> None:
    (never,) = judge(volcano_job(8, minimum=5), volcano_queue(gpu=32)).shortages
    (not_all,) = judge(volcano_job(8, minimum=4), volcano_queue(gpu=32)).shortages

    assert (str(never.needs), never.parts) == ("40", ())
    assert (str(not_all.needs), [part.pods for part in not_all.parts]) == ("64", [8])


def test_pods_that_may_come_later_have_to_fit_the_queue_as_well() -> None:
    group = builders.ray_group(
        pod_template=builders.template(builders.container(gpus=8)), replicas=0, min_replicas=0, max_replicas=2
    )

    assert shortages(builders.ray_cluster(group, autoscaling=True), volcano_queue(gpu=4)) == [
        ("research", GPU, "never", "8", "4")
    ]
