"""Rules see the nodes that a pod may run on: its tolerations, and numbers that all these nodes have."""

import pytest
from msgspec.structs import replace

import builders
from builders import expression, node_affinity, term, toleration
from unit.workloads.normalised import VOCABULARY, workload
from usher import paths
from usher.authorities.nodes.declared_pools import NO_POOLS_INPUT, PoolPlacements, PoolsInput
from usher.config import models
from usher.config import pools as config_pools

GUARDED = config_pools.Pool(
    name="h100", node_selector={"pool": "h100"}, taints=[config_pools.Taint(key="nvidia.com/gpu", value="present")]
)
ON_SPOT = config_pools.Pool(
    name="a100",
    node_selector={"pool": "a100"},
    taints=[
        config_pools.Taint(key="spot", value="true"),
        config_pools.Taint(key="nvidia.com/gpu", value="present"),
        config_pools.Taint(key="slow", effect="PreferNoSchedule"),
    ],
)
OF_A_TEAM = config_pools.Pool(
    name="team",
    node_selector={"pool": "team"},
    taints=[config_pools.Taint(key="team", value="vision", effect="NoExecute")],
)
COUNT = "nvidia.com/gpu.count"
GPU_CONTAINER = builders.container(limits={"nvidia.com/gpu": 1})


def seen(value: paths.Object, *pools: config_pools.Pool) -> PoolsInput:
    config = models.Config(pools=list(pools))
    found = workload(value)
    (pod_set,) = found.pod_sets
    return PoolPlacements(config, VOCABULARY).of(pod_set, workload=found)


def tolerated(
    *tolerations: paths.Object, pools: list[config_pools.Pool], node_selector: dict[str, str] | None = None
) -> list[tuple[int, str]]:
    """Index and taint of what a pod without accelerators tolerates of them."""
    found = seen(builders.pod(tolerations=list(tolerations), nodeSelector=node_selector), *pools)
    return [(entry["index"], entry["taint"]) for entry in found["tolerated"]]


def test_the_toleration_of_a_pools_taint_is_named_with_its_index() -> None:
    other, guard = toleration("other", operator="Exists"), toleration("nvidia.com/gpu", operator="Exists")

    assert tolerated(other, guard, pools=[GUARDED]) == [(1, "nvidia.com/gpu")]
    assert tolerated(other, pools=[GUARDED]) == []


def test_a_toleration_of_another_value_opens_nothing() -> None:
    assert tolerated(toleration("nvidia.com/gpu", value="true"), pools=[GUARDED]) == []
    assert tolerated(toleration("nvidia.com/gpu", value="present"), pools=[GUARDED]) == [(0, "nvidia.com/gpu")]


def test_a_pool_that_another_taint_keeps_closed_is_not_opened() -> None:
    spot, guard = toleration("spot", operator="Exists"), toleration("nvidia.com/gpu", operator="Exists")

    assert tolerated(spot, pools=[ON_SPOT]) == []
    assert tolerated(guard, pools=[ON_SPOT]) == []
    # Of the two the one counts by which such nodes are known; spot nodes without accelerators carry the other as well.
    assert tolerated(spot, guard, pools=[ON_SPOT]) == [(1, "nvidia.com/gpu")]


def test_a_taint_of_the_sites_own_guards_a_pool_as_well() -> None:
    assert tolerated(toleration("team", operator="Exists"), pools=[GUARDED, OF_A_TEAM]) == [(0, "team")]


def test_a_pool_that_the_pod_does_not_select_is_not_opened() -> None:
    guard = toleration("nvidia.com/gpu", operator="Exists")

    assert tolerated(guard, pools=[GUARDED], node_selector={"pool": "cpu"}) == []
    assert tolerated(guard, pools=[GUARDED], node_selector={"pool": "h100"}) == [(0, "nvidia.com/gpu")]


def test_a_pool_without_guarding_taints_is_open_to_everybody() -> None:
    untainted = config_pools.Pool(
        name="l4",
        node_selector={"pool": "l4"},
        taints=[config_pools.Taint(key="nvidia.com/gpu", effect="PreferNoSchedule")],
    )

    assert tolerated(toleration("nvidia.com/gpu", operator="Exists"), pools=[untainted]) == []


def test_without_pools_the_usual_taints_count_with_their_usual_effect() -> None:
    named = toleration("google.com/tpu", operator="Exists")
    everything = toleration(operator="Exists", effect="NoSchedule")
    staying = toleration("nvidia.com/gpu", operator="Exists", effect="NoExecute")

    assert tolerated(toleration("spot", operator="Exists"), named, pools=[]) == [(1, "google.com/tpu")]
    assert tolerated(everything, pools=[]) == [(0, "amd.com/gpu")]
    assert tolerated(staying, pools=[]) == []


