"""Applies the mutations to an object: asks the engine for their intents and merges them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.dataclass import dataclass
from usher.mutation import merge
from usher.policy import decision, queue_fit
from usher.policy.checks.catalogue import Catalogue
from usher.policy.engines.engine import Engine, Entrypoint
from usher.policy.input.document import Documents
from usher.policy.mutation_rules import MutationRules
from usher.policy.request import Identities, Operation, Request

Read = Callable[[paths.Object], model.Workload | None]
"""Normalises an object; None for one that makes no pods."""

DEBUG_CONTAINERS: Final = "ephemeralcontainers"
"""The subresource by which `kubectl debug` adds containers to a running Pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutating:
    """Asks the engine for intents and merges them."""

    engine: Engine
    documents: Documents
    catalogue: Catalogue
    rules: MutationRules
    identities: Identities

    def merged(
        self,
        request: Request,
        workload: model.Workload,
        *,
        read: Read,
        known: Knowledge,
        only: str,
    ) -> merge.Merged:
        """The object with the values that mutations add.

        Args:
            request: the object, and the operation.
            workload: the object, normalised.
            read: normalises the object as it was before an UPDATE, or as the mutations leave it.
            known: the facts of the cluster, where intents look up what they need.
            only: the key of one mutation; empty for all.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported.
        """
        updating = request.operation is Operation.UPDATE
        if request.sub_resource:
            return self._with_debug_containers(request, workload, read)
        if updating and not _may_lose(request, workload):
            return merge.Merged(value=request.value)
        result = self.engine.evaluate(Entrypoint.INTENTS, self._document(request, workload))
        intents = [intent for intent in decision.intents(result) if only in ("", intent.mutation)]
        intents.sort(key=lambda intent: self.catalogue.order_of(intent.mutation))
        if updating and request.old_value is not None:
            intents = _kept(request.old_value, read, intents)
        refusal = self.rules.refusal(workload, updating=updating)
        merge_intents = partial(
            merge.merge,
            request.value,
            workload,
            intents,
            name_of=self.catalogue.mutation_name,
            objects=known.lookup(request.objects),
        )
        merged = merge_intents(refusal=refusal)
        unfit = None if updating else _unfit(merged, read, known)
        if unfit is not None:
            merged = merge_intents(refusal=lambda intent: refusal(intent) or unfit(intent))
        warnings = (
            *(note for note in decision.notes(result, "warnings") if only in ("", note.mutation)),
            *self.rules.warnings(workload, iter(merged.applied)),
        )
        return replace(merged, warnings=warnings) if warnings else merged

    def _with_debug_containers(self, request: Request, workload: model.Workload, read: Read) -> merge.Merged:
        """The Pod with its new debug containers mutated; the API server takes no other change, not even a record."""
        old = None if request.old_value is None else read(request.old_value)
        if request.sub_resource != DEBUG_CONTAINERS or not workload.is_pod or old is None:
            return merge.Merged(value=request.value)
        known = {container.name for container in _debug_containers(old)}
        added = {container.path for container in _debug_containers(workload) if container.name not in known}
        if not added:
            return merge.Merged(value=request.value)
        result = self.engine.evaluate(Entrypoint.INTENTS, self._document(request, workload))
        return merge.merge(
            request.value,
            workload,
            [intent for intent in decision.intents(result) if intent.at in added],
            name_of=self.catalogue.mutation_name,
            refusal=self.rules.refusal(workload, updating=False),
            recording=False,
        )

    def _document(self, request: Request, workload: model.Workload) -> bytes:
        """The input of the rules. Only mutations of Pods read the user, so all other objects share their answers."""
        return self.documents.build(workload, review=self.identities.review(request) if workload.is_pod else None)

    def skips(self, request: Request, workload: model.Workload) -> tuple[model.Note, ...]:
        """Why mutations skip an object or a part of it.

        Raises:
            EngineError: the engine gave no usable answer.
        """
        return decision.notes(self.engine.evaluate(Entrypoint.SKIPS, self._document(request, workload)), "skips")


def _debug_containers(workload: model.Workload) -> Iterator[model.Container]:
    for pod_set in workload.pod_sets:
        yield from (each for each in pod_set.containers if each.type is model.ContainerType.EPHEMERAL)


def _may_lose(request: Request, workload: model.Workload) -> bool:
    """Whether an UPDATE may remove a value that a mutation added; for a Pod, only if it changes the spec."""
    old = request.old_value
    return merge.is_recorded(old) and not (
        workload.is_pod and old is not None and request.value.get("spec") == old.get("spec")
    )


def _kept(old_value: paths.Object, read: Read, intents: list[model.Intent]) -> list[model.Intent]:
    """The intents that an object had before an UPDATE. It cannot lose them, even if no mutation adds them today."""
    old = read(old_value)
    given = merge.already_there(old_value, old, intents) if old is not None else []
    return [replace(intent, needs=()) for intent in given]


def _unfit(merged: merge.Merged, read: Read, known: Knowledge) -> queue_fit.Refusal | None:
    """Refuses intents of a queue that would never take the mutated object; None if usher knows no reason."""
    if known.facts.empty or queue_fit.FIELDS.isdisjoint(intent.field for intent in merged.applied):
        return None
    changed = read(merged.value)
    return None if changed is None else queue_fit.refusal(changed, merged.applied, known)
