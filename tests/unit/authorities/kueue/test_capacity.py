"""The most that a ClusterQueue could give: its quota, loans of cohorts, and limits (docs/domain/kueue.md#potential)."""

from collections import defaultdict, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import GPU
from builders.queues import cluster_queue, cohort, gpu_group, group, quota
from usher import paths
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue.capacity import Capacities
from usher.authorities.kueue.queues import UNLIMITED, ClusterQueue, Cohort, FlavorQuota, FlavorQuotas, ResourceGroup

A100_GPU = ("a100", GPU)


def capacities(*objects: paths.Object, complete: bool = True) -> tuple[Capacities, dict[str, ClusterQueue]]:
    queues = {}
    cohorts = []
    for value in objects:
        metadata = value["metadata"]
        assert isinstance(metadata, dict)
        name = str(metadata["name"])
        if value["kind"] == "Cohort":
            cohorts.append(kueue_queues.cohort(name, value))
        else:
            queues[name] = kueue_queues.cluster_queue(name, value)
    return Capacities(queues.values(), cohorts, complete=complete), queues


def potential(*objects: paths.Object, of: str = "research") -> int:
    found, queues = capacities(*objects)
    assert found.problems(queues[of]) == ()
    assert found.bound(queues[of], A100_GPU) == found.of(queues[of], A100_GPU)
    return found.of(queues[of], A100_GPU)


def test_without_a_cohort_a_queue_gives_its_own_quota() -> None:
    assert potential(cluster_queue("research", gpu_group(16))) == 16


def test_the_queue_of_the_brief_gives_16_of_its_own_and_32_that_it_borrows() -> None:
    research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus")
    others = cluster_queue("production", gpu_group(100), cohort="shared-gpus")

    assert potential(research, others) == 48


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_a_cohort_that_holds_less_than_the_borrowing_limit_gives_what_it_holds(version: str) -> None:
    research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus", version=version)
    others = cluster_queue("production", gpu_group(8), cohort="shared-gpus", version=version)

    assert potential(research, others) == 24


def test_what_others_do_not_lend_cannot_be_borrowed() -> None:
    research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus")
    others = cluster_queue("production", gpu_group(100, lending=4), cohort="shared-gpus")

    assert potential(research, others) == 20


def test_what_a_queue_does_not_lend_is_there_for_itself() -> None:
    research = cluster_queue("research", gpu_group(16, lending=0), cohort="shared-gpus")
    others = cluster_queue("production", gpu_group(8, lending=0), cohort="shared-gpus")

    assert potential(research, others) == 16


def test_without_a_borrowing_limit_all_that_the_cohort_has_can_be_borrowed() -> None:
    research = cluster_queue("research", gpu_group(0), cohort="shared-gpus")
    others = cluster_queue("production", gpu_group(64), cohort="shared-gpus")

    assert potential(research, others) == 64


def test_a_cohort_has_quota_of_its_own_and_of_those_around_it() -> None:
    research = cluster_queue("research", gpu_group(1), cohort="team")
    team = cohort("team", gpu_group(2, borrowing=3), parent="department")
    department = cohort("department", gpu_group(10), parent="company")
    company = cohort("company", gpu_group(100))

    assert potential(research, team, department, company) == 6


def test_the_example_of_the_documentation_comes_out_as_it_says() -> None:
    research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus")
    production = cluster_queue("production", gpu_group(40, lending=8), cohort="shared-gpus")
    company = cohort("company", gpu_group(100))

    limited = cohort("shared-gpus", gpu_group(4, borrowing=10), parent="company")
    assert potential(research, production, limited, company) == 38
    unlimited = cohort("shared-gpus", gpu_group(4), parent="company")
    assert potential(research, production, unlimited, company) == 48


def test_a_cohort_without_an_object_has_no_quota_and_no_parent() -> None:
    assert potential(cluster_queue("research", gpu_group(16), cohort="nameless")) == 16
    below = cohort("team", parent="nameless")
    other = cluster_queue("production", gpu_group(4), cohort="nameless")
    assert potential(cluster_queue("research", gpu_group(16), cohort="team"), below, other) == 20


