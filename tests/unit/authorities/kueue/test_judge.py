"""Whether a queue could ever admit a workload, with the numbers (docs/domain/kueue.md#order-of-decisions)."""

from collections.abc import Mapping
from itertools import product
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import GPU, container, template
from unit.authorities.kueue_objects import cluster_queue, cohort, configuration, flavor, group, quota, topology
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge as kueue_judge
from usher.authorities.kueue import read as kueue_read
from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavor_choice import assigned
from usher.authorities.kueue.verdict import FlavorCapacity, KueueVerdict
from usher.authorities.verdict import Answer
from usher.facts.store import Store

CONFIGURED = configuration("integrations: {frameworks: [batch/job]}")

RACK = "cloud.provider.com/topology-rack"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"


def judged(value: paths.Object, *facts: paths.Object, queue: str = "research") -> KueueVerdict:
    """The verdict about the only workload that Kueue makes of an object, on a queue among the facts."""
    store = Store.of([CONFIGURED, *facts])
    cluster, configured = kueue_read.cluster(store), kueue_read.configuration(store)
    assert cluster.queues is not None
    (demand,) = kueue_demand.of(workload(value), configured)
    return kueue_judge.judge(demand, cluster.queues[queue], cluster, configured)


def job(gpus: int = 8, *, pods: int = 1, spec: Mapping[str, builders.JsonValue] | None = None) -> paths.Object:
    """A Job; `spec` is what else its pod spec says."""
    value = template(container(gpus=gpus))
    for field, each in (spec or {}).items():
        value = builders.replaced(value, f"/spec/{field}", cast(paths.Json, each))
    return builders.job(value, parallelism=pods, completions=pods)


def of_gpus(nominal: paths.Json, *, borrowing: paths.Json = None, lending: paths.Json = None) -> paths.Object:
    return group(("a100", [quota(nominal, borrowing=borrowing, lending=lending)]))


A100 = flavor("a100")


def capacities(verdict: KueueVerdict) -> list[tuple[str, int, list[FlavorCapacity]]]:
    return [(each.resource, each.total, list(each.flavors)) for each in verdict.shortages]


class TestTheAcceptanceCases:
    """Number 9 of docs/domain/acceptance-cases.md, and the job of docs/domain/acceptance-cases.md#the-brief."""

    def test_64_gpus_never_fit_into_16_and_32_that_can_be_borrowed(self) -> None:
        value = builders.pytorch_job(template(container(gpus=8)), workers=8)
        research = cluster_queue("research", of_gpus(16, borrowing=32), cohort="shared-gpus")
        others = cluster_queue("production", of_gpus(100), cohort="shared-gpus")

        verdict = judged(value, research, others, A100)

        assert verdict.answer is Answer.NEVER
        assert capacities(verdict) == [(GPU, 64, [FlavorCapacity(flavor="a100", own=16, most=48)])]

    def test_a_cohort_that_is_smaller_than_nominal_and_borrowed(self) -> None:
        research = cluster_queue("research", of_gpus(16, borrowing=32), cohort="shared-gpus")
        others = cluster_queue("production", of_gpus(8), cohort="shared-gpus")
        facts = (research, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=3), *facts).answer is Answer.COULD
        assert capacities(judged(job(pods=4), *facts)) == [(GPU, 32, [FlavorCapacity(flavor="a100", own=16, most=24)])]

    def test_a_lending_limit_of_others(self) -> None:
        research = cluster_queue("research", of_gpus(16), cohort="shared-gpus")
        others = cluster_queue("production", of_gpus(64, lending=8), cohort="shared-gpus")
        facts = (research, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=3), *facts).answer is Answer.COULD
        assert judged(job(pods=4), *facts).answer is Answer.NEVER

    def test_no_borrowing_limit_is_no_limit(self) -> None:
        research = cluster_queue("research", of_gpus(0), cohort="shared-gpus")
        others = cluster_queue("production", of_gpus(64), cohort="shared-gpus")
        facts = (research, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=8), *facts).answer is Answer.COULD
        assert judged(job(pods=9), *facts).answer is Answer.NEVER

    def test_a_queue_that_is_stopped_does_not_mean_never(self) -> None:
        assert judged(job(), cluster_queue("research", of_gpus(8), stopPolicy="Hold"), A100).answer is Answer.COULD

    def test_an_object_of_v1beta1(self) -> None:
        old = cluster_queue("research", of_gpus(16, borrowing=32), cohort="shared-gpus", version="v1beta1")
        others = cluster_queue("production", of_gpus(100), cohort="shared-gpus", version="v1beta2")
        facts = (old, others, cohort("shared-gpus"), A100)

        assert judged(job(pods=6), *facts).answer is Answer.COULD
        assert judged(job(pods=7), *facts).answer is Answer.NEVER


