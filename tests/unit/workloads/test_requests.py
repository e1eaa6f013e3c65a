"""The request of one pod to its node, and its accelerators (docs/domain/requests.md#request-of-one-pod)."""

import pytest

import builders
from unit.workloads.normalised import accelerators_of, pod_set, totals, unknowns, workload
from usher import paths, quantities
from usher.workloads import pod_sets

CONTAINER = builders.container


def asked(pod: paths.Object, *, only: frozenset[str] | None = None) -> dict[str, str]:
    found = pod_set(pod)
    totals = pod_sets.requests_of_pod(
        found.containers,
        overhead=found.overhead,
        pod_requests=found.pod_requests,
        pod_limits=found.pod_limits,
        only=only,
    )
    return {name: str(quantity) for name, quantity in totals.items()}


def test_a_pod_asks_for_what_its_containers_ask_for_together_and_for_its_overhead() -> None:
    pod = builders.pod(
        CONTAINER("a", requests={"cpu": "1500m"}, limits={"cpu": 2, builders.GPU: 1}),
        CONTAINER("b", requests={"cpu": 1}),
        overhead={"cpu": "250m", "memory": 64},
    )

    assert asked(pod) == {"cpu": "2750m", builders.GPU: "1", "memory": "64"}


def test_each_resource_has_a_peak_of_its_own_while_the_pod_starts() -> None:
    pod = builders.pod(
        CONTAINER(requests={"cpu": 4, "memory": 10}),
        initContainers=[
            {**CONTAINER("s", requests={"cpu": 1, "memory": 1}), "restartPolicy": "Always"},
            CONTAINER("i", requests={"cpu": 1, "memory": 20}),
        ],
    )

    assert asked(pod) == {"cpu": "5", "memory": "21"}


def test_a_resource_asked_for_with_zero_is_named() -> None:
    assert asked(builders.pod(CONTAINER(limits={builders.GPU: 0}))) == {builders.GPU: "0"}


def test_every_amount_is_rounded_up_to_a_thousandth_for_itself() -> None:
    containers = [CONTAINER(str(index), requests={"cpu": "100u"}) for index in range(3)]

    assert asked(builders.pod(*containers)) == {"cpu": "3m"}


def test_what_a_pod_as_a_whole_asks_for_takes_the_place_of_its_containers_sum() -> None:
    containers = [CONTAINER(str(index), requests={"cpu": 2, "memory": 10, builders.GPU: 1}) for index in range(2)]
    pod = builders.pod(*containers, overhead={"cpu": 1}, resources={"requests": {"cpu": 3, builders.GPU: 8}})

    assert asked(pod) == {"cpu": "4", "memory": "20", builders.GPU: "2"}


def test_a_pod_level_limit_stands_in_where_nothing_else_asks() -> None:
    pod = builders.pod(CONTAINER(requests={"cpu": 1}), resources={"limits": {"cpu": 8, "memory": 100}})

    assert asked(pod) == {"cpu": "1", "memory": "100"}


def test_only_the_resources_of_interest_are_looked_at() -> None:
    pod = builders.pod(
        CONTAINER(requests={"cpu": 1, "memory": 1}, limits={builders.GPU: 1}),
        overhead={"memory": 1},
        resources={"requests": {"memory": 5}},
    )

    assert asked(pod, only=frozenset({builders.GPU})) == {builders.GPU: "1"}
    assert asked(pod, only=frozenset({"memory"})) == {"memory": "6"}
    assert asked(pod, only=frozenset()) == {}


@pytest.mark.costly
@pytest.mark.usefixtures("any_size")
def test_a_thousand_containers_with_resources_of_their_own_are_added_up() -> None:
    containers = [CONTAINER(f"c{index}", limits={f"example.com/{index}": 1, "cpu": 1}) for index in range(1000)]
    found = asked(builders.pod(*containers, initContainers=containers, resources={"limits": {"memory": 1}}))

    assert len(found) == 1002
    assert found["cpu"] == "1000"


GPU = builders.GPU
CONTAINER = builders.container
SIDECAR = builders.sidecar


@pytest.mark.parametrize(
    ("requests", "limits", "gpus"),
    [
        (None, {GPU: 1}, "1"),  # API defaulting makes the request of the limit, but not in custom resources
        ({GPU: 2}, {GPU: 2}, "2"),
        ({GPU: 2}, None, "2"),
        ({GPU: 1}, {GPU: 4}, "1"),
        ({"cpu": 1}, {GPU: 4}, "4"),
        ({GPU: 0}, {GPU: 4}, None),
        (None, {GPU: 0}, None),
        (None, {"cpu": 1}, None),
        (None, None, None),
    ],
)
def test_a_container_takes_its_request_or_else_its_limit(
    requests: paths.Object | None, limits: paths.Object | None, gpus: str | None
) -> None:
    asked = accelerators_of(builders.pod(CONTAINER(requests=requests, limits=limits)))

    assert asked == ({} if gpus is None else {GPU: gpus})


@pytest.mark.parametrize("spelling", ["1", 1, 1.0, " 1", "1e0", "1000m"])
def test_a_custom_resource_may_spell_one_gpu_in_many_ways(spelling: str | float) -> None:
    found = pod_set(builders.pod(CONTAINER(limits={GPU: spelling})))

    assert found.accelerators[GPU].value == 1
    assert found.asks_accelerators


