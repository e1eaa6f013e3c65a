"""KAI-Scheduler: its PodGroups say which gangs wait and why, and its queues what they promise."""

from typing import Any

import pytest

from builders.estates import entry, estate, gpu_node, running, waiting
from builders.standings import found
from usher import model, paths
from usher.audit.document import FindingEntry
from usher.audit.gather.needed_inputs import KAI_POD_GROUP, KAI_QUEUE

SPACE = "ml-research"


def pod_group(queue: str = "research", *, owner: str = "train", messages: tuple[str, ...] = (), **spec: Any) -> Any:
    condition = {
        "type": "UnschedulableOnNodePool",
        "status": "True",
        "lastTransitionTime": "2026-11-23T08:00:00Z",
        "reasons": [{"reason": "OverLimit", "message": each} for each in messages],
    }
    return {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": f"pg-{owner}", "namespace": SPACE, "ownerReferences": [{"uid": f"uid-of-{owner}"}]},
        "spec": {"queue": queue, **spec},
        "status": {"schedulingConditions": [condition] if messages else []},
    }


def queue(name: str, *, parent: str = "", quota: Any = 0, limit: Any = -1) -> paths.Object:
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"parentQueue": parent, "resources": {"gpu": {"quota": quota, "limit": limit}}},
    }


def texts(entries: list[FindingEntry]) -> list[str]:
    return [f"{each.subject.kind} {each.subject.name}: {each.message}" for each in entries]


def test_what_kai_says_of_a_pod_group_that_it_cannot_place_is_the_evidence() -> None:
    group = pod_group(messages=("Workload requested 8 GPUs, but research quota is 4 GPUs",))
    (finding,) = found(estate(workloads=[entry(pods=[waiting()])], objects=[group]), codes=("USA003",))

    assert (finding.held_by, finding.since) == ("KAI", "2026-11-23T08:00:00Z")
    assert finding.evidence == (
        "KAI: PodGroup pg-train is in queue research",
        "KAI: Workload requested 8 GPUs, but research quota is 4 GPUs",
    )


def test_a_pod_group_that_kai_placed_holds_nothing_back() -> None:
    seen = estate(workloads=[entry(pods=[waiting(why="Insufficient gpu")])], objects=[pod_group()])

    assert [each.held_by for each in found(seen, codes=("USA003",))] == ["scheduler"]


@pytest.mark.parametrize(
    ("spec", "half"),
    [
        ({"minMember": 3}, True),
        ({"minMember": 2}, False),
        ({"minMember": 1}, False),
        ({"subGroups": [{"name": "all"}, *({"name": n, "parent": "all", "minMember": 2} for n in "ab")]}, True),
        ({"minMember": "three"}, False),
    ],
    ids=["below the minimum", "the minimum runs", "no gang", "of its groups", "of a wrong type"],
)
def test_a_pod_group_says_how_many_pods_need_each_other(spec: dict[str, Any], half: bool) -> None:
    pods = [running("a"), running("b", node="node-1"), waiting("c"), waiting("d")]
    job = entry("Job", pods=pods, role=model.Role.BATCH)
    seen = estate(workloads=[job], objects=[pod_group(**spec)])

    assert [each.gpus for each in found(seen, codes=("USA002",))] == ([16] if half else [])


def test_several_pod_groups_of_one_workload_say_nothing_of_all_of_its_pods() -> None:
    job = entry("Job", pods=[running("a"), waiting("b")])
    seen = estate(workloads=[job], objects=[pod_group(minMember=2), pod_group(minMember=2)])

    assert found(seen, codes=("USA002",)) == []


QUEUES = [
    queue("department"),
    queue("research", parent="department", quota=8, limit=16),
    queue("vision", parent="department", quota=4),
    queue("speech", parent="department"),
    queue("default-queue"),
]


def test_a_queue_without_pod_groups_is_named_with_what_it_promises() -> None:
    used = entry(queue="speech", pods=[waiting()])
    entries = found(estate(workloads=[used], objects=[*QUEUES, pod_group("research")]), codes=("USA020",))

    assert texts(entries) == ["Queue vision: no PodGroup of KAI is in it"]
    assert (entries[0].gpus, entries[0].evidence) == (4, ("quota: 4 GPUs", "limit: not set"))


def test_where_pod_groups_may_not_be_listed_no_queue_is_unused() -> None:
    assert found(estate(objects=QUEUES, unknown=[KAI_POD_GROUP.key]), codes=("USA020",)) == []
    assert found(estate(unknown=[KAI_QUEUE.key]), codes=("USA020",)) == []


def test_queues_that_promise_more_gpus_than_there_are_are_named() -> None:
    queues = [queue("a", quota=6), queue("b", quota=4.5, limit=12), queue("c", parent="a", quota=6)]
    entries = found(estate(nodes=[gpu_node(gpus=8)], objects=queues), codes=("USA021", "USA022"))

    assert texts(entries) == [
        "Cluster queues of KAI: 2 queues of KAI without a parent promise 10.5 GPUs together, and the cluster has 8",
        "Queue b: its limit is 12 GPUs, and the cluster has 8",
    ]
    assert (entries[0].gpus, entries[0].evidence) == (2.5, ("a: 6", "b: 4.5"))


@pytest.mark.parametrize("odd", [-1, True, "8", None, 1e300])
def test_numbers_that_promise_nothing_are_left_out(odd: Any) -> None:
    queues = [queue("a", quota=odd, limit=odd), queue("b", quota=odd)]

    assert found(estate(nodes=[gpu_node(gpus=8)], objects=queues), codes=("USA021", "USA022")) == []


def test_where_nodes_may_be_added_a_promise_may_come_true() -> None:
    node = gpu_node(gpus=8, labels={"karpenter.sh/nodepool": "gpus"})

    assert found(estate(nodes=[node], objects=[queue("a", quota=64)]), codes=("USA022",)) == []
    assert found(estate(nodes=None, objects=[queue("a", quota=64)]), codes=("USA022",)) == []