def test_a_resource_that_no_group_covers_is_never_given() -> None:
    value = builders.job(template(container(gpus=1, requests={"cpu": 4, "memory": 0})))
    verdict = judged(value, cluster_queue("research", of_gpus(8)), A100)

    assert (verdict.answer, verdict.uncovered) == (Answer.NEVER, ("cpu",))


def test_it_is_let_through_where_kueue_is_told_so() -> None:
    value = builders.job(template(container(gpus=1, requests={"cpu": 4})))
    lenient = configuration("resources: {quotaCheckStrategy: IgnoreUndeclared}")

    assert judged(value, cluster_queue("research", of_gpus(8)), A100, lenient).answer is Answer.COULD


def test_pods_may_have_a_quota_themselves() -> None:
    queue = cluster_queue("research", of_gpus(64), group(("any", [quota(4, resource="pods")])))
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
    verdict = judged(value, cluster_queue("research", of_gpus(16)), A100)

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
    queue = cluster_queue("research", of_gpus(8), group(("any", [quota(64, resource="cpu")])))
    value = builders.job(template(container(gpus=8, requests={"cpu": 64})))

    assert judged(value, queue, A100, flavor("any")).answer is Answer.COULD


TAINTED: paths.Json = [{"key": GPU, "value": "present", "effect": "NoSchedule"}]


def reasons(verdict: KueueVerdict) -> list[str]:
    return [f"{refusal.flavor}: {refusal.reason}" for each in verdict.unmatched for refusal in each.refusals]


def test_a_taint_of_the_flavor_keeps_pods_out() -> None:
    verdict = judged(job(), cluster_queue("research", of_gpus(8)), flavor("a100", nodeTaints=TAINTED))

    assert verdict.answer is Answer.NEVER
    assert reasons(verdict) == ["a100: its taint nvidia.com/gpu=present:NoSchedule is not tolerated"]


@pytest.mark.parametrize("by", ["pod", "flavor"])
def test_it_is_tolerated_by_the_pods_or_by_the_flavor(by: str) -> None:
    tolerations: list[paths.Json] = [{"key": GPU, "operator": "Exists"}]
    value = job(spec={"tolerations": tolerations} if by == "pod" else None)
    a100 = flavor("a100", nodeTaints=TAINTED, tolerations=tolerations if by == "flavor" else None)

    verdict = judged(value, cluster_queue("research", of_gpus(8)), a100)

    assert verdict.answer is Answer.COULD


ZONE_A = flavor("a100", labels={"pool": "a100"})


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({"nodeSelector": {"pool": "a100"}}, Answer.COULD),
        ({"nodeSelector": {"pool": "h100"}}, Answer.NEVER),
        ({"nodeSelector": {"zone": "b"}}, Answer.COULD),
        ({"affinity": builders.node_affinity(builders.term(builders.expression("pool", "In", "h100")))}, Answer.NEVER),
        (
            {"affinity": builders.node_affinity(builders.term(builders.expression("zone", "In", "b")))},
            Answer.COULD,
        ),
        (
            {
                "affinity": builders.node_affinity(
                    builders.term(builders.expression("pool", "In", "h100")),
                    builders.term(builders.expression("zone", "In", "b")),
                )
            },
            Answer.COULD,
        ),
    ],
)
def test_only_labels_that_the_flavor_declares_are_looked_at(spec: dict[str, paths.Json], answer: Answer) -> None:
    assert judged(job(spec=spec), cluster_queue("research", of_gpus(8)), ZONE_A).answer is answer


