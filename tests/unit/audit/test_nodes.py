"""Nodes as an audit sees them: boards, capacity types, time slices and MIG, by the labels of clouds and vendors."""

from typing import Any

import pytest

import builders
from builders.objects import JsonValue, as_json
from unit.audit.building import builder, built
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.gather import accelerator_objects, gpus, needed_inputs
from usher.audit.gather.estate import CapacityType, Node
from usher.check.devices import Amount
from usher.cluster.facts.store import Recorded, State
from usher.config.models import Config

GIB = 2**30


def read(labels: dict[str, str] | None = None, **resources: Any) -> Node:
    """A node whose resources have `__` for the slash."""
    amounts = {name.replace("__", "/"): str(number) for name, number in resources.items()}
    value = builders.node(labels=labels or {}, allocatable=amounts)
    value = builders.replaced(value, "/status/capacity", as_json(amounts))
    found = accelerator_objects.read_node(value, Vocabulary(Config().accelerators))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("labels", "product"),
    [
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, "NVIDIA-H100-80GB-HBM3"),
        ({"nvidia.com/gpu.product": "Tesla-T4-SHARED"}, "Tesla-T4"),
        ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}, "NVIDIA-A100-SXM4-80GB"),
        ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-INVALID"}, "NVIDIA-A100-SXM4-80GB"),
        ({"amd.com/gpu.product-name": "AMD_Instinct_MI300X"}, "AMD_Instinct_MI300X"),
        ({"gpu.intel.com/product": "Max_1550"}, "Max_1550"),
        ({"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"}, "nvidia-h100-80gb"),
        ({"karpenter.k8s.aws/instance-gpu-name": "h100"}, "h100"),
        ({"gpu.nvidia.com/class": "H100_NVLINK_80GB"}, "H100_NVLINK_80GB"),
        ({"cloud.google.com/gke-accelerator": "nvidia-l4", "nvidia.com/gpu.product": "NVIDIA-L4"}, "NVIDIA-L4"),
        ({"accelerator": "nvidia"}, ""),
    ],
)
def test_the_board_is_named_as_labels_name_it(labels: dict[str, str], product: str) -> None:
    assert accelerator_objects.read_product(labels) == product


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"karpenter.sh/capacity-type": "spot"}, CapacityType.SPOT),
        ({"karpenter.sh/capacity-type": "reserved"}, CapacityType.RESERVED),
        ({"eks.amazonaws.com/capacityType": "ON_DEMAND"}, CapacityType.ON_DEMAND),
        ({"eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}, CapacityType.RESERVED),
        ({"cloud.google.com/gke-nodepool": "h100", "cloud.google.com/gke-spot": "true"}, CapacityType.SPOT),
        ({"cloud.google.com/gke-nodepool": "h100"}, CapacityType.ON_DEMAND),
        ({"cloud.google.com/gke-nodepool": "h", "cloud.google.com/reservation-name": "r"}, CapacityType.RESERVED),
        ({"kubernetes.azure.com/scalesetpriority": "spot"}, CapacityType.SPOT),
        ({"kubernetes.azure.com/agentpool": "gpu"}, CapacityType.ON_DEMAND),
        ({"node.coreweave.cloud/reserved": "my-org"}, CapacityType.RESERVED),
        ({"node.coreweave.cloud/reserved": "false"}, CapacityType.UNKNOWN),
        ({"karpenter.sh/capacity-type": "free"}, CapacityType.UNKNOWN),
        ({}, CapacityType.UNKNOWN),
    ],
)
def test_the_capacity_type_follows_from_labels_of_clouds(labels: dict[str, str], expected: CapacityType) -> None:
    assert accelerator_objects.read_capacity_type(labels) is expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"nvidia.com/gpu.memory": "81559"}, 81559 * 2**20),
        ({"amd.com/gpu.vram": "192G"}, 192 * GIB),
        ({"gpu.nvidia.com/vram": "80"}, 80 * GIB),
        ({"nvidia.com/gpu.memory": "-1"}, None),
        ({"nvidia.com/gpu.memory": "9" * 40}, None),
        ({}, None),
    ],
)
def test_the_memory_of_a_device_is_in_bytes(labels: dict[str, str], expected: int | None) -> None:
    assert accelerator_objects.read_memory(labels) == expected


def test_replicas_of_a_shared_gpu_count_once() -> None:
    labels = {"nvidia.com/gpu.sharing-strategy": "time-slicing", "nvidia.com/gpu.replicas": "4"}

    node = read(labels, **{"nvidia.com__gpu": 32})

    assert (node.shared_by, gpus.capacity_of(node)) == (4, 8)
    assert gpus.number({"nvidia.com/gpu": Amount(number=1)}, node) == 0.25


def test_replicas_under_another_name_count_once() -> None:
    labels = {"nvidia.com/gpu.sharing-strategy": "mps", "nvidia.com/gpu.replicas": "10"}

    node = read(labels, **{"nvidia.com__gpu.shared": 20})

    assert gpus.capacity_of(node) == 2
    assert gpus.number({"nvidia.com/gpu.shared": Amount(number=5)}, node) == 0.5


def test_clients_that_share_a_gpu_on_gke_count_once() -> None:
    labels = {
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "2",
    }

    assert gpus.capacity_of(read(labels, **{"nvidia.com__gpu": 4})) == 2


@pytest.mark.parametrize("replicas", ["0", "-3", "many", "99999999999"])
def test_a_wrong_number_of_replicas_does_not_divide(replicas: str) -> None:
    labels = {"nvidia.com/gpu.sharing-strategy": "time-slicing", "nvidia.com/gpu.replicas": replicas}

    assert gpus.capacity_of(read(labels, **{"nvidia.com__gpu": 8})) == 8


