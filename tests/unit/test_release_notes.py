"""The changelog and the manifests agree with the version of the package; release notes are a part of the changelog."""

from pathlib import Path
from typing import Final

import pytest
import release_notes
import yaml

import usher

ROOT: Final = Path(__file__).parents[2]
CHANGELOG: Final = """# Changelog

## [2.0.0] - Unreleased

### Added

* One thing
  in two lines.
  * Its detail.
* Another thing.

## [1.0.0] - 2026-01-31

### Fixed

* A fault.
"""


def test_the_version_of_the_package_is_the_newest_of_the_changelog() -> None:
    newest = next(release_notes.sections((ROOT / "CHANGELOG.md").read_text()))

    assert newest.version == release_notes.version() == usher.__version__


def test_the_manifests_run_the_image_of_this_version() -> None:
    deployment = yaml.safe_load((ROOT / "manifests/base/deployment.yaml").read_text())
    (container,) = deployment["spec"]["template"]["spec"]["containers"]

    assert container["image"].rpartition(":")[2] == usher.__version__


def test_the_notes_of_a_version_are_its_section_with_an_item_a_line() -> None:
    notes = release_notes.section("2.0.0", CHANGELOG)

    assert notes.text == "### Added\n\n* One thing in two lines.\n  * Its detail.\n* Another thing."


def test_only_a_released_version_has_a_date() -> None:
    assert [each.date for each in release_notes.sections(CHANGELOG)] == ["", "2026-01-31"]


def test_a_version_without_a_section_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"no section 3\.0\.0; it has 2\.0\.0, 1\.0\.0"):
        release_notes.section("3.0.0", CHANGELOG)


def test_a_heading_of_another_form_is_refused() -> None:
    with pytest.raises(SystemExit, match="is not"):
        list(release_notes.sections("## Unreleased\n"))


def test_a_tag_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_notes, "version", lambda: "1.0.0")

    with pytest.raises(SystemExit, match=r"the tag is v2\.0\.0.* tag v1\.0\.0"):
        release_notes.released("v2.0.0", CHANGELOG)


def test_a_version_without_a_date_is_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_notes, "version", lambda: "2.0.0")

    with pytest.raises(SystemExit, match="write the date"):
        release_notes.released("v2.0.0", CHANGELOG)


def test_a_tag_of_this_version_releases_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_notes, "version", lambda: "1.0.0")

    assert release_notes.released("v1.0.0", CHANGELOG) == "1.0.0"
