"""Accelerators of all pods of a workload together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import builders
from unit.workloads.normalised import pod_set, readable_workload, totals
from usher import model, quantities
from usher.workloads.pod_sets import totals_of_pod_sets

ONE = model.Count(minimum=1, maximum=1)
ANY_POD_SET = pod_set(builders.pod())
GPU, MIG = builders.GPU, "nvidia.com/mig-1g.10gb"

ROUTES = st.sampled_from([model.Route.RESOURCE, model.Route.SHARE, model.Route.CLAIM])


def asked(
    minimum: int = 1,
    maximum: int | None = 1,
    *,
    name: str = GPU,
    route: model.Route = model.Route.RESOURCE,
    reason: str = "",
    claim: str = "",
) -> model.AcceleratorRequest:
    """The request of one pod."""
    most = None if maximum is None else quantities.parse(maximum)
    return model.AcceleratorRequest(
        route=route, name=name, minimum=quantities.parse(minimum), maximum=most, path="", reason=reason, claim=claim
    )


def pods(minimum: int, maximum: int | None, *requests: model.AcceleratorRequest, reason: str = "") -> model.PodSet:
    return replace(
        ANY_POD_SET, count=model.Count(minimum=minimum, maximum=maximum, reason=reason), requests=tuple(requests)
    )


def numbers(*pod_sets: model.PodSet) -> dict[tuple[str, str], tuple[int, int | None]]:
    """The least and the most by name and route."""
    return {
        (total.name, total.route.value): (total.minimum.value, None if total.maximum is None else total.maximum.value)
        for total in totals_of_pod_sets(pod_sets)
    }


def of_gpus(*pod_sets: model.PodSet) -> tuple[int, int | None]:
    (found,) = numbers(*pod_sets).values()
    return found


def reason_of(*pod_sets: model.PodSet) -> str:
    (total,) = totals_of_pod_sets(pod_sets)
    return total.reason


def test_what_the_pods_of_several_templates_ask_for_is_added_up() -> None:
    job = builders.pytorch_job(
        builders.template(builders.container(gpus=8)), workers=3, master=builders.template(builders.container(gpus=1))
    )

    assert totals(job) == {GPU: ("25", "25")}


def test_without_accelerators_there_are_no_totals() -> None:
    assert readable_workload(builders.job()).totals == ()


@pytest.mark.parametrize(
    ("count", "each", "total"),
    [
        ((2, 2), (4, 4), (8, 8)),
        ((1, 3), (4, 4), (4, 12)),
        ((0, None), (4, 4), (0, None)),
        ((2, 2), (1, None), (2, None)),
        ((0, 2), (0, 4), (0, 8)),
        ((0, 3), (1, None), (0, None)),
    ],
)
def test_the_least_and_the_most_are_multiplied_each_by_its_number_of_pods(
    count: tuple[int, int | None], each: tuple[int, int | None], total: tuple[int, int | None]
) -> None:
    assert of_gpus(pods(*count, asked(*each))) == total


@pytest.mark.parametrize(
    ("count", "each"), [((0, 0), (4, 4)), ((0, 0), (4, None)), ((2, 2), (0, 0)), ((0, None), (0, 0))]
)
def test_zero_pods_or_zero_devices_give_no_total(count: tuple[int, int | None], each: tuple[int, int | None]) -> None:
    assert numbers(pods(*count, asked(*each))) == {}


def test_one_unbounded_template_makes_the_total_unbounded() -> None:
    assert of_gpus(pods(1, 1, asked()), pods(0, None, asked()), pods(2, 2, asked())) == (3, None)


def test_a_template_without_pods_takes_no_bound_away() -> None:
    assert of_gpus(pods(1, 1, asked()), pods(0, 0, asked(1, None))) == (1, 1)


def test_the_same_name_by_another_route_is_another_total() -> None:
    share = asked(name=GPU, route=model.Route.SHARE)

    assert numbers(pods(2, 2, asked(), share)) == {(GPU, "extended resource"): (2, 2), (GPU, "share"): (2, 2)}


def test_totals_come_in_the_order_of_their_names() -> None:
    claim = asked(name="a.example.com", route=model.Route.CLAIM)
    found = totals_of_pod_sets([pods(1, 1, asked(name=MIG), asked()), pods(1, 1, claim)])

    assert [total.name for total in found] == ["a.example.com", GPU, MIG]


# Reasons


def test_each_reason_for_different_numbers_appears_once() -> None:
    autoscaled = [pods(1, 4, asked(), reason="autoscaling") for _ in range(3)]

    assert reason_of(*autoscaled, pods(0, 2, asked(), reason="a surge")) == "autoscaling; a surge"


def test_reasons_of_the_pods_and_of_the_request_are_both_told() -> None:
    found = pods(1, 4, asked(1, 2, reason="one of 2 alternatives"), reason="autoscaling")

    assert reason_of(found) == "one of 2 alternatives; autoscaling"


def test_where_the_numbers_are_the_same_there_is_no_reason() -> None:
    assert reason_of(pods(2, 2, asked(), reason="why ever")) == ""
    assert reason_of(pods(2, 2, asked(), reason="why ever"), pods(1, 4, asked(), reason="autoscaling")) == "autoscaling"


# Claims that pods share


def shared(
    minimum: int = 1, maximum: int | None = 1, *, claim: str = "claim", name: str = GPU
) -> model.AcceleratorRequest:
    return asked(minimum, maximum, name=name, route=model.Route.CLAIM, claim=claim)


def test_a_shared_claim_counts_once_for_all_pods_of_all_templates() -> None:
    assert of_gpus(pods(3, 5, shared(2, 2)), pods(1, None, shared(2, 2))) == (2, 2)


def test_two_claims_count_each() -> None:
    assert of_gpus(pods(3, 3, shared(claim="a"), shared(claim="b"))) == (2, 2)


def test_the_devices_of_a_shared_claim_count_each() -> None:
    assert numbers(pods(3, 3, shared(2, 2), shared(1, 1, name=MIG))) == {
        (GPU, "device claim"): (2, 2),
        (MIG, "device claim"): (1, 1),
    }


def test_a_shared_claim_is_sure_as_soon_as_one_template_surely_makes_a_pod() -> None:
    assert of_gpus(pods(0, 2, shared()), pods(1, 1, shared())) == (1, 1)
    assert of_gpus(pods(0, 0, shared()), pods(0, 2, shared())) == (0, 1)
    assert numbers(pods(0, 0, shared())) == {}


def test_a_shared_claim_gives_the_reason_for_an_uncertain_number() -> None:
    assert reason_of(pods(0, 2, shared(), reason="autoscaling")) == "autoscaling"
    assert reason_of(pods(1, 2, shared(1, None), reason="autoscaling")) == ""


def test_a_shared_claim_is_added_to_what_each_pod_asks_for() -> None:
    own = asked(route=model.Route.CLAIM)

    assert of_gpus(pods(3, 3, shared(2, 2), own)) == (5, 5)


# Whatever the pod sets are


@st.composite
def ranges(draw: st.DrawFn) -> tuple[int, int | None]:
    least = draw(st.integers(0, 5))
    return least, draw(st.none() | st.integers(least, 10))


@st.composite
def requests(draw: st.DrawFn, *, claims: tuple[str, ...] = ("", "", "a", "b")) -> model.AcceleratorRequest:
    least, most = draw(ranges())
    claim = draw(st.sampled_from(claims))
    return asked(
        least, most, name=draw(st.sampled_from([GPU, MIG])), route=draw(ROUTES), reason=draw(REASONS), claim=claim
    )


@st.composite
def any_pods(draw: st.DrawFn) -> model.PodSet:
    return pods(*draw(ranges()), *draw(st.lists(requests(), max_size=3)), reason=draw(REASONS))


REASONS = st.sampled_from(["", "one", "other", "one; other"])
ANY_POD_SETS = st.lists(any_pods(), max_size=5)


@given(ANY_POD_SETS.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_the_order_of_the_pod_sets_changes_no_number(both: tuple[list[model.PodSet], list[model.PodSet]]) -> None:
    one, other = both

    assert numbers(*one) == numbers(*other)
    assert [set(total.reason.split("; ")) for total in totals_of_pod_sets(one)] == [
        set(total.reason.split("; ")) for total in totals_of_pod_sets(other)
    ]


@given(requests(claims=("",)), ranges())
def test_the_total_of_one_pod_set_is_the_product(
    request: model.AcceleratorRequest, count: tuple[int, int | None]
) -> None:
    least, most = count
    found = numbers(pods(least, most, request)).get((request.name, request.route.value), (0, 0))

    assert found[0] == request.minimum.value * least
    if most is not None and request.maximum is not None:
        assert found[1] == request.maximum.value * most
    else:
        assert found[1] == (0 if most == 0 or request.maximum == quantities.ZERO else None)


@given(ANY_POD_SETS, any_pods())
def test_another_pod_set_makes_no_total_smaller(before: list[model.PodSet], more: model.PodSet) -> None:
    after = numbers(*before, more)

    for key, (least, most) in numbers(*before).items():
        least_after, most_after = after[key]
        assert least_after >= least
        assert most_after is None or (most is not None and most_after >= most)


@given(ANY_POD_SETS)
def test_the_most_is_never_less_than_the_least(found: list[model.PodSet]) -> None:
    for total in totals_of_pod_sets(found):
        assert total.maximum is None or total.maximum >= total.minimum
        assert total.maximum != quantities.ZERO


@pytest.mark.costly
def test_ten_thousand_templates_with_a_reason_each_are_added_up() -> None:
    many = [pods(0, 1, asked(), shared(), reason=f"reason {index}") for index in range(10_000)]

    assert numbers(*many) == {(GPU, "device claim"): (0, 1), (GPU, "extended resource"): (0, 10_000)}
