"""The first screen: idle GPUs by owner, what changed, what can never run, which exceptions end."""

from collections.abc import Iterator, Sequence

from usher.audit.document import Audit, WorkloadState
from usher.reports import wording
from usher.reports.audit import target_words
from usher.reports.audit import words as audit_words
from usher.reports.audit_html import accelerators, highlights, tiles
from usher.reports.web import charts, numbers
from usher.reports.web.markup import Html, element, joined


def html(audit: Audit) -> Html:
    others = accelerators.card(audit)
    capacity = others if audit.summary.without_gpus and others else joined(_capacity(audit), others)
    cards = (*highlights.of_usage(audit), capacity, *highlights.cards(audit))
    return element(
        "div",
        element("h2", "At a glance", class_="hidden"),
        element("p", *_story(audit), " ", element("a", "What the words mean", href="#words"), class_="story"),
        element("div", *tiles.of(audit), class_="tiles"),
        element("div", *cards, class_="cards"),
        id="overview",
    )


def _story(audit: Audit) -> Iterator[str]:
    """The report in a few sentences."""
    summary = audit.summary
    if summary.gpus == 0:
        yield from _without_gpus(audit)
        return
    if summary.idle is not None:
        window = numbers.seconds_between(audit.measurement.start, audit.measurement.end)
        idle = numbers.share(numbers.part(summary.idle, summary.measured))
        span = f" in the last {numbers.days(window)}" if window else ""
        yield f"Of the GPU time that pods held{span}, {idle} was idle"
        cost = f", which cost {numbers.money(summary.cost_idle, summary.currency)}" if summary.cost_idle else ""
        yield f": {numbers.plain(summary.idle)} GPU-hours{cost}. "
    busy = next((each for each in audit.targets if each.name == "activity"), None)
    if busy is not None and busy.actual is not None:
        part = target_words.known(busy, summary)
        yield f"All GPUs together, also those that no pod held, were {numbers.share(busy.actual)} busy"
        yield f", measured for {part} of their hours. " if part else ". "
    elsewhere = [each for each in (summary.cost_free, summary.cost_out_of_use) if each is not None]
    if elsewhere:
        yield f"GPUs that no pod held cost {numbers.money(sum(elsewhere), summary.currency)} more. "
    if summary.gpus is None:
        yield (
            "The nodes were not read, so it is not known how many GPUs there are. "
            if audit.cluster.is_whole
            else f"Now pods of this part of the cluster hold {numbers.gpus(summary.gpus_allocated)}. "
        )
    elif summary.gpus_allocated is not None:
        yield f"Now pods hold {numbers.plain(summary.gpus_allocated)} of {numbers.gpus(summary.gpus)}. "
    if summary.gpus_allocated is None:
        has = "" if summary.gpus is None else f"The nodes have {numbers.gpus(summary.gpus)}. "
        yield f"{has}The pods were not read, so it is not known which GPUs they hold, what waits and what never runs. "
    if summary.workloads_never:
        can = wording.count(summary.workloads_never, "workload")
        yield f"{can} can never run as written, and {'asks' if summary.workloads_never == 1 else 'ask'} for "
        yield f"{numbers.gpus(summary.gpus_never, least=audit_words.least_never(audit))}."


def _without_gpus(audit: Audit) -> Iterator[str]:
    summary = audit.summary
    held = audit_words.others_held(summary)
    has = audit_words.others({each.resource: each.capacity or 0.0 for each in audit.other_accelerators})
    if has:
        now = f"Now pods hold {held}" if held else "Now no pod holds any of them"
        yield f"The nodes of this cluster have {has}, and no GPUs. {now}."
    else:
        yield f"No node of this cluster has GPUs{f', and pods hold {held}' if held else ''}."
    if waiting := audit_words.others({each.resource: each.waiting or 0.0 for each in audit.other_accelerators}):
        yield f" Pods and suspended workloads wait for {waiting}."
    if summary.workloads_not_known:
        yield f" The accelerators of {wording.count(summary.workloads_not_known, 'workload')} are not known."


def _capacity(audit: Audit) -> Html:
    summary = audit.summary
    if summary.gpus is None or summary.gpus_allocated is None:
        reason = "The nodes are not known, so the capacity is not known either."
        if not audit.cluster.is_whole:
            reason = "This report is about a part of the cluster, so it does not show the capacity of the nodes."
        if summary.gpus is not None:
            reason = f"The pods were not read, so it is not known which of {numbers.gpus(summary.gpus)} they hold."
        body = element("p", reason, class_="muted")
        return element("article", element("h3", "Capacity"), body, class_="card wide")
    allocated, half_started = summary.gpus_allocated or 0.0, summary.gpus_half_started or 0.0
    now = [
        _part("busy", allocated - half_started, "held by pods"),
        _part("idle", half_started, "held by gangs that wait for their other pods"),
        *_not_held(summary.gpus - allocated, summary.gpus_free),
    ]
    stuck, all_waiting = _waiting_for_ever(audit), summary.gpus_waiting or 0.0
    waiting = [
        _part("never", stuck, "wait and can never run"),
        _part("waiting", all_waiting - stuck, "wait and could run"),
    ]
    whole = max(summary.gpus, all_waiting, 1)
    rows = (
        element("li", charts.row(name, charts.stacked(parts, whole), numbers.gpus(amount)))
        for name, parts, amount in (("On nodes", now, summary.gpus), ("Waiting", waiting, summary.gpus_waiting))
    )
    return element(
        "article",
        element("h3", "GPUs now"),
        element("ul", *rows, class_="bars"),
        charts.legend([each for each in (*now, *waiting) if each.amount]),
        class_="card wide",
    )


def _not_held(rest: float, free: float | None) -> Sequence[charts.Part]:
    """What pods do not hold. Free GPUs are known where all pods were read."""
    if free is None:
        return [_part("unknown", rest, "held by pods that were not read, free or out of use")]
    return [_part("free", free, "free"), _part("unknown", rest - free, "out of use")]


def _waiting_for_ever(audit: Audit) -> float:
    """GPUs of workloads that can never run, if not one of their pods runs, so that all of them count as waiting."""
    never = {each.subject for each in audit.findings if each.never}
    waiting = {WorkloadState.PENDING, WorkloadState.SUSPENDED}
    found = sum(each.known_gpus for each in audit.workloads if each.state in waiting and each.subject in never)
    return min(found, audit.summary.gpus_waiting or 0.0)


def _part(look: str, amount: float, name: str) -> charts.Part:
    return charts.Part(look=look, amount=max(0.0, amount), title=f"{numbers.gpus(amount)} {name}")
