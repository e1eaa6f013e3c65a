"""METADATA of checks and mutations, as the bundle is built from them."""

from pathlib import Path

import pytest

from usher import errors
from usher.policy.checks import catalogue as checks_catalogue
from usher.policy.checks import metadata

POLICIES = Path(__file__).parents[4] / "policies"

METADATA = """# METADATA
# title: A title
# description: What for.
# scope: package
# schemas:
#   - input: schema.input
# custom:
#   code: USH999
#   severity: high
package usher.checks.resources.made_up
"""


def write(policies: Path, text: str, *, kind: str = "checks", name: str = "made_up") -> Path:
    file = policies / "usher" / kind / "resources" / name / f"{name}.rego"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_an_entry_has_what_its_metadata_say(tmp_path: Path) -> None:
    entry = metadata.read_entry(tmp_path, write(tmp_path, METADATA))

    assert (entry.key, entry.name, entry.category) == ("resources/made_up", "made-up", "resources")
    assert (entry.code, entry.title, entry.description, entry.severity) == ("USH999", "A title", "What for.", "high")


@pytest.mark.parametrize(
    ("change", "complaint", "line"),
    [
        (("# METADATA\n", ""), "no METADATA comment directly above the package", 1),
        (("# title: A title\n", ""), "title", 2),
        (("USH999", "GPU-1"), "code", 8),
        (("severity: high", "severity: terrible"), "severity", 9),
        (("#   severity: high", "#   severity: high\n#   colour: red"), "colour", 10),
        (("# title: A title", "# title: [A title"), "METADATA", 3),
    ],
)
def test_broken_metadata_are_refused_with_file_and_line(
    tmp_path: Path, change: tuple[str, str], complaint: str, line: int
) -> None:
    file = write(tmp_path, METADATA.replace(*change))

    with pytest.raises(errors.BundleError, match=complaint) as caught:
        metadata.read_entry(tmp_path, file)

    assert str(caught.value).startswith(f"{file}:{line}: ")


def test_a_code_belongs_to_one_rule(tmp_path: Path) -> None:
    files = (write(tmp_path, METADATA), write(tmp_path, METADATA, name="made_up_again"))

    with pytest.raises(errors.BundleError, match="code USH999 belongs to resources/made_up") as caught:
        metadata.read_entries(tmp_path)

    assert str(caught.value).startswith(tuple(f"{file}:8: " for file in files))


def test_a_former_code_belongs_to_the_rule_that_took_it_over(tmp_path: Path) -> None:
    write(tmp_path, METADATA.replace("code: USH999", "code: USH998\n#   aliases: [USH999]"), name="joined")
    again = write(tmp_path, METADATA)

    with pytest.raises(errors.BundleError, match="code USH999 belongs to resources/joined") as caught:
        metadata.read_entries(tmp_path)

    assert str(caught.value).startswith(f"{again}:8: ")


def test_a_check_needs_a_severity_and_a_mutation_has_no_severity(tmp_path: Path) -> None:
    write(tmp_path, METADATA.replace("#   severity: high\n", ""))

    with pytest.raises(errors.BundleError, match="checks are USHnnn with a severity"):
        metadata.read_entries(tmp_path)


def test_the_catalogue_is_what_the_metadata_say_today() -> None:
    entries = metadata.read_entries(POLICIES)

    catalogue = checks_catalogue.load(POLICIES).catalogue
    assert [*catalogue.checks.values()] == entries["checks"]
    assert [*catalogue.mutations.values()] == entries["mutations"]


@pytest.mark.parametrize("kind", ["checks", "mutations"])
def test_every_rule_says_what_to_read_next(kind: str) -> None:
    for entry in metadata.read_entries(POLICIES)[kind]:
        assert entry.description
        assert kind == "mutations" or entry.remediation, f"{entry.code} tells no remedy"
