"""Which results of `scripts/mutants` still hold, by digests of what decides them."""

from pathlib import Path

import mutation_records
import pytest
from mutation_records import Digests, Record

from policies import small_bundle

PARAMETRISED = """# METADATA
# title: At most the maximum of the site
# description: What it does.
# scope: package
# schemas:
#   - input: schema.input
# custom:
#   code: USH999
#   about: pods
#   parameters:
#     maximum: {default: 8, description: GPUs of one pod}
#   severity: low
package usher.checks.cost.at_most

found if input.gpus > 1
"""


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """The folder of a bundle: a check uses the library `cost`, and this the library `size`."""
    policies = small_bundle.make(tmp_path)
    small_bundle.add_library_between(policies)
    small_bundle.add_check(policies, "cost", "expensive")
    small_bundle.add_own_test(policies, "size.large")
    return policies


def library(policies: Path, name: str = "size") -> Path:
    return policies / "usher" / "lib" / f"{name}.rego"


def check(policies: Path) -> Path:
    return policies / "usher" / "checks" / "cost" / "too_large" / "too_large.rego"


def digest(source: Path, *, opa_version: str = "1.0.0") -> str:
    policies = next(folder for folder in source.parents if (folder / "schemas").exists())
    return Digests(policies, opa_version=opa_version).of(source)


def append(file: Path, text: str) -> None:
    file.write_text(f"{file.read_text()}\n{text}\n")


@pytest.mark.parametrize(
    "changed",
    [
        "lib/size.rego",
        "lib/cost.rego",
        "checks/cost/too_large/too_large.rego",
        "checks/cost/too_large/too_large_test.rego",
    ],
)
def test_a_changed_rule_test_or_used_library_makes_the_record_of_a_check_stale(policies: Path, changed: str) -> None:
    before = digest(check(policies))

    append(policies / "usher" / changed, "more if input.gpus > 9")

    assert digest(check(policies)) != before


@pytest.mark.parametrize(
    "changed",
    ["lib/size.rego", "lib/size_test.rego", "lib/cost.rego", "checks/cost/too_large/too_large_test.rego"],
)
def test_a_library_is_tried_again_when_it_or_what_judges_it_changes(policies: Path, changed: str) -> None:
    before = digest(library(policies))

    append(policies / "usher" / changed, "more if input.gpus > 9")

    assert digest(library(policies)) != before


def test_a_change_of_a_library_keeps_the_records_of_policies_that_do_not_use_it(policies: Path) -> None:
    small_bundle.write(library(policies, "alone"), "package usher.lib.alone\n\nfound if input.gpus > 1\n")
    before = digest(library(policies, "alone"))

    append(library(policies), "more if input.gpus > 9")

    assert digest(library(policies, "alone")) == before


def test_comments_and_blank_lines_decide_nothing(policies: Path) -> None:
    before = digest(check(policies))

    append(library(policies), "\n# a comment\n\t# and one that is indented\n")

    assert digest(check(policies)) == before


def test_a_hash_line_in_a_multiline_string_does_not_count_as_a_comment(policies: Path) -> None:
    append(library(policies), "text := `one\n# two\n`")
    before = digest(check(policies))

    library(policies).write_text(library(policies).read_text().replace("# two", "# three"))

    assert digest(check(policies)) != before


def test_a_changed_example_makes_the_records_of_those_stale_that_it_judges(policies: Path) -> None:
    before = [digest(check(policies)), digest(library(policies))]

    (policies / "examples.json").write_text('{"examples": {"checks": {"cost": {"too_large": {"bad": {"gpus": 9}}}}}}')

    assert [digest(check(policies)) != before[0], digest(library(policies)) != before[1]] == [True, True]


def test_a_default_that_a_rule_reads_is_part_of_its_digest_and_other_metadata_are_not(policies: Path) -> None:
    other = policies / "usher" / "checks" / "cost" / "at_most" / "at_most.rego"
    small_bundle.write(other, PARAMETRISED)
    small_bundle.write(library(policies, "parameters"), "package usher.lib.parameters\n")
    append(check(policies), "import data.usher.lib.parameters\nmore if input.gpus > parameters.cost.at_most.maximum")
    before = digest(check(policies))

    other.write_text(PARAMETRISED.replace("GPUs of one pod", "The most GPUs of one pod"))
    reworded = digest(check(policies))
    other.write_text(PARAMETRISED.replace("default: 8", "default: 9"))

    assert reworded == before
    assert digest(check(policies)) != before


def test_the_type_of_a_field_that_a_rule_names_is_part_of_its_digest(policies: Path) -> None:
    digests = []
    for properties in ('"cpus": {"type": "string"}', '"gpus": {"type": "integer"}', '"gpus": {"title": "GPUs"}'):
        small_bundle.write(policies / "schemas" / "input.json", f'{{"properties": {{{properties}}}}}')
        digests.append(digest(check(policies)))

    assert len(set(digests)) == 3


def test_another_version_of_opa_makes_every_record_stale(policies: Path) -> None:
    assert digest(check(policies), opa_version="1.0.1") != digest(check(policies))


def test_records_are_read_as_they_were_written_one_line_each(tmp_path: Path) -> None:
    records = {
        "lib/size": Record(digest="0123456789abcdef", changes=6, unnoticed=["'input.gpus > 6' -> 'true'"]),
        "cost/too_large": Record(digest="fedcba9876543210", changes=2, unnoticed=[]),
    }

    mutation_records.write(tmp_path / "mutants.json", records)

    assert mutation_records.read(tmp_path / "mutants.json") == records
    assert len((tmp_path / "mutants.json").read_text().splitlines()) == 4
