"""THE main path: one object in, one decision out. Admission, check and audit differ only in where objects come from.

normalise -> engine: findings -> decision;  normalise -> engine: intents -> merge
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import slice as gpu_quota_slice
from usher.authorities.knowledge import Knowledge
from usher.config import models, selection
from usher.facts.store import Store
from usher.mutation import merge
from usher.policy import decision, enforcement
from usher.policy import enforcement as policy_enforcement
from usher.policy.checks import catalogue
from usher.policy.engines.engine import Engine, Entrypoint
from usher.policy.input import document as input_document
from usher.policy.mutation_rules import MutationRules
from usher.policy.request import Identities, Operation, Request, User
from usher.workloads import fingerprints

__all__ = ["Evaluator", "Operation", "Request", "User"]


def _today() -> date:
    return datetime.now(UTC).date()


PODS_ARE_JUDGED: Final = "its owner wrote the template, and its pods are judged"
"""A denial would stop every rollout of a Deployment from before the webhooks: we change its Pods, and not this."""


PODS_ARE_MENDED: Final = "its pods are mended when they are made"
"""The mutating webhook gives a template on CREATE what an UPDATE may lack, when a tool writes the whole list anew."""


LIKE_PODS: Final = 1024
"""Of how many different Pods the patches are remembered; with the bound of a key some 10 MB."""

DEBUG_CONTAINERS: Final = "ephemeralcontainers"
"""The sub resource by which `kubectl debug` adds them to a pod that runs."""


@dataclass(frozen=True, slots=True)
class _LikePod:
    """A request about a Pod, told apart only by what mutations read of it."""

    key: tuple[str, int, bytes]
    """Namespace, revision of the facts, and the pod."""
    request: list[Request] = field(compare=False)
    """Empty once it is answered: what is remembered must not hold the pod."""


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
        self._is_exempt = lru_cache(maxsize=1024)(
            lambda namespace: selection.matches(namespace, config.exempt_namespaces)
        )
        self.vocabulary = Vocabulary(config.accelerators)
        self.knowledge = Knowledge(facts=self.facts, config=config, vocabulary=self.vocabulary)
        self.documents = input_document.Documents(config, self.vocabulary, keys=entries.keys_of_checks)
        self._identities = Identities(config)
        self._patches = lru_cache(maxsize=LIKE_PODS)(self._patched)
        self._mutation_rules = MutationRules(config, entries)

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
        facts = self._facts(request)
        findings, unknowns = self._findings(
            workload,
            facts,
            old=old,
            review=self._review(request),
            refusal=request.refusal,
            like=None if facts.empty else fingerprints.of_pod(request.value, workload),
        )
        before = self._findings(old, facts)[0] if findings and old is not None else []
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
        and what is immutable stays the same. Debug containers that are added to a Pod get what containers get that are
        there from the beginning.

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
        if request.sub_resource:
            return self._with_debug_containers(request, workload)
        if request.operation is Operation.UPDATE and not _may_lose(request, workload):
            return merge.Merged(value=request.value)
        result = self.engine.evaluate(Entrypoint.INTENTS, self.documents.build(workload))
        intents = [intent for intent in decision.intents(result) if only in ("", intent.mutation)]
        intents.sort(key=self._order)
        if request.operation is Operation.UPDATE and request.old_value is not None:
            old_workload = self._workload(request.old_value, request)
            given = merge.already_there(request.old_value, old_workload, intents) if old_workload is not None else []
            # What it has is given back even if today it would not be given: a Job cannot lose it.
            intents = [replace(intent, needs=()) for intent in given]
        merged = merge.merge(
            request.value,
            workload,
            intents,
            name_of=self.mutation_name,
            refusal=self._mutation_rules.refusal(workload, updating=request.operation is Operation.UPDATE),
            objects=self._known(request).lookup(request.objects),
        )
        warnings = (
            *(note for note in decision.notes(result, "warnings") if only in ("", note.mutation)),
            *self._mutation_rules.warnings(workload, iter(merged.applied)),
        )
        return replace(merged, warnings=warnings) if warnings else merged

    def patch(self, request: Request) -> merge.Merged:
        """As `mutate`, for who needs the patch and not the object: of a Pod `value` is empty.

        A thousand pods of one job are read, asked about and merged once.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is none that we know how to apply, or our patch would not apply.
        """
        value = request.value
        if request.operation is not Operation.CREATE or request.sub_resource or value.get("kind") != "Pod":
            return self.mutate(request)
        key = fingerprints.key(value)
        if key is None:
            return self.mutate(request)
        return self._patches(_LikePod((request.namespace, self.facts.revision, key), [request]))

    def _patched(self, like: _LikePod) -> merge.Merged:
        return replace(self.mutate(like.request.pop()), value={})

    def _with_debug_containers(self, request: Request, workload: model.Workload) -> merge.Merged:
        """A pod whose new debug containers are mutated: the API server takes nothing else of it, not even a record."""
        old = None if request.old_value is None else self._workload(request.old_value, request)
        if request.sub_resource != DEBUG_CONTAINERS or not workload.is_pod or old is None:
            return merge.Merged(value=request.value)
        known = {container.name for container in _debug_containers(old)}
        added = {container.path for container in _debug_containers(workload) if container.name not in known}
        if not added:
            return merge.Merged(value=request.value)
        result = self.engine.evaluate(Entrypoint.INTENTS, self.documents.build(workload))
        return merge.merge(
            request.value,
            workload,
            [intent for intent in decision.intents(result) if intent.at in added],
            name_of=self.mutation_name,
            refusal=self._mutation_rules.refusal(workload, updating=False),
            recording=False,
        )

    def skips(self, request: Request) -> tuple[model.Note, ...]:
        """Why mutations leave an object or a part of it alone, for people who ask.

        Raises:
            EngineError: the engine gave no usable answer.
        """
        workload = self._workload(request.value, request)
        if workload is None or not workload.pod_sets or self._exemption(workload, request):
            return ()
        return decision.notes(self.engine.evaluate(Entrypoint.SKIPS, self.documents.build(workload)), "skips")

    def _order(self, intent: model.Intent) -> int:
        entry = self.catalogue.mutations.get(intent.mutation)
        return entry.order if entry is not None else 0

    def mutation_name(self, key: str) -> str:
        entry = self.catalogue.mutations.get(key)
        return entry.name if entry is not None else key

    def is_silent(self, key: str) -> bool:
        """Whether users are not told of a mutation each time it is applied."""
        entry = self.catalogue.mutations.get(key)
        return entry is not None and entry.silent

    def workload(self, request: Request) -> model.Workload | None:
        """The object of a request, normalised; None for one that no rule reads."""
        return self._workload(request.value, request)

    def _workload(self, value: paths.Object, request: Request) -> model.Workload | None:
        return self._known(request).workload(value, namespace=request.namespace, objects=request.objects)

    def _known(self, request: Request) -> Knowledge:
        return self.knowledge if request.facts is None else replace(self.knowledge, facts=request.facts)

    def _facts(self, request: Request) -> Store:
        return self.facts if request.facts is None else request.facts

    def _review(self, request: Request) -> input_document.Review | None:
        if request.user is None:
            return None
        return {
            "operation": request.operation.value,
            "subResource": request.sub_resource,
            "by": list(self._identities.of(request.user.name, request.user.groups)),
        }

    def _findings(  # noqa: PLR0913 - all that findings are about, all named
        self,
        workload: model.Workload,
        facts: Store,
        *,
        old: model.Workload | None = None,
        review: input_document.Review | None = None,
        refusal: QuotaRefusal | None = None,
        like: bytes | None = None,
    ) -> tuple[list[model.Finding], list[model.Unknown]]:
        if not workload.pod_sets and not workload.view:
            return [], []
        document = self.documents.build(workload, old=old, review=review, facts=facts, refusal=refusal, like=like)
        result = self.engine.evaluate(Entrypoint.FINDINGS, document)
        found = policy_enforcement.downgrade_partial_pods(decision.findings(result), workload)
        found = policy_enforcement.downgrade_stale_facts(
            found,
            self.catalogue,
            age=self.facts.age(),
            bound=self.config.facts.bound,
            told_now=frozenset() if refusal is None else gpu_quota_slice.CHECKS_OF_REFUSALS,
        )
        return list(found), decision.unknowns(result)

    def _exemption(self, workload: model.Workload, request: Request) -> str:
        if request.operation in (Operation.DELETE, Operation.CONNECT):
            return f"{request.operation} is not judged"
        # On CREATE the API server drops a deletionTimestamp; written into a file it must not exempt the object.
        if workload.deleting and request.operation is Operation.UPDATE:
            return "the object is being deleted"
        if self._is_exempt(workload.namespace):
            return f"usher.yaml exempts namespace {workload.namespace}"
        return ""


def _debug_containers(workload: model.Workload) -> Iterator[model.Container]:
    for pod_set in workload.pod_sets:
        yield from (each for each in pod_set.containers if each.type is model.ContainerType.EPHEMERAL)


def _may_lose(request: Request, workload: model.Workload) -> bool:
    """Whether an UPDATE may take away what a mutation gave; of a Pod only one that changes its spec."""
    old = request.old_value
    return merge.is_recorded(old) and not (
        workload.is_pod and old is not None and request.value.get("spec") == old.get("spec")
    )


def _leniency(workload: model.Workload, operation: Operation) -> Callable[[catalogue.Entry], str]:
    if merge.owner_compares(workload):
        return lambda _check: PODS_ARE_JUDGED
    if operation is Operation.UPDATE and not workload.is_pod:
        return lambda check: PODS_ARE_MENDED if check.mended_on_pods else ""
    return lambda _check: ""
