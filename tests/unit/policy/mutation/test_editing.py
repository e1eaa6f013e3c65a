"""Edits and the operations that do the same to the original."""

from typing import Any

import jsonpatch
import pytest

from usher import model, paths
from usher.policy.mutation.editing import Edit, copied


def replayed(original: paths.Object, edit: Edit) -> Any:
    return jsonpatch.JsonPatch(edit.operations).apply(copied(original))


def test_a_value_is_added_to_the_object_that_is_there() -> None:
    original: paths.Object = {"metadata": {"name": "bert"}}
    edit = Edit(original)

    edit.add("/metadata/namespace", "research")

    assert edit.value == {"metadata": {"name": "bert", "namespace": "research"}}
    assert edit.operations == [{"op": "add", "path": "/metadata/namespace", "value": "research"}]


def test_an_object_is_copied_at_its_first_change_alone() -> None:
    original: paths.Object = {"metadata": {"name": "bert"}, "spec": {"volumes": ["a"]}}
    edit = Edit(original)

    assert edit.get("/metadata/name") == "bert"
    assert edit.value is original

    edit.append("/spec/volumes", "b")
    changed = edit.value
    edit.remove("/metadata/name")

    assert edit.value is changed
    assert original == {"metadata": {"name": "bert"}, "spec": {"volumes": ["a"]}}


def test_missing_parents_are_made_in_one_operation() -> None:
    edit = Edit({"metadata": {}})

    edit.add("/metadata/annotations/a~1b", "1")

    assert edit.operations == [{"op": "add", "path": "/metadata/annotations", "value": {"a/b": "1"}}]
    assert edit.value == {"metadata": {"annotations": {"a/b": "1"}}}


def test_a_null_counts_as_missing() -> None:
    original: paths.Object = {"spec": {"tolerations": None, "affinity": None}}
    edit = Edit(original)

    edit.append("/spec/tolerations", "one")
    edit.add("/spec/affinity/nodeAffinity", {})

    assert edit.value == {"spec": {"tolerations": ["one"], "affinity": {"nodeAffinity": {}}}}
    assert replayed(original, edit) == edit.value


def test_slashes_and_tildes_in_keys_are_escaped_once() -> None:
    original: paths.Object = {"spec": {"a/b~c": {"labels": {"x~1y": "1"}}}}
    edit = Edit(original)

    edit.add(paths.join("/spec", "a/b~c", "labels", "kueue.x-k8s.io/queue-name"), "research")
    edit.append(paths.join("/spec", "a/b~c", "~list/"), 1)

    assert edit.value == {
        "spec": {"a/b~c": {"labels": {"x~1y": "1", "kueue.x-k8s.io/queue-name": "research"}, "~list/": [1]}}
    }
    assert [operation["path"] for operation in edit.operations] == [
        "/spec/a~1b~0c/labels/kueue.x-k8s.io~1queue-name",
        "/spec/a~1b~0c/~0list~1",
    ]
    assert replayed(original, edit) == edit.value


def test_a_second_item_goes_behind_the_first() -> None:
    original: paths.Object = {"list": ["theirs"]}
    edit = Edit(original)

    edit.append("/list", "first")
    edit.append("/list", "second")

    assert edit.value == {"list": ["theirs", "first", "second"]}
    assert edit.operations == [
        {"op": "add", "path": "/list/-", "value": "first"},
        {"op": "add", "path": "/list/-", "value": "second"},
    ]


def test_items_of_lists_are_reached_by_number() -> None:
    original: paths.Object = {"containers": [{"name": "a"}, {"name": "b"}]}
    edit = Edit(original)

    edit.append("/containers/1/env", {"name": "X"})

    assert edit.value == {"containers": [{"name": "a"}, {"name": "b", "env": [{"name": "X"}]}]}
    assert replayed(original, edit) == edit.value


def test_a_later_addition_does_not_change_an_earlier_operation() -> None:
    edit = Edit({})

    edit.append("/terms", {"expressions": []})
    edit.append("/terms", {"expressions": []})
    edit.append("/terms/0/expressions", 1)
    edit.append("/terms/1/expressions", 2)

    assert edit.value == {"terms": [{"expressions": [1]}, {"expressions": [2]}]}
    assert edit.operations[:2] == [
        {"op": "add", "path": "/terms", "value": [{"expressions": []}]},
        {"op": "add", "path": "/terms/-", "value": {"expressions": []}},
    ]
    assert replayed({}, edit) == edit.value


