"""GPUs and money by team, namespace, queue, priority, board and capacity type, and the targets."""

from collections.abc import Iterator

from usher.audit.document import Audit, Group, GroupTable, Target, Usage
from usher.reports import wording
from usher.reports.audit_html import glossary, words
from usher.reports.web import cells, charts, numbers, tables
from usher.reports.web.markup import Html, element, joined
from usher.reports.web.page import Section

_LEGEND = (("idle", "idle"), ("busy", "measured and not idle"), ("unknown", "not measured"))


def section(audit: Audit) -> Section:
    measured = audit.summary.measured is not None
    return Section(
        name="usage",
        title="GPUs and money",
        lead="Allocated: a running pod holds the GPU. Used: allocated times activity. Idle: the activity stayed low.",
        body=joined(
            None if audit.usage else element("p", "The use of GPUs was not measured.", class_="empty"),
            _targets(audit),
            *(_group(table, measured=measured, opened=not index) for index, table in enumerate(audit.usage)),
        ),
    )


def drawn(usage: Usage, whole: float) -> Html:
    """A bar of the allocated hours, whose full width is `whole`."""
    allocated, measured, idle = usage.allocated or 0.0, usage.measured or 0.0, usage.idle or 0.0
    amounts = {"idle": idle, "busy": max(0.0, measured - idle), "unknown": max(0.0, allocated - measured)}
    parts = [
        charts.Part(look=look, amount=amounts[look], title=f"{numbers.hours(amounts[look])} {name}")
        for look, name in _LEGEND
    ]
    return charts.stacked(parts, whole)


def priced(usage: Usage, amount: float | None) -> str:
    """An amount of money of the usage; without one, whether hours or prices are missing."""
    missing = numbers.NOT_MEASURED if usage.measured is None else "not priced"
    return numbers.money(amount, usage.cost.currency if usage.cost is not None else "", missing)


def legend() -> list[charts.Part]:
    return [charts.Part(look=look, amount=1, title=name) for look, name in _LEGEND]


def _targets(audit: Audit) -> Html | None:
    if not audit.targets:
        return None
    rows = (
        element("li", charts.row(_title(target), charts.range_bar(_goal(target)), _standing(target)))
        for target in audit.targets
    )
    return element(
        "article",
        element("h3", "Targets"),
        element("ul", *rows, class_="bars"),
        class_="card wide targets",
        id="targets",
    )


def _title(target: Target) -> Html:
    return joined(element("span", target.title, title=target.formula), element("small", target.formula))


def _goal(target: Target) -> charts.Goal:
    most = 1.0 if _is_share(target) else 2 * max(target.high or 0.0, target.low or 0.0, 1.0)
    return charts.Goal(
        low=target.low or 0.0,
        high=most if target.high is None else target.high,
        most=most,
        actual=target.actual,
        label=f"{target.title}: {_standing(target)}",
    )


def _is_share(target: Target) -> bool:
    return target.unit.startswith("share")


def _standing(target: Target) -> str:
    met = {True: "met", False: "not met", None: ""}[target.met]
    return ", ".join(filter(None, (_amount(target, target.actual), f"target {_range(target)}", met)))


def _range(target: Target) -> str:
    if target.low is None:
        return f"at most {_amount(target, target.high)}"
    if target.high is None or (_is_share(target) and target.high >= 1):
        return f"at least {_amount(target, target.low)}"
    return f"{_amount(target, target.low)} to {_amount(target, target.high)}"


def _amount(target: Target, value: float | None) -> str:
    if _is_share(target):
        return numbers.share(value)
    return numbers.lasting(value) if target.unit == "seconds" else f"{numbers.plain(value)} {target.unit}"


def _group(table: GroupTable, *, measured: bool, opened: bool) -> Html:
    name, without = words.BY.get(table.by, (table.by, "not known"))
    made = tables.html(
        tables.Table(
            name=f"usage-{table.by}",
            caption=f"Usage by {name}",
            columns=tuple(_columns(name, measured=measured)),
            rows=[tables.Row(cells=tuple(_cells(row, without, measured=measured))) for row in table.rows],
        )
    )
    return element(
        "details",
        element("summary", f"By {name} ", element("span", wording.count(len(table.rows), "row"), class_="count")),
        made,
        class_="group",
        open=opened,
    )


def _columns(name: str, *, measured: bool) -> Iterator[tables.Column]:
    yield tables.Column(title=name.capitalize(), heads=True)
    yield tables.Column(title="Workloads", numeric=True)
    yield tables.Column(
        title="GPUs now", numeric=True, explained="Whole GPUs that running pods hold at the time of the audit"
    )
    if not measured:
        return
    yield tables.Column(title="Activity", numeric=True, explained=glossary.meaning("activity"))
    for word in ("idle", "used", "measured", "allocated"):
        yield tables.Column(title=glossary.WORDS[word][0], numeric=True, explained=glossary.meaning(word))
    yield tables.Column(title="Cost of idle", numeric=True, explained=glossary.meaning("cost"))
    yield tables.Column(title="Idle by memory", numeric=True, explained=glossary.meaning("idle-memory"))
    yield tables.Column(title="Cost", numeric=True, explained=glossary.meaning("cost"))
    yield tables.Column(title="Memory", numeric=True, explained=glossary.meaning("memory"))


def _cells(row: Group, without: str, *, measured: bool) -> Iterator[cells.Cell]:
    usage, cost = row.usage, row.usage.cost
    yield cells.text(row.name, without)
    yield cells.number(row.workloads, f"{row.workloads:,}")
    yield cells.number(usage.gpus_now, numbers.plain(usage.gpus_now))
    if not measured:
        return
    yield cells.bar(usage.activity, numbers.share(usage.activity))
    for hours in (usage.idle, usage.used, usage.measured, usage.allocated):
        yield cells.number(hours, numbers.hours(hours))
    for amount in (cost.idle, cost.idle_memory, cost.allocated) if cost is not None else (None, None, None):
        yield cells.number(amount, priced(usage, amount))
    yield cells.number(usage.memory_share, numbers.share(usage.memory_share))
