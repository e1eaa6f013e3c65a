"""GPUs and money by team, namespace, queue, priority, board and capacity type, with the prices and the targets."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, Cost, Group, GroupTable, PriceEntry, Summary, Target, Usage
from usher.audit.reports import entry_words, glossary, numbers
from usher.audit.reports.markdown_table import ROWS, MarkdownTable, code, prose
from usher.audit.reports.numbers import PAGE, TEXT
from usher.audit.reports.web import cells, charts, tables
from usher.audit.reports.web.markup import Html, element, joined
from usher.audit.reports.web.page import Section
from usher.check.formats import wording

_NEARLY_ALL: Final = 0.995
"""From here on a share is written as 100 %."""


def _is_share(target: Target) -> bool:
    return target.unit.startswith("share")


def target_standing(target: Target, summary: Summary) -> str:
    """`42 %, measured for 83 % of the GPU-hours, target 65 % to 85 %, not met`."""
    part = target_base(target, summary)
    base = f"measured for {part} of the GPU-hours" if part else ""
    met = {True: "met", False: "not met", None: ""}[target.met]
    return ", ".join(filter(None, (target_amount(target, target.actual), base, f"target {_target_range(target)}", met)))


def target_base(target: Target, summary: Summary) -> str:
    """The part of the GPU-hours of all nodes that a mean of all GPUs rests on; empty where that is all, or unknown."""
    if target.hours is None or not summary.capacity:
        return ""
    part = target.hours / summary.capacity
    return PAGE.share(part) if part < _NEARLY_ALL else ""


def _target_range(target: Target) -> str:
    if target.low is None:
        return f"at most {target_amount(target, target.high)}"
    if target.high is None or (_is_share(target) and target.high >= 1):
        return f"at least {target_amount(target, target.low)}"
    return f"{target_amount(target, target.low)} to {target_amount(target, target.high)}"


def target_amount(target: Target, value: float | None) -> str:
    """`42 %`, `3.6 h`: a value in the unit of the target."""
    if _is_share(target):
        return PAGE.share(value)
    return numbers.lasting(value) if target.unit == "seconds" else f"{numbers.plain(value)} {target.unit}"


_NOT_HELD: Final = ("held by no pod", "its cost")


_MOST_GROUPS: Final = 10
"""Rows of a table that is not by team, for the same reason."""


def usage_by_team(audit: Audit) -> Iterator[MarkdownTable]:
    yield from (_usage_markdown(audit, each) for each in audit.usage if each.by == "team")


def usage_by_others(audit: Audit) -> Iterator[MarkdownTable]:
    """Usage by every other property."""
    yield from (_usage_markdown(audit, each, most=_MOST_GROUPS) for each in audit.usage if each.by != "team")


def _usage_markdown(audit: Audit, table: GroupTable, *, most: int = ROWS) -> MarkdownTable:
    name, without = entry_words.BY.get(table.by, (table.by, "not known"))
    found = audit.summary
    cost = None
    if found.cost_allocated is not None:
        cost = Cost(currency=found.currency, allocated=found.cost_allocated, idle=found.cost_idle)
    rest = any(row.not_held is not None for row in table.rows)
    whole = Usage(
        gpus_now=sum(row.usage.gpus_now for row in table.rows),
        allocated=found.allocated,
        idle=found.idle,
        activity=found.activity,
        cost=cost,
    )
    return MarkdownTable(
        title=f"GPU-hours by {name}",
        header=(
            name,
            "GPUs now",
            "activity",
            "idle",
            "allocated",
            "cost of idle",
            "cost",
            *(_NOT_HELD if rest else ()),
        ),
        rows=[
            (
                code(row.name) if row.name else without,
                *usage_words(row.usage),
                *(_not_held_words(row.not_held, row.cost_not_held, found.currency) if rest else ()),
            )
            for row in table.rows
        ],
        total=(
            "**sum**",
            *usage_words(whole),
            *(_not_held_words(found.not_held, found.cost_not_held, found.currency) if rest else ()),
        )
        if len(table.rows) > 1
        else (),
        most=most,
    )


def _not_held_words(hours: float | None, cost: float | None, currency: str) -> tuple[str, str]:
    missing = numbers.NOT_MEASURED if hours is None else numbers.NOT_PRICED
    return TEXT.hours(hours), missing if cost is None else TEXT.money(cost, prose(currency))


def usage_words(usage: Usage) -> Iterator[str]:
    yield TEXT.number(usage.gpus_now)
    yield TEXT.share(usage.activity)
    yield TEXT.hours(usage.idle)
    yield TEXT.hours(usage.allocated)
    missing = numbers.NOT_MEASURED if usage.allocated is None else numbers.NOT_PRICED
    cost = usage.cost
    for amount in (cost.idle, cost.allocated) if cost is not None else (None, None):
        yield missing if amount is None or cost is None else TEXT.money(amount, prose(cost.currency))


_HOURS_LEGEND = (("idle", "idle"), ("busy", "measured and not idle"), ("unknown", "not measured"))


def usage_section(audit: Audit) -> Section:
    measured = audit.summary.measured is not None
    return Section(
        name="usage",
        title="GPUs and money",
        lead=_usage_lead(audit),
        body=joined(
            None if audit.usage else element("p", why_not_measured(audit), class_="empty"),
            _targets(audit),
            _prices(audit),
            *(
                _usage_group(audit, table, measured=measured, first=not index)
                for index, table in enumerate(audit.usage)
            ),
        ),
    )


def why_not_measured(audit: Audit) -> str:
    """Why usage is not known, or how to measure it."""
    found = audit.measurement
    if found.source == "none":
        return "Not measured. Run usher audit with --prometheus URL, on a Prometheus that scrapes DCGM."
    return f"Not measured. {wording.capitalised(found.problems[0])}" if found.problems else "Not measured."


def _usage_lead(audit: Audit) -> str:
    found = audit.measurement
    low = f"below {PAGE.share(found.idle_below)} for {found.idle_minutes} minutes or longer"
    return (
        "Allocated: a pod holds the GPU, whatever it does with it. "
        f"Idle: its activity stayed {low}. "
        "Used: allocated hours times activity, so two hours at 50 % are one used hour."
    )


def hours_bar(usage: Usage, whole: float) -> Html:
    """A bar of the allocated hours, whose full width is `whole`."""
    allocated, measured, idle = usage.allocated or 0.0, usage.measured or 0.0, usage.idle or 0.0
    amounts = {"idle": idle, "busy": max(0.0, measured - idle), "unknown": max(0.0, allocated - measured)}
    parts = [
        charts.Part(look=look, amount=amounts[look], title=f"{PAGE.hours(amounts[look])} {name}")
        for look, name in _HOURS_LEGEND
    ]
    return charts.stacked(parts, whole)


def priced(usage: Usage, amount: float | None) -> str:
    """An amount of money of the usage; without one, whether hours or prices are missing."""
    missing = numbers.NOT_MEASURED if usage.measured is None else "not priced"
    return PAGE.money(amount, usage.cost.currency if usage.cost is not None else "", missing)


def hours_legend() -> list[charts.Part]:
    return [charts.Part(look=look, amount=1, title=name) for look, name in _HOURS_LEGEND]


def _targets(audit: Audit) -> Html | None:
    if not audit.targets:
        return None
    rows = (element("li", _target(each, target_standing(each, audit.summary))) for each in audit.targets)
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
    ends = charts.scale(target_amount(target, 0.0), target_amount(target, goal.most))
    bar = joined(charts.range_bar(goal), ends)
    return charts.row(target.title, bar, element("span", said, class_="worse" if goal.missed else None))


def _goal(target: Target, said: str) -> charts.Goal:
    bounds = max(target.high or 0.0, target.low or 0.0)
    # The scale has room for the value, so that lengths are true.
    most = 1.0 if _is_share(target) else max(2 * bounds, 1.1 * (target.actual or 0.0), 1.0)
    return charts.Goal(
        low=target.low or 0.0,
        high=most if target.high is None else target.high,
        most=most,
        actual=target.actual,
        label=f"{target.title}: {said}",
        missed=target.met is False,
    )


def _usage_group(audit: Audit, table: GroupTable, *, measured: bool, first: bool) -> Html:
    name, without = entry_words.BY.get(table.by, (table.by, "not known"))
    currency = audit.summary.currency
    rest = measured and any(row.not_held is not None for row in table.rows)
    made = tables.html(
        tables.Table(
            name=f"usage-{table.by}",
            caption=f"Usage by {name}",
            columns=tuple(_usage_columns(name, currency, measured=measured, rest=rest)),
            rows=[
                tables.Row(cells=tuple(_usage_cells(row, without, measured=measured, rest=rest, currency=currency)))
                for row in table.rows
            ],
            part="the rows that the filters leave",
            total=tuple(
                _usage_cells(_whole_cluster(audit, table), "Sum", measured=measured, rest=rest, currency=currency)
            )
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


def _whole_cluster(audit: Audit, table: GroupTable) -> Group:
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


def _usage_columns(name: str, currency: str, *, measured: bool, rest: bool) -> Iterator[tables.Column]:
    money = cells.sum_of_money(currency)
    yield tables.Column(title=f"{name[:1].upper()}{name[1:]}", heads=True)
    yield tables.Column(
        title="GPUs now",
        numeric=True,
        explained="Held by pods at the time of the audit; a MIG device by its share",
        adds=cells.SUM_OF_NUMBERS,
    )
    yield tables.Column(
        title="Workloads",
        numeric=True,
        more=measured,
        explained="Workloads that hold GPUs or held some in the window",
        adds=cells.SUM_OF_NUMBERS,
    )
    if not measured:
        return
    yield tables.Column(title="Activity", numeric=True, explained=glossary.meaning("activity"))
    for word, more in (("idle", False), ("allocated", False), ("measured", True), ("used", True)):
        title, meaning = glossary.WORDS[word]
        yield tables.Column(title=title, numeric=True, more=more, explained=meaning, adds=cells.SUM_OF_HOURS)
    yield tables.Column(title="Cost of idle", numeric=True, explained=glossary.meaning("cost-idle"), adds=money)
    yield tables.Column(
        title="Cost", numeric=True, explained="Of the allocated GPU-hours that have a price", adds=money
    )
    if rest:
        yield tables.Column(
            title="Held by no pod", numeric=True, explained=glossary.meaning("not-held"), adds=cells.SUM_OF_HOURS
        )
        yield tables.Column(title="Its cost", numeric=True, explained="Of the GPU-hours that no pod held", adds=money)
    yield tables.Column(title="Price", numeric=True, more=True, explained="Mean price of one allocated GPU-hour")
    yield tables.Column(
        title="Idle by memory", numeric=True, more=True, explained=glossary.meaning("idle-memory"), adds=money
    )
    yield tables.Column(title="Memory", numeric=True, more=True, explained=glossary.meaning("memory"))


def _usage_cells(row: Group, without: str, *, measured: bool, rest: bool, currency: str) -> Iterator[cells.Cell]:
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
    yield from _not_held_cells(row, currency) if rest else ()
    for amount in (price, memory):
        yield cells.number(amount, priced(usage, amount))
    yield cells.number(usage.memory_share, PAGE.share(usage.memory_share))


def _not_held_cells(row: Group, currency: str) -> Iterator[cells.Cell]:
    """The hours that no pod held with their part of all hours of these GPUs, and what they cost."""
    held = numbers.part(row.not_held, (row.usage.allocated or 0.0) + (row.not_held or 0.0))
    part = "" if held is None else f"{PAGE.share(held)} of all"
    look = "text" if row.not_held is not None else "muted"
    yield cells.lines((look, PAGE.hours(row.not_held)), ("muted", part), sort=row.not_held)
    missing = numbers.NOT_MEASURED if row.not_held is None else "not priced"
    yield cells.number(row.cost_not_held, PAGE.money(row.cost_not_held, currency, missing))


_PRICE_COLUMNS: Final = (
    tables.Column(title="GPU model", heads=True),
    tables.Column(title="Capacity type", explained="How the nodes are paid for, by their labels"),
    tables.Column(title="Price", numeric=True, explained="Of one GPU for one hour, held by a pod or not"),
    tables.Column(title="GPUs", numeric=True, explained="Of the nodes of now, held by pods or not"),
    tables.Column(
        title="Comes from", explained="The entry of usher.yaml that decides, and how the price follows from it"
    ),
)


def _prices(audit: Audit) -> Html | None:
    """Nothing where usher knows no GPU that could have a price."""
    if not audit.prices:
        return None
    currency = audit.summary.currency
    table = tables.Table(
        name="prices",
        caption="Prices",
        columns=_PRICE_COLUMNS,
        rows=[tables.Row(cells=tuple(_price_cells(each, currency))) for each in audit.prices],
    )
    return element("details", element("summary", "Prices of one GPU-hour"), tables.html(table), class_="group")


def _price_cells(each: PriceEntry, currency: str) -> Iterator[cells.Cell]:
    yield cells.text(each.product, "model not known")
    yield cells.text(each.capacity_type, "not known")
    shown = "not priced" if each.per_gpu_hour is None else f"{currency} {each.per_gpu_hour:,.2f}"
    yield cells.number(each.per_gpu_hour, shown)
    yield cells.number(each.gpus, PAGE.number(each.gpus))
    yield cells.lines(("plain", each.rule), ("muted", each.formula))
