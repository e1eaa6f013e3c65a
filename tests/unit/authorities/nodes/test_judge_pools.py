"""Whether pods fit nodes of declared pools, which may not be there yet."""

import builders
from unit.authorities.clusters import judge
from unit.authorities.nodes.judging import CPU_NODE, GPU_NODE, H100, TOLERATION, gpu_pod, obstacles, place
from usher.authorities.nodes.judge import NodeVerdict
from usher.authorities.nodes.places import MissingAmount
from usher.authorities.verdict import Answer
from usher.config import pools


class TestPools:
    def test_that_scale_from_zero_count_without_a_node(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": True, "allocatable": {"nvidia.com/gpu": "8", "cpu": "192"}})

        assert judge(gpu_pod(8), CPU_NODE, pools=[pool]).answer is Answer.COULD
        found = judge(gpu_pod(16), CPU_NODE, pools=[pool])
        assert (place(found), obstacles(found).amounts) == (
            "pool h100",
            (MissingAmount(resource="nvidia.com/gpu", asked=16, most=8),),
        )

    def test_may_have_any_amount_of_an_undeclared_resource(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": True})

        assert judge(gpu_pod(16), CPU_NODE, pools=[pool]).answer is Answer.COULD

    def test_have_no_accelerators_but_those_that_they_offer(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": True})
        amd = builders.pod(builders.container(limits={"amd.com/gpu": 1}), tolerations=[TOLERATION])

        assert judge(amd, CPU_NODE, pools=[pool]).answer is Answer.NEVER

    def test_keep_off_whom_their_taints_keep_off(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": True, "taints": [pools.Taint(key="team", value="a")]})

        assert [each.key for each in obstacles(judge(gpu_pod(), CPU_NODE, pools=[pool])).taints] == ["team"]

    def test_have_room_for_the_pods_that_they_say(self) -> None:
        one = H100.model_copy(update={"scales_from_zero": True, "allocatable": {"pods": "1"}})
        none = H100.model_copy(update={"scales_from_zero": True, "allocatable": {"pods": "0"}})

        assert judge(gpu_pod(), CPU_NODE, pools=[one]).answer is Answer.COULD
        found = judge(gpu_pod(), pools=[none])
        assert obstacles(found).amounts == (MissingAmount(resource="pods", asked=1, most=0),)

    def test_accept_pods_without_a_toleration_for_a_taint_that_only_prefers(self) -> None:
        preferring = pools.Taint(key="team", value="a", effect="PreferNoSchedule")
        pool = H100.model_copy(update={"scales_from_zero": True, "taints": [preferring]})

        assert judge(gpu_pod(), CPU_NODE, pools=[pool]).answer is Answer.COULD

    def test_that_are_divided_alike_have_more_instances_than_gpus(self) -> None:
        """Under the strategy single nvidia.com/gpu counts instances, so that `gpu.perNode` is no bound of it."""
        gpus = pools.Gpus(board="H100-80", per_node=1, mig_strategy="single")
        pool = H100.model_copy(update={"scales_from_zero": True, "gpu": gpus})
        whole = pool.model_copy(update={"gpu": gpus.model_copy(update={"mig_strategy": "none"})})

        assert judge(gpu_pod(7), CPU_NODE, pools=[pool]).answer is Answer.COULD
        assert judge(gpu_pod(7), CPU_NODE, pools=[whole]).answer is Answer.NEVER

    def test_may_carry_labels_that_are_not_declared(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": True})

        assert judge(gpu_pod(nodeSelector={"zone": "a"}), CPU_NODE, pools=[pool]).answer is Answer.COULD
        other = gpu_pod(nodeSelector={"nvidia.com/gpu.product": "A100"})
        assert judge(other, CPU_NODE, pools=[pool]).answer is Answer.NEVER

    def test_without_nodes_and_without_a_declared_scaling_are_unknown(self) -> None:
        found = judge(gpu_pod(), CPU_NODE, pools=[H100])

        assert found == NodeVerdict(
            answer=Answer.UNKNOWN,
            reason="it fits only pool h100, which has no node; usher.yaml does not set scalesFromZero for this pool",
        )

    def test_that_do_not_scale_are_the_nodes_that_are_there(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": False, "allocatable": {"nvidia.com/gpu": "16"}})

        assert judge(gpu_pod(), CPU_NODE, pools=[pool]).answer is Answer.NEVER
        assert judge(gpu_pod(16), GPU_NODE, pools=[pool]).answer is Answer.NEVER

    def test_that_scale_may_have_larger_nodes_than_are_there(self) -> None:
        pool = H100.model_copy(update={"scales_from_zero": True, "allocatable": {"nvidia.com/gpu": "16"}})

        assert judge(gpu_pod(16), GPU_NODE, pools=[pool]).answer is Answer.COULD
