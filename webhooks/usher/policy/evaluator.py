"""The main path: one object in, one decision or patch out. Admission, check and audit share it.

Decision: normalise, slice, document, engine, decision. Patch: normalise, document, engine, merge. Like Pods share both.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import lru_cache, partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case, Ground
from usher.authorities.gpu_quota import present as gpu_quota_present
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.cluster.facts.store import Store
from usher.config import models, selection
from usher.kinds import registry
from usher.kinds.kind import DEFINITION
from usher.kinds.reading import values
from usher.kinds.reading.fields import Definitions, recorded
from usher.memo import Memo
from usher.policy import decision, excused_findings
from usher.policy.checks import catalogue
from usher.policy.decision import Identities, Operation, Request, User
from usher.policy.engines.engine import ALL_CHECKS, Engine, Entrypoint
from usher.policy.excused_findings import Side
from usher.policy.input import document as input_document
from usher.policy.mutating import Mutating, MutationRules
from usher.policy.mutation import editing, merge
from usher.workloads import fingerprints, identity, unread_keys


class Found(Struct, frozen=True, kw_only=True):
    """The results of the checks, and the facts that they rest on."""

    findings: tuple[model.Finding, ...] = ()
    unknowns: tuple[model.Unknown, ...] = ()
    unprotected: bool = False
    """As in `model.Decision`."""
    grounds: tuple[Ground, ...] = ()


class Subject(Struct, frozen=True, kw_only=True):
    """An object and the findings of the policies; `old` is the object before an UPDATE."""

    workload: model.Workload | None
    exemption: str = ""
    old: model.Workload | None = None
    found: Found = Found()


__all__ = ["Evaluator", "Operation", "Request", "User"]

_COMPARED: Final = 256

LIKE_PODS: Final = 1024
"""How many different Pods the evaluator remembers answers for."""

_READ_PODS: Final = 64
"""How many Pods it remembers as it read them: /validate gets one just after /mutate, which often changes nothing."""

_Key = tuple[str, tuple[str, ...] | None, bool, selection.Place, bool, int, int, bytes]
"""Namespace, identities of the user, whether the owner is hidden, the place that judges, whether there are facts,
revisions of facts and nodes, digest of the Pod.
"""


class Evaluator:
    """Decides with one engine, one catalogue and one configuration; all three are fixed for its life."""

    def __init__(
        self,
        *,
        engine: Engine,
        entries: catalogue.Catalogue,
        config: models.Config,
        today: Callable[[], date] = decision.today,
        facts: Store | None = None,
    ) -> None:
        registry.use(config.workloads)
        self.engine = engine
        self.catalogue = entries
        self.config = config
        self.today = today
        """Returns the day by which exceptions expire, in UTC."""
        self.facts = Store() if facts is None else facts
        """The facts of the cluster, beside the objects that come with a request."""
        self.vocabulary = Vocabulary(config.accelerators)
        self.knowledge = Knowledge(facts=self.facts, config=config, vocabulary=self.vocabulary)
        self.documents = input_document.Documents(self.knowledge, keys=entries.keys_of_checks)
        self._identities = Identities(config)
        self._mutating = Mutating(
            engine=engine,
            documents=self.documents,
            catalogue=entries,
            rules=MutationRules(config, entries),
            identities=self._identities,
        )
        self._oldest_facts = config.facts.bound
        self.is_exempt = lru_cache(maxsize=1024)(
            lambda namespace: selection.matches_pattern(namespace, config.exempt_namespaces)
        )
        off = decision.OffChecks(entries, config.enforcement)
        self._off = lru_cache(maxsize=1024)(off.at)
        set_by_fabrics = {name for pool in config.pools if pool.fabric for name in config.fabric(pool.fabric).env}
        self._ranks = fingerprints.RANKS - set_by_fabrics
        # A review asks for the decision and for the patch of one request, one after the other.
        self._last: tuple[Request | None, _Key | None] = (None, None)
        # A denial asks what the mutations would have changed, of the same request.
        self._last_read: tuple[Request | None, model.Workload | None] = (None, None)
        self._last_merged: tuple[Request | None, bool, merge.Merged] = (None, False, merge.Merged(value={}))
        self._subjects: Memo[_Key, Subject] = Memo(LIKE_PODS)
        self._patches: Memo[_Key, merge.Merged] = Memo(LIKE_PODS)
        self._mended: Memo[_Key, tuple[merge.Merged, Subject]] = Memo(LIKE_PODS)
        self._read: Memo[_Key, model.Workload | None] = Memo(_READ_PODS, at_once=True)
        # Files are judged once, so the second of two like objects must find the answer to the first.
        self._admissions: Memo[tuple[str, str, str, bytes], tuple[merge.Merged, Subject] | None] = Memo(
            LIKE_PODS, at_once=True
        )
        self._read_by_site = fingerprints.read_by(config.roles)
        self._compared = self._found_like = 0
        """How many of the last objects of files were compared, and were like one that was judged."""

    def decide(self, request: Request) -> model.Decision:
        """The decision about an object; a finding about its size if it is too much to judge.

        Raises:
            EngineError: the engine gave no usable answer; the caller must not read it as either verdict.
        """
        if request.excess is not None:
            return self._too_large(request, request.excess)
        try:
            return self._decide(request)
        except errors.ExhaustedError as error:
            return self.exhausted(request, error)

    def exhausted(self, request: Request, error: errors.ExhaustedError) -> model.Decision:
        """The decision about an object that needs more than an evaluation has."""
        return self._too_large(request, identity.excess_of_whole(request.value, error.needs))

    def _too_large(self, request: Request, excess: model.Excess) -> model.Decision:
        workload, known = (
            identity.too_large_to_judge(request.value, excess, namespace=request.namespace),
            self._knowledge(request),
        )
        return self._decision(self._subject(request, workload, known), request, known)

    def _decide(self, request: Request) -> model.Decision:
        known, key = self._knowledge(request), self._key(request)

        def make() -> Subject:
            return self._subject(request, request.grown(partial(self._read_workload, request=request)), known)

        def holds(kept: Subject) -> bool:
            return all(ground.still_holds(known) for ground in kept.found.grounds)

        subject = make() if key is None else self._subjects.get(key, make, holds=holds)
        return self._decision(subject, request, known)

    def _decision(self, subject: Subject, request: Request, known: Knowledge) -> model.Decision:
        if subject.workload is None:
            return model.Decision(workload=None)
        workload = fingerprints.renamed(subject.workload, request.value)
        found = subject.found
        if subject.exemption:
            judged = self._judged(subject, workload, request, known) if found.findings else ()
            return model.Decision(workload=workload, exemption=subject.exemption, judgements=judged)
        return model.Decision(
            workload=workload,
            judgements=self._judged(subject, workload, request, known),
            unknowns=(*workload.unknowns, *found.unknowns),
            unprotected=found.unprotected,
        )

    def _still_there(self, now: Side, old: model.Workload | None, request: Request, known: Knowledge) -> frozenset[int]:
        """The indexes of the findings that the object had before an UPDATE, no milder than now."""
        if old is None or request.old_value is None or not now.findings:
            return frozenset()
        excess = now.workload.excess
        if excess is not None:
            unchanged = identity.judged_part(request.old_value) == identity.judged_part(request.value)
            as_large = unchanged or identity.is_as_large(old.excess, excess)
            return frozenset(range(len(now.findings))) if as_large else frozenset()
        try:
            before = Side(self._find(Case(workload=old), known, place=None).findings, old, request.old_value)
        except errors.ExhaustedError:
            return frozenset()
        # A controller brings the numbers of another object that was judged, and pods are judged when they are made.
        may_grow = decision.CONTROLLERS in (self._identities.of(request.user) or ())
        return excused_findings.still_there(now, before, may_grow=may_grow)

    def admit(self, request: Request) -> tuple[merge.Merged, model.Decision]:
        """The result of both webhooks for a new object: the mutations, and the decision about the mutated object.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported.
        """
        try:
            merged, subject = self._admitted_like(request)
        except errors.ExhaustedError as error:
            return merge.Merged(value=request.value), self.exhausted(request, error)
        if merged.operations:
            request = replace(request, value=merged.value)
        return merged, self._decision(subject, request, self._knowledge(request))

    def _admitted_like(self, request: Request) -> tuple[merge.Merged, Subject]:
        """The mutations and findings of an object, from a like one where one was judged before."""
        like = None
        if request.company and self.facts.empty and request.facts in (None, self.facts) and self._may_be_like():
            like = fingerprints.likeness(request.value, self._read_by_site)
        if like is None:
            return self._admitted_again(request)
        made = list[tuple[merge.Merged, Subject]]()

        def make() -> tuple[merge.Merged, Subject] | None:
            made.append(self._admitted(request))
            merged, _ = made[0]
            return made[0] if _is_shared(merged, like) else None

        kept = self._admissions.get((request.namespace, request.company, request.place, like.digest), make)
        if made or kept is None:
            return made[0] if made else self._admitted(request)
        merged, subject = kept
        self._found_like += 1
        return replace(merged, value=editing.repeated(request.value, merged.operations)), subject

    def _admitted_again(self, request: Request) -> tuple[merge.Merged, Subject]:
        """The mutations and findings of an object, from a like Pod that its controller created again and again."""
        key, known = self._key(request), self._knowledge(request)
        made = list[tuple[merge.Merged, Subject]]()

        def make() -> tuple[merge.Merged, Subject]:
            made.append(self._admitted(request))
            merged, subject = made[0]
            return replace(merged, value={}), subject

        def holds(kept: tuple[merge.Merged, Subject]) -> bool:
            return all(ground.still_holds(known) for ground in kept[1].found.grounds)

        merged, subject = make() if key is None else self._mended.get(key, make, holds=holds)
        if made:
            return made[0]
        return replace(merged, value=editing.repeated(request.value, merged.operations)), subject

    def _may_be_like(self) -> bool:
        """Whether to compare an object with earlier ones: all while a tenth of them were like others, else a fourth."""
        self._compared += 1
        if self._compared == _COMPARED:
            self._compared, self._found_like = self._compared // 2, self._found_like // 2
        if self._compared < _COMPARED // 4 or self._found_like * 10 >= self._compared:
            return True
        return self._compared % 4 == 0

    def _admitted(self, request: Request) -> tuple[merge.Merged, Subject]:
        workload, known = self.workload(request), self._knowledge(request)
        # Reports of files name what mutations want that are off.
        merged = self._merged(request, workload, off=request.place != "admission")
        if merged.operations:
            request = replace(request, value=merged.value)
        if merged.operations or request.growths:
            workload = request.grown(partial(self._read_workload, request=request))
        return merged, self._subject(request, workload, known)

    def mutate(self, request: Request, *, only: str = "") -> merge.Merged:
        """The object with all mutations applied.

        An UPDATE often removes values that a mutation added, as `kubectl apply` does with every list of the user's
        manifest. It gets these values back, and also the tolerations that an UPDATE without usher has removed, if the
        object records their mutation and its template can change. It gets no new values, so that no workload restarts
        by surprise. New debug containers of a Pod get the values that its other containers get.

        Args:
            only: the key of one mutation, to see what it alone would do.

        Raises:
            EngineError: the engine gave no usable answer.
            ExhaustedError: the object needs more than an evaluation has.
            MutationError: an intent is not supported.
        """
        return self._merged(request, self.workload(request), only=only)

    def _merged(
        self, request: Request, workload: model.Workload | None, *, only: str = "", off: bool = True
    ) -> merge.Merged:
        if workload is None or not self._mutates(workload, request):
            return merge.Merged(value=request.value, excess=workload.excess if workload is not None else None)
        last, with_off, merged = self._last_merged
        if last is request and with_off is off and not only:
            return merged
        merged = self._mutating.merged(
            request,
            workload,
            read=lambda value: self._read_workload(value, request),
            known=self._knowledge(request),
            only=only,
            off=off,
        )
        if not only:
            self._last_merged = request, off, merged
        return merged

    def patch(self, request: Request) -> merge.Merged:
        """The patch for an object, for callers that send it: it was applied once as a test, and `value` is empty.

        It does not name what mutations want that are off.

        Raises:
            EngineError: the engine gave no usable answer.
            MutationError: an intent is not supported, or our patch would not apply.
        """
        key = self._key(request)
        return self._patch(request) if key is None else self._patches.get(key, partial(self._patch, request))

    def _patch(self, request: Request) -> merge.Merged:
        merged = self._merged(request, self.workload(request), off=False)
        return replace(merge.verified(request.value, merged), value={})

    def skips(self, request: Request) -> tuple[model.Note, ...]:
        """Why mutations skip an object or a part of it, for people who ask.

        Raises:
            EngineError: the engine gave no usable answer.
        """
        workload = self.workload(request)
        return (
            self._mutating.skips(request, workload) if workload is not None and self._mutates(workload, request) else ()
        )

    def workload(self, request: Request) -> model.Workload | None:
        """The normalised object of a request; None if no rule reads the object."""
        return self._read_workload(request.value, request)

    def divided_gpus(self, workload: model.Workload, request: Request) -> str:
        """How the nodes of a workload divide the whole GPUs that it asks for; see declared_pools.divided_gpus."""
        return declared_pools.divided_gpus(workload, self._knowledge(request))

    def _mutates(self, workload: model.Workload, request: Request) -> bool:
        return bool(workload.pod_sets) and not self._exemption(workload, request)

    def _subject(self, request: Request, workload: model.Workload | None, known: Knowledge) -> Subject:
        workload = self._with_unread_keys(workload, request.value, request)
        if workload is None:
            return Subject(workload=None)
        if exemption := self._exemption(workload, request):
            found = Found()
            if request.place != "admission" and _is_agent(workload):
                found = self._find(request.case(workload, known), known, place=request.place)
            kept = tuple(each for each in found.findings if each.check in _OF_AGENTS)
            return Subject(workload=workload, exemption=exemption, found=Found(findings=kept, grounds=found.grounds))
        old = None
        if request.operation is Operation.UPDATE and request.old_value is not None:
            old = self._with_unread_keys(self._read_workload(request.old_value, request), request.old_value, request)
        case = request.case(workload, known)
        found = self._find(case, known, place=request.place, old=old, review=self._identities.review(request))
        with_remedies = tuple(_with_remedies_in_pods(found.findings, workload, request.value))
        return Subject(workload=workload, old=old, found=replace(found, findings=with_remedies))

    def has_fields(self, value: paths.Object, objects: values.Lookup) -> bool:
        """Whether the fields of the kind of an object are known: recorded, defined in the files, or in the facts."""
        return unread_keys.has_fields(value, beside=objects, facts=_definitions_of(self.facts))

    def _with_unread_keys(
        self, workload: model.Workload | None, value: paths.Object, request: Request
    ) -> model.Workload | None:
        is_stored = request.place == "admission"
        if is_stored and (workload is None or "." not in workload.group or workload.group.endswith(".k8s.io")):
            return workload  # Kubernetes keeps no unknown key in its own kinds
        facts = self._knowledge(request).facts
        return unread_keys.with_unread_keys(
            workload,
            value,
            namespace=request.namespace,
            beside=request.objects,
            around=request.around,
            facts=_definitions_of(facts),
            names=None if facts.empty else facts.names,
            of_facts=facts.manifests,
            meant=self.knowledge.vocabulary.meant,
            stored=is_stored,
        )

    def _key(self, request: Request) -> _Key | None:
        """A key that differs for Pods with different answers; None if the answer must not be remembered.

        Callers read it before they compute anything: if the facts change in between, the answer is old but not wrong.
        """
        if (
            request.operation is not Operation.CREATE
            or request.value.get("kind") != "Pod"
            or request.sub_resource
            or request.refusal is not None
            or request.facts is not None
            or request.objects is not values.NO_OBJECTS
        ):
            return None
        last, last_key = self._last
        if last is request:
            return last_key
        facts = not self.facts.empty, self.facts.revision_without_claims, self.facts.nodes.revision
        digest = fingerprints.of_pod(request.value, ranks=self._ranks)
        if digest is None:
            return None
        identities = self._identities.of(request.user)
        key = request.namespace, identities, request.owner_is_hidden, request.place, *facts, digest
        self._last = request, key
        return key

    def _read_workload(self, value: paths.Object, request: Request) -> model.Workload | None:
        last, workload = self._last_read
        if last is request and value is request.value:
            return workload

        def read() -> model.Workload | None:
            return self._knowledge(request).workload(
                value,
                namespace=request.namespace,
                objects=request.objects,
                believes_owner=self._identities.believe_owner(request),
                small=value is request.small,
            )

        if value is not request.value:
            return read()
        key = self._key(request)
        workload = read() if key is None else self._read.get(key, read)
        if workload is not None:
            workload = fingerprints.renamed(workload, value)
        self._last_read = request, workload
        return workload

    def _knowledge(self, request: Request) -> Knowledge:
        registry.use(self.config.workloads)
        if request.facts is None or request.facts is self.facts:
            return self.knowledge
        return dataclasses.replace(self.knowledge, facts=request.facts)

    def _find(
        self,
        case: Case,
        known: Knowledge,
        *,
        place: selection.Place | None,
        old: model.Workload | None = None,
        review: input_document.Review | None = None,
    ) -> Found:
        """The findings of all checks; if a place is given, without those that are off there."""
        workload = case.workload
        judged = workload.pod_sets or workload.view or workload.unread_keys
        if not judged and workload.excess is None:
            return Found()
        cluster = input_document.cluster_input(case, known) if workload.excess is None else None
        document = self.documents.build(workload, old=old, review=review, cluster=cluster, beside=case.beside)
        left_out = ALL_CHECKS if place is None else self._off(workload.namespace, workload.role, place)
        result = self.engine.evaluate(Entrypoint.FINDINGS, document, left_out)
        return Found(
            findings=tuple(
                _at_written_fields(decision.downgrade_partial_pods(decision.read_findings(result), workload), workload)
            ),
            unknowns=tuple(decision.read_unknowns(result)),
            unprotected=result.get("unprotected") is True,
            grounds=tuple(case.grounds),
        )

    def _judged(
        self, subject: Subject, workload: model.Workload, request: Request, known: Knowledge
    ) -> tuple[model.Judgement, ...]:
        current = [
            *decision.downgrade_stale_facts(
                decision.downgrade_unplaced_agents(subject.found.findings, self.catalogue, workload, request),
                self.catalogue,
                age=self.facts.age(),
                bound=self._oldest_facts,
                fresh=frozenset() if request.refusal is None else gpu_quota_present.CHECKS_OF_REFUSALS,
            )
        ]
        return decision.judge_findings(
            current,
            where=excused_findings.Circumstances(
                namespace=workload.namespace,
                role=workload.role,
                place=request.place,
                kind=workload.kind,
                name=workload.name,
                today=self.today(),
            ),
            entries=self.catalogue,
            rules=self.config.enforcement,
            before=self._still_there(Side(current, workload, request.value), subject.old, request, known),
            asked=excused_findings.read(request.value),
            leniency=decision.leniency(
                workload,
                updating=request.operation is Operation.UPDATE,
                by=self._identities.of(request.user) or (),
            ),
        )

    def _exemption(self, workload: model.Workload, request: Request) -> str:
        if reason := request.exemption(deleting=workload.deleting):
            return reason
        if _is_made_now(workload, request) or not self.is_exempt(workload.namespace):
            return ""
        if (workload.group, workload.kind) in registry.CONFIGURE_DEVICES:
            return ""
        if workload.namespace in models.DEFAULT_EXEMPT_NAMESPACES:
            return f"usher exempts namespace {workload.namespace} by default"
        return f"usher.yaml exempts namespace {workload.namespace}"


def _is_shared(merged: merge.Merged, like: fingerprints.Likeness) -> bool:
    """Whether the mutations of an object are those of like objects: no intent looks at a value outside the digest."""
    intents = (
        *merged.applied,
        *(each.intent for each in merged.skipped),
        *(intent for conflict in merged.conflicts for intent in conflict),
    )
    wanted = (intent.value for intent in intents if isinstance(intent.value, dict))
    return all(like.left_out.isdisjoint(text for text in value.values() if isinstance(text, str)) for value in wanted)


def _definitions_of(facts: Store) -> Definitions:
    def read() -> Definitions:
        found = facts.objects(*DEFINITION)
        return Definitions(() if isinstance(found, values.Absence) else found.values())

    return facts.derived("definitions", [DEFINITION], read)


_OF_AGENTS: Final = frozenset({"objects/agent_misconfigured", "tenancy/critical_class_without_quota"})
"""Checks of agents of nodes, which configure the device stack, as ConfigMaps of CONFIGURE_DEVICES do."""


def _is_agent(workload: model.Workload) -> bool:
    """Whether _OF_AGENTS may say something about an agent, also in an exempt namespace."""
    critical = any(each.priority_class_name.startswith("system-") for each in workload.pod_sets)
    has_findings = any(each.topic == "agent" for each in workload.unread_keys)
    return critical or has_findings


def _is_made_now(workload: model.Workload, request: Request) -> bool:
    """Whether a user makes a Namespace, whose name must not exempt it from the check of its name."""
    is_namespace = (workload.group, workload.kind) == ("", "Namespace")
    return is_namespace and request.user is not None and request.operation is Operation.CREATE


def _at_written_fields(findings: Sequence[model.Finding], workload: model.Workload) -> Sequence[model.Finding]:
    """The findings, each at the field that the author wrote, where an operator makes another one of it."""
    written = {made: own for pod_set in workload.pod_sets for made, own in pod_set.written.items()}
    if not written:
        return findings

    def place(path: str) -> str:
        return next((own for made, own in written.items() if path == made or path.startswith(f"{made}/")), path)

    return [replace(each, path=place(each.path)) for each in findings]


def _with_remedies_in_pods(
    findings: Sequence[model.Finding], workload: model.Workload, value: paths.Object
) -> Iterator[model.Finding]:
    """The findings. The remedy of one about a field that the kind lacks says so."""
    fixed = [each for each in workload.pod_sets if not each.changeable and each.fully_known and each.overrides is None]
    known = recorded() if fixed and findings else None
    for each in findings:
        kind = known.kinds.get(f"{workload.api_version} {workload.kind}") if known and each.remedy else None
        if known is None or not kind or known.node_at(kind, each.path) is not None or paths.exists(value, each.path):
            yield each
            continue
        where = "the objects that refer to it have one" if workload.is_template else "only a webhook changes its pods"
        yield replace(each, remedy=f"{workload.kind} has no field for this; {where}: {each.remedy}")
