"""The validating and the mutating review: body in, body with a verdict or a patch out.

A server with a cluster also waits for the object that a request scales, and for the charge of a quota.

The timeout of that webhook is short, and the API server goes on without it. If the mutations would have mended a
finding, usher is at fault and not the user. So the finding does not deny. But the object comes in unchanged. So usher
admits it only if no mutation is missing that protects other workloads (`protects_others` in its METADATA). Otherwise
tenants could bypass a queue, or see every GPU of a node, by creating many objects at once. Their clients have to try
again.

Policies of Gatekeeper judge as Gatekeeper does: the unchanged AdmissionRequest, UPDATE like CREATE, and every user.
They skip only the namespaces that usher.yaml exempts, as the webhooks do. A policy that cannot be evaluated leads to a
warning and never to a denial.

Both webhooks deny an object that is too much to judge: without a verdict, `failurePolicy: Ignore` would admit it.
"""

import base64
import binascii
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from typing import Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Full
from usher.authorities.gpu_quota.status import ChargeRequest
from usher.cluster.facts.store import Store
from usher.extensions.gatekeeper import constraints, evaluation
from usher.extensions.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.kinds.reading.values import Reference
from usher.policy import config_problems
from usher.policy.checks.catalogue import Catalogue, Severity
from usher.policy.decision import OBSERVED, Operation, Request
from usher.policy.engines.engine import ANSWER_UNTIL
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge, strategies
from usher.review import admission_review
from usher.review.admission_review import Answer, Review, parse, request_of

POINTS: Final = (constraints.WEBHOOK,)

_NAMED: Final = 3
"""The most policies that one warning names."""
_ELSEWHERE: Final = "this server does not evaluate them, and its log says why at its start"
_ORDER: Final = {outcome: number for number, outcome in enumerate(model.Outcome)}


class Found(Struct, frozen=True, kw_only=True):
    """The findings of policies in one review."""

    judgements: tuple[model.Judgement, ...] = ()
    unknowns: tuple[model.Unknown, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.judgements or self.unknowns)


NOTHING: Final = Found()


def may_find(review: Review, policies: Policies) -> bool:
    """Whether a constraint covers the kind of the new or the old object. Most reviews end here."""
    return any(policies.may_match(each, POINTS) for each in (review.value, review.old_value) if each is not None)


def judged(review: Review, policies: Policies, evaluator: Evaluator) -> Found:
    """The findings of the policies for the object of a review; the worst first.

    Args:
        review: the review as the API server sent it. A scale request is judged as a Scale.
        policies: the policies; other threads may use them too.
        evaluator: knows usher.yaml and the Namespaces of the cluster.
    """
    if evaluator.is_exempt(review.namespace):
        return NOTHING
    request = evaluation.review_of_request(review.request, namespace=_namespace(review, evaluator.facts))
    if request is None:
        return NOTHING
    found = list(policies.judged(request, POINTS))
    violations = sorted((each for each in found if isinstance(each, Violation)), key=lambda each: _ORDER[each.outcome])
    not_judged = [each for each in found if isinstance(each, NotJudged)]
    missing = list(policies.unevaluated(request, POINTS))
    return Found(
        judgements=tuple(evaluation.judgement_of_violation(each) for each in violations),
        unknowns=(*_by_reason(not_judged), *_unknown(missing, _ELSEWHERE)),
    )


def joined(decision: model.Decision, found: Found) -> model.Decision:
    """The decision of usher, followed by the findings of policies."""
    if not found:
        return decision
    return replace(
        decision,
        judgements=(*decision.judgements, *found.judgements),
        unknowns=(*decision.unknowns, *found.unknowns),
    )


def _namespace(review: Review, facts: Store) -> paths.Object | None:
    """The Namespace of the object with its name and labels from the facts; None for Namespaces."""
    if not review.namespace or (review.value is not None and constraints.is_namespace(review.value)):
        return None
    found = facts.find(Reference(group="", kind="Namespace", name=review.namespace))
    return found if isinstance(found, dict) else None


