"""Modules are subjects: neither so long that they hold two, nor a step of their only neighbour."""

from pathlib import Path
from typing import Final

import measure_structure
import pytest
from measure_structure import Module

ROOT: Final = Path(__file__).parents[2]

ALONE: Final = {
    "authorities.nodes.devices": "the choice of devices, which runs without ResourceSlices never import",
    "audit.usage.possible_savings": "with what measures usage it is too long",
    "audit.usage.saving_cases": "with the savings themselves it is too long",
    "check.fix.planning": "edits of a text, apart from the proof that they say what was wanted",
    "check.fix.rewriting": "the proof of edits, apart from the rounds that judge them",
    "cli.audit": "a command is one module",
    "cli.audit_run": "what a run imports; the options alone are quick to show",
    "cli.report": "a command is one module",
    "documents.plain": "the fast reader, which the exact one checks",
    "kinds.argo_templates": "with the kinds themselves it is too long",
    "kinds.reading.mounts": "mounts of containers, apart from the disks behind them",
    "kinds.spark_resources": "with the kinds themselves it is too long",
    "policy.input.site": "the part of usher.yaml in the input document; with the rest it is too long",
    "policy.mutating": "what mutations do, apart from the way of an object; with it it is too long",
    "server.reviews": "the webhook port, apart from the process that runs both ports",
    "workloads.containers": "a container and what it starts; with the pod set it is too long",
}
"""Modules that only a neighbour in their folder imports, each with the reason why it stands alone."""


@pytest.fixture(scope="module")
def found() -> list[Module]:
    """All modules of the package, which takes seconds to read."""
    return measure_structure.modules()


@pytest.mark.parametrize(("folder", "most"), [("webhooks/usher", 600), ("tests", 600)])
def test_no_python_module_has_more_lines_than_its_folder_allows(folder: str, most: int) -> None:
    lines = {
        str(file.relative_to(ROOT)): len(file.read_text().splitlines())
        for file in sorted((ROOT / folder).rglob("*.py"))
    }

    assert {file: length for file, length in lines.items() if length > most} == {}


@pytest.mark.costly
def test_functions_are_short(found: list[Module]) -> None:
    lengths = {name: length for module in found for name, length in module.functions.items()}

    assert {name: length for name, length in lengths.items() if length > 80} == {}
    assert sum(length < 25 for length in lengths.values()) >= 0.9 * len(lengths)


def test_a_module_that_only_a_neighbour_imports_has_a_reason(found: list[Module]) -> None:
    assert set(measure_structure.single_importers(found)) == set(ALONE)
    assert len(ALONE) <= 20


def test_the_rooms_at_the_top_are_few(found: list[Module]) -> None:
    assert len({module.room for module in found if module.name}) <= 22


def test_a_file_name_says_its_subject_without_its_folder(found: list[Module]) -> None:
    """Pattern names of authorities apart, few names stand in two folders."""
    assert sum(map(len, measure_structure.repeated_names(found).values())) <= 60


def test_modules_and_lines_of_imports_stay_few(found: list[Module]) -> None:
    assert len(found) <= 360
    assert sum(module.import_lines for module in found) <= 5_000


def test_no_imports_stand_under_type_checking(found: list[Module]) -> None:
    hidden = [module.name for module in found if module.hidden_imports]

    assert hidden == []


def test_imports_form_no_circle(found: list[Module]) -> None:
    assert measure_structure.circles(found) == []
