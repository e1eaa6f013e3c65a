"""The first screen: idle GPUs by owner, what changed, what can never run, which exceptions end."""

from collections.abc import Iterator

from usher.audit.document import Audit
from usher.audit.reports import target_words
from usher.audit.reports import words as audit_words
from usher.audit.reports.audit_html import accelerators, bill, highlights, tiles, waiting
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web.markup import Html, element, joined
from usher.reports import wording


def html(audit: Audit) -> Html:
    others = accelerators.card(audit)
    capacity = others if audit.summary.without_gpus and others else joined(waiting.card(audit), others)
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
    yield from bill.sentences(audit)
    busy = next((each for each in audit.targets if each.name == "activity"), None)
    if busy is not None and busy.actual is not None:
        part = target_words.known(busy, summary)
        yield f"All GPUs together, also those that no pod held, were {PAGE.share(busy.actual)} busy"
        yield f", measured for {part} of their hours. " if part else ". "
    if summary.gpus is None:
        yield (
            "The nodes were not read, so it is not known how many GPUs there are. "
            if audit.cluster.is_whole
            else f"Now pods of this part of the cluster hold {PAGE.gpus(summary.gpus_allocated)}. "
        )
    elif summary.gpus_allocated is not None:
        yield f"Now pods hold {PAGE.number(summary.gpus_allocated)} of {PAGE.gpus(summary.gpus)}. "
    if summary.gpus_allocated is None:
        has = "" if summary.gpus is None else f"The nodes have {PAGE.gpus(summary.gpus)}. "
        yield f"{has}The pods were not read, so it is not known which GPUs they hold, what waits and what never runs. "
    if summary.workloads_never:
        can = wording.count(summary.workloads_never, "workload")
        yield f"{can} can never run as written, and {'asks' if summary.workloads_never == 1 else 'ask'} for "
        yield f"{PAGE.gpus(summary.gpus_never, least=audit_words.least_never(audit))}."


def _without_gpus(audit: Audit) -> Iterator[str]:
    summary = audit.summary
    held = audit_words.others_held(summary)
    has = PAGE.others({each.resource: each.capacity or 0.0 for each in audit.other_accelerators})
    if has:
        now = f"Now pods hold {held}" if held else "Now no pod holds any of them"
        yield f"The nodes of this cluster have {has}, and no GPUs. {now}."
    else:
        yield f"No node of this cluster has GPUs{f', and pods hold {held}' if held else ''}."
    if waiting := PAGE.others({each.resource: each.waiting or 0.0 for each in audit.other_accelerators}):
        yield f" Pods and suspended workloads wait for {waiting}."
    if summary.workloads_not_known:
        yield f" The accelerators of {wording.count(summary.workloads_not_known, 'workload')} are not known."
