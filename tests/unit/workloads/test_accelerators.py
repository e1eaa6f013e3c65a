"""How many accelerators one pod takes, and which resources are accelerators (gpu-domain 1.4 and 4.1)."""

import pytest

import builders
from unit.workloads.normalised import VOCABULARY, accelerators_of, pod_set, unknowns, workload
from usher import paths
from usher.config import models
from usher.workloads import accelerators

GPU = builders.GPU
CONTAINER = builders.container
SIDECAR = builders.sidecar


@pytest.mark.parametrize(
    ("requests", "limits", "gpus"),
    [
        (None, {GPU: 1}, "1"),  # API defaulting makes the request of the limit, but not in custom resources
        ({GPU: 2}, {GPU: 2}, "2"),
        ({GPU: 2}, None, "2"),
        ({GPU: 1}, {GPU: 4}, "1"),
        ({"cpu": 1}, {GPU: 4}, "4"),
        ({GPU: 0}, {GPU: 4}, None),
        (None, {GPU: 0}, None),
        (None, {"cpu": 1}, None),
        (None, None, None),
    ],
)
def test_a_container_takes_its_request_or_else_its_limit(
    requests: paths.Object | None, limits: paths.Object | None, gpus: str | None
) -> None:
    asked = accelerators_of(builders.pod(CONTAINER(requests=requests, limits=limits)))

    assert asked == ({} if gpus is None else {GPU: gpus})


@pytest.mark.parametrize("spelling", ["1", 1, 1.0, " 1", "1e0", "1000m"])
def test_a_custom_resource_may_spell_one_gpu_in_many_ways(spelling: str | float) -> None:
    found = pod_set(builders.pod(CONTAINER(limits={GPU: spelling})))

    assert found.accelerators[GPU].value == 1
    assert found.asks_accelerators


@pytest.mark.parametrize(
    ("init", "app", "gpus"),
    [
        ([], [CONTAINER(gpus=1)], 1),
        ([], [CONTAINER("a", gpus=1), CONTAINER("b", gpus=2), CONTAINER("c")], 3),
        # An init container is done before the others start, so the larger of the two counts.
        ([CONTAINER("i", gpus=1)], [CONTAINER()], 1),
        ([CONTAINER("i", gpus=4)], [CONTAINER(gpus=1)], 4),
        ([CONTAINER("i", gpus=1)], [CONTAINER(gpus=4)], 4),
        ([CONTAINER("i", gpus=2), CONTAINER("j", gpus=3)], [CONTAINER(gpus=1)], 3),
        # A sidecar runs beside the others.
        ([SIDECAR(gpus=1)], [CONTAINER(gpus=2)], 3),
        ([SIDECAR(gpus=1)], [CONTAINER()], 1),
        # It runs beside the init containers that come after it, not beside those before.
        ([SIDECAR(gpus=1), CONTAINER("i", gpus=4)], [CONTAINER(gpus=1)], 5),
        ([CONTAINER("i", gpus=4), SIDECAR(gpus=1)], [CONTAINER(gpus=1)], 4),
        ([SIDECAR("s", gpus=1), CONTAINER("i", gpus=1), SIDECAR("t", gpus=2)], [CONTAINER(gpus=1)], 4),
        ([SIDECAR("s", gpus=1), SIDECAR("t", gpus=2), CONTAINER("i", gpus=4)], [CONTAINER(gpus=1)], 7),
    ],
)
def test_a_pod_takes_what_runs_together_or_what_an_init_container_needs(
    init: list[paths.Object], app: list[paths.Object], gpus: int
) -> None:
    assert accelerators_of(builders.pod(*app, initContainers=init)) == {GPU: str(gpus)}


def test_an_ephemeral_container_takes_nothing_for_it_cannot_have_resources() -> None:
    assert accelerators_of(builders.pod(ephemeralContainers=[CONTAINER("debug", gpus=1)])) == {}


def test_the_overhead_of_the_runtime_is_added() -> None:
    assert accelerators_of(builders.pod(CONTAINER(gpus=1), overhead={GPU: 1, "cpu": "250m"})) == {GPU: "2"}
    assert accelerators_of(builders.pod(overhead={GPU: 1, "cpu": "250m"})) == {GPU: "1"}


def test_every_resource_is_counted_for_itself() -> None:
    pod = builders.pod(
        CONTAINER("a", limits={GPU: 1, "nvidia.com/mig-1g.10gb": 2, "cpu": 4}),
        CONTAINER("b", limits={"nvidia.com/mig-1g.10gb": 1}),
        initContainers=[CONTAINER("i", gpus=3)],
    )

    assert accelerators_of(pod) == {GPU: "3", "nvidia.com/mig-1g.10gb": "3"}


