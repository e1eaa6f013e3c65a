"""The changes that mutations made in an object, as reports show them."""

from dataclasses import replace

from usher import model
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge
from usher.scan import findings
from usher.scan.batches import Item


def of(
    item: Item, merged: merge.Merged, workload: model.Workload, evaluator: Evaluator, *, diff: bool
) -> findings.Change | None:
    """The changes of the mutations; None without `diff` if there is nothing to report."""
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