def _by_reason(entries: Iterable[NotJudged]) -> Iterable[model.Unknown]:
    """One unknown part for each reason: after a timeout, all later policies have the same reason."""
    keys: dict[str, list[str]] = {}
    for each in entries:
        keys.setdefault(each.reason, []).append(each.constraint.key)
    for reason, names in keys.items():
        yield from _unknown(names, reason)


def _unknown(names: list[str], reason: str) -> Iterable[model.Unknown]:
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield model.Unknown(path=paths.ROOT, reason=f"policy {', '.join(names[:_NAMED])}{more}: {reason}")


FORGIVEN_REASON: Final = "the mutating webhook did not change this object in time, and would have mended this"

_WORST_FIRST: Final = tuple(model.Outcome)

MUTATES: Final[ContextVar[bool]] = ContextVar("usher-mutates", default=True)
"""Whether the API server sends objects to the mutating webhook. If it does not, an object that comes again is still
unchanged, so a missing mutation is a warning and not an outage. The server sets it by the requests that it gets.
"""


def forgive_missed_mutations(decision: model.Decision, request: Request, evaluator: Evaluator) -> model.Decision:
    """The decision, with warnings instead of denials that the mutations would have mended.

    If the engine does not answer, the decision stays: without a verdict, `failurePolicy: Ignore` would admit it.
    """
    too_large = decision.workload is not None and decision.workload.excess is not None
    if decision.exemption or too_large or request.operation not in (Operation.CREATE, Operation.UPDATE):
        return decision
    if decision.allowed:
        return _require_protection(decision, request, evaluator)
    if not _may_be_mended(_denied(decision), evaluator.catalogue):
        return decision
    try:
        # The engine keeps patches of similar Pods, so controllers that try again and again cost little.
        if not evaluator.patch(request).operations:
            return decision
        merged, after = evaluator.admit(request)
    except (errors.EngineError, errors.MutationError):
        return decision
    missed = _missed(request, merged.applied, evaluator.catalogue)
    mended = _mended(decision, after, evaluator.catalogue)
    if not missed or not mended:
        return decision
    judgements = [
        replace(each, outcome=model.Outcome.WARN, because=FORGIVEN_REASON)
        if each.outcome is model.Outcome.DENY and each.finding in mended
        else each
        for each in decision.judgements
    ]
    denied = any(each.outcome is model.Outcome.DENY for each in judgements)
    wants_error = evaluator.config.mutations.missed == "error"
    return replace(
        decision,
        judgements=tuple(sorted(judgements, key=lambda each: _WORST_FIRST.index(each.outcome))),
        missed=tuple(sorted({evaluator.catalogue.mutation_name(key) for key in missed})),
        try_again=not denied and (wants_error or _protects_others(missed, mended, evaluator.catalogue)),
    )


def _require_protection(decision: model.Decision, request: Request, evaluator: Evaluator) -> model.Decision:
    """The decision; its client has to try again if the object lacks a mutation whose absence no check finds.

    The record of a Pod proves nothing, because its author can write it, and the webhook adds what a Pod lacks. Of other
    kinds the record counts, because the API server may have removed a field that their definition does not have.
    """
    workload = decision.workload
    if workload is None or not decision.unprotected or not _is_mutated(request):
        return decision
    try:
        applied = evaluator.patch(request).applied
    except (errors.EngineError, errors.MutationError):
        return decision
    entries = evaluator.catalogue
    recorded = frozenset() if workload.is_pod else merge.recorded(request.value)
    missed = {
        entries.mutation_name(key)
        for key in {intent.mutation for intent in applied}
        if (entry := entries.mutations.get(key)) is not None and entry.protects_others and not entry.promises
    }
    missed -= recorded
    return replace(decision, missed=tuple(sorted(missed)), try_again=MUTATES.get()) if missed else decision