def test_partly_known_pods_may_ask_for_accelerators() -> None:
    guard = toleration("nvidia.com/gpu", operator="Exists")
    pod = workload(builders.pod(tolerations=[guard], nodeSelector={"pool": "h100"}))
    (pod_set,) = pod.pod_sets
    nodes = PoolPlacements(models.Config(pools=[GUARDED]), VOCABULARY)

    assert nodes.of(pod_set, workload=pod)["tolerated"] != []
    assert nodes.of(replace(pod_set, fully_known=False), workload=pod) == NO_POOLS_INPUT


def test_pods_with_accelerators_are_to_tolerate_the_taint() -> None:
    gpu_pod = builders.pod(builders.container(gpus=1), tolerations=[toleration("nvidia.com/gpu", operator="Exists")])

    assert seen(gpu_pod, GUARDED)["tolerated"] == []


def test_numbers_of_all_allowed_nodes_are_given() -> None:
    either = node_affinity(
        term(expression(COUNT, "In", "4", "8"), expression("zone", "In", "a")), term(expression(COUNT, "In", "2"))
    )

    assert seen(builders.pod(builders.container(gpus=8), affinity=either))["numbers"] == {COUNT: [2, 4, 8]}
    assert seen(builders.pod(builders.container(gpus=8), nodeSelector={COUNT: "8", "pool": "h100"}))["numbers"] == {
        COUNT: [8]
    }


def test_pods_without_accelerators_need_no_numbers() -> None:
    assert "numbers" not in seen(builders.pod(nodeSelector={COUNT: "8"}))


def test_without_a_numeric_label_the_slice_has_no_numbers() -> None:
    assert "numbers" not in seen(builders.pod(builders.container(gpus=8), nodeSelector={"pool": "h100"}))


EIGHT = config_pools.Pool(
    name="h100", node_selector={"pool": "h100"}, gpu=config_pools.Gpus(per_node=8), fabric="infiniband"
)
FOUR = config_pools.Pool(name="l40s", node_selector={"pool": "l40s"}, gpu=config_pools.Gpus(per_node=4))
SLICED = config_pools.Pool(
    name="mig", node_selector={"pool": "mig"}, gpu=config_pools.Gpus(per_node=2, board="H100-80", mig_strategy="single")
)
SHARING = config_pools.Pool(
    name="shared",
    node_selector={"pool": "shared"},
    gpu=config_pools.Gpus(per_node=4),
    allocatable={"nvidia.com/gpu": "16"},
)


def fitting(gpus: int, *pools: config_pools.Pool) -> list[str]:
    return [fit["pool"] for fit in seen(builders.pod(builders.container(gpus=gpus)), *pools)["fits"]]


def test_pods_do_not_fit_a_pool_whose_nodes_have_fewer_gpus() -> None:
    """Otherwise training on whole nodes would get no fabric, because of a pool where it can never run."""
    assert fitting(8, EIGHT, FOUR) == ["h100"]
    assert fitting(4, EIGHT, FOUR) == ["h100", "l40s"]


def test_allocatable_devices_and_slices_count_before_gpus() -> None:
    assert fitting(8, FOUR, SHARING) == ["shared"]
    assert fitting(4, EIGHT, SLICED) == ["h100", "mig"]


def test_where_no_pool_is_large_enough_all_stay() -> None:
    """The verdict about the nodes says that the pods never run."""
    assert fitting(16, EIGHT, FOUR) == ["h100", "l40s"]


def test_pods_of_another_size_do_not_share_an_answer() -> None:
    nodes = PoolPlacements(models.Config(pools=[EIGHT, FOUR]), VOCABULARY)
    found = []
    for gpus in (4, 8):
        pod = workload(builders.pod(builders.container(gpus=gpus)))
        found.append(len(nodes.of(pod.pod_sets[0], workload=pod)["fits"]))

    assert found == [2, 1]


def test_a_type_of_machine_that_no_pool_names_is_given() -> None:
    label = "node.kubernetes.io/instance-type"
    named = config_pools.Pool(name="p5", node_selector={label: "p5.48xlarge"})
    selecting = builders.pod(builders.container(gpus=1), nodeSelector={label: "p5.48xlarge"})

    assert seen(selecting, EIGHT)["undeclaredLabels"] == [{"label": label, "values": ["p5.48xlarge"]}]
    assert "undeclaredLabels" not in seen(selecting, EIGHT, named)
    assert "undeclaredLabels" not in seen(selecting)
    assert "undeclaredLabels" not in seen(builders.pod(builders.container(gpus=1)), EIGHT)


