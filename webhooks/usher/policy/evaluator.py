"""THE main path: one object in, one decision out. Admission, check and audit differ only in where objects come from.

Findings: normalise -> slice -> document -> engine -> decision. Patch: normalise -> document -> engine -> merge.
Both are remembered for Pods that are alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case, Ground
from usher.authorities.gpu_quota import slice as gpu_quota_slice
from usher.authorities.knowledge import Knowledge
from usher.config import models, selection
from usher.facts.store import Store
from usher.memo import Memo
from usher.mutation import merge
from usher.policy import decision, enforcement
from usher.policy.checks import catalogue
from usher.policy.engines.engine import Engine, Entrypoint
from usher.policy.input import cluster as input_cluster
from usher.policy.input import document as input_document
from usher.policy.mutating import Mutating
from usher.policy.mutation_rules import MutationRules
from usher.policy.request import Identities, Operation, Request, User
from usher.reading import lookup
from usher.workloads import fingerprints

__all__ = ["Evaluator", "Operation", "Request", "User"]

LIKE_PODS: Final = 1024
"""Different Pods whose answers are remembered."""

_Key = tuple[str, tuple[str, ...] | None, bool, int, int, bytes]
"""Namespace, identities of the user (None outside of admission), whether there are facts, revisions of facts and nodes,
digest of the Pod."""


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the policies find, before usher.yaml and the age of the facts are applied."""

    findings: tuple[model.Finding, ...] = ()
    unknowns: tuple[model.Unknown, ...] = ()
    grounds: tuple[Ground, ...] = ()

    def still_holds(self, known: Knowledge) -> bool:
        return all(ground.still_holds(known) for ground in self.grounds)


@dataclass(slots=True, kw_only=True)
class _Subject:
    """An object, and what was computed about it. Pods that are alike share one."""

    workload: model.Workload | None
    found: _Found | None = None
    merged: merge.Merged | None = None
    """Without the object."""


