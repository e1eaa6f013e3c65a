"""Judges one file: decides about each of its objects, taking other files into account.

Rules do not read which node the scheduler chose. Of the status they only read whether it exists. A test compares the
verdicts about both forms.
"""

import hashlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, memo, model, paths
from usher.accelerators import names
from usher.check import batches, devices, findings, sources
from usher.check.batches import Batch, Item, Pointer
from usher.check.changes import Changes
from usher.check.findings import Part
from usher.check.site_policies import SitePolicies
from usher.check.surroundings import ASSUMED, PROVED, Scalers, Surroundings, is_fact, misspelt_name, named
from usher.cluster.facts.store import Store
from usher.kinds import kubeflow_pipelines
from usher.kinds.reading import values as reading_values
from usher.policy import excused_findings
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge

WITHOUT_FIELDS: Final = "without fields: "
"""The start of the counts of objects whose kinds have no known fields, by kind and apiVersion."""

NODE: Final = ("", "Node")
FACTS_OF_FILES: Final = "facts of files: "
"""The start of the counts of queues and quotas that count as facts, by kind."""

_WITHOUT_ACCELERATOR: Final = "serving/model_server_without_accelerator"
_RESOURCES: Final = "resources"
_WHOLE: Final = frozenset({"containers", "initContainers"})
_ANNOTATIONS: Final = (
    names.GPU_FRACTION,
    names.GPU_MEMORY,
    names.GKE_DEVICES,
    names.CDI_DEVICES,
    names.NVIDIA_CDI_DEVICES,
)
"""Prefixes of annotations that request accelerators."""
_BESIDE: Final = frozenset(
    {
        *("metadata", "labels", "env", "envFrom", "command", "args", "image", "ports", "probes"),
        *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "securityContext", "volumeMounts", "volumes"),
        *("affinity", "tolerations", "nodeSelector", "topologySpreadConstraints", "priorityClassName", "schedulerName"),
    }
)
"""Fields from which no amount follows."""


def accelerators_are_known(
    workload: model.Workload, unknowns: Iterable[model.Unknown], *, is_accelerator: Callable[[str], bool]
) -> bool:
    """Whether no unreadable part can be a request for an accelerator.

    Args:
        unknowns: its parts that could not be read.
    """
    if not workload.makes_pods:
        return True
    unread = (each.path for each in unknowns if not each.check)
    unclear = any(pod_set.unclear_devices for pod_set in workload.pod_sets)
    return not unclear and not any(_may_ask(path, is_accelerator) for path in unread)


def _may_ask(path: str, is_accelerator: Callable[[str], bool]) -> bool:
    steps = paths.split(path)
    if "annotations" in steps:
        return steps[-1].startswith(_ANNOTATIONS)
    if _RESOURCES in steps:
        # After it come `limits` or `requests`, and the resource.
        named = steps[steps.index(_RESOURCES) + 1 :]
        return len(named) < 2 or is_accelerator(named[1])
    within = next((place for place, step in enumerate(steps) if step in _WHOLE), None)
    if within is not None and len(steps) > within + 2:
        return False  # another field of a container
    return _BESIDE.isdisjoint(steps)


_CHOSEN: Final = "chosen-by-the-scheduler"
"""Replaces the node of a pod that has conditions: rules only read whether it has one."""

_PLACED: Final[paths.Object] = {"conditions": [{"type": "PodScheduled"}]}


def pod_as_judged(pod: paths.Object) -> paths.Object:
    """A new object with the same verdict from every rule. Similar pods become equal, except for names and numbers."""
    spec, status = pod.get("spec"), pod.get("status")
    result = {key: value for key, value in pod.items() if key != "status"}
    if not isinstance(status, dict) or not isinstance(spec, dict):
        return pod
    if status.get("conditions"):
        result["status"] = _PLACED
        if isinstance(spec.get("nodeName"), str) and spec["nodeName"]:
            result["spec"] = {**spec, "nodeName": _CHOSEN}
    return result


