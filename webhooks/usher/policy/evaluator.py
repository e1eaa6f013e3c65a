"""THE main path: one object in, one decision out. Admission, check and audit differ only in where objects come from.

normalise -> engine: findings -> decision;  normalise -> engine: intents -> merge
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models, namespaces
from usher.mutation import merge
from usher.policy import catalogue, decision, document, enforcement, partial
from usher.policy.engine import Engine, Entrypoint
from usher.policy.identities import Identities
from usher.workloads import lookup
from usher.workloads.normalise import normalise


def _today() -> date:
    return datetime.now(UTC).date()


PODS_ARE_JUDGED: Final = "its owner wrote the template, and its pods are judged"
"""A denial would stop every rollout of a Deployment from before the webhooks: we change its Pods, and not this."""


PODS_ARE_MENDED: Final = "its pods are mended when they are made"
"""The mutating webhook gives a template on CREATE what an UPDATE may lack, when a tool writes the whole list anew."""


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who asks, as the API server says."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be decided: an object, and how it comes about."""

    value: paths.Object
    operation: Operation = Operation.CREATE
    namespace: str = ""
    """The namespace to assume where the object names none."""
    old_value: paths.Object | None = None
    objects: lookup.Lookup = lookup.NOTHING
    """Where to look up what the object refers to by name."""
    place: models.Place = "admission"
    sub_resource: str = ""
    user: User | None = None
    """None where nobody asks, as in CI."""


class Evaluator:
    """Decides with one engine, one catalogue and one configuration; all three are fixed for its life."""

    def __init__(
        self,
        *,
        engine: Engine,
        entries: catalogue.Catalogue,
        config: models.Config,
        today: Callable[[], date] = _today,
    ) -> None:
        self.engine = engine
        self.catalogue = entries
        self.config = config
        self.today = today
        """The day by which exceptions expire, in UTC."""
        self._is_exempt = lru_cache(maxsize=1024)(
            lambda namespace: namespaces.matches(namespace, config.exempt_namespaces)
        )
        self.vocabulary = Vocabulary(config.accelerators)
        self.documents = document.Documents(config, self.vocabulary, keys=entries.keys_of_checks)
        self._identities = Identities(config)

    def decide(self, request: Request) -> model.Decision:
        """The decision about an object as it stands.

        Raises:
            EngineError: the engine gave no usable answer; the caller must not read it as either verdict.
        """
        workload = self._workload(request.value, request)
        if workload is None:
            return model.Decision(workload=None)
        exemption = self._exemption(workload, request)
        if exemption:
            return model.Decision(workload=workload, exemption=exemption)
        old = None
        if request.operation is Operation.UPDATE and request.old_value is not None:
            old = self._workload(request.old_value, request)
        findings, unknowns = self._findings(workload, old=old, review=self._review(request))
        before = self._findings(old)[0] if findings and old is not None else []
        return model.Decision(
            workload=workload,
            judgements=decision.judge(
                findings,
                where=enforcement.Circumstances(
                    namespace=workload.namespace,
                    role=workload.role,
                    place=request.place,
                    kind=workload.kind,
                    name=workload.name,
                    today=self.today(),
                ),
                entries=self.catalogue,
                rules=self.config.enforcement,
                before=before,
                leniency=_leniency(workload, request.operation),
            ),
            unknowns=(*workload.unknowns, *unknowns),
        )

    def mutate(self, request: Request, *, only: str = "") -> merge.Merged:
        """What the mutations make of an object.

        An UPDATE gets back what a mutation gave the object before and the update takes away, as `kubectl apply` does
        with every list that the user's manifest holds as well; it gets nothing new, so nothing rolls out by surprise,
        and what is immutable stays the same. Of a Pod hardly anything can be changed, so its UPDATE is left alone.

        Args:
            request: the object, and how it comes about.
            only: the key of one mutation, to see what it alone would do.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is none that we know how to apply, or our patch would not apply.
        """
        workload = self._workload(request.value, request)
        if workload is None or not workload.pod_sets or self._exemption(workload, request):
            return merge.Merged(value=request.value)
        if request.operation is Operation.UPDATE and (workload.is_pod or not merge.is_recorded(request.old_value)):
            return merge.Merged(value=request.value)
        result = self.engine.evaluate(Entrypoint.INTENTS, self.documents.build(workload))
        intents = [intent for intent in decision.intents(result) if only in ("", intent.mutation)]
        if request.operation is Operation.UPDATE and request.old_value is not None:
            old_workload = self._workload(request.old_value, request)
            intents = merge.already_there(request.old_value, old_workload, intents) if old_workload is not None else []
        return merge.merge(request.value, workload, intents, name_of=self.mutation_name)

    def mutation_name(self, key: str) -> str:
        entry = self.catalogue.mutations.get(key)
        return entry.name if entry is not None else key

    def is_silent(self, key: str) -> bool:
        """Whether users are not told of a mutation each time it is applied."""
        entry = self.catalogue.mutations.get(key)
        return entry is not None and entry.silent

    def _workload(self, value: paths.Object, request: Request) -> model.Workload | None:
        return normalise(value, vocabulary=self.vocabulary, namespace=request.namespace, objects=request.objects)

    def _review(self, request: Request) -> document.Review | None:
        if request.user is None:
            return None
        return {
            "operation": request.operation.value,
            "subResource": request.sub_resource,
            "by": list(self._identities.of(request.user.name, request.user.groups)),
        }

    def _findings(
        self, workload: model.Workload, *, old: model.Workload | None = None, review: document.Review | None = None
    ) -> tuple[list[model.Finding], list[model.Unknown]]:
        if not workload.pod_sets and not workload.view:
            return [], []
        result = self.engine.evaluate(Entrypoint.FINDINGS, self.documents.build(workload, old=old, review=review))
        return list(partial.with_doubt(decision.findings(result), workload)), decision.unknowns(result)

    def _exemption(self, workload: model.Workload, request: Request) -> str:
        if request.operation in (Operation.DELETE, Operation.CONNECT):
            return f"{request.operation} is not judged"
        # On CREATE the API server drops a deletionTimestamp; written into a file it must not exempt the object.
        if workload.deleting and request.operation is Operation.UPDATE:
            return "the object is being deleted"
        if self._is_exempt(workload.namespace):
            return f"usher.yaml exempts namespace {workload.namespace}"
        return ""


def _leniency(workload: model.Workload, operation: Operation) -> Callable[[catalogue.Entry], str]:
    if merge.owner_compares(workload):
        return lambda _check: PODS_ARE_JUDGED
    if operation is Operation.UPDATE and not workload.is_pod:
        return lambda check: PODS_ARE_MENDED if check.mended_on_pods else ""
    return lambda _check: ""