class Evaluator:
    """Decides with one engine, one catalogue and one configuration; all three are fixed for its life."""

    def __init__(
        self,
        *,
        engine: Engine,
        entries: catalogue.Catalogue,
        config: models.Config,
        today: Callable[[], date] = _today,
        facts: Store | None = None,
    ) -> None:
        self.engine = engine
        self.catalogue = entries
        self.config = config
        self.today = today
        """The day by which exceptions expire, in UTC."""
        self.facts = Store() if facts is None else facts
        """What is known of the cluster, beside the objects that come with a request."""
        self.vocabulary = Vocabulary(config.accelerators)
        self.knowledge = Knowledge(facts=self.facts, config=config, vocabulary=self.vocabulary)
        self.documents = input_document.Documents(self.knowledge, keys=entries.keys_of_checks)
        self._mutating = Mutating(
            engine=engine, documents=self.documents, catalogue=entries, rules=MutationRules(config, entries)
        )
        self._identities = Identities(config)
        self._oldest_facts = config.facts.bound
        self._is_exempt = lru_cache(maxsize=1024)(
            lambda namespace: selection.matches(namespace, config.exempt_namespaces)
        )
        set_by_fabrics = {name for pool in config.pools if pool.fabric for name in config.fabric(pool.fabric).env}
        self._ranks = fingerprints.RANKS - set_by_fabrics
        self._subjects: Memo[_Key, _Subject] = Memo(LIKE_PODS)

    def decide(self, request: Request) -> model.Decision:
        """The decision about an object.

        Raises:
            EngineError: the engine gave no usable answer; the caller must not read it as either verdict.
        """
        subject, known = self._subject(request), self._knowledge(request)
        if subject.workload is None:
            return model.Decision(workload=None)
        workload = (
            fingerprints.renamed(subject.workload, request.value) if subject.workload.is_pod else subject.workload
        )
        exemption = self._exemption(workload, request)
        if exemption:
            return model.Decision(workload=workload, exemption=exemption)
        old = None
        if request.operation is Operation.UPDATE and request.old_value is not None:
            old = self._read(request.old_value, request)
        found = subject.found
        if found is None or not found.still_holds(known):
            case = Case(workload=workload, refusal=request.refusal)
            found = subject.found = self._found(case, known, old=old, review=self._review(request))
        before = self._found(Case(workload=old), known).findings if found.findings and old is not None else ()
        return model.Decision(
            workload=workload,
            judgements=self._judged(found.findings, workload, request, before=before),
            unknowns=(*workload.unknowns, *found.unknowns),
        )

    def mutate(self, request: Request, *, only: str = "") -> merge.Merged:
        """What the mutations make of an object.

        An UPDATE gets back what a mutation gave the object before and the update takes away, as `kubectl apply` does
        with every list that the user's manifest holds as well. It gets nothing new, so that no workload restarts by
        surprise. New debug containers of a Pod get what its other containers get.

        Args:
            request: the object, and the operation.
            only: the key of one mutation, to see what it alone would do.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported, or our patch would not apply.
        """
        return self._merged(request, self._read(request.value, request), only=only)

    def patch(self, request: Request) -> merge.Merged:
        """As `mutate`, for a caller who needs the patch alone: `value` is empty.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported, or our patch would not apply.
        """
        subject = self._subject(request)
        merged = subject.merged
        if merged is None:
            merged = subject.merged = replace(self._merged(request, subject.workload), value={})
        return merged

    def skips(self, request: Request) -> tuple[model.Note, ...]:
        """Why mutations leave an object or a part of it alone, for people who ask.

        Raises:
            EngineError: the engine gave no usable answer.
        """
        workload = self.workload(request)
        return self._mutating.skips(workload) if workload is not None and self._mutates(workload, request) else ()

    def workload(self, request: Request) -> model.Workload | None:
        """The object of a request, normalised; None for one that no rule reads."""
        return self._read(request.value, request)

    def _merged(self, request: Request, workload: model.Workload | None, *, only: str = "") -> merge.Merged:
        if workload is None or not self._mutates(workload, request):
            return merge.Merged(value=request.value)
        return self._mutating.merged(
            request,
            workload,
            read=lambda value: self._read(value, request),
            objects=self._knowledge(request).lookup(request.objects),
            only=only,
        )

    def _mutates(self, workload: model.Workload, request: Request) -> bool:
        return bool(workload.pod_sets) and not self._exemption(workload, request)

    def _subject(self, request: Request) -> _Subject:
        """The object of a request, with what was computed about Pods like it."""
        key = self._key(request)
        if key is None:
            return _Subject(workload=self._read(request.value, request))
        return self._subjects.get(key, lambda: _Subject(workload=self._read(request.value, request)))

    def _key(self, request: Request) -> _Key | None:
        """What distinguishes Pods with different answers; None where an answer is not remembered.

        It is read before anything is computed: a change of the facts in between makes an answer old, never wrong.
        """
        if (
            request.operation is not Operation.CREATE
            or request.value.get("kind") != "Pod"
            or request.sub_resource
            or request.refusal is not None
            or request.facts is not None
            or request.objects is not lookup.NOTHING
        ):
            return None
        facts = not self.facts.empty, self.facts.revision, self.facts.nodes.revision
        digest = fingerprints.of_pod(request.value, ranks=self._ranks)
        return None if digest is None else (request.namespace, self._identities.of(request.user), *facts, digest)

    def _read(self, value: paths.Object, request: Request) -> model.Workload | None:
        return self._knowledge(request).workload(value, namespace=request.namespace, objects=request.objects)

    def _knowledge(self, request: Request) -> Knowledge:
        return self.knowledge if request.facts is None else replace(self.knowledge, facts=request.facts)

    def _review(self, request: Request) -> input_document.Review | None:
        identities = self._identities.of(request.user)
        if identities is None:
            return None
        return {"operation": request.operation.value, "subResource": request.sub_resource, "by": list(identities)}

    def _found(
        self,
        case: Case,
        known: Knowledge,
        *,
        old: model.Workload | None = None,
        review: input_document.Review | None = None,
    ) -> _Found:
        workload = case.workload
        if not workload.pod_sets and not workload.view:
            return _Found()
        cluster = input_cluster.of(case, known)
        document = self.documents.build(workload, old=old, review=review, cluster=cluster)
        result = self.engine.evaluate(Entrypoint.FINDINGS, document)
        return _Found(
            findings=tuple(enforcement.downgrade_partial_pods(decision.findings(result), workload)),
            unknowns=tuple(decision.unknowns(result)),
            grounds=tuple(case.grounds),
        )

    def _judged(
        self,
        findings: tuple[model.Finding, ...],
        workload: model.Workload,
        request: Request,
        *,
        before: tuple[model.Finding, ...],
    ) -> tuple[model.Judgement, ...]:
        current = enforcement.downgrade_stale_facts(
            findings,
            self.catalogue,
            age=self.facts.age(),
            bound=self._oldest_facts,
            told_now=frozenset() if request.refusal is None else gpu_quota_slice.CHECKS_OF_REFUSALS,
        )
        return decision.judge(
            current,
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
            leniency=enforcement.leniency(workload, updating=request.operation is Operation.UPDATE),
        )

    def _exemption(self, workload: model.Workload, request: Request) -> str:
        if request.operation in (Operation.DELETE, Operation.CONNECT):
            return f"{request.operation} is not judged"
        # On CREATE the API server drops a deletionTimestamp; written into a file it must not exempt the object.
        if workload.deleting and request.operation is Operation.UPDATE:
            return "the object is being deleted"
        if self._is_exempt(workload.namespace):
            return f"usher.yaml exempts namespace {workload.namespace}"
        return ""
