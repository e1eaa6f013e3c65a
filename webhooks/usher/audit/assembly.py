"""Puts the audit document together: decisions, estate, and the sections of the other analyses."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Final

from usher import paths
from usher.audit import (
    asked,
    check_findings,
    needs,
    other_accelerators,
    partial,
    subjects,
    summary,
    times,
    workload_entries,
)
from usher.audit.document import (
    Audit,
    Cluster,
    Completeness,
    ExceptionEntry,
    FindingEntry,
    Gap,
    NotEvaluatedEntry,
    NotJudgedEntry,
    Saving,
    WorkloadEntry,
)
from usher.audit.estate import Estate, Missing
from usher.audit.sections import Sections
from usher.audit.standing import exceptions, half_started
from usher.audit.usage import prevention
from usher.check import findings
from usher.config.models import Config, ExceptionRule

NOT_NEEDED: Final = "not needed"
"""The state of an exception whose objects pass without it."""


def document(  # noqa: PLR0913 - all parts of an audit by name
    *,
    report: findings.Report,
    estate: Estate,
    config: Config,
    cluster: str,
    server: str = "",
    sections: Sections | None = None,
    now: datetime,
) -> Audit:
    """The audit document.

    Args:
        report: the decisions about all objects.
        estate: the nodes and workloads.
        config: usher.yaml.
        cluster: the name of the cluster.
        server: the version of its API server; empty if unknown.
        sections: the results of the other analyses.
        now: the time of the audit, in UTC.
    """
    given = Sections() if sections is None else sections
    measured = given.measured
    rules = config.enforcement.exceptions
    workloads = tuple(workload_entries.entries(estate, report, measured.workloads))
    standing = _with_others(given.standing, workloads)
    found = sorted([*check_findings.entries(report, estate, rules), *standing], key=_order)
    excepted = tuple(_exceptions(report.exceptions, rules, found, today=now.date()))
    unread = needs.unread(estate, report, finds_never=any(each.never for each in found))
    headlines = asked.with_asked(summary.of(estate, found, excepted, given), estate)
    everything = Audit(
        version=report.version,
        taken=times.text(now),
        cluster=Cluster(
            name=cluster,
            id=estate.cluster_id,
            server=server,
            nodes=None if estate.nodes is None else len(estate.nodes),
            namespace=estate.scope.namespace,
        ),
        configuration=report.configuration.source or "defaults",
        preset=report.configuration.preset,
        completeness=_completeness(report, estate),
        summary=needs.without(headlines, unread),
        measurement=measured.measurement,
        other_accelerators=tuple(needs.without(each, unread) for each in other_accelerators.entries(estate, found)),
        workloads=workloads,
        findings=tuple(found),
        prevented=prevention.prevented(found, workloads, window=given.window, now=now),
        not_evaluated=tuple(_not_evaluated(report)),
        not_judged=tuple(_not_judged(report)),
        exceptions=excepted,
        usage=measured.groups,
        prices=measured.prices,
        targets=measured.targets,
        savings=tuple(_with_cause(measured.savings, found)),
        readiness=given.readiness,
    )
    return everything if estate.scope.is_merged else partial.of(everything, estate.scope)


def _with_others(standing: Iterable[FindingEntry], workloads: Iterable[WorkloadEntry]) -> Iterator[FindingEntry]:
    """Findings about workloads, with the other accelerators that these workloads request."""
    others = {each.subject: each.other_accelerators for each in workloads if each.other_accelerators}
    for each in standing:
        found = others.get(each.subject)
        yield each.model_copy(update={"other_accelerators": found}) if found else each


def _with_cause(savings: Iterable[Saving], found: Iterable[FindingEntry]) -> Iterator[Saving]:
    """Savings, with the finding about the other half for a gang that waits for it."""
    causes = {each.subject: each.fingerprint for each in found if each.code == half_started.CODE}
    for each in savings:
        yield each.model_copy(update={"finding": causes.get(each.subject, "")})


def _order(entry: FindingEntry) -> tuple[object, ...]:
    """A sort key: workloads that can never run first, then the worst outcome, most GPUs, and by name."""
    outcomes = ("deny", "warn", "audit")
    outcome = outcomes.index(entry.outcome) if entry.outcome in outcomes else len(outcomes)
    about = entry.subject
    return (
        not entry.never,
        outcome,
        -entry.known_gpus,
        entry.code,
        about.namespace,
        about.kind,
        about.name,
        entry.path,
        entry.fingerprint,
    )


def _exceptions(
    uses: Iterable[findings.ExceptionUse],
    rules: list[ExceptionRule],
    found: Iterable[FindingEntry],
    *,
    today: date,
) -> Iterator[ExceptionEntry]:
    """The exceptions in the order of usher.yaml."""
    not_needed = {each.path for each in found if each.code == exceptions.NOT_NEEDED}
    for number, (use, rule) in enumerate(zip(uses, rules, strict=True)):
        yield ExceptionEntry(
            ticket=use.ticket,
            owner=use.owner,
            reason=rule.reason,
            checks=use.checks,
            namespaces=use.namespaces,
            expires=use.expires,
            state=NOT_NEEDED if exceptions.place(number) in not_needed else use.state.value,
            findings=use.findings,
            days_left=(use.expires - today).days,
        )


def _completeness(report: findings.Report, estate: Estate) -> Completeness:
    gaps = [*(_gap(each) for each in estate.missing), *_of_report(report)]
    # usher may read a kind for several purposes, and lists it once.
    notes = dict.fromkeys(Gap(source=note.source, reason=note.reason) for note in report.notes)
    return Completeness(
        complete=not gaps,
        gaps=tuple(dict.fromkeys(gaps)),
        left_out=(*notes, *(_gap(each) for each in estate.unlisted_owners)),
        objects=report.totals.objects,
        workloads=report.totals.workloads,
        pods=estate.pods_read,
        finished=report.totals.finished,
        checks_without_facts=report.without_facts,
        not_judged=sum(result.unread for result in report.results),
    )


def _not_evaluated(report: findings.Report) -> Iterator[NotEvaluatedEntry]:
    for each in report.not_evaluated:
        yield NotEvaluatedEntry(code=each.code, name=each.name, reason=each.reason, workloads=each.workloads)


def _not_judged(report: findings.Report) -> Iterator[NotJudgedEntry]:
    for result in report.results:
        for each in result.not_judged:
            if not each.unknown.check:
                yield NotJudgedEntry(
                    subject=subjects.of(result.identity),
                    path=paths.readable(each.unknown.path) if each.unknown.path else "",
                    reason=each.unknown.reason,
                    place=subjects.place(result, 0 if each.place is None else each.place.line),
                )


def _of_report(report: findings.Report) -> Iterator[Gap]:
    """Inputs that usher could not read, and objects that it could not judge."""
    for problem in report.problems:
        where = f"{problem.source}:{problem.line}:{problem.column}" if problem.line else problem.source
        yield Gap(source=where, reason=problem.reason)
    for failure in report.failures:
        yield Gap(source=f"{failure.source}: {failure.identity}", reason=f"not judged: {failure.reason}")


def _gap(missing: Missing) -> Gap:
    return Gap(source=missing.source, reason=missing.reason, read=missing.read)