def placed(level: str) -> paths.Object:
    return builders.job(template(container(gpus=8), annotations={REQUIRED: level}))


def test_a_level_must_be_one_of_the_topology_of_the_flavor() -> None:
    facts = (cluster_queue("research", of_gpus(8)), flavor("a100", topologyName="racks"), topology("racks", RACK))

    assert judged(placed(RACK), *facts).answer is Answer.COULD
    (refusal,) = judged(placed("rack"), *facts).unmatched[0].refusals
    assert (refusal.level, refusal.levels, refusal.by_topology) == ("rack", (RACK,), True)


def test_pods_that_ask_for_topology_and_flavors_that_have_one_belong_together() -> None:
    both = cluster_queue("research", group(("a100", [quota(8)]), ("plain", [quota(0)])))
    facts = (both, flavor("a100", topologyName="racks"), flavor("plain"), topology("racks", RACK))

    assert judged(placed(RACK), *facts).answer is Answer.COULD
    assert judged(job(), *facts).answer is Answer.NEVER
    plain = cluster_queue("research", group(("plain", [quota(8)])))
    assert reasons(judged(placed(RACK), plain, flavor("plain"))) == ["plain: it has no topology"]


def test_where_all_flavors_have_a_topology_pods_need_not_ask_for_one() -> None:
    facts = (cluster_queue("research", of_gpus(8)), flavor("a100", topologyName="racks"), topology("racks", RACK))

    assert judged(job(), *facts).answer is Answer.COULD


def test_a_flavor_of_any_group_without_a_topology_leaves_those_that_have_one_to_pods_that_ask() -> None:
    """All pods of a queue are placed by topology only if all its flavors can place them so."""
    cpus = group(("plain", [quota(64, resource="cpu")]))
    queue = cluster_queue("research", of_gpus(8), cpus)
    facts = (queue, flavor("a100", topologyName="racks"), topology("racks", RACK))

    assert reasons(judged(job(), *facts, flavor("plain"))) == [
        "a100: it takes only pods that ask to be placed by topology"
    ]
    assert judged(job(), *facts, flavor("plain", topologyName="racks")).answer is Answer.COULD


@pytest.mark.parametrize("others", [[], [flavor("plain", topologyName=7)]], ids=["not there", "cannot be read"])
def test_a_flavor_of_which_nothing_is_known_may_have_a_topology(others: list[paths.Object]) -> None:
    """So nobody is turned away because the flavors beside it have one."""
    queue = cluster_queue("research", of_gpus(8), group(("plain", [quota(64, resource="cpu")])))
    facts = (queue, flavor("a100", topologyName="racks"), topology("racks", RACK), *others)

    assert judged(job(), *facts).answer is Answer.COULD


def test_labels_that_do_not_fit_are_told_with_their_values() -> None:
    labelled = flavor("a100", labels={"pool": "a100", "zone": "a"})
    queue = cluster_queue("research", of_gpus(8))

    assert reasons(judged(job(spec={"nodeSelector": {"zone": "b"}}), queue, labelled)) == [
        "a100: its nodes have zone=a"
    ]
    by_affinity = {"affinity": builders.node_affinity(builders.term(builders.expression("zone", "In", "b")))}
    assert reasons(judged(job(spec=by_affinity), queue, labelled)) == ["a100: its nodes have pool=a100 and zone=a"]


