"""What needs attention first, each with the way to all of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usher.audit.document import Audit, ExceptionEntry, FindingEntry, Group
from usher.audit.reports import numbers, ordering, words
from usher.audit.reports.audit_html import first_steps, labels, usage
from usher.audit.reports.audit_html.findings import fragment
from usher.audit.reports.numbers import PAGE
from usher.audit.reports.web import charts, tables
from usher.audit.reports.web.markup import Child, Html, element
from usher.reports import wording

SHOWN: Final = 6
CHANGES: Final = 3
"""New findings, and fixed ones, by name."""

_NEVER: Final = {
    "the nodes": "asks for what no machine of the cluster has",
    "Kueue": "asks for what its queue never gives",
    "Volcano": "asks for what its queue never gives",
    "ResourceQuota": "asks for more than the quota of its namespace",
    "GPUQuota": "asks for more than the quota of its namespace",
    "LimitRange": "breaks a limit of its namespace",
    "the priority classes": "names a priority class that the cluster does not have",
}
"""What somebody who does not know Kubernetes has to know, by the authority that holds a workload."""
_NEVER_ELSEWHERE: Final = "waits for something that does not come"


def of_usage(audit: Audit) -> Iterator[Html]:
    """What gives back most GPU time, and whose GPUs are idle."""
    if audit.has_usage:
        yield _card("Do first", _link("All savings", "#savings"), *first_steps.html(audit))
        yield _card("GPU time that teams held, and how much was idle", _link("Usage", "#usage"), *_teams(audit))


def cards(audit: Audit) -> Iterator[Html]:
    """What can never run, what changed, and which exceptions end."""
    yield _card("Can never run", _link("All of them", "#findings-table", "never=yes"), *_never(audit))
    yield _card(
        f"Since {numbers.day(audit.trend.previous)}" if audit.trend.previous else "Changes", None, *_changes(audit)
    )
    yield _card("Exceptions from rules that end", _link("All exceptions", "#exceptions"), *_ending(audit))


def _card(title: str, link: Html | None, *body: Child) -> Html:
    return element("article", element("h3", title, link), *body, class_="card")


def _link(label: str, target: str, chosen: str = "") -> Html:
    return element("a", label, href=target, data_filter=chosen or None)


def _teams(audit: Audit) -> Iterator[Html]:
    rows: Sequence[Group] = next((table.rows for table in audit.usage if table.by == "team"), ())
    measured = [row for row in rows if row.usage.idle is not None]
    if not measured:
        yield element("p", usage.not_measured(audit), class_="muted")
        return
    whole = max(row.usage.allocated or 0.0 for row in measured)
    yield element(
        "ul",
        *(
            element(
                "li",
                charts.row(
                    _link(row.name or labels.NO_TEAM, "#workloads-table", tables.query(team=row.name)),
                    usage.drawn(row.usage, whole),
                    f"idle: {PAGE.hours(row.usage.idle)}{_cost(row)}",
                ),
            )
            for row in measured[:SHOWN]
        ),
        class_="bars",
    )
    yield charts.legend(usage.legend())


def _cost(row: Group) -> str:
    cost = row.usage.cost
    return f", {PAGE.money(cost.idle, cost.currency)}" if cost is not None and cost.idle is not None else ""


def _never(audit: Audit) -> Iterator[Html]:
    found = sorted((each for each in audit.findings if each.never), key=lambda each: -each.known_gpus)
    if not found and audit.summary.workloads_never is None:
        pods = "the pods were not read, so it is not known which workloads wait."
        known = audit.summary.gpus is not None and audit.summary.gpus_allocated is None
        text = f"Not known: {pods if known else 'these files say nothing of a cluster.'}"
        yield element("p", text, class_="muted")
        return
    if not found:
        unsure = "No workload is known that can never run, but parts of the cluster were not read."
        sure = "Every workload could run on this cluster, as far as usher knows."
        yield element("p", sure if audit.completeness.complete else unsure, class_="muted")
        return
    yield element("ul", *(_finding(each) for each in found[:SHOWN]), class_="list")


def _finding(found: FindingEntry) -> Html:
    amount = f" ({PAGE.gpus(found.gpus, least=found.gpus_least)})" if found.gpus else ""
    return element(
        "li",
        element("a", labels.name_of(found.subject), href=f"#{fragment(found)}"),
        f"{amount} {_NEVER.get(found.held_by, _NEVER_ELSEWHERE)}",
        element("small", f"{found.team or labels.NO_TEAM}: {found.message}"),
        element("small", f"Fix ({labels.owner(found)}): {found.remedy}") if found.remedy else None,
    )


def _changes(audit: Audit) -> Iterator[Html]:
    trend = audit.trend
    if not trend.previous:
        text = trend.problems[0] if trend.problems else "This is the first audit. Keep its numbers with --history FILE."
        yield element("p", text, class_="muted")
        return
    new = frozenset(trend.new)
    fresh = ordering.findings(each for each in audit.findings if each.fingerprint in new)
    old = [each for each in audit.findings if each.fingerprint not in new]
    yield element(
        "ul",
        element(
            "li",
            _link(wording.count(len(trend.new), "new finding"), "#findings-table", "standing=new"),
            _severities(fresh),
            *_new(fresh, trend.previous),
        ),
        element("li", f"{wording.count(len(trend.fixed), 'finding')} fixed", *_fixed(audit)),
        element(
            "li",
            _link(f"{wording.count(len(old), 'finding')} as before", "#findings-table", "standing=as before"),
            _severities(old),
        ),
        class_="list",
    )


def _severities(found: Iterable[FindingEntry]) -> str:
    shown = words.severities(each.severity for each in found)
    return f": {shown}" if shown else ""


def _new(found: Sequence[FindingEntry], previous: str) -> Iterator[Html]:
    """How many of them began since the audit before, and the worst one of each of the first objects."""
    began = sum(each.since > previous for each in found)
    if began:
        part = "all" if began == len(found) else f"{began:,}"
        yield element("small", f"{part} of them about what began since then")
    worst = {each.subject: each for each in reversed(found)}
    for each in ordering.findings(worst.values())[:CHANGES]:
        name = element("a", labels.name_of(each.subject), href=f"#{fragment(each)}")
        yield element("small", f"{each.severity.value}: ", name, f", {each.title[:1].lower()}{each.title[1:]}")


def _fixed(audit: Audit) -> Iterator[Html]:
    for each in audit.trend.fixed[:CHANGES]:
        yield element("small", f"{each.code} {each.subject}, open since {numbers.day(each.first_seen)}")


def _ending(audit: Audit) -> Iterator[Html]:
    soon = sorted((each for each in audit.exceptions if each.ends_soon), key=lambda each: each.days_left)
    if not soon:
        yield element("p", "No exception ends within 14 days.", class_="muted")
        return
    yield element("ul", *map(_exception, soon[:SHOWN]), class_="list")


def _exception(each: ExceptionEntry) -> Html:
    left = "today" if each.days_left == 0 else f"in {wording.count(each.days_left, 'day')}"
    about = f"{', '.join(each.checks)} in {', '.join(each.namespaces)}"
    return element(
        "li",
        element("strong", each.ticket),
        f" ends {left}",
        element("small", f"{each.owner}: {about}; covers {wording.count(each.findings, 'finding')}"),
    )
