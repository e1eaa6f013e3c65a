"""The headline numbers of an audit in Markdown, in the order of the page."""

from collections.abc import Iterator

from usher.audit.document import Audit, Summary
from usher.audit.reports import numbers, target_words, words
from usher.audit.reports.numbers import TEXT
from usher.reports import wording


def rows(audit: Audit) -> Iterator[tuple[str, str]]:
    """The name and the value of each number, as plain text; an empty value is one that says nothing here."""
    found = audit.summary
    if found.knows_cluster:
        yield from _of_use(audit) if audit.has_usage else ()
        yield "GPUs", _capacity(found)
        yield "waiting", f"{TEXT.number(found.gpus_waiting)} GPUs" if found.gpus_waiting else ""
        yield "can never run", _never(audit)
        yield "exceptions that end", _ending(found)
    yield "findings", _findings(audit)
    yield "since the audit before", _changes(audit)
    yield "asked for", words.asked(audit)
    not_known = wording.count(found.workloads_not_known, "workload")
    yield "not known", f"the accelerators of {not_known} cannot be read" if found.workloads_not_known else ""
    not_judged = wording.count(audit.completeness.not_judged, "part")
    yield "not judged", f"{not_judged} of workloads" if audit.completeness.not_judged else ""
    if not found.knows_cluster:
        yield "allocated, waiting, can never run", "not known: these are files"
    yield "measured from", _window(audit) if audit.measurement.start and found.knows_cluster else ""


def _of_use(audit: Audit) -> Iterator[tuple[str, str]]:
    found = audit.summary
    yield from _use(found)
    measured = (each for each in audit.targets if each.actual is not None)
    yield from ((each.title, target_words.standing(each, found)) for each in measured)
    yield "could be saved", _savings(found)


def _use(found: Summary) -> Iterator[tuple[str, str]]:
    """The GPU-hours of the window and their money: those that pods held, the others, and both together."""
    money = found.currency
    part = f" ({TEXT.share(found.idle / found.measured)} of those measured)" if found.idle and found.measured else ""
    cost = TEXT.money(found.cost_idle, money)
    if found.cost_idle and found.cost_allocated:
        cost += f" ({TEXT.share(found.cost_idle / found.cost_allocated)} of the cost of allocated GPUs)"
    yield "idle", _both(f"{TEXT.hours(found.idle)}{part}", cost)
    yield "allocated", _both(TEXT.hours(found.allocated), TEXT.money(found.cost_allocated, money))
    if found.measured is not None and found.measured != found.allocated:
        yield "measured", f"{TEXT.hours(found.measured)} of them"
    if found.free is not None:
        yield "free", _both(TEXT.hours(found.free), TEXT.money(found.cost_free, money))
    if found.out_of_use is not None:
        yield "out of use", _both(TEXT.hours(found.out_of_use), TEXT.money(found.cost_out_of_use, money))
    if found.not_held is not None:
        yield "held by no pod", _both(TEXT.hours(found.not_held), TEXT.money(found.cost_not_held, money))
    if found.capacity is not None:
        gaps = " of those that have a price" if found.bill is not None and found.bill_has_gaps else ""
        yield "all GPUs", _both(TEXT.hours(found.capacity), f"{TEXT.money(found.bill, money)}{gaps}")
    yield "activity of allocated GPUs", TEXT.share(found.activity)


def _both(hours: str, cost: str) -> str:
    return hours if hours == numbers.NOT_MEASURED else f"{hours}, {cost}"


def _savings(found: Summary) -> str:
    both = _both(TEXT.hours(found.savings_gpu_hours), TEXT.money(found.savings_cost, found.currency))
    if found.savings_cost_saved is None or found.savings_cost_freed is None:
        return both
    saved, freed = (TEXT.money(each, found.currency) for each in (found.savings_cost_saved, found.savings_cost_freed))
    return f"{both}: {saved} off the bill once emptied nodes are given back, {freed} paid for anyway"


def _capacity(found: Summary) -> str:
    parts = [
        TEXT.number(found.gpus),
        f"allocated {TEXT.number(found.gpus_allocated)}",
        "" if found.gpus_free is None else f"free {TEXT.number(found.gpus_free)}",
        "" if found.gpus_out_of_use is None else f"out of use {TEXT.number(found.gpus_out_of_use)}",
    ]
    return "; ".join(filter(None, parts))


def _never(audit: Audit) -> str:
    gpus, workloads = audit.summary.gpus_never, audit.summary.workloads_never
    if gpus is None or not workloads:
        return ""
    return f"{wording.count(workloads, 'workload')} ({TEXT.between(gpus, words.least_never(audit))} GPUs)"


def _ending(found: Summary) -> str:
    return f"{found.exceptions_ending:,} within 14 days" if found.exceptions_ending else ""


def _findings(audit: Audit) -> str:
    """By severity, as the page has them; of manifests by what admission would do."""
    found = audit.summary.findings
    if not audit.summary.knows_cluster:
        return words.findings(found)
    if not audit.findings:
        return "no findings"
    objects = wording.count(len({each.subject for each in audit.findings}), "object")
    denied = f"; admission would deny {found['deny']:,}" if found.get("deny") else ""
    return (
        f"{len(audit.findings):,} about {objects}: {words.severities(each.severity for each in audit.findings)}{denied}"
    )


def _changes(audit: Audit) -> str:
    trend = audit.trend
    if not trend.previous:
        return ""
    new = frozenset(trend.new)
    worst = words.severities(each.severity for each in audit.findings if each.fingerprint in new)
    fresh = f"{len(new):,} new{f' ({worst})' if worst else ''}"
    return f"{fresh}, {len(trend.fixed):,} fixed ({numbers.minute(trend.previous)})"


def _window(audit: Audit) -> str:
    return f"{numbers.minute(audit.measurement.start)} to {numbers.minute(audit.measurement.end)}"
