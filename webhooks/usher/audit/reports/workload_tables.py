"""The table of workloads, the accelerators that they hold, want and wait for, and where GPUs are now."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from usher.audit.document import AcceleratorEntry, Audit, Group, Summary, Usage, WorkloadEntry, WorkloadState
from usher.audit.reports import cells, described, entry_words, html_tables, numbers, usage_tables
from usher.audit.reports.described import Column, Table, code, prose
from usher.audit.reports.html_elements import Html, element
from usher.audit.reports.numbers import PAGE, TEXT
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
    """The accelerators that all workloads ask for; with extra pods and without, where the two numbers differ."""
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


def accelerators_table(audit: Audit) -> Table[AcceleratorEntry]:
    """The accelerators other than GPUs, each in the unit of its resource; empty for manifests."""
    return described.table(
        "accelerators",
        audit.other_accelerators if audit.summary.knows_cluster else (),
        ways={
            "accelerator": {
                "value": lambda each: numbers.short(each.resource),
                "prose": lambda each: code(numbers.short(each.resource)),
            }
        },
    )


_WAITING: Final = frozenset({WorkloadState.PENDING, WorkloadState.PARTLY, WorkloadState.SUSPENDED})


def write_accelerators(audit: Audit, lines: Lines) -> None:
    table = accelerators_table(audit)
    if not table.rows:
        return
    headers, rows = table.text(entry_words.SHOWN)
    lines.table(headers, rows, right=set(headers[1:]), indent=2)
    entry_words.write_more(len(table.rows) - entry_words.SHOWN, "accelerator", lines)
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


_OF_USAGE: Final = frozenset({"Activity", "Idle", "Cost of idle", "Used", "Allocated", "Memory"})
"""The columns that a measured audit has, by their titles."""


def workloads_table(audit: Audit) -> Table[WorkloadEntry]:
    """The workloads, those with most idle hours first."""
    found, measured = entry_words.about(audit.findings), audit.summary.measured is not None
    table = described.table(
        "workloads",
        entry_words.idlest_first(audit.workloads),
        currency=audit.summary.currency,
        ways={
            "Workload": {"cell": _workload_cell, "prose": described.placed_code},
            "Owner": {"cell": _owner_cell},
            "State": {"cell": lambda each: _state_cell(audit, each)},
            "GPUs": {
                "cell": _gpus_cell,
                "prose": lambda each: prose(TEXT.accelerators(each.gpus, each.gpus_least, each.other_accelerators)),
            },
            "Cost of idle": {"missing": usage_tables.why_no_money},
            "GPU model": {"cell": _model_cell, "folded": measured},
            "Age": {"cell": lambda each: cells.age(each.created, audit.taken), "folded": measured},
            "At admission": {"cell": lambda each: _admission_cell(each, found[entry_words.subject(each.subject)])},
            "findings": {"value": lambda each: found[entry_words.subject(each.subject)]},
            "Memory": {"cell": _memory_cell},
        },
        choices={"namespace": lambda each: each.subject.namespace, "outcome": _at_admission},
    )
    columns = [each for each in table.columns if measured or each.title not in _OF_USAGE]
    return replace(table, columns=[_unless_it_held_none(each) if each.title in _OF_USAGE else each for each in columns])


def _unless_it_held_none(column: Column[WorkloadEntry]) -> Column[WorkloadEntry]:
    """The column with a word instead of the numbers of workloads that held no GPU."""
    instead = entry_words.NO_MONEY if column.title == "Cost of idle" else entry_words.HELD_NONE
    return replace(column, instead=lambda each: instead if entry_words.held_no_gpu(each) else "")


def _at_admission(each: WorkloadEntry) -> str:
    return entry_words.AT_ADMISSION.get(each.outcome, each.outcome)


def _workload_cell(each: WorkloadEntry) -> cells.Cell:
    return cells.lines(("muted", f"{each.subject.kind}, {each.role}"), ("strong", entry_words.place(each.subject)))


def _model_cell(each: WorkloadEntry) -> cells.Cell:
    return cells.lines(("plain", ", ".join(each.products)), ("muted", ", ".join(each.capacity_types)))


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


def _admission_cell(each: WorkloadEntry, found: int) -> cells.Cell:
    rows = html_tables.query(q=html_tables.exactly(entry_words.named(each.subject)))
    return cells.lines(
        ("plain", _at_admission(each)),
        ("link", wording.count(found, "finding") if found else "", f"#findings-table?{rows}"),
    )


def _memory_cell(each: WorkloadEntry) -> cells.Cell:
    usage = each.usage
    return cells.lines(
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
        element(
            "li",
            html_tables.row(numbers.short(each.resource), _accelerator_bar(each), ", ".join(_accelerator_parts(each))),
        )
        for each in found[:_SHOWN_RESOURCES]
    )
    more = len(found) - _SHOWN_RESOURCES
    rest = f"and {wording.count(more, 'more resource')}, in the other formats"
    return element(
        "article",
        element("h3", "Other accelerators now" if not audit.summary.without_gpus else "Accelerators now"),
        element("ul", *rows, class_="bars long"),
        element("p", rest, class_="muted") if more > 0 else None,
        html_tables.legend([html_tables.Part(look=look, amount=1, title=title) for look, title in _LOOKS]),
        class_="card wide",
    )


def _accelerator_bar(found: AcceleratorEntry) -> Html:
    amounts = (found.allocated, found.free, found.out_of_use)
    parts = [
        html_tables.Part(look=look, amount=amount or 0.0, title=f"{PAGE.number(amount, 'not known')} {name}")
        for (look, name), amount in zip(_LOOKS, amounts, strict=True)
    ]
    return html_tables.stacked(parts, found.capacity or found.allocated or 0.0)


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
    longest = max(summary.gpus, summary.gpus_waiting or 0.0, 1)
    rows = (
        element("li", html_tables.row(name, html_tables.stacked(parts, longest), PAGE.gpus(amount)))
        for name, parts, amount in (("On nodes", now, summary.gpus), ("Waiting", waits, summary.gpus_waiting))
    )
    return element(
        "article",
        element("h3", "GPUs now"),
        element("ul", *rows, class_="bars"),
        html_tables.legend([each for each in (*now, *waits) if each.amount]),
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


def _gpus_now(summary: Summary, gpus: float, allocated: float) -> Iterator[html_tables.Part]:
    half_started = summary.gpus_half_started or 0.0
    yield _part("busy", allocated - half_started, "held by pods")
    yield _part("stuck", half_started, "held by gangs that wait for their other pods")
    if summary.gpus_free is None:
        yield _part("unknown", gpus - allocated, "not known to be held or free")
        return
    yield _part("free", summary.gpus_free, "free")
    yield _part("out", gpus - allocated - summary.gpus_free, "out of use")


def _gpus_waiting(audit: Audit) -> Iterator[html_tables.Part]:
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


def _part(look: str, amount: float, name: str) -> html_tables.Part:
    return html_tables.Part(look=look, amount=max(0.0, amount), title=f"{PAGE.gpus(amount)} {name}")
