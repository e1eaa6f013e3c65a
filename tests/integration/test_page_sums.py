"""The last row of a table of a page: the sum of all rows, and of those that filters leave."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import browser
from builders import audited_clusters as clusters
from usher.audit.reports import audit_page, cells, html_elements, html_tables
from usher.audit.reports.html_elements import element
from usher.audit.reports.numbers import PAGE

pytestmark = [pytest.mark.process, browser.needed]

SAVINGS = "[data-table=savings-table]"

VALUES = (0, 0.004, 0.571, 1.25, 2.5, 9.994, 9.999, 64.64, 99.96, 100, 294.5, 295.5, 1_204.4, 20_996, 1e6)


def last_row(found: Page, table: str = SAVINGS) -> list[str]:
    return found.locator(f"{table} tfoot").locator("th, td").all_inner_texts()


def of_values(values: tuple[float | None, ...]) -> str:
    """A page with a table of a row for each value, and their sum."""
    columns = (
        html_tables.Column(title="Name", heads=True),
        html_tables.Column(title="Hours", numeric=True, adds=cells.SUM_OF_HOURS),
        html_tables.Column(title="Money", numeric=True, adds=cells.sum_of_money("USD")),
        html_tables.Column(title="Week", numeric=True, adds=cells.sum_of_money("USD", needs_all=True)),
        html_tables.Column(title="Share", numeric=True),
    )
    rows = [
        html_tables.Row(
            cells=(
                cells.text(f"row-{number}-end"),
                cells.number(value, PAGE.hours(value)),
                cells.number(value, PAGE.money(value, "USD")),
                cells.number(value, PAGE.money(value, "USD", "")),
                cells.number(value, PAGE.share(value)),
            )
        )
        for number, value in enumerate(values)
    ]
    total = tuple(cells.text(each) for each in ("Sum", "all", "all", "all", "all"))
    table = html_tables.Table(
        name="values", caption="Values", columns=columns, rows=rows, total=total, part="those shown"
    )
    section = html_elements.Section(name="section", title="Values", body=html_tables.html(table))
    first = element("p")
    return html_elements.page_html(
        html_elements.Page(title="sums", heading="sums", facts=(), first=first, sections=(section,))
    )


def test_the_sum_of_savings_is_that_of_the_rows_that_filters_leave(chromium: Browser, tmp_path: Path) -> None:
    audit = clusters.audit()
    one, *others = audit.savings
    alternative = one.model_copy(update={"kind": "spot", "adds_up": False, "gpu_hours": 5.0, "cost": 7.0})
    more = [each.model_copy(update={"team": f"team-{number}"}) for number, each in enumerate(others)]
    filling = [more[0].model_copy(update={"team": "filling", "gpu_hours": 0.0, "cost": 0.0})] * html_tables.FEW
    file = tmp_path / "page.html"
    file.write_text(
        audit_page.text(audit.model_copy(update={"savings": (one, alternative, *more, *filling)})), encoding="utf-8"
    )
    with browser.opened(chromium, browser.file_url(file)) as found:
        whole = last_row(found.page)
        found.page.locator(f"{SAVINGS} input").fill(one.subject.name)
        expect(found.page.locator(f"{SAVINGS} output")).to_have_text(re.compile("^2 of "))

        assert last_row(found.page) == [
            "Sum\nthe rows with “yes” that the filters leave",
            "",
            "",
            PAGE.hours(one.gpu_hours),
            PAGE.money(one.cost, "USD"),
            "",
            "",
        ]

        found.page.locator(SAVINGS).get_by_role("button", name="Clear").click()
        expect(found.page.locator(f"{SAVINGS} output")).not_to_have_text(re.compile(" of "))
        assert last_row(found.page) == whole
        assert whole[0] == "Sum\nthe rows with “yes”"


def test_a_sum_of_one_row_reads_as_the_row(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(of_values((*VALUES, None)), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file)) as found:
        for number in range(len(VALUES) + 1):
            found.page.locator("#values input").fill(f"row-{number}-end")
            expect(found.page.locator("#values tbody tr")).to_have_count(1)
            expect(found.page.locator("#values tbody")).to_contain_text(f"row-{number}-end")
            row = found.page.locator("#values tbody").locator("th, td").all_inner_texts()

            assert last_row(found.page, "#values") == ["Sum\nthose shown", *row[1:4], ""]


def test_a_sum_has_the_rows_of_all_pages(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(of_values((1.0,) * (2 * html_tables.PAGE + 1)), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file)) as found:
        found.page.locator("#values input").fill("row-1")
        expect(found.page.locator("#values output")).to_have_text("111 of 201 rows")

        assert last_row(found.page, "#values") == ["Sum\nthose shown", "111 GPU-h", "USD 111", "USD 111", ""]


def test_no_rows_add_up_to_zero(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(of_values(VALUES), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file)) as found:
        found.page.locator("#values input").fill("no such row")
        expect(found.page.locator("#values output")).to_have_text(re.compile("^0 of "))

        assert last_row(found.page, "#values") == ["Sum\nthose shown", "0 GPU-h", "USD 0", "USD 0", ""]


def test_a_sum_that_one_row_has_no_number_for_is_left_out_where_it_would_mislead(
    chromium: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text(of_values((None, *[1.0] * 10)), encoding="utf-8")
    with browser.opened(chromium, browser.file_url(file)) as found:
        found.page.locator("#values input").fill("row-0 end")
        expect(found.page.locator("#values tbody tr")).to_have_count(1)
        found.page.locator("#values input").fill("0-end")
        expect(found.page.locator("#values tbody tr")).to_have_count(2)

        assert last_row(found.page, "#values") == ["Sum\nthose shown", "1 GPU-h", "USD 1.00", "", ""]
