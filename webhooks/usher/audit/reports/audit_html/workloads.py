"""The table of workloads that hold or want accelerators."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher.audit.document import Audit, WorkloadEntry
from usher.audit.reports import never_held, numbers, ordering, words
from usher.audit.reports.audit_html import glossary, labels
from usher.audit.reports.audit_html.usage import priced
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import cells, tables
from usher.audit.reports.web.page import Section
from usher.reports import wording

_FILTERS: Final = {
    "team": "Team",
    "namespace": "Namespace",
    "queue": "Queue",
    "state": "State",
    "role": "Role",
    "outcome": "At admission",
}


def section(audit: Audit) -> Section:
    listed = ordering.workloads(audit.workloads)
    measured = audit.summary.measured is not None
    about = words.about(audit.findings)
    table = tables.Table(
        name="workloads-table",
        caption="Workloads",
        columns=tuple(_columns(measured=measured)),
        rows=[_row(audit, each, about, measured=measured) for each in listed],
        filters=_FILTERS,
        empty="No workload that usher could read holds or wants accelerators.",
    )
    return Section(
        name="workloads",
        title="Workloads",
        count=len(audit.workloads),
        lead="Each accelerator counts once, at the top-level workload whose pods hold it. Most idle hours first.",
        body=tables.html(table),
    )


def _columns(*, measured: bool) -> Iterator[tables.Column]:
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


def _row(audit: Audit, each: WorkloadEntry, about: Mapping[str, int], *, measured: bool) -> tables.Row:
    return tables.Row(
        facets=(
            each.team,
            each.subject.namespace,
            each.queue,
            each.state.value,
            each.role,
            labels.AT_ADMISSION.get(each.outcome, each.outcome),
        ),
        cells=(
            cells.lines(("muted", f"{each.subject.kind}, {each.role}"), ("strong", labels.place(each.subject))),
            _owner(each),
            _state(audit, each),
            _gpus(each),
            *(_idle(each) if measured else ()),
            *_kind(audit, each, about.get(words.subject(each.subject), 0)),
            *(_usage(each) if measured else ()),
        ),
    )


def _owner(each: WorkloadEntry) -> cells.Cell:
    return cells.lines(
        ("plain", each.team or labels.NO_TEAM),
        ("muted", f"queue {each.queue}" if each.queue else ""),
        ("muted", f"priority {each.priority}" if each.priority else ""),
    )


def _state(audit: Audit, each: WorkloadEntry) -> cells.Cell:
    waits = numbers.seconds_between(each.waiting_since, audit.taken)
    return cells.lines(
        ("badge", each.state.value, labels.BADGES[each.state]),
        ("muted", f"waits for {numbers.lasting(waits)}" if waits is not None else ""),
    )


def _gpus(each: WorkloadEntry) -> cells.Cell:
    """The GPUs that it holds now, and how many it wants; other accelerators by their own names."""
    is_manifest = bool(each.place)  # it holds nothing
    if is_manifest or each.gpus is None or (each.other_accelerators and not each.gpus):
        amount = PAGE.accelerators(each.gpus, each.gpus_least, each.other_accelerators)
        return cells.lines(("plain", amount), ("muted", each.place), sort=each.known_gpus)
    now = each.usage.gpus_now
    least = PAGE.number(each.known_least)
    wanted = f"of {least}" if each.known_least > now and least != PAGE.number(now) else ""
    return cells.lines(("plain", PAGE.number(now)), ("muted", wanted), sort=now)


def _kind(audit: Audit, each: WorkloadEntry, found: int) -> Iterator[cells.Cell]:
    yield cells.lines(("plain", ", ".join(each.products)), ("muted", ", ".join(each.capacity_types)))
    yield cells.age(each.created, audit.taken)
    rows = tables.query(q=tables.exactly(labels.named(each.subject)))
    yield cells.lines(
        ("plain", labels.AT_ADMISSION.get(each.outcome, each.outcome)),
        ("link", wording.count(found, "finding") if found else "", f"#findings-table?{rows}"),
    )


def _idle(each: WorkloadEntry) -> Iterator[cells.Cell]:
    usage, cost = each.usage, each.usage.cost.idle if each.usage.cost is not None else None
    if never_held.by_workload(each):
        yield from (
            cells.text("", never_held.HELD_NONE),
            cells.text("", never_held.HELD_NONE),
            cells.text("", never_held.NO_MONEY),
        )
        return
    yield cells.bar(usage.activity, PAGE.share(usage.activity))
    yield cells.number(usage.idle, PAGE.hours(usage.idle))
    yield cells.number(cost, priced(usage, cost))


def _usage(each: WorkloadEntry) -> Iterator[cells.Cell]:
    usage = each.usage
    if never_held.by_workload(each):
        yield from (cells.text("", never_held.HELD_NONE),) * 3
        return
    yield cells.number(usage.used, PAGE.hours(usage.used))
    yield cells.number(usage.allocated, PAGE.hours(usage.allocated))
    yield cells.lines(
        ("plain" if usage.memory_share is not None else "muted", PAGE.share(usage.memory_share)),
        ("muted", f"peak {numbers.memory(usage.memory_peak)}" if usage.memory_peak is not None else ""),
        sort=usage.memory_share,
    )
