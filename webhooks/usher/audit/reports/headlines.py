"""The headline numbers of an audit in each form: rows of text and Markdown, tiles and sentences of the page."""

from collections.abc import Callable, Iterator
from typing import Final

from usher.audit.document import AcceleratorEntry, Audit, Group, Point, Summary
from usher.audit.reports import entry_words, html_tables, numbers, usage_tables, workload_tables
from usher.audit.reports import summary as reports_summary
from usher.audit.reports.html_elements import Html, element
from usher.audit.reports.numbers import PAGE, TEXT
from usher.audit.reports.summary import Headline
from usher.check.formats import wording
from usher.check.formats.lines import Row

_HOW_TO_MEASURE: Final = "not measured; --prometheus URL measures it"


def gpu_rows(audit: Audit) -> Iterator[Row]:
    found = audit.summary
    if found.without_gpus:
        asks = "GPUs" if audit.workloads or audit.other_accelerators else "accelerators"
        yield Row("GPUs", f"0: no node has GPUs, and no workload asks for {asks}", indent=0)
        yield from workload_tables.asked_rows(audit) if audit.workloads else ()
        yield from _never_known(audit) if audit.workloads else ()
        return
    if found.gpus is None:
        yield Row("GPUs", entry_words.no_nodes(audit), indent=0)
    else:
        nodes = wording.count(audit.cluster.nodes or 0, "node")
        others = " with accelerators" if any(each.nodes for each in audit.other_accelerators) else ""
        yield Row("GPUs", f"{TEXT.number(found.gpus)} in {nodes}{others}", indent=0)
    yield from workload_tables.asked_rows(audit)
    if found.gpus_allocated is None:
        yield Row("allocated", "not known: usher has read no pods")
    else:
        share = f" ({TEXT.share(found.gpus_allocated / found.gpus)})" if found.gpus else ""
        yield Row("allocated", f"{TEXT.number(found.gpus_allocated)}{share}, held by pods on nodes")
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
        gpus = TEXT.between(found.gpus_never or 0, entry_words.least_never(audit))
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
    if not audit.other_accelerators and (held := entry_words.others_held(found)):
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


def usage_rows(audit: Audit) -> Iterator[Row]:
    found, measured = audit.summary, audit.measurement
    if found.gpus_allocated is None:
        return  # without pods there is no use to measure
    if found.idle is None or found.measured is None:
        if measured.source == "none" and audit.has_usage:
            yield Row("idle", _HOW_TO_MEASURE)
            is_priced = any(each.per_gpu_hour is not None for each in audit.prices)
            prices = "" if is_priced else ", and prices in usher.yaml (audit.prices)"
            yield Row("money", f"not measured; it needs the usage of GPUs{prices}")
            yield from _hourly_rows(found)
            # Without rules for prices the only note says what the line above says.
            yield from _problem_rows(audit) if is_priced or len(measured.problems) > 1 else ()
        if measured.source != "none":
            yield Row("idle", "not measured, for the reasons below")
            yield from _problem_rows(audit)
        return
    span = f"since {numbers.minute(measured.start)}" if measured.start else "in the window"
    part = f" ({TEXT.share(found.idle / found.measured)})" if found.measured else ""
    hours = f"{TEXT.number(found.idle)} of {TEXT.number(found.measured)} measured GPU-hours{part}"
    yield Row("idle", f"{hours} {span}")
    if found.activity is not None:
        yield Row("activity", f"{TEXT.share(found.activity)} of the allocated GPUs")
    yield from _measured_rows(audit)
    for each in audit.measurement.sources:
        yield Row("source", each)
    yield from _problem_rows(audit)


def _problem_rows(audit: Audit) -> Iterator[Row]:
    problems = audit.measurement.problems
    for problem in problems[: entry_words.SHOWN]:
        yield Row("measurement", problem)
    if (others := len(problems) - entry_words.SHOWN) > 0:
        yield Row("measurement", f"{wording.count(others, 'more note')}; {entry_words.JSON_LISTS_ALL}")


