"""The pools that nodes form: what divides them, what they offer, and how hostile nodes are kept out."""

from collections.abc import Mapping

import pytest

import builders
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts import node_pools
from usher.cluster.facts.node_pools import MOST_POOLS, FoundPool
from usher.cluster.facts.nodes import NodeTable
from usher.config import pools as config_pools
from usher.config import sections

H100 = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
A100 = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


def found(*nodes: paths.Object) -> list[FoundPool]:
    table = NodeTable()
    table.replace(nodes)
    return list(node_pools.found_pools(table.now, Vocabulary(sections.Accelerators())))


def pools(*nodes: paths.Object) -> list[config_pools.Pool]:
    return [each.pool for each in found(*nodes)]


def gpu_node(name: str, labels: Mapping[str, str] = H100, **more: object) -> paths.Object:
    return builders.node(name, gpus=8, labels=labels, **more)  # type: ignore[arg-type]  # fields of a node


def test_servers_of_one_kind_are_one_pool_with_their_labels_taints_and_board() -> None:
    (pool,) = pools(gpu_node("a", taints=[GPU_TAINT]), gpu_node("b", taints=[GPU_TAINT]), builders.node("cpu"))

    assert pool == config_pools.Pool(
        name="h100-80gb-hbm3",
        node_selector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        taints=[config_pools.Taint(key="nvidia.com/gpu", value="present")],
        resources=["nvidia.com/gpu"],
        gpu=config_pools.Gpus(board="H100-80", per_node=8),
        allocatable={"cpu": 96, "memory": "1024Gi", "nvidia.com/gpu": 8},
    )


def test_boards_taints_and_devices_divide_pools() -> None:
    names = [
        pool.name
        for pool in pools(
            gpu_node("a"),
            gpu_node("b", A100),
            gpu_node("c", taints=["dedicated=research:NoSchedule"]),
            gpu_node("d", allocatable={"rdma/ib": "8"}),
            builders.node("e", allocatable={"amd.com/gpu": "8"}, labels={"amd.com/gpu.product-name": "MI300X"}),
        )
    ]

    assert names == ["a100-sxm4-80gb", "h100-80gb-hbm3", "h100-80gb-hbm3-2", "h100-80gb-hbm3-3", "mi300x"]


def test_nodes_without_accelerators_form_no_pool() -> None:
    assert pools(builders.node("cpu"), builders.node("labelled", labels=H100)) == []


def test_every_vendor_forms_pools() -> None:
    offered = {
        "amd.com/gpu": {"amd.com/gpu.product-name": "AMD_Instinct_MI300X"},
        "gpu.intel.com/xe": {"gpu.intel.com/product": "Max_1550"},
        "habana.ai/gaudi": {},
        "aws.amazon.com/neuron": {"node.kubernetes.io/instance-type": "trn2.48xlarge"},
        "google.com/tpu": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5p-slice"},
    }

    found = pools(
        *(
            builders.node(f"n{number}", allocatable={name: "4"}, labels=labels)
            for number, (name, labels) in enumerate(offered.items())
        )
    )

    assert {name for pool in found for name in pool.resources} == set(offered)
    assert all(pool.gpu is None for pool in found)


def test_the_pool_label_of_a_cloud_names_the_pool_and_its_networks_are_counted() -> None:
    labels = {"cloud.google.com/gke-nodepool": "a3-mega", "cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb"}
    (pool,) = pools(gpu_node("a", labels, allocatable={"networking.gke.io.networks/vpc1": "1"}))

    assert pool.name == "a3-mega"
    assert pool.node_selector == labels
    assert pool.allocatable["networking.gke.io.networks/vpc1"] == 1
    assert pool.scales_from_zero is None


