"""By which route a resource gives accelerators: whole devices, partitions, shares, or access to what others have."""

import pytest

import builders
from unit.workloads.normalised import pod_set, readable_workload, totals
from usher import model, paths

GPU = builders.GPU
CONTAINER = builders.container


def routes(*containers: paths.Object, init: paths.Object | None = None) -> dict[str, str]:
    pod = builders.pod(*containers, initContainers=None if init is None else [init])
    return {request.name: request.route.value for request in pod_set(pod).requests}


@pytest.mark.parametrize(
    ("name", "route"),
    [
        (GPU, "extended resource"),
        ("google.com/tpu", "extended resource"),
        ("nvidia.com/mig-1g.10gb", "partition"),
        ("nvidia.com/gpu.shared", "share"),
        ("nvidia.com/mig-1g.10gb.shared", "share"),
        ("nvidia.com/gpumem", "share"),
        ("volcano.sh/vgpu-number", "share"),
        ("volcano.sh/vgpu-memory", "share"),
        ("deviceclass.resource.kubernetes.io/gpu.nvidia.com", "device claim"),
        ("gpu.intel.com/i915_monitoring", "access to all devices"),
    ],
)
def test_the_name_of_a_resource_tells_the_route(name: str, route: str) -> None:
    assert routes(CONTAINER(limits={name: 1})) == {name: route}


@pytest.mark.parametrize("side", ["nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"])
def test_gpus_beside_their_memory_or_cores_are_shares_of_hami(side: str) -> None:
    assert routes(CONTAINER(limits={GPU: 2, side: 30})) == {GPU: "share", side: "share"}
    assert totals(builders.pod(CONTAINER(limits={GPU: 2, side: 30}))) == {GPU: ("2", "2"), side: ("30", "30")}


def test_a_container_that_says_no_memory_gets_whole_gpus_whatever_another_says() -> None:
    share = CONTAINER("share", limits={GPU: 1, "nvidia.com/gpumem": 3000})
    memory = CONTAINER("memory", limits={"nvidia.com/gpumem": 3000})
    whole = CONTAINER("whole", gpus=1)

    assert routes(share, share)[GPU] == "share"
    assert routes(share, whole)[GPU] == "extended resource"
    assert routes(memory, whole)[GPU] == "extended resource"
    assert routes(share, init=whole)[GPU] == "extended resource"
    assert routes(share, CONTAINER("none", gpus=0))[GPU] == "share"


def test_memory_of_0_divides_nothing() -> None:
    assert routes(CONTAINER(limits={GPU: 1, "nvidia.com/gpumem": 0})) == {GPU: "extended resource"}


def test_memory_divides_only_the_resource_that_it_belongs_to() -> None:
    found = routes(CONTAINER(limits={GPU: 1, "volcano.sh/vgpu-memory": 3000, "amd.com/gpu": 1}))

    assert found == {GPU: "extended resource", "volcano.sh/vgpu-memory": "share", "amd.com/gpu": "extended resource"}


def test_monitoring_is_access_and_takes_nothing() -> None:
    value = builders.pod(CONTAINER(limits={"gpu.intel.com/monitoring": 1}))
    (request,) = pod_set(value).requests

    assert (request.route, str(request.minimum), str(request.maximum)) == (model.Route.ACCESS, "0", "0")
    assert readable_workload(value).asks_accelerators
    assert totals(value) == {}


def test_a_request_stands_where_its_name_is_found_first() -> None:
    pod = builders.pod(
        CONTAINER("a", requests={GPU: 1}, limits={GPU: 1}),
        CONTAINER("b", gpus=1),
        initContainers=[CONTAINER("i", limits={"nvidia.com/mig-1g.10gb": 1})],
        overhead={"amd.com/gpu": 1},
    )

    assert {request.name: request.path for request in pod_set(pod).requests} == {
        GPU: "/spec/containers/0/resources/requests/nvidia.com~1gpu",
        "nvidia.com/mig-1g.10gb": "/spec/initContainers/0/resources/limits/nvidia.com~1mig-1g.10gb",
        "amd.com/gpu": "/spec/overhead/amd.com~1gpu",
    }


def test_a_request_of_zero_counts_as_no_request() -> None:
    assert routes(CONTAINER(gpus=0)) == {}
    assert not readable_workload(builders.pod(CONTAINER(gpus=0))).asks_accelerators
