"""The HTML report of an audit in a real browser: it filters, sorts, follows links, prints, and loads nothing."""

import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import browser
from builders import audit_documents as documents
from builders import audited_clusters as clusters
from e2e.cluster import wait_until
from usher.audit.document import Audit
from usher.audit.reports import audit_page

pytestmark = [pytest.mark.process, browser.needed]

FINDINGS = "[data-table=findings-table]"
WORKLOADS = "[data-table=workloads-table]"

OPEN_ALL = "() => document.querySelectorAll('details.group').forEach((each) => { each.open = true; })"

Report = Callable[[str], Path]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The page of a document of `builders.audited_clusters`, by its name."""
    folder = tmp_path_factory.mktemp("reports")

    def written(name: str) -> Path:
        file = folder / f"{name}.html"
        if not file.exists():
            make: Callable[[], Audit] = getattr(clusters, name)
            file.write_text(audit_page.text(make()), encoding="utf-8")
        return file

    return written


def rows(page: Page, table: str) -> list[str]:
    return page.locator(f"{table} tbody tr").all_inner_texts()


def bodies(page: Page) -> dict[str, str]:
    each = "(table) => [table.dataset.table, table.querySelector('tbody').innerHTML]"
    return dict(page.evaluate(f"() => [...document.querySelectorAll('.table')].map({each})"))


@pytest.mark.parametrize(
    ("name", "theme"),
    [
        ("small", "light"),
        ("small", "dark"),
        ("empty", "light"),
        pytest.param("empty", "dark", marks=pytest.mark.thorough),
    ],
)
def test_a_page_has_no_fault_that_axe_knows(chromium: Browser, report: Report, name: str, theme: Any) -> None:
    with browser.opened(chromium, browser.file_url(report(name)), color_scheme=theme) as found:
        found.page.evaluate(OPEN_ALL)

        # Themes differ in colors alone.
        rules = {"runOnly": ["color-contrast"]} if theme == "dark" else {}
        faults = Axe().run(found.page, options={"resultTypes": ["violations"], **rules})

        assert faults.violations_count == 0, faults.generate_report()


@pytest.mark.parametrize("name", ["audit", "hostile", "not_measured"])
def test_the_browser_draws_rows_as_the_file_has_them(chromium: Browser, report: Report, name: str) -> None:
    with browser.opened(chromium, browser.file_url(report(name))) as found:
        found.page.evaluate(OPEN_ALL)
        before = bodies(found.page)
        for form in found.page.locator("form.filters").all():
            form.locator("input").fill("nothing has these words")
        expect(found.page.locator(f"{FINDINGS} output")).to_have_text(re.compile("^0 of "))
        expect(found.page.locator(f"{WORKLOADS} output")).to_have_text(re.compile("^0 of "))
        for form in found.page.locator("form.filters").all():
            form.get_by_role("button", name="Clear").click()
        expect(found.page.locator(f"{FINDINGS} output")).not_to_have_text(re.compile(" of "))
        expect(found.page.locator(f"{WORKLOADS} output")).not_to_have_text(re.compile(" of "))

        assert bodies(found.page) == before
        assert before["findings-table"]


def test_words_and_choices_narrow_a_table_and_stay_in_its_address(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        page = found.page
        page.locator(f"{FINDINGS} input").fill("KUEUE quota")
        expect(page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^2 of "))
        page.locator(f"{FINDINGS} select[name=team]").select_option("robotics")
        expect(page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^1 of "))

        assert "grasp-sim" in rows(page, FINDINGS)[0]
        expect(page).to_have_url(re.compile(r"#findings-table\?q=KUEUE\+quota&team=robotics$"))
        address = page.url

    with browser.opened(chromium, address) as found:
        expect(found.page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^1 of "))


def test_entries_without_a_team_can_be_chosen(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        found.page.locator(f"{FINDINGS} select[name=team]").select_option(label="without (2)")

        expect(found.page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^2 of "))
        assert all("no team" in row for row in rows(found.page, FINDINGS))


def test_a_heading_sorts_by_number_and_says_so(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        heading = found.page.locator(f"{WORKLOADS} thead th", has_text="Idle").first
        column = found.page.locator(f"{WORKLOADS} tbody tr").locator("td:nth-child(6)")
        assert heading.evaluate("(each) => each.cellIndex") == 5

        heading.get_by_role("button").focus()
        found.page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == "descending"
        down = column.all_inner_texts()
        found.page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == "ascending"
        up = column.all_inner_texts()

        without = {"not measured", "held no GPU"}
        measured = [float(text.removesuffix(" GPU-h").replace(",", "")) for text in down if text not in without]
        assert measured == sorted(measured, reverse=True)
        assert measured[0] > 1_000 > measured[-1]
        # What was not measured is the last in both directions.
        assert [text for text in up if text in without] == up[len(measured) :] != []


def test_severities_sort_by_how_bad_they_are(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        heading = found.page.locator(f"{FINDINGS} thead").get_by_role("button", name="Severity")
        heading.click()
        heading.click()
        badges = found.page.locator(f"{FINDINGS} tbody .badge:first-child").all_inner_texts()

        seen = list(dict.fromkeys(each for each in badges if each != "new"))
        assert seen == ["low", "medium", "high", "critical"]


def test_links_of_the_first_screen_lead_to_their_rows(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        page = found.page
        page.get_by_role("link", name="Job speech-dev/asr-tune-2").first.click()
        row = page.locator("tr.chosen")
        expect(row).to_contain_text("asr-tune-2")
        expect(row).to_be_in_viewport()
        expect(row).to_be_focused()

        page.evaluate("scrollTo(0, 0)")
        page.get_by_role("link", name="All of them").click()
        expect(page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^3 of "))
        assert all("Can never run" in row for row in rows(page, FINDINGS))

        page.evaluate("scrollTo(0, 0)")
        page.get_by_role("link", name="Idle GPU time", exact=True).click()
        expect(page.locator("#word-idle")).to_be_in_viewport()


def test_ten_thousand_findings_turn_pages_and_are_found_by_their_links(chromium: Browser, report: Report) -> None:
    late = "#finding-000000000000270f"
    with browser.opened(chromium, browser.file_url(report("large"), late)) as found:
        page = found.page
        expect(page.locator("tr.chosen")).to_contain_text("container worker-9999)")
        assert len(rows(page, FINDINGS)) <= 100

        page.locator(f"{FINDINGS} input").fill("container worker-99")
        expect(page.locator(f"{FINDINGS} output")).to_have_text("111 of 10,000 rows")
        place = page.locator(f"{FINDINGS} .place")
        page.get_by_role("navigation", name="Pages: Findings").get_by_role("button", name="Next").click()
        expect(place).to_have_text("Rows 101 to 111 of 111")
        assert len(rows(page, FINDINGS)) == 11


def test_a_page_of_hostile_names_shows_them_and_runs_nothing(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("hostile"))) as found:
        page = found.page
        page.locator(f"{FINDINGS} input").fill("onerror")
        expect(page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^1 of "))

        assert (
            page.locator("img, iframe, main script:not([type='application/json']), [onmouseover], [onload]").count()
            == 0
        )
        assert all(
            link.startswith(("#", "https://docs.nvidia.com/"))
            for link in page.eval_on_selector_all("a", "(all) => all.map((a) => a.getAttribute('href'))")
        )
        assert page.title().startswith("</script><img")
        assert "\u202e" not in page.inner_text("body")


def test_the_policy_of_the_page_stops_foreign_programs(chromium: Browser, report: Report, tmp_path: Path) -> None:
    text = report("audit").read_text(encoding="utf-8")
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace("</main>", "<script>window.foreign = 1</script></main>"), encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(browser.file_url(changed))

    assert page.evaluate("() => window.foreign") is None
    context.close()


def test_without_javascript_the_first_rows_are_a_plain_table(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("large")), java_script_enabled=False) as found:
        assert len(rows(found.page, FINDINGS)) == 100
        assert found.page.locator("form.filters:visible").count() == 0
        assert "GPU-h" in found.page.locator(".tiles").inner_text()


def test_the_theme_follows_the_system_until_somebody_switches_it(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit")), color_scheme="dark") as found:
        background = "() => getComputedStyle(document.body).backgroundColor"
        dark = found.page.evaluate(background)
        found.page.get_by_role("button", name="Light theme").click()

        assert found.page.evaluate(background) != dark
        expect(found.page.get_by_role("button", name="Dark theme")).to_be_visible()


WIDER = "() => [...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).length"


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["audit", "hostile"])
def test_nothing_scrolls_sideways(chromium: Browser, report: Report, name: str, width: int) -> None:
    with browser.opened(chromium, browser.file_url(report(name)), viewport={"width": width, "height": 740}) as found:
        found.page.evaluate(OPEN_ALL)

        assert found.page.evaluate("() => document.documentElement.scrollWidth") == width
        assert found.page.evaluate(WIDER) == 0


def test_a_button_shows_the_columns_that_do_not_fit(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        team = found.page.locator("[data-table=usage-team]")
        used = team.get_by_role("columnheader", name="Used")
        expect(used).to_be_hidden()

        team.get_by_role("button", name="Show all 13 columns").press("Enter")
        expect(used).to_be_visible()
        expect(team.locator("tbody tr").first.locator("[data-title=Used]")).to_be_visible()

        team.get_by_role("button", name="Show fewer columns", pressed=True).press("Enter")
        expect(used).to_be_hidden()


def test_columns_are_explained_to_those_who_use_keys_alone(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        team = found.page.locator("[data-table=usage-team]")
        team.get_by_text("What the columns mean").press("Enter")

        expect(team.get_by_role("definition").filter(has_text="usher.yaml says otherwise")).to_be_visible()


def test_cards_of_a_narrow_screen_stay_rows_of_a_table_for_screen_readers(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit")), viewport={"width": 390, "height": 844}) as found:
        table = found.page.get_by_role("table", name="Usage by team")
        rows_of_body = table.locator("tbody").get_by_role("row")

        assert rows_of_body.count() == 8
        assert rows_of_body.first.get_by_role("rowheader").count() == 1
        assert rows_of_body.first.get_by_role("cell").count() == 6
        assert Axe().run(found.page, "[data-table=usage-team]").violations_count == 0


PHONE = {"width": 390, "height": 844}


def test_a_phone_shows_ten_cards_at_once_and_a_wide_screen_all_rows(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit")), viewport=PHONE) as found:
        place = found.page.locator(f"{WORKLOADS} .place")
        first = rows(found.page, WORKLOADS)
        expect(place).to_have_text("Rows 1 to 10 of 60")
        found.page.get_by_role("navigation", name="Pages: Workloads").get_by_role("button", name="Next").click()
        expect(place).to_have_text("Rows 11 to 20 of 60")
        second = rows(found.page, WORKLOADS)
        found.page.locator(f"{WORKLOADS} input").fill("llama")
        expect(found.page.locator(f"{WORKLOADS} output")).to_have_text("9 of 60 rows")
        expect(place).to_be_hidden()
        found.page.locator(f"{WORKLOADS} input").fill("")
        expect(place).to_have_text("Rows 1 to 10 of 60")
        found.page.set_viewport_size({"width": 1280, "height": 900})
        expect(place).to_be_hidden()

        assert len(first) == len(second) == 10
        assert not set(first) & set(second)
        assert len(rows(found.page, WORKLOADS)) == 60


def test_a_link_to_a_finding_leads_to_it_on_a_phone_too(chromium: Browser, report: Report) -> None:
    url = browser.file_url(report("large"), "#finding-000000000000270f")
    with browser.opened(chromium, url, viewport=PHONE) as found:
        expect(found.page.locator("tr.chosen")).to_contain_text("container worker-9999)")

        assert len(rows(found.page, FINDINGS)) == 10


def test_cut_tables_and_links_look_cut(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        team = found.page.locator("[data-table=usage-team]")
        team.get_by_role("button", name="Show all 13 columns").click()
        style = "(each) => getComputedStyle(each, '::-webkit-scrollbar').height"
        links = found.page.locator("nav.sections ul")

        assert team.locator(".scroll").evaluate(style) == "10px"
        assert "linear-gradient" in links.evaluate("(each) => getComputedStyle(each).maskImage")


def test_the_longest_kind_of_kubernetes_stays_in_one_line(chromium: Browser, tmp_path: Path) -> None:
    webhook = documents.subject("gpu-usher", kind="ValidatingWebhookConfiguration", namespace="")
    like = clusters.audit().findings[0].model_copy(update={"subject": webhook})
    file = tmp_path / "page.html"
    file.write_text(audit_page.text(clusters.audit(findings=(like,))), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file)) as found:
        kind = found.page.locator(f"{FINDINGS} tbody th .muted").first

        assert kind.inner_text() == "ValidatingWebhookConfiguration"
        assert kind.evaluate("(each) => each.clientHeight < 2 * parseFloat(getComputedStyle(each).fontSize)")


def test_links_to_rows_choose_them(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        page = found.page
        page.locator("#overview").get_by_role("link", name="speech", exact=True).click()
        expect(page.locator(f"{WORKLOADS} select[name=team]")).to_have_value("speech")


def test_a_workload_leads_to_all_its_findings_and_to_no_others(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("namesakes"))) as found:
        link = found.page.locator(f"{WORKLOADS} tbody tr").filter(has_text="speech-dev/asr-tune").get_by_role("link")
        shown = {each.inner_text(): each for each in link.all()}

        assert list(shown) == ["2 findings", "1 finding"]
        shown["2 findings"].click()
        expect(found.page.locator(f"{FINDINGS} output")).to_have_text(re.compile("^2 of "))
        expect(found.page.locator(f"{FINDINGS} input")).to_have_value('"Job speech-dev/asr-tune"')


def test_the_first_key_leads_past_the_navigation(chromium: Browser, report: Report) -> None:
    with browser.opened(chromium, browser.file_url(report("audit"))) as found:
        found.page.keyboard.press("Tab")
        expect(found.page.get_by_role("link", name="Skip to the report")).to_be_focused()
        found.page.keyboard.press("Enter")
        expect(found.page.locator("main")).to_be_focused()


SERVED = """
import sys
from datetime import timedelta
from builders import audit_documents as documents
from builders import audited_clusters as clusters
from e2e.cluster import wait_until
from usher.cli.audit import Serving
Serving(place=("127.0.0.1", 0), every=timedelta(hours=1), remote=False).run(clusters.small)
"""


@pytest.fixture
def served() -> Iterator[str]:
    """The address of a server that shows a report."""
    tests = Path(__file__).parents[1]
    with subprocess.Popen([sys.executable, "-c", SERVED], cwd=tests, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(line for line in process.stderr if "http://" in line).split()[5]
        wait_until(lambda: _status(address) == 200, description="there is a report")
        yield address
        process.terminate()
        assert process.wait(60) == 0


def _status(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_a_served_report_obeys_the_policy_of_its_headers_and_says_when_the_next_one_comes(
    chromium: Browser, served: str
) -> None:
    with browser.opened(chromium, served) as found:
        expect(found.page.get_by_role("heading", level=1)).to_have_text("prod-eu-1")
        expect(found.page.get_by_role("note").first).to_contain_text("The next audit begins at about")
        found.page.locator(f"{FINDINGS} input").fill("grasp")
        expect(found.page.locator(f"{FINDINGS} output")).to_have_text(re.compile(r"^1 of "))
