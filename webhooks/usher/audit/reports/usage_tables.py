"""GPUs and money by team, namespace, queue, priority, board and capacity type, with the prices and the targets."""

from collections.abc import Iterator
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


_NOW: Final = frozenset({"", "GPUs now", "Workloads"})
"""The columns that need no measurement, by their titles."""
_NOT_HELD: Final = frozenset({"Held by no pod", "Its cost"})


def _usage_columns(audit: Audit, table: GroupTable, name: str, without: str) -> Iterator[Column[Group]]:
    measured = audit.summary.measured is not None
    found = described.columns(
        "usage",
        {
            "": {"empty": without, "prose": lambda row: code(row.name) if row.name else without},
            "Workloads": {"folded": measured},
            "Cost of idle": {"missing": why_no_money},
            "Cost": {"missing": lambda row: _missing(row.usage.allocated)},
            "Held by no pod": {"note": _part_not_held},
            "Its cost": {"missing": lambda row: _missing(row.not_held)},
            "Price": {"value": _mean_price, "missing": why_no_money},
            "Idle by memory": {"missing": why_no_money},
        },
        currency=audit.summary.currency,
    )
    has_rest = any(row.not_held is not None for row in table.rows)
    for each in found:
        if not each.key:
            yield replace(each, title=f"{name[:1].upper()}{name[1:]}", name=name)
        elif has_rest or each.key not in _NOT_HELD:
            # Without a measurement a page leaves these columns out, and Markdown says in each that it is not measured.
            yield each if measured or each.key in _NOW else replace(each, title="")


def _missing(hours: float | None) -> str:
    return numbers.NOT_MEASURED if hours is None else numbers.NOT_PRICED


class HasUsage(Protocol):
    """A group, or a workload."""

    @property
    def usage(self) -> Usage: ...


def why_no_money(row: HasUsage) -> str:
    """Whether hours or prices are missing."""
    return _missing(row.usage.measured)


def _part_not_held(row: Group) -> str:
    """The part that no pod held of all hours of these GPUs."""
    part = numbers.part(row.not_held, (row.usage.allocated or 0.0) + (row.not_held or 0.0))
    return "" if part is None else f"{PAGE.share(part)} of all"


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
    cell = {"cell": lambda each: cells.lines(("plain", each.rule), ("muted", each.formula))}
    table = described.table("prices", audit.prices, ways={"Comes from": cell}, currency=audit.summary.currency)
    return element("details", element("summary", "Prices of one GPU-hour"), table.html(), class_="group")
