"""Whether all pods of a gang could run at once, if nothing else did."""

from collections.abc import Sequence

import builders
from unit.authorities.clusters import cluster, demand
from usher import paths
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes.judge import GangMember, GangRoom
from usher.config import pools as config_pools

NODES = [builders.node(f"gpu-{index}", gpus=8, labels={"pool": "h100"}) for index in range(4)]
POOL = config_pools.Pool(name="h100", node_selector={"pool": "h100"})
FIXED = POOL.model_copy(update={"scales_from_zero": False})


def room(
    *members: tuple[int, int], nodes: Sequence[paths.Object] = NODES, pools: Sequence[config_pools.Pool] = (FIXED,)
) -> GangRoom | None:
    """The room for pod sets, each given by its pods and the GPUs of each pod."""
    asked = [
        GangMember(demand=demand(builders.pod(builders.container(gpus=gpus))), pods=pods) for pods, gpus in members
    ]
    return nodes_judge.gang_room(asked, cluster(*nodes, pools=pools))


def test_a_gang_that_may_fit_has_no_verdict() -> None:
    assert room((4, 8)) is None
    assert room((8, 4)) is None


def test_each_node_holds_whole_pods_alone() -> None:
    assert room((8, 5)) == GangRoom(most=4, sure=True)


def test_pod_sets_share_what_there_is() -> None:
    """One Master and four Workers of 8 GPUs each, on four nodes of 8."""
    assert room((1, 8), (4, 8)) == GangRoom(most=4, sure=True)


def test_a_node_holds_no_more_pods_of_several_sets_than_of_the_least_amounts_of_any() -> None:
    """Each node holds one pod of more than 4 GPUs, though there are enough GPUs for all of them."""
    assert room((3, 5), (3, 5)) == GangRoom(most=4, sure=True)
    assert room((3, 5), (3, 4)) is None


def test_pods_that_share_a_gpu_have_no_bound() -> None:
    """KAI-Scheduler places several of them on one GPU, though each needs a node with a whole one."""
    part = builders.pod(builders.container(), annotations={"gpu-memory": "24000"})

    assert nodes_judge.gang_room([GangMember(demand=demand(part), pods=99)], cluster(*NODES, pools=[FIXED])) is None


def test_nodes_without_a_maximum_may_become_more() -> None:
    assert room((5, 8), pools=[POOL]) == GangRoom(most=4, sure=False)
    assert room((5, 8), pools=[]) == GangRoom(most=4, sure=False)


def test_a_pool_that_scales_bounds_nothing_unless_it_says_how_far() -> None:
    assert room((5, 8), pools=[POOL.model_copy(update={"scales_from_zero": True})]) is None
    assert room((7, 8), pools=[POOL.model_copy(update={"max_nodes": 6})]) == GangRoom(most=6, sure=True)


def test_a_pool_without_nodes_has_as_many_as_it_may_have() -> None:
    pool = POOL.model_copy(
        update={"scales_from_zero": True, "max_nodes": 3, "allocatable": {"nvidia.com/gpu": 8}},
    )

    assert room((7, 4), nodes=[builders.node()], pools=[pool]) == GangRoom(most=6, sure=True)


def test_future_nodes_hold_only_whole_pods() -> None:
    pool = POOL.model_copy(
        update={"scales_from_zero": True, "max_nodes": 3, "allocatable": {"nvidia.com/gpu": 8}},
    )

    assert room((4, 5), nodes=[builders.node()], pools=[pool]) == GangRoom(most=3, sure=True)


def test_pods_per_node_are_bounded_too() -> None:
    node = builders.node("gpu-0", gpus=8, labels={"pool": "h100"}, allocatable={"pods": "2"})

    assert room((3, 1), nodes=[node]) == GangRoom(most=2, sure=True)


def test_hosts_that_are_chosen_by_name_are_counted_one_by_one() -> None:
    names = builders.expression("kubernetes.io/hostname", "In", "gpu-1", "gpu-2")
    pod = builders.pod(builders.container(gpus=8), affinity=builders.node_affinity(builders.term(names)))

    found = nodes_judge.gang_room([GangMember(demand=demand(pod), pods=3)], cluster(*NODES, pools=[FIXED]))
    assert found == GangRoom(most=2, sure=True)


def test_what_cannot_be_counted_is_not() -> None:
    broken = builders.replaced(builders.node("broken"), "/status/allocatable/cpu", "many")

    assert room((5, 8), nodes=[*NODES, broken]) is None


def test_what_a_pod_of_a_gang_asks_for_that_is_not_known_leaves_all_open() -> None:
    claiming = builders.pod(
        builders.container(claims=["gpu"]), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}]
    )
    members = [
        GangMember(demand=demand(builders.pod(builders.container(gpus=8))), pods=9),
        GangMember(demand=demand(claiming), pods=1),
    ]

    assert nodes_judge.gang_room(members[:1], cluster(*NODES, pools=[FIXED])) == GangRoom(most=4, sure=True)
    assert nodes_judge.gang_room(members, cluster(*NODES, pools=[FIXED])) is None


def test_nodes_that_hold_only_some_of_the_pods_give_only_these_what_they_have() -> None:
    """Eight nodes without GPUs hold the launcher, and no Worker."""
    launcher = GangMember(demand=demand(builders.pod(builders.container(requests={"cpu": "1"}))), pods=1)
    workers = GangMember(demand=demand(builders.pod(builders.container(gpus=8))), pods=2)
    there = [*NODES[:2], *(builders.node(f"cpu-{index}") for index in range(8))]

    found = nodes_judge.gang_room([launcher, workers, workers], cluster(*there, pools=[FIXED]))
    assert found == GangRoom(most=3, sure=False)


def test_pods_that_select_one_host_take_nothing_from_the_number_of_the_others() -> None:
    on_one = builders.pod(builders.container(gpus=8), nodeSelector={"kubernetes.io/hostname": "gpu-0"})
    members = [
        GangMember(demand=demand(builders.pod(builders.container(gpus=8))), pods=4),
        GangMember(demand=demand(on_one), pods=1),
    ]

    for each in (members, members[::-1]):
        assert nodes_judge.gang_room(each, cluster(*NODES, pools=[FIXED])) == GangRoom(most=4, sure=True)


def test_a_host_that_two_alternatives_name_is_one_host() -> None:
    names = [builders.expression("kubernetes.io/hostname", "In", *hosts) for hosts in (("gpu-1", "gpu-2"), ("gpu-2",))]
    affinity = builders.node_affinity(*(builders.term(each) for each in names))
    pod = builders.pod(builders.container(gpus=8), affinity=affinity)

    found = nodes_judge.gang_room([GangMember(demand=demand(pod), pods=3)], cluster(*NODES, pools=[FIXED]))
    assert found == GangRoom(most=2, sure=True)


def test_devices_that_a_device_class_may_serve_are_not_counted() -> None:
    served = demand(builders.pod(builders.container(gpus=8)), from_classes=["nvidia.com/gpu"])

    assert nodes_judge.gang_room([GangMember(demand=served, pods=9)], cluster(*NODES, pools=[FIXED])) is None


def test_what_a_pool_does_not_say_of_its_nodes_bounds_nothing() -> None:
    pool = POOL.model_copy(update={"scales_from_zero": True, "max_nodes": 3, "allocatable": {"nvidia.com/gpu": 8}})
    worker = GangMember(demand=demand(builders.pod(builders.container(gpus=8, requests={"cpu": "64"}))), pods=7)

    assert nodes_judge.gang_room([worker], cluster(builders.node(), pools=[pool])) == GangRoom(most=3, sure=True)
