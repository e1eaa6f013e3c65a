"""The properties of every mutated object hold for those of a corpus, of every kind, and for generated ones."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import record_mutations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_mutations import NAMESPACES

import generated_examples
import indexed_manifests
import mutation_properties as properties
import shared_files
from mutation_properties import Case, case
from shared_files import OWN, PUBLISHED, Corpus
from unit.policy.mutation import generated
from usher import paths
from usher.kinds.reading import values as reading_values
from usher.kinds.registry import WORKLOADS
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

FOLDER = Path(__file__).parents[2] / "tests/data/mutations"

AT_LEAST = {OWN: 60, PUBLISHED: 500}
"""Workloads in a corpus."""

Property = Callable[[Case], Iterator[str]]

OF_ANY_OBJECT: list[Property] = [
    properties.changed_by_a_second_go,
    properties.lost_by_an_update,
    properties.given_otherwise_by_the_patch,
    properties.taken_from_the_user,
    properties.read_otherwise,
    properties.given_to_others,
    properties.passed_over_in_silence,
    properties.in_conflict,
]
OF_SENSIBLE_OBJECTS: list[Property] = [*OF_ANY_OBJECT, properties.found_in_spite_of_a_promise]

# Building a manifest takes longer than judging it, so the health check of slow data says nothing about our code.
thoroughly = settings(
    deadline=None, max_examples=generated_examples.up_to(200), suppress_health_check=[HealthCheck.too_slow]
)


def name_of(wrong: Property) -> str:
    return wrong.__name__


@cache
def evaluator() -> Evaluator:
    return record_mutations.evaluator_of(FOLDER)


@pytest.fixture(scope="module", autouse=True)
def _forgotten_afterwards() -> Iterator[None]:
    yield
    for kept in (of_corpus, of_every_kind, evaluator):
        kept.cache_clear()


@cache
def of_corpus(corpus: Corpus) -> tuple[Case, ...]:
    """The workloads of a corpus, in each namespace of the site."""
    return tuple(found for found in _of_corpus(corpus) if found is not None)


def _of_corpus(corpus: Corpus) -> Iterator[Case | None]:
    for file in sorted({document.file for document in indexed_manifests.documents(corpus)}):
        values = [indexed_manifests.without_namespace(value) for value in indexed_manifests.read(corpus.folder / file)]
        for namespace in NAMESPACES:
            objects = reading_values.Objects(values, namespace=namespace)
            for number, value in enumerate(values):
                request = Request(value=value, namespace=namespace, objects=objects, place="check")
                yield case(f"{file}[{number}] in {namespace}", evaluator(), request)


@cache
def of_every_kind() -> tuple[Case, ...]:
    subjects = [subject for kind in WORKLOADS.values() for subject in record_mutations.subjects(kind, FOLDER)]
    found = [
        case(f"{subject.kind.group}/{subject.kind.kind} in {namespace}", evaluator(), subject.request(namespace))
        for subject in subjects
        for namespace in NAMESPACES
    ]
    return tuple(each for each in found if each is not None)


def generated_case(value: paths.Object, namespace: str) -> Case:
    found = case(
        "generated", evaluator(), Request(value=indexed_manifests.without_namespace(value), namespace=namespace)
    )
    assert found is not None
    return found


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
@pytest.mark.parametrize("wrong", OF_SENSIBLE_OBJECTS, ids=name_of)
def test_of_the_manifests_of_a_corpus_nothing_is(corpus: Corpus, wrong: Property) -> None:
    workloads = len(of_corpus(corpus)) // len(NAMESPACES)

    assert workloads >= AT_LEAST[corpus]
    assert {found.name: told for found in of_corpus(corpus) if (told := list(wrong(found)))} == {}


@pytest.mark.costly
@pytest.mark.parametrize("wrong", OF_SENSIBLE_OBJECTS, ids=name_of)
def test_of_the_manifests_of_every_kind_nothing_is(wrong: Property) -> None:
    assert {found.name: told for found in of_every_kind() if (told := list(wrong(found)))} == {}


@pytest.mark.parametrize("wrong", OF_ANY_OBJECT, ids=name_of)
@thoroughly
@given(value=generated.any_manifests(), namespace=st.sampled_from(NAMESPACES))
def test_of_generated_manifests_nothing_is(wrong: Property, value: paths.Object, namespace: str) -> None:
    assert list(wrong(generated_case(value, namespace))) == []


@thoroughly
@given(value=generated.gpu_manifests(), namespace=st.sampled_from(NAMESPACES))
def test_of_generated_manifests_that_are_sensible_nothing_is_found_in_spite_of_a_promise(
    value: paths.Object, namespace: str
) -> None:
    assert list(properties.found_in_spite_of_a_promise(generated_case(value, namespace))) == []
