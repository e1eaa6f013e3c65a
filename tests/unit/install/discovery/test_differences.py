"""Where a usher.yaml differs from a cluster."""

from typing import Any

import builders
from builders import queues
from unit.install.discovery.site_clusters import GPU_TAINT, H100, device_class, namespace, priority_class
from usher import paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.install import discovery
from usher.install.discovery import Comparison

PRODUCT = "nvidia.com/gpu.product"
POOL: dict[str, Any] = {
    "name": "h100",
    "nodeSelector": {PRODUCT: "NVIDIA-H100-80GB-HBM3"},
    "taints": [{"key": "nvidia.com/gpu", "value": "present"}],
    "gpu": {"board": "H100-80", "perNode": 8},
}
NODE = builders.node("h100-0", gpus=8, labels=H100, taints=[GPU_TAINT])


def compared(config: dict[str, Any], *objects: paths.Object) -> Comparison:
    return discovery.compare(models.Config.model_validate(config), Store.of(objects))


def of_pool(*nodes: paths.Object, **changed: object) -> list[tuple[str, str]]:
    return list(compared({"pools": [{**POOL, **changed}]}, *nodes).differences)


def test_a_pool_that_says_what_its_nodes_are_does_not_differ() -> None:
    assert of_pool(NODE, builders.node("cpu")) == []


def test_a_pool_that_no_node_has_differs_unless_an_autoscaler_makes_its_nodes() -> None:
    cpu = builders.node("cpu")

    assert of_pool(cpu) == [
        ("/pools/0/nodeSelector", "no node has the labels of pool h100; if an autoscaler adds them, set scalesFromZero")
    ]
    assert of_pool(cpu, scalesFromZero=True) == []


def test_taints_differ_in_both_directions() -> None:
    assert of_pool(NODE, taints=[]) == [
        (
            "/pools/0/taints",
            f"the nodes like h100-0 (1) have the taint {GPU_TAINT}, which pool h100 does not declare",
        )
    ]
    untainted = builders.node("h100-0", gpus=8, labels=H100)
    assert of_pool(untainted) == [
        ("/pools/0/taints/0", "no node of pool h100 has the taint nvidia.com/gpu=present:NoSchedule")
    ]


def test_a_reserved_node_among_others_and_a_preference_do_not_differ() -> None:
    reserved = builders.node("h100-1", gpus=8, labels=H100, taints=[GPU_TAINT, "dedicated=vision:NoSchedule"])
    slow = {"key": "slow", "effect": "PreferNoSchedule"}

    assert of_pool(NODE, reserved) == []
    assert of_pool(NODE, taints=[*POOL["taints"], slow]) == []
    assert [pointer for pointer, _ in of_pool(reserved)] == ["/pools/0/taints"]


def test_devices_differ_in_both_directions() -> None:
    mixed = builders.node(
        "h100-0", gpus=8, labels=H100, taints=[GPU_TAINT], allocatable={"nvidia.com/mig-3g.40gb": "2"}
    )

    assert of_pool(mixed) == [
        (
            "/pools/0/resources",
            "the nodes like h100-0 (1) offer nvidia.com/mig-3g.40gb, which pool h100 does not declare",
        )
    ]
    assert of_pool(NODE, resources=["nvidia.com/gpu", "amd.com/gpu"]) == [
        ("/pools/0/resources/1", "no node of pool h100 offers amd.com/gpu")
    ]


def test_board_and_number_of_gpus_differ() -> None:
    assert of_pool(NODE, gpu={"board": "A100-80", "perNode": 4}) == [
        ("/pools/0/gpu/board", "the nodes have H100-80, and usher.yaml says A100-80"),
        ("/pools/0/gpu/perNode", "a node has 8 GPUs, and usher.yaml says 4"),
    ]


def test_nodes_of_no_pool_are_named() -> None:
    l4 = builders.node("l4-0", gpus=1, labels={PRODUCT: "NVIDIA-L4"})

    assert of_pool(NODE, l4) == [("/pools", "no pool declares the nodes like l4-0 (1), with nvidia.com/gpu")]


def test_missing_queues_and_classes_are_named() -> None:
    config = {
        "queues": [{"namespaces": ["research-*"], "localQueue": "gpus", "priorityClass": "high"}],
        "routing": [{"namespaces": ["sim"], "queue": "sim"}],
        "priorities": {"classes": [{"namespaces": ["*"], "priorityClass": "training"}], "globalDefault": "standard"},
        "accelerators": {"deviceClasses": {"gone": {"accelerator": False}}},
    }
    queue_class: paths.Object = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "low"},
        "value": 1,
    }

    found = compared(
        config,
        NODE,
        *(namespace(name) for name in ("research-a", "research-b", "kube-system")),
        queues.local_queue("gpus", namespace="research-a"),
        queues.volcano_queue("default"),
        queue_class,
        priority_class("other", 5, globalDefault=True),
        device_class("team", "device.driver == 'gpu.nvidia.com'"),
    )

    assert found.unknown == ()
    assert found.differences[1:] == (
        ("/accelerators/deviceClasses/gone", "the cluster has no DeviceClass gone"),
        ("/accelerators", "DeviceClass team of the cluster has a known driver, but is missing in deviceClasses"),
        ("/queues/0/localQueue", "there is no LocalQueue gpus in namespace research-b"),
        ("/queues/0/priorityClass", "the cluster has no WorkloadPriorityClass high"),
        ("/routing/0/queue", "the cluster has no Queue of Volcano sim"),
        ("/priorities/classes/0/priorityClass", "the cluster has no PriorityClass training"),
        ("/priorities/globalDefault", "standard is not the default PriorityClass: the cluster's is other"),
    )


def test_unknown_objects_are_not_a_difference() -> None:
    config = {"queues": [{"namespaces": ["research"], "localQueue": "gpus"}], "routing": [{"namespaces": ["sim"]}]}

    found = compared(config)

    assert found.differences == ()
    assert found.unknown == ("Node", "LocalQueue", "Queue of Volcano")
