"""Every reference to the pages of docs/domain leads to a page, a heading and a listed source."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOMAIN = ROOT / "docs" / "domain"

_FOLDERS = (
    ".ci",
    ".github",
    "benchmarks",
    "docs",
    "examples",
    "manifests",
    "policies",
    "scripts",
    "tests",
    "tools",
    "webhooks",
)
_SUFFIXES = ("", ".go", ".json", ".md", ".py", ".rego", ".toml", ".yaml", ".yml")
_LARGEST = 2_000_000
"""Bytes. Larger files are built, and hold no sentence that another file does not hold."""

_SOMEWHERE_ELSE = ("gpu" + "-domain", "gpu" + "_domain", "reference/reliability" + ".md", "../shared" + "/reference")
"""Notes that are not part of the repository, under every name they have had here."""

_REFERENCE = re.compile(r"docs/domain/([\w-]+\.md)(?:#([\w-]+))?")
_LINK = re.compile(r"\]\(([^)\s:]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_SOURCE = re.compile(r"(?<![\w./-])([A-Z][A-Z0-9]{1,4}|k/k):[a-z.{][\w.{},*-]*/")
_LISTED = re.compile(r"^\| `([\w/]+)` \|", re.MULTILINE)


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Path and text of every file of the project that people write or read."""
    files = [file for file in ROOT.iterdir() if file.is_file()]
    for folder in _FOLDERS:
        files += (file for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    wanted = (file for file in sorted(files) if file.suffix in _SUFFIXES and file.stat().st_size <= _LARGEST)
    return tuple((str(file.relative_to(ROOT)), file.read_text(errors="replace")) for file in wanted)


def anchors(page: Path) -> set[str]:
    """Headings as GitHub turns them into anchors: lower case, no punctuation, `-` for a space."""
    headings = _HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing(page: Path, anchor: str | None) -> str:
    """The part of a reference that leads to nothing; empty if all of it exists."""
    if not page.is_file():
        return f"no page {page.relative_to(ROOT)}"
    if anchor and anchor not in anchors(page):
        return f"no heading #{anchor} in {page.relative_to(ROOT)}"
    return ""


@pytest.mark.costly
def test_every_reference_leads_to_a_page_and_a_heading() -> None:
    found = {
        f"{path}: {problem}"
        for path, text in texts()
        for page, anchor in _REFERENCE.findall(text)
        if (problem := missing(DOMAIN / page, anchor))
    }

    assert found == set()


@pytest.mark.parametrize("page", sorted(DOMAIN.glob("*.md")), ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("name", ["architecture.md", "coverage.md", "workloads.md"])
def test_every_link_to_a_page_leads_there(name: str) -> None:
    assert list(broken_links(ROOT / "docs" / name, starting="domain/")) == []


def broken_links(page: Path, starting: str = "") -> Iterator[str]:
    """The links of a page to files and headings that are not there."""
    for link in _LINK.findall(page.read_text()):
        target, _, anchor = link.partition("#")
        problem = missing((page.parent / target).resolve() if target else page, anchor)
        if link.startswith(starting) and problem:
            yield problem


def test_the_index_names_every_page() -> None:
    pages = {page.name for page in DOMAIN.glob("*.md")}

    assert pages - set(_LINK.findall((DOMAIN / "README.md").read_text())) == {"README.md"}


def test_every_rule_and_bypass_route_is_explained() -> None:
    listed = yaml.safe_load((ROOT / "docs" / "coverage.yaml").read_text())

    for group, page in (("rules", "rules.md"), ("routes", "bypass-routes.md")):
        headings = {anchor for anchor in anchors(DOMAIN / page) if re.fullmatch(r"[sb]\d+", anchor)}
        assert headings == {key.lower() for key in listed[group]}


@pytest.mark.costly
def test_every_source_key_is_listed() -> None:
    listed = set(_LISTED.findall((DOMAIN / "sources.md").read_text()))
    used = {key: path for path, text in texts() for key in _SOURCE.findall(text)}

    assert {key: path for key, path in used.items() if key not in listed} == {}


def test_references_stay_within_the_repository() -> None:
    found = [f"{path}: {name}" for path, text in texts() for name in _SOMEWHERE_ELSE if name in text]

    assert found == []
