"""The mutations add no field to a manifest of any kind that its definition refuses or drops."""

from functools import lru_cache
from pathlib import Path

import pytest
import record_mutations
from record_mutations import NAMESPACES, Subject

import kind_definitions
import structural
from usher.kinds.registry import WORKLOADS
from usher.policy.evaluator import Evaluator

pytestmark = pytest.mark.uses_definitions

FOLDER = Path(__file__).parents[2] / "tests/data/mutations"

LARGE = 1_500_000
"""Bytes of a definition that takes seconds to read; such ones are tried at night, and half of the others."""

DEFINED = [
    pytest.param(
        subject,
        id=f"{kind.group}/{kind.kind}/{subject.name}",
        marks=pytest.mark.thorough if file.stat().st_size > LARGE or number % 2 else (),
    )
    for number, kind in enumerate(WORKLOADS.values())
    if (file := kind_definitions.file_of(kind.group, kind.plural)) is not None
    for subject in record_mutations.subjects(kind, FOLDER)
]


@lru_cache(maxsize=1)
def evaluator() -> Evaluator:
    return record_mutations.evaluator_of(FOLDER)


@pytest.mark.parametrize("subject", DEFINED)
def test_the_definitions_accept_the_manifest_and_its_mutated_form(subject: Subject) -> None:
    plural = subject.kind.plural
    assert structural.problems(subject.value, plural) == []
    for namespace in ("",) if subject.kind.cluster_scoped else NAMESPACES:
        assert structural.problems(evaluator().mutate(subject.request(namespace)).value, plural) == []
