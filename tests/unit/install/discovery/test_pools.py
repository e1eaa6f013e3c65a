"""By which labels a new usher.yaml declares the pools that nodes form, and which pools it leaves out."""

import builders
from unit.install.discovery.site_clusters import GPU_TAINT
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts.nodes import NodeTable
from usher.config import sections
from usher.install import discovery
from usher.install.discovery import Declaration

PRODUCT = {"nvidia.com/gpu.product": "NVIDIA-L4"}
CPU = builders.node("cpu-0", labels={"kubernetes.io/os": "linux"})


def declared(*nodes: paths.Object) -> list[Declaration]:
    table = NodeTable()
    table.replace([*nodes, CPU])
    return discovery.declarations(table.now, Vocabulary(sections.Accelerators()))


def selectors(*nodes: paths.Object) -> list[dict[str, str]]:
    return [each.pool.node_selector for each in declared(*nodes) if not each.refusal]


def test_a_managed_pool_is_selected_by_labels_that_an_autoscaler_knows() -> None:
    group = {"eks.amazonaws.com/nodegroup": "gpu"}

    assert selectors(builders.node("a", gpus=1, labels={**group, **PRODUCT})) == [group]


def test_machine_types_separate_the_pools_of_one_node_group() -> None:
    group = {"eks.amazonaws.com/nodegroup": "gpu"}
    types = [{**group, "node.kubernetes.io/instance-type": name} for name in ("g6.xlarge", "g6.12xlarge")]

    found = selectors(builders.node("a", gpus=1, labels=types[0]), builders.node("b", gpus=4, labels=types[1]))

    assert found == types


def test_a_label_of_the_site_separates_nodes_without_other_labels() -> None:
    assert selectors(builders.node("a", gpus=1, labels={"kubernetes.io/os": "linux", "pool": "gpu"})) == [
        {"pool": "gpu"}
    ]


def test_nodes_that_no_label_separates_from_others_are_not_declared() -> None:
    (found,) = declared(builders.node("a", gpus=1, labels={"kubernetes.io/os": "linux"}))

    assert found.refusal.startswith("no label separates its nodes from nodes without accelerators")


def test_reserved_nodes_are_not_declared_and_need_no_separation() -> None:
    reserved = builders.node("b", gpus=1, labels=PRODUCT, taints=[GPU_TAINT, "dedicated=vision:NoSchedule"])
    counted = builders.node("a", gpus=1, labels={**PRODUCT, "nvidia.com/gpu.count": "1"}, taints=[GPU_TAINT])

    assert selectors(counted, reserved) == [PRODUCT]
    assert [each.refusal.startswith("the taint dedicated") for each in declared(counted, reserved)] == [False, True]


def test_pools_that_differ_only_in_the_taint_of_accelerators_share_their_labels() -> None:
    found = declared(
        builders.node("a", gpus=1, labels=PRODUCT), builders.node("b", gpus=1, labels=PRODUCT, taints=[GPU_TAINT])
    )

    assert [each.shared_with for each in found] == [("l4-2",), ("l4",)]
