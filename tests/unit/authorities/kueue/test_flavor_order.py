"""Which of several flavors pod sets get (KQ:pkg/scheduler/flavorassigner/flavorassigner.go:1263-1280)."""

from typing import cast

import pytest

import builders
from builders import GPU, container, template
from builders.queues import cluster_queue, cohort, configuration, flavor, group, quota
from unit.authorities.kueue.judging import job, judged
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.kueue import capacity as kueue_capacity
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge
from usher.authorities.kueue.flavor_fit import KueueVerdict
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store

FLAVORS = (flavor("a100"), flavor("h100"))
NEXT: paths.Object = {"whenCanBorrow": "TryNextFlavor"}


def queue(a100: int, h100: int, fungibility: paths.Json = None, *, version: str = "v1beta2") -> paths.Object:
    quotas = group(("a100", [quota(a100)]), ("h100", [quota(h100)]))
    return cluster_queue("research", quotas, cohort="shared", version=version, flavorFungibility=fungibility)


def others(gpus: int) -> paths.Object:
    return cluster_queue("other", group(("a100", [quota(gpus)]), ("h100", [quota(gpus)])), cohort="shared")


def chosen(verdict: KueueVerdict) -> list[str]:
    assert verdict.answer is Answer.COULD
    return [each.flavor for each in verdict.choices]


def test_the_first_flavor_is_taken_even_if_the_queue_has_to_borrow() -> None:
    facts = (others(8), *FLAVORS)

    assert chosen(judged(job(), queue(0, 8), *facts)) == ["a100"]
    assert chosen(judged(job(), queue(0, 8, {"whenCanBorrow": "MayStopSearch"}), *facts)) == ["a100"]
    assert chosen(judged(job(), queue(0, 8, {"whenCanBorrow": "Borrow"}, version="v1beta1"), *facts)) == ["a100"]


def test_a_flavor_in_which_the_queue_need_not_borrow_comes_first_where_the_queue_says_so() -> None:
    """KQ:pkg/scheduler/flavorassigner/flavorassigner.go:1275."""
    facts = (others(8), *FLAVORS)

    assert chosen(judged(job(), queue(0, 8, NEXT), *facts)) == ["h100"]
    assert chosen(judged(job(), queue(8, 8, NEXT), *facts)) == ["a100"]
    assert chosen(judged(job(), queue(4, 4, NEXT), *facts)) == ["a100"]


def test_what_earlier_pod_sets_took_makes_later_ones_borrow() -> None:
    parts = [builders.replicated_job(name, template(container(gpus=8))) for name in ("first", "second", "third")]

    found = judged(builders.job_set(*parts), queue(8, 8, NEXT), others(8), *FLAVORS)

    assert chosen(found) == ["a100", "h100", "a100"]


def test_a_queue_of_its_own_never_borrows() -> None:
    alone = cluster_queue("research", group(("a100", [quota(8)]), ("h100", [quota(8)])), flavorFungibility=NEXT)

    assert chosen(judged(job(), alone, *FLAVORS)) == ["a100"]


def test_below_several_cohorts_the_choice_among_borrowed_flavors_is_not_known() -> None:
    facts = (others(8), cohort("shared", parent="company"), cohort("company"), *FLAVORS)

    verdict = judged(job(), queue(0, 0, NEXT), *facts)

    assert (verdict.answer, verdict.takes_all, verdict.choices) == (Answer.COULD, False, ())


def now(fungibility: paths.Json, **reserved: int) -> KueueVerdict:
    """The verdict on a Job of 8 GPUs in a queue of 8 and 8, of which some are reserved."""
    status = {
        "flavorsReservation": [
            {"name": name, "resources": [{"name": GPU, "total": str(total)}]} for name, total in reserved.items()
        ]
    }
    value = builders.replaced(queue(8, 8, fungibility), "/status", cast(paths.Json, status))
    idle = builders.replaced(others(8), "/status", {"flavorsReservation": []})
    store = Store.of([value, idle, cohort("shared"), *FLAVORS, configuration("{}")])
    cluster, configured = judge.cluster(store), judge.configuration(store)
    assert cluster.queues is not None
    (demand,) = kueue_demand.demands(workload(job()), configured)
    free = kueue_capacity.free_amounts(store, cluster.capacities)
    return judge.judge(demand, cluster.queues["research"], cluster, configured, supply=free)


def test_what_the_queue_has_reserved_makes_it_borrow() -> None:
    assert chosen(now(NEXT)) == ["a100"]
    assert chosen(now(NEXT, a100=8)) == ["h100"]
    assert chosen(now(None, a100=8)) == ["a100"]


@pytest.mark.parametrize(
    "policy",
    [
        {"whenCanPreempt": "MayStopSearch"},
        {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor", "preference": "PreemptionOverBorrowing"},
    ],
)
def test_where_kueue_may_preempt_first_free_room_in_a_later_flavor_is_not_certain(policy: paths.Object) -> None:
    """It stops at a flavor in which it could end other workloads (KQ:...flavorassigner.go:1271)."""
    full = now(policy, a100=16)

    assert (full.answer, full.takes_all, full.choices) == (Answer.COULD, False, ())
    assert chosen(now(policy)) == ["a100"]
