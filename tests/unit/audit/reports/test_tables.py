"""Tables of pages: the first rows as HTML, all rows as data, and filters that offer the values."""

import json
import re
from typing import Any

import pytest

from usher.audit.reports import cells, html_tables


def table(rows: list[html_tables.Row], **fields: Any) -> html_tables.Table:
    columns = (html_tables.Column(title="Name", heads=True), html_tables.Column(title="GPUs", numeric=True))
    return html_tables.Table(name="jobs", caption="Jobs", columns=columns, rows=rows, **fields)


def row(name: str, gpus: float | None, *facets: str) -> html_tables.Row:
    shown = "not known" if gpus is None else f"{gpus:g}"
    return html_tables.Row(cells=(cells.text(name), cells.number(gpus, shown)), facets=facets, id=f"job-{name}")


def data(html: str) -> Any:
    return json.loads(re.findall(r'<script type="application/json" id="data-jobs">(.*?)</script>', html)[0])


def test_the_data_hold_all_rows_and_the_html_the_first_page() -> None:
    made = html_tables.html(table([row(str(number), number) for number in range(250)]))

    assert made.count("<tr id=") == html_tables.PAGE
    assert len(data(made)["rows"]) == 250
    assert "Rows 1 to 100 of 250" in made


def test_a_table_that_no_browser_could_hold_is_cut_and_says_so() -> None:
    made = html_tables.html(table([row("same", 8)] * (html_tables.MOST + 1)))

    assert len(data(made)["rows"]) == html_tables.MOST
    assert "The page holds 20,000 of 20,001 rows, the first ones; --format json has all of them." in made


def test_equal_cells_and_pieces_are_there_once() -> None:
    found = data(html_tables.html(table([row("same", 8) for _ in range(50)])))

    assert found["cells"] == [[None, 0], [8, 1]]
    assert found["pieces"] == [["text", "same"], ["text", "8"]]
    assert found["rows"] == [["job-same", [], 0, 1]] * 50


def test_a_filter_offers_each_value_with_its_number_of_rows() -> None:
    rows = [row(str(number), number, "speech" if number % 3 else "") for number in range(9)]

    made = html_tables.html(table(rows, filters={"team": "Team"}))

    options = re.findall(r'<option value="([^"]*)">([^<]*)<', made)
    assert options == [("", "all"), ("speech", "speech (6)"), ("-", "without (3)")]
    assert data(made)["filters"] == [{"name": "team", "values": ["-", "speech"]}]


def test_a_filter_that_every_row_passes_is_left_out() -> None:
    rows = [row(str(number), number, "speech") for number in range(9)]

    assert "<select" not in html_tables.html(table(rows, filters={"team": "Team"}))


def test_a_short_table_has_no_filters_and_an_empty_one_says_so() -> None:
    assert "<form" not in html_tables.html(table([row("a", 1)]))
    assert html_tables.html(table([], empty="No jobs.")) == '<p class="empty">No jobs.</p>'


def test_data_cannot_end_their_element() -> None:
    made = html_tables.html(table([row("</script><!--", 1)]))

    assert data(made)["pieces"][0] == ["text", "</script><!--"]
    assert made.count("</script>") == 1


def test_a_value_that_is_missing_has_no_number_to_sort_by() -> None:
    found = data(html_tables.html(table([row("a", None)])))

    assert found["cells"][1] == [None, 1]
    assert found["pieces"][1] == ["muted", "not known"]


@pytest.mark.parametrize("place", ["javascript:alert(1)", "data:text/html,x", "//example.com", "ftp://example.com", ""])
def test_a_link_leads_into_the_page_or_to_a_web_page_and_nowhere_else(place: str) -> None:
    assert cells.html(cells.lines(("link", "here", place))) == "<a>here</a>"
    assert cells.html(cells.lines(("link", "here", "#there"))) == '<a href="#there">here</a>'
    for page in ("https://example.com", "http://intranet/checks"):
        assert f'href="{page}"' in cells.html(cells.lines(("link", "here", page)))