_SHOWN_BOARDS: Final = 4
"""Boards, and ways of paying."""


def _measured_rows(audit: Audit) -> Iterator[Row]:
    """The bill of the window; where nodes have no series, what pods held and what GPUs cost now that no pod holds."""
    found = audit.summary
    if found.cost_idle is None:
        yield Row("money", "not priced; set audit.prices in usher.yaml")
    if found.bill is None:
        yield from _idle_rows(found)
        yield from _hourly_rows(found)
    else:
        yield from _bill_rows(audit, found.bill)
    if found.not_priced:
        yield Row("not priced", f"{TEXT.number(found.not_priced)} GPU-hours have no price in usher.yaml")


def _hourly_rows(found: Summary) -> Iterator[Row]:
    """The cost of one hour of the GPUs that no pod holds now."""
    free, out = found.cost_per_hour_free, found.cost_per_hour_out_of_use
    if free is not None and out is not None:
        yield Row(
            "not held",
            f"{TEXT.money(free + out, found.currency)} an hour now: {TEXT.money(free, found.currency)} for free "
            f"GPUs, {TEXT.money(out, found.currency)} for GPUs out of use",
        )


def _idle_rows(found: Summary) -> Iterator[Row]:
    if found.cost_idle is not None:
        cost_allocated = "" if found.cost_allocated is None else TEXT.money(found.cost_allocated, found.currency)
        allocated = f", of {cost_allocated} for all allocated ones" if cost_allocated else ""
        yield Row("money", f"{TEXT.money(found.cost_idle, found.currency)} for idle GPUs{allocated}")


def _bill_rows(audit: Audit, bill: float) -> Iterator[Row]:
    found = audit.summary
    priced = "the GPUs that have a price" if found.bill_has_gaps else "all GPUs, held by pods or not"
    yield Row("bill", f"{TEXT.money(bill, found.currency)} for {priced}")
    if found.cost_allocated is not None:
        held = f"{TEXT.money(found.cost_allocated, found.currency)}{_share_text(found.cost_allocated, bill)}"
        yield Row("held", f"{held} for GPUs that pods held{_of_it_idle(found)}")
    if found.cost_not_held is not None:
        parts = ((found.cost_free, "free"), (found.cost_out_of_use, "out of use"))
        shown = [f"{TEXT.money(cost, found.currency)} {name}" for cost, name in parts if cost is not None]
        rest = f"{TEXT.money(found.cost_not_held, found.currency)}{_share_text(found.cost_not_held, bill)}"
        yield Row("not held", f"{rest} for GPUs that no pod held: {', '.join(shown)}")
        yield from _of_nodes(audit)


def _of_it_idle(found: Summary) -> str:
    if found.cost_idle is None or not found.cost_allocated:
        return ""
    part = _share_text(found.cost_idle, found.cost_allocated)
    return f"; {TEXT.money(found.cost_idle, found.currency)}{part} of it idle"


def _of_nodes(audit: Audit) -> Iterator[Row]:
    """The cost of GPUs that no pod held, by board and by capacity type, the most expensive first.

    Each amount has its share of all GPU-hours of its group.
    """
    for table in audit.usage:
        currency = audit.summary.currency
        costs = {row.name: row.cost_not_held for row in table.rows if row.cost_not_held}
        rows = sorted((row for row in table.rows if row.name in costs), key=lambda row: (-costs[row.name], row.name))
        shown = [
            f"{numbers.short(row.name) or 'not known'} {TEXT.money(costs[row.name], currency)}{_part_of_hours(row)}"
            for row in rows[:_SHOWN_BOARDS]
        ]
        if len(rows) > _SHOWN_BOARDS:
            shown.append(f"and {len(rows) - _SHOWN_BOARDS:,} more")
        if shown:
            yield Row("", ", ".join(shown))


