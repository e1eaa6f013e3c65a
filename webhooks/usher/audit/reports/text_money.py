"""The part of an audit in text about money: changes that free GPUs, and what rules of usher would have prevented."""

from typing import Final

from rich.text import Text

from usher.audit.document import Audit, Prevented, Saving, Summary
from usher.audit.reports import never_held, repairs, words
from usher.audit.reports.numbers import TEXT
from usher.audit.reports.repairs import Repair
from usher.reports import wording
from usher.reports.lines import Lines

_SHOWN: Final = 5
_MORE: Final = "--format html and json have them"


def write(audit: Audit, lines: Lines) -> None:
    """Writes nothing where nothing was measured or found."""
    _savings(audit, lines)
    _repairs(audit, lines)
    _prevented(audit, lines)


def _savings(audit: Audit, lines: Lines) -> None:
    if not audit.savings:
        return
    found, currency = audit.summary, audit.summary.currency
    whole = "" if found.savings_gpu_hours is None else f"{TEXT.number(found.savings_gpu_hours)} GPU-hours in the window"
    parts = ": ".join(filter(None, ("Could be saved", whole)))
    lines.wrapped(f"{parts}{_on_the_bill(found)}", first=Text(""), rest="  ", style="bold")
    shown = [each for each in audit.savings if each.adds_up][:_SHOWN]
    for each in shown:
        _saving(each, currency, lines)
    if others := len(audit.savings) - len(shown):
        why = "smaller, instead of those above, or for the platform team first"
        text = f"  and {wording.count(others, 'other change')}, {why}; {_MORE}"
        lines.wrapped(text.lstrip(), first=Text("  "), rest="    ", style="dim")
    lines.write()


def _on_the_bill(found: Summary) -> str:
    """What may come off the bill, and apart from it the GPUs that become free for others."""
    saved, freed, currency = found.savings_cost_saved, found.savings_cost_freed, found.currency
    if saved is None and freed is None:
        return "" if found.savings_cost is None else f", {TEXT.money(found.savings_cost, currency)}"
    parts = (
        f"{TEXT.money(saved, currency)} off the bill once emptied nodes are given back" if saved else "",
        f"{TEXT.money(freed, currency)} on nodes that are paid for anyway: GPUs for others" if freed else "",
    )
    return "".join(f"; {part}" for part in parts if part)


def _saving(each: Saving, currency: str, lines: Lines) -> None:
    team = f", team {each.team}" if each.team else ""
    text = f"{_amount(each.gpu_hours, each.cost, currency)}  {words.subject(each.subject)}{team}: {each.kind}"
    lines.wrapped(text, first=Text("  "), rest="      ")
    lines.wrapped(each.change, first=Text("      = ", style="dim"), rest="        ")


def _repairs(audit: Audit, lines: Lines) -> None:
    """GPUs that do no work until somebody acts, the most expensive first."""
    found = sorted(repairs.of(audit), key=lambda each: (-(each.cost or 0.0), -(each.hours or each.gpus)))
    if not found:
        return
    lines.write(Text("GPUs that do no work until somebody acts", style="bold"))
    for each in found[:_SHOWN]:
        about = each.finding
        text = (
            f"{_lost(each, audit.summary.currency)}  {words.subject(about.subject)}{words.team(about)}: {about.message}"
        )
        lines.wrapped(text, first=Text("  "), rest="      ")
    if (others := len(found) - _SHOWN) > 0:
        lines.write(Text(f"  and {others:,} more; {_MORE}", style="dim"))
    lines.write()


def _lost(each: Repair, currency: str) -> str:
    if each.hours is not None:
        return _amount(each.hours, each.cost, currency)
    gpus = TEXT.gpus(each.gpus)
    return gpus if each.cost is None else f"{TEXT.money(each.cost, currency)} an hour, {gpus}"


def _prevented(audit: Audit, lines: Lines) -> None:
    if not audit.prevented:
        return
    lines.write(Text("What rules of usher would have prevented", style="bold"))
    if off := words.switched_off(audit):
        lines.wrapped(off, first=Text("  "), rest="  ", style="dim")
    for each in audit.prevented[:_SHOWN]:
        only = "" if each.denies else " (it only warns; it would have, if it denied)"
        lines.wrapped(f"{each.code} {each.title}: {_waste(each, audit)}{only}", first=Text("  "), rest="      ")
    if (others := len(audit.prevented) - _SHOWN) > 0:
        lines.write(Text(f"  and {wording.count(others, 'more rule')}; {_MORE}", style="dim"))
    lines.write()


def _waste(each: Prevented, audit: Audit) -> str:
    """`1 workload with 16 GPUs, 1,232 idle and 208 stuck GPU-hours, 1,478 USD`."""
    idle = "" if each.idle is None else f"{TEXT.number(each.idle)} idle"
    stuck = f"{TEXT.number(each.stuck)} stuck" if each.stuck else ""
    hours = " and ".join(filter(None, (idle, stuck)))
    cost = "" if each.cost is None else TEXT.money(each.cost, audit.summary.currency)
    gpus = f" with {TEXT.number(each.gpus)} GPUs" if each.gpus else ""
    parts = (
        f"{wording.count(each.workloads, 'workload')}{gpus}",
        f"{hours} GPU-hours" if hours else _unmeasured(each, audit),
        cost,
    )
    return ", ".join(filter(None, parts))


def _unmeasured(each: Prevented, audit: Audit) -> str:
    return "which held no GPU" if never_held.by_rule(audit, each) else "no GPU-hours measured"


def _amount(hours: float, cost: float | None, currency: str) -> str:
    """`1,478 USD, 1,232 GPU-hours`; without a price the hours alone."""
    money = "" if cost is None else f"{TEXT.money(cost, currency)}, "
    return f"{money}{TEXT.number(hours)} GPU-hours"
