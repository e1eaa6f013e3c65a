"""The apps group: how many pods its kinds keep, and how many a rollout adds (docs/domain/kinds.md#apps)."""

from collections.abc import Callable

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher import model, paths


@pytest.mark.parametrize("build", [builders.stateful_set, builders.replica_set])
def test_stateful_and_replica_sets_keep_their_number(build: Callable[..., paths.Object]) -> None:
    assert counts(build()) == [("", "/spec/template", 1, 1)]
    assert counts(build(replicas=3)) == [("", "/spec/template", 3, 3)]
    assert counts(build(replicas=0)) == [("", "/spec/template", 0, 0)]


def test_nothing_but_the_number_of_nodes_bounds_a_daemon_set() -> None:
    (found,) = readable_workload(builders.daemon_set()).pod_sets

    assert found.path == "/spec/template"
    assert found.count == model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")


@pytest.mark.parametrize(
    ("replicas", "max_surge", "peak"),
    [
        (None, None, 2),  # a quarter of one pod is one
        (1, None, 2),
        (4, None, 5),
        (5, None, 7),
        (10, "30%", 13),
        (10, "31%", 14),
        (10, "0%", 10),
        (10, "200%", 30),
        (10, 0, 10),
        (10, 3, 13),
        (0, 3, 0),  # nothing is rolled out
        (0, None, 0),
    ],
)
def test_a_rollout_of_a_deployment_makes_more_pods_rounded_up(
    replicas: int | None, max_surge: int | str | None, peak: int
) -> None:
    desired = 1 if replicas is None else replicas

    assert counts(builders.deployment(replicas=replicas, max_surge=max_surge)) == [
        ("", "/spec/template", desired, peak)
    ]


def test_a_deployment_says_why_it_may_be_larger() -> None:
    (rolling,) = readable_workload(builders.deployment(replicas=8)).pod_sets
    (recreated,) = readable_workload(builders.deployment(replicas=8, strategy="Recreate")).pod_sets

    assert rolling.count == model.Count(minimum=8, maximum=10, reason="2 more during a rollout")
    assert recreated.count == model.Count(minimum=8, maximum=8)


@pytest.mark.parametrize("max_surge", ["", "3", "25 %", "2.5%", "-25%", "\u0662\u0665%", "10000%", "%"])
def test_a_surge_that_is_neither_number_nor_percentage_is_unknown(max_surge: str) -> None:
    value = builders.deployment(replicas=4, max_surge=max_surge)

    assert unknowns(value) == [
        ("/spec/strategy/rollingUpdate/maxSurge", "expected a whole number or a percentage, for example 25%")
    ]
    assert workload(value).pods == model.Count(minimum=4, maximum=4)


@pytest.mark.parametrize(
    ("value", "role", "queue_label_path"),
    [
        (builders.deployment(), model.Role.SERVICE, "/metadata"),
        (builders.stateful_set(), model.Role.SERVICE, "/metadata"),
        (builders.replica_set(), model.Role.SERVICE, None),
        (builders.daemon_set(), model.Role.SYSTEM, None),
    ],
    ids=lambda value: str(value["kind"]) if isinstance(value, dict) else "",
)
def test_what_the_kinds_are_for_and_where_kueue_looks(
    value: paths.Object, role: model.Role, queue_label_path: str | None
) -> None:
    found = readable_workload(value)

    assert (found.role, found.queue_label_path) == (role, queue_label_path)
    assert not found.suspended
