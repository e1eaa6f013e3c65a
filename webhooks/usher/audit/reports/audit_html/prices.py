"""The prices behind all money of the report."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, PriceEntry
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.markup import Html, element

_COLUMNS: Final = (
    tables.Column(title="GPU model", heads=True),
    tables.Column(title="Capacity type", explained="How the nodes are paid for, by their labels"),
    tables.Column(title="Price", numeric=True, explained="Of one GPU for one hour, held by a pod or not"),
    tables.Column(title="GPUs", numeric=True, explained="Of the nodes of now, held by pods or not"),
    tables.Column(
        title="Comes from", explained="The entry of usher.yaml that decides, and how the price follows from it"
    ),
)


def html(audit: Audit) -> Html | None:
    """Nothing where usher knows no GPU that could have a price."""
    if not audit.prices:
        return None
    currency = audit.summary.currency
    table = tables.Table(
        name="prices",
        caption="Prices",
        columns=_COLUMNS,
        rows=[tables.Row(cells=tuple(_cells(each, currency))) for each in audit.prices],
    )
    return element("details", element("summary", "Prices of one GPU-hour"), tables.html(table), class_="group")


def _cells(each: PriceEntry, currency: str) -> Iterator[cells.Cell]:
    yield cells.text(each.product, "model not known")
    yield cells.text(each.capacity_type, "not known")
    shown = "not priced" if each.per_gpu_hour is None else f"{currency} {each.per_gpu_hour:,.2f}"
    yield cells.number(each.per_gpu_hour, shown)
    yield cells.number(each.gpus, PAGE.number(each.gpus))
    yield cells.lines(("plain", each.rule), ("muted", each.formula))
