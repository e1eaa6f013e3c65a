"""What one pod asks of a node for every resource; tests/unit/oracle has the scheduler's own answers."""

import builders
from unit.workloads.normalised import pod_set
from usher import paths
from usher.workloads import requests

CONTAINER = builders.container


def asked(pod: paths.Object, *, only: frozenset[str] | None = None) -> dict[str, str]:
    found = pod_set(pod)
    totals = requests.of_pod(
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


def test_ten_thousand_containers_with_resources_of_their_own_are_added_up() -> None:
    containers = [CONTAINER(f"c{index}", limits={f"example.com/{index}": 1, "cpu": 1}) for index in range(10_000)]
    found = asked(builders.pod(*containers, initContainers=containers, resources={"limits": {"memory": 1}}))

    assert len(found) == 10_002
    assert found["cpu"] == "10000"
