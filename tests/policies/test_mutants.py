"""`scripts/mutants` on a library: which tests judge it, and how it reports redundant conditions."""

from pathlib import Path
from typing import Final

import mutate_policies
import pytest

import opa_server
from policies import small_bundle

pytestmark = [*opa_server.needs_opa, pytest.mark.costly]

REDUNDANT: Final = ["'input.gpus > 6' -> 'true'", "'input.gpus > 6' -> 'input.gpus >= 6'"]


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return small_bundle.make(tmp_path)


def survivors(policies: Path, library: str = "size") -> list[str]:
    source = policies / "usher" / "lib" / f"{library}.rego"
    return mutate_policies.survivors(opa_server.OPA, policies, source)[1]


def test_a_library_condition_that_its_own_test_does_not_cover_survives(policies: Path) -> None:
    small_bundle.add_own_test(policies, "size.large")

    assert survivors(policies) == REDUNDANT


def test_a_library_without_a_test_is_judged_by_those_of_the_checks_that_import_it(policies: Path) -> None:
    small_bundle.add_check(policies, "size", "large")

    assert survivors(policies) == REDUNDANT


def test_a_check_judges_the_libraries_of_its_libraries(policies: Path) -> None:
    small_bundle.add_library_between(policies)
    small_bundle.add_check(policies, "cost", "expensive")

    assert survivors(policies) == REDUNDANT


def test_without_a_test_every_mutant_survives(policies: Path) -> None:
    assert len(survivors(policies)) == 6


def test_tests_that_fail_without_any_change_judge_nothing(policies: Path) -> None:
    small_bundle.add_own_test(policies, "size.small")

    with pytest.raises(SystemExit, match="its tests fail without a change"):
        survivors(policies)
