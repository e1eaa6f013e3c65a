"""Properties of every mutated object. Each is a function that yields the errors of a case."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import jsonpatch
import orjson
import record_mutations
from msgspec.structs import replace

from usher import model, paths
from usher.policy.decision import Operation, Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge, pod_fields
from usher.policy.mutation.editing import copied
from usher.workloads.normalise import normalise

_OWN: Final = paths.join("/metadata/annotations", merge.ANNOTATION)
_NETWORKS: Final = paths.join("", pod_fields.NETWORKS)
_BESIDE_ITS_CLASS: Final = ("/spec/priority", "/spec/preemptionPolicy")
"""Fields that the API server writes into a Pod for its class; they go when the class changes."""

_OF_WORKLOADS: Final = ("role", "gang_native", "is_template", "pods", "suspended", "totals")
_OF_POD_SETS: Final = ("name", "path", "count", "accelerators", "changeable", "fully_known", "node_name")
_OF_CONTAINERS: Final = ("name", "path", "type", "trains", "asks_accelerators")

_OF_SCHEDULING: Final = ("tolerations", "node_selector", "required_terms", "priority_class_name", "runtime_class_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A workload at a site, with what all mutations together make of it."""

    name: str
    evaluator: Evaluator
    request: Request
    workload: model.Workload
    merged: merge.Merged

    def read(self, value: paths.Object) -> model.Workload | None:
        return _read(self.evaluator, replace(self.request, value=value))


def case(name: str, evaluator: Evaluator, request: Request) -> Case | None:
    """`None` for an object that makes no pods, or only unknown ones."""
    workload = _read(evaluator, request)
    if workload is None or not workload.pod_sets:
        return None
    merged = evaluator.mutate(request)
    return Case(name=name, evaluator=evaluator, request=request, workload=workload, merged=merged)


def _read(evaluator: Evaluator, request: Request) -> model.Workload | None:
    return normalise(
        request.value, vocabulary=evaluator.vocabulary, namespace=request.namespace, objects=request.objects
    )


def changed_by_a_second_go(case: Case) -> Iterator[str]:
    again = case.evaluator.mutate(replace(case.request, value=case.merged.value))
    if again.operations or again.value != case.merged.value:
        yield f"{[operation['path'] for operation in again.operations]}"


def lost_by_an_update(case: Case) -> Iterator[str]:
    """`kubectl apply` of the manifest once more gives the object as it was admitted; but a Pod cannot be changed."""
    if case.workload.is_pod:
        return
    admitted = case.merged.value
    update = replace(case.request, operation=Operation.UPDATE, old_value=admitted)
    again = case.evaluator.mutate(update).value
    if again != admitted:
        have = dict(_leaves(again))
        yield f"{[pointer for pointer, value in _leaves(admitted) if have.get(pointer) != value]}"


def given_otherwise_by_the_patch(case: Case) -> Iterator[str]:
    patch = jsonpatch.JsonPatch.from_string(orjson.dumps(case.merged.operations).decode())
    if patch.apply(copied(case.request.value)) != case.merged.value:
        yield "the patch gives another object"
    if bool(case.merged.operations) is not bool(case.merged.applied):
        yield "operations without an intent, or an intent without operations"
    for operation in case.merged.operations:
        removable = case.workload.is_pod and operation["path"] in _BESIDE_ITS_CLASS
        if operation["op"] != "add" and not removable:
            yield f"{operation['op']} {operation['path']}"


def taken_from_the_user(case: Case) -> Iterator[str]:
    """All values of the user are unchanged, except documented ones; to the API, an empty text is a missing value."""
    for pointer, before in _leaves(case.request.value):
        if before in (None, "") or pointer == _OWN:
            continue
        try:
            now = paths.resolve(case.merged.value, pointer)
        except LookupError:
            now = None
        if now != before and not _is_documented(case, pointer, before, now):
            yield f"{pointer}: {before!r} became {now!r}"


def _is_documented(case: Case, pointer: str, before: paths.Json, now: paths.Json) -> bool:
    if before in ({}, []):
        return type(now) is type(before)
    if pointer.endswith(_NETWORKS):
        return _networks(now)[: len(_networks(before))] == _networks(before)
    if now is None:
        return case.workload.is_pod and pointer in _BESIDE_ITS_CLASS
    values = [intent.value for intent in case.merged.applied if isinstance(intent.value, dict)]
    # The default of Kubernetes, and the value that replaces it.
    return any(
        before == value.get("instead") and now in (value.get("name"), value.get("value"), value.get("seconds"))
        for value in values
    )


