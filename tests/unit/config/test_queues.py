"""Queues, routes and priority classes of usher.yaml: their defaults, and what no workload could ever fit."""

from typing import Any

import pydantic
import pytest

from usher.config import models
from usher.config.sections import PriorityRule, Queue, Route

ANYWHERE: dict[str, Any] = {"namespaces": ["*"]}


def reasons(model: type[pydantic.BaseModel], value: dict[str, Any]) -> list[tuple[str, str]]:
    """Place and kind of all that is wrong with an entry."""
    with pytest.raises(pydantic.ValidationError) as refusal:
        model.model_validate(value)
    return [(".".join(map(str, detail["loc"])), detail["type"]) for detail in refusal.value.errors()]


def test_a_queue_needs_a_name_and_namespaces_only() -> None:
    queue = Queue.model_validate({**ANYWHERE, "localQueue": "research"})

    assert queue.places_pods
    assert queue.priority_class is None
    assert queue.topology is None
    assert (queue.roles, queue.kinds, queue.min_accelerators, queue.max_accelerators) == ([], [], 0, None)


def test_a_topology_is_preferred_unless_it_is_required() -> None:
    level = "cloud.provider.com/topology-rack"
    queue = Queue.model_validate({**ANYWHERE, "localQueue": "research", "topology": {"preferred": level}})

    assert queue.topology is not None
    assert (queue.topology.mode, queue.topology.level) == ("preferred", level)


def test_a_route_is_for_the_jobs_whose_operators_make_gangs_on_volcano() -> None:
    route = Route()

    assert (route.scheduler, route.name, route.queue) == ("volcano", "volcano", "default")
    assert route.kinds == ["PyTorchJob", "MPIJob"]
    assert route.namespaces == ["*"]
    assert not route.sets_minimum


def test_each_scheduler_has_the_name_under_which_it_runs_unless_another_is_given() -> None:
    assert Route(scheduler="kai").name == "kai-scheduler"
    assert Route(scheduler="kai", scheduler_name="kai-2").name == "kai-2"
    assert Route(scheduler_name="volcano-gpu").name == "volcano-gpu"


@pytest.mark.parametrize(
    ("model", "value", "expected"),
    [
        (Route, {"scheduler": "yunikorn"}, ("scheduler", "literal_error")),
        (Route, {"kinds": []}, ("kinds", "too_short")),
        (Route, {"schedulerName": "Volcano"}, ("schedulerName", "string_pattern_mismatch")),
        (Queue, {**ANYWHERE}, ("localQueue", "missing")),
        (Queue, {**ANYWHERE, "localQueue": "Research"}, ("localQueue", "string_pattern_mismatch")),
        (
            Queue,
            {**ANYWHERE, "localQueue": "research", "minAccelerators": -1},
            ("minAccelerators", "greater_than_equal"),
        ),
        (PriorityRule, {**ANYWHERE}, ("priorityClass", "missing")),
        (PriorityRule, {**ANYWHERE, "priorityClass": "low", "roles": ["trainer"]}, ("roles.0", "literal_error")),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(
    model: type[pydantic.BaseModel], value: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert reasons(model, value) == [expected]


def test_a_size_that_no_workload_has_is_refused_in_words() -> None:
    value = {**ANYWHERE, "localQueue": "research", "minAccelerators": 16, "maxAccelerators": 8}
    with pytest.raises(pydantic.ValidationError, match="swap minAccelerators and maxAccelerators"):
        Queue.model_validate(value)


def test_one_size_alone_can_be_meant() -> None:
    queue = Queue.model_validate({**ANYWHERE, "localQueue": "nodes", "minAccelerators": 8, "maxAccelerators": 8})

    assert (queue.min_accelerators, queue.max_accelerators) == (8, 8)


def test_a_configuration_declares_no_class_by_itself() -> None:
    assert models.Priorities().classes == []
    assert models.Priorities().global_default is None


def test_an_entry_without_namespaces_is_for_all() -> None:
    assert Queue.model_validate({"localQueue": "research"}).namespaces == ["*"]


@pytest.mark.parametrize("topology", [{}, {"required": "rack", "preferred": "zone"}])
def test_a_topology_has_one_level(topology: dict[str, str]) -> None:
    with pytest.raises(pydantic.ValidationError, match="write either required: LEVEL or preferred: LEVEL"):
        Queue.model_validate({"localQueue": "research", "topology": topology})


def test_a_topology_says_how_strict_its_level_is() -> None:
    required = Queue.model_validate({"localQueue": "a", "topology": {"required": "rack"}}).topology
    preferred = Queue.model_validate({"localQueue": "a", "topology": {"preferred": "zone"}}).topology

    assert required is not None
    assert (required.mode, required.level) == ("required", "rack")
    assert preferred is not None
    assert (preferred.mode, preferred.level) == ("preferred", "zone")