def _is_mutated(request: Request) -> bool:
    """Whether the API server asks the mutating webhook about a request (`install.manifests.webhooks`)."""
    if request.scaled or request.sub_resource not in _MUTATED:
        return False
    is_pod = request.value.get("kind") == "Pod" and not request.sub_resource
    old = request.old_value
    return not (is_pod and old is not None and old.get("spec") == request.value.get("spec"))


_MUTATED: Final = ("", "ephemeralcontainers")
"""Subresources of requests that the mutating webhook answers."""


def _missed(request: Request, applied: Iterable[model.Intent], entries: Catalogue) -> tuple[str, ...]:
    """Keys of the mutations that the object lacks and that its annotations do not name.

    On CREATE, an object that names a mutation went through the webhook, and the value was removed later. On UPDATE the
    names come from the creation, so they prove nothing.
    """
    recorded = merge.recorded(request.value) if request.operation is Operation.CREATE else frozenset()
    keys = dict.fromkeys(intent.mutation for intent in applied)
    return tuple(key for key in keys if entries.mutation_name(key) not in recorded)


def _mended(decision: model.Decision, after: model.Decision, entries: Catalogue) -> Collection[model.Finding]:
    """The denied findings that the mutated object does not have, without findings of critical checks.

    Empty if usher denies the mutated object for a finding that the object itself does not have.
    """
    before, remaining = _denied(decision), _denied(after)
    # It does not compare messages: a mutation may change the number of pools in a message.
    places = {(finding.check, finding.path) for finding in remaining}
    if places - {(finding.check, finding.path) for finding in before}:
        return ()
    return [
        finding
        for finding in before
        if (finding.check, finding.path) not in places and _may_be_mended([finding], entries)
    ]


def _may_be_mended(findings: Iterable[model.Finding], entries: Catalogue) -> bool:
    return any(entries.checks[finding.check].severity is not Severity.CRITICAL for finding in findings)


def _denied(decision: model.Decision) -> list[model.Finding]:
    return [each.finding for each in decision.judgements if each.outcome is model.Outcome.DENY]


def _protects_others(missed: Iterable[str], mended: Iterable[model.Finding], entries: Catalogue) -> bool:
    """Whether a missed mutation protects other workloads here.

    If checks find its absence, usher.yaml decides: the mutation protects if one of these checks denies. A mutation
    whose absence no check finds always protects.
    """
    denied = {finding.check for finding in mended}
    missing = [entry for key in missed if (entry := entries.mutations.get(key)) is not None]
    return any(
        entry.protects_others and (not entry.promises or not denied.isdisjoint(entry.promises)) for entry in missing
    )


CHARGE_SECONDS: Final = 2.4
"""Seconds within which a review must get all data that it waits for; the API server waits for three."""

_Result = TypeVar("_Result")


class Run(Protocol):
    """Calls a computation in the event loop or in a thread."""

    async def __call__(self, call: Callable[[], _Result], /) -> _Result: ...


Site = Callable[[Review], Awaitable[Found]]
"""The findings of Gatekeeper policies in a review. It does not raise errors that only the policies cause."""


async def no_site(_review: Review) -> Found:
    """An empty result, for servers without policies of Gatekeeper."""
    return NOTHING


class Admission(Protocol):
    """The questions of a review to a cluster; `gpu_quota.live.admission` asks a real one.

    Each method raises ClusterError no later than at `until`, a time of `time.monotonic`.
    """

    async def scaled(  # noqa: PLR0913 - the names of an object
        self, *, group: str, version: str, plural: str, namespace: str, name: str, until: float
    ) -> paths.Object | None:
        """The object that a request scales; None if it does not exist, or usher may not read it."""
        ...

    async def charge(self, request: ChargeRequest, *, until: float, force: bool = False) -> QuotaRefusal | Full | None:
        """Charges the quota of a workload. Returns None if it was charged or there is nothing to charge."""
        ...

    def undoing(self, request: ChargeRequest) -> AbstractContextManager[None]:
        """Takes back what was charged for a request if the block raises an error."""
        ...


