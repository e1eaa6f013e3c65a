"""Whatever the normaliser reads and finds to be of another type is unknown, at its very place, and never guessed."""

import re

import pytest

import builders
import generated_examples
from unit.kinds.full import FULL_OBJECTS, KNOWN, places
from unit.workloads.normalised import readable_workload, unknowns, workload
from usher import paths

JUNK: list[paths.Json] = ["junk", 7, 0.5, True, ["junk"], {"junk": "junk"}]

MANY_PLACES = 250
"""Objects with more places take most of the time."""

# What stands in the objects because they would be none without it, though only other fields are read.
UNREAD = re.compile(
    r"(/spec/components/\d+/template)?/(apiVersion|kind)"
    r"|/metadata/ownerReferences/0/uid"
    r"|.*/image"
    r"|/spec/schedule"
    r"|/pipelineInfo|/schemaVersion"
    # A single value of a patch is reported in the template that it changes.
    r"|.*/nodeSelector/zone"
    # KAITO replaces these of the template.
    r"|.*/inference/template/spec/(affinity|tolerations)(/.*)?"
    # The workspaces of a set get the selector of the set.
    r"|/spec/template/resource/labelSelector/matchLabels(/.*)?"
    # Without roles, nothing says who uses the roleTemplates, which are then reported.
    r"|(/spec/groupTemplate)?/spec/roles"
)

QUANTITY = re.compile(r".*/(requests|limits|overhead)/(?!\d+$)[^/]+")
QUANTITY_BY_ITSELF = re.compile(
    r".*/resources/(cpu|memory|gpu)(Limit|Request)?|.*/accelerator/count|.*/sharedMemorySize"
)
PART_OF_A_PIPELINE = re.compile(
    r"(/spec/pipelineSpec)?/(root/dag|components(/[^/]+(/dag|/executorLabel)?)?"
    r"|deploymentSpec(/executors(/[^/]+(/container|/importer)?)?)?)|.*/kubernetes/.*/executors/[^/]+|.*/dag/tasks/[^/]+(/componentRef(/name)?)?"
)
NEEDED = re.compile(
    rf"{PART_OF_A_PIPELINE.pattern}|.*/\d+|.*ReplicaSpecs/[^/]+|/spec/runtimeRef(/name)?|{QUANTITY.pattern}"
    r"|/resource(/instanceType)?|/spec/roles/\d+/instanceType|.*/standalonePattern/templateRef/name"
)
NAME_OF_A_CLAIM = re.compile(r".*/(resourceClaims|draResources)/\d+/(resourceClaimName|claimCreationSpec)")
NAME_OF_A_VARIABLE = re.compile(r".*/env/\d+/name")
NAME_OF_A_RUNTIME = re.compile(r"/spec/predictor/model/runtime")
NUMBER_OR_PERCENTAGE = re.compile(
    r".*/(rollingUpdate|rollingUpdateConfiguration|rolloutStrategy)/max(Surge|Unavailable)"
)


def fits(pointer: str, value: paths.Json, junk: paths.Json) -> bool:
    """Whether the junk is of a type that may stand at a place."""
    if QUANTITY.fullmatch(pointer) or QUANTITY_BY_ITSELF.fullmatch(pointer):
        return type(junk) in (int, float)
    if NUMBER_OR_PERCENTAGE.fullmatch(pointer):
        return type(junk) is int
    return type(junk) is type(value)


def junk_at(place: int, kind: str) -> list[paths.Json]:
    """All types in a Pod; in other kinds, which have the same parts, one that changes from place to place, or two."""
    if kind == "Pod":
        return JUNK
    turns = [place, place + 3] if generated_examples.are_thorough() else [place]
    return [JUNK[turn % len(JUNK)] for turn in turns]


def read_places(value: paths.Object) -> list[tuple[str, paths.Json]]:
    return [(pointer, found) for pointer, found in places(value) if pointer and not UNREAD.fullmatch(pointer)]


def tried_places(kind: str) -> list[tuple[str, paths.Json]]:
    """All that are read of a Pod; in a change half of those of another kind, which has the same parts as others.

    Which half is another one from kind to kind.
    """
    found = read_places(FULL_OBJECTS[kind])
    if kind == "Pod" or generated_examples.are_thorough():
        return found
    return found[[*FULL_OBJECTS].index(kind) % 2 :: 2]


LARGEST = [kind for kind, value in FULL_OBJECTS.items() if len(read_places(value)) > MANY_PLACES]

every_kind = pytest.mark.parametrize(
    "kind",
    [
        *generated_examples.in_turn(
            [kind for kind in FULL_OBJECTS if kind not in LARGEST], every=3, others=pytest.mark.costly
        ),
        *(pytest.param(kind, marks=pytest.mark.thorough) for kind in LARGEST),
    ],
)
"""A change is tried with all but the largest objects, and `--fast` with a third of these."""


@pytest.mark.parametrize("kind", FULL_OBJECTS)
def test_the_objects_hold_nothing_unknown_as_they_are(kind: str) -> None:
    assert readable_workload(FULL_OBJECTS[kind], objects=KNOWN).pod_sets


@every_kind
def test_a_wrong_type_is_unknown_at_its_place(kind: str) -> None:
    value = FULL_OBJECTS[kind]
    silent = [
        f"{junk!r} at {pointer}"
        for place, (pointer, found) in enumerate(tried_places(kind))
        for junk in junk_at(place, kind)
        if not fits(pointer, found, junk)
        and [path for path, _ in unknowns(builders.replaced(value, pointer, junk), objects=KNOWN)] != [pointer]
    ]

    assert silent == []


@pytest.mark.costly
@every_kind
def test_null_counts_as_nothing_but_where_something_has_to_be(kind: str) -> None:
    value = FULL_OBJECTS[kind]
    for pointer, _ in tried_places(kind):
        found = [path for path, _ in unknowns(builders.replaced(value, pointer, None), objects=KNOWN)]
        if NEEDED.fullmatch(pointer):
            assert found == [pointer]
        elif NAME_OF_A_CLAIM.fullmatch(pointer):
            assert found == [pointer.rpartition("/")[0]]
        elif NAME_OF_A_VARIABLE.fullmatch(pointer):
            assert found == [pointer.removesuffix("/name")]
        elif NAME_OF_A_RUNTIME.fullmatch(pointer):
            assert found == [pointer.removesuffix("/runtime")]
        else:
            assert found == [], pointer


@pytest.mark.parametrize("labels", ["", [], 7])
def test_no_queue_label_fits_where_the_labels_are_not_an_object(labels: paths.Json) -> None:
    job = builders.job()
    assert workload(job).queue_label_path == "/metadata"
    assert workload(builders.replaced(job, "/metadata", {"name": "job", "labels": labels})).queue_label_path is None
