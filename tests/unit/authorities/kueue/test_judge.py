"""Whether a queue could ever admit a workload, with the numbers (docs/domain/kueue.md#order-of-decisions)."""

import pytest

import builders
from builders import GPU, container, template
from builders.queues import cluster_queue, cohort, configuration, flavor, gpu_group, group, quota, topology
from unit.authorities.kueue.judging import A100, RACK, TAINTED, job, judged, placed
from usher import paths
from usher.authorities.kueue.flavor_fit import FlavorCapacity, KueueVerdict
from usher.authorities.verdict import Answer


def capacities(verdict: KueueVerdict) -> list[tuple[str, int, list[FlavorCapacity]]]:
    return [(each.resource, each.total, list(each.flavors)) for each in verdict.shortages]


class TestTheAcceptanceCases:
    """Number 9 of docs/domain/acceptance-cases.md, and the job of docs/domain/acceptance-cases.md#the-brief."""

    def test_64_gpus_never_fit_into_16_and_32_that_can_be_borrowed(self) -> None:
        value = builders.pytorch_job(template(container(gpus=8)), workers=8)
        research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus")
        others = cluster_queue("production", gpu_group(100), cohort="shared-gpus")

        verdict = judged(value, research, others, A100)

        assert verdict.answer is Answer.NEVER
        assert capacities(verdict) == [(GPU, 64, [FlavorCapacity(flavor="a100", own=16, most=48)])]

    def test_a_cohort_that_is_smaller_than_nominal_and_borrowed(self) -> None:
        research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus")
        others = cluster_queue("production", gpu_group(8), cohort="shared-gpus")
        facts = (research, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=3), *facts).answer is Answer.COULD
        assert capacities(judged(job(pods=4), *facts)) == [(GPU, 32, [FlavorCapacity(flavor="a100", own=16, most=24)])]

    def test_a_lending_limit_of_others(self) -> None:
        research = cluster_queue("research", gpu_group(16), cohort="shared-gpus")
        others = cluster_queue("production", gpu_group(64, lending=8), cohort="shared-gpus")
        facts = (research, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=3), *facts).answer is Answer.COULD
        assert judged(job(pods=4), *facts).answer is Answer.NEVER

    def test_a_queue_without_a_borrowing_limit_borrows_everything(self) -> None:
        research = cluster_queue("research", gpu_group(0), cohort="shared-gpus")
        others = cluster_queue("production", gpu_group(64), cohort="shared-gpus")
        facts = (research, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=8), *facts).answer is Answer.COULD
        assert judged(job(pods=9), *facts).answer is Answer.NEVER

    def test_a_queue_that_is_stopped_does_not_mean_never(self) -> None:
        assert judged(job(), cluster_queue("research", gpu_group(8), stopPolicy="Hold"), A100).answer is Answer.COULD

    def test_an_object_of_v1beta1(self) -> None:
        old = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus", version="v1beta1")
        others = cluster_queue("production", gpu_group(100), cohort="shared-gpus", version="v1beta2")
        facts = (old, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=6), *facts).answer is Answer.COULD
        assert judged(job(pods=7), *facts).answer is Answer.NEVER


def test_a_resource_that_no_group_covers_is_never_given() -> None:
    value = builders.job(template(container(gpus=1, requests={"cpu": 4, "memory": 0})))
    verdict = judged(value, cluster_queue("research", gpu_group(8)), A100)

    assert (verdict.answer, verdict.uncovered) == (Answer.NEVER, ("cpu",))


def test_an_undeclared_resource_passes_if_the_kueue_configuration_ignores_it() -> None:
    value = builders.job(template(container(gpus=1, requests={"cpu": 4})))
    lenient = configuration("resources: {quotaCheckStrategy: IgnoreUndeclared}")

    assert judged(value, cluster_queue("research", gpu_group(8)), A100, lenient).answer is Answer.COULD


def test_pods_may_have_a_quota_themselves() -> None:
    queue = cluster_queue("research", gpu_group(64), group(("any", [quota(4, resource="pods")])))
    facts = (queue, A100, flavor("any"))

    assert judged(job(gpus=1, pods=4), *facts).answer is Answer.COULD
    assert capacities(judged(job(gpus=1, pods=5), *facts)) == [
        ("pods", 5, [FlavorCapacity(flavor="any", own=4, most=4)])
    ]


def test_pod_sets_may_have_different_flavors_but_each_only_one() -> None:
    queue = cluster_queue("research", group(("a100", [quota(8)]), ("h100", [quota(16)])))
    facts = (queue, A100, flavor("h100"))
    parts = [builders.replicated_job(name, template(container(gpus=8)), replicas=count) for name, count in SPLIT]

    assert judged(builders.job_set(*parts), *facts).answer is Answer.COULD
    verdict = judged(job(pods=3), *facts)
    assert capacities(verdict) == [
        (GPU, 24, [FlavorCapacity(flavor="h100", own=16, most=16), FlavorCapacity(flavor="a100", own=8, most=8)])
    ]


SPLIT = (("head", 1), ("workers", 2))


def test_what_lands_on_one_flavor_is_added_up() -> None:
    value = builders.pytorch_job(template(container(gpus=8)), workers=2, master=template(container(gpus=8)))
    verdict = judged(value, cluster_queue("research", gpu_group(16)), A100)

    assert capacities(verdict) == [(GPU, 24, [FlavorCapacity(flavor="a100", own=16, most=16)])]
    assert [each.pod_set.name for each in verdict.shortages[0].pods] == ["Master", "Worker"]