GKE = config_pools.Pool(name="g2", node_selector={"cloud.google.com/gke-nodepool": "g2"}, fabric="infiniband")
H100_ON_GKE = config_pools.Pool(
    name="a3",
    node_selector={"cloud.google.com/gke-nodepool": "a3"},
    gpu=config_pools.Gpus(per_node=8, board="H100-80"),
)


def test_a_label_that_no_pool_names_leaves_the_pool_unknown() -> None:
    gold = builders.pod(builders.container(gpus=1), nodeSelector={"team/pool": "gold"})
    zone = builders.pod(builders.container(gpus=1), nodeSelector={"topology.kubernetes.io/zone": "a"})
    in_the_pool = builders.pod(builders.container(gpus=1), nodeSelector={"team/pool": "gold", "pool": "h100"})

    assert seen(gold, EIGHT)["undeclaredLabels"] == [{"label": "team/pool", "values": ["gold"]}]
    assert "undeclaredLabels" not in seen(zone, EIGHT)
    assert "undeclaredLabels" not in seen(in_the_pool, EIGHT)


def test_a_service_gives_its_nodes_labels_that_the_pool_does_not_name() -> None:
    label = "cloud.google.com/gke-accelerator"
    l4 = builders.pod(builders.container(gpus=1), nodeSelector={label: "nvidia-l4"})
    found = seen(l4, GKE, H100_ON_GKE)

    assert found["undeclaredLabels"] == [{"label": label, "values": ["nvidia-l4"]}]
    assert "undeclaredDevices" not in found
    named = config_pools.Pool(name="l4", node_selector={label: "nvidia-l4"})
    # The board of the other pool is known, and it is not an L4.
    assert [fit["pool"] for fit in seen(l4, named, H100_ON_GKE)["fits"]] == ["l4"]
    assert "undeclaredDevices" in seen(l4, EIGHT)


def test_a_machine_type_tells_which_devices_a_pool_has() -> None:
    machine = config_pools.Pool(name="a3", node_selector={"node.kubernetes.io/instance-type": "a3-megagpu-8g"})
    label = "cloud.google.com/gke-accelerator"
    mega = builders.pod(builders.container(gpus=8), nodeSelector={label: "nvidia-h100-mega-80gb"})

    assert "undeclaredDevices" not in seen(mega, machine)
    assert "undeclaredLabels" not in seen(mega, machine)


def memory(selector: dict[str, str], *pools: dict[str, str]) -> tuple[int, int] | None:
    """The memory of the smallest and of the largest board of pods with a selector."""
    declared = [
        config_pools.Pool(name=f"pool-{index}", node_selector=labels, resources=["nvidia.com/gpu"])
        for index, labels in enumerate(pools)
    ]
    found = seen(builders.pod(GPU_CONTAINER, nodeSelector=selector), *declared).get("gpuMemory")
    return None if found is None else (found["least"], found["most"])


@pytest.mark.parametrize(
    ("label", "value", "gigabytes"),
    [
        ("nvidia.com/gpu.product", "NVIDIA-L40S", 48),
        ("nvidia.com/gpu.product", "Tesla-T4", 16),
        ("nvidia.com/gpu.product", "NVIDIA-H100-NVL", 94),
        ("nvidia.com/gpu.product", "NVIDIA-A100", None),
        ("cloud.google.com/gke-accelerator", "nvidia-h100-80gb", 80),
        ("cloud.google.com/gke-accelerator", "nvidia-tesla-a100", 40),
        ("k8s.amazonaws.com/accelerator", "nvidia-tesla-v100", None),
        ("node.kubernetes.io/instance-type", "g6.4xlarge", 24),
        ("node.kubernetes.io/instance-type", "g2-standard-8", 24),
        ("node.kubernetes.io/instance-type", "p4de.24xlarge", 80),
        ("karpenter.k8s.aws/instance-family", "p5en", 141),
        ("karpenter.k8s.aws/instance-gpu-name", "a100", None),
        ("pool", "a", None),
    ],
)
def test_labels_of_nodes_tell_the_memory_of_their_boards(label: str, value: str, gigabytes: int | None) -> None:
    assert memory({label: value}) == (None if gigabytes is None else (gigabytes, gigabytes))


def test_the_label_of_nvidia_counts_before_others() -> None:
    assert memory({"nvidia.com/gpu.product": "NVIDIA-L4", "k8s.amazonaws.com/accelerator": "nvidia-tesla-t4"}) == (
        24,
        24,
    )


def test_pools_tell_the_smallest_and_the_largest_board() -> None:
    assert memory({}, {"nvidia.com/gpu.product": "NVIDIA-L4"}, {"nvidia.com/gpu.product": "NVIDIA-H200"}) == (24, 141)
    assert memory({}, {"nvidia.com/gpu.product": "NVIDIA-L4"}, {"pool": "a"}) is None
