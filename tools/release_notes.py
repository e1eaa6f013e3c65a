"""Prints the release notes of a version: its section of CHANGELOG.md.

tools/release_notes.py                 of the version in usher/__init__.py
tools/release_notes.py 0.1.0           of another one
tools/release_notes.py --tag v0.1.0    of a release: refuses a tag of another version, and a section without a date
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

_HEADING: Final = re.compile(r"## \[(?P<version>[^\]]+)\] - (?P<date>\d{4}-\d\d-\d\d|Unreleased)")
_CONTINUED: Final = re.compile(r"\n +(?![ *-])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The section of the changelog about one version."""

    version: str
    date: str
    """Like 2026-01-31; empty until the release."""
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the release notes of a version.")
    parser.add_argument("version", nargs="?", default=version())
    parser.add_argument("--tag", help="the tag of the release, like v0.1.0")
    arguments = parser.parse_args()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    wanted = arguments.version
    if arguments.tag:
        wanted = released(arguments.tag, changelog)
    print(section(wanted, changelog).text)


def version() -> str:
    """The version of the package; only `usher/__init__.py` holds it."""
    source = (ROOT / "webhooks/usher/__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    return str(found)


def released(tag: str, changelog: str) -> str:
    """The version that a tag releases.

    Raises:
        SystemExit: the tag names another version than the package, or the section of this version has no date.
    """
    if tag != f"v{version()}":
        raise SystemExit(f"release notes: the tag is {tag}, usher/__init__.py says {version()}; tag v{version()}")
    if not section(version(), changelog).date:
        raise SystemExit(f"release notes: CHANGELOG.md says that {version()} is unreleased; write the date there")
    return version()


def section(wanted: str, changelog: str) -> Section:
    """The section of a version.

    Raises:
        SystemExit: the changelog does not have this section.
    """
    found = {each.version: each for each in sections(changelog)}
    if wanted not in found:
        raise SystemExit(f"release notes: CHANGELOG.md has no section {wanted}; it has {', '.join(found)}")
    return found[wanted]


def sections(changelog: str) -> Iterator[Section]:
    """All sections, the newest first. A release page breaks lines where the text does, so each item is one line.

    Raises:
        SystemExit: a heading is not `## [VERSION] - DATE` or `## [VERSION] - Unreleased`.
    """
    for part in re.split(r"^(?=## )", changelog, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        named = _HEADING.fullmatch(heading)
        if not named:
            raise SystemExit(f'release notes: "{heading}" in CHANGELOG.md is not "## [VERSION] - DATE"')
        date = named["date"].replace("Unreleased", "")
        yield Section(version=named["version"], date=date, text=_CONTINUED.sub(" ", text.strip()))


if __name__ == "__main__":
    main()
