"""The work of a review grows at most linearly with the length of every list of every kind: counted, not timed."""

from collections.abc import Iterator
from typing import Final

import pytest

import engine_work
from engine_work import CountingEngine, Growth, Place, example

pytestmark = pytest.mark.costly

MOST: Final = 1.25
"""The exponent of growth; the square of a length has 2, and sorting 1.23 between these lengths."""
SMALL: Final = 4_000_000
"""Instructions, a millisecond, below which steps of tables decide the exponent."""

JOINED: Final[dict[str, list[tuple[str, ...]]]] = {
    "isolation/broad_host_path/bad_mpijob": [
        ("spec/mpiReplicaSpecs/Worker/template/spec/volumes",
         "spec/mpiReplicaSpecs/Worker/template/spec/containers/0/volumeMounts"),
    ],
    "isolation/gke_device_annotations/bad_pytorchjob": [
        ("spec/pytorchReplicaSpecs/Master/template/metadata/annotations",),
        ("spec/pytorchReplicaSpecs/Master/template/spec/containers",),
        ("spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits",),
    ],
    "resources/ray_logical_gpus/bad_raycluster": [
        ("spec/workerGroupSpecs",),
        ("spec/workerGroupSpecs/0/template/spec/containers",),
    ],
    "gang/minimum_above_all_pods/bad_volcano_job": [("spec/tasks",), ("spec/tasks/0/template/spec/containers",)],
    "mig/distributed_training_on_slices/bad_jobset": [("spec/replicatedJobs",)],
    "fabric/variables_of_a_managed_profile/bad_pod": [("spec/containers/0/env",)],
    "sharing/training_on_shared_nodes/bad_job": [("spec/template/spec/nodeSelector",)],
    "isolation/device_list_by_mount/bad_tfjob": [
        ("spec/tfReplicaSpecs/Worker/template/spec/initContainers/0/volumeMounts",),
    ],
    "objects/resource_group_entry_twice/bad_queue": [("spec/resourceGroups",)],
}  # fmt: skip
"""Lists that rules once searched again for each entry, in the examples of checks."""


@pytest.fixture(scope="module")
def engine() -> Iterator[CountingEngine]:
    made = CountingEngine()
    yield made
    made.close()


def place_of(text: str) -> Place:
    return tuple(int(key) if key.isdigit() else key for key in text.split("/"))


def is_steep(growth: Growth) -> bool:
    return growth.many > SMALL and growth.exponent > MOST


@pytest.mark.parametrize(
    ("name", "lists"), [(name, lists) for name, several in JOINED.items() for lists in several], ids=str
)
def test_lists_that_rules_join_cost_what_their_length_says(
    name: str, lists: tuple[str, ...], engine: CountingEngine
) -> None:
    evaluator, value = example(name, engine)

    found = engine_work.growth(evaluator, engine, value, *map(place_of, lists))

    assert not is_steep(found), (found, found.exponent)


@pytest.mark.thorough
def test_every_list_of_every_kind_costs_what_its_length_says(engine: CountingEngine) -> None:
    steep = {}
    for name in engine_work.examples_of_every_kind().values():
        evaluator, value = example(name, engine)
        for place in engine_work.places_of_different_fields(value):
            growth = engine_work.growth(evaluator, engine, value, place)
            if is_steep(growth):
                steep[name, place] = growth.exponent

    assert not steep
