"""Thousands of nodes are a few classes; each node's own values stand beside these, and heartbeats change nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import builders
import generated_examples
from usher import paths
from usher.cluster.facts.nodes import MOST_CLASSES, NodeTable, Taint

TI = 2**40
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


def table(*nodes: paths.Object) -> NodeTable:
    found = NodeTable()
    found.replace(nodes)
    return found


def gpu_nodes(number: int, **fields: Any) -> list[paths.Object]:
    return [builders.node(f"gpu-{index}", gpus=8, taints=[GPU_TAINT], **fields) for index in range(number)]


def classes(found: NodeTable) -> list[tuple[str, int]]:
    return [(each.example, each.count) for each in found.now.classes]


def test_nodes_are_unknown_until_the_first_list() -> None:
    found = NodeTable()
    assert (found.known, found.revision) == (False, 0)

    found.replace([])
    assert (found.known, found.revision, len(found)) == (True, 1, 0)


def test_equal_nodes_are_one_class_whatever_they_are_called() -> None:
    found = table(*gpu_nodes(3), builders.node("cpu-0"))

    assert classes(found) == [("cpu-0", 1), ("gpu-0", 3)]
    gpus = found.now.by_name["gpu-1"]
    assert gpus.taints == (Taint("nvidia.com/gpu", "present", "NoSchedule"),)
    assert gpus.labels == {}
    assert gpus.most == {"cpu": 96_000, "memory": TI, "ephemeral-storage": 2 * TI, "pods": 110, "nvidia.com/gpu": 8}


def test_names_of_hosts_stand_beside_the_classes() -> None:
    found = table(*gpu_nodes(3))

    assert found.now.individual["kubernetes.io/hostname"]["gpu-2"] == {"gpu-2"}


def test_some_bytes_of_memory_make_no_class_and_are_not_forgotten() -> None:
    """Nodes of one type differ by what the kernel keeps; the most that any has decides what never fits."""
    found = table(*(builders.node(f"n-{index}", allocatable={"memory": TI + 50 - index}) for index in range(50)))

    (only,) = found.now.classes
    assert only.most["memory"] == TI + 50
    assert only.frontier == (only.nodes["n-0"].amounts,)


def test_the_frontier_has_every_node_that_no_other_node_exceeds_in_everything() -> None:
    found = table(
        builders.node("a", allocatable={"memory": TI + 1, "ephemeral-storage": 2 * TI + 2}),
        builders.node("b", allocatable={"memory": TI + 2, "ephemeral-storage": 2 * TI + 1}),
        builders.node("c", allocatable={"memory": TI + 1, "ephemeral-storage": 2 * TI + 1}),
    )

    (only,) = found.now.classes
    assert [only.nodes["a"].amounts, only.nodes["b"].amounts] == sorted(only.frontier, key=lambda each: each["memory"])


@pytest.mark.parametrize(
    "taint",
    [
        "node.kubernetes.io/unreachable:NoExecute",
        "node.kubernetes.io/unschedulable:NoSchedule",
        "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",
        "ToBeDeletedByClusterAutoscaler=1753000000:NoSchedule",
        "DeletionCandidateOfClusterAutoscaler=1753000000:PreferNoSchedule",
        "startup-taint.cluster-autoscaler.kubernetes.io/warm:NoSchedule",
        "karpenter.sh/disrupted:NoSchedule",
        "node.cilium.io/agent-not-ready:NoSchedule",
    ],
)
def test_what_passes_by_itself_is_not_seen(taint: str) -> None:
    found = table(builders.node("a", taints=[taint], unschedulable=True), builders.node("b"))

    assert classes(found) == [("a", 2)]


def test_devices_that_are_ill_count_because_they_get_well_again() -> None:
    ill: Any = builders.node("a", gpus=7)
    ill["status"]["capacity"] = {"nvidia.com/gpu": "8", "cpu": "128"}

    found = table(ill)

    assert found.now.by_name["a"].most["nvidia.com/gpu"] == 8
    assert found.now.by_name["a"].most["cpu"] == 96_000


def test_a_heartbeat_does_not_count_as_a_change() -> None:
    found = table(*gpu_nodes(3))
    before = found.now
    beating: Any = gpu_nodes(1)[0]
    beating["status"]["conditions"] = [{"type": "Ready", "lastHeartbeatTime": "2026-08-01T00:00:00Z"}]

    found.put(beating)
    found.replace([*gpu_nodes(2), builders.node("gpu-2", gpus=8, taints=[GPU_TAINT], unschedulable=True)])

    assert (found.revision, found.now) == (1, before)


def test_nodes_come_change_and_go() -> None:
    found = table(*gpu_nodes(2))
    seen = found.now

    found.put(builders.node("gpu-1", gpus=4, taints=[GPU_TAINT]))
    assert classes(found) == [("gpu-0", 1), ("gpu-1", 1)]
    found.put(builders.node("gpu-2", gpus=4, taints=[GPU_TAINT]))
    assert classes(found) == [("gpu-0", 1), ("gpu-1", 2)]
    found.remove("gpu-0")
    found.remove("never-there")

    assert classes(found) == [("gpu-1", 2)]
    assert found.now.individual["kubernetes.io/hostname"].keys() == {"gpu-1", "gpu-2"}
    assert (found.revision, len(found)) == (4, 2)
    assert seen.by_name.keys() == {"gpu-0", "gpu-1"}, "whoever reads keeps what was there when they began"


def test_a_label_with_a_value_for_every_node_becomes_individual() -> None:
    nodes = [
        builders.node(f"n-{index}", labels={"rack/host": f"h{index}", "zone": f"z{index % 3}"}) for index in range(500)
    ]
    at_once, one_by_one = table(*nodes), NodeTable()
    for node in nodes:
        one_by_one.put(node)

    for found in (at_once, one_by_one):
        assert sorted(number for _, number in classes(found)) == [166, 167, 167]
        assert found.now.individual["rack/host"]["h499"] == {"n-499"}


@pytest.mark.costly
@pytest.mark.parametrize(
    "label",
    [lambda index: {f"feature/{index}": "true"}, lambda index: {f"k{index % 40}": f"v{index}"}],
    ids=["a key for every node", "many values of many keys"],
)
def test_there_are_never_more_classes_than_are_looked_through(label: Any) -> None:
    found = table(*(builders.node(f"n-{index}", labels=label(index)) for index in range(1000)))

    assert len(found.now.classes) <= MOST_CLASSES
    assert sum(each.count for each in found.now.classes) == 1000


def test_amounts_that_all_differ_become_one_class() -> None:
    found = table(*(builders.node(f"n-{index}", allocatable={"cpu": f"{index + 1}m"}) for index in range(300)))

    assert [each.most["cpu"] for each in found.now.classes] == [300]


@pytest.mark.parametrize(
    ("pointer", "value", "reason"),
    [
        ("/status/allocatable/cpu", "many", "cpu in status.allocatable: 'many' is not a quantity"),
        ("/status/allocatable", ["cpu"], "status.allocatable is not an object"),
        ("/status", None, "it has no status.allocatable"),
        ("/metadata/labels", "none", "metadata.labels is not an object"),
        ("/metadata/labels", {"a": 1}, "its label a is not a text"),
        ("/spec/taints", {"key": "a"}, "spec.taints is not a list"),
        ("/spec/taints", ["a"], "an entry of spec.taints is not an object"),
        ("/spec/taints", [{"key": 1}], "an entry of spec.taints has fields that are not texts"),
    ],
)
def test_a_node_that_cannot_be_read_is_named_with_its_field(pointer: str, value: Any, reason: str) -> None:
    found = table(builders.replaced(builders.node("broken"), pointer, value), builders.node("sound"))

    assert classes(found) == [("sound", 1)]
    assert found.now.unreadable["broken"].startswith(reason)
    assert found.named("broken") == {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "broken"}}
    found.put(builders.node("broken"))
    assert (classes(found), found.now.unreadable) == ([("broken", 2)], {})


def test_a_node_is_found_by_name_as_it_was_read() -> None:
    found = table(builders.node("a", gpus=8, labels={"zone": "b"}, taints=[GPU_TAINT], allocatable={"cpu": "3500m"}))

    assert found.named("a") == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "a", "zone": "b"}},
        "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {
                "cpu": "3500m",
                "ephemeral-storage": str(2 * TI),
                "memory": str(TI),
                "nvidia.com/gpu": "8",
                "pods": "110",
            }
        },
    }
    assert found.named("b") is None


_NODES = st.builds(
    lambda index, gpus, zone, memory: builders.node(
        f"n-{index}", gpus=gpus, labels={"zone": f"z{zone}"}, allocatable={"memory": memory}
    ),
    st.integers(0, 20),
    st.sampled_from([None, 4, 8]),
    st.integers(0, 3),
    st.integers(TI - 3, TI),
)


@settings(max_examples=generated_examples.up_to(100), deadline=None)
@given(st.lists(st.one_of(_NODES, st.integers(0, 20).map(lambda index: f"n-{index}")), max_size=30))
def test_after_any_changes_the_table_is_that_of_the_nodes_that_are_left(changes: list[Any]) -> None:
    found, left = NodeTable(), dict[str, paths.Object]()
    found.replace([])
    for change in changes:
        if isinstance(change, str):
            found.remove(change)
            left.pop(change, None)
        else:
            found.put(change)
            left[change["metadata"]["name"]] = change

    anew = table(*left.values())
    assert [(each.labels, each.taints, each.nodes, each.most) for each in found.now.classes] == [
        (each.labels, each.taints, each.nodes, each.most) for each in anew.now.classes
    ]
    assert {name: each.example for name, each in found.now.by_name.items()} == {
        name: each.example for name, each in anew.now.by_name.items()
    }
    assert {**found.now.individual} == {**anew.now.individual}
    assert len(found) == len(left)


def test_a_node_that_cannot_be_read_is_a_node() -> None:
    broken = builders.replaced(builders.node("broken"), "/status/allocatable/cpu", "many")

    assert len(table(*gpu_nodes(3), broken)) == 4


def test_a_new_list_of_nodes_replaces_all_old_nodes() -> None:
    found = table(*gpu_nodes(2))
    found.replace([builders.node("cpu-0")])

    assert (sorted(found.now.by_name), found.revision) == (["cpu-0"], 2)
    found.replace([builders.node("cpu-0")])
    assert found.revision == 2


def test_a_heartbeat_of_an_unreadable_node_does_not_count_as_a_change() -> None:
    broken = builders.replaced(builders.node("broken"), "/status/allocatable/cpu", "many")
    found = table(broken)
    found.put(broken)

    assert found.revision == 1
