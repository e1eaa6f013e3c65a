"""Whatever the normaliser reads and finds to be of another type is unknown, at its very place, and never guessed."""

import re

import pytest

import builders
from unit.workloads.full_objects import FULL_OBJECTS, places
from unit.workloads.normalised import readable_workload, unknowns
from usher import paths

JUNK: list[paths.Json] = ["junk", 7, 0.5, True, ["junk"], {"junk": "junk"}]

# What stands in the objects because they would be none without it, though only other fields are read.
UNREAD = re.compile(
    r"/apiVersion|/kind"
    r"|/metadata/ownerReferences/0/(apiVersion|name|uid)"
    r"|.*/image"
    r"|.*/resources/claims/0/name"
    r"|/spec/schedule"
)

QUANTITY = re.compile(r".*/(requests|limits|overhead)/[^/]+")
NEEDED = re.compile(rf".*/\d+|.*ReplicaSpecs/[^/]+|{QUANTITY.pattern}")
NAME_OF_A_VARIABLE = re.compile(r".*/env/\d+/name")
MAX_SURGE = "/spec/strategy/rollingUpdate/maxSurge"


def fits(pointer: str, value: paths.Json, junk: paths.Json) -> bool:
    """Whether the junk is of a type that may stand at a place."""
    if QUANTITY.fullmatch(pointer):
        return type(junk) in (int, float)
    if pointer == MAX_SURGE:
        return type(junk) is int
    return type(junk) is type(value)


def read_places(value: paths.Object) -> list[tuple[str, paths.Json]]:
    return [(pointer, found) for pointer, found in places(value) if pointer and not UNREAD.fullmatch(pointer)]


@pytest.mark.parametrize("kind", FULL_OBJECTS)
def test_the_objects_hold_nothing_unknown_as_they_are(kind: str) -> None:
    assert readable_workload(FULL_OBJECTS[kind]).pod_sets


@pytest.mark.parametrize("kind", FULL_OBJECTS)
def test_a_wrong_type_is_unknown_at_its_place(kind: str) -> None:
    value = FULL_OBJECTS[kind]
    silent = [
        f"{junk!r} at {pointer}"
        for pointer, found in read_places(value)
        for junk in JUNK
        if not fits(pointer, found, junk)
        and [path for path, _ in unknowns(builders.replaced(value, pointer, junk))] != [pointer]
    ]

    assert silent == []


@pytest.mark.parametrize("kind", FULL_OBJECTS)
def test_null_counts_as_nothing_but_where_something_has_to_be(kind: str) -> None:
    value = FULL_OBJECTS[kind]
    for pointer, _ in read_places(value):
        found = [path for path, _ in unknowns(builders.replaced(value, pointer, None))]
        if NEEDED.fullmatch(pointer):
            assert found == [pointer]
        elif NAME_OF_A_VARIABLE.fullmatch(pointer):
            assert found == [pointer.removesuffix("/name")]
        else:
            assert found == [], pointer
