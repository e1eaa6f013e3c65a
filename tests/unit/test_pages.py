"""The pages of the repository: their links and paths lead to files, and the index names every page."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("domain/*.md"), DOCS / "checks/README.md"])
BASES: Final = (
    ROOT,
    ROOT / "tests",
    ROOT / "webhooks",
    ROOT / "webhooks/usher",
    ROOT / "webhooks/usher/authorities/gpu_quota",
)
"""The folders that paths on the pages start from; the last one for the modules that keep the accounts of quotas."""


def links(page: Path) -> set[str]:
    """Where a page's links within the repository lead to, without the heading."""
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)}
    return {target for target in targets if target and not re.match(r"https?:", target)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_to_files(page: Path) -> None:
    assert sorted(target for target in links(page) if not (page.parent / target).exists()) == []


def modules(page: Path) -> set[str]:
    """The Python files that a page names in backticks, as patterns: a part in capitals stands for any name."""
    code = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"\b[A-Z]+\b", "*", path)
        for text in code
        for path in re.findall(r"(?<![\w./*-])[\w*.-]+(?:/[\w*.-]+)+\.py\b", text)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_modules_that_a_page_names_are_files(page: Path) -> None:
    assert sorted(path for path in modules(page) if not any(any(base.glob(path)) for base in BASES)) == []


def test_the_index_names_every_page() -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in [*DOCS.glob("*.md"), *DOCS.glob("*/README.md")]}

    assert pages - {"README.md"} <= links(DOCS / "README.md")


def test_the_first_page_is_a_hundred_lines_at_most_and_shows_usher_at_work() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(readme.splitlines()) <= 100
    assert "](docs/pictures/check.svg)" in readme