def _part_of_hours(row: Group) -> str:
    rest = row.not_held or 0.0
    return _share_text(rest, (row.usage.allocated or 0.0) + rest, " of its hours")


def _share_text(amount: float, total: float, of: str = "") -> str:
    return f" ({TEXT.share(amount / total)}{of})" if total else ""


def headlines_markdown(audit: Audit) -> Iterator[tuple[str, str]]:
    """The name and the value of each number, as plain text; an empty value is one that says nothing here."""
    found = audit.summary
    if found.knows_cluster:
        yield from _use_rows(audit) if audit.has_usage else ()
        yield "GPUs", _capacity_words(found)
        yield "waiting", f"{TEXT.number(found.gpus_waiting)} GPUs" if found.gpus_waiting else ""
        yield "can never run", _never_words(audit)
        yield "exceptions that end", f"{found.exceptions_ending:,} within 14 days" if found.exceptions_ending else ""
    yield "findings", _findings_words(audit)
    yield "since the audit before", _changes_words(audit)
    yield "asked for", entry_words.asked(audit)
    not_known = wording.count(found.workloads_not_known, "workload")
    yield "not known", f"the accelerators of {not_known} cannot be read" if found.workloads_not_known else ""
    not_judged = wording.count(audit.completeness.not_judged, "part")
    yield "not judged", f"{not_judged} of workloads" if audit.completeness.not_judged else ""
    if not found.knows_cluster:
        yield "allocated, waiting, can never run", "not known: these are files"
    window = f"{numbers.minute(audit.measurement.start)} to {numbers.minute(audit.measurement.end)}"
    yield "measured from", window if audit.measurement.start and found.knows_cluster else ""


def _use_rows(audit: Audit) -> Iterator[tuple[str, str]]:
    found = audit.summary
    yield from _hours_rows(found)
    measured = (each for each in audit.targets if each.actual is not None)
    yield from ((each.title, usage_tables.target_standing(each, found)) for each in measured)
    yield "could be saved", _savings_words(found)


def _hours_rows(found: Summary) -> Iterator[tuple[str, str]]:
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
    gaps = " of those that have a price" if found.bill is not None and found.bill_has_gaps else ""
    for name, hours, amount, more in (
        ("free", found.free, found.cost_free, ""),
        ("out of use", found.out_of_use, found.cost_out_of_use, ""),
        ("held by no pod", found.not_held, found.cost_not_held, ""),
        ("all GPUs", found.capacity, found.bill, gaps),
    ):
        if hours is not None:
            yield name, _both(TEXT.hours(hours), f"{TEXT.money(amount, money)}{more}")
    yield "activity of allocated GPUs", TEXT.share(found.activity)


def _both(hours: str, cost: str) -> str:
    return hours if hours == numbers.NOT_MEASURED else f"{hours}, {cost}"


def _savings_words(found: Summary) -> str:
    both = _both(TEXT.hours(found.savings_gpu_hours), TEXT.money(found.savings_cost, found.currency))
    if found.savings_cost_saved is None or found.savings_cost_freed is None:
        return both
    saved, freed = (TEXT.money(each, found.currency) for each in (found.savings_cost_saved, found.savings_cost_freed))
    return f"{both}: {saved} off the bill once emptied nodes are given back, {freed} paid for anyway"


def _capacity_words(found: Summary) -> str:
    parts = [
        TEXT.number(found.gpus),
        f"allocated {TEXT.number(found.gpus_allocated)}",
        "" if found.gpus_free is None else f"free {TEXT.number(found.gpus_free)}",
        "" if found.gpus_out_of_use is None else f"out of use {TEXT.number(found.gpus_out_of_use)}",
    ]
    return "; ".join(filter(None, parts))


