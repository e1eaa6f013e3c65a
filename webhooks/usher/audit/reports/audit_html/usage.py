"""GPUs and money by team, namespace, queue, priority, board and capacity type, and the targets."""

from collections.abc import Iterator

from usher.audit.document import Audit, Cost, Group, GroupTable, Target, Usage
from usher.audit.reports import numbers, target_words, words
from usher.audit.reports.audit_html import glossary, prices
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, charts, sums, tables
from usher.audit.reports.web.markup import Html, element, joined
from usher.audit.reports.web.page import Section
from usher.reports import wording

_LEGEND = (("idle", "idle"), ("busy", "measured and not idle"), ("unknown", "not measured"))


def section(audit: Audit) -> Section:
    measured = audit.summary.measured is not None
    return Section(
        name="usage",
        title="GPUs and money",
        lead=_lead(audit),
        body=joined(
            None if audit.usage else element("p", not_measured(audit), class_="empty"),
            _targets(audit),
            prices.html(audit),
            *(_group(audit, table, measured=measured, first=not index) for index, table in enumerate(audit.usage)),
        ),
    )


def not_measured(audit: Audit) -> str:
    """Why usage is not known, or how to measure it."""
    found = audit.measurement
    if found.source == "none":
        return "Not measured. Run usher audit with --prometheus URL, on a Prometheus that scrapes DCGM."
    return f"Not measured. {wording.capitalised(found.problems[0])}" if found.problems else "Not measured."


def _lead(audit: Audit) -> str:
    found = audit.measurement
    low = f"below {PAGE.share(found.idle_below)} for {found.idle_minutes} minutes or longer"
    return (
        "Allocated: a pod holds the GPU, whatever it does with it. "
        f"Idle: its activity stayed {low}. "
        "Used: allocated hours times activity, so two hours at 50 % are one used hour."
    )


def drawn(usage: Usage, whole: float) -> Html:
    """A bar of the allocated hours, whose full width is `whole`."""
    allocated, measured, idle = usage.allocated or 0.0, usage.measured or 0.0, usage.idle or 0.0
    amounts = {"idle": idle, "busy": max(0.0, measured - idle), "unknown": max(0.0, allocated - measured)}
    parts = [
        charts.Part(look=look, amount=amounts[look], title=f"{PAGE.hours(amounts[look])} {name}")
        for look, name in _LEGEND
    ]
    return charts.stacked(parts, whole)


def priced(usage: Usage, amount: float | None) -> str:
    """An amount of money of the usage; without one, whether hours or prices are missing."""
    missing = numbers.NOT_MEASURED if usage.measured is None else "not priced"
    return PAGE.money(amount, usage.cost.currency if usage.cost is not None else "", missing)


def legend() -> list[charts.Part]:
    return [charts.Part(look=look, amount=1, title=name) for look, name in _LEGEND]


def _targets(audit: Audit) -> Html | None:
    if not audit.targets:
        return None
    rows = (element("li", _target(each, target_words.standing(each, audit.summary))) for each in audit.targets)
    return element(
        "article",
        element("h3", "Targets"),
        element("ul", *rows, class_="bars"),
        _formulas(audit),
        class_="card wide targets",
        id="targets",
    )


def _formulas(audit: Audit) -> Html:
    entries = (element("div", element("dt", each.title), element("dd", each.formula)) for each in audit.targets)
    summary = element("summary", "How they are computed")
    sources = (element("p", f"{each}.") for each in audit.measurement.sources)
    return element("details", summary, element("dl", *entries, class_="words"), *sources, class_="explained")


def _target(target: Target, said: str) -> Html:
    goal = _goal(target, said)
    ends = charts.scale(target_words.amount(target, 0.0), target_words.amount(target, goal.most))
    bar = joined(charts.range_bar(goal), ends)
    return charts.row(target.title, bar, element("span", said, class_="worse" if goal.missed else None))


def _goal(target: Target, said: str) -> charts.Goal:
    bounds = max(target.high or 0.0, target.low or 0.0)
    # The scale has room for the value, so that lengths are true.
    most = 1.0 if target_words.is_share(target) else max(2 * bounds, 1.1 * (target.actual or 0.0), 1.0)
    return charts.Goal(
        low=target.low or 0.0,
        high=most if target.high is None else target.high,
        most=most,
        actual=target.actual,
        label=f"{target.title}: {said}",
        missed=target.met is False,
    )


def _group(audit: Audit, table: GroupTable, *, measured: bool, first: bool) -> Html:
    name, without = words.BY.get(table.by, (table.by, "not known"))
    currency = audit.summary.currency
    rest = measured and any(row.not_held is not None for row in table.rows)
    made = tables.html(
        tables.Table(
            name=f"usage-{table.by}",
            caption=f"Usage by {name}",
            columns=tuple(_columns(name, currency, measured=measured, rest=rest)),
            rows=[
                tables.Row(cells=tuple(_cells(row, without, measured=measured, rest=rest, currency=currency)))
                for row in table.rows
            ],
            part="the rows that the filters leave",
            total=tuple(_cells(_sum(audit, table), "Sum", measured=measured, rest=rest, currency=currency))
            if len(table.rows) > 1
            else (),
        )
    )
    return element(
        "details",
        element("summary", f"By {name} ", element("span", wording.count(len(table.rows), "row"), class_="count")),
        made,
        class_="group",
        open=first or rest,
    )


