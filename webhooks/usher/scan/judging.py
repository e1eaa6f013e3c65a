"""Judges one file: decides about each of its objects, taking other files into account."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from usher import errors, model, paths
from usher.cluster.facts.store import Store
from usher.dataclass import dataclass
from usher.kinds.kubeflow_pipelines import compiled as kubeflow_pipelines_compiled
from usher.kinds.reading import values as reading_values
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge
from usher.scan import (
    asked,
    devices,
    exception_coverage,
    existing_pods,
    findings,
    mutation_changes,
    objects,
    placed_findings,
)
from usher.scan.batches import Batch, Item
from usher.scan.changes import Changes
from usher.scan.part import Part
from usher.scan.positions import Pointer
from usher.scan.scalers import Scalers
from usher.scan.surroundings import Surroundings

if TYPE_CHECKING:
    from usher.scan.site_policies import SitePolicies


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run."""

    command: findings.Command
    configuration: str = ""
    """The file of the evaluator's configuration, for the report."""
    origin: str = ""
    """The cluster; empty for files."""
    namespace: str = "default"
    """The namespace of objects without one."""
    only_namespace: str = ""
    """Only judge workloads of this namespace; empty for all namespaces."""
    mutated: bool = False
    """Whether to make and report the changes of the mutating webhook first, as in a cluster."""
    diff: bool = False
    """Whether to show these changes in full. If `mutated` is false, the objects are judged without them."""
    drift: bool = False
    """Whether to judge objects of a cluster unchanged, because admission has changed them already. For those with
    accelerators it also finds the changes that admission would make today.
    """
    changes: Changes | None = None
    """Only judge objects that these changes affect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Applied:
    """The objects that are applied together with an object, and the facts of the cluster afterwards."""

    objects: reading_values.Lookup
    around: reading_values.Lookup
    facts: Store
    scalers: Scalers
    policies: "SitePolicies | None"


def _nothing() -> None:
    """Does nothing before each object."""


def judge(  # noqa: PLR0913 - the file, its judges, and how to end
    batch: Batch,
    surroundings: Surroundings,
    *,
    evaluator: Evaluator,
    settings: Settings,
    policies: "SitePolicies | None" = None,
    before_each: Callable[[], None] = _nothing,
) -> Part:
    """The decisions about the objects of a file. An object that usher fails to judge becomes a failure.

    Args:
        batch: the file.
        surroundings: the effects of the other files.
        evaluator: decides.
        settings: the settings of the run.
        policies: policies of Gatekeeper.
        before_each: called before each object; an error that it raises ends the judging.
    """
    part = _counted(batch, evaluator=evaluator, settings=settings)
    # The objects of one file are applied together, so they may refer to each other.
    values = [item.value for item in batch.items]
    applied = _Applied(
        objects=reading_values.Objects(values, namespace=settings.namespace),
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


def _counted(batch: Batch, *, evaluator: Evaluator, settings: Settings) -> Part:
    """The problems, notes and numbers of a file before its objects are judged.

    It leaves out problems and notes of a file that did not change since a commit.
    """
    as_before = settings.changes is not None and batch.source not in settings.changes.sources
    part = Part() if as_before else Part(problems=[*batch.problems], notes=[*batch.notes])
    part.counts.update(
        unread=len(batch.problems) if as_before else 0,
        files=batch.is_file and batch.part <= 1 and bool(batch.items),
        objects=len(batch.items) + batch.owned + batch.finished,
        finished=batch.finished,
        ignored=batch.ignored,
        owned=batch.owned,
    )
    rules = evaluator.config.enforcement.exceptions
    part.excepted.update(exception_coverage.matching(rules, batch.aside, namespace=settings.namespace))
    return part


def _judged(
    item: Item, source: str, applied: _Applied, *, evaluator: Evaluator, settings: Settings
) -> findings.Result | findings.Failure | None:
    """The decision about an object; None if it makes no pods or is in another namespace."""
    as_it_is = settings.drift and objects.exists(item.value)
    if (item.existing or as_it_is) and item.value.get("kind") == "Pod":
        # Pods do not refer to other Pods. So the objects of their page have no effect, and the verdict can be
        # remembered.
        request = Request(
            value=existing_pods.as_judged(item.value), namespace=settings.namespace, place=settings.command.value
        )
    else:
        # An existing object was not applied with other files, and has the number of pods that its autoscaler chose.
        request = Request(
            value=item.value,
            namespace=settings.namespace,
            objects=applied.objects,
            around=reading_values.NO_OBJECTS if as_it_is else applied.around,
            growths=() if as_it_is else applied.scalers.of(item.value, source),
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
    policies: "SitePolicies | None" = None,
) -> findings.Result | findings.Failure | None:
    """The decision about the object of a request; None if it makes no pods or is in another namespace.

    Args:
        request: the request.
        item: its object and the place of its text.
        source: the file that it comes from.
        line: the line of the file; 0 without one.
        evaluator: decides.
        settings: the settings of the run.
        policies: policies of Gatekeeper.
    """
    try:
        decision, merged = _decided(request, evaluator, settings)
    except (errors.EngineError, errors.MutationError) as error:
        return findings.Failure(source=source, line=line, identity=identity_as_written(item.value), reason=str(error))
    judged = merged.value if merged is not None and _is_admitted(request, settings) else item.value
    of_policies = policies.judged(item, judged) if policies else None
    workload = decision.workload
    if workload is None:
        return of_policies.result(item, source, identity_as_written(item.value)) if of_policies else None
    if settings.only_namespace and workload.namespace != settings.only_namespace:
        return None
    # The text of an existing object is a copy, so there is nothing to mend in it.
    pointer = Pointer(replace(item, document=None) if settings.drift and objects.exists(item.value) else item)
    own = _result(
        decision,
        workload,
        pointer,
        source=source,
        line=line,
        found=placed_findings.of(decision, workload, pointer, before=item.value, judged=judged),
        change=None if merged is None else mutation_changes.of(item, merged, workload, evaluator, diff=settings.diff),
        evaluator=evaluator,
    )
    return of_policies.combined(own) if of_policies else own


def _result(  # noqa: PLR0913 - a decision, and its place
    decision: model.Decision,
    workload: model.Workload,
    pointer: Pointer,
    *,
    source: str,
    line: int,
    found: tuple[findings.Finding, ...],
    change: findings.Change | None,
    evaluator: Evaluator,
) -> findings.Result:
    return findings.Result(
        source=source,
        line=line,
        identity=_identity(workload),
        role=workload.role,
        pods=workload.pods,
        accelerators=devices.of_workload(workload),
        accelerators_known=asked.is_known(workload, decision.unknowns, is_accelerator=evaluator.vocabulary.contains),
        is_template=workload.is_template,
        findings=found,
        not_judged=tuple(
            findings.NotJudged(unknown=unknown, place=None if unknown.check else pointer.place(unknown.path))
            for unknown in decision.unknowns
        ),
        exemption=decision.exemption,
        makes_pods=workload.makes_pods,
        change=change,
        owner=workload.owner,
        exists=workload.exists,
    )


def _decided(request: Request, evaluator: Evaluator, settings: Settings) -> tuple[model.Decision, merge.Merged | None]:
    """The decision about an object, and the changes of the mutating webhook if the settings request them."""
    if _is_admitted(request, settings):
        merged, decision = evaluator.admit(request)
        return decision, merged
    shown = evaluator.mutate(request) if settings.diff else None
    decision = evaluator.decide(request)
    if settings.drift and _may_drift(decision.workload):
        return decision, evaluator.mutate(request)
    return decision, shown


def _is_admitted(request: Request, settings: Settings) -> bool:
    """Whether to judge the object with the changes of the mutating webhook. An audit judges existing
    objects unchanged.
    """
    return settings.mutated and not (settings.drift and objects.exists(request.value))


def _may_drift(workload: model.Workload | None) -> bool:
    """Whether admission may make other changes today than when the object was created."""
    return workload is not None and workload.exists and workload.asks_accelerators


def _identity(workload: model.Workload) -> findings.Identity:
    return findings.Identity(
        api_version=workload.api_version, kind=workload.kind, namespace=workload.namespace, name=workload.name
    )


def identity_as_written(value: paths.Object) -> findings.Identity:
    """The identity of an object that was not normalised, without fields that are not texts."""
    group, version, kind = kubeflow_pipelines_compiled.group_version_kind(value)
    metadata = paths.metadata(value)
    return findings.Identity(
        api_version=f"{group}/{version}" if group else version,
        kind=kind,
        namespace=paths.text(metadata.get("namespace")),
        name=paths.text(metadata.get("name")) or kubeflow_pipelines_compiled.name(value),
    )
