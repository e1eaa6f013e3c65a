"""`scripts/mutants` on a library: who judges it, and what it says of conditions that nobody would miss."""

import shutil
from pathlib import Path
from typing import Final

import mutate_policies
import pytest

import opa_server

pytestmark = opa_server.needs_opa

LARGE: Final = """package usher.lib.size

large if {
	input.gpus > 7
	input.gpus > 6
}
"""

REDUNDANT: Final = ["'input.gpus > 6' -> 'true'", "'input.gpus > 6' -> 'input.gpus >= 6'"]

NOTICES_BOTH_SIDES: Final = """
test_more_than_seven_is_large if {
	%(rule)s with input as {"gpus": 8}
	not %(rule)s with input as {"gpus": 7}
}
"""


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """The folder of a bundle that has one library, without tests."""
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "input.json").write_text("{}")
    (tmp_path / "examples.json").write_text('{"examples": {"checks": {"cost": {"too_large": {}}}}}')
    shutil.copy(opa_server.POLICIES / "capabilities.json", tmp_path)
    write(tmp_path / "usher" / "lib" / "size.rego", LARGE)
    return tmp_path


def write(file: Path, *texts: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(texts))


def own_test(policies: Path, rule: str) -> None:
    tests = NOTICES_BOTH_SIDES % {"rule": rule}
    write(
        policies / "usher" / "lib" / "size_test.rego",
        "package usher.lib.size_test",
        "import data.usher.lib.size",
        tests,
    )


def check(policies: Path, library: str, rule: str) -> None:
    """A check that finds what a rule of a library finds, with a test."""
    folder = policies / "usher" / "checks" / "cost" / "too_large"
    imported = f"import data.usher.lib.{library}"
    write(folder / "too_large.rego", "package usher.checks.cost.too_large", imported, f"found if {library}.{rule}")
    tests = NOTICES_BOTH_SIDES % {"rule": "too_large.found"}
    write(
        folder / "too_large_test.rego",
        "package usher.checks.cost.too_large_test",
        "import data.usher.checks.cost.too_large",
        tests,
    )


def survivors(policies: Path, library: str = "size") -> list[str]:
    source = policies / "usher" / "lib" / f"{library}.rego"
    return [line.partition(": ")[2] for line in mutate_policies.survivors(opa_server.OPA, policies, source)[1]]


def test_a_condition_of_a_library_that_its_own_test_would_not_miss_is_told(policies: Path) -> None:
    own_test(policies, "size.large")

    assert survivors(policies) == REDUNDANT


def test_a_library_without_a_test_is_judged_by_those_of_the_checks_that_import_it(policies: Path) -> None:
    check(policies, "size", "large")

    assert survivors(policies) == REDUNDANT


def test_a_check_judges_the_libraries_of_its_libraries(policies: Path) -> None:
    between = "package usher.lib.cost\n\nimport data.usher.lib.size\n\nexpensive if size.large\n"
    write(policies / "usher" / "lib" / "cost.rego", between)
    check(policies, "cost", "expensive")

    assert survivors(policies) == REDUNDANT


def test_where_nobody_looks_everything_survives(policies: Path) -> None:
    assert len(survivors(policies)) == 6


def test_tests_that_fail_without_any_change_judge_nothing(policies: Path) -> None:
    own_test(policies, "size.small")

    with pytest.raises(SystemExit, match="its tests fail without a change"):
        survivors(policies)