def validate(body: bytes, evaluator: Evaluator) -> Answer:
    """Decides about the object of a review.

    Raises:
        ReviewError: the body is not a review that we answer.
        EngineError: no verdict; the caller must answer 5xx so that failurePolicy decides.
    """
    review = parse(body)
    return _answer(review, decide(review, evaluator))


def decide(review: Review, evaluator: Evaluator, *, refusal: QuotaRefusal | None = None) -> model.Decision:
    """The decision about the object of a review; empty if there is no object.

    Args:
        review: `prepare_review` has replaced a scale by its scaled object. Without a cluster that object is unknown.
        refusal: why a quota refused the charge.

    Raises:
        EngineError: no verdict.
    """
    if review.value is None:
        return model.Decision(workload=None)
    if admission_review.scaled_field(review):
        reason = "the object that it scales is not known here: no cluster is configured"
        return model.Decision(workload=None, unknowns=(model.Unknown(path="", reason=reason),))
    request = replace(request_of(review), refusal=refusal)
    return forgive_missed_mutations(evaluator.decide(request), request, evaluator)


async def run_inline(call: Callable[[], _Result], /) -> _Result:
    """Calls in the event loop: the embedded engine takes less time than a switch to a thread."""
    return call()


async def validate_and_charge(
    body: bytes, evaluator: Evaluator, admission: Admission | None, *, run: Run = run_inline, site: Site = no_site
) -> Answer:
    """Decides about the object of a review, and charges the quota of a workload that it admits.

    usher's checks come first, then the policies of the site, and the charge last: usher does not charge a workload that
    a policy denies. A refused charge becomes a finding: the checks decide again, and usher.yaml may let the check only
    warn. Then usher charges the workload by force.

    Raises:
        ReviewError: the body is not a review that we answer.
        EngineError: no verdict; the caller must answer 5xx so that failurePolicy decides.
        CountingError: no verdict yet, because usher counts what exists; the client should try again.
        ClusterError: no verdict, because the quota could not be charged.
    """
    until = min(time.monotonic() + CHARGE_SECONDS, ANSWER_UNTIL.get())
    sent = await run(partial(parse, body))
    review = sent if admission is None else await prepare_review(sent, admission, until=until)
    decision = await run(partial(decide, review, evaluator))
    found = await _judge_by_site_policies(site, sent, decision)
    request = charge_request(review, decision) if joined(decision, found).allowed else None
    if admission is None or request is None:
        return _answer(review, joined(decision, found))
    with admission.undoing(request):
        refusal = _refusal(await admission.charge(request, until=until))
        if refusal is not None:
            decision = await run(partial(decide, review, evaluator, refusal=refusal))
            if decision.allowed:
                _refusal(await admission.charge(request, until=until, force=True))
        return _answer(review, joined(decision, found), quota=refusal.quota if refusal is not None else None)


async def _judge_by_site_policies(site: Site, sent: Review, decision: model.Decision) -> Found:
    """The findings of policies. If they fail, an existing denial stays: under Ignore the object would come in."""
    try:
        return await site(sent)
    except Exception:
        if decision.allowed:
            raise
        return Found(unknowns=(model.Unknown(path=paths.ROOT, reason="a fault of usher ended the site's policies"),))


async def prepare_review(review: Review, admission: Admission, *, until: float) -> Review:
    """The review; for a scale, the review of an UPDATE of its scaled object."""
    if not admission_review.scaled_field(review):
        return review
    resource = review.resource
    scaled = await admission.scaled(
        group=resource.group,
        version=resource.version,
        plural=resource.plural,
        namespace=review.namespace,
        name=review.name,
        until=until,
    )
    return review if scaled is None else admission_review.as_update_of_scaled(review, scaled)


def charge_request(review: Review, decision: model.Decision) -> ChargeRequest | None:
    """The charge for an object that usher admits; None for an object that makes no pods."""
    workload, value = decision.workload, review.value
    if workload is None or value is None or decision.exemption or review.sub_resource or not workload.makes_pods:
        return None
    return ChargeRequest(
        uid=review.uid,
        workload=workload,
        value=value,
        old_value=review.old_value if review.operation is Operation.UPDATE else None,
        creates=review.operation is Operation.CREATE,
        dry_run=review.dry_run,
    )


