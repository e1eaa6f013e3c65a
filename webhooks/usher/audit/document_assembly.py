"""Puts the audit document together: decisions, estate, headline numbers, and the sections of the other analyses.

`docs/audit.md` has the formula and the source of each headline number. Accelerators other
than GPUs have the same numbers, by resource and in its own units.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Final

from usher import model, paths
from usher.accelerators import names
from usher.accelerators.names import Unit
from usher.audit import document_entries
from usher.audit import sections as audit_sections
from usher.audit.document import (
    AcceleratorEntry,
    Audit,
    Cluster,
    Completeness,
    ExceptionEntry,
    FindingEntry,
    Gap,
    NotEvaluatedEntry,
    NotJudgedEntry,
    Saving,
    Subject,
    Summary,
    WorkloadEntry,
)
from usher.audit.document_entries import gpus_now, waiting_pods
from usher.audit.gather import gpus, needed_inputs
from usher.audit.gather.estate import Estate, Missing, Node, Workload
from usher.audit.gather.gpus import NodeSplit
from usher.audit.sections import Sections
from usher.audit.standing import policy_coverage, waiting_workloads
from usher.check import devices, findings
from usher.config.models import Config, ExceptionRule

Amounts = Mapping[str, float]
"""Numbers by resource."""

_ON_NO_NODE: Final = frozenset({Unit.SHARE, Unit.MEMORY, Unit.MEMORY_FRACTION, Unit.CORES})
"""Units that schedulers and device plugins give to pods while nodes report no number (docs/domain/accelerators.md)."""


def accelerator_entries(estate: Estate, findings: Iterable[FindingEntry]) -> tuple[AcceleratorEntry, ...]:
    """One entry for each resource that a node has, or that a workload holds or wants, by name."""
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    nodes = {node.name: node for node in estate.nodes or ()}
    on_nodes = _on_nodes(workloads, nodes)
    splits = _splits_by_resource(nodes.values(), on_nodes)
    held = _added_amounts(on_nodes.values())

    def of_nodes(name: str) -> Sequence[NodeSplit] | None:
        """The split of each node; None if their number of devices is unknown."""
        is_known = estate.nodes is not None and (name in splits or (name not in held and _is_reported(name)))
        return splits.get(name, ()) if is_known else None

    waiting = _added_amounts(map(_waiting_others, workloads))
    never = _added_amounts({each.subject: each.other_accelerators for each in findings if each.never}.values())
    asked = _added_amounts(_numbers_by_resource(each.asks, gpus.node_of(each, nodes)) for each in workloads)
    return tuple(
        AcceleratorEntry(
            resource=name,
            nodes=None if (found := of_nodes(name)) is None else len(found),
            capacity=_total_of_nodes(found, lambda each: each.capacity),
            usable=_total_of_nodes(found, lambda each: each.usable),
            allocated=held[name],
            free=_total_of_nodes(found, lambda each: each.free),
            out_of_use=_total_of_nodes(found, lambda each: each.out_of_use),
            waiting=waiting[name],
            never=never[name],
            asked=asked[name],
        )
        for name in sorted({*splits, *held, *waiting, *asked})
    )


def _is_reported(name: str) -> bool:
    """Whether a node with the resource reports it, so that a cluster without a report has 0."""
    meaning = names.meaning_of(name)
    return not devices.is_shares(name) and (meaning is None or meaning.unit not in _ON_NO_NODE)


def _splits_by_resource(nodes: Iterable[Node], held: Mapping[str, Amounts]) -> Mapping[str, list[NodeSplit]]:
    """The splits by resource, one for each node that has some."""
    found = defaultdict[str, list[NodeSplit]](list)
    for node in nodes:
        allocatable, here = _numbers_by_resource(node.allocatable), held.get(node.name, {})
        for name, number in _numbers_by_resource(node.capacity).items():
            # Access to the metrics of all devices of a node is not a device.
            meaning = names.meaning_of(name)
            if meaning is None or meaning.unit is not Unit.MONITORING:
                offered = allocatable.get(name, 0.0)
                found[name].append(
                    gpus.split_of_node(node, capacity=number, allocatable=offered, held=here.get(name, 0.0))
                )
    return found


def _on_nodes(workloads: Iterable[Workload], nodes: Mapping[str, Node]) -> Mapping[str, Counter[str]]:
    """The accelerators that pods hold, by node and resource."""
    found = defaultdict[str, Counter[str]](Counter)
    for workload in workloads:
        for pod in workload.pods:
            if pod.holds:
                found[pod.node].update(gpus.numbers(gpus.others(pod.devices, nodes.get(pod.node))))
    return found


def _waiting_others(workload: Workload) -> Amounts:
    if not (workload.suspended and workload.exists):
        return _added_amounts(_numbers_by_resource(pod.devices) for pod in waiting_pods(workload))
    held = _added_amounts(_numbers_by_resource(pod.devices) for pod in workload.pods if pod.holds)
    return {name: max(0.0, number - held[name]) for name, number in _numbers_by_resource(workload.asks).items()}


def _numbers_by_resource(found: devices.Devices, node: Node | None = None) -> Amounts:
    return gpus.numbers(gpus.others(found, node))


def _added_amounts(parts: Iterable[Amounts]) -> Counter[str]:
    total = Counter[str]()
    for part in parts:
        total.update(part)
    return total


def _total_of_nodes(found: Iterable[NodeSplit] | None, number: Callable[[NodeSplit], float]) -> float | None:
    return None if found is None else round(sum(map(number, found)), 6)


def with_asked(summary: Summary, estate: Estate) -> Summary:
    """The headline numbers with the requests of workloads."""
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    nodes = {node.name: node for node in estate.nodes or ()}
    by_node = [(gpus.node_of(each, nodes), each) for each in workloads]
    return summary.model_copy(
        update={
            "gpus_asked": _rounded(gpus.number(each.asks, node) for node, each in by_node),
            "gpus_asked_least": _rounded(gpus.least(each.asks, node) for node, each in by_node),
            "other_asked": gpus.numbers(devices.added(gpus.others(each.asks, node) for node, each in by_node)),
            "workloads_not_known": sum(not each.asks_known for each in workloads),
            "manifests": sum(not each.exists for each in workloads),
        }
    )


def headline_numbers(
    estate: Estate, findings: Sequence[FindingEntry], exceptions: Iterable[ExceptionEntry], sections: Sections
) -> Summary:
    nodes = {node.name: node for node in estate.nodes or ()}
    splits = gpus.splits_of_nodes(estate)
    workloads = [each for each in estate.workloads if not each.is_template or each.pods]
    never = {entry.subject: entry.known_gpus for entry in findings if entry.never}
    holding = [pod for workload in workloads for pod in workload.pods if pod.holds]
    measured, usage = sections.measured, sections.measured.total
    cost, rest = usage.cost, measured.not_held
    money = (cost, usage.cost_per_hour, rest.free_per_hour, rest.out_of_use_per_hour)
    return Summary(
        gpus=_sum_of_splits(splits, lambda each: each.capacity),
        gpus_allocatable=_sum_of_splits(splits, lambda each: gpus.allocatable_of(each.node)),
        gpus_usable=_sum_of_splits(splits, lambda each: each.usable),
        gpus_allocated=_rounded(gpus_now(workload, nodes) for workload in workloads),
        gpus_free=_sum_of_splits(splits, lambda each: each.free),
        gpus_out_of_use=_sum_of_splits(splits, lambda each: each.out_of_use),
        gpus_not_priced=rest.gpus_not_priced,
        cost_per_hour_allocated=usage.cost_per_hour,
        cost_per_hour_free=rest.free_per_hour,
        cost_per_hour_out_of_use=rest.out_of_use_per_hour,
        gpus_waiting=_rounded(waiting_gpus(workload, nodes) for workload in workloads),
        gpus_never=_rounded(never.values()),
        gpus_half_started=_rounded(
            entry.known_gpus for entry in findings if entry.code == waiting_workloads.HALF_STARTED
        ),
        accelerators=gpus.numbers(devices.added(pod.devices for pod in holding)),
        workloads=len(workloads),
        workloads_never=len(never),
        findings=document_entries.counts_by_outcome(findings),
        allocated=usage.allocated,
        measured=usage.measured,
        used=usage.used,
        idle=usage.idle,
        capacity=_sum_if_all_known(usage.allocated, rest.free, rest.out_of_use),
        free=rest.free,
        out_of_use=rest.out_of_use,
        activity=usage.activity,
        memory_share=usage.memory_share,
        currency=measured.currency if any(each is not None for each in money) else "",
        cost_allocated=None if cost is None else cost.allocated,
        cost_idle=None if cost is None else cost.idle,
        cost_free=rest.cost_free,
        cost_out_of_use=rest.cost_out_of_use,
        not_priced=usage.not_priced,
        savings_gpu_hours=measured.savings_gpu_hours,
        savings_cost=measured.savings_cost,
        savings_cost_saved=measured.savings_cost_saved,
        savings_cost_freed=measured.savings_cost_freed,
        queue_wait_p95_seconds=measured.queue_wait_p95_seconds,
        exceptions_ending=sum(each.ends_soon for each in exceptions),
        readiness=dict(sorted(Counter(item.standing.value for item in sections.readiness).items())),
    )


def waiting_gpus(workload: Workload, nodes: Mapping[str, Node]) -> float:
    """The GPUs of pods that wait for a node, and those that a suspended workload lacks."""
    if workload.suspended and workload.exists:
        return max(0.0, gpus.number(workload.asks) - gpus_now(workload, nodes))
    return _rounded(gpus.number(pod.devices) for pod in waiting_pods(workload))


def _sum_of_splits(splits: Iterable[NodeSplit] | None, number: Callable[[NodeSplit], float]) -> float | None:
    """The sum of a number over all nodes; None if the nodes are unknown."""
    return None if splits is None else _rounded(map(number, splits))


def _sum_if_all_known(*hours: float | None) -> float | None:
    """The sum of hours; None if one of them was not measured."""
    known = [each for each in hours if each is not None]
    return _rounded(known) if len(known) == len(hours) else None


def _rounded(values: Iterable[float]) -> float:
    return round(sum(values), 6)


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
        server: the version of the API server; empty if unknown.
        now: the time of the audit, in UTC.
    """
    given = Sections() if sections is None else sections
    measured = given.measured
    rules = config.enforcement.exceptions
    workloads = tuple(document_entries.workload_entries(estate, report, measured.workloads))
    standing = _with_others(given.standing, workloads)
    all_found = [*document_entries.finding_entries(report, estate, rules), *standing]
    found = sorted(_listed_once(all_found), key=_finding_order)
    excepted = tuple(_exception_entries(report.exceptions, rules, found, today=now.date()))
    unread = needed_inputs.unread_inputs(estate, report, finds_never=any(each.never for each in found))
    headlines = with_asked(headline_numbers(estate, found, excepted, given), estate)
    everything = Audit(
        version=report.version,
        taken=document_entries.time_text(now),
        cluster=Cluster(
            name=cluster,
            id=estate.cluster_id,
            server=server,
            nodes=None if estate.nodes is None else len(estate.nodes),
            namespace=estate.scope.namespace,
        ),
        configuration=report.configuration.source or "defaults",
        preset=report.configuration.preset,
        check_pages=report.configuration.check_pages or "",
        completeness=_completeness(report, estate),
        summary=needed_inputs.without_unknown(headlines, unread),
        measurement=measured.measurement,
        other_accelerators=tuple(
            needed_inputs.without_unknown(each, unread) for each in accelerator_entries(estate, found)
        ),
        workloads=workloads,
        findings=tuple(found),
        prevented=audit_sections.prevented(
            sorted(all_found, key=_finding_order), workloads, window=given.window, now=now
        ),
        not_evaluated=tuple(_not_evaluated(report)),
        not_judged=tuple(_not_judged(report)),
        exceptions=excepted,
        usage=measured.groups,
        prices=measured.prices,
        targets=measured.targets,
        savings=tuple(_with_cause(measured.savings, found)),
        readiness=given.readiness,
    )
    return everything if estate.scope.is_merged else document_entries.document_of_part(everything, estate.scope)


