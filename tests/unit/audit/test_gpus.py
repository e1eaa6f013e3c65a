"""How many GPUs stand behind the accelerators that pods hold."""

import pytest
from msgspec.structs import replace

import builders
from builders.estates import gpu_node
from builders.existing import existing
from unit.audit.building import built, only
from unit.workloads import device_claims
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.gather import gpus
from usher.check import devices
from usher.check.devices import Devices
from usher.config import sections
from usher.kinds.reading.values import Objects
from usher.workloads.normalise import normalise

GIB = 2**30


def held(asked: dict[str, int]) -> Devices:
    """The accelerators of a running pod of one container."""
    pod = existing(builders.replaced(builders.pod(builders.container(limits=asked)), "/spec/nodeName", "node-0"))
    [found] = only(built([builders.replaced(pod, "/status", {"phase": "Running"})])).pods
    return found.devices


@pytest.mark.parametrize(
    ("asked", "boards"),
    [
        ({"nvidia.com/gpu": 1, "nvidia.com/gpucores": 25, "nvidia.com/gpumem-percentage": 25}, 0.25),
        ({"nvidia.com/gpu": 1, "nvidia.com/gpucores": 50, "nvidia.com/gpumem-percentage": 25}, 0.5),
        ({"nvidia.com/gpu": 2, "nvidia.com/gpucores": 10, "nvidia.com/gpumem": 20480}, 1.0),
        # Without a memory a pod gets all of the board's.
        ({"nvidia.com/gpu": 1, "nvidia.com/gpucores": 25}, 1.0),
        ({"nvidia.com/gpu": 1}, 1.0),
        ({"volcano.sh/vgpu-number": 1, "volcano.sh/vgpu-memory": 10240}, 0.25),
    ],
)
def test_a_pod_holds_the_larger_of_its_parts_of_memory_and_cores(asked: dict[str, int], boards: float) -> None:
    node = replace(gpu_node(), memory=40 * GIB)
    assert gpus.number(held(asked), node) == boards


def test_a_part_in_bytes_of_a_board_of_unknown_size_is_the_whole_board() -> None:
    assert gpus.number(held({"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000})) == 1


SHARED = Vocabulary(sections.Accelerators.model_validate({"deviceClasses": {device_claims.GPU: {"memoryStep": GIB}}}))


@pytest.mark.parametrize(
    ("request_of_claim", "boards"),
    [
        (device_claims.request(capacity={"requests": {"memory": "10Gi"}}), 0.25),
        (device_claims.request(capacity={"requests": {"memory": "80Gi"}}), 1.0),
        (device_claims.request(count=2, capacity={"requests": {"memory": "10Gi"}}), 0.5),
        (
            device_claims.request(
                device_claims.MIG,
                selectors=[{"cel": {"expression": "device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"}}],
            ),
            0.5,
        ),
    ],
)
def test_a_claim_for_a_part_of_a_device_counts_as_this_part(request_of_claim: paths.Object, boards: float) -> None:
    objects = Objects([device_claims.claim_template(request_of_claim)], namespace="ml-research")
    claiming = normalise(device_claims.pod(device_claims.by_template()), vocabulary=SHARED, objects=objects)
    assert claiming is not None
    node = replace(gpu_node(), memory=40 * GIB, product="")

    assert gpus.number(devices.of_workload(claiming, by_parts=True), node) == boards
    assert gpus.others(devices.of_workload(claiming, by_parts=True), node) == {}
