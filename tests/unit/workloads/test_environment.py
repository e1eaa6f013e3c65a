"""Environment variables: what a container will see, as far as the manifest tells."""

import pytest

import builders
from unit.workloads.normalised import pod_set, unknowns, workload
from usher import paths

NAME = "NVIDIA_VISIBLE_DEVICES"
FROM_FIELD: paths.Object = {"fieldRef": {"fieldPath": "metadata.name"}}


def value_of(entry: paths.Object) -> str | None:
    (variable,) = pod_set(pod_with(entry)).containers[0].environment
    assert variable.name == NAME
    assert variable.path == "/spec/containers/0/env/0"
    return variable.value


def pod_with(entry: paths.Json) -> paths.Object:
    return builders.replaced(builders.pod(), "/spec/containers/0/env", [entry])


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"value": "all"}, "all"),
        ({"value": ""}, ""),
        ({}, ""),
        ({"value": None}, ""),
        ({"valueFrom": FROM_FIELD}, None),
        ({"valueFrom": {}}, None),
        ({"value": "", "valueFrom": FROM_FIELD}, None),
        # Nothing comes from elsewhere here, so the value is not hidden.
        ({"value": "all", "valueFrom": None}, "all"),
        # The API server refuses both in a Pod; the kubelet would look at the value first.
        ({"value": "all", "valueFrom": FROM_FIELD}, "all"),
    ],
)
def test_a_variable_has_the_value_that_the_kubelet_would_give_it(entry: paths.Object, value: str | None) -> None:
    assert value_of({"name": NAME, **entry}) == value


@pytest.mark.parametrize(
    ("entry", "path", "reason"),
    [
        ({"name": NAME, "value": 0}, "/value", "expected a string, found a number; quote it"),
        ({"name": NAME, "value": True}, "/value", "expected a string, found a boolean; quote it"),
        ({"name": NAME, "value": 1.5}, "/value", "expected a string, found a decimal number; quote it"),
        ({"name": NAME, "value": ["a"]}, "/value", "expected a string, found a list"),
        ({"name": NAME, "valueFrom": "field"}, "/valueFrom", "expected an object, found a string"),
        ({"name": 5, "value": "a"}, "/name", "expected a string, found a number; quote it"),
        ({"value": "a"}, "", "this entry has no name"),
        ({"name": "", "value": "a"}, "", "this entry has no name"),
        ("NAME=value", "", "expected an object, found a string"),
    ],
)
def test_an_entry_that_is_none_is_unknown(entry: paths.Json, path: str, reason: str) -> None:
    assert unknowns(pod_with(entry)) == [("/spec/containers/0/env/0" + path, reason)]


def test_a_value_that_could_not_be_read_is_not_taken_for_an_empty_one() -> None:
    (found,) = workload(pod_with({"name": NAME, "value": 0})).pod_sets

    assert [variable.value for variable in found.containers[0].environment] == [None]
