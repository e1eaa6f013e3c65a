"""The page of a fleet in a real browser: it loads nothing, filters, and has no fault that axe knows."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

import browser
from builders import fleets
from unit.audit.store import written
from usher.audit.document import Subject
from usher.audit.reports import fleet_report

pytestmark = [pytest.mark.process, browser.needed]

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fleet with a missing shard, a cluster without usage, a hostile name and a week before."""
    folder = tmp_path_factory.mktemp("fleet")
    for seed in range(1, 4):
        written.part(folder / "before", fleets.cluster(seed, 12, taken="2026-11-16T06:00:00Z"))
        written.part(folder / "now", fleets.cluster(seed, 12, is_measured=seed != 2))
    written.shards(folder / "now", fleets.cluster(4, 12), 3, without=[1])
    finding = fleets.finding("USH1", Subject(api_version="v1", kind="Pod", namespace="a", name=HOSTILE), title=HOSTILE)
    hostile = fleets.cluster(5, workloads=9, name=HOSTILE)
    written.part(folder / "now", hostile.model_copy(update={"findings": (finding,)}))
    file = folder / "fleet.html"
    file.write_text(fleet_report.page_text(written.merged(folder / "now", earlier=[written.merged(folder / "before")])))
    return file


def test_the_page_has_no_fault_that_axe_knows_but_of_colors(chromium: Browser, page: Path) -> None:
    with browser.opened(chromium, browser.file_url(page)) as found:
        faults = Axe().run(found.page, options={"rules": {"color-contrast": {"enabled": False}}})

        assert faults.violations_count == 0, faults.generate_report()


@pytest.mark.thorough
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_colors_have_contrast(chromium: Browser, page: Path, theme: str) -> None:
    """To compare the colors of all texts takes most of the time; the page of an audit has the same colors."""
    with browser.opened(chromium, browser.file_url(page), color_scheme=theme) as found:
        faults = Axe().run(found.page, options={"runOnly": ["color-contrast"]})

        assert faults.violations_count == 0, faults.generate_report()


def test_rows_are_found_by_a_word(chromium: Browser, page: Path) -> None:
    with browser.opened(chromium, browser.file_url(page)) as found:
        table = found.page.locator("[data-table=idle-table]")
        table.locator("input").fill("cluster-3")
        expect(table.locator("tbody tr").first).to_contain_text("cluster-3")
        expect(table.locator("tbody tr", has_text="cluster-1")).to_have_count(0)


def test_gaps_are_said_on_the_first_screen(chromium: Browser, page: Path) -> None:
    with browser.opened(chromium, browser.file_url(page)) as found:
        expect(found.page.get_by_text("Parts of the fleet are missing")).to_be_in_viewport()
        expect(found.page.locator("#gaps")).to_contain_text("shard 1 of 3")


def test_hostile_names_are_text(chromium: Browser, page: Path) -> None:
    with browser.opened(chromium, browser.file_url(page)) as found:
        expect(found.page.locator("#clusters")).to_contain_text("onerror=alert(1)")
        expect(found.page.locator("img")).to_have_count(0)


def test_the_same_document_makes_the_same_page(tmp_path: Path) -> None:
    written.part(tmp_path, fleets.cluster(1))

    assert fleet_report.page_text(written.merged(tmp_path)) == fleet_report.page_text(written.merged(tmp_path))


def test_tiles_of_a_fleet_fill_their_rows_and_part_no_number_from_its_unit(chromium: Browser, page: Path) -> None:
    with browser.opened(chromium, browser.file_url(page)) as found:
        tiles = found.page.locator(".tile")
        tops = tiles.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().top)")
        lines = "(all) => all.map((each) => each.clientHeight / parseFloat(getComputedStyle(each).fontSize))"

        assert len(tops) == 7
        assert len(set(tops)) == 1
        assert max(found.page.locator(".tile .value").evaluate_all(lines)) < 2
        assert "GPU model" in found.page.locator("#by-product thead").inner_text()