def test_only_resources_that_the_pods_ask_for_are_said_to_have_no_flavor() -> None:
    both = group(("a100", [quota(8), quota(64, resource="cpu")]))

    verdict = judged(job(), cluster_queue("research", both), flavor("a100", nodeTaints=TAINTED))

    assert [(unmatched.pods.pods, unmatched.resources) for unmatched in verdict.unmatched] == [(1, (GPU,))]


def test_among_several_flavors_a_pod_set_that_is_too_large_for_each_is_told_alone() -> None:
    queue = cluster_queue("research", group(("a100", [quota(8)]), ("h100", [quota(8)])))
    value = builders.pytorch_job(template(container(gpus=1)), workers=2, master=template(container(gpus=16)))

    verdict = judged(value, queue, A100, flavor("h100"))

    assert [(each.resource, each.total) for each in verdict.shortages] == [(GPU, 16)]
    alone = judged(value, cluster_queue("research", of_gpus(8)), A100)
    assert [each.total for each in alone.shortages] == [18]


def test_room_that_kueue_does_not_find_is_told() -> None:
    """It gives each pod set the first flavor with room, and takes none back."""
    cpus = group(("any", [quota(64, resource="cpu")]))
    queue = cluster_queue("research", cpus, group(("a100", [quota(8)]), ("h100", [quota(8)])))
    flavors = (flavor("any"), *(flavor(board, labels={"board": board}) for board in ("a100", "h100")))
    free, cpu = template(container(gpus=8)), template(container(gpus=8, requests={"cpu": 1}))
    bound = builders.replaced(cpu, "/spec/nodeSelector", {"board": "a100"})
    value = builders.pytorch_job(bound, workers=1, master=free)
    swapped = builders.pytorch_job(free, workers=1, master=bound)

    lost, found = judged(value, queue, *flavors), judged(swapped, queue, *flavors)

    assert (lost.answer, lost.takes_all, lost.choices) == (Answer.COULD, False, ())
    assert (found.answer, found.takes_all) == (Answer.COULD, True)
    assert [(each.pods.pod_set.name, each.flavor) for each in found.choices] == [
        ("Master", "any"),
        ("Master", "a100"),
        ("Worker", "h100"),
    ]


