"""One file judged: the decision about each of its objects, with what surrounds it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from usher import errors, model, paths
from usher.facts.store import Store
from usher.kinds.kubeflow_pipelines import compiled as kubeflow_pipelines_compiled
from usher.mutation import merge
from usher.policy.evaluator import Evaluator, Request
from usher.reading import lookup
from usher.scan import devices, findings, site_policies
from usher.scan.batches import Batch, Item
from usher.scan.changes import Changes
from usher.scan.positions import Pointer
from usher.scan.scalers import Scalers
from usher.scan.surroundings import Surroundings


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
    changes: Changes | None = None
    """Objects that these do not concern are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a run found in some of its files, in their order."""

    results: list[findings.Result] = field(default_factory=list)
    failures: list[findings.Failure] = field(default_factory=list)
    problems: list[findings.Problem] = field(default_factory=list)
    notes: list[findings.Note] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Part") -> None:
        """Adds what was found in the files after those of this part."""
        self.results.extend(other.results)
        self.failures.extend(other.failures)
        self.problems.extend(other.problems)
        self.notes.extend(other.notes)
        self.counts.update(other.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Applied:
    """What an object is applied together with, and the facts of the cluster once all of it is there."""

    objects: lookup.Lookup
    around: lookup.Lookup
    facts: Store
    scalers: Scalers
    policies: site_policies.SitePolicies | None


def _nothing() -> None:
    """Nothing is to be done before each object."""


def judge(  # noqa: PLR0913 - the file, what it is judged by, and who may end it
    batch: Batch,
    surroundings: Surroundings,
    *,
    evaluator: Evaluator,
    settings: Settings,
    policies: site_policies.SitePolicies | None = None,
    before_each: Callable[[], None] = _nothing,
) -> Part:
    """The decisions about the objects of a file. An object that cannot be judged becomes a failure.

    Args:
        batch: the file.
        surroundings: what the other files say.
        evaluator: decides.
        settings: those of the run.
        policies: policies of Gatekeeper.
        before_each: called before each object; an error that it raises ends the judging.
    """
    part = Part(problems=[*batch.problems], notes=[*batch.notes])
    part.counts.update(
        files=batch.is_file and bool(batch.items),
        objects=len(batch.items) + batch.owned + batch.finished,
        finished=batch.finished,
        ignored=batch.ignored,
        owned=batch.owned,
    )
    # The objects of one file are applied together, so they may refer to each other.
    values = [item.value for item in batch.items]
    applied = _Applied(
        objects=lookup.Objects(values, namespace=settings.namespace),
        around=surroundings.around(batch),
        facts=evaluator.facts.with_applied(values, namespace=settings.namespace),
        scalers=surroundings.scalers,
        policies=policies,
    )
    for item in batch.items:
        before_each()
        if settings.changes is not None and not settings.changes.concerns(item.value, batch.source):
            part.counts["unchanged"] += 1
            continue
        judged = _judged(item, batch.source, applied, evaluator=evaluator, settings=settings)
        if isinstance(judged, findings.Failure):
            part.failures.append(judged)
        elif judged is not None:
            part.results.append(judged)
    return part


def _judged(
    item: Item, source: str, applied: _Applied, *, evaluator: Evaluator, settings: Settings
) -> findings.Result | findings.Failure | None:
    """The decision about an object; None for one that makes no pods or is in another namespace."""
    request = Request(
        value=item.value,
        namespace=settings.namespace,
        objects=applied.objects,
        around=applied.around,
        growths=applied.scalers.of(item.value, source),
        facts=applied.facts,
        place=settings.command.value,
    )
    line = item.document.line if item.document is not None else 0
    return answered(request, item, source, line=line, evaluator=evaluator, settings=settings, policies=applied.policies)


def answered(  # noqa: PLR0913 - a request, and its place
    request: Request,
    item: Item,
    source: str,
    *,
    line: int,
    evaluator: Evaluator,
    settings: Settings,
    policies: site_policies.SitePolicies | None = None,
) -> findings.Result | findings.Failure | None:
    """The decision about the object of a request; None for one that makes no pods or is in another namespace.

    Args:
        request: the request.
        item: its object and where its text is.
        source: the file that it comes from.
        line: the line of the file; 0 without one.
        evaluator: what decides.
        settings: those of the run.
        policies: policies of Gatekeeper.
    """
    merged: merge.Merged | None = None
    try:
        if settings.mutated:
            merged, decision = evaluator.admit(request)
        else:
            if settings.diff:
                merged = evaluator.mutate(request)
            decision = evaluator.decide(request)
    except (errors.EngineError, errors.MutationError) as error:
        return findings.Failure(source=source, line=line, identity=identity_as_written(item.value), reason=str(error))
    workload = decision.workload
    judged = merged.value if merged is not None and settings.mutated else item.value
    of_policies = policies.judged(item, judged) if policies else site_policies.NOTHING
    if workload is None:
        return site_policies.result(item, source, identity_as_written(item.value), of_policies)
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
        owner=workload.owner,
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
        before=item.value if diff else {},
        # A report of many files would hold them all.
        merged=merged if diff else replace(merged, value={}),
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


def identity_as_written(value: paths.Object) -> findings.Identity:
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
