"""Boards hold other instances after they are divided again."""

import builders
from unit.authorities.clusters import cluster, demand
from usher import paths
from usher.authorities.nodes.several import RepartitioningInput, find_repartitioning

H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "2"}


def holding(labels: dict[str, str] | None = None, **slices: int) -> RepartitioningInput | None:
    limits: dict[str, paths.Json] = {
        f"nvidia.com/mig-{name[1:].replace('_', '.')}": count for name, count in slices.items()
    }
    pod = builders.pod(builders.container(limits=limits))
    return find_repartitioning(demand(pod), cluster(builders.node("mig-0", labels=labels or H100)).all)


def test_a_mix_that_fits_comes_with_the_number_of_gpus_that_it_takes() -> None:
    assert holding(_3g_40gb=1, _1g_10gb=4) == RepartitioningInput(
        place="nodes like mig-0", board="H100-80", gpus=1, of=2, mix="4 x 1g.10gb + 3g.40gb"
    )


def test_instances_may_lie_on_several_gpus_of_a_node() -> None:
    found = holding(_3g_40gb=3)

    assert found is not None
    assert found["gpus"] == 2


def test_what_fits_on_no_gpus_of_a_node_is_not_told() -> None:
    assert holding(_7g_80gb=3) is None
    assert holding(_1g_5gb=1) is None


def test_nothing_is_known_of_boards_without_a_name_or_a_number() -> None:
    assert holding({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, _1g_10gb=1) is None
    assert holding({"nvidia.com/gpu.count": "8"}, _1g_10gb=1) is None


def test_pods_without_slices_need_no_board() -> None:
    assert holding() is None


def test_gpus_behind_a_taint_that_is_not_tolerated_are_for_others() -> None:
    pod = builders.pod(builders.container(limits={"nvidia.com/mig-1g.10gb": 1}))
    guarded = cluster(builders.node("mig-0", labels=H100, taints=["dedicated=a:NoSchedule"]))

    assert find_repartitioning(demand(pod), guarded.all) is None


def test_gpus_that_are_all_divided_alike_count_their_instances() -> None:
    """Under the strategy single the label of a node says how many instances it has, which are no GPUs to divide."""
    single = {**H100, "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}

    assert holding(single, _3g_40gb=1) is None