def mutation_change(
    item: Item, merged: merge.Merged, workload: model.Workload, evaluator: Evaluator, *, diff: bool
) -> findings.Change | None:
    """The changes of the mutations; None without `diff` if there is nothing to report."""
    notable = merged.applied or merged.warnings or merged.conflicts or any(each.warned for each in merged.skipped)
    if not diff and not notable:
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
        # Otherwise a report of many files would hold all of their objects.
        merged=merged if diff else replace(merged, value={}),
        names=names,
        silent=frozenset(filter(evaluator.catalogue.is_silent, keys)),
        mends=_mended(merged, evaluator),
        places=places,
    )


def _mended(merged: merge.Merged, evaluator: Evaluator) -> dict[str, str]:
    """The checks that find nothing after the mutations, by the METADATA of mutations that skipped no place."""
    left = {skipped.intent.mutation for skipped in merged.skipped}
    left |= {intent.mutation for conflict in merged.conflicts for intent in conflict}
    applied = dict.fromkeys(intent.mutation for intent in merged.applied if intent.mutation not in left)
    catalogue = evaluator.catalogue
    return {
        check: catalogue.mutation_name(key)
        for key in applied
        if key in catalogue.mutations
        for check in catalogue.mutations[key].promises
    }


def placed_findings(
    decision: model.Decision, workload: model.Workload, pointer: Pointer, *, before: paths.Object, judged: paths.Object
) -> tuple[findings.Finding, ...]:
    """The findings with their places.

    Args:
        pointer: finds places in the text.
        before: the object as its author wrote it.
        judged: the judged object, which mutations may have changed.
    """
    return tuple(
        findings.Finding(
            judgement=each,
            place=pointer.place(each.finding.path),
            pod_set=_pod_set(workload, each.finding.path),
            added=_is_added(each.finding.path, before, judged),
            value_digest=_value_digest(judged, each.finding.path),
        )
        for each in decision.judgements
    )


def _value_digest(judged: paths.Object, path: str) -> str:
    """The digest of the value at a place; empty for an object or a list, and without a value."""
    value = excused_findings.single_value(judged, path)
    if value is None:
        return ""
    return hashlib.sha256(repr(value).encode(errors="backslashreplace")).hexdigest()[:16]


def _is_added(path: str, before: paths.Object, judged: paths.Object) -> bool:
    """Whether a place exists only because of the mutations."""
    return judged is not before and paths.exists(judged, path) and not paths.exists(before, path)


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


class Settings(Struct, frozen=True, kw_only=True):
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
    facts_of_files: bool = True
    """Whether queues and quotas in the files of the run count where no facts are given."""
    diff: bool = False
    """Whether to show these changes in full. If `mutated` is false, the objects are judged without them."""
    drift: bool = False
    """Whether to judge objects of a cluster unchanged, because admission has changed them already. For those with
    accelerators it also finds the changes that admission would make today.
    """
    changes: Changes | None = None
    """Only judge objects that these changes affect."""


class _Applied(Struct, frozen=True, kw_only=True):
    """The objects that are applied together with an object, and the facts of the cluster afterwards."""

    objects: reading_values.Lookup
    around: reading_values.Lookup
    facts: Store
    scalers: Scalers
    policies: SitePolicies | None
    beside: Store
    """The queues and quotas in the files of the run; empty where facts are given."""
    company: str
    """As in `Request`."""