def _sum(audit: Audit, table: GroupTable) -> Group:
    """The whole cluster, as which each table adds up."""
    found, rows = audit.summary, [row.usage for row in table.rows]
    cost = None
    if found.cost_allocated is not None:
        memory = [row.cost.idle_memory for row in rows if row.cost is not None and row.cost.idle_memory is not None]
        cost = Cost(
            currency=found.currency,
            allocated=found.cost_allocated,
            idle=found.cost_idle,
            idle_memory=sum(memory) if memory else None,
        )
    return Group(
        name="",
        workloads=sum(row.workloads for row in table.rows),
        usage=Usage(
            gpus_now=sum(row.gpus_now for row in rows),
            allocated=found.allocated,
            measured=found.measured,
            used=found.used,
            idle=found.idle,
            activity=found.activity,
            memory_share=found.memory_share,
            cost=cost,
        ),
        free=found.free,
        out_of_use=found.out_of_use,
        cost_free=found.cost_free,
        cost_out_of_use=found.cost_out_of_use,
    )


def _columns(name: str, currency: str, *, measured: bool, rest: bool) -> Iterator[tables.Column]:
    money = sums.money(currency)
    yield tables.Column(title=f"{name[:1].upper()}{name[1:]}", heads=True)
    yield tables.Column(
        title="GPUs now",
        numeric=True,
        explained="Held by pods at the time of the audit; a MIG device by its share",
        adds=sums.NUMBER,
    )
    yield tables.Column(
        title="Workloads",
        numeric=True,
        more=measured,
        explained="Workloads that hold GPUs or held some in the window",
        adds=sums.NUMBER,
    )
    if not measured:
        return
    yield tables.Column(title="Activity", numeric=True, explained=glossary.meaning("activity"))
    for word, more in (("idle", False), ("allocated", False), ("measured", True), ("used", True)):
        title, meaning = glossary.WORDS[word]
        yield tables.Column(title=title, numeric=True, more=more, explained=meaning, adds=sums.HOURS)
    yield tables.Column(title="Cost of idle", numeric=True, explained=glossary.meaning("cost-idle"), adds=money)
    yield tables.Column(
        title="Cost", numeric=True, explained="Of the allocated GPU-hours that have a price", adds=money
    )
    if rest:
        yield tables.Column(
            title="Held by no pod", numeric=True, explained=glossary.meaning("not-held"), adds=sums.HOURS
        )
        yield tables.Column(title="Its cost", numeric=True, explained="Of the GPU-hours that no pod held", adds=money)
    yield tables.Column(title="Price", numeric=True, more=True, explained="Mean price of one allocated GPU-hour")
    yield tables.Column(
        title="Idle by memory", numeric=True, more=True, explained=glossary.meaning("idle-memory"), adds=money
    )
    yield tables.Column(title="Memory", numeric=True, more=True, explained=glossary.meaning("memory"))


def _cells(row: Group, without: str, *, measured: bool, rest: bool, currency: str) -> Iterator[cells.Cell]:
    usage, cost = row.usage, row.usage.cost
    yield cells.text(row.name, without)
    yield cells.number(usage.gpus_now, PAGE.number(usage.gpus_now))
    yield cells.number(row.workloads, f"{row.workloads:,}")
    if not measured:
        return
    yield cells.bar(usage.activity, PAGE.share(usage.activity))
    for hours in (usage.idle, usage.allocated, usage.measured, usage.used):
        yield cells.number(hours, PAGE.hours(hours))
    price = numbers.part(cost.allocated, (usage.allocated or 0.0) - (usage.not_priced or 0.0)) if cost else None
    idle, allocated, memory = (cost.idle, cost.allocated, cost.idle_memory) if cost is not None else (None,) * 3
    yield cells.number(idle, priced(usage, idle))
    yield cells.number(allocated, priced(usage, allocated))
    yield from _rest(row, currency) if rest else ()
    for amount in (price, memory):
        yield cells.number(amount, priced(usage, amount))
    yield cells.number(usage.memory_share, PAGE.share(usage.memory_share))


def _rest(row: Group, currency: str) -> Iterator[cells.Cell]:
    """The hours that no pod held with their part of all hours of these GPUs, and what they cost."""
    held = numbers.part(row.not_held, (row.usage.allocated or 0.0) + (row.not_held or 0.0))
    part = "" if held is None else f"{PAGE.share(held)} of all"
    look = "text" if row.not_held is not None else "muted"
    yield cells.lines((look, PAGE.hours(row.not_held)), ("muted", part), sort=row.not_held)
    missing = numbers.NOT_MEASURED if row.not_held is None else "not priced"
    yield cells.number(row.cost_not_held, PAGE.money(row.cost_not_held, currency, missing))
