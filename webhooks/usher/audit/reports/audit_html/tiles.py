"""The headline numbers, each with its change since the audit before."""

from collections.abc import Callable, Iterator

from usher.audit.document import AcceleratorEntry, Audit, Point
from usher.audit.reports import numbers, words
from usher.audit.reports.audit_html import bill, glossary, waiting
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web.markup import Html, element
from usher.reports import wording


def of(audit: Audit) -> Iterator[Html]:
    """The tiles; without those of usage where the cluster has no GPUs that could be used."""
    if audit.has_usage:
        yield from _of_usage(audit)
    summary = audit.summary
    yield _tile(
        "waiting",
        "Waiting",
        _amount(audit, PAGE.gpus(summary.gpus_waiting), lambda each: each.waiting),
        _never_of(audit) + _waited(audit),
    )
    yield _tile(
        "never",
        "Can never run",
        _amount(audit, PAGE.gpus(summary.gpus_never, least=words.least_never(audit)), lambda each: each.never),
        ""
        if summary.workloads_never is None
        else f"{summary.workloads_never:,} of {wording.count(summary.workloads, 'workload')}",
        _changed(audit, lambda point: point.never, lambda value: wording.count(int(value), "workload")),
    )


def _never_of(audit: Audit) -> str:
    stuck = waiting.for_ever(audit)
    return f"of these {PAGE.gpus(stuck)} can never run. " if stuck else ""


def _amount(audit: Audit, gpus: str, other: Callable[[AcceleratorEntry], float | None]) -> str:
    """The GPUs; of a cluster without them the accelerator with the largest number."""
    found = [(other(each) or 0.0, each.resource) for each in audit.other_accelerators]
    most, name = max(found, default=(0.0, ""))
    return f"{PAGE.number(most)} {numbers.short(name)}" if audit.summary.without_gpus and most else gpus


def _of_usage(audit: Audit) -> Iterator[Html]:
    summary, money = audit.summary, audit.summary.currency
    idle = numbers.part(summary.idle, summary.measured)
    yield _tile(
        "idle",
        "Idle GPU time",
        None if summary.idle is None else PAGE.hours(summary.idle),
        f"{PAGE.share(idle)} of {PAGE.hours(summary.measured)} that pods held" if idle is not None else "",
        _changed(audit, lambda point: point.idle, PAGE.hours),
    )
    yield _tile(
        "cost-idle",
        "Cost of idle GPUs",
        None if summary.cost_idle is None else PAGE.money(summary.cost_idle, money),
        _part_of(summary.cost_idle, summary.cost_allocated, f"{PAGE.money(summary.cost_allocated, money)}"),
        _changed(audit, lambda point: point.idle_cost, lambda value: PAGE.money(value, money)),
        missing="not priced" if summary.measured is not None else numbers.NOT_MEASURED,
    )
    yield _not_held(audit)
    yield _savings(audit)


def _part_of(idle: float | None, held: float | None, shown: str) -> str:
    """`17 % of USD 40,976 for all that pods held`"""
    return "" if held is None else f"{PAGE.share(numbers.part(idle, held), 'part')} of {shown} for all that pods held"


def _not_held(audit: Audit) -> Html:
    found, money = audit.summary, audit.summary.currency
    if found.cost_not_held is None:
        value = None if found.not_held is None else PAGE.hours(found.not_held)
        whole = f"of {PAGE.hours(found.capacity)}"
        change = _changed(audit, lambda point: point.not_held, PAGE.hours)
    else:
        value = PAGE.money(found.cost_not_held, money)
        whole = f"of {PAGE.money(found.bill, money)} for all GPUs"
        change = _changed(audit, lambda point: point.not_held_cost, lambda value: PAGE.money(value, money))
    note = ": ".join(filter(None, (whole, bill.rest(found)))) if value is not None else ""
    return _tile("not-held", "Held by no pod", value, note, change)


def _savings(audit: Audit) -> Html:
    """What may come off the bill, apart from the GPUs that become free; GPU-hours where nothing has a price."""
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


def _waited(audit: Audit) -> str:
    seconds = audit.summary.queue_wait_p95_seconds
    if seconds is None:
        return "Wait in queues not measured"
    target = next((each for each in audit.targets if each.unit == "seconds"), None)
    most = f"; target {numbers.lasting(target.high)}" if target is not None and target.high is not None else ""
    return f"95 % of those that started had waited at most {numbers.lasting(seconds)}{most}"


def _tile(  # noqa: PLR0913 - parts of one tile
    word: str,
    label: str,
    value: str | None,
    note: str,
    change: Html | None = None,
    *,
    missing: str = numbers.NOT_MEASURED,
) -> Html:
    return element(
        "div",
        element("span", glossary.link(word, label), class_="label"),
        _value(value) if value is not None else element("span", missing, class_="value missing"),
        element("span", note, class_="note") if note else None,
        change,
        class_="tile",
    )


def _value(text: str) -> Html:
    """The number large, and its unit beside it: `5`, `20,996 GPU-h`, `2 to 3 GPUs`, `USD 39,160`."""
    if text.isdecimal():
        return element("span", text, class_="value")
    if text[:1].isdecimal():
        number, _, unit = text.rpartition(" ")
        return element("span", number, " ", element("small", unit), class_="value")
    unit, _, number = text.partition(" ")
    return element("span", element("small", unit), " ", number, class_="value")


def _changed(audit: Audit, number: Callable[[Point], float | None], shown: Callable[[float], str]) -> Html | None:
    """What changed between the last two audits; None where one of them did not measure it."""
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
