"""The first screen of an audit in text: GPUs, teams, what can never run, and exceptions that end soon."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from rich.text import Text

from usher.audit.document import Audit, FindingEntry, Summary, Usage, WorkloadEntry, WorkloadState
from usher.audit.reports import accelerator_rows, numbers, text_asked, text_bill, words
from usher.audit.reports.numbers import TEXT
from usher.reports import wording
from usher.reports.lines import Lines, Row

SHOWN: Final = 10
"""Rows of a table or a list; the document has all."""

_NOT_MEASURED: Final = "not measured; --prometheus URL measures it"
_WAITING: Final = frozenset({WorkloadState.PENDING, WorkloadState.PARTLY, WorkloadState.SUSPENDED})
_MORE: Final = "--format json lists all"


def write(audit: Audit, lines: Lines) -> None:
    _heading(audit, lines)
    of_cluster = audit.summary.knows_cluster
    lines.labelled([*_gpus(audit), *_usage(audit)] if of_cluster else [*text_asked.of_manifests(audit)])
    lines.write()
    _accelerators(audit, lines)
    _teams(audit, lines)
    _never(audit, lines)
    _ending(audit, lines)


def _accelerators(audit: Audit, lines: Lines) -> None:
    found = audit.other_accelerators
    if not found or not audit.summary.knows_cluster:
        return
    headers = accelerator_rows.HEADERS
    lines.table(headers, accelerator_rows.rows(found[:SHOWN]), right=set(headers[1:]), indent=2)
    _more(len(found) - SHOWN, "accelerator", lines)
    lines.write()


def _heading(audit: Audit, lines: Lines) -> None:
    server = f", Kubernetes {audit.cluster.server}" if audit.cluster.server else ""
    title = f"Audit of {audit.cluster.title}{server}, {numbers.minute(audit.taken)}"
    lines.wrapped(title, first=Text(""), rest="  ", style="bold")
    if not audit.completeness.complete:
        missing = wording.count(len(audit.completeness.gaps), "source")
        text = f"{missing} could not be read in full, so these numbers may be too small:"
        lines.wrapped(text, first=Text("INCOMPLETE: ", style="bold red"), rest="  ")
        for gap in audit.completeness.gaps[:SHOWN]:
            lines.wrapped(f"{gap.source}: {gap.reason}", first=Text("  "), rest="    ")
        _more(len(audit.completeness.gaps) - SHOWN, "source", lines)
    lines.write()


def _gpus(audit: Audit) -> Iterator[Row]:
    found = audit.summary
    if found.without_gpus:
        asks = "GPUs" if audit.workloads or audit.other_accelerators else "accelerators"
        yield Row("GPUs", f"0: no node has GPUs, and no workload asks for {asks}", indent=0)
        yield from text_asked.rows(audit) if audit.workloads else ()
        yield from _never_known(audit) if audit.workloads else ()
        return
    if found.gpus is None:
        yield Row("GPUs", words.no_nodes(audit), indent=0)
    else:
        nodes = wording.count(audit.cluster.nodes or 0, "node")
        others = " with accelerators" if any(each.nodes for each in audit.other_accelerators) else ""
        yield Row("GPUs", f"{TEXT.number(found.gpus)} in {nodes}{others}", indent=0)
    yield from text_asked.rows(audit)
    if found.gpus_allocated is None:
        yield Row("allocated", "not known: usher has read no pods")
    else:
        yield Row("allocated", f"{TEXT.number(found.gpus_allocated)}{_of_capacity(found)}, held by pods on nodes")
    yield from _others_and_rest(audit)
    if found.gpus_waiting is not None:
        reason = "wanted by pods without a node or suspended workloads"
        yield Row("waiting", f"{TEXT.number(found.gpus_waiting)}, {reason}")
    if found.gpus_half_started:
        yield Row("half-started", f"{TEXT.number(found.gpus_half_started)}, held by gangs whose other pods wait")
    yield from _never_known(audit)


def _never_known(audit: Audit) -> Iterator[Row]:
    found = audit.summary
    if found.workloads_never:
        never = wording.count(found.workloads_never, "workload")
        gpus = TEXT.between(found.gpus_never or 0, words.least_never(audit))
        others = TEXT.others({each.resource: each.never or 0.0 for each in audit.other_accelerators})
        wanted = ", ".join(filter(None, (gpus if found.gpus_never or not others else "", others)))
        yield Row("never", f"{wanted}, wanted by {never} that can never run")
    elif found.workloads_never is None and found.gpus_allocated is None and found.gpus is not None:
        yield Row("never", "not known: usher has read no pods, so it does not know which workloads wait")
    elif found.workloads_never is None:
        yield Row("never", "not known: nothing is known of the cluster that workloads would run in")
    else:
        yield Row("never", "0: no workload is known that can never run")


def _others_and_rest(audit: Audit) -> Iterator[Row]:
    """Other accelerators that pods hold, where an older document has no table of them; and GPUs that no pod holds."""
    found = audit.summary
    if not audit.other_accelerators and (held := words.others_held(found)):
        yield Row("others", f"{held}, held by pods on nodes")
    if found.gpus is not None and found.gpus_free is not None and found.gpus_allocated is not None:
        yield Row("free", f"{TEXT.number(found.gpus_free)}, on nodes that take new pods{_boards(audit)}")
        if found.gpus_out_of_use and round(found.gpus_out_of_use, 1):
            reason = "on nodes that are cordoned or not ready, or devices that are not healthy"
            yield Row("out of use", f"{TEXT.number(found.gpus_out_of_use)}, {reason}")


def _boards(audit: Audit) -> str:
    """`: 12.3 NVIDIA-H100-80GB-HBM3, 6 NVIDIA-L40S`, because pods that wait may ask for others."""
    groups = next((table.rows for table in audit.usage if table.by == "product"), ())
    free = {each.name or "of an unknown board": each.gpus_free for each in groups if each.gpus_free}
    return f": {TEXT.others(free)}" if free else ""


def _of_capacity(found: Summary) -> str:
    return f" ({TEXT.share((found.gpus_allocated or 0) / found.gpus)})" if found.gpus else ""


def _usage(audit: Audit) -> Iterator[Row]:
    found, measured = audit.summary, audit.measurement
    if found.gpus_allocated is None:
        return  # without pods there is no use to measure
    if found.idle is None or found.measured is None:
        if measured.source == "none" and audit.has_usage:
            yield Row("idle", _NOT_MEASURED)
            is_priced = any(each.per_gpu_hour is not None for each in audit.prices)
            prices = "" if is_priced else ", and prices in usher.yaml (audit.prices)"
            yield Row("money", f"not measured; it needs the usage of GPUs{prices}")
            yield from text_bill.of_now(found)
            # Without rules for prices the only note says what the line above says.
            yield from _problems(audit) if is_priced or len(measured.problems) > 1 else ()
        if measured.source != "none":
            yield Row("idle", "not measured, for the reasons below")
            yield from _problems(audit)
        return
    span = f"since {numbers.minute(measured.start)}" if measured.start else "in the window"
    part = f" ({TEXT.share(found.idle / found.measured)})" if found.measured else ""
    hours = f"{TEXT.number(found.idle)} of {TEXT.number(found.measured)} measured GPU-hours{part}"
    yield Row("idle", f"{hours} {span}")
    if found.activity is not None:
        yield Row("activity", f"{TEXT.share(found.activity)} of the allocated GPUs")
    yield from text_bill.measured(audit)
    for each in audit.measurement.sources:
        yield Row("source", each)
    yield from _problems(audit)


def _problems(audit: Audit) -> Iterator[Row]:
    problems = audit.measurement.problems
    for problem in problems[:SHOWN]:
        yield Row("measurement", problem)
    if (others := len(problems) - SHOWN) > 0:
        yield Row("measurement", f"{wording.count(others, 'more note')}; {_MORE}")


def _teams(audit: Audit, lines: Lines) -> None:
    if not audit.workloads:
        return
    if audit.summary.gpus_allocated is None:
        asking = text_asked.teams(audit)
        lines.table(text_asked.HEADERS, asking[:SHOWN], right={"workloads"}, indent=2)
        _more(len(asking) - SHOWN, "team", lines)
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
        rows.append([*row, *_idle(usage.get(team))])
    headers = ["team", "GPUs now", "workloads", "of them waiting", "idle GPU-hours", "cost of idle"]
    priced = any(each.cost is not None for each in usage.values())
    width = len(headers) - 2 + bool(usage) + priced
    shown = [row[:width] for row in rows[:SHOWN]]
    lines.table(headers[:width], shown, right=set(headers[1:]), indent=2)
    _more(len(rows) - SHOWN, "team", lines)
    lines.write()


def _idle(usage: Usage | None) -> tuple[str, str]:
    """The idle GPU-hours of a team, and their cost; empty where it is not known."""
    if usage is None or usage.idle is None:
        return "not measured", ""
    cost = usage.cost
    return TEXT.number(usage.idle), "" if cost is None or cost.idle is None else TEXT.money(cost.idle, cost.currency)


def _never(audit: Audit, lines: Lines) -> None:
    found = [entry for entry in audit.findings if entry.never]
    if not found:
        return
    lines.write(Text("Can never run", style="bold red"))
    for entry in found[:SHOWN]:
        amount = TEXT.accelerators(entry.gpus, entry.gpus_least, entry.other_accelerators)
        about = f"{amount}  {words.subject(entry.subject)}{_whose(entry, audit.taken)}"
        lines.wrapped(about, first=Text("  "), rest="      ")
        lines.wrapped(entry.message, first=Text("      "), rest="      ")
        if entry.remedy:
            whose = "by the platform team: " if entry.fixed_by_platform else ""
            lines.wrapped(f"{whose}{entry.remedy}", first=Text("      = ", style="dim"), rest="        ")
    _more(len(found) - SHOWN, "workload", lines)
    lines.write()


def _whose(entry: FindingEntry, now: str) -> str:
    waited = numbers.age(entry.since, now)
    team = words.team(entry)
    return f"{team}, for {waited}" if waited else team


def _ending(audit: Audit, lines: Lines) -> None:
    ending = [each for each in audit.exceptions if each.ends_soon]
    if not ending:
        return
    lines.write(Text("Exceptions that end soon", style="bold"))
    for each in sorted(ending, key=lambda each: (each.days_left, each.ticket)):
        days = "today" if each.days_left == 0 else f"in {wording.count(each.days_left, 'day')}"
        covers = wording.count(each.findings, "finding")
        lines.wrapped(f"{each.ticket} of {each.owner} ends {days}, covers {covers}", first=Text("  "), rest="      ")
    lines.write()


def _more(number: int, thing: str, lines: Lines) -> None:
    if number > 0:
        lines.write(Text(f"  and {wording.count(number, f'more {thing}')}; {_MORE}", style="dim"))