@pytest.mark.parametrize(
    ("init", "app", "gpus"),
    [
        ([], [CONTAINER(gpus=1)], 1),
        ([], [CONTAINER("a", gpus=1), CONTAINER("b", gpus=2), CONTAINER("c")], 3),
        # An init container is done before the others start, so the larger of the two counts.
        ([CONTAINER("i", gpus=1)], [CONTAINER()], 1),
        ([CONTAINER("i", gpus=4)], [CONTAINER(gpus=1)], 4),
        ([CONTAINER("i", gpus=1)], [CONTAINER(gpus=4)], 4),
        ([CONTAINER("i", gpus=2), CONTAINER("j", gpus=3)], [CONTAINER(gpus=1)], 3),
        # A sidecar runs beside the others.
        ([SIDECAR(gpus=1)], [CONTAINER(gpus=2)], 3),
        ([SIDECAR(gpus=1)], [CONTAINER()], 1),
        # It runs beside the init containers that come after it, not beside those before.
        ([SIDECAR(gpus=1), CONTAINER("i", gpus=4)], [CONTAINER(gpus=1)], 5),
        ([CONTAINER("i", gpus=4), SIDECAR(gpus=1)], [CONTAINER(gpus=1)], 4),
        ([SIDECAR("s", gpus=1), CONTAINER("i", gpus=1), SIDECAR("t", gpus=2)], [CONTAINER(gpus=1)], 4),
        ([SIDECAR("s", gpus=1), SIDECAR("t", gpus=2), CONTAINER("i", gpus=4)], [CONTAINER(gpus=1)], 7),
    ],
)
def test_a_pod_takes_what_runs_together_or_what_an_init_container_needs(
    init: list[paths.Object], app: list[paths.Object], gpus: int
) -> None:
    assert accelerators_of(builders.pod(*app, initContainers=init)) == {GPU: str(gpus)}


def test_an_ephemeral_container_takes_nothing_for_it_cannot_have_resources() -> None:
    assert accelerators_of(builders.pod(ephemeralContainers=[CONTAINER("debug", gpus=1)])) == {}


def test_the_overhead_of_the_runtime_is_added() -> None:
    assert accelerators_of(builders.pod(CONTAINER(gpus=1), overhead={GPU: 1, "cpu": "250m"})) == {GPU: "2"}
    assert accelerators_of(builders.pod(overhead={GPU: 1, "cpu": "250m"})) == {GPU: "1"}


def test_every_resource_is_counted_for_itself() -> None:
    pod = builders.pod(
        CONTAINER("a", limits={GPU: 1, "nvidia.com/mig-1g.10gb": 2, "cpu": 4}),
        CONTAINER("b", limits={"nvidia.com/mig-1g.10gb": 1}),
        initContainers=[CONTAINER("i", gpus=3)],
    )

    assert accelerators_of(pod) == {GPU: "3", "nvidia.com/mig-1g.10gb": "3"}


def test_a_fraction_stays_one() -> None:
    fractions = [CONTAINER(str(index), limits={GPU: "300m"}) for index in range(2)]

    assert accelerators_of(builders.pod(*fractions)) == {GPU: "600m"}
    assert totals(builders.pod(*fractions)) == {GPU: ("600m", "600m")}


@pytest.mark.parametrize(
    ("quantity", "reason"),
    [
        ("eight", "'eight' is not a quantity; write a number, for example 1, 500m or 16Gi"),
        ("$GPUS", "'$GPUS' is not a quantity; write a number, for example 1, 500m or 16Gi"),
        (None, "null is not a quantity; write a number, for example 1 or 500m"),
        (True, "a boolean is not a quantity; write a number, for example 1 or 500m"),
        (["1"], "a list is not a quantity; write a number, for example 1 or 500m"),
        (10**5000, "the number is larger than any quantity"),
        ("-8", "-8 is negative; no resource is"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_invalid_quantity_of_a_resource_is_unknown_and_left_out(quantity: paths.Json, reason: str) -> None:
    place = "/spec/containers/0/resources/limits/nvidia.com~1gpu"
    pod = builders.replaced(builders.pod(CONTAINER(gpus=1)), place, quantity)

    assert unknowns(pod) == [(place, reason)]
    assert workload(pod).pod_sets[0].accelerators == {}
    assert workload(pod).pod_sets[0].containers[0].asks_accelerators


def test_a_negative_request_hides_nothing_of_what_another_container_asks() -> None:
    found = workload(builders.pod(CONTAINER("a", gpus=8), CONTAINER("b", gpus=-8)))

    assert found.pod_sets[0].accelerators == {GPU: quantities.parse(8)}


@pytest.mark.costly
@pytest.mark.usefixtures("any_size")
def test_ten_thousand_containers_with_a_resource_each_are_added_up() -> None:
    containers = [CONTAINER(f"c{index}", limits={f"nvidia.com/mig-{index}": 1}) for index in range(10_000)]

    assert set(accelerators_of(builders.pod(*containers)).values()) == {"1"}