class Share(Struct, frozen=True):
    """A part of the objects of each file, for one of several processes."""

    position: int
    """Counts from 0."""
    number: int
    """The number of shares."""

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """Its objects, which are neighbours."""
        start, end = (len(items) * each // self.number for each in (self.position, self.position + 1))
        return items[start:end]


ALL: Final = Share(0, 1)


def _nothing() -> None:
    """Does nothing before each object."""


def judge(  # noqa: PLR0913 - the file, its judges, and how to end
    batch: Batch,
    surroundings: Surroundings,
    *,
    evaluator: Evaluator,
    settings: Settings,
    policies: SitePolicies | None = None,
    before_each: Callable[[], None] = _nothing,
    share: Share = ALL,
) -> Part:
    """The decisions about the objects of a file. An object that usher fails to judge becomes a failure.

    Args:
        surroundings: the effects of the other files.
        policies: policies of Gatekeeper.
        before_each: called before each object; an error that it raises ends the judging.
        share: the objects to judge. The problems and numbers of the file belong to the first share.
    """
    part = Part() if share.position else _part_before_judging(batch, evaluator=evaluator, settings=settings)
    # The objects of one file are applied together, so they may refer to each other.
    values = [item.value for item in batch.items]
    uses_files = _may_use_files(settings)
    facts = surroundings.with_files(evaluator.facts) if uses_files else evaluator.facts
    applied = _Applied(
        objects=reading_values.Objects(
            values, namespace=settings.namespace, others=surroundings.named_objects() if uses_files else None
        ),
        around=surroundings.around(batch),
        facts=facts.with_applied(values, namespace=settings.namespace),
        scalers=surroundings.scalers,
        policies=policies,
        beside=surroundings.facts_beside(batch, facts) if uses_files else Store(),
        company=surroundings.company(batch),
    )
    for item in share.of(batch.items):
        before_each()
        if settings.changes is not None and not settings.changes.concerns(item.value, batch.source):
            part.counts["unchanged"] += 1
            continue
        if settings.command is findings.Command.CHECK and not evaluator.has_fields(item.value, applied.objects):
            api_version, kind = (paths.text(item.value.get(each)) for each in ("apiVersion", "kind"))
            part.counts[f"{WITHOUT_FIELDS}{kind} ({api_version})"] += 1
        judged = _judged(item, batch.source, applied, evaluator=evaluator, settings=settings)
        if isinstance(judged, findings.Failure):
            part.failures.append(judged)
        elif judged is not None:
            part.results.append(judged)
            part.notes.extend(_suppression_notes(item, judged, evaluator, settings))
    return part


def _may_use_files(settings: Settings) -> bool:
    """Whether the objects of all files count for those of each: queues and quotas where the facts do not know their
    kinds, and pools of nodes, runtimes and claims in any case.
    """
    return settings.facts_of_files and settings.command is findings.Command.CHECK


def _suppression_notes(
    item: Item, judged: findings.Result, evaluator: Evaluator, settings: Settings
) -> Iterable[findings.Note]:
    """Notes on the findings that the annotation of an object suppresses, and on its lines without effect."""
    lines = excused_findings.notes(
        item.value,
        tuple(each.judgement for each in judged.findings),
        evaluator.catalogue.checks,
        where=excused_findings.Circumstances(
            namespace=judged.identity.namespace, place=settings.command.value, today=evaluator.today()
        ),
        enforcement=evaluator.config.enforcement,
    )
    source = f"{judged.source}:{judged.line}" if judged.line else judged.source
    return [
        findings.Note(source=source, reason=f"{judged.identity}: {excused_findings.ANNOTATION}: {each}")
        for each in lines
    ]


def _part_before_judging(batch: Batch, *, evaluator: Evaluator, settings: Settings) -> Part:
    """The problems, notes and numbers of a file before its objects are judged.

    It leaves out problems and notes of a file that did not change since a commit.
    """
    as_before = settings.changes is not None and batch.source not in settings.changes.sources
    part = Part() if as_before else Part(problems=[*batch.problems], notes=[*batch.notes])
    part.counts.update(
        unread=len(batch.problems) if as_before else 0,
        files=int(batch.is_file and batch.part <= 1 and bool(batch.items)),
        objects=len(batch.items) + batch.owned + batch.finished,
        finished=batch.finished,
        ignored=batch.ignored,
        owned=batch.owned,
    )
    if _may_use_files(settings):
        names = (named(item.value, settings.namespace) for item in batch.items)
        counted = (each for each in names if is_fact(each) or (each.group, each.kind) == NODE)
        kinds = Counter(each.kind for each in counted if not evaluator.facts.knows(each.group, each.kind))
        part.counts.update({f"{FACTS_OF_FILES}{kind}": number for kind, number in kinds.items()})
    rules = evaluator.config.enforcement.exceptions
    part.excepted.update(findings.matching(rules, batch.aside, namespace=settings.namespace))
    return part


def _judged(
    item: Item, source: str, applied: _Applied, *, evaluator: Evaluator, settings: Settings
) -> findings.Result | findings.Failure | None:
    """The decision about an object; None if it makes no pods or is in another namespace."""
    as_it_is = settings.drift and batches.comes_from_cluster(item.value)
    if (item.existing or as_it_is) and item.value.get("kind") == "Pod":
        # Pods do not refer to other Pods. So the objects of their page have no effect, and the verdict can be
        # remembered.
        request = Request(
            value=pod_as_judged(item.value),
            namespace=settings.namespace,
            place=settings.command.value,
            owner_is_hidden=item.owner_is_hidden,
        )
    else:
        # An existing object was not applied with other files, and has the number of pods that its autoscaler chose.
        request = Request(
            value=item.value,
            namespace=settings.namespace,
            objects=applied.objects,
            around=reading_values.NO_OBJECTS if as_it_is else applied.around,
            growths=() if as_it_is else applied.scalers.of(item.value, source),
            company="" if as_it_is else applied.company,
            facts=applied.facts,
            place=settings.command.value,
            owner_is_hidden=item.owner_is_hidden,
        )
    line = item.document.line if item.document is not None else 0
    return answered(
        request,
        item,
        source,
        line=line,
        evaluator=evaluator,
        settings=settings,
        policies=applied.policies,
        beside=applied.beside,
    )


def answered(  # noqa: PLR0913 - a request, and its place
    request: Request,
    item: Item,
    source: str,
    *,
    line: int,
    evaluator: Evaluator,
    settings: Settings,
    policies: SitePolicies | None = None,
    beside: Store | None = None,
) -> findings.Result | findings.Failure | None:
    """The decision about the object of a request; None if it makes no pods or is in another namespace.

    Args:
        item: its object and the place of its text.
        source: the file that it comes from.
        line: the line of the file; 0 without one.
        policies: policies of Gatekeeper.
        beside: queues and quotas in the files of the run.
    """
    try:
        decision, merged = _decided(request, evaluator, settings)
        if beside is not None and not beside.empty:
            admitted = merged.value if merged is not None and _is_admitted(request, settings) else item.value
            decision = _with_proved(decision, replace(request, value=admitted, facts=beside), evaluator)
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
    pointer = Pointer(
        replace(item, document=None) if settings.drift and batches.comes_from_cluster(item.value) else item
    )
    found = placed_findings(decision, workload, pointer, before=item.value, judged=judged)
    others = tuple(each for each in found if each.judgement.finding.check != _WITHOUT_ACCELERATOR)
    if len(others) < len(found) and _overlay_asks_accelerators(source):
        found = others
    own = _result(
        decision,
        workload,
        pointer,
        source=source,
        line=line,
        found=tuple(_of_a_base(each) if _lacks_a_field(each) and sources.is_base(source) else each for each in found),
        change=None if merged is None else mutation_change(item, merged, workload, evaluator, diff=settings.diff),
        evaluator=evaluator,
        divided=evaluator.divided_gpus(workload, request),
    )
    return of_policies.combined(own) if of_policies else own


def _lacks_a_field(found: findings.Finding) -> bool:
    found_at = found.judgement.finding
    return found_at.path.startswith("/metadata/name") or "which the API server requires" in found_at.message


def _of_a_base(found: findings.Finding) -> findings.Finding:
    """The finding as a warning: `commonLabels` of a kustomization adds selectors, and `namespace` replaces names."""
    because = "usher assumes that no kustomization adds or replaces it"
    outcome = max(found.judgement.outcome, model.Outcome.WARN, key=_order)
    return replace(found, judgement=replace(found.judgement, because=because, outcome=outcome))


_ASKS: Final = memo.pattern(
    r"(nvidia\.com|amd\.com|habana\.ai|google\.com|aws\.amazon\.com)(/|~1)(gpu|mig|gaudi|tpu|neuron)"
)
_MOST_FILES: Final = 2000


def _overlay_asks_accelerators(source: str) -> bool:
    """Whether a kustomization of the folder of a file, or one on top of it, has a patch that asks for accelerators."""
    if not sources.is_base(source):
        return False
    folder = Path(os.path.realpath(source)).parent
    for file in itertools.islice(folder.parent.rglob("*"), _MOST_FILES):
        if file.name not in sources.KUSTOMIZATIONS or not file.is_file() or file.is_symlink():
            continue
        content = file.read_text(errors="replace")
        bases = re.findall(r"[\w./-]*\.\.[\w./-]*", content)
        if file.parent == folder or any(os.path.realpath(file.parent / each) == str(folder) for each in bases):
            patches = (Path(each) for each in sources.patches_of(str(file.parent)))
            texts = (content, *(each.read_text(errors="replace") for each in patches if each.is_file()))
            if any(map(_ASKS.search, texts)):
                return True
    return False


_order: Final = list(model.Outcome).index


def _with_proved(decision: model.Decision, request: Request, evaluator: Evaluator) -> model.Decision:
    """The decision with the findings that queues and quotas in the files prove: an amount that is too small there."""
    workload = decision.workload
    if workload is None or decision.exemption or not (workload.asks_accelerators or "kaiQueue" in workload.view):
        return decision
    found = evaluator.decide(request).judgements
    proved = [each for each in found if each.finding.check in PROVED and each not in decision.judgements]
    for each in found:
        if (assumption := ASSUMED.get(each.finding.check)) is not None and each not in decision.judgements:
            outcome = max(each.outcome, model.Outcome.WARN, key=_order)
            proved.append(replace(each, finding=replace(each.finding, assumption=assumption), outcome=outcome))
    if request.facts is not None:
        proved += (
            replace(each, finding=misspelt, outcome=max(each.outcome, model.Outcome.WARN, key=_order))
            for each in found
            if (misspelt := misspelt_name(each.finding, request)) is not None
        )
    if not proved:
        return decision
    together = sorted((*decision.judgements, *proved), key=lambda each: _order(each.outcome))
    return replace(decision, judgements=tuple(together))


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
    divided: str,
) -> findings.Result:
    return findings.Result(
        source=source,
        line=line,
        identity=_identity(workload),
        role=workload.role,
        pods=workload.pods,
        accelerators=devices.of_workload(workload, divided),
        accelerators_known=accelerators_are_known(
            workload, decision.unknowns, is_accelerator=evaluator.vocabulary.contains
        ),
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
    decision = evaluator.decide(request)
    if not settings.diff and not (settings.drift and _may_drift(decision.workload)):
        return decision, None
    try:
        return decision, evaluator.mutate(request)
    except errors.ExhaustedError as error:
        return evaluator.exhausted(request, error), None


def _is_admitted(request: Request, settings: Settings) -> bool:
    """Whether to judge the object with the changes of the mutating webhook. An audit judges existing
    objects unchanged.
    """
    return settings.mutated and not (settings.drift and batches.comes_from_cluster(request.value))


def _may_drift(workload: model.Workload | None) -> bool:
    """Whether admission may make other changes today than when the object was created."""
    return workload is not None and workload.exists and workload.asks_accelerators


def _identity(workload: model.Workload) -> findings.Identity:
    return findings.Identity(
        api_version=workload.api_version, kind=workload.kind, namespace=workload.namespace, name=workload.name
    )


def identity_as_written(value: paths.Object) -> findings.Identity:
    """The identity of an object that was not normalised, without fields that are not texts."""
    group, version, kind = kubeflow_pipelines.group_version_kind(value)
    metadata = paths.metadata(value)
    return findings.Identity(
        api_version=f"{group}/{version}" if group else version,
        kind=kind,
        namespace=paths.text(metadata.get("namespace")),
        name=paths.text(metadata.get("name")) or kubeflow_pipelines.name(value),
    )