def test_machines_of_a_karpenter_pool_are_one_pool_whose_nodes_may_be_of_any_size() -> None:
    karpenter = {"karpenter.sh/nodepool": "gpu"}
    (pool,) = pools(
        builders.node("a", gpus=8, labels={**karpenter, **H100}),
        builders.node("b", gpus=1, labels={**karpenter, "nvidia.com/gpu.product": "NVIDIA-L4"}),
        builders.node("c", allocatable={"aws.amazon.com/neuron": "1"}, labels=karpenter),
    )

    assert pool.node_selector == karpenter
    assert pool.resources == ["aws.amazon.com/neuron", "nvidia.com/gpu"]
    assert pool.scales_from_zero
    assert pool.allocatable == {"pods": 110}


def test_machine_types_of_a_node_group_are_pools() -> None:
    group = {"eks.amazonaws.com/nodegroup": "gpu"}
    small, large = ({**group, "node.kubernetes.io/instance-type": kind} for kind in ("g5.xlarge", "g5.48xlarge"))

    found = pools(builders.node("a", gpus=1, labels=small), builders.node("b", gpus=8, labels=large))

    assert [pool.allocatable["nvidia.com/gpu"] for pool in found] == [1, 8]


def test_a_node_that_lost_a_gpu_does_not_make_a_pool() -> None:
    (pool,) = pools(gpu_node("a"), builders.node("b", gpus=7, labels=H100))

    assert pool.allocatable["nvidia.com/gpu"] == 8


def test_slices_of_the_strategy_mixed_are_offered_beside_the_board() -> None:
    labels = {**H100, "nvidia.com/mig.strategy": "mixed", "nvidia.com/gpu.count": "8"}
    (pool,) = pools(builders.node("a", gpus=4, labels=labels, allocatable={"nvidia.com/mig-3g.40gb": "8"}))

    assert pool.resources == ["nvidia.com/gpu", "nvidia.com/mig-3g.40gb"]
    assert pool.gpu == config_pools.Gpus(board="H100-80", per_node=8, mig_strategy="mixed")


def test_under_the_strategy_single_the_number_of_whole_gpus_is_not_guessed() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "nvidia.com/mig.strategy": "single"}
    (pool,) = pools(builders.node("a", gpus=56, labels=labels))

    assert pool.gpu is None
    assert pool.node_selector == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}


def test_time_slices_are_not_counted_as_gpus() -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-L4-SHARED",
        "nvidia.com/gpu.replicas": "4",
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
    }
    (pool,) = pools(builders.node("a", gpus=8, labels=labels))

    assert pool.gpu == config_pools.Gpus(per_node=2)
    assert pool.node_selector["nvidia.com/gpu.sharing-strategy"] == "time-slicing"


@pytest.mark.costly
def test_five_thousand_nodes_of_many_kinds_are_few_pools() -> None:
    nodes = [
        builders.node(
            f"n{number}",
            gpus=8,
            labels={**H100, "node.kubernetes.io/instance-type": f"type-{number % 60}", "rack": str(number)},
        )
        for number in range(5000)
    ]

    (pool,) = pools(*nodes)

    assert pool.node_selector == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}


def test_nodes_with_more_kinds_of_taints_than_pools_are_not_guessed() -> None:
    nodes = [gpu_node(f"n{number}", taints=[f"team=t{number}:NoSchedule"]) for number in range(MOST_POOLS + 1)]

    assert pools(*nodes) == []


def test_the_order_of_the_nodes_does_not_matter() -> None:
    nodes = [gpu_node("a"), gpu_node("b", A100), gpu_node("c", taints=[GPU_TAINT])]

    assert pools(*nodes) == pools(*reversed(nodes))


def test_hostile_labels_and_taints_are_left_out() -> None:
    product = "x: &a [*a]\n#"
    labels = {"nvidia.com/gpu.product": product, "cloud.google.com/gke-nodepool": "UPPER_case.."}
    (pool,) = pools(gpu_node("a", labels), gpu_node("b", taints=["no key !=x:NoSchedule"]))

    assert pool.name == "gpu"
    assert pool.node_selector == {"kubernetes.io/os": "linux"}
