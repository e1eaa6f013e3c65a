"""Many objects through one evaluator. It reads nothing, writes nothing and goes on after a failure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from usher import __version__, errors, model, paths, quantities
from usher.facts.store import Store
from usher.kinds.kubeflow_pipelines import compiled as kubeflow_pipelines_compiled
from usher.mutation import merge
from usher.policy.checks.catalogue import About
from usher.policy.evaluator import Evaluator, Request
from usher.reading import lookup
from usher.scan import findings as scan_findings
from usher.scan.batches import Batch, Item
from usher.scan.positions import Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to judge; the same for every object of a run."""

    command: scan_findings.Command
    configuration: str = ""
    """The file that the evaluator's configuration came from, for the report."""
    origin: str = ""
    namespace: str = "default"
    """The namespace of objects that name none."""
    only_namespace: str = ""
    """Workloads of other namespaces are left out altogether."""
    changes: bool = False
    """Whether to tell what the mutating webhook would change."""
    admitted: bool = False
    """Whether to judge the objects as that webhook would leave them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """What is known beside an object: what is applied with it, and the cluster as it will then be."""

    objects: lookup.Lookup
    facts: Store


def run(batches: Iterable[Batch], *, evaluator: Evaluator, settings: Settings) -> scan_findings.Report:
    """Judges every object of the batches, which are taken one at a time."""
    results: list[scan_findings.Result] = []
    failures: list[scan_findings.Failure] = []
    problems: list[scan_findings.Problem] = []
    notes: list[scan_findings.Note] = []
    counts: Counter[str] = Counter()
    for batch in batches:
        problems.extend(batch.problems)
        notes.extend(batch.notes)
        counts["files"] += batch.is_file and bool(batch.items)
        counts["objects"] += len(batch.items) + batch.owned + batch.finished
        counts["finished"] += batch.finished
        counts["ignored"] += batch.ignored
        counts["owned"] += batch.owned
        # What one file holds is applied together, so its objects may refer to each other.
        values = [item.value for item in batch.items]
        surroundings = _Surroundings(
            objects=lookup.Objects(values, namespace=settings.namespace),
            facts=evaluator.facts.with_applied(values, namespace=settings.namespace),
        )
        for item in batch.items:
            judged = _judged(item, batch.source, surroundings, evaluator=evaluator, settings=settings)
            if isinstance(judged, scan_findings.Failure):
                failures.append(judged)
            elif judged is not None:
                results.append(judged)
    return scan_findings.Report(
        command=settings.command,
        version=__version__,
        configuration=scan_findings.Configuration(
            source=settings.configuration, preset=evaluator.config.enforcement.preset
        ),
        origin=settings.origin,
        admitted=settings.admitted,
        results=tuple(results),
        failures=tuple(failures),
        problems=tuple(problems),
        notes=tuple(notes),
        not_evaluated=_not_evaluated(results, evaluator),
        without_facts=_without_facts(results, evaluator),
        exceptions=_exceptions(results, evaluator),
        totals=_totals(results, counts),
    )


def _judged(
    item: Item, source: str, surroundings: _Surroundings, *, evaluator: Evaluator, settings: Settings
) -> scan_findings.Result | scan_findings.Failure | None:
    """What was decided about an object; None for one that makes no pods or is in another namespace."""
    line = item.document.line if item.document is not None else 0
    request = Request(
        value=item.value,
        namespace=settings.namespace,
        objects=surroundings.objects,
        facts=surroundings.facts,
        place=settings.command.value,
    )
    try:
        merged = evaluator.mutate(request) if settings.changes or settings.admitted else None
        if merged is not None and settings.admitted:
            request = replace(request, value=merged.value)
        decision = evaluator.decide(request)
    except (errors.EngineError, errors.MutationError) as error:
        return scan_findings.Failure(source=source, line=line, identity=_raw_identity(item.value), reason=str(error))
    workload = decision.workload
    if workload is None or (settings.only_namespace and workload.namespace != settings.only_namespace):
        return None
    pointer = Pointer(item)
    return scan_findings.Result(
        source=source,
        line=line,
        identity=_identity(workload),
        role=workload.role,
        pods=workload.pods,
        accelerators=_devices(workload),
        is_template=workload.is_template,
        findings=tuple(
            scan_findings.Finding(
                judgement=judgement,
                place=pointer.place(judgement.finding.path),
                pod_set=_pod_set(workload, judgement.finding.path),
            )
            for judgement in decision.judgements
        ),
        not_judged=tuple(
            scan_findings.NotJudged(unknown=unknown, place=None if unknown.check else pointer.place(unknown.path))
            for unknown in decision.unknowns
        ),
        exemption=decision.exemption,
        makes_pods=workload.makes_pods,
        change=_change(item, merged, workload, evaluator) if merged is not None and settings.changes else None,
    )


def _change(item: Item, merged: merge.Merged, workload: model.Workload, evaluator: Evaluator) -> scan_findings.Change:
    intents = [*merged.applied, *(skipped.intent for skipped in merged.skipped)]
    intents += [intent for conflict in merged.conflicts for intent in conflict]
    keys = {*(intent.mutation for intent in intents), *(note.mutation for note in merged.warnings)}
    names = {key: evaluator.mutation_name(key) for key in keys}
    places = {}
    for pod_set in workload.pod_sets:
        places[pod_set.path] = pod_set.name or "the pod"
        for container in pod_set.containers:
            of_pod_set = f" of {pod_set.name}" if pod_set.name else ""
            places[container.path] = f"{container.type} {container.name}{of_pod_set}"
    return scan_findings.Change(before=item.value, merged=merged, names=names, places=places)


def _identity(workload: model.Workload) -> scan_findings.Identity:
    return scan_findings.Identity(
        api_version=workload.api_version,
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
    )


def _raw_identity(value: paths.Object) -> scan_findings.Identity:
    """Of an object that was not normalised; whatever is no text is left out."""
    group, version, kind = kubeflow_pipelines_compiled.group_version_kind(value)
    metadata = value.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    namespace, name = (text if isinstance(text, str) else "" for text in (fields.get("namespace"), fields.get("name")))
    return scan_findings.Identity(
        api_version=f"{group}/{version}" if group else version,
        kind=kind,
        namespace=namespace,
        name=name or kubeflow_pipelines_compiled.name(value),
    )


def _pod_set(workload: model.Workload, path: str) -> scan_findings.PodSet | None:
    """The innermost pod set that a place lies in."""
    around = [
        pod_set
        for pod_set in workload.pod_sets
        if path == pod_set.path or path.startswith((f"{pod_set.path}/", f"{pod_set.spec_path}/"))
    ]
    if not around:
        return None
    found = max(around, key=lambda pod_set: len(pod_set.path))
    return scan_findings.PodSet(name=found.name, pods=found.count)


def _devices(workload: model.Workload) -> scan_findings.Devices:
    devices: dict[str, scan_findings.Amount] = {}
    for total in workload.totals:
        # A share of a GPU is no GPU, though its resource may have the same name.
        is_share = total.route is model.Route.SHARE and total.name in scan_findings.WHOLE_GPUS
        name = f"shares of {total.name}" if is_share else total.name
        devices[name] = devices.get(name, scan_findings.Amount()) + scan_findings.Amount(
            number=_number(total.minimum if total.maximum is None else total.maximum), unbounded=total.maximum is None
        )
    return dict(sorted(devices.items()))


def _number(quantity: quantities.Quantity) -> int | Decimal:
    return quantity.value if quantity.is_whole else Decimal(quantity.nanos).scaleb(-9)


def amount(count: model.Count) -> scan_findings.Amount:
    """The most pods that there can be, or the least where nothing bounds them."""
    if count.maximum is None:
        return scan_findings.Amount(number=count.minimum, unbounded=True)
    return scan_findings.Amount(number=count.maximum)


def _totals(results: list[scan_findings.Result], counts: Counter[str]) -> scan_findings.Totals:
    making_pods = [result for result in results if not result.is_template]
    findings = Counter(finding.judgement.outcome for result in results for finding in result.findings)
    return scan_findings.Totals(
        files=counts["files"],
        objects=counts["objects"],
        workloads=sum(result.makes_pods for result in results),
        pods=scan_findings.total(amount(result.pods) for result in making_pods),
        accelerators=_summed(making_pods),
        accelerators_with_errors=_summed(result for result in making_pods if result.worst is model.Outcome.DENY),
        errors=findings[model.Outcome.DENY],
        warnings=findings[model.Outcome.WARN],
        notes=findings[model.Outcome.AUDIT],
        exempt=sum(bool(result.exemption) for result in results),
        owned=counts["owned"],
        finished=counts["finished"],
        ignored=counts["ignored"],
    )


def _summed(results: Iterable[scan_findings.Result]) -> scan_findings.Devices:
    devices: dict[str, scan_findings.Amount] = {}
    for result in results:
        for resource, asked in result.accelerators.items():
            devices[resource] = devices.get(resource, scan_findings.Amount()) + asked
    return dict(sorted(devices.items()))


def _without_facts(results: list[scan_findings.Result], evaluator: Evaluator) -> int:
    """How many checks nobody could ask; none where no workload has accelerators, which they are about."""
    if not evaluator.facts.empty or not _summed(results):
        return 0
    return sum(entry.about is About.CLUSTER_FACTS for entry in evaluator.catalogue.checks.values())


def _exceptions(results: list[scan_findings.Result], evaluator: Evaluator) -> tuple[scan_findings.ExceptionUse, ...]:
    """Every exception of usher.yaml: an expired one covers nothing, and an unused one may go."""
    used = Counter(finding.judgement.exception for result in results for finding in result.findings)
    today = evaluator.today()
    return tuple(
        scan_findings.ExceptionUse(
            checks=tuple(each.checks),
            namespaces=tuple(each.namespaces),
            ticket=each.ticket,
            owner=each.owner,
            expires=each.expires,
            state=_state(each.expires < today, used[number]),
            findings=used[number],
        )
        for number, each in enumerate(evaluator.config.enforcement.exceptions)
    )


def _state(expired: bool, findings: int) -> scan_findings.ExceptionState:  # noqa: FBT001 - named where it is called
    if expired:
        return scan_findings.ExceptionState.EXPIRED
    return scan_findings.ExceptionState.USED if findings else scan_findings.ExceptionState.UNUSED


def _not_evaluated(results: list[scan_findings.Result], evaluator: Evaluator) -> tuple[scan_findings.NotEvaluated, ...]:
    workloads = Counter(
        pair
        for result in results
        for pair in {(entry.unknown.check, entry.unknown.reason) for entry in result.not_judged if entry.unknown.check}
    )
    entries = evaluator.catalogue.checks
    return tuple(
        scan_findings.NotEvaluated(
            check=check,
            code=entries[check].code if check in entries else "",
            name=entries[check].name if check in entries else check,
            reason=reason,
            workloads=number,
        )
        for (check, reason), number in sorted(workloads.items())
    )
