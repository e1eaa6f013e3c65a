"""Judges many objects by one evaluator. It reads and writes no files, and goes on after a failure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from usher import __version__, errors, model, paths
from usher.facts.store import Store
from usher.gatekeeper.evaluation import Policies
from usher.kinds.kubeflow_pipelines import compiled as kubeflow_pipelines_compiled
from usher.mutation import merge
from usher.policy.evaluator import Evaluator, Request
from usher.reading import lookup
from usher.scan import devices, findings, neighbours, site_policies, totals
from usher.scan.batches import Batch, Item
from usher.scan.positions import Pointer
from usher.scan.scalers import Scalers


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run."""

    command: findings.Command
    configuration: str = ""
    """The file of the evaluator's configuration, for the report."""
    origin: str = ""
    namespace: str = "default"
    """The namespace of objects without one."""
    only_namespace: str = ""
    """Workloads of other namespaces are left out; empty for all namespaces."""
    mutated: bool = False
    """Whether the mutating webhook's changes are made first, as in a cluster, and reported."""
    diff: bool = False
    """Whether to show these changes in full; with `mutated` false the objects are judged without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """The objects that are applied with an object, and the facts of the cluster once they are applied."""

    objects: lookup.Lookup
    around: lookup.Lookup
    facts: Store
    scalers: Scalers
    policies: site_policies.SitePolicies | None


def run(
    batches: Iterable[Batch], *, evaluator: Evaluator, settings: Settings, policies: Policies | None = None
) -> findings.Report:
    """Judges every object of the batches, which are taken one at a time.

    Args:
        batches: the objects.
        evaluator: usher's own checks.
        settings: those of the run.
        policies: policies of Gatekeeper, for `usher check`.

    Raises:
        InputError: the policies compare objects, and the objects are too large for that.
    """
    results: list[findings.Result] = []
    failures: list[findings.Failure] = []
    problems: list[findings.Problem] = []
    notes: list[findings.Note] = []
    counts: Counter[str] = Counter()
    # A cluster is too large to be held at once, and its objects have the numbers that their autoscalers chose.
    together = list(batches) if settings.command is findings.Command.CHECK else []
    scalers = Scalers(together, namespace=settings.namespace)
    around = neighbours.by_directory(together, namespace=settings.namespace)
    site = None
    if policies is not None:
        items = [item for batch in together for item in batch.items]
        site = site_policies.SitePolicies(policies, items, namespace=settings.namespace, facts=evaluator.facts)
    for batch in together or batches:
        problems.extend(batch.problems)
        notes.extend(batch.notes)
        counts["files"] += batch.is_file and bool(batch.items)
        counts["objects"] += len(batch.items) + batch.owned + batch.finished
        counts["finished"] += batch.finished
        counts["ignored"] += batch.ignored
        counts["owned"] += batch.owned
        # The objects of one file are applied together, so they may refer to each other.
        values = [item.value for item in batch.items]
        surroundings = _Surroundings(
            objects=lookup.Objects(values, namespace=settings.namespace),
            around=around.get(neighbours.directory(batch), lookup.NOTHING),
            facts=evaluator.facts.with_applied(values, namespace=settings.namespace),
            scalers=scalers,
            policies=site,
        )
        for item in batch.items:
            judged = _judged(item, batch.source, surroundings, evaluator=evaluator, settings=settings)
            if isinstance(judged, findings.Failure):
                failures.append(judged)
            elif judged is not None:
                results.append(judged)
    return findings.Report(
        command=settings.command,
        version=__version__,
        configuration=findings.Configuration(source=settings.configuration, preset=evaluator.config.enforcement.preset),
        origin=settings.origin,
        admitted=settings.mutated,
        diff=settings.diff,
        results=tuple(results),
        failures=tuple(failures),
        problems=tuple(problems),
        notes=tuple(notes),
        not_evaluated=(*totals.not_evaluated(results, evaluator), *(site.not_evaluated() if site else ())),
        without_facts=totals.checks_without_facts(results, evaluator),
        exceptions=totals.exceptions(results, evaluator),
        totals=totals.totals(results, counts),
    )


def _judged(
    item: Item, source: str, surroundings: _Surroundings, *, evaluator: Evaluator, settings: Settings
) -> findings.Result | findings.Failure | None:
    """The decision about an object; None for one that makes no pods or is in another namespace."""
    line = item.document.line if item.document is not None else 0
    request = Request(
        value=item.value,
        namespace=settings.namespace,
        objects=surroundings.objects,
        around=surroundings.around,
        growths=surroundings.scalers.of(item.value, source),
        facts=surroundings.facts,
        place=settings.command.value,
    )
    merged: merge.Merged | None = None
    try:
        if settings.mutated:
            merged, decision = evaluator.admit(request)
        else:
            if settings.diff:
                merged = evaluator.mutate(request)
            decision = evaluator.decide(request)
    except (errors.EngineError, errors.MutationError) as error:
        return findings.Failure(source=source, line=line, identity=_identity_as_written(item.value), reason=str(error))
    workload = decision.workload
    judged = merged.value if merged is not None and settings.mutated else item.value
    of_policies = surroundings.policies.judged(item, judged) if surroundings.policies else site_policies.NOTHING
    if workload is None:
        return site_policies.result(item, source, _identity_as_written(item.value), of_policies)
    if settings.only_namespace and workload.namespace != settings.only_namespace:
        return None
    pointer = Pointer(item)
    own = findings.Result(
        source=source,
        line=line,
        identity=_identity(workload),
        role=workload.role,
        pods=workload.pods,
        accelerators=devices.of_workload(workload),
        is_template=workload.is_template,
        findings=tuple(
            findings.Finding(
                judgement=judgement,
                place=pointer.place(judgement.finding.path),
                pod_set=_pod_set(workload, judgement.finding.path),
                added=_is_added(judgement.finding.path, item.value, judged),
            )
            for judgement in decision.judgements
        ),
        not_judged=tuple(
            findings.NotJudged(unknown=unknown, place=None if unknown.check else pointer.place(unknown.path))
            for unknown in decision.unknowns
        ),
        exemption=decision.exemption,
        makes_pods=workload.makes_pods,
        change=None if merged is None else _change(item, merged, workload, evaluator, diff=settings.diff),
    )
    return site_policies.combined(own, of_policies)


def _is_added(path: str, before: paths.Object, judged: paths.Object) -> bool:
    """Whether a place exists only because of the mutations."""
    return judged is not before and _exists(judged, path) and not _exists(before, path)


def _exists(value: paths.Object, path: str) -> bool:
    try:
        paths.resolve(value, path)
    except (LookupError, ValueError):
        return False
    return True


def _change(
    item: Item, merged: merge.Merged, workload: model.Workload, evaluator: Evaluator, *, diff: bool
) -> findings.Change | None:
    """What the mutations changed; None without `diff` if they have nothing to say."""
    told = merged.applied or merged.warnings or merged.conflicts or any(each.told for each in merged.skipped)
    if not diff and not told:
        return None
    intents = [*merged.applied, *(skipped.intent for skipped in merged.skipped)]
    intents += [intent for conflict in merged.conflicts for intent in conflict]
    keys = {*(intent.mutation for intent in intents), *(note.mutation for note in merged.warnings)}
    names = {key: evaluator.catalogue.mutation_name(key) for key in keys}
    places = {}
    for pod_set in workload.pod_sets:
        places[pod_set.path] = pod_set.name or "the pod"
        for container in pod_set.containers:
            of_pod_set = f" of {pod_set.name}" if pod_set.name else ""
            places[container.path] = f"{container.type} {container.name}{of_pod_set}"
    return findings.Change(
        before=item.value,
        merged=merged,
        names=names,
        silent=frozenset(filter(evaluator.catalogue.is_silent, keys)),
        places=places,
    )


def _identity(workload: model.Workload) -> findings.Identity:
    return findings.Identity(
        api_version=workload.api_version,
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
    )


def _identity_as_written(value: paths.Object) -> findings.Identity:
    """The identity of an object that was not normalised; fields that are not texts are left out."""
    group, version, kind = kubeflow_pipelines_compiled.group_version_kind(value)
    metadata = paths.metadata(value)
    return findings.Identity(
        api_version=f"{group}/{version}" if group else version,
        kind=kind,
        namespace=paths.text(metadata.get("namespace")),
        name=paths.text(metadata.get("name")) or kubeflow_pipelines_compiled.name(value),
    )


def _pod_set(workload: model.Workload, path: str) -> findings.PodSet | None:
    """The innermost pod set that holds a place."""
    around = [
        pod_set
        for pod_set in workload.pod_sets
        if path == pod_set.path or path.startswith((f"{pod_set.path}/", f"{pod_set.spec_path}/"))
    ]
    if not around:
        return None
    found = max(around, key=lambda pod_set: len(pod_set.path))
    return findings.PodSet(name=found.name, pods=found.count)
