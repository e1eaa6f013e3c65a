"""The summary of an audit: its first sentences, the same in each form, and its headline numbers over time.

The sentences are for people who pay, with at most three numbers each. A headline number has a place in documents and
trends, and a unit.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher.audit.document import Audit, Point, Summary
from usher.audit.reports import described, entry_words, html_tables, numbers, usage_tables
from usher.audit.reports.described import Column, Table, Unit
from usher.audit.reports.html_elements import Html, Section, element, joined
from usher.audit.reports.numbers import Form
from usher.check.formats import wording


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
    is_unsure = not all(point.complete for point in points)
    unsure = " Grey dots are of audits that could not read everything." if is_unsure else ""
    return Section(
        name="trend",
        title="Over time",
        lead=f"{len(points):,} audits since {numbers.day(points[0].taken)}.{unsure}",
        body=joined(
            element("div", *_charts(audit), class_="trends"),
            element("details", element("summary", "As a table"), _table(audit).html(), class_="group"),
        ),
    )


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
    duration = numbers.seconds_between(points[0].taken, points[-1].taken)
    made = []
    for index, point in enumerate(points):
        seconds = numbers.seconds_between(points[0].taken, point.taken)
        at = seconds / duration if duration and seconds is not None else index / (len(points) - 1)
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
                Column(
                    title=each.title,
                    unit=each.unit,
                    value=each.then,
                    missing=lambda _: numbers.NOT_MEASURED,
                    numeric=True,
                )
                for each in _headlines(audit)
            ),
            Column(title="Complete", value=lambda point: "yes" if point.complete else "no"),
        ),
    )


_PODS: Final = "pods (running programs)"


def sentences(audit: Audit, form: Form) -> list[str]:
    """The bill and where it went, how busy the GPUs were, who holds them now, and which workloads can never run.

    Args:
        audit: the document; of a cluster or of a part of it.
        form: how numbers are written.
    """
    found = audit.summary
    if found.gpus == 0:
        return [*_without_gpus(audit, form)]
    return [*_bill(audit, form), *_busy(audit, form), *_now(audit, form), *_never(audit, form)]


def _bill(audit: Audit, form: Form) -> Iterator[str]:
    """Money where it is known, else GPU-hours, else the money of an hour; nothing where all of this is unknown."""
    found = audit.summary
    if found.bill is not None:
        yield from _in_money(audit, found.bill, form)
    elif found.capacity is not None:
        yield from _in_hours(audit, found.capacity, form)
    elif found.idle is not None:
        yield from _idle(audit, form)
    else:
        yield from _an_hour(found, form)


def _in_money(audit: Audit, bill: float, form: Form) -> Iterator[str]:
    found, money = audit.summary, audit.summary.currency
    held, other = found.cost_allocated or 0.0, found.cost_not_held or 0.0
    yield f"In {_window(audit)} {_priced_gpus(found)} cost {form.money(bill, money)}."
    idle = "" if found.cost_idle is None else f"; {form.money(found.cost_idle, money)} of that was idle"
    yield f"Of this, {_PODS} held {form.money(held, money)}{_share(held, bill, form)}{idle}."
    if other:
        yield f"No pod held the other {form.money(other, money)}{_share(other, bill, form)}."
    if found.savings_cost_saved:
        saved = form.money(found.savings_cost_saved, money)
        yield f"{saved} could come off the bill once emptied nodes are given back."


def _in_hours(audit: Audit, capacity: float, form: Form) -> Iterator[str]:
    found = audit.summary
    held, other = found.allocated or 0.0, found.not_held or 0.0
    yield f"In {_window(audit)} the GPUs of this cluster had {form.hours(capacity)}."
    idle = "" if found.idle is None else f"; {form.hours(found.idle)} of that were idle"
    yield f"Of these, {_PODS} held {form.hours(held)}{_share(held, capacity, form)}{idle}."
    if other:
        yield f"No pod held the other {form.hours(other)}{_share(other, capacity, form)}."


def _idle(audit: Audit, form: Form) -> Iterator[str]:
    """Without series of nodes only what pods held is known."""
    found, money = audit.summary, audit.summary.currency
    part = form.share(numbers.part(found.idle, found.measured))
    yield f"Of the GPU time that {_PODS} held in {_window(audit)}, {part} was idle: {form.hours(found.idle)}."
    if found.cost_idle:
        cost_allocated = form.money(found.cost_allocated, money)
        yield f"The idle time cost {form.money(found.cost_idle, money)}, of {cost_allocated} for all that pods held."


def _an_hour(found: Summary, form: Form) -> Iterator[str]:
    parts = (
        (found.cost_per_hour_allocated, f"GPUs held by {_PODS}"),
        (found.cost_per_hour_free, "free GPUs"),
        (found.cost_per_hour_out_of_use, "GPUs out of use"),
    )
    known = [(cost, name) for cost, name in parts if cost]
    cost_per_hour = sum(cost for cost, _ in known)
    if cost_per_hour and found.cost_per_hour_free is not None:
        shown = ", ".join(f"{form.money(cost, found.currency)} for {name}" for cost, name in known)
        yield f"An hour of {_priced_gpus(found)} costs {form.money(cost_per_hour, found.currency)}."
        yield f"This is {shown}."


def _window(audit: Audit) -> str:
    """`the last 7 days`; `the window` where its times are not known."""
    seconds = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
    return f"the last {numbers.days(seconds)}" if seconds else "the window"


def _priced_gpus(found: Summary) -> str:
    """The GPUs that the bill is about."""
    return "the GPUs that have a price" if found.bill_has_gaps else "the GPUs of this cluster"


def _share(amount: float, total: float, form: Form) -> str:
    return f" ({form.share(amount / total)})" if total else ""


def _busy(audit: Audit, form: Form) -> Iterator[str]:
    busy = next((each for each in audit.targets if each.name == "activity"), None)
    if busy is not None and busy.actual is not None:
        part = usage_tables.target_base(busy, audit.summary)
        measured = f", measured for {part} of their hours" if part else ""
        yield f"All GPUs together, also those that no pod held, were {form.share(busy.actual)} busy{measured}."


def _now(audit: Audit, form: Form) -> Iterator[str]:
    found = audit.summary
    if found.gpus is None:
        yield (
            "The nodes were not read, so it is not known how many GPUs there are."
            if audit.cluster.is_whole
            else f"Now pods of this part of the cluster hold {form.gpus(found.gpus_allocated)}."
        )
    elif found.gpus_allocated is not None:
        yield f"Now pods hold {form.number(found.gpus_allocated)} of {form.gpus(found.gpus)}."
    if found.gpus_allocated is None:
        if found.gpus is not None:
            yield f"The nodes have {form.gpus(found.gpus)}."
        yield "The pods were not read, so it is not known which GPUs they hold, what waits and what never runs."


def _never(audit: Audit, form: Form) -> Iterator[str]:
    found = audit.summary
    if found.workloads_never:
        can = wording.count(found.workloads_never, "workload")
        asks = "asks" if found.workloads_never == 1 else "ask"
        gpus = form.gpus(found.gpus_never, least=entry_words.least_never(audit))
        yield f"{can} can never run as written, and {asks} for {gpus}."


def _without_gpus(audit: Audit, form: Form) -> Iterator[str]:
    held = entry_words.others_held(audit.summary)
    has = form.others({each.resource: each.capacity or 0.0 for each in audit.other_accelerators})
    yield "The nodes of this cluster have no GPUs."
    if has:
        yield f"They have {has}."
        yield f"Now pods hold {held}." if held else "Now no pod holds any of them."
    elif held:
        yield f"Pods hold {held}."
    if waiting := form.others({each.resource: each.waiting or 0.0 for each in audit.other_accelerators}):
        yield f"Pods and suspended workloads wait for {waiting}."
    if audit.summary.workloads_not_known:
        yield f"The accelerators of {wording.count(audit.summary.workloads_not_known, 'workload')} are not known."