def _never_words(audit: Audit) -> str:
    gpus, workloads = audit.summary.gpus_never, audit.summary.workloads_never
    if gpus is None or not workloads:
        return ""
    return f"{wording.count(workloads, 'workload')} ({TEXT.between(gpus, entry_words.least_never(audit))} GPUs)"


def _findings_words(audit: Audit) -> str:
    """By severity, as the page has them; of manifests by what admission would do."""
    found = audit.summary.findings
    if not audit.summary.knows_cluster:
        return entry_words.findings(found)
    if not audit.findings:
        return "no findings"
    objects = wording.count(len({each.subject for each in audit.findings}), "object")
    denied = f"; admission would deny {found['deny']:,}" if found.get("deny") else ""
    worst = entry_words.severities(each.severity for each in audit.findings)
    return f"{len(audit.findings):,} about {objects}: {worst}{denied}"


def _changes_words(audit: Audit) -> str:
    trend = audit.trend
    if not trend.previous:
        return ""
    new = frozenset(trend.new)
    worst = entry_words.severities(each.severity for each in audit.findings if each.fingerprint in new)
    fresh = f"{len(new):,} new{f' ({worst})' if worst else ''}"
    return f"{fresh}, {len(trend.fixed):,} fixed ({numbers.minute(trend.previous)})"


def _not_held_words(found: Summary) -> str:
    """`USD 14,179 free, USD 4,099 out of use`; GPU-hours where they have no price."""
    money = (found.cost_free, found.cost_out_of_use)
    if found.cost_not_held is None:
        parts = [(hours, PAGE.hours(hours)) for hours in (found.free, found.out_of_use)]
    else:
        parts = [(each, PAGE.money(each, found.currency)) for each in money]
    return ", ".join(
        f"{shown} {name}" for (amount, shown), name in zip(parts, ("free", "out of use"), strict=True) if amount
    )


def tiles(audit: Audit) -> Iterator[Html]:
    """The tiles; without those of usage where the cluster has no GPUs that could be used."""
    if audit.has_usage:
        yield from _usage_tiles(audit)
    summary = audit.summary
    yield _tile(
        "waiting",
        "Waiting",
        _accelerators_words(audit, PAGE.gpus(summary.gpus_waiting), lambda each: each.waiting),
        _never_of_waiting(audit) + _waited_words(audit),
    )
    yield _tile(
        "never",
        "Can never run",
        _accelerators_words(
            audit, PAGE.gpus(summary.gpus_never, least=entry_words.least_never(audit)), lambda each: each.never
        ),
        ""
        if summary.workloads_never is None
        else f"{summary.workloads_never:,} of {wording.count(summary.workloads, 'workload')}",
        _changed(audit, reports_summary.NEVER.then, lambda value: wording.count(int(value), "workload")),
    )


def _never_of_waiting(audit: Audit) -> str:
    stuck = workload_tables.gpus_that_wait_for_ever(audit)
    return f"of these {PAGE.gpus(stuck)} can never run. " if stuck else ""


def _accelerators_words(audit: Audit, gpus: str, other: Callable[[AcceleratorEntry], float | None]) -> str:
    """The GPUs; of a cluster without them the accelerator with the largest number."""
    found = [(other(each) or 0.0, each.resource) for each in audit.other_accelerators]
    most, name = max(found, default=(0.0, ""))
    return f"{PAGE.number(most)} {numbers.short(name)}" if audit.summary.without_gpus and most else gpus


def _usage_tiles(audit: Audit) -> Iterator[Html]:
    summary, money = audit.summary, audit.summary.currency
    idle = numbers.part(summary.idle, summary.measured)
    yield _headline_tile(
        audit,
        reports_summary.IDLE,
        f"{PAGE.share(idle)} of {PAGE.hours(summary.measured)} that pods held" if idle is not None else "",
    )
    yield _headline_tile(
        audit,
        reports_summary.cost_of_idle(money),
        _part_of(summary.cost_idle, summary.cost_allocated, f"{PAGE.money(summary.cost_allocated, money)}"),
        missing=numbers.NOT_PRICED if summary.measured is not None else numbers.NOT_MEASURED,
    )
    yield _not_held_tile(audit)
    yield _savings_tile(audit)


