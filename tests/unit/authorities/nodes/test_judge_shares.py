"""Whether any node holds slices of GPUs, devices of a class and shares."""

import pytest

import builders
from unit.authorities.clusters import cluster, demand, judge
from unit.authorities.nodes.judging import CPU_NODE, GPU_NODE, TOLERATION, gpu_pod, obstacles
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes.places import MissingAmount
from usher.authorities.verdict import Answer
from usher.config import pools


class TestSlices:
    POOL = pools.Pool(
        name="mig",
        node_selector={"pool": "mig"},
        resources=["nvidia.com/mig-3g.40gb", "nvidia.com/mig-1g.10gb"],
        scales_from_zero=True,
        gpu=pools.Gpus(board="H100-80", per_node=1, mig_strategy="mixed"),
    )

    @pytest.mark.parametrize(("large", "small", "fits"), [(1, 4, True), (2, 1, False), (3, 0, False), (0, 7, True)])
    def test_fit_a_pool_that_is_divided_as_they_are_asked_for_if_they_fit_its_board(
        self, large: int, small: int, fits: bool
    ) -> None:
        limits = {"nvidia.com/mig-3g.40gb": large, "nvidia.com/mig-1g.10gb": small}

        found = judge(builders.pod(builders.container(limits=limits)), CPU_NODE, pools=[self.POOL])
        assert found.answer is (Answer.COULD if fits else Answer.NEVER)

    @pytest.mark.parametrize(
        ("profile", "gpus", "asked", "most"),
        [("3g.40gb", 1, 3, 2), ("1g.10gb", 1, 8, 7), ("1g.10gb", 2, 15, 14), ("1g.5gb", 1, 2, 0)],
    )
    def test_that_are_too_many_come_with_the_most_that_one_node_holds(
        self, profile: str, gpus: int, asked: int, most: int
    ) -> None:
        resource = f"nvidia.com/mig-{profile}"
        board = pools.Gpus(board="H100-80", per_node=gpus, mig_strategy="mixed")
        pool = self.POOL.model_copy(update={"resources": [resource], "gpu": board, "allocatable": {"cpu": "64"}})

        found = judge(builders.pod(builders.container(limits={resource: asked})), pools=[pool])
        assert obstacles(found).amounts == (MissingAmount(resource=resource, asked=asked, most=most),)

    def test_never_fit_a_pool_whose_board_is_unknown(self) -> None:
        pool = self.POOL.model_copy(update={"resources": [], "gpu": pools.Gpus(per_node=1, mig_strategy="mixed")})
        small = builders.pod(builders.container(limits={"nvidia.com/mig-1g.10gb": 1}))

        assert judge(small, CPU_NODE, pools=[pool]).answer is Answer.NEVER

    def test_count_as_a_node_advertises_them(self) -> None:
        node = builders.node("mig-0", allocatable={"nvidia.com/mig-1g.10gb": "7", "nvidia.com/mig-3g.40gb": "0"})
        large = builders.pod(builders.container(limits={"nvidia.com/mig-3g.40gb": 1}))

        assert judge(large, node).answer is Answer.NEVER


def test_claims_are_not_decided_by_what_nodes_advertise() -> None:
    claiming = builders.pod(
        builders.container(claims=["gpu"]), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}]
    )

    assert judge(claiming, CPU_NODE).answer is Answer.UNKNOWN
    large = builders.replaced(claiming, "/spec/nodeSelector", {"zone": "x"})
    assert judge(large, CPU_NODE).answer is Answer.NEVER


def test_a_resource_that_a_device_class_serves_may_be_on_nodes_that_do_not_advertise_it() -> None:
    served = demand(gpu_pod(), from_classes=["nvidia.com/gpu"])

    assert nodes_judge.judge(served, cluster(CPU_NODE)).answer is Answer.UNKNOWN
    assert nodes_judge.judge(served, cluster(CPU_NODE, GPU_NODE)).answer is Answer.COULD


@pytest.mark.parametrize("name", ["", "gpu-0"])
def test_a_device_class_may_serve_a_resource_that_a_node_advertises_as_zero(name: str) -> None:
    """Its device plugin has gone, and the resource stays listed."""
    served = demand(gpu_pod(nodeName=name or None), from_classes=["nvidia.com/gpu"])

    assert nodes_judge.judge(served, cluster(builders.node("gpu-0", gpus=0))).answer is Answer.UNKNOWN


def test_nodes_that_advertise_a_resource_have_no_more_of_it_by_a_device_class() -> None:
    served = demand(gpu_pod(16), from_classes=["nvidia.com/gpu"])

    assert nodes_judge.judge(served, cluster(GPU_NODE)).answer is Answer.NEVER


def test_the_memory_of_a_share_is_on_no_node() -> None:
    """HAMi keeps account of it, and nodes advertise the devices alone."""
    sharing = builders.pod(
        builders.container(limits={"nvidia.com/gpu": 1, "nvidia.com/gpumem": 4000}), tolerations=[TOLERATION]
    )

    assert judge(sharing, GPU_NODE).answer is Answer.COULD
    turn = builders.pod(builders.container(limits={"nvidia.com/gpu.shared": 1}), tolerations=[TOLERATION])
    assert judge(turn, GPU_NODE).answer is Answer.NEVER
