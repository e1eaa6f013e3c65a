"""Savings, GPUs that do no work until a repair, and workloads that rules of usher would have prevented."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.text import Text

from usher.audit.document import Audit, FindingEntry, Prevented, Saving, Summary
from usher.audit.reports import cells, described, entry_words, findings_tables, html_tables, numbers
from usher.audit.reports.described import Amount, Table, code, prose
from usher.audit.reports.html_elements import Html, element
from usher.audit.reports.numbers import PAGE, TEXT
from usher.check.formats import wording
from usher.check.formats.lines import Lines

_HOUR: Final = 3_600


class Repair(Struct, frozen=True, kw_only=True):
    """The cost of a finding in the window; without a window, its cost in an hour."""

    finding: FindingEntry
    gpus: float
    hours: float | None
    """GPU-hours of the window; None where nothing was measured."""
    cost: float | None
    """None where not priced."""


def repairs_of(audit: Audit) -> Iterator[Repair]:
    """The repairs of findings whose object has no saving that counts.

    GPUs count since they are lost, but not longer than the window, and for the whole window where no time is known.
    """
    saved = {each.subject for each in audit.savings if each.adds_up}
    window = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
    for found in audit.findings:
        if found.gpus_lost and found.subject not in saved:
            lasting = numbers.seconds_between(found.since, audit.taken)
            past = window if window is None or lasting is None else min(window, lasting)
            hours = None if past is None else past / _HOUR
            yield Repair(
                finding=found,
                gpus=found.gpus_lost,
                hours=None if hours is None else found.gpus_lost * hours,
                cost=None if found.cost_per_hour is None else found.cost_per_hour * (1 if hours is None else hours),
            )


_SHOWN_SAVINGS: Final = 5

_MORE: Final = "--format html and json have them"


def write_money(audit: Audit, lines: Lines) -> None:
    """Writes nothing where nothing was measured or found."""
    _write_savings(audit, lines)
    _write_repairs(audit, lines)
    _write_prevented(audit, lines)


def _write_savings(audit: Audit, lines: Lines) -> None:
    if not audit.savings:
        return
    found, currency = audit.summary, audit.summary.currency
    hours = "" if found.savings_gpu_hours is None else f"{TEXT.number(found.savings_gpu_hours)} GPU-hours in the window"
    parts = ": ".join(filter(None, ("Could be saved", hours)))
    lines.wrapped(f"{parts}{_on_the_bill(found)}", first=Text(""), rest="  ", style="bold")
    shown = [each for each in audit.savings if each.adds_up][:_SHOWN_SAVINGS]
    for each in shown:
        _write_saving(each, currency, lines)
    if others := len(audit.savings) - len(shown):
        why = "smaller, instead of those above, or for the platform team first"
        text = f"  and {wording.count(others, 'other change')}, {why}; {_MORE}"
        lines.wrapped(text.lstrip(), first=Text("  "), rest="    ", style="dim")
    lines.write()


def _on_the_bill(found: Summary) -> str:
    """The money that may come off the bill, and separately the money of GPUs that become free for others."""
    saved, freed, currency = found.savings_cost_saved, found.savings_cost_freed, found.currency
    if saved is None and freed is None:
        return "" if found.savings_cost is None else f", {TEXT.money(found.savings_cost, currency)}"
    parts = (
        f"{TEXT.money(saved, currency)} off the bill once emptied nodes are given back" if saved else "",
        f"{TEXT.money(freed, currency)} on nodes that are paid for anyway: GPUs for others" if freed else "",
    )
    return "".join(f"; {part}" for part in parts if part)


def _write_saving(each: Saving, currency: str, lines: Lines) -> None:
    team = f", team {each.team}" if each.team else ""
    worth, about = _money_and_hours(each.gpu_hours, each.cost, currency), entry_words.subject(each.subject)
    lines.wrapped(f"{worth}  {about}{team}: {each.kind}", first=Text("  "), rest="      ")
    lines.wrapped(each.change, first=Text("      = ", style="dim"), rest="        ")


def _write_repairs(audit: Audit, lines: Lines) -> None:
    """GPUs that do no work until somebody acts, the most expensive first."""
    found = sorted(repairs_of(audit), key=lambda each: (-(each.cost or 0.0), -(each.hours or each.gpus)))
    if not found:
        return
    lines.write(Text("GPUs that do no work until somebody acts", style="bold"))
    for each in found[:_SHOWN_SAVINGS]:
        about = each.finding
        lost, whose = _lost_words(each, audit.summary.currency), entry_words.team(about)
        lines.wrapped(
            f"{lost}  {entry_words.subject(about.subject)}{whose}: {about.message}", first=Text("  "), rest="      "
        )
    if (others := len(found) - _SHOWN_SAVINGS) > 0:
        lines.write(Text(f"  and {others:,} more; {_MORE}", style="dim"))
    lines.write()


def _lost_words(each: Repair, currency: str) -> str:
    if each.hours is not None:
        return _money_and_hours(each.hours, each.cost, currency)
    gpus = TEXT.gpus(each.gpus)
    return gpus if each.cost is None else f"{TEXT.money(each.cost, currency)} an hour, {gpus}"


def _write_prevented(audit: Audit, lines: Lines) -> None:
    if not audit.prevented:
        return
    lines.write(Text("What rules of usher would have prevented", style="bold"))
    if off := entry_words.switched_off(audit):
        lines.wrapped(off, first=Text("  "), rest="  ", style="dim")
    for each in audit.prevented[:_SHOWN_SAVINGS]:
        only = "" if each.denies else " (it only warns; it would have, if it denied)"
        lines.wrapped(f"{each.code} {each.title}: {_waste_words(each, audit)}{only}", first=Text("  "), rest="      ")
    if (others := len(audit.prevented) - _SHOWN_SAVINGS) > 0:
        lines.write(Text(f"  and {wording.count(others, 'more rule')}; {_MORE}", style="dim"))
    lines.write()


def _waste_words(each: Prevented, audit: Audit) -> str:
    """`1 workload with 16 GPUs, 1,232 idle and 208 stuck GPU-hours, 1,478 USD`."""
    idle = "" if each.idle is None else f"{TEXT.number(each.idle)} idle"
    stuck = f"{TEXT.number(each.stuck)} stuck" if each.stuck else ""
    hours = " and ".join(filter(None, (idle, stuck)))
    cost = "" if each.cost is None else TEXT.money(each.cost, audit.summary.currency)
    gpus = f" with {TEXT.number(each.gpus)} GPUs" if each.gpus else ""
    held_none = entry_words.held_no_gpu_by_rule(audit, each)
    why = "which held no GPU" if held_none else "no GPU-hours measured"
    parts = (
        f"{wording.count(each.workloads, 'workload')}{gpus}",
        f"{hours} GPU-hours" if hours else why,
        cost,
    )
    return ", ".join(filter(None, parts))


def _money_and_hours(hours: float, cost: float | None, currency: str) -> str:
    """`1,478 USD, 1,232 GPU-hours`; without a price the hours alone."""
    money = "" if cost is None else f"{TEXT.money(cost, currency)}, "
    return f"{money}{TEXT.number(hours)} GPU-hours"


_COUNTED: Final = "the rows with “yes”"
_NOT_MEASURED: Final = "Not measured: savings rest on the use of GPUs."


def savings_table(audit: Audit) -> Table[Saving]:
    """The savings, with their sum; largest first."""
    found = audit.summary
    nothing = "Nothing to save was found." if found.measured is not None else _NOT_MEASURED
    return described.table(
        "savings",
        entry_words.largest_first(audit.savings),
        currency=found.currency,
        ways={
            "Change": {"cell": _change_cell, "prose": _change_prose},
            "Workload": described.OF_SUBJECT,
            "why": {"value": lambda each: "; ".join(each.evidence)},
            "Money": {"note": lambda each: "paid for anyway" if each.cost_freed and not each.cost_saved else ""},
            "In the sum": {"value": lambda each: "yes" if each.adds_up else "no"},
        },
        adds=lambda each: each.adds_up,
        total={
            "GPU-hours": Amount(found.savings_gpu_hours),
            "Money": Amount(found.savings_cost),
            "A whole week": Amount(_sum_of_a_week(audit), missing=""),
        },
        sum_of=_COUNTED,
        part=f"{_COUNTED} that the filters leave",
        empty=nothing,
    )


def _change_cell(each: Saving) -> cells.Cell:
    evidence: cells.Piece | None = ("more", "Evidence", each.evidence) if each.evidence else None
    first = f"First: {each.needs}" if each.needs else ""
    return cells.lines(("strong", each.kind), ("plain", each.change), ("muted", first), evidence)


def _change_prose(each: Saving) -> str:
    return f"{prose(each.kind)}: {prose(f'{each.change}. First: {each.needs}' if each.needs else each.change)}"


def savings_lead(audit: Audit) -> str:
    found = audit.summary
    parts = ((found.savings_cost_saved, "can come off it"), (found.savings_cost_freed, "is paid for anyway"))
    shown = " and ".join(f"{PAGE.money(cost, found.currency)} {name}" for cost, name in parts if cost)
    of_sum = f" Of the sum {shown}." if shown else ""
    return (
        "Amounts are for the measured window. They assume that the workloads go on as they did in it. The bill falls "
        f"only when emptied nodes are given back.{of_sum} On reserved nodes, and on nodes that no label says anything "
        "about, GPUs become free for others, and the bill stays."
    )


def _sum_of_a_week(audit: Audit) -> float | None:
    """The sum of what the savings in the sum give in a whole week; None where one of them has no number."""
    found = [each.cost_per_week for each in audit.savings if each.adds_up and each.cost is not None]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def prevented_table(audit: Audit) -> Table[Prevented]:
    """The workloads that each rule of usher would have prevented; rules that deny come first."""

    def instead(words: str) -> Callable[[Prevented], str]:
        return lambda each: words if entry_words.held_no_gpu_by_rule(audit, each) else ""

    return described.table(
        "prevented",
        sorted(audit.prevented, key=lambda each: not each.denies),
        currency=audit.summary.currency,
        ways={
            "Rule": {"cell": _rule_cell, "prose": _rule_prose},
            "At admission": {
                "value": lambda each: "would deny" if each.denies else "would only warn",
                "cell": lambda each: (
                    cells.badge("would deny", "bad") if each.denies else cells.badge("would only warn", "warn")
                ),
            },
            "Idle": {"instead": instead(entry_words.HELD_NONE)},
            "Stuck": {"instead": instead(entry_words.HELD_NONE)},
            "Cost": {"instead": instead(entry_words.NO_MONEY)},
        },
    )


def _rule_cell(each: Prevented) -> cells.Cell:
    return cells.lines(("link", each.code, f"#findings-table?{html_tables.query(q=each.code)}"), ("plain", each.title))


def _rule_prose(each: Prevented) -> str:
    return f"{code(each.code)} {prose(each.title)}"


def prevented_lead(audit: Audit) -> str:
    text = (
        "What workloads waste in which rules of usher find a mistake: with enforcement they would not be there. A "
        "workload counts for each rule that finds one, so the rows do not add up."
    )
    return " ".join(filter(None, (text, entry_words.switched_off(audit))))


_SHOWN_STEPS: Final = 5

_SAVING_WORDS: Final = {
    "idle workload": "is idle most of the time: stop it, or make it smaller",
    "smaller MIG profile": "uses a small part of its GPU: give it a part alone (MIG)",
    "spot": "could run on spot nodes, which cost less",
    "fewer replicas at night": "has more copies at night than it needs",
}
"""By the kind of a saving."""

_REPAIR_WORDS: Final = {
    "half-started-gang": "holds GPUs and has waited for its other pods",
    "node-out-of-service": "has been out of service",
    "unhealthy-devices": "has GPUs that do not work",
}
"""By the name of a finding about GPUs that do no work until somebody acts."""

_WAITS: Final = "holds GPUs and cannot start: stop it until all its pods can start together"


class _Step(Struct, frozen=True, kw_only=True):
    hours: float
    """GPU-hours of the window; where nothing was measured, GPUs."""
    cost: float | None
    about: str
    link: str
    chosen: str = ""
    """The rows of the table that the link leads to."""
    plain: str
    worth: str
    owner: str
    remedy: str


def first_steps(audit: Audit) -> Iterator[Html]:
    """A list of at most `SHOWN` steps: the most money first, or the most GPU-hours where one of them has no price."""
    steps = _ranked(list(_steps(audit)))[:_SHOWN_STEPS]
    if not steps:
        measured = audit.summary.measured is not None
        text = "Nothing was found that gives back GPU time." if measured else "Savings need measured usage."
        yield element("p", text, class_="muted")
        return
    yield element("ol", *map(_step_html, steps), class_="list")


def _ranked(steps: Sequence[_Step]) -> list[_Step]:
    priced = all(each.cost is not None for each in steps)
    return sorted(steps, key=lambda each: (-(each.cost or 0.0) if priced else 0.0, -each.hours, each.about))


def _steps(audit: Audit) -> Iterator[_Step]:
    for each in audit.savings:
        if each.adds_up:
            yield _saving_step(each, audit.summary.currency)
    for repair in repairs_of(audit):
        yield _repair_step(audit, repair)
    if audit.summary.free:
        yield _free_step(audit, audit.summary.free)


def _saving_step(each: Saving, currency: str) -> _Step:
    return _Step(
        hours=each.gpu_hours,
        cost=each.cost,
        about=entry_words.name_of(each.subject),
        link="#savings-table",
        chosen=html_tables.query(q=entry_words.place(each.subject)),
        plain=_WAITS if each.finding else _SAVING_WORDS.get(each.kind, each.kind),
        worth=_worth(each.gpu_hours, each.cost, currency),
        owner=each.team or entry_words.NO_TEAM,
        remedy=each.change,
    )


def _repair_step(audit: Audit, repair: Repair) -> _Step:
    found, currency = repair.finding, audit.summary.currency
    lasting = numbers.seconds_between(found.since, audit.taken)
    doing = _REPAIR_WORDS.get(found.name, "has GPUs that do no work")
    if repair.hours is None:
        worth = "" if repair.cost is None else f"{PAGE.money(repair.cost, currency)} an hour"
    else:
        worth = _worth(repair.hours, repair.cost, currency)
    return _Step(
        hours=repair.gpus if repair.hours is None else repair.hours,
        cost=repair.cost,
        about=entry_words.name_of(found.subject),
        link=f"#{findings_tables.fragment(found)}",
        plain=f"{doing}{f' for {numbers.lasting(lasting)}' if lasting is not None else ''}",
        worth=", ".join(filter(None, (PAGE.gpus(repair.gpus), worth))),
        owner=entry_words.owner(found),
        remedy=found.remedy,
    )


def _free_step(audit: Audit, hours: float) -> _Step:
    """All free GPUs together; the tables of usage say which boards they are."""
    found = audit.summary
    by_nodes = next((table for table in audit.usage if table.by == "product"), None)
    return _Step(
        hours=hours,
        cost=found.cost_free,
        about="Free GPUs",
        link="#usage-product" if by_nodes is not None and by_nodes.rows else "#usage",
        plain="are paid for, and no pod held them",
        worth=_worth(hours, found.cost_free, found.currency),
        owner=entry_words.PLATFORM,
        remedy=(
            "Keep those that you want as a reserve. Give back on-demand and spot nodes that stay empty, and find work "
            "for reserved ones."
        ),
    )


def _worth(hours: float, cost: float | None, currency: str) -> str:
    parts = ("" if not hours and cost else PAGE.hours(hours), "" if cost is None else PAGE.money(cost, currency))
    return ", ".join(filter(None, parts))


def _step_html(step: _Step) -> Html:
    return element(
        "li",
        element("a", step.about, href=step.link, data_filter=step.chosen or None),
        f" {step.plain}: ",
        element("strong", step.worth),
        element("small", f"{step.owner}: {wording.capitalised(step.remedy)}"),
    )
