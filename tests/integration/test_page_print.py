"""The HTML report of an audit on paper: A4 in landscape, with its open parts and no word broken."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import browser
from builders import audited_clusters as clusters
from usher.audit.document import Audit
from usher.audit.reports import audit_page

pytestmark = [pytest.mark.process, browser.needed]

PAPER = {"width": 1032, "height": 700}
"""The width of A4 in landscape, without its margins."""

BROKEN = "(all) => all.filter((each) => each.getClientRects().length > 1).map((each) => each.textContent)"


@contextmanager
def printed(chromium: Browser, folder: Path, audit: Audit, **settings: Any) -> Iterator[Page]:
    """The page as it is printed."""
    file = folder / "page.html"
    file.write_text(audit_page.text(audit), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file), viewport=PAPER, **settings) as found:
        found.page.emulate_media(media="print")
        if settings.get("java_script_enabled", True):
            found.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        yield found.page


def test_it_prints_open_parts_and_no_controls(chromium: Browser, tmp_path: Path) -> None:
    with printed(chromium, tmp_path, clusters.audit()) as page:
        assert page.locator("form.filters:visible, nav:visible, #theme:visible").count() == 0
        assert page.locator("details:not([open]):visible").count() == 0
        assert page.locator("td details ul:visible").count() == 0
        assert page.locator("[data-table=usage-team] [data-title=Used]:visible").count() > 0
        # A button would be missing in the headings that a browser repeats on each page.
        assert page.locator("thead button:visible").count() == 0
        heading = page.locator("[data-table=findings-table] thead th").nth(1)
        assert heading.evaluate("(each) => getComputedStyle(each, '::before').content") == '"Finding"'


def test_evidence_and_tables_that_somebody_opened_print_too(chromium: Browser, tmp_path: Path) -> None:
    with printed(chromium, tmp_path, clusters.audit(), java_script_enabled=False) as page:
        page.eval_on_selector_all("details", "(all) => all.forEach((each) => { each.open = true; })")

        assert page.locator("td details ul").count() == page.locator("td details ul:visible").count() > 0


@pytest.mark.parametrize("make", [clusters.audit, clusters.hostile, clusters.not_measured])
def test_every_table_fits_the_width_of_the_paper(chromium: Browser, tmp_path: Path, make: Callable[[], Audit]) -> None:
    with printed(chromium, tmp_path, make()) as page:
        assert page.evaluate("() => document.documentElement.scrollWidth") == PAPER["width"]


def test_no_number_is_parted_from_its_unit_and_no_badge_breaks(chromium: Browser, tmp_path: Path) -> None:
    with printed(chromium, tmp_path, clusters.audit()) as page:
        numbers = "tbody td.number > span:visible, tfoot td.number > span:visible"

        assert page.locator(numbers).count() > 100
        assert page.eval_on_selector_all("tbody td.number > span, tfoot td.number > span", BROKEN) == []
        assert page.eval_on_selector_all(".badge", BROKEN) == []


def test_a_sum_has_a_row_beside_it_only_while_it_is_printed(chromium: Browser, tmp_path: Path) -> None:
    with printed(chromium, tmp_path, clusters.audit()) as page:
        table = page.locator("[data-table=usage-team]")
        rows = [table.locator("tbody tr").count(), table.locator("tfoot tr").count()]
        assert table.locator("tfoot").evaluate("(each) => getComputedStyle(each).breakInside") == "avoid"
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")

        assert rows == [7, 2]
        assert [table.locator("tbody tr").count(), table.locator("tfoot tr").count()] == [8, 1]


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed (Debian: poppler-utils)")
def test_pages_have_numbers_and_no_page_ends_with_a_heading(chromium: Browser, tmp_path: Path) -> None:
    file, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    file.write_text(audit_page.text(clusters.audit()), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file)) as found:
        headings = [each.strip() for each in found.page.locator("h2, summary, .lead").all_inner_texts()]
        paper.write_bytes(found.page.pdf(prefer_css_page_size=True))
    text = subprocess.run(["pdftotext", "-layout", paper, "-"], capture_output=True, text=True, check=True).stdout
    sheets = [
        [re.sub(r"\s+", " ", line.strip()) for line in sheet.splitlines() if line.strip()] for sheet in text.split("\f")
    ][:-1]

    assert [sheet[-1] for sheet in sheets] == [f"{number} / {len(sheets)}" for number in range(1, len(sheets) + 1)]
    ends = [sheet[-2] for sheet in sheets]
    assert [end for end in ends if any(heading.startswith(end) for heading in headings if heading)] == []