def test_flavors_and_resources_are_counted_each_for_itself() -> None:
    both = group(("a100", [quota(16)]), ("h100", [quota(32)]))
    found, queues = capacities(cluster_queue("research", both, group(("cpu", [quota("1500m", resource="cpu")]))))

    assert found.of(queues["research"], A100_GPU) == 16
    assert found.of(queues["research"], ("h100", GPU)) == 32
    assert found.of(queues["research"], ("cpu", "cpu")) == 1500
    assert found.of(queues["research"], ("a100", "cpu")) == 0


def test_a_cohort_that_is_its_own_ancestor_is_named_and_nothing_can_be_borrowed_for_certain() -> None:
    research = cluster_queue("research", gpu_group(16), cohort="a")
    found, queues = capacities(research, cohort("a", parent="b"), cohort("b", parent="c"), cohort("c", parent="b"))

    assert found.problems(queues["research"]) == (
        "cohort b is its own ancestor (b -> c -> b), so Kueue cannot count its quota",
    )
    assert found.of(queues["research"], A100_GPU) == 16
    assert found.bound(queues["research"], A100_GPU) == UNLIMITED


def test_a_borrowing_limit_bounds_an_unknown_cohort() -> None:
    research = cluster_queue("research", gpu_group(16, borrowing=32), cohort="shared-gpus")
    found, queues = capacities(research, complete=False)

    assert found.problems(queues["research"]) == ("usher does not know whether cohort shared-gpus has its own quota",)
    assert found.of(queues["research"], A100_GPU) == 16
    assert found.bound(queues["research"], A100_GPU) == 48


def test_a_number_that_cannot_be_read_is_named_to_all_that_borrow_from_it() -> None:
    research = cluster_queue("research", gpu_group(16), cohort="shared-gpus")
    others = cluster_queue("production", gpu_group("many"), cohort="shared-gpus")
    found, queues = capacities(research, others)

    place = "ClusterQueue production, spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"
    (problem,) = found.problems(queues["research"])
    assert problem.startswith(f"{place}: 'many' is not a quantity")
    assert found.of(queues["research"], A100_GPU) == 16
    assert found.bound(queues["research"], A100_GPU) == UNLIMITED


def test_a_negative_number_is_not_a_quota() -> None:
    found, queues = capacities(cluster_queue("research", gpu_group(-4)))

    assert "negative" in found.problems(queues["research"])[0]


def test_an_amount_beyond_64_bits_is_unlimited_and_stays_unlimited() -> None:
    research = cluster_queue("research", gpu_group(1), cohort="shared-gpus")
    others = cluster_queue("production", gpu_group("9E"), cohort="shared-gpus")
    unlimited = cluster_queue("spare", gpu_group("1e20"), cohort="shared-gpus")

    assert potential(research, others) == 9 * 10**18 + 1
    assert potential(research, others, unlimited) == UNLIMITED


_LIMITS = st.none() | st.integers(0, 6)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[ClusterQueue], list[Cohort]]:
    """A few cohorts, each below an earlier one or none, and queues in them; one flavor, one resource."""
    cohorts: list[Cohort] = []
    for index in range(draw(st.integers(1, 4))):
        parent = draw(st.sampled_from(["", *(each.name for each in cohorts)]))
        cohorts.append(Cohort(name=f"c{index}", parent=parent, quotas=_quotas(draw)))
    queues = [
        ClusterQueue(
            name=f"q{index}",
            cohort=draw(st.sampled_from([each.name for each in cohorts])),
            namespace_selector={},
            quotas=_quotas(draw),
            state=kueue_queues.State(),
        )
        for index in range(draw(st.integers(1, 4)))
    ]
    return queues, cohorts


def _quotas(draw: st.DrawFn) -> FlavorQuotas:
    found = FlavorQuota(nominal=draw(st.integers(0, 6)), borrowing=draw(_LIMITS), lending=draw(_LIMITS))
    groups = (ResourceGroup(resources=frozenset({GPU}), flavors=("a100",)),)
    return FlavorQuotas(groups=groups, by_flavor={A100_GPU: found})


@given(trees())
def test_the_formula_gives_what_can_flow_through_the_tree_to_the_queue(
    tree: tuple[list[ClusterQueue], list[Cohort]],
) -> None:
    """GPUs as water: quota springs at each node, lending limits are pipes upwards, borrowing limits downwards."""
    queues, cohorts = tree
    found = Capacities(queues, cohorts)

    for queue in queues:
        assert found.of(queue, A100_GPU) == _flow_to(queue.name, queues, cohorts)