def test_one_value_in_two_places_stays_two_values() -> None:
    edit = Edit({"a": [], "b": []})
    shared: paths.Json = {"values": []}

    edit.append("/a", shared)
    edit.append("/b", shared)
    edit.append("/a/0/values", "x")

    assert edit.value == {"a": [{"values": ["x"]}], "b": [{"values": []}]}
    assert shared == {"values": []}


def test_the_original_is_not_changed() -> None:
    original: paths.Object = {"spec": {"tolerations": [{"key": "a"}]}}
    edit = Edit(original)

    edit.append("/spec/tolerations", {"key": "b"})
    edit.add("/spec/schedulerName", "volcano")

    assert original == {"spec": {"tolerations": [{"key": "a"}]}}


@pytest.mark.parametrize("in_the_way", ["text", 7, True, ["item"], [None]])
def test_nothing_is_added_to_a_value_that_is_not_an_object(in_the_way: paths.Json) -> None:
    edit = Edit({"spec": in_the_way})

    with pytest.raises(LookupError):
        edit.add("/spec/affinity/nodeAffinity", {})
    with pytest.raises(LookupError):
        edit.add("/spec/0", {})

    assert edit.value == {"spec": in_the_way}
    assert edit.operations == []


@pytest.mark.parametrize("in_the_way", ["text", "", 0, False, {}, {"0": 1}])
def test_nothing_is_appended_to_a_value_that_is_not_a_list(in_the_way: paths.Json) -> None:
    edit = Edit({"list": in_the_way})

    with pytest.raises(LookupError):
        edit.append("/list", 1)

    assert edit.value == {"list": in_the_way}
    assert edit.operations == []


@pytest.mark.parametrize("pointer", ["/absent", "/list/7", "/list/x", "/text/deeper", "/null/deeper", "/null"])
def test_a_missing_value_reads_as_null(pointer: str) -> None:
    assert Edit({"list": [1], "text": "t", "null": None}).get(pointer) is None


def test_a_field_is_taken_away() -> None:
    original: paths.Object = {"spec": {"priority": 5, "a/b~c": 1, "name": "x"}}
    edit = Edit(original)

    edit.remove("/spec/priority")
    edit.remove(paths.join("/spec", "a/b~c"))

    assert edit.value == {"spec": {"name": "x"}}
    assert [operation["op"] for operation in edit.operations] == ["remove", "remove"]
    assert replayed(original, edit) == edit.value


@pytest.mark.parametrize("pointer", ["/spec/absent", "/absent/field", "/list/0", "/text/field"])
def test_only_an_existing_field_can_be_removed(pointer: str) -> None:
    original: paths.Object = {"spec": {}, "list": [1], "text": "t"}
    edit = Edit(original)

    with pytest.raises(LookupError):
        edit.remove(pointer)

    assert edit.value == original
    assert edit.operations == []


WAY: model.Way = ("spec", "patches", model.Keyed("manager", "us"), "jobs", model.Keyed("name", "a/b"), "template")


def test_elements_on_the_way_are_made() -> None:
    edit = Edit({})

    edit.add(edit.make(WAY) + "/labels", {"x": "1"})

    assert edit.value == {
        "spec": {"patches": [{"manager": "us", "jobs": [{"name": "a/b", "template": {"labels": {"x": "1"}}}]}]}
    }
    assert replayed({}, edit) == edit.value


def test_elements_that_are_there_are_found_by_their_key() -> None:
    original: paths.Object = {
        "spec": {"patches": ["text", {"manager": "them"}, {"manager": "us", "jobs": [{"name": "a"}, {"name": "a/b"}]}]}
    }
    edit = Edit(original)

    assert edit.make(WAY) == "/spec/patches/2/jobs/1/template"
    assert edit.operations == []


def test_the_way_of_a_field_alone_needs_nothing_made() -> None:
    edit = Edit({})

    assert edit.make(("spec", "a/b")) == "/spec/a~1b"
    assert edit.operations == []


@pytest.mark.parametrize("patches", ["text", {}, {"manager": "us"}, 7])
def test_a_value_that_is_not_a_list_has_no_elements(patches: paths.Json) -> None:
    edit = Edit({"spec": {"patches": patches}})

    with pytest.raises(LookupError):
        edit.make(WAY)

    assert edit.operations == []
