"""GPUs and money by team, namespace, queue, priority, board and capacity type, with the prices and the targets."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final, Protocol

from msgspec.structs import replace

from usher.audit.document import Audit, Cost, Group, GroupTable, Summary, Target, Usage
from usher.audit.reports import cells, described, entry_words, html_tables, numbers
from usher.audit.reports.described import ROWS, Column, Table, code
from usher.audit.reports.html_elements import Html, Section, element, joined
from usher.audit.reports.numbers import PAGE
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


_MOST_GROUPS: Final = 10
"""Rows of a table that is not by team, for the same reason."""


def usage_tables(audit: Audit) -> Iterator[tuple[str, Table[Group]]]:
    """A table for each property, by the property."""
    for table in audit.usage:
        name, without = entry_words.BY.get(table.by, (table.by, numbers.NOT_KNOWN))
        columns = tuple(_usage_columns(audit, table, name, without))
        cluster_row = _whole_cluster(audit, table)
        yield (
            table.by,
            Table(
                name=f"usage-{table.by}",
                caption=f"Usage by {name}",
                title=f"GPU-hours by {name}",
                rows=table.rows,
                columns=columns,
                total={each.key: each.amount(cluster_row) for each in columns[1:]} if len(table.rows) > 1 else {},
                part="the rows that the filters leave",
                most=ROWS if table.by == "team" else _MOST_GROUPS,
            ),
        )


def _usage_columns(audit: Audit, table: GroupTable, name: str, without: str) -> Iterator[Column[Group]]:
    yield Column(
        title=f"{name[:1].upper()}{name[1:]}",
        name=name,
        heads=True,
        value=lambda row: row.name,
        empty=without,
        prose=lambda row: code(row.name) if row.name else without,
    )
    measured = audit.summary.measured is not None
    yield Column(
        title="GPUs now",
        name="GPUs now",
        unit=described.DEVICES,
        value=lambda row: row.usage.gpus_now,
        meaning="Held by pods at the time of the audit; a MIG device by its share",
        adds=True,
    )
    yield Column(
        title="Workloads",
        unit=described.COUNT,
        value=lambda row: row.workloads,
        meaning="Workloads that hold GPUs or held some in the window",
        adds=True,
        folded=measured,
    )
    columns = (
        activity_column(),
        hours_column("idle", name="idle"),
        hours_column("allocated", name="allocated"),
        hours_column("measured", folded=True),
        hours_column("used", folded=True),
        idle_cost_column(audit.summary.currency),
        _cost_column(audit.summary.currency),
        *(_columns_not_held(audit.summary.currency) if any(row.not_held is not None for row in table.rows) else ()),
        *_columns_of_prices(audit.summary.currency),
    )
    # Without a measurement a page leaves these columns out, and Markdown says in each that it is not measured.
    yield from columns if measured else (replace(each, title="") for each in columns)


class HasUsage(Protocol):
    """A group, or a workload."""

    @property
    def usage(self) -> Usage: ...


def activity_column() -> Column[HasUsage]:
    return Column(
        title="Activity",
        name="activity",
        unit=described.DRAWN_SHARE,
        value=lambda row: row.usage.activity,
        meaning=entry_words.meaning("activity"),
    )


def hours_column(word: str, *, name: str = "", folded: bool = False, adds: bool = True) -> Column[HasUsage]:
    """GPU-hours of one sort, with the title and the meaning that the glossary has: idle, allocated, measured, used."""
    found, read = entry_words.GLOSSARY[word], attrgetter(f"usage.{word}")
    return Column(
        title=found.title, name=name, unit=described.HOURS, value=read, meaning=found.meaning, folded=folded, adds=adds
    )


def idle_cost_column(currency: str, *, adds: bool = True) -> Column[HasUsage]:
    return Column(
        title="Cost of idle",
        name="cost of idle",
        unit=described.money(currency),
        value=lambda row: None if row.usage.cost is None else row.usage.cost.idle,
        missing=_why_no_money,
        meaning=entry_words.meaning("cost-idle"),
        adds=adds,
    )


def _why_no_money(row: HasUsage) -> str:
    """Whether hours or prices are missing."""
    return numbers.NOT_MEASURED if row.usage.measured is None else numbers.NOT_PRICED


def _cost_column(currency: str) -> Column[HasUsage]:
    return Column(
        title="Cost",
        name="cost",
        unit=described.money(currency),
        value=lambda row: None if row.usage.cost is None else row.usage.cost.allocated,
        missing=lambda row: numbers.NOT_MEASURED if row.usage.allocated is None else numbers.NOT_PRICED,
        meaning="Of the allocated GPU-hours that have a price",
        adds=True,
    )


def _columns_not_held(currency: str) -> Iterator[Column[Group]]:
    yield Column(
        title="Held by no pod",
        name="held by no pod",
        unit=described.HOURS,
        value=lambda row: row.not_held,
        note=_part_not_held,
        meaning=entry_words.meaning("not-held"),
        adds=True,
    )
    yield Column(
        title="Its cost",
        name="its cost",
        unit=described.money(currency),
        value=lambda row: row.cost_not_held,
        missing=lambda row: numbers.NOT_MEASURED if row.not_held is None else numbers.NOT_PRICED,
        meaning="Of the GPU-hours that no pod held",
        adds=True,
    )


def _part_not_held(row: Group) -> str:
    """The part that no pod held of all hours of these GPUs."""
    part = numbers.part(row.not_held, (row.usage.allocated or 0.0) + (row.not_held or 0.0))
    return "" if part is None else f"{PAGE.share(part)} of all"


def _columns_of_prices(currency: str) -> Iterator[Column[Group]]:
    yield Column(
        title="Price",
        unit=described.money(currency),
        value=_mean_price,
        missing=_why_no_money,
        meaning="Mean price of one allocated GPU-hour",
        folded=True,
    )
    yield Column(
        title="Idle by memory",
        unit=described.money(currency),
        value=lambda row: None if row.usage.cost is None else row.usage.cost.idle_memory,
        missing=_why_no_money,
        meaning=entry_words.meaning("idle-memory"),
        folded=True,
        adds=True,
    )
    yield Column(
        title="Memory",
        unit=described.SHARE,
        value=lambda row: row.usage.memory_share,
        meaning=entry_words.meaning("memory"),
        folded=True,
    )


def _mean_price(row: Group) -> float | None:
    usage = row.usage
    priced_hours = (usage.allocated or 0.0) - (usage.not_priced or 0.0)
    return None if usage.cost is None else numbers.part(usage.cost.allocated, priced_hours)


_HOURS_LEGEND = (("idle", "idle"), ("busy", "measured and not idle"), ("unknown", "not measured"))


def usage_section(audit: Audit) -> Section:
    return Section(
        name="usage",
        title="GPUs and money",
        lead=_usage_lead(audit),
        body=joined(
            None if audit.usage else element("p", why_not_measured(audit), class_="empty"),
            _targets(audit),
            _prices(audit),
            *(_usage_group(table, first=not index) for index, (_, table) in enumerate(usage_tables(audit))),
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


def hours_bar(usage: Usage, longest: float) -> Html:
    """A bar of the allocated hours, whose full width is `longest`."""
    allocated, measured, idle = usage.allocated or 0.0, usage.measured or 0.0, usage.idle or 0.0
    amounts = {"idle": idle, "busy": max(0.0, measured - idle), "unknown": max(0.0, allocated - measured)}
    parts = [
        html_tables.Part(look=look, amount=amounts[look], title=f"{PAGE.hours(amounts[look])} {name}")
        for look, name in _HOURS_LEGEND
    ]
    return html_tables.stacked(parts, longest)


def hours_legend() -> list[html_tables.Part]:
    return [html_tables.Part(look=look, amount=1, title=name) for look, name in _HOURS_LEGEND]


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


def _target(target: Target, text: str) -> Html:
    goal = _goal(target, text)
    ends = html_tables.scale(target_amount(target, 0.0), target_amount(target, goal.most))
    bar = joined(html_tables.range_bar(goal), ends)
    return html_tables.row(target.title, bar, element("span", text, class_="worse" if goal.missed else None))


def _goal(target: Target, text: str) -> html_tables.Goal:
    bounds = max(target.high or 0.0, target.low or 0.0)
    # The scale has room for the value, so that lengths are true.
    most = 1.0 if _is_share(target) else max(2 * bounds, 1.1 * (target.actual or 0.0), 1.0)
    return html_tables.Goal(
        low=target.low or 0.0,
        high=most if target.high is None else target.high,
        most=most,
        actual=target.actual,
        label=f"{target.title}: {text}",
        missed=target.met is False,
    )


def _usage_group(table: Table[Group], *, first: bool) -> Html:
    count = element("span", wording.count(len(table.rows), "row"), class_="count")
    has_rest = any(each.title == "Held by no pod" for each in table.columns)
    return element(
        "details",
        element("summary", f"By {table.caption.removeprefix('Usage by ')} ", count),
        table.html(),
        class_="group",
        open=first or has_rest,
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


def _prices(audit: Audit) -> Html | None:
    """Nothing where usher knows no GPU that could have a price."""
    if not audit.prices:
        return None
    currency = audit.summary.currency
    table = Table(
        name="prices",
        caption="Prices",
        rows=audit.prices,
        columns=(
            Column(title="GPU model", heads=True, value=lambda each: each.product, empty="model not known"),
            Column(
                title="Capacity type",
                value=lambda each: each.capacity_type,
                empty=numbers.NOT_KNOWN,
                meaning="How the nodes are paid for, by their labels",
            ),
            Column(
                title="Price",
                unit=described.price(currency),
                value=lambda each: each.per_gpu_hour,
                meaning="Of one GPU for one hour, held by a pod or not",
            ),
            Column(
                title="GPUs",
                unit=described.DEVICES,
                value=lambda each: each.gpus,
                meaning="Of the nodes of now, held by pods or not",
            ),
            Column(
                title="Comes from",
                cell=lambda each: cells.lines(("plain", each.rule), ("muted", each.formula)),
                meaning="The entry of usher.yaml that decides, and how the price follows from it",
            ),
        ),
    )
    return element("details", element("summary", "Prices of one GPU-hour"), table.html(), class_="group")