def test_a_fraction_stays_one_in_a_pod_and_counts_as_a_whole_device() -> None:
    fractions = [CONTAINER(str(index), limits={GPU: "300m"}) for index in range(2)]

    assert accelerators_of(builders.pod(*fractions)) == {GPU: "600m"}
    assert workload(builders.pod(*fractions)).accelerators == {GPU: 1}


@pytest.mark.parametrize(
    ("quantity", "reason"),
    [
        ("eight", "'eight' is not a quantity; write a number, such as 1, 500m or 16Gi"),
        ("$GPUS", "'$GPUS' is not a quantity; write a number, such as 1, 500m or 16Gi"),
        (None, "null is not a quantity; write a number, such as 1 or 500m"),
        (True, "a boolean is not a quantity; write a number, such as 1 or 500m"),
        (["1"], "a list is not a quantity; write a number, such as 1 or 500m"),
        (10**5000, "the number is larger than any quantity"),
        ("-8", "-8 is negative; no resource is"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_quantity_of_a_resource_is_unknown_and_left_out(quantity: paths.Json, reason: str) -> None:
    place = "/spec/containers/0/resources/limits/nvidia.com~1gpu"
    pod = builders.replaced(builders.pod(CONTAINER(gpus=1)), place, quantity)

    assert unknowns(pod) == [(place, reason)]
    assert workload(pod).pod_sets[0].accelerators == {}


def test_a_negative_request_hides_nothing_of_what_another_container_asks() -> None:
    found = workload(builders.pod(CONTAINER("a", gpus=8), CONTAINER("b", gpus=-8)))

    assert found.accelerators == {GPU: 8}


def test_ten_thousand_containers_with_a_resource_each_are_added_up() -> None:
    containers = [CONTAINER(f"c{index}", limits={f"nvidia.com/mig-{index}": 1}) for index in range(10_000)]

    assert set(accelerators_of(builders.pod(*containers)).values()) == {"1"}


@pytest.mark.parametrize(
    "name",
    [
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
        "nvidia.com/mig-1g.10gb",
        "nvidia.com/mig-1g.10gb.shared",
        "nvidia.com/mig-1g.10gb.me.all",
        "amd.com/gpu",
        "amd.com/cpx_nps4",
        "amd.com/dpx_nps1",
        "gpu.intel.com/dxg",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "gpu.intel.com/monitoring",
        "gpu.intel.com/xe_monitoring",
        "habana.ai/gaudi",
        "google.com/tpu",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "aws.amazon.com/neurondevice",
        "intel.com/gpu",
        "deviceclass.resource.kubernetes.io/gpu.nvidia.com",
    ],
)
def test_the_accelerators_of_the_field_are_known(name: str) -> None:
    assert VOCABULARY.contains(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "cpu",
        "memory",
        "nvidia.com/hostdev",
        "nvidia.com/gpumem",  # megabytes, of HAMi
        "nvidia.com/gpucores",
        "NVIDIA.com/gpu",
        "nvidia.com/GPU",
        "xnvidia.com/gpu",
        "nvidia.com/gpu ",
        "requests.nvidia.com/gpu",
        "vpc.amazonaws.com/efa",
        "rdma/ib",
        "example.com/gpu",
        "x" * 1_000_000,
    ],
    ids=lambda name: name[:20],
)
def test_what_only_sounds_like_one_is_none(name: str) -> None:
    assert not VOCABULARY.contains(name)


def test_a_site_adds_names_and_prefixes_of_its_own() -> None:
    section = models.Accelerators(names=["example.com/gpu"], prefixes=["example.com/slice-"])
    vocabulary = accelerators.Vocabulary(section)

    assert vocabulary.contains("example.com/gpu")
    assert vocabulary.contains("example.com/slice-4")
    assert vocabulary.contains("nvidia.com/gpu")
    assert not vocabulary.contains("example.com/other")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("nvidia.com/gpu", "nvidia.com/gpu"),
        ("nvidia.com/mig-1g.10gb", "nvidia.com/gpu"),
        ("google.com/tpu", "google.com/tpu"),
        ("amd.com/cpx_nps4", "amd.com/gpu"),
        ("habana.ai/gaudi", None),
    ],
)
def test_the_usual_taint_of_nodes_with_a_resource_is_known_where_there_is_one(name: str, key: str | None) -> None:
    assert VOCABULARY.taint_key(name) == key


def test_the_longest_prefix_knows_best_which_taint_nodes_carry() -> None:
    section = models.Accelerators(
        taints={"nvidia.com/mig-": "mig-enabled", "nvidia.com/mig-7g": "whole", "habana.ai/": "gaudi"}
    )
    vocabulary = accelerators.Vocabulary(section)

    assert vocabulary.taint_key("nvidia.com/gpu") == "nvidia.com/gpu"
    assert vocabulary.taint_key("nvidia.com/mig-1g.10gb") == "mig-enabled"
    assert vocabulary.taint_key("nvidia.com/mig-7g.80gb") == "whole"
    assert vocabulary.taint_key("habana.ai/gaudi") == "gaudi"
