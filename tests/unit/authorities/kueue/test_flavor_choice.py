"""Which flavors Kueue gives to pods, by taints, labels and topologies (docs/domain/kueue.md#order-of-decisions)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import GPU, container, template
from builders.queues import cluster_queue, flavor, gpu_group, group, quota, topology
from unit.authorities.kueue.judging import A100, RACK, TAINTED, job, judged, placed
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.kueue.demand import CountedPods
from usher.authorities.kueue.flavor_fit import KueueVerdict, can_assign
from usher.authorities.verdict import Answer


def reasons(verdict: KueueVerdict) -> list[str]:
    return [f"{refusal.flavor}: {refusal.reason}" for each in verdict.unmatched for refusal in each.refusals]


def test_a_taint_of_the_flavor_keeps_pods_out() -> None:
    verdict = judged(job(), cluster_queue("research", gpu_group(8)), flavor("a100", nodeTaints=TAINTED))

    assert verdict.answer is Answer.NEVER
    assert reasons(verdict) == ["a100: its taint nvidia.com/gpu=present:NoSchedule is not tolerated"]


@pytest.mark.parametrize("by", ["pod", "flavor"])
def test_it_is_tolerated_by_the_pods_or_by_the_flavor(by: str) -> None:
    tolerations: list[paths.Json] = [{"key": GPU, "operator": "Exists"}]
    value = job(spec={"tolerations": tolerations} if by == "pod" else None)
    a100 = flavor("a100", nodeTaints=TAINTED, tolerations=tolerations if by == "flavor" else None)

    verdict = judged(value, cluster_queue("research", gpu_group(8)), a100)

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
    assert judged(job(spec=spec), cluster_queue("research", gpu_group(8)), ZONE_A).answer is answer


def test_a_level_must_be_one_of_the_topology_of_the_flavor() -> None:
    facts = (cluster_queue("research", gpu_group(8)), flavor("a100", topologyName="racks"), topology("racks", RACK))

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
    facts = (cluster_queue("research", gpu_group(8)), flavor("a100", topologyName="racks"), topology("racks", RACK))

    assert judged(job(), *facts).answer is Answer.COULD


def test_a_flavor_of_any_group_without_a_topology_leaves_those_that_have_one_to_pods_that_ask() -> None:
    """All pods of a queue are placed by topology only if all its flavors can place them so."""
    cpus = group(("plain", [quota(64, resource="cpu")]))
    queue = cluster_queue("research", gpu_group(8), cpus)
    facts = (queue, flavor("a100", topologyName="racks"), topology("racks", RACK))

    assert reasons(judged(job(), *facts, flavor("plain"))) == [
        "a100: it takes only pods that ask to be placed by topology"
    ]
    assert judged(job(), *facts, flavor("plain", topologyName="racks")).answer is Answer.COULD


@pytest.mark.parametrize("others", [[], [flavor("plain", topologyName=7)]], ids=["not there", "cannot be read"])
def test_an_unknown_flavor_may_have_a_topology(others: list[paths.Object]) -> None:
    """So nobody is turned away because the flavors beside it have one."""
    queue = cluster_queue("research", gpu_group(8), group(("plain", [quota(64, resource="cpu")])))
    facts = (queue, flavor("a100", topologyName="racks"), topology("racks", RACK), *others)

    assert judged(job(), *facts).answer is Answer.COULD


def test_the_reason_gives_the_values_of_labels_that_do_not_fit() -> None:
    labelled = flavor("a100", labels={"pool": "a100", "zone": "a"})
    queue = cluster_queue("research", gpu_group(8))

    assert reasons(judged(job(spec={"nodeSelector": {"zone": "b"}}), queue, labelled)) == [
        "a100: its nodes have zone=a"
    ]
    by_affinity = {"affinity": builders.node_affinity(builders.term(builders.expression("zone", "In", "b")))}
    assert reasons(judged(job(spec=by_affinity), queue, labelled)) == ["a100: its nodes have pool=a100 and zone=a"]


def test_only_resources_that_the_pods_ask_for_are_said_to_have_no_flavor() -> None:
    both = group(("a100", [quota(8), quota(64, resource="cpu")]))

    verdict = judged(job(), cluster_queue("research", both), flavor("a100", nodeTaints=TAINTED))

    assert [(unmatched.pods.pods, unmatched.resources) for unmatched in verdict.unmatched] == [(1, (GPU,))]


def test_among_several_flavors_only_the_pod_set_that_is_too_large_for_each_is_short() -> None:
    queue = cluster_queue("research", group(("a100", [quota(8)]), ("h100", [quota(8)])))
    value = builders.pytorch_job(template(container(gpus=1)), workers=2, master=template(container(gpus=16)))

    verdict = judged(value, queue, A100, flavor("h100"))

    assert [(each.resource, each.total) for each in verdict.shortages] == [(GPU, 16)]
    alone = judged(value, cluster_queue("research", gpu_group(8)), A100)
    assert [each.total for each in alone.shortages] == [18]


def test_the_verdict_names_room_that_kueue_does_not_find() -> None:
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

    found = can_assign(units, allowed, ["cpu", "gpu"], room.__getitem__)

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

    assert can_assign(units, [["a", "b"]] * 5000, ["gpu"], lambda _: 2500) is None
    assert can_assign(units, [["a"]] * 5000, ["gpu"], lambda _: 4999) is False


def test_choices_that_never_come_out_are_given_up() -> None:
    pod_set = workload(builders.pod()).pod_sets[0]
    units = [[CountedPods(pod_set=pod_set, pods=1, each={"gpu": 2})] for _ in range(40)]

    assert can_assign(units, [["a", "b", "c"]] * 40, ["gpu"], lambda _: 26) is None
