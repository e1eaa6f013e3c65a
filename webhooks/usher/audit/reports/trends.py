"""How the headline numbers went from audit to audit."""

from collections.abc import Callable, Iterator, Sequence

from usher.audit.document import Audit, Point
from usher.audit.reports import numbers
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, charts, tables
from usher.audit.reports.web.markup import Html, element, joined
from usher.audit.reports.web.page import Section

_Number = Callable[[Point], float | None]


def section(audit: Audit) -> Section:
    points = audit.trend.points
    if len(points) < 2:
        text = "A trend needs two audits with --history FILE."
        return Section(name="trend", title="Over time", body=element("p", text, class_="empty"))
    return Section(
        name="trend",
        title="Over time",
        lead=f"{len(points):,} audits since {numbers.day(points[0].taken)}.{_unsure(points)}",
        body=joined(
            element("div", *_charts(audit), class_="trends"),
            element("details", element("summary", "As a table"), tables.html(_table(audit)), class_="group"),
        ),
    )


def _unsure(points: Sequence[Point]) -> str:
    return "" if all(point.complete for point in points) else " Grey dots are of audits that could not read everything."


def _series(audit: Audit) -> Iterator[tuple[str, _Number, Callable[[float], str]]]:
    currency = audit.summary.currency
    yield "Idle GPU time", lambda point: point.idle, PAGE.hours
    yield "Cost of idle GPUs", lambda point: point.idle_cost, lambda value: PAGE.money(value, currency)
    if any(point.not_held_cost is not None for point in audit.trend.points):
        yield "Held by no pod", lambda point: point.not_held_cost, lambda value: PAGE.money(value, currency)
    elif any(point.not_held is not None for point in audit.trend.points):
        yield "Held by no pod", lambda point: point.not_held, PAGE.hours
    yield "Activity of held GPUs", lambda point: point.activity, PAGE.share
    yield "GPUs held", lambda point: point.gpus_allocated, PAGE.gpus
    yield "Findings", lambda point: point.findings, numbers.plain
    yield "Workloads that can never run", lambda point: point.never, numbers.plain
    yield "Readiness items that fail", lambda point: point.readiness_failed, numbers.plain


def _charts(audit: Audit) -> Iterator[Html]:
    points = audit.trend.points
    for title, number, shown in _series(audit):
        known = [value for point in points if (value := number(point)) is not None]
        if not known:
            continue
        last = number(points[-1])
        label = f"{title}: from {shown(known[0])} to {shown(known[-1])}, the highest {shown(max(known))}"
        yield element(
            "article",
            element("h3", title),
            element(
                "p",
                numbers.NOT_MEASURED if last is None else shown(last),
                element("small", f"highest {shown(max(known))}"),
                class_="value",
            ),
            charts.line(_drawn(points, number, shown), label),
            element(
                "p",
                element("span", numbers.day(points[0].taken)),
                element("span", numbers.day(points[-1].taken)),
                class_="span",
            ),
            class_="card",
        )


def _drawn(points: Sequence[Point], number: _Number, shown: Callable[[float], str]) -> list[charts.Point]:
    whole = numbers.seconds_between(points[0].taken, points[-1].taken)
    made = []
    for index, point in enumerate(points):
        seconds = numbers.seconds_between(points[0].taken, point.taken)
        at = seconds / whole if whole and seconds is not None else index / (len(points) - 1)
        value = number(point)
        text = numbers.NOT_MEASURED if value is None else shown(value)
        title = f"{numbers.day(point.taken)}: {text}{'' if point.complete else ', not complete'}"
        made.append(charts.Point(at=min(1.0, at), value=value, title=title, unsure=not point.complete))
    return made


def _table(audit: Audit) -> tables.Table:
    series = list(_series(audit))
    return tables.Table(
        name="trend-table",
        caption="Headline numbers by audit",
        columns=(
            tables.Column(title="Taken", heads=True),
            *(tables.Column(title=title, numeric=True) for title, _, _ in series),
            tables.Column(title="Complete"),
        ),
        rows=[
            tables.Row(
                cells=(
                    cells.text(numbers.minute(point.taken)),
                    *(
                        cells.number(value := number(point), numbers.NOT_MEASURED if value is None else shown(value))
                        for _, number, shown in series
                    ),
                    cells.text("yes" if point.complete else "no"),
                )
            )
            for point in reversed(audit.trend.points)
        ],
    )