class TestWhatIsNotKnown:
    """Never holds whatever the missing part says, and so does admissible; all else is unknown, with its reason."""

    def test_flavors_that_are_not_known(self) -> None:
        verdict = judged(job(), cluster_queue("research", of_gpus(8)))

        assert (verdict.answer, verdict.unknowns) == (Answer.UNKNOWN, ("the ResourceFlavors are not known",))
        assert judged(job(gpus=9), cluster_queue("research", of_gpus(8))).answer is Answer.NEVER

    def test_a_flavor_that_is_not_there(self) -> None:
        verdict = judged(job(), cluster_queue("research", of_gpus(8)), flavor("h100"))

        assert verdict.unknowns == ("ResourceFlavor a100 does not exist",)

    def test_a_flavor_that_cannot_be_read(self) -> None:
        broken = flavor("a100", nodeTaints=TAINTED, tolerations="all")

        verdict = judged(job(), cluster_queue("research", of_gpus(8)), broken)

        assert verdict.unknowns == ("ResourceFlavor a100, spec.tolerations: expected a list, found a string",)

    def test_a_topology_that_is_not_there(self) -> None:
        facts = (cluster_queue("research", of_gpus(8)), flavor("a100", topologyName="racks"))

        assert judged(placed(RACK), *facts).unknowns == ("the Topologies are not known",)
        assert judged(placed(RACK), *facts, topology("blocks", RACK)).unknowns == ("Topology racks does not exist",)

    def test_a_topology_that_cannot_be_read(self) -> None:
        broken = builders.replaced(topology("racks", RACK), "/spec/levels/0/nodeLabel", 7)
        facts = (cluster_queue("research", of_gpus(8)), flavor("a100", topologyName="racks"), broken)

        assert judged(placed("block"), *facts).unknowns == (
            "Topology racks, spec.levels[0].nodeLabel: expected a string, found a number; quote it",
        )

    def test_a_quota_that_cannot_be_read(self) -> None:
        verdict = judged(job(), cluster_queue("research", of_gpus("eight")), A100)

        assert verdict.answer is Answer.UNKNOWN
        assert verdict.unknowns[0].startswith("ClusterQueue research, spec.resourceGroups[0]")

    def test_a_number_that_cannot_be_read_beside_those_that_are_enough(self) -> None:
        beside = group(("a100", [quota(8)]), ("h100", [quota("eight")]))

        verdict = judged(job(), cluster_queue("research", beside), A100, flavor("h100"))

        assert verdict.answer is Answer.COULD

    def test_a_cohort_that_is_its_own_ancestor(self) -> None:
        facts = (cluster_queue("research", of_gpus(8), cohort="a"), cohort("a", parent="a"), A100)

        assert judged(job(), *facts).answer is Answer.COULD
        assert judged(job(gpus=9), *facts).unknowns == (
            "cohort a is its own ancestor (a -> a), so Kueue cannot count its quota",
        )

    def test_a_configuration_of_kueue_that_cannot_be_read(self) -> None:
        verdict = judged(job(gpus=9), cluster_queue("research", of_gpus(8)), A100, configuration("{"))

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

        assert judged(run, cluster_queue("research", of_gpus(8)), A100).unknowns == (
            f"usher does not know what else {asking} for",
        )

    def test_pods_to_which_the_workload_may_grow_do_not_count(self) -> None:
        groups = builders.ray_group(
            pod_template=template(container(gpus=8)), replicas=1, min_replicas=1, max_replicas=9
        )
        value = builders.ray_cluster(groups, autoscaling=True)

        verdict = judged(value, cluster_queue("research", of_gpus(8)), A100)

        assert (verdict.answer, verdict.unknowns) == (Answer.UNKNOWN, ())


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sets(st.sampled_from("abc"), min_size=1)), max_size=4),
    st.fixed_dictionaries({(name, resource): st.integers(0, 6) for name in "abc" for resource in ("cpu", "gpu")}),
)
def test_a_choice_of_flavors_is_found_if_there_is_one(
    wanted: list[tuple[int, int, set[str]]], room: dict[tuple[str, str], int]
) -> None:
    pod_set = workload(builders.pod()).pod_sets[0]
    units = [[CountedPods(pod_set=pod_set, pods=1, each={"cpu": cpu, "gpu": gpu})] for cpu, gpu, _ in wanted]
    allowed = [sorted(flavors) for _, _, flavors in wanted]

    found = assigned(units, allowed, ["cpu", "gpu"], room.__getitem__)

    assert found == any(_all_fit(choice, wanted, room) for choice in product(*allowed))


def _all_fit(
    choice: tuple[str, ...], wanted: list[tuple[int, int, set[str]]], room: dict[tuple[str, str], int]
) -> bool:
    for name in "abc":
        landed = [each for taken, each in zip(choice, wanted, strict=True) if taken == name]
        if sum(cpu for cpu, _, _ in landed) > room[name, "cpu"] or sum(gpu for _, gpu, _ in landed) > room[name, "gpu"]:
            return False
    return True


def test_thousands_of_pod_sets_are_not_gone_through() -> None:
    pod_set = workload(builders.pod()).pod_sets[0]
    units = [[CountedPods(pod_set=pod_set, pods=1, each={"gpu": 1})] for _ in range(5000)]

    assert assigned(units, [["a", "b"]] * 5000, ["gpu"], lambda _: 2500) is None
    assert assigned(units, [["a"]] * 5000, ["gpu"], lambda _: 4999) is False


def test_choices_that_never_come_out_are_given_up() -> None:
    pod_set = workload(builders.pod()).pod_sets[0]
    units = [[CountedPods(pod_set=pod_set, pods=1, each={"gpu": 2})] for _ in range(40)]

    assert assigned(units, [["a", "b", "c"]] * 40, ["gpu"], lambda _: 26) is None