def _with_others(standing: Iterable[FindingEntry], workloads: Iterable[WorkloadEntry]) -> Iterator[FindingEntry]:
    """Findings about workloads, with the other accelerators that these workloads request."""
    others = {each.subject: each.other_accelerators for each in workloads if each.other_accelerators}
    for each in standing:
        found = others.get(each.subject)
        yield each.model_copy(update={"other_accelerators": found}) if found else each


def _with_cause(savings: Iterable[Saving], found: Iterable[FindingEntry]) -> Iterator[Saving]:
    """Savings, with the finding about the other half for a gang that waits for it."""
    causes = {each.subject: each.fingerprint for each in found if each.code == waiting_workloads.HALF_STARTED}
    for each in savings:
        yield each.model_copy(update={"finding": causes.get(each.subject, "")})


def _listed_once(found: Iterable[FindingEntry]) -> Iterator[FindingEntry]:
    """The findings, without those of rules that find why a workload waits: the finding that it waits has them."""
    entries = list(found)
    by_rule = defaultdict[tuple[Subject, str], list[FindingEntry]](list)
    for each in entries:
        by_rule[each.subject, each.code].append(each)
    causes = {(each.subject, code) for each in entries for code in each.found_by}
    for each in entries:
        rules = [cause for code in each.found_by for cause in by_rule[each.subject, code]]
        if rules:
            yield _with_rules(each, rules)
        elif (each.subject, each.code) not in causes:
            yield each


