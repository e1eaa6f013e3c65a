"""Shapes: what rules read of an object as it is written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from usher import paths
from usher.kinds import registry
from usher.kinds.reading import shapes as reading_shapes

Told = list[tuple[str, str]]


def read(value: object, adapter: TypeAdapter[Any] = reading_shapes.POD_SPEC) -> tuple[object, Told]:
    told: Told = []
    found = reading_shapes.read_shape(adapter, value, "/spec", lambda path, reason: told.append((path, reason)))
    return found, told


def test_only_the_fields_of_the_shape_are_read() -> None:
    assert read({"hostPID": True, "volumes": [{"name": "a", "secret": {}}], "nodeName": "n"}) == (
        {"hostPID": True, "volumes": [{"name": "a"}]},
        [],
    )


def test_null_is_the_same_as_missing() -> None:
    assert read({"hostPID": None, "volumes": [{"name": "a", "emptyDir": None}]}) == ({"volumes": [{"name": "a"}]}, [])


@pytest.mark.parametrize(
    ("value", "rest", "told"),
    [
        ({"hostPID": "yes"}, {}, ("/spec/hostPID", "expected true or false")),
        ({"priority": True}, {}, ("/spec/priority", "expected a whole number")),
        ({"volumes": {}}, {}, ("/spec/volumes", "expected a list")),
        (
            {"volumes": [{"name": 1}, {"name": "b"}]},
            {"volumes": [{}, {"name": "b"}]},
            ("/spec/volumes/0/name", "expected a string"),
        ),
        (
            {"volumes": [None, {"name": "b"}]},
            {"volumes": [{}, {"name": "b"}]},
            ("/spec/volumes/0", "expected an object"),
        ),
    ],
)
def test_a_wrong_type_is_reported_at_its_place_and_the_other_fields_are_read(
    value: paths.Object, rest: paths.Object, told: tuple[str, str]
) -> None:
    assert read({"hostIPC": True, **value}) == ({"hostIPC": True, **rest}, [told])


def test_several_wrong_types_are_all_told() -> None:
    _, told = read({"hostPID": 1, "volumes": [3, {"emptyDir": {"sizeLimit": "lots"}}]})

    assert [path for path, _ in told] == ["/spec/hostPID", "/spec/volumes/0", "/spec/volumes/1/emptyDir/sizeLimit"]


def test_a_quantity_is_read_as_the_number_that_it_is() -> None:
    found, _ = read({"volumes": [{"emptyDir": {"sizeLimit": "1.5Gi"}}]})

    assert found == {
        "volumes": [
            {
                "emptyDir": {
                    "sizeLimit": {"text": "1610612736", "value": 1610612736, "milli": 1610612736000, "whole": True}
                }
            }
        ]
    }


@pytest.mark.parametrize("value", [[], {}, 0.5, True, {"int": 1}, {"str": "1"}])
def test_a_field_of_several_types_is_reported_once(value: paths.Json) -> None:
    adapter = registry.SHAPES["apps", "Deployment"].adapter
    update: paths.Json = {"rollingUpdate": {"maxUnavailable": value}}

    _, told = read({"spec": {"strategy": update}}, adapter)

    assert [path for path, _ in told] == ["/spec/spec/strategy/rollingUpdate/maxUnavailable"]


def test_reading_does_not_change_the_input() -> None:
    value: paths.Object = {"volumes": [None, {"name": 1}], "hostPID": None}

    read(value)

    assert value == {"volumes": [None, {"name": 1}], "hostPID": None}


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=5), children, max_size=4),
    max_leaves=20,
)
FIELDS = sorted(
    {*reading_shapes.POD_SPEC_FIELDS, *reading_shapes.CONTAINER_FIELDS, "name", "spec", "metadata", "value", "emptyDir"}
)
named = st.recursive(
    json,
    lambda children: st.dictionaries(st.sampled_from(FIELDS), children, max_size=5) | st.lists(children, max_size=3),
)


@given(value=named)
def test_any_json_can_be_read(value: object) -> None:
    shapes: list[TypeAdapter[Any]] = [
        reading_shapes.POD_SPEC,
        reading_shapes.CONTAINER,
        *(shape.adapter for shape in registry.SHAPES.values()),
    ]
    for adapter in shapes:
        assert isinstance(read(value, adapter)[0], dict)


def test_no_two_kinds_share_a_key_or_a_name() -> None:
    keys = [shape.key for shape in registry.SHAPES.values()]

    assert len(set(keys)) == len(keys)
    assert len(registry.BY_KEY) == len(registry.KINDS)


def test_every_key_is_a_field_of_the_input() -> None:
    schema = TypeAdapter(registry.Objects).json_schema()

    assert {shape.key for shape in registry.SHAPES.values()} == set(schema["properties"])
