"""A table that is described once is the same table on a page, in Markdown and in text."""

from typing import Final, NamedTuple

import pytest

from usher.audit.reports import described, numbers
from usher.audit.reports.described import Amount, Column, Table
from usher.audit.reports.html_elements import Html


class Team(NamedTuple):
    name: str
    idle: float | None
    cost: float | None


TEAMS: Final = (Team("speech", 1_234.5, 12.5), Team("vi|sion", None, None))


def table(teams: tuple[Team, ...] = TEAMS) -> Table[Team]:
    return Table(
        name="teams",
        caption="Teams",
        rows=teams,
        columns=(
            Column(title="Team", name="team", heads=True, value=lambda row: row.name),
            Column(
                title="Idle", name="idle", unit=described.HOURS, value=lambda row: row.idle, adds=described.HOURS.sum
            ),
            Column(name="money", unit=described.money("EUR"), value=lambda row: row.cost),
            Column(title="Only here", value=lambda row: row.name.upper(), empty="no name"),
        ),
        total={"Idle": Amount(1_234.5), "money": Amount(None)},
        order=("team", "money", "idle"),
    )


def shown(html: Html) -> str:
    """The rows without the data for page.js."""
    return html.partition("<script")[0]


def test_markdown_has_the_columns_with_a_name_in_its_order() -> None:
    written = table().markdown()

    assert written.header == ("team", "money", "idle")
    assert written.rows == [
        ("speech", "12.50 EUR", "1,234.5 GPU-hours"),
        ("vi\\|sion", numbers.NOT_PRICED, numbers.NOT_MEASURED),
    ]
    assert written.total == ("**sum**", numbers.NOT_PRICED, "1,234.5 GPU-hours")


def test_a_page_has_the_columns_with_a_title() -> None:
    page = shown(table().html())

    assert [title for title in ("Team", "Idle", "Only here") if f">{title}</th>" in page] == [
        "Team",
        "Idle",
        "Only here",
    ]
    assert "1,234 GPU-h" in page
    assert "SPEECH" in page
    assert "EUR" not in page


def test_text_has_the_first_rows_without_escapes() -> None:
    headings, rows = table().text(2)

    assert headings == ["team", "idle", "money"]
    assert rows[1] == ["vi|sion", numbers.NOT_MEASURED, numbers.NOT_PRICED]
    assert len(table().text(1)[1]) == 1


def test_rows_that_markdown_does_not_write_are_counted() -> None:
    many = table(TEAMS * 50).markdown()

    assert len(many.rows) == described.ROWS
    assert "and 80 more" in many.text(10_000)


@pytest.mark.parametrize("form", ["markdown", "page", "text"])
def test_a_row_that_a_column_says_nothing_about_has_a_word_instead(form: str) -> None:
    column = Column[Team](
        title="Idle",
        name="idle",
        unit=described.HOURS,
        value=lambda row: row.idle,
        instead=lambda row: "held no GPU" if row.idle is None else "",
    )
    made = Table(name="idle", caption="Idle", rows=TEAMS, columns=(column,))
    text = {"markdown": made.markdown().text(1_000), "page": shown(made.html()), "text": str(made.text(9))}[form]

    assert text.count("held no GPU") == 1
    assert numbers.NOT_MEASURED not in text


def test_a_reason_of_a_row_stands_in_the_place_of_a_number() -> None:
    column = Column[Team](
        name="money", unit=described.money("EUR"), value=lambda row: row.cost, missing=lambda _: numbers.NOT_MEASURED
    )

    assert column.in_markdown(TEAMS[1]) == numbers.NOT_MEASURED
    assert column.in_markdown(TEAMS[0]) == "12.50 EUR"


def test_code_adds_to_the_columns_that_the_description_has_and_to_no_others() -> None:
    changed, *_ = described.columns("exceptions", {"Ticket": {"empty": "none"}})

    assert (changed.name, changed.empty) == ("ticket", "none")
    with pytest.raises(KeyError, match="Tickets"):
        described.columns("exceptions", {"Tickets": {"empty": "none"}})