def _part_of(idle: float | None, held: float | None, shown: str) -> str:
    """`17 % of USD 40,976 for all that pods held`"""
    return "" if held is None else f"{PAGE.share(numbers.part(idle, held), 'part')} of {shown} for all that pods held"


def _not_held_tile(audit: Audit) -> Html:
    found, money = audit.summary, audit.summary.currency
    if found.cost_not_held is None:
        headline, known = reports_summary.NOT_HELD, found.not_held is not None
        total = f"of {PAGE.hours(found.capacity)}"
    else:
        headline, known = reports_summary.cost_not_held(money), True
        total = f"of {PAGE.money(found.bill, money)} for all GPUs"
    return _headline_tile(audit, headline, ": ".join(filter(None, (total, _not_held_words(found)))) if known else "")


def _savings_tile(audit: Audit) -> Html:
    """The tile of savings: money that may come off the bill, else the worth of GPUs that may become free.

    It shows GPU-hours where nothing has a price.
    """
    found, money = audit.summary, audit.summary.currency
    if found.savings_gpu_hours is None:
        return _tile("savings", "Could be saved", None, "")
    hours = PAGE.hours(found.savings_gpu_hours)
    freed = PAGE.money(found.savings_cost_freed, money)
    if found.savings_cost_saved:
        more = (
            f" {freed} more is paid for anyway: there GPUs become free for others" if found.savings_cost_freed else ""
        )
        saved = PAGE.money(found.savings_cost_saved, money)
        return _tile("savings", "Could come off the bill", saved, f"once emptied nodes are given back.{more}")
    if found.savings_cost_freed:
        return _tile("savings", "Could become free", freed, f"{hours} for others, on nodes that are paid for anyway")
    return _tile("savings", "Could be saved", PAGE.money(found.savings_cost, money, hours), hours)


def _waited_words(audit: Audit) -> str:
    seconds = audit.summary.queue_wait_p95_seconds
    if seconds is None:
        return "Wait in queues not measured"
    target = next((each for each in audit.targets if each.unit == "seconds"), None)
    most = f"; target {numbers.lasting(target.high)}" if target is not None and target.high is not None else ""
    return f"95 % of those that started had waited at most {numbers.lasting(seconds)}{most}"


def _headline_tile(audit: Audit, headline: Headline, note: str, *, missing: str = numbers.NOT_MEASURED) -> Html:
    """The tile of a headline number, with its change since the audit before."""
    value = headline.now(audit.summary)
    shown = None if value is None else headline.shown(value)
    change = _changed(audit, headline.then, headline.shown)
    return _tile(headline.word, headline.title, shown, note, change, missing=missing)


def _tile(  # noqa: PLR0913 - parts of one tile
    word: str,
    label: str,
    value: str | None,
    note: str,
    change: Html | None = None,
    *,
    missing: str = numbers.NOT_MEASURED,
) -> Html:
    return html_tables.tile(entry_words.glossary_link(word, label), value, note, change, missing=missing)


def _changed(audit: Audit, number: Callable[[Point], float | None], shown: Callable[[float], str]) -> Html | None:
    """The change between the last two audits; None where one of them did not measure the number."""
    if len(audit.trend.points) < 2:
        return None
    before, now = audit.trend.points[-2:]
    first, last = number(before), number(now)
    if first is None or last is None:
        return None
    since = element("span", f"{numbers.day(before.taken)}", class_="day")
    if first == last:
        return element("span", "as many as on ", since, class_="note")
    word, look = ("less", "better") if last < first else ("more", "worse")
    return element(
        "span", element("span", f"{shown(abs(last - first))} {word}", class_=look), " than on ", since, class_="note"
    )