def test_slices_of_the_strategy_single_go_by_their_profile() -> None:
    node = read({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}, **{"nvidia.com__gpu": 56})

    assert node.capacity == {"nvidia.com/mig-1g.10gb": Amount(number=56)}
    assert gpus.capacity_of(node) == 8
    assert gpus.number({"nvidia.com/gpu": Amount(number=7)}, node) == 1


@pytest.mark.parametrize(
    ("resource", "product", "number", "expected"),
    [
        ("nvidia.com/mig-1g.10gb", "NVIDIA-H100-80GB-HBM3", 7, 1),
        ("nvidia.com/mig-1g.10gb", "NVIDIA-A100-SXM4-40GB", 4, 1),
        ("nvidia.com/mig-3g.40gb", "NVIDIA-A100-SXM4-80GB", 2, 1),
        ("nvidia.com/mig-7g.80gb", "", 1, 1),
        ("nvidia.com/mig-1g.10gb", "", 7, 1),
        ("nvidia.com/mig-9z.9gb", "", 7, 0),
        ("nvidia.com/gpu", "", 3, 3),
        ("amd.com/gpu", "", 3, 3),
        ("gpu.nvidia.com", "", 2, 2),
        ("google.com/tpu", "", 4, 0),
        ("shares of nvidia.com/gpu", "", 4, 0),
    ],
)
def test_accelerators_count_as_the_gpus_that_they_are(
    resource: str, product: str, number: int, expected: float
) -> None:
    node = read({"nvidia.com/gpu.product": product} if product else None, **{"nvidia.com__gpu": 1})

    assert gpus.number({resource: Amount(number=number)}, node) == expected


def test_a_node_without_accelerators_is_left_out_of_known_nodes() -> None:
    assert built([builders.node("plain")]).nodes == ()


def test_nodes_that_were_not_listed_are_not_known() -> None:
    assert built([]).nodes is None


def test_a_cordoned_node_that_is_not_ready_says_so() -> None:
    value = builders.node(gpus=8, taints=("nvidia.com/gpu=present:NoSchedule",), unschedulable=True)
    ready: paths.Json = [{"type": "Ready", "status": "Unknown"}]
    found = built([builders.replaced(value, "/status/conditions", ready)]).nodes
    assert found is not None

    assert [(each.ready, each.cordoned, each.taints) for each in found] == [
        (False, True, (("nvidia.com/gpu", "present", "NoSchedule"),))
    ]


def test_gpus_that_a_driver_offers_for_claims_count_where_no_resource_names_them() -> None:
    made = builder(wanted=(needed_inputs.RESOURCE_SLICE,))
    made.record(Recorded(kind=needed_inputs.RESOURCE_SLICE, state=State.KNOWN, values=[_slice("dra-0", 4)]))
    made.add(builders.node("dra-0"))
    made.add(builders.node("both-0", gpus=8))
    found = made.built().nodes
    assert found is not None

    assert {each.name: gpus.capacity_of(each) for each in found} == {"both-0": 8, "dra-0": 4}
    assert not any(each.offered_twice for each in found)


def test_gpus_that_a_node_offers_in_both_ways_count_once_and_are_noted() -> None:
    made = builder(wanted=(needed_inputs.RESOURCE_SLICE,))
    made.record(Recorded(kind=needed_inputs.RESOURCE_SLICE, state=State.KNOWN, values=[_slice("both-0", 8)]))
    made.add(builders.node("both-0", gpus=8))
    [node] = made.built().nodes or ()

    assert (gpus.capacity_of(node), node.offered_twice) == (8, ("gpu.nvidia.com",))


_HAMI = '[{"id":"GPU-1","count":10,"devmem":46068,"devcore":100,"type":"NVIDIA-NVIDIA L40S","health":true}]'


@pytest.mark.parametrize(
    ("offered", "labels", "annotations", "boards", "shared_by"),
    [
        (16384, {"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "16384"}, {}, 1, 16384),
        (32, {"nvidia.com/gpu.replicas": "8"}, {}, 4, 8),
        (10, {"nvidia.com/gpu.count": "1"}, {}, 1, 10),
        (10, {}, {"hami.io/node-nvidia-register": _HAMI}, 1, 1),
        (20, {}, {"4pd.io/node-nvidia-register": "GPU-1,10,46068,100,NVIDIA-L40S,0,true:" * 2}, 2, 1),
        (8, {"nvidia.com/gpu.count": "8", "nvidia.com/gpu.sharing-strategy": "none"}, {}, 8, 1),
        (8, {}, {"hami.io/node-nvidia-register": "[not json"}, 8, 1),
    ],
)
def test_a_board_that_is_offered_many_times_counts_once(
    offered: int, labels: dict[str, str], annotations: dict[str, paths.Json], boards: int, shared_by: int
) -> None:
    made = builder()
    node = builders.replaced(builders.node("n", gpus=offered, labels=labels), "/metadata/annotations", annotations)
    made.add(node)
    [found] = made.built().nodes or ()

    assert (gpus.capacity_of(found), found.shared_by) == (boards, shared_by)


def _slice(node: str, number: int) -> paths.Object:
    """A slice of a driver that offers each GPU, and a MIG device of each."""
    devices: list[JsonValue] = [
        {"name": f"gpu-{index}{suffix}", "attributes": {"type": {"string": kind}}}
        for index in range(number)
        for suffix, kind in (("", "gpu"), ("-mig", "mig"))
    ]
    spec: dict[str, JsonValue] = {"driver": "gpu.nvidia.com", "nodeName": node, "devices": devices}
    return builders.custom("resource.k8s.io/v1", "ResourceSlice", as_json(spec), name=f"{node}-slice", namespace=None)
