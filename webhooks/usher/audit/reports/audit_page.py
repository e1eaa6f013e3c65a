"""An audit as one HTML file, for people: it loads nothing, and reads well without JavaScript and on paper.

The same document makes the same bytes. What was not measured has no number anywhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TextIO

from usher.audit.document import Audit, ExceptionEntry, FindingEntry, Group
from usher.audit.reports import (
    checklist_tables,
    entry_words,
    findings_tables,
    headlines,
    html_elements,
    html_tables,
    numbers,
    savings_tables,
    summary,
    usage_tables,
    workload_tables,
)
from usher.audit.reports.html_elements import Child, Html, element, joined
from usher.audit.reports.numbers import PAGE
from usher.check.formats import wording

_SOURCES: Final = {"prometheus": "measured by Prometheus", "demo": "invented for this demo"}
"""By the source of the measurement."""


_WORKLOADS_LEAD: Final = (
    "Each accelerator counts once, at the top-level workload whose pods hold it. Most idle hours first."
)


def write(audit: Audit, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(text(audit))


def text(audit: Audit, *, notices: Sequence[str] = ()) -> str:
    """The page; `notices` stand before everything else, for example that a newer audit failed."""
    name = audit.cluster.title or "cluster"
    return html_elements.page_html(
        html_elements.Page(
            title=f"{name}: audit of {numbers.day(audit.taken)}",
            heading=name,
            facts=tuple(_facts(audit)),
            notices=(*notices, *_notices(audit)),
            first=_first_screen(audit) if audit.summary.knows_cluster else _manifests_screen(audit),
            sections=tuple(_sections(audit)),
        )
    )


def _sections(audit: Audit) -> Iterator[html_elements.Section]:
    """All of them for a cluster; manifests neither use GPUs nor get ready."""
    of_cluster = audit.summary.knows_cluster
    if of_cluster:
        yield summary.section(audit)
    if of_cluster and audit.has_usage:
        yield usage_tables.usage_section(audit)
        yield savings_tables.savings_table(audit).section(savings_tables.savings_lead(audit))
    findings = findings_tables.findings_table(audit, audit.findings, "Findings")
    yield findings.section(findings_tables.findings_lead(audit))
    yield workload_tables.workloads_table(audit).section(_WORKLOADS_LEAD)
    if of_cluster:
        yield savings_tables.prevented_table(audit).section(savings_tables.prevented_lead(audit))
        standings = entry_words.standings(audit.summary.readiness)
        yield checklist_tables.checklist_table(audit).section(f"{standings}." if standings else "", title="Readiness")
    yield checklist_tables.exceptions_table(audit).section()
    yield checklist_tables.not_known_section(audit)
    yield entry_words.glossary_section()


def _facts(audit: Audit) -> Iterator[str]:
    yield f"Taken {numbers.minute(audit.taken)}"
    if audit.cluster.nodes is not None:
        alone = audit.summary.gpus and not any(each.nodes for each in audit.other_accelerators)
        what = "GPUs" if alone else "accelerators"
        yield f"{wording.count(audit.cluster.nodes, 'node')} with {what}"
    if audit.cluster.server:
        yield f"Kubernetes {audit.cluster.server}"
    measurement = audit.measurement
    seconds = numbers.seconds_between(measurement.start, measurement.end)
    if seconds:
        yield f"Usage of the last {numbers.days(seconds)}, {_SOURCES.get(measurement.source, 'measured')}"
    yield f"gpu-usher {audit.version}, configuration: {audit.configuration}, preset {audit.preset}"


def _notices(audit: Audit) -> Iterator[Html | str]:
    summary = audit.summary
    if audit.measurement.source == "none" and summary.knows_cluster and audit.has_usage:
        yield (
            "The use of GPUs was not measured, so this report does not know the idle GPUs. "
            "Run usher audit with --prometheus URL, on a Prometheus that scrapes DCGM."
        )
    elif summary.measured is not None and summary.cost_allocated is None:
        yield "No GPU has a price. Set audit.prices in usher.yaml to see money beside GPU-hours."
    if not audit.completeness.complete:
        yield checklist_tables.incomplete_notice(audit)


def _first_screen(audit: Audit) -> Html:
    words = element("a", "What the words mean", href="#words")
    first, *others = summary.sentences(audit, PAGE)
    return element(
        "div",
        element("h2", "At a glance", class_="hidden"),
        element("p", element("strong", first), f" {' '.join(others)} ", words, class_="story"),
        element("div", *headlines.tiles(audit), class_="tiles"),
        element("div", _capacity_cards(audit), *_cards(audit), class_="cards"),
        id="overview",
    )


def _capacity_cards(audit: Audit) -> Html:
    """The steps that give back most GPU time, beside who holds the GPUs now; without usage the latter alone."""
    others = workload_tables.accelerators_card(audit)
    capacity = others if audit.summary.without_gpus and others else joined(workload_tables.capacity_card(audit), others)
    if not audit.has_usage:
        return capacity
    teams = _card("GPU time that teams held, and how much was idle", _link("Usage", "#usage"), *_team_bars(audit))
    return joined(
        _card("Do first", _link("All savings", "#savings"), *savings_tables.first_steps(audit)),
        element("div", teams, capacity, class_="stack"),
    )


_SHOWN: Final = 6

_CHANGES: Final = 3
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
"""The reason why a workload waits, for readers who do not know Kubernetes, by the authority that holds it."""

_NEVER_ELSEWHERE: Final = "waits for something that does not come"


def _cards(audit: Audit) -> Iterator[Html]:
    """Three cards: workloads that can never run, changes since the audit before, and exceptions that end."""
    yield _card("Can never run", _link("All of them", "#findings-table", "never=yes"), *_never_list(audit))
    yield _card(
        f"Since {numbers.day(audit.trend.previous)}" if audit.trend.previous else "Changes", None, *_changes_list(audit)
    )
    yield _card("Exceptions that end soon", _link("All exceptions", "#exceptions"), *_ending_list(audit))


def _card(title: str, link: Html | None, *body: Child) -> Html:
    return element("article", element("h3", title, link), *body, class_="card")


def _link(label: str, target: str, chosen: str = "") -> Html:
    return element("a", label, href=target, data_filter=chosen or None)


def _team_bars(audit: Audit) -> Iterator[Html]:
    rows: Sequence[Group] = next((table.rows for table in audit.usage if table.by == "team"), ())
    measured = [row for row in rows if row.usage.idle is not None]
    if not measured:
        yield element("p", usage_tables.why_not_measured(audit), class_="muted")
        return
    longest = max(row.usage.allocated or 0.0 for row in measured)
    yield element(
        "ul",
        *(
            element(
                "li",
                html_tables.row(
                    _link(row.name or entry_words.NO_TEAM, "#workloads-table", html_tables.query(team=row.name)),
                    usage_tables.hours_bar(row.usage, longest),
                    f"idle: {PAGE.hours(row.usage.idle)}{_idle_cost(row)}",
                ),
            )
            for row in measured[:_SHOWN]
        ),
        class_="bars",
    )
    yield html_tables.legend(usage_tables.hours_legend())


def _idle_cost(row: Group) -> str:
    cost = row.usage.cost
    return f", {PAGE.money(cost.idle, cost.currency)}" if cost is not None and cost.idle is not None else ""


def _never_list(audit: Audit) -> Iterator[Html]:
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
    yield element("ul", *(_never_finding(each) for each in found[:_SHOWN]), class_="list")


def _never_finding(found: FindingEntry) -> Html:
    amount = f" ({PAGE.gpus(found.gpus, least=found.gpus_least)})" if found.gpus else ""
    return element(
        "li",
        element("a", entry_words.name_of(found.subject), href=f"#{findings_tables.fragment(found)}"),
        f"{amount} {_NEVER.get(found.held_by, _NEVER_ELSEWHERE)}",
        element("small", f"{found.team or entry_words.NO_TEAM}: {found.message}"),
        element("small", f"Fix ({entry_words.owner(found)}): {found.remedy}") if found.remedy else None,
    )


def _changes_list(audit: Audit) -> Iterator[Html]:
    trend = audit.trend
    if not trend.previous:
        text = trend.problems[0] if trend.problems else "This is the first audit. Keep its numbers with --history FILE."
        yield element("p", text, class_="muted")
        return
    new = frozenset(trend.new)
    fresh = entry_words.worst_first(each for each in audit.findings if each.fingerprint in new)
    old = [each for each in audit.findings if each.fingerprint not in new]
    yield element(
        "ul",
        element(
            "li",
            _link(wording.count(len(trend.new), "new finding"), "#findings-table", "standing=new"),
            _severities(fresh),
            *_new_details(fresh, trend.previous),
        ),
        element("li", f"{wording.count(len(trend.fixed), 'finding')} fixed", *_fixed_details(audit)),
        element(
            "li",
            _link(f"{wording.count(len(old), 'finding')} as before", "#findings-table", "standing=as before"),
            _severities(old),
        ),
        class_="list",
    )


def _severities(found: Iterable[FindingEntry]) -> str:
    shown = entry_words.severities(each.severity for each in found)
    return f": {shown}" if shown else ""


def _new_details(found: Sequence[FindingEntry], previous: str) -> Iterator[Html]:
    """How many of them began since the audit before, and the worst one of each of the first objects."""
    began = sum(each.since > previous for each in found)
    if began:
        part = "all" if began == len(found) else f"{began:,}"
        yield element("small", f"{part} of them about what began since then")
    worst = {each.subject: each for each in reversed(found)}
    for each in entry_words.worst_first(worst.values())[:_CHANGES]:
        name = element("a", entry_words.name_of(each.subject), href=f"#{findings_tables.fragment(each)}")
        yield element("small", f"{each.severity.value}: ", name, f", {each.title[:1].lower()}{each.title[1:]}")


def _fixed_details(audit: Audit) -> Iterator[Html]:
    for each in audit.trend.fixed[:_CHANGES]:
        yield element("small", f"{each.code} {each.subject}, open since {numbers.day(each.first_seen)}")


def _ending_list(audit: Audit) -> Iterator[Html]:
    soon = sorted((each for each in audit.exceptions if each.ends_soon), key=lambda each: each.days_left)
    if not soon:
        yield element("p", "No exception ends within 14 days.", class_="muted")
        return
    yield element("ul", *map(_ending_exception, soon[:_SHOWN]), class_="list")


def _ending_exception(each: ExceptionEntry) -> Html:
    left = "today" if each.days_left == 0 else f"in {wording.count(each.days_left, 'day')}"
    about = f"{', '.join(each.checks)} in {', '.join(each.namespaces)}"
    return element(
        "li",
        element("strong", each.ticket),
        f" ends {left}",
        element("small", f"{each.owner}: {about}; covers {wording.count(each.findings, 'finding')}"),
    )


_SHOWN_DENIED: Final = 5

_DENY: Final = "deny"


def _manifests_screen(audit: Audit) -> Html:
    return element(
        "div",
        element("h2", "At a glance", class_="hidden"),
        element("p", *_manifests_story(audit), class_="story"),
        element("div", *_manifests_tiles(audit), class_="tiles"),
        element("div", _denied(audit), class_="cards"),
        id="overview",
    )


def _manifests_story(audit: Audit) -> Iterator[str]:
    found = audit.summary
    errors, warnings = found.findings.get(_DENY, 0), found.findings.get("warn", 0)
    yield f"{wording.count(errors, 'error')} and {wording.count(warnings, 'warning')} in "
    yield f"{wording.count(found.workloads, 'workload')} with accelerators. "
    yield (
        "These are files, so the report does not know which GPUs are allocated and which workloads wait or can never "
        "run: usher audit without a PATH reads the cluster."
    )


def _manifests_tiles(audit: Audit) -> Iterator[Html]:
    found, unread = audit.summary, audit.completeness.not_judged
    rollouts = found.gpus_asked_least != found.gpus_asked
    yield _manifests_tile("Errors", f"{found.findings.get(_DENY, 0):,}", "admission would deny these")
    yield _manifests_tile("Warnings", f"{found.findings.get('warn', 0):,}", "")
    more = "the larger number with the extra pods of rollouts and autoscalers" if rollouts else ""
    yield _manifests_tile("Asked for", entry_words.asked(audit), more)
    unknown = wording.count(found.workloads_not_known, "workload")
    note = f"the accelerators of {unknown} are not known" if found.workloads_not_known else ""
    yield _manifests_tile("Values that cannot be read", f"{unread:,}", note)


def _manifests_tile(label: str, value: str, note: str) -> Html:
    return html_tables.tile(label, value, note, missing=numbers.NOT_KNOWN)


def _denied(audit: Audit) -> Html:
    found = [each for each in audit.findings if each.outcome == _DENY]
    body: Html = element("p", "Admission would deny nothing here.", class_="muted")
    if found:
        more = len(found) - _SHOWN_DENIED
        body = element(
            "ul",
            *map(_denied_finding, found[:_SHOWN_DENIED]),
            element("li", f"and {more:,} more below") if more > 0 else None,
            class_="list",
        )
    return element("article", element("h3", "Admission would deny"), body, class_="card wide")


def _denied_finding(found: FindingEntry) -> Html:
    where = found.place or entry_words.place(found.subject)
    return element(
        "li",
        element("a", f"{found.code} {entry_words.name_of(found.subject)}", href=f"#{findings_tables.fragment(found)}"),
        element("small", f"{where}: {found.message}"),
        element("small", f"Fix: {found.remedy}") if found.remedy else None,
    )
