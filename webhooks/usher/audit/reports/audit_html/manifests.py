"""The first screen for manifests: nothing of them runs or waits, so it shows what admission would say about them."""

from collections.abc import Iterator
from typing import Final

from usher.audit.document import Audit, FindingEntry
from usher.audit.reports import words
from usher.audit.reports.audit_html import labels
from usher.audit.reports.audit_html.findings import fragment
from usher.audit.reports.web.markup import Html, element
from usher.reports import wording

_SHOWN: Final = 5
_DENY: Final = "deny"


def html(audit: Audit) -> Html:
    return element(
        "div",
        element("h2", "At a glance", class_="hidden"),
        element("p", *_story(audit), class_="story"),
        element("div", *_tiles(audit), class_="tiles"),
        element("div", _denied(audit), class_="cards"),
        id="overview",
    )


def _story(audit: Audit) -> Iterator[str]:
    found = audit.summary
    errors, warnings = found.findings.get(_DENY, 0), found.findings.get("warn", 0)
    yield f"{wording.count(errors, 'error')} and {wording.count(warnings, 'warning')} in "
    yield f"{wording.count(found.workloads, 'workload')} with accelerators. "
    yield (
        "These are files, so the report does not know which GPUs are allocated and which workloads wait or can never "
        "run: usher audit without a PATH reads the cluster."
    )


def _tiles(audit: Audit) -> Iterator[Html]:
    found, unread = audit.summary, audit.completeness.not_judged
    rollouts = found.gpus_asked_least != found.gpus_asked
    yield _tile("Errors", f"{found.findings.get(_DENY, 0):,}", "admission would deny these")
    yield _tile("Warnings", f"{found.findings.get('warn', 0):,}", "")
    more = "the larger number with the extra pods of rollouts and autoscalers" if rollouts else ""
    yield _tile("Asked for", words.asked(audit), more)
    unknown = wording.count(found.workloads_not_known, "workload")
    note = f"the accelerators of {unknown} are not known" if found.workloads_not_known else ""
    yield _tile("Values that cannot be read", f"{unread:,}", note)


def _tile(label: str, value: str, note: str) -> Html:
    return element(
        "div",
        element("span", label, class_="label"),
        element("span", value, class_="value"),
        element("span", note, class_="note") if note else None,
        class_="tile",
    )


def _denied(audit: Audit) -> Html:
    found = [each for each in audit.findings if each.outcome == _DENY]
    body: Html = element("p", "Admission would deny nothing here.", class_="muted")
    if found:
        more = len(found) - _SHOWN
        body = element(
            "ul",
            *map(_finding, found[:_SHOWN]),
            element("li", f"and {more:,} more below") if more > 0 else None,
            class_="list",
        )
    return element("article", element("h3", "Admission would deny"), body, class_="card wide")


def _finding(found: FindingEntry) -> Html:
    where = found.place or labels.place(found.subject)
    return element(
        "li",
        element("a", f"{found.code} {labels.name_of(found.subject)}", href=f"#{fragment(found)}"),
        element("small", f"{where}: {found.message}"),
        element("small", f"Fix: {found.remedy}") if found.remedy else None,
    )