def _refusal(found: QuotaRefusal | Full | None) -> QuotaRefusal | None:
    if isinstance(found, Full):
        raise errors.ClusterError(
            f"the GPUQuota has no room for more than {found.entries} charges; divide its namespaces among several"
        )
    return found


def _answer(review: Review, decision: model.Decision, *, quota: Quota | None = None) -> Answer:
    """The answer of the validating webhook to a decision, with the quota that refused the charge."""
    answer = admission_review.validation_response(review.uid, decision, display_name=_display_name(review))
    return Answer(
        body=admission_review.encode(answer),
        review=review,
        allowed=decision.allowed,
        outcomes={judgement.series: judgement.outcome.value for judgement in reversed(decision.judgements)},
        denials=tuple(_place(each) for each in decision.judgements if each.outcome is model.Outcome.DENY),
        observed={each.name: _place(each) for each in decision.judgements if each.because == OBSERVED},
        missed=decision.missed,
        try_again=decision.try_again,
        quota=quota.name if quota is not None and not quota.declared else "",
        unknowns=len(decision.unknowns),
    )


def _place(judgement: model.Judgement) -> str:
    return f"{judgement.rule} {judgement.finding.path or '/'}"


def _display_name(review: Review) -> str:
    """The object as people call it. It may have no name yet, and no namespace of its own."""
    metadata = review.value.get("metadata") if review.value else None
    generated = metadata.get("generateName") if isinstance(metadata, dict) else None
    name = review.name or (f"{generated}*" if isinstance(generated, str) else "(unnamed)")
    qualified = f"{review.namespace}/{name}" if review.namespace else name
    return f"{review.kind[:63]} {qualified[:317]}"


_PREFIX: Final = "gpu-usher: "
"""The prefix of our warnings, which users see among those of others."""


def mutate(body: bytes, evaluator: Evaluator) -> Answer:
    """The patch for the object of a review, or the denial of an object that is too much to judge.

    Otherwise the object could come in without its mutations, and without a verdict where /validate is late.

    Raises:
        ReviewError: the body is not a review that we answer.
        EngineError: the engine gave no usable answer.
        MutationError: a patch of ours would not apply.
    """
    review = parse(body)
    request = request_of(review)
    try:
        merged = merge.Merged(value={}) if review.value is None else evaluator.patch(request)
    except errors.ExhaustedError as error:
        return _answer(review, evaluator.exhausted(request, error))
    if excess := request.excess or merged.excess:
        return _answer(review, evaluator.decide(replace(request, excess=excess)))
    names = tuple(sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in merged.applied}))
    conflicts = tuple(_conflict(intents, evaluator) for intents in merged.conflicts)
    texts = (*_summary(merged, evaluator), *conflicts, *_left_out(merged, evaluator))
    warnings = [f"{_PREFIX}{text}" for text in texts]
    patched = admission_review.mutation_response(review.uid, merged.operations, names=names, warnings=warnings)
    return Answer(
        body=admission_review.encode(patched), review=review, allowed=True, mutations=names, conflicts=conflicts
    )


def _summary(merged: merge.Merged, evaluator: Evaluator) -> Iterator[str]:
    """Names the applied mutations, in one line if they fit, so that users are not surprised."""
    if not merged.applied:
        return
    mutations = (intent.mutation for intent in merged.applied if not evaluator.catalogue.is_silent(intent.mutation))
    counts = Counter(map(evaluator.catalogue.mutation_name, mutations))
    parts = [name if count == 1 else f"{name} ({count} places)" for name, count in sorted(counts.items())]
    line = ""
    for part in parts:
        longer = f"{line}, {part}" if line else f"applied {part}"
        if line and len(_PREFIX) + len(longer) > admission_review.room_for_warning(admission_review.MAX_WARNINGS):
            yield line
            longer = f"applied {part}"
        line = longer
    if line:
        yield line


