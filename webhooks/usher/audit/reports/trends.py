"""The headline numbers of audits: where documents and trends have each, its unit, and how it went over time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher.audit.document import Audit, Point, Summary
from usher.audit.reports import described, html_tables, numbers
from usher.audit.reports.described import Column, Table, Unit
from usher.audit.reports.html_elements import Html, Section, element, joined


class Headline(Struct, frozen=True, kw_only=True):
    """A headline number: a tile of the first screen, and a line over time."""

    title: str
    word: str = ""
    """Its meaning in the glossary."""
    unit: Unit
    now: Callable[[Summary], float | None] = lambda _: None
    """Where the summary of an audit has it."""
    then: Callable[[Point], float | None]
    """Where a point of a trend has it."""

    def shown(self, value: float | None) -> str:
        return self.unit.page(value, self.unit.missing)


IDLE: Final = Headline(
    title="Idle GPU time",
    word="idle",
    unit=described.HOURS,
    now=lambda found: found.idle,
    then=lambda point: point.idle,
)
NOT_HELD: Final = Headline(
    title="Held by no pod",
    word="not-held",
    unit=described.HOURS,
    now=lambda found: found.not_held,
    then=lambda point: point.not_held,
)
NEVER: Final = Headline(
    title="Workloads that can never run", word="never", unit=described.PLAIN, then=lambda point: point.never
)
_OTHERS: Final = (
    Headline(title="Activity of held GPUs", unit=described.SHARE, then=lambda point: point.activity),
    Headline(title="GPUs held", unit=described.GPUS, then=lambda point: point.gpus_allocated),
    Headline(title="Findings", unit=described.PLAIN, then=lambda point: point.findings),
    NEVER,
    Headline(title="Readiness items that fail", unit=described.PLAIN, then=lambda point: point.readiness_failed),
)


def cost_of_idle(currency: str) -> Headline:
    return Headline(
        title="Cost of idle GPUs",
        word="cost-idle",
        unit=described.money(currency),
        now=lambda found: found.cost_idle,
        then=lambda point: point.idle_cost,
    )


def cost_not_held(currency: str) -> Headline:
    """The cost of GPUs that no pod held: `NOT_HELD` in money."""
    return replace(
        NOT_HELD,
        unit=described.money(currency),
        now=lambda found: found.cost_not_held,
        then=lambda point: point.not_held_cost,
    )


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
            element("details", element("summary", "As a table"), _table(audit).html(), class_="group"),
        ),
    )


def _unsure(points: Sequence[Point]) -> str:
    return "" if all(point.complete for point in points) else " Grey dots are of audits that could not read everything."


def _headlines(audit: Audit) -> Iterator[Headline]:
    """The numbers that have a line. GPUs that no pod held are in money where one of the audits has their cost."""
    currency, points = audit.summary.currency, audit.trend.points
    yield IDLE
    yield cost_of_idle(currency)
    not_held = (cost_not_held(currency), NOT_HELD)
    yield from [each for each in not_held if any(each.then(point) is not None for point in points)][:1]
    yield from _OTHERS


def _charts(audit: Audit) -> Iterator[Html]:
    points = audit.trend.points
    for each in _headlines(audit):
        known = [value for point in points if (value := each.then(point)) is not None]
        if not known:
            continue
        last, shown = each.then(points[-1]), each.shown
        label = f"{each.title}: from {shown(known[0])} to {shown(known[-1])}, the highest {shown(max(known))}"
        yield element(
            "article",
            element("h3", each.title),
            element(
                "p",
                numbers.NOT_MEASURED if last is None else shown(last),
                element("small", f"highest {shown(max(known))}"),
                class_="value",
            ),
            html_tables.line(_drawn(points, each), label),
            element(
                "p",
                element("span", numbers.day(points[0].taken)),
                element("span", numbers.day(points[-1].taken)),
                class_="span",
            ),
            class_="card",
        )


def _drawn(points: Sequence[Point], headline: Headline) -> list[html_tables.Point]:
    whole = numbers.seconds_between(points[0].taken, points[-1].taken)
    made = []
    for index, point in enumerate(points):
        seconds = numbers.seconds_between(points[0].taken, point.taken)
        at = seconds / whole if whole and seconds is not None else index / (len(points) - 1)
        value = headline.then(point)
        text = numbers.NOT_MEASURED if value is None else headline.shown(value)
        title = f"{numbers.day(point.taken)}: {text}{'' if point.complete else ', not complete'}"
        made.append(html_tables.Point(at=min(1.0, at), value=value, title=title, unsure=not point.complete))
    return made


def _table(audit: Audit) -> Table[Point]:
    return Table(
        name="trend-table",
        caption="Headline numbers by audit",
        rows=[*reversed(audit.trend.points)],
        columns=(
            Column(title="Taken", heads=True, value=lambda point: numbers.minute(point.taken)),
            *(
                Column(title=each.title, unit=each.unit, value=each.then, missing=lambda _: numbers.NOT_MEASURED)
                for each in _headlines(audit)
            ),
            Column(title="Complete", value=lambda point: "yes" if point.complete else "no"),
        ),
    )
