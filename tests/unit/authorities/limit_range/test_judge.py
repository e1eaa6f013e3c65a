"""LimitRanges change and refuse pods by the rules of the plugin LimitRanger."""

from collections.abc import Mapping

import pytest

import builders
from builders import GPU
from unit.workloads.normalised import workload
from usher import model, paths
from usher.authorities import limit_range as authorities_limit_range
from usher.authorities.limit_range import LimitRanges, Rule, Violating


def limit_range(kind: str = "Container", name: str = "limits", **limits: Mapping[str, str]) -> paths.Object:
    return builders.custom("v1", "LimitRange", {"limits": [{"type": kind, **limits}]}, name=name)


def read(*objects: paths.Object) -> LimitRanges:
    return authorities_limit_range.read_ranges({f"{index}": value for index, value in enumerate(objects)})


def pod_set(*containers: paths.Object, **spec: builders.JsonValue) -> model.PodSet:
    (found,) = workload(builders.custom("v1", "Pod", {"containers": containers, **spec})).pod_sets
    return found


def filled(container: paths.Object, *objects: paths.Object) -> tuple[dict[str, str], dict[str, str]]:
    """Requests and limits of a container with all defaults."""
    (found,) = authorities_limit_range.with_defaults(pod_set(container).containers, read(*objects))
    return (
        {name: str(amount) for name, amount in found.requests.items()},
        {name: str(amount) for name, amount in found.limits.items()},
    )


def violations(of: model.PodSet, *objects: paths.Object) -> list[tuple[Rule, str, str, str | None]]:
    found = authorities_limit_range.violations_of_pod_set(of, read(*objects))
    return [
        (each.bound.rule, each.path, str(each.violating), None if each.amount is None else str(each.amount))
        for each in found
    ]


def test_a_missing_request_is_the_limit_before_any_default_is() -> None:
    assert filled(builders.container(limits={"cpu": "4"}), limit_range(defaultRequest={"cpu": "1"})) == (
        {"cpu": "4"},
        {"cpu": "4"},
    )


def test_what_a_limit_range_leaves_out_of_its_defaults_follows_from_the_rest_of_it() -> None:
    """As the API server writes it into the LimitRange, which a file does not have."""
    assert filled(builders.container(), limit_range(max={"cpu": "8"}, min={"cpu": "1", "memory": "64"})) == (
        {"cpu": "8", "memory": "64"},
        {"cpu": "8"},
    )
    assert filled(builders.container(), limit_range(default={"cpu": "2"}, max={"cpu": "8"})) == (
        {"cpu": "2"},
        {"cpu": "2"},
    )


def test_a_maximum_of_gpus_is_the_default_of_containers_without_a_gpu_request() -> None:
    assert filled(builders.container(), limit_range(max={GPU: "2"})) == ({GPU: "2"}, {GPU: "2"})


def test_the_largest_holds_for_limits_and_for_requests() -> None:
    largest = limit_range(max={"cpu": "8"})
    limited = pod_set(builders.container(limits={"cpu": "16"}, requests={"cpu": "1"}))
    path = "/spec/containers/0/resources/limits/cpu"

    assert violations(limited, largest) == [(Rule.MAXIMUM, path, "limit", "16")]
    # The default limit is the largest, below the request.
    asking = pod_set(builders.container(requests={"cpu": "16"}))
    assert violations(asking, largest) == [(Rule.MAXIMUM, "/spec/containers/0/resources/requests/cpu", "request", "16")]
    assert violations(pod_set(builders.container()), largest) == []


@pytest.mark.parametrize(
    ("requests", "limits", "refused"),
    [
        ({"cpu": "6"}, None, True),
        ({"cpu": "2"}, None, False),
        ({"cpu": "6"}, {"cpu": "6"}, False),
        (None, {"cpu": "6"}, False),
        (None, None, False),
    ],
)
def test_a_request_above_the_default_limit_is_refused_unless_the_container_has_a_limit(
    requests: Mapping[str, str] | None, limits: Mapping[str, str] | None, refused: bool
) -> None:
    """k/k:pkg/apis/core/validation ValidateContainerResourceRequirements: no request above its limit."""
    of = pod_set(builders.container(requests=requests, limits=limits))
    path = "/spec/containers/0/resources/requests/cpu"

    assert violations(of, limit_range(default={"cpu": "2"})) == (
        [(Rule.DEFAULT, path, "request", "6")] if refused else []
    )