@given(trees(), st.data())
def test_more_quota_anywhere_never_gives_less(
    tree: tuple[list[ClusterQueue], list[Cohort]], data: st.DataObject
) -> None:
    queues, cohorts = tree
    before = [Capacities(queues, cohorts).of(queue, A100_GPU) for queue in queues]
    index = data.draw(st.integers(0, len(queues) - 1))
    old = queues[index].quotas.by_flavor[A100_GPU]
    more = FlavorQuota(nominal=old.nominal + 1, borrowing=old.borrowing, lending=old.lending)
    changed = ClusterQueue(
        name=queues[index].name,
        cohort=queues[index].cohort,
        namespace_selector={},
        quotas=FlavorQuotas(groups=(), by_flavor={A100_GPU: more}),
        state=kueue_queues.State(),
    )
    queues = [*queues[:index], changed, *queues[index + 1 :]]

    after = [Capacities(queues, cohorts).of(queue, A100_GPU) for queue in queues]

    assert all(new >= old for old, new in zip(before, after, strict=True))


def _flow_to(sink: str, queues: list[ClusterQueue], cohorts: list[Cohort]) -> int:
    """The largest flow from all nominal quotas to a queue, by augmenting paths (Edmonds and Karp)."""
    pipes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    wide = 10**6
    for name, parent, quotas in [
        *((queue.name, queue.cohort, queue.quotas) for queue in queues),
        *((each.name, each.parent, each.quotas) for each in cohorts),
    ]:
        own = quotas.by_flavor[A100_GPU]
        pipes["spring"][name] = own.nominal
        if parent:
            pipes[name][parent] = wide if own.lending is None else own.lending
            pipes[parent][name] = wide if own.borrowing is None else own.borrowing
    flow = 0
    while path := _path(pipes, "spring", sink):
        width = min(pipes[start][end] for start, end in path)
        for start, end in path:
            pipes[start][end] -= width
            pipes[end][start] = pipes[end].get(start, 0) + width
        flow += width
    return flow


def _path(pipes: dict[str, dict[str, int]], source: str, sink: str) -> list[tuple[str, str]]:
    came_from: dict[str, str] = {source: ""}
    waiting = deque([source])
    while waiting:
        here = waiting.popleft()
        if here == sink:
            path = []
            while here != source:
                path.append((came_from[here], here))
                here = came_from[here]
            return path
        for end, width in pipes[here].items():
            if width and end not in came_from:
                came_from[end] = here
                waiting.append(end)
    return []


@pytest.mark.parametrize("limit", ["many", -1])
def test_a_borrowing_limit_that_cannot_be_read_lets_nothing_be_borrowed_for_certain(limit: paths.Json) -> None:
    found, queues = capacities(
        cluster_queue("research", gpu_group(16, borrowing=limit), cohort="shared"),
        cluster_queue("others", gpu_group(64), cohort="shared"),
    )

    assert found.of(queues["research"], A100_GPU) == 16
    assert found.problems(queues["research"])[0].startswith("ClusterQueue research, spec.resourceGroups[0]")


def test_kueue_counts_unlimited_minus_unlimited_as_zero() -> None:
    """As Kueue counts: unlimited less unlimited is nothing."""
    assert kueue_queues.minus(UNLIMITED, UNLIMITED) == 0
    assert kueue_queues.minus(UNLIMITED, 8) == UNLIMITED
    assert kueue_queues.minus(8, 16) == 0


def test_a_number_that_cannot_be_read_in_another_tree_is_of_no_concern() -> None:
    research = cluster_queue("research", gpu_group(16), cohort="shared")
    elsewhere = cohort("elsewhere", gpu_group("many"))

    assert potential(research, elsewhere) == 16


def test_a_number_of_its_own_cohort_that_cannot_be_read_leaves_open_what_a_queue_may_borrow() -> None:
    found, queues = capacities(
        cluster_queue("research", gpu_group(16), cohort="shared"), cohort("shared", gpu_group("many"))
    )

    (problem,) = found.problems(queues["research"])
    assert problem.startswith("Cohort shared, spec.resourceGroups[0]")
    assert found.bound(queues["research"], A100_GPU) == UNLIMITED
