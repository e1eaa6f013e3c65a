"""What workloads hold, want and wait for: the table of workloads, the accelerators, and where GPUs are now."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher.audit.document import AcceleratorEntry, Audit, Group, Summary, Usage, WorkloadEntry, WorkloadState
from usher.audit.reports import entry_words, glossary, numbers, usage_tables
from usher.audit.reports.markdown_table import MarkdownTable, code, object_code, prose
from usher.audit.reports.numbers import PAGE, TEXT
from usher.audit.reports.web import cells, charts, tables
from usher.audit.reports.web.markup import Html, element
from usher.audit.reports.web.page import Section
from usher.check.formats import wording
from usher.check.formats.lines import Lines, Row

_FILES: Final = (
    "allocated, waiting and never are not known, because these are files; usher audit without a PATH reads the cluster"
)


def asked_by_manifests(audit: Audit) -> Iterator[Row]:
    """The first screen: the findings, and what the workloads ask for."""
    found, unread = audit.summary.findings, audit.completeness.not_judged
    parts = f", {wording.count(unread, 'part')} not judged" if unread else ""
    yield Row("findings", f"{entry_words.findings(found)}{parts}", indent=0)
    yield from asked_rows(audit)
    yield Row("GPUs", _FILES, indent=0)


def asked_rows(audit: Audit) -> Iterator[Row]:
    """What all workloads ask for; where it is more at times alone, both numbers."""
    found = audit.summary
    known = found.workloads - found.workloads_not_known
    if known or not found.workloads_not_known:
        yield Row("asked for", f"{entry_words.asked(audit)}, by {wording.count(known, 'workload')} with accelerators")
    if found.gpus_asked_least != found.gpus_asked:
        yield Row("", "the larger number includes the extra pods of rollouts and autoscalers")
    if found.workloads_not_known:
        more = wording.count(found.workloads_not_known, "workload")
        yield Row("not known", f"the accelerators of {more} cannot be read, see below")


_ASKING_HEADERS: Final = ("team", "workloads", "asked for")


def _asking_teams(audit: Audit) -> Sequence[Sequence[str]]:
    """A row for each team, the one that asks for most first."""
    members = defaultdict[str, list[WorkloadEntry]](list)
    for workload in audit.workloads:
        members[workload.team].append(workload)
    asked = {team: sum(each.known_gpus for each in found) for team, found in members.items()}
    ordered = sorted(members, key=lambda team: (-asked[team], team))
    return [
        (numbers.short(team) or "(no team)", f"{len(members[team]):,}", entry_words.together(members[team]))
        for team in ordered
    ]


_ACCELERATOR_HEADERS: Final = (
    "accelerator",
    "nodes",
    "capacity",
    "allocated",
    "free",
    "out of use",
    "waiting",
    "never",
)


def _accelerator_rows(entries: Sequence[AcceleratorEntry]) -> Iterator[tuple[str, ...]]:
    """One for each resource, with its numbers in the units of the resource."""
    for each in entries:
        amounts = (each.nodes, each.capacity, each.allocated, each.free, each.out_of_use, each.waiting, each.never)
        yield numbers.short(each.resource), *map(TEXT.number, amounts)


_WAITING: Final = frozenset({WorkloadState.PENDING, WorkloadState.PARTLY, WorkloadState.SUSPENDED})


def write_accelerators(audit: Audit, lines: Lines) -> None:
    found = audit.other_accelerators
    if not found or not audit.summary.knows_cluster:
        return
    headers = _ACCELERATOR_HEADERS
    lines.table(headers, _accelerator_rows(found[: entry_words.SHOWN]), right=set(headers[1:]), indent=2)
    entry_words.write_more(len(found) - entry_words.SHOWN, "accelerator", lines)
    lines.write()


def write_teams(audit: Audit, lines: Lines) -> None:
    if not audit.workloads:
        return
    if audit.summary.gpus_allocated is None:
        asking = _asking_teams(audit)
        lines.table(_ASKING_HEADERS, asking[: entry_words.SHOWN], right={"workloads"}, indent=2)
        entry_words.write_more(len(asking) - entry_words.SHOWN, "team", lines)
        lines.write()
        return
    measured = next((table for table in audit.usage if table.by == "team"), None)
    rows_of_usage = () if measured is None else measured.rows
    # A team that only waits has nothing to measure.
    usage = {each.name: each.usage for each in rows_of_usage if each.usage.gpus_now or each.usage.allocated is not None}
    members = defaultdict[str, list[WorkloadEntry]](list)
    for workload in audit.workloads:
        members[workload.team].append(workload)
    now = {team: sum(each.usage.gpus_now for each in found) for team, found in members.items()}
    idle = {team: usage[team].idle or 0.0 if team in usage else 0.0 for team in members}
    rows = []
    for team in sorted(members, key=lambda team: (-idle[team], -now[team], team)):
        states = Counter(each.state for each in members[team])
        row = [numbers.short(team) or "(no team)", TEXT.number(now[team]), f"{len(members[team]):,}"]
        row.append(f"{sum(states[each] for each in _WAITING):,}")
        rows.append([*row, *_idle_of_team(usage.get(team))])
    headers = ["team", "GPUs now", "workloads", "of them waiting", "idle GPU-hours", "cost of idle"]
    priced = any(each.cost is not None for each in usage.values())
    width = len(headers) - 2 + bool(usage) + priced
    shown = [row[:width] for row in rows[: entry_words.SHOWN]]
    lines.table(headers[:width], shown, right=set(headers[1:]), indent=2)
    entry_words.write_more(len(rows) - entry_words.SHOWN, "team", lines)
    lines.write()


def _idle_of_team(usage: Usage | None) -> tuple[str, str]:
    """The idle GPU-hours of a team, and their cost; empty where it is not known."""
    if usage is None or usage.idle is None:
        return "not measured", ""
    cost = usage.cost
    return TEXT.number(usage.idle), "" if cost is None or cost.idle is None else TEXT.money(cost.idle, cost.currency)


def accelerators_markdown(audit: Audit) -> MarkdownTable:
    found = audit.other_accelerators if audit.summary.knows_cluster else ()
    cells = ((code(name), *map(prose, amounts)) for name, *amounts in _accelerator_rows(found))
    return MarkdownTable(title="Other accelerators", header=_ACCELERATOR_HEADERS, rows=[*cells])


def workloads_markdown(audit: Audit) -> MarkdownTable:
    found, measured = entry_words.about(audit.findings), audit.summary.measured is not None
    use = ("activity", "idle", "cost of idle") if measured else ()
    return MarkdownTable(
        title="Workloads",
        header=("workload", "team", "state", "GPUs", *use, "findings"),
        rows=[
            (
                object_code(each.subject) + (f" {code(each.place)}" if each.place else ""),
                prose(each.team, empty=""),
                each.state.value,
                prose(TEXT.accelerators(each.gpus, each.gpus_least, each.other_accelerators)),
                *(_idle_words(each) if measured else ()),
                f"{found[entry_words.subject(each.subject)]:,}",
            )
            for each in entry_words.idlest_first(audit.workloads)
        ],
    )


def _idle_words(each: WorkloadEntry) -> tuple[str, ...]:
    if entry_words.held_no_gpu(each):
        return entry_words.WASTE
    activity, idle, _, cost, _ = [*usage_tables.usage_words(each.usage)][1:]
    return activity, idle, cost


_WORKLOAD_FILTERS: Final = {
    "team": "Team",
    "namespace": "Namespace",
    "queue": "Queue",
    "state": "State",
    "role": "Role",
    "outcome": "At admission",
}


def workloads_section(audit: Audit) -> Section:
    listed = entry_words.idlest_first(audit.workloads)
    measured = audit.summary.measured is not None
    about = entry_words.about(audit.findings)
    table = tables.Table(
        name="workloads-table",
        caption="Workloads",
        columns=tuple(_workload_columns(measured=measured)),
        rows=[_workload_row(audit, each, about, measured=measured) for each in listed],
        filters=_WORKLOAD_FILTERS,
        empty="No workload that usher could read holds or wants accelerators.",
    )
    return Section(
        name="workloads",
        title="Workloads",
        count=len(audit.workloads),
        lead="Each accelerator counts once, at the top-level workload whose pods hold it. Most idle hours first.",
        body=tables.html(table),
    )


def _workload_columns(*, measured: bool) -> Iterator[tables.Column]:
    yield tables.Column(title="Workload", heads=True)
    yield tables.Column(title="Owner", explained="Team; queue; priority class")
    yield tables.Column(title="State", narrow=True, explained="Where its pods are, and since when some wait")
    yield tables.Column(title="GPUs", numeric=True, explained="Held now, and of how many, where pods wait")
    if measured:
        yield tables.Column(title="Activity", numeric=True, explained=glossary.meaning("activity"))
        yield tables.Column(title="Idle", numeric=True, explained=glossary.meaning("idle"))
        yield tables.Column(title="Cost of idle", numeric=True, explained=glossary.meaning("cost-idle"))
    yield tables.Column(
        title="GPU model",
        more=measured,
        explained="Of the nodes that its pods run on, and how these nodes are paid for",
    )
    yield tables.Column(title="Age", numeric=True, more=measured, explained="Since the workload was made")
    yield tables.Column(
        title="At admission",
        narrow=True,
        explained="What usher would do if the workload were made today; all its findings",
    )
    if measured:
        yield tables.Column(title="Used", numeric=True, more=True, explained=glossary.meaning("used"))
        yield tables.Column(title="Allocated", numeric=True, more=True, explained=glossary.meaning("allocated"))
        yield tables.Column(title="Memory", numeric=True, more=True, explained=glossary.meaning("memory"))


def _workload_row(audit: Audit, each: WorkloadEntry, about: Mapping[str, int], *, measured: bool) -> tables.Row:
    return tables.Row(
        facets=(
            each.team,
            each.subject.namespace,
            each.queue,
            each.state.value,
            each.role,
            entry_words.AT_ADMISSION.get(each.outcome, each.outcome),
        ),
        cells=(
            cells.lines(("muted", f"{each.subject.kind}, {each.role}"), ("strong", entry_words.place(each.subject))),
            _owner_cell(each),
            _state_cell(audit, each),
            _gpus_cell(each),
            *(_idle_cells(each) if measured else ()),
            *_kind_cells(audit, each, about.get(entry_words.subject(each.subject), 0)),
            *(_used_cells(each) if measured else ()),
        ),
    )


def _owner_cell(each: WorkloadEntry) -> cells.Cell:
    return cells.lines(
        ("plain", each.team or entry_words.NO_TEAM),
        ("muted", f"queue {each.queue}" if each.queue else ""),
        ("muted", f"priority {each.priority}" if each.priority else ""),
    )


def _state_cell(audit: Audit, each: WorkloadEntry) -> cells.Cell:
    waits = numbers.seconds_between(each.waiting_since, audit.taken)
    return cells.lines(
        ("badge", each.state.value, entry_words.BADGES[each.state]),
        ("muted", f"waits for {numbers.lasting(waits)}" if waits is not None else ""),
    )


def _gpus_cell(each: WorkloadEntry) -> cells.Cell:
    """The GPUs that it holds now, and how many it wants; other accelerators by their own names."""
    is_manifest = bool(each.place)  # it holds nothing
    if is_manifest or each.gpus is None or (each.other_accelerators and not each.gpus):
        amount = PAGE.accelerators(each.gpus, each.gpus_least, each.other_accelerators)
        return cells.lines(("plain", amount), ("muted", each.place), sort=each.known_gpus)
    now = each.usage.gpus_now
    least = PAGE.number(each.known_least)
    wanted = f"of {least}" if each.known_least > now and least != PAGE.number(now) else ""
    return cells.lines(("plain", PAGE.number(now)), ("muted", wanted), sort=now)


def _kind_cells(audit: Audit, each: WorkloadEntry, found: int) -> Iterator[cells.Cell]:
    yield cells.lines(("plain", ", ".join(each.products)), ("muted", ", ".join(each.capacity_types)))
    yield cells.age(each.created, audit.taken)
    rows = tables.query(q=tables.exactly(entry_words.named(each.subject)))
    yield cells.lines(
        ("plain", entry_words.AT_ADMISSION.get(each.outcome, each.outcome)),
        ("link", wording.count(found, "finding") if found else "", f"#findings-table?{rows}"),
    )


def _idle_cells(each: WorkloadEntry) -> Iterator[cells.Cell]:
    usage, cost = each.usage, each.usage.cost.idle if each.usage.cost is not None else None
    if entry_words.held_no_gpu(each):
        yield from (
            cells.text("", entry_words.HELD_NONE),
            cells.text("", entry_words.HELD_NONE),
            cells.text("", entry_words.NO_MONEY),
        )
        return
    yield cells.bar(usage.activity, PAGE.share(usage.activity))
    yield cells.number(usage.idle, PAGE.hours(usage.idle))
    yield cells.number(cost, usage_tables.priced(usage, cost))


def _used_cells(each: WorkloadEntry) -> Iterator[cells.Cell]:
    usage = each.usage
    if entry_words.held_no_gpu(each):
        yield from (cells.text("", entry_words.HELD_NONE),) * 3
        return
    yield cells.number(usage.used, PAGE.hours(usage.used))
    yield cells.number(usage.allocated, PAGE.hours(usage.allocated))
    yield cells.lines(
        ("plain" if usage.memory_share is not None else "muted", PAGE.share(usage.memory_share)),
        ("muted", f"peak {numbers.memory(usage.memory_peak)}" if usage.memory_peak is not None else ""),
        sort=usage.memory_share,
    )


_SHOWN_RESOURCES: Final = 12


_LOOKS: Final = (("busy", "held by pods"), ("free", "free"), ("out", "out of use"))


def accelerators_card(audit: Audit) -> Html | None:
    """A bar for each resource, on a scale of its own; None where the cluster has GPUs alone."""
    found = audit.other_accelerators
    if not found:
        return None
    rows = (
        element("li", charts.row(numbers.short(each.resource), _accelerator_bar(each), _accelerator_words(each)))
        for each in found[:_SHOWN_RESOURCES]
    )
    more = len(found) - _SHOWN_RESOURCES
    rest = f"and {wording.count(more, 'more resource')}, in the other formats"
    return element(
        "article",
        element("h3", "Other accelerators now" if not audit.summary.without_gpus else "Accelerators now"),
        element("ul", *rows, class_="bars long"),
        element("p", rest, class_="muted") if more > 0 else None,
        charts.legend([charts.Part(look=look, amount=1, title=title) for look, title in _LOOKS]),
        class_="card wide",
    )


def _accelerator_bar(found: AcceleratorEntry) -> Html:
    amounts = (found.allocated, found.free, found.out_of_use)
    parts = [
        charts.Part(look=look, amount=amount or 0.0, title=f"{PAGE.number(amount, 'not known')} {name}")
        for (look, name), amount in zip(_LOOKS, amounts, strict=True)
    ]
    return charts.stacked(parts, found.capacity or found.allocated or 0.0)


def _accelerator_words(found: AcceleratorEntry) -> str:
    return ", ".join(_accelerator_parts(found))


def _accelerator_parts(found: AcceleratorEntry) -> Iterator[str]:
    """`12 of 16 held`, `4 waiting`, `4 can never run`."""
    held = PAGE.number(found.allocated, "not known")
    if found.capacity is None:
        yield f"{held} held"
        yield "capacity not known"
    else:
        yield f"{held} of {PAGE.number(found.capacity)} held"
    if found.waiting:
        yield f"{PAGE.number(found.waiting)} waiting"
    if found.never:
        yield f"{PAGE.number(found.never)} can never run"


_SHOWN_BOARDS: Final = 6
"""Boards with free GPUs."""


def capacity_card(audit: Audit) -> Html:
    summary = audit.summary
    if summary.gpus is None or summary.gpus_allocated is None:
        body = element("p", _why_no_capacity(audit), class_="muted")
        return element("article", element("h3", "Capacity"), body, class_="card wide")
    now, waits = [*_gpus_now(summary, summary.gpus, summary.gpus_allocated)], [*_gpus_waiting(audit)]
    whole = max(summary.gpus, summary.gpus_waiting or 0.0, 1)
    rows = (
        element("li", charts.row(name, charts.stacked(parts, whole), PAGE.gpus(amount)))
        for name, parts, amount in (("On nodes", now, summary.gpus), ("Waiting", waits, summary.gpus_waiting))
    )
    return element(
        "article",
        element("h3", "GPUs now"),
        element("ul", *rows, class_="bars"),
        charts.legend([each for each in (*now, *waits) if each.amount]),
        *_free_boards(audit),
        class_="card wide",
    )


def _why_no_capacity(audit: Audit) -> str:
    summary = audit.summary
    if summary.gpus is not None:
        return f"The pods were not read, so it is not known which of {PAGE.gpus(summary.gpus)} they hold."
    if not audit.cluster.is_whole:
        return "This report is about a part of the cluster, so it does not show the capacity of the nodes."
    return "The nodes are not known, so the capacity is not known either."


def gpus_that_wait_for_ever(audit: Audit) -> float:
    """GPUs of workloads that can never run, if not one of their pods runs, so that all of them count as waiting."""
    never = {each.subject for each in audit.findings if each.never}
    waiting = {WorkloadState.PENDING, WorkloadState.SUSPENDED}
    found = sum(each.known_gpus for each in audit.workloads if each.state in waiting and each.subject in never)
    return min(found, audit.summary.gpus_waiting or 0.0)


def _gpus_now(summary: Summary, gpus: float, allocated: float) -> Iterator[charts.Part]:
    half_started = summary.gpus_half_started or 0.0
    yield _part("busy", allocated - half_started, "held by pods")
    yield _part("stuck", half_started, "held by gangs that wait for their other pods")
    if summary.gpus_free is None:
        yield _part("unknown", gpus - allocated, "not known to be held or free")
        return
    yield _part("free", summary.gpus_free, "free")
    yield _part("out", gpus - allocated - summary.gpus_free, "out of use")


def _gpus_waiting(audit: Audit) -> Iterator[charts.Part]:
    stuck = gpus_that_wait_for_ever(audit)
    yield _part("never", stuck, "wait and can never run")
    yield _part("waiting", (audit.summary.gpus_waiting or 0.0) - stuck, "wait and could run")


def _free_boards(audit: Audit) -> Iterator[Html]:
    """Which boards are free, because pods that wait may ask for others."""
    groups = next((table.rows for table in audit.usage if table.by == "product"), ())
    found = sorted((each for each in groups if each.gpus_free), key=lambda each: (-(each.gpus_free or 0.0), each.name))
    if not found:
        return
    more = len(found) - _SHOWN_BOARDS
    boards = [*map(_board, found[:_SHOWN_BOARDS]), *([wording.count(more, "more model")] if more > 0 else [])]
    why = (
        " Pods may wait all the same: for another model, for more GPUs of one node, or for room in their queue."
        if audit.summary.gpus_waiting
        else ""
    )
    yield element("p", f"Free are {wording.sentence(boards)}.{why}", class_="muted")


def _board(group: Group) -> str:
    return f"{PAGE.number(group.gpus_free)} {group.name or 'of a model that is not known'}"


def _part(look: str, amount: float, name: str) -> charts.Part:
    return charts.Part(look=look, amount=max(0.0, amount), title=f"{PAGE.gpus(amount)} {name}")