def test_the_smallest_holds_for_init_containers_too() -> None:
    smallest = limit_range(min={"memory": "1Gi"})
    both = pod_set(
        builders.container(requests={"memory": "2Gi"}),
        initContainers=[builders.container("prepare", requests={"memory": "64Mi"})],
    )

    assert violations(both, smallest) == [
        (Rule.MINIMUM, "/spec/initContainers/0/resources/requests/memory", "request", "67108864")
    ]


@pytest.mark.parametrize(
    ("requests", "limits", "said"),
    [
        ({"cpu": "1"}, {"cpu": "4"}, Violating.RATIO),
        ({"cpu": "2"}, {"cpu": "4"}, None),
        ({"cpu": "1500m"}, {"cpu": "3"}, None),
        ({"cpu": "1499m"}, {"cpu": "3"}, Violating.RATIO),
        ({"cpu": "1"}, None, Violating.LIMIT),
        (None, None, Violating.REQUEST),
    ],
)
def test_a_limit_is_at_most_so_many_times_the_request(
    requests: Mapping[str, str] | None, limits: Mapping[str, str] | None, said: Violating | None
) -> None:
    of = pod_set(builders.container(requests=requests, limits=limits))
    found = authorities_limit_range.violations_of_pod_set(of, read(limit_range(maxLimitRequestRatio={"cpu": "2"})))

    assert [each.violating for each in found] == ([] if said is None else [said])


def test_a_limit_that_exceeds_its_ratio_comes_with_the_request() -> None:
    four = pod_set(builders.container(requests={"cpu": "1"}, limits={"cpu": "4"}))
    ratio, largest = limit_range(maxLimitRequestRatio={"cpu": "2"}), limit_range(max={"cpu": "3"})
    found = [authorities_limit_range.violations_of_pod_set(four, read(each))[0].request for each in (ratio, largest)]

    assert [None if each is None else str(each) for each in found] == ["1", None]


def test_just_as_much_as_a_bound_is_within_it() -> None:
    four = pod_set(builders.container(requests={"cpu": "4"}, limits={"cpu": "4"}))

    assert violations(four, limit_range(min={"cpu": "4"}, max={"cpu": "4"})) == []


def test_a_pod_is_looked_at_as_a_whole_without_its_overhead() -> None:
    largest = limit_range("Pod", max={"cpu": "4"})
    four = builders.container("a", limits={"cpu": "3"}), builders.container("b", limits={"cpu": "1"})

    assert violations(pod_set(*four, overhead={"cpu": "1"}), largest) == []
    assert violations(pod_set(*four, builders.container("c", limits={"cpu": "1"})), largest) == [
        (Rule.MAXIMUM, "/spec", "limit", "5")
    ]
    assert violations(pod_set(builders.container(requests={"cpu": "1"})), largest) == [
        (Rule.MAXIMUM, "/spec", "limit", None)
    ]


def test_limits_of_the_whole_pod_take_the_place_of_those_of_its_containers() -> None:
    largest = limit_range("Pod", max={"cpu": "4"})
    whole = pod_set(builders.container(limits={"cpu": "1"}), resources={"limits": {"cpu": "5"}})

    assert [each[2:] for each in violations(whole, largest)] == [("limit", "5")]


def test_what_the_whole_pod_requests_is_settled_before_any_default_of_its_containers() -> None:
    """As seen of the API server: the limit becomes the request, though a LimitRange gives the container less."""
    small = limit_range(defaultRequest={"cpu": "500m"})
    largest = limit_range("Pod", max={"cpu": "4"})
    whole = pod_set(builders.container(), resources={"limits": {"cpu": "4"}})
    (container,) = authorities_limit_range.with_defaults(whole.containers, read(small))

    found = authorities_limit_range.requests_of_pod(whole, [container], overhead={})
    assert {name: str(amount) for name, amount in found.items()} == {"cpu": "4"}
    assert violations(whole, small, largest) == []