def test_pod_sets_that_are_placed_together_have_one_flavor() -> None:
    queue = cluster_queue("research", group(("a100", [quota(8)]), ("h100", [quota(16)])))
    together = {"kueue.x-k8s.io/podset-group-name": "ring"}
    parts = [
        builders.replicated_job(name, template(container(gpus=8), annotations=together), replicas=count)
        for name, count in SPLIT
    ]

    assert judged(builders.job_set(*parts), queue, A100, flavor("h100")).answer is Answer.NEVER


def test_all_resources_of_a_group_come_from_one_flavor() -> None:
    few_cpu = ("a100", [quota(8, resource="cpu"), quota(64), quota(0, resource="memory")])
    few_gpus = ("h100", [quota(512, resource="cpu"), quota(8), quota(0, resource="memory")])
    value = builders.job(template(container(gpus=8, requests={"cpu": 64})), parallelism=4, completions=4)

    verdict = judged(value, cluster_queue("research", group(few_cpu, few_gpus)), A100, flavor("h100"))

    assert [(each.resource, each.together) for each in verdict.shortages] == [("cpu", True), (GPU, True)]


def test_different_groups_may_come_from_different_flavors() -> None:
    queue = cluster_queue("research", gpu_group(8), group(("any", [quota(64, resource="cpu")])))
    value = builders.job(template(container(gpus=8, requests={"cpu": 64})))

    assert judged(value, queue, A100, flavor("any")).answer is Answer.COULD


class TestWhatIsNotKnown:
    """Never holds whatever the missing part says, and so does admissible; all else is unknown, with its reason."""

    def test_flavors_that_are_not_known(self) -> None:
        verdict = judged(job(), cluster_queue("research", gpu_group(8)))

        assert (verdict.answer, verdict.unknowns) == (Answer.UNKNOWN, ("the ResourceFlavors are not known",))
        assert judged(job(gpus=9), cluster_queue("research", gpu_group(8))).answer is Answer.NEVER

    def test_a_flavor_that_does_not_exist(self) -> None:
        verdict = judged(job(), cluster_queue("research", gpu_group(8)), flavor("h100"))

        assert verdict.unknowns == ("ResourceFlavor a100 does not exist",)

    def test_a_flavor_that_cannot_be_read(self) -> None:
        broken = flavor("a100", nodeTaints=TAINTED, tolerations="all")

        verdict = judged(job(), cluster_queue("research", gpu_group(8)), broken)

        assert verdict.unknowns == ("ResourceFlavor a100, spec.tolerations: expected a list, found a string",)

    def test_a_topology_that_does_not_exist(self) -> None:
        facts = (cluster_queue("research", gpu_group(8)), flavor("a100", topologyName="racks"))

        assert judged(placed(RACK), *facts).unknowns == ("the Topologies are not known",)
        assert judged(placed(RACK), *facts, topology("blocks", RACK)).unknowns == ("Topology racks does not exist",)

    def test_a_topology_that_cannot_be_read(self) -> None:
        broken = builders.replaced(topology("racks", RACK), "/spec/levels/0/nodeLabel", 7)
        facts = (cluster_queue("research", gpu_group(8)), flavor("a100", topologyName="racks"), broken)

        assert judged(placed("block"), *facts).unknowns == (
            "Topology racks, spec.levels[0].nodeLabel: expected a string, found a number; quote it",
        )

    def test_a_quota_that_cannot_be_read(self) -> None:
        verdict = judged(job(), cluster_queue("research", gpu_group("eight")), A100)

        assert verdict.answer is Answer.UNKNOWN
        assert verdict.unknowns[0].startswith("ClusterQueue research, spec.resourceGroups[0]")

    def test_a_number_that_cannot_be_read_beside_those_that_are_enough(self) -> None:
        beside = group(("a100", [quota(8)]), ("h100", [quota("eight")]))

        verdict = judged(job(), cluster_queue("research", beside), A100, flavor("h100"))

        assert verdict.answer is Answer.COULD

    def test_a_cohort_that_is_its_own_ancestor(self) -> None:
        facts = (cluster_queue("research", gpu_group(8), cohort="a"), cohort("a", parent="a"), A100)

        assert judged(job(), *facts).answer is Answer.COULD
        assert judged(job(gpus=9), *facts).unknowns == (
            "cohort a is its own ancestor (a -> a), so Kueue cannot count its quota",
        )

    def test_a_configuration_of_kueue_that_cannot_be_read(self) -> None:
        verdict = judged(job(gpus=9), cluster_queue("research", gpu_group(8)), A100, configuration("{"))

        assert verdict.answer is Answer.UNKNOWN
        assert verdict.unknowns[0].startswith("kueue-manager-config:")

    @pytest.mark.parametrize(
        ("kind", "spec", "asking"),
        [
            ("TaskRun", {"taskRef": {"name": "elsewhere"}}, "the pod asks"),
            (
                "PipelineRun",
                {"pipelineSpec": {"tasks": [{"name": "tune", "taskRef": {"name": "elsewhere"}}]}},
                "the pods of tune ask",
            ),
        ],
    )
    def test_what_pods_ask_for_that_a_task_elsewhere_makes(self, kind: str, spec: paths.Json, asking: str) -> None:
        run: paths.Object = {"apiVersion": "tekton.dev/v1", "kind": kind, "metadata": {"name": "run"}, "spec": spec}

        assert judged(run, cluster_queue("research", gpu_group(8)), A100).unknowns == (
            f"usher does not know what else {asking} for",
        )

    def test_pods_to_which_the_workload_may_grow_do_not_count(self) -> None:
        groups = builders.ray_group(
            pod_template=template(container(gpus=8)), replicas=1, min_replicas=1, max_replicas=9
        )
        value = builders.ray_cluster(groups, autoscaling=True)

        verdict = judged(value, cluster_queue("research", gpu_group(8)), A100)

        assert (verdict.answer, verdict.unknowns) == (Answer.UNKNOWN, ())