def _with_rules(entry: FindingEntry, rules: Sequence[FindingEntry]) -> FindingEntry:
    worst = min(rules, key=lambda each: _OUTCOMES.index(each.outcome))
    return entry.model_copy(
        update={
            "outcome": worst.outcome,
            "because": worst.because,
            "exception": worst.exception,
            "mended_by": worst.mended_by,
            "evidence": (*entry.evidence, *(f"{each.code}, {each.path}: {each.message}" for each in rules)),
        }
    )


_OUTCOMES: Final = tuple(each.value for each in model.Outcome)


def _finding_order(entry: FindingEntry) -> tuple[object, ...]:
    """A sort key: workloads that can never run first, then the worst outcome, most GPUs, and by name."""
    outcome = _OUTCOMES.index(entry.outcome) if entry.outcome in _OUTCOMES else len(_OUTCOMES)
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


def _exception_entries(
    uses: Iterable[findings.ExceptionUse],
    rules: list[ExceptionRule],
    found: Iterable[FindingEntry],
    *,
    today: date,
) -> Iterator[ExceptionEntry]:
    """The exceptions in the order of usher.yaml."""
    not_needed = {each.path for each in found if each.code == policy_coverage.EXCEPTION_NOT_NEEDED}
    for number, (use, rule) in enumerate(zip(uses, rules, strict=True)):
        yield ExceptionEntry(
            ticket=use.ticket,
            owner=use.owner,
            reason=rule.reason,
            checks=use.checks,
            namespaces=use.namespaces,
            expires=use.expires,
            state=NOT_NEEDED if policy_coverage.exception_place(number) in not_needed else use.state.value,
            findings=use.findings,
            days_left=(use.expires - today).days,
        )


def _completeness(report: findings.Report, estate: Estate) -> Completeness:
    gaps = [*(_gap(each) for each in estate.missing), *_gaps_of_report(report)]
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
                    subject=document_entries.subject_of(result.identity),
                    path=paths.readable(each.unknown.path) if each.unknown.path else "",
                    reason=each.unknown.reason,
                    place=document_entries.place_of(result, 0 if each.place is None else each.place.line),
                )


def _gaps_of_report(report: findings.Report) -> Iterator[Gap]:
    """Inputs that usher could not read, and objects that it could not judge."""
    for problem in report.problems:
        where = f"{problem.source}:{problem.line}:{problem.column}" if problem.line else problem.source
        yield Gap(source=where, reason=problem.reason)
    for failure in report.failures:
        yield Gap(source=f"{failure.source}: {failure.identity}", reason=f"not judged: {failure.reason}")


def _gap(missing: Missing) -> Gap:
    return Gap(source=missing.source, reason=missing.reason, read=missing.read)