def test_different_defaults_are_ambiguous() -> None:
    """The API server takes the LimitRanges in no order that it promises."""
    one, other = limit_range(default={"cpu": "1"}), limit_range(default={"cpu": "2"}, max={"cpu": "1"})
    ranges = read(one, other)

    assert ranges.ambiguous == {"cpu"}
    assert authorities_limit_range.violations_of_pod_set(pod_set(builders.container()), ranges) == ()


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"limits": "none"}, "spec.limits"),
        ({"limits": ["none"]}, "spec.limits[0]"),
        ({"limits": [None]}, "spec.limits[0]"),
        ({"limits": [{"type": 1}]}, "spec.limits[0].type"),
        ({"limits": [{"type": "Container", "max": ["cpu"]}]}, "spec.limits[0].max"),
        ({"limits": [{"type": "Pod", "max": {"cpu": "many"}}]}, "spec.limits[0].max.cpu"),
    ],
)
def test_an_unreadable_field_is_named_and_refuses_no_pod(spec: Mapping[str, builders.JsonValue], field: str) -> None:
    ranges = read(builders.custom("v1", "LimitRange", spec))

    assert [each.field for each in ranges.unreadable] == [field]
    assert ranges.bounds == ()


ODD = limit_range(default={"memory": "7 apples"})


def test_beside_a_limit_range_that_cannot_be_read_a_limit_that_is_written_is_refused_all_the_same() -> None:
    limited = pod_set(builders.container(limits={"cpu": "16"}))

    assert violations(limited, limit_range(max={"cpu": "8"}), ODD) == [
        (Rule.MAXIMUM, "/spec/containers/0/resources/limits/cpu", "limit", "16")
    ]


def test_an_unreadable_limit_range_prevents_refusals_over_values_that_it_may_fill_in() -> None:
    silent, asking = pod_set(builders.container()), pod_set(builders.container(requests={"memory": "64Mi"}))
    largest, smallest = (
        limit_range(max={"memory": "1Gi"}, default={"memory": "2Gi"}),
        limit_range(min={"memory": "1Gi"}),
    )

    assert [each[2:] for each in violations(silent, largest)] == [("limit", "2147483648")]
    assert violations(silent, largest, ODD) == []
    assert violations(asking, smallest) != []
    assert violations(asking, smallest, ODD) == []


def test_beside_a_limit_range_that_cannot_be_read_no_pod_is_judged_as_a_whole() -> None:
    """The defaults of its other containers are unknown."""
    two = pod_set(builders.container("a", limits={"cpu": "8"}), builders.container("b"))
    largest = limit_range("Pod", max={"cpu": "4"})

    assert violations(two, largest) == [(Rule.MAXIMUM, "/spec", "limit", "8")]
    assert violations(two, largest, ODD) == []


def test_ephemeral_containers_are_bounded_by_nothing() -> None:
    """They have no resources, and LimitRanger does not look at them."""
    debugging = pod_set(
        builders.container(limits={"cpu": "1"}), ephemeralContainers=[{"name": "debug", "image": "busybox"}]
    )

    assert violations(debugging, limit_range(min={"cpu": "500m"})) == []


def test_a_violation_points_at_the_written_value_or_else_at_the_container() -> None:
    """A request may follow from the limit, and both from a default."""
    limited = pod_set(builders.container(limits={"cpu": "1"}))
    sparse = limit_range(defaultRequest={"cpu": "1"}, default={"cpu": "4"}, maxLimitRequestRatio={"cpu": "2"})

    assert [each[1:3] for each in violations(limited, limit_range(min={"cpu": "2"}))] == [
        ("/spec/containers/0/resources/limits/cpu", "request")
    ]
    assert [each[1:3] for each in violations(pod_set(builders.container()), sparse)] == [
        ("/spec/containers/0", "ratio")
    ]


def test_a_limit_below_the_smallest_is_refused_although_the_request_is_not() -> None:
    """The pod as a whole: only one of its containers may have a limit."""
    smallest = limit_range("Pod", min={"cpu": "2"})
    whole = pod_set(builders.container("a", requests={"cpu": "3"}), builders.container("b", limits={"cpu": "1"}))

    assert [each[2:] for each in violations(whole, smallest)] == [("limit", "1")]
    assert [each[2:] for each in violations(pod_set(builders.container()), smallest)] == [("request", None)]


def test_claims_for_volumes_are_another_matter() -> None:
    assert read(limit_range("PersistentVolumeClaim", max={"storage": "1Gi"})).bounds == ()