def _left_out(merged: merge.Merged, evaluator: Evaluator) -> Iterator[str]:
    """Notes of mutations for the user, and why mutations were skipped."""
    notes = [(note.mutation, note.reason) for note in merged.warnings]
    notes += [(each.intent.mutation, each.reason) for each in merged.skipped if each.warned]
    yield from (f"{evaluator.catalogue.mutation_name(key)}: {reason}" for key, reason in dict.fromkeys(notes))


def _conflict(intents: Sequence[model.Intent], evaluator: Evaluator) -> str:
    names = sorted({evaluator.catalogue.mutation_name(intent.mutation) for intent in intents})
    place = f"{strategies.STRATEGIES[intents[0].field].words} at {paths.readable(intents[0].at)}"
    return f"{place} left as it is: different values from {' and '.join(names)}"


CONFIGURATION_KEY: Final = "usher.yaml"
"""The key in the ConfigMap; the Deployment mounts it under this name."""

CONFIGURATION_OUTCOME: Final = "configuration"
"""The name of this review in logs and metrics."""

_MAX_LINE: Final = 500


def judge_configuration(body: bytes, evaluator: Evaluator) -> Answer:
    """Denies a ConfigMap whose usher.yaml a server could not load, and names all mistakes.

    Running servers keep the last good file, but a new one would not start.

    Raises:
        ReviewError: the body is not a review that we answer.
    """
    review = parse(body)
    if review.value is None or review.operation not in (Operation.CREATE, Operation.UPDATE):
        return _allowed(review)
    content = _configuration_text(review.value)
    # A finalizer or a label must be changeable even if the content was already broken.
    if review.operation is Operation.UPDATE and content == _configuration_text(review.old_value or {}):
        return _allowed(review)
    if content is None:
        return _refused(review, [f"data has no key {CONFIGURATION_KEY}"])
    try:
        config = config_problems.checked(content, evaluator.catalogue)
    except errors.ConfigError as error:
        return _refused(review, str(error).splitlines())
    known = evaluator.facts.names("", "Namespace")
    doubts = [*config_problems.warnings(config, known), *config_problems.expired(config, evaluator.today())]
    return _allowed(review, *(reason for _, reason in doubts))


def _configuration_text(value: paths.Object) -> bytes | None:
    """The content of usher.yaml; None if it is missing or unreadable."""
    data, binary = value.get("data"), value.get("binaryData")
    text = data.get(CONFIGURATION_KEY) if isinstance(data, dict) else None
    if isinstance(text, str):
        return text.encode(errors="replace")
    encoded = binary.get(CONFIGURATION_KEY) if isinstance(binary, dict) else None
    try:
        return base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else None
    except (binascii.Error, ValueError):
        return None


def _allowed(review: Review, *warnings: str) -> Answer:
    answer: admission_review.Response = {"uid": review.uid, "allowed": True}
    if warnings:
        answer["warnings"] = admission_review.sanitised_warnings(warnings)
    return Answer(body=admission_review.encode(answer), review=review, allowed=True)


def _refused(review: Review, mistakes: list[str]) -> Answer:
    lines = ["no server could start with this usher.yaml; the last good one stays in use. Correct it:"]
    length = len(lines[0])
    for number, mistake in enumerate(mistakes):
        line = f"  {admission_review.on_one_line(mistake, _MAX_LINE)}"
        length += len(line.encode()) + 1
        if length > admission_review.MAX_MESSAGE - 200:
            lines.append(f"  ... and {len(mistakes) - number} more")
            break
        lines.append(line)
    answer: admission_review.Response = {
        "uid": review.uid,
        "allowed": False,
        "status": {"code": 422, "reason": "Invalid", "message": "\n".join(lines)},
    }
    return Answer(
        body=admission_review.encode(answer), review=review, allowed=False, outcomes={CONFIGURATION_OUTCOME: "deny"}
    )