def _networks(annotation: paths.Json) -> list[paths.Json]:
    text = str(annotation)
    if text.lstrip().startswith("["):
        listed: list[paths.Json] = orjson.loads(text)
        return listed
    return [each.strip() for each in text.split(",")]


def _leaves(value: paths.Json, pointer: str = "") -> Iterator[tuple[str, paths.Json]]:
    """Everything that holds nothing further, empty objects and lists included, by its path."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from _leaves(child, paths.join(pointer, key))
    elif isinstance(value, list) and value:
        for index, child in enumerate(value):
            yield from _leaves(child, paths.join(pointer, index))
    else:
        yield pointer, value


def read_otherwise(case: Case) -> Iterator[str]:
    """The same pods in the same number ask for the same, can be changed as before, and nothing more is unknown."""
    now = case.read(case.merged.value)
    if now is None:
        yield "it is not a workload any more"
        return
    yield from _differences(case.workload, now, _OF_WORKLOADS, "")
    if len(now.pod_sets) != len(case.workload.pod_sets):
        yield "it has other pod sets"
        return
    for before, after in zip(case.workload.pod_sets, now.pod_sets, strict=True):
        yield from _differences(before, after, _OF_POD_SETS, before.path)
        # The path of an amount may change from the limits to the requests.
        asked = [[replace(request, path="") for request in one.requests] for one in (before, after)]
        if asked[0] != asked[1]:
            yield f"requests of {before.path!r}: {asked[0]} became {asked[1]}"
        # A recipe adds containers of its own.
        others = {each.path: each for each in after.containers}
        for one in before.containers:
            yield from _differences(one, others[one.path], _OF_CONTAINERS, one.path)
    # The templates of claims that usher.yaml lists are in the cluster, not in the file.
    claiming = any(each.field == "claim" for each in case.merged.applied)
    for unknown in set(now.unknowns) - set(case.workload.unknowns):
        if not (claiming and "/resourceClaims/" in str(unknown)):
            yield f"unknown: {unknown}"


def _differences(before: object, after: object, names: tuple[str, ...], path: str) -> Iterator[str]:
    for name in names:
        if getattr(before, name) != getattr(after, name):
            yield f"{name} of {path!r}: {getattr(before, name)} became {getattr(after, name)}"


def given_to_others(case: Case) -> Iterator[str]:
    """Pod sets without a mutation stay unchanged, except for changes of the whole object."""
    if case.workload.is_pod:
        return
    now = case.read(case.merged.value)
    at = [intent.at for intent in case.merged.applied if intent.at]
    of_all = {
        intent.value.get("key") for intent in case.merged.applied if isinstance(intent.value, dict) and not intent.at
    }
    of_all |= {merge.ANNOTATION}
    for before, after in zip(case.workload.pod_sets, now.pod_sets if now is not None else (), strict=False):
        own = (before.path, *(container.path for container in before.containers))
        if any(place in own for place in at):
            continue
        yield from _differences(before, after, _OF_SCHEDULING, before.path)
        for kind in ("labels", "annotations"):
            new = getattr(after, kind).keys() - getattr(before, kind).keys() - of_all
            yield from (f"{kind} of {before.path!r}: {key}" for key in sorted(new))


def found_in_spite_of_a_promise(case: Case) -> Iterator[str]:
    """Findings of a promised check where the mutation was applied: at that container, that pod set or that object."""
    judgements = case.evaluator.decide(replace(case.request, value=case.merged.value)).judgements
    for intent in case.merged.applied:
        promises = case.evaluator.catalogue.mutations[intent.mutation].promises
        places = _places(case.workload, intent.at)
        for finding in (judgement.finding for judgement in judgements):
            if finding.check in promises and any(_is_in(finding.path, place) for place in places):
                yield f"{intent.mutation} at {intent.at!r}: {finding.path}: {finding.message}"


def _places(workload: model.Workload, at: str) -> tuple[str, ...]:
    """Where an intent may have written: kinds may keep the metadata and the spec of a pod set apart."""
    for pod_set in workload.pod_sets:
        if pod_set.path == at:
            return (at, pod_set.metadata_path, pod_set.spec_path, *pod_set.places.values())
    return (at,)


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def passed_over_in_silence(case: Case) -> Iterator[str]:
    """Mutations that neither do anything nor say why."""
    skips = case.evaluator.skips(case.request)
    for entry in case.evaluator.catalogue.mutations.values():
        outcome = record_mutations.outcome(entry, case.workload, case.merged, skips)
        if outcome.verdict is record_mutations.Verdict.SILENT:
            yield entry.key


def in_conflict(case: Case) -> Iterator[str]:
    for intents in case.merged.conflicts:
        yield f"{intents[0].field} at {intents[0].at!r}: {sorted({intent.mutation for intent in intents})}"
