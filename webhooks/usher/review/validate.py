"""The validating review: takes a body and returns a body with a verdict.

A server with a cluster also waits for the object that a request scales, and for the charge of a quota.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final, Protocol, TypeVar

from usher import errors, model, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota.charge_request import ChargeRequest
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Full
from usher.policy.enforcement import OBSERVED
from usher.policy.engines.deadline import UNTIL
from usher.policy.evaluator import Evaluator, Operation
from usher.review import missed_mutations, oversized, response, scaling
from usher.review.parsing import Review, parse, request_of
from usher.review.response import Answer
from usher.review.site_policies import NOTHING, Found, joined

WITHIN: Final = 2.0
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


def validate(body: bytes, evaluator: Evaluator) -> Answer:
    """Decides about the object of a review.

    Raises:
        ReviewError: the body is not a review that we answer.
        EngineError: no verdict; the caller must answer 5xx so that failurePolicy decides.
    """
    review = parse(body)
    return _oversized(review, evaluator) or _answer(review, decide(review, evaluator))


def decide(review: Review, evaluator: Evaluator, *, refusal: QuotaRefusal | None = None) -> model.Decision:
    """The decision about the object of a review; empty if there is no object.

    Args:
        review: `prepare_review` has replaced a scale by its scaled object. Without a cluster that object is unknown.
        evaluator: decides.
        refusal: why a quota refused the charge.

    Raises:
        EngineError: no verdict.
    """
    if review.value is None:
        return model.Decision(workload=None)
    if scaling.field(review):
        reason = "the object that it scales is not known here: no cluster is configured"
        return model.Decision(workload=None, unknowns=(model.Unknown(path="", reason=reason),))
    request = replace(request_of(review), refusal=refusal)
    return missed_mutations.forgiven(evaluator.decide(request), request, evaluator)


async def inline(call: Callable[[], _Result], /) -> _Result:
    """Calls in the event loop: the embedded engine takes less time than a switch to a thread."""
    return call()


async def validate_and_charge(
    body: bytes, evaluator: Evaluator, admission: Admission | None, *, run: Run = inline, site: Site = no_site
) -> Answer:
    """Decides about the object of a review, and charges the quota of a workload that it admits.

    usher's checks come first, then the policies of the site, and the charge last: usher does not charge a workload that
    a policy denies. A refused charge becomes a finding: the checks decide again, and usher.yaml may let the check only
    warn. Then usher charges the workload by force.

    Raises:
        ReviewError: the body is not a review that we answer.
        EngineError: no verdict; the caller must answer 5xx so that failurePolicy decides.
        ClusterError: no verdict, because the quota could not be charged.
    """
    until = min(time.monotonic() + WITHIN, UNTIL.get())
    sent = await run(partial(parse, body))
    review = sent if admission is None else await prepared(sent, admission, until=until)
    if (answer := await run(partial(_oversized, review, evaluator)) if review.many else None) is not None:
        found = await site(sent) if answer.allowed else NOTHING
        return _answer(review, joined(oversized.decision(review), found)) if found else answer
    decision = await run(partial(decide, review, evaluator))
    found = await _found(site, sent, decision)
    request, refusal = charge_request(review, decision) if joined(decision, found).allowed else None, None
    if admission is not None and request is not None:
        refusal = _refusal(await admission.charge(request, until=until))
        if refusal is not None:
            decision = await run(partial(decide, review, evaluator, refusal=refusal))
            if decision.allowed:
                _refusal(await admission.charge(request, until=until, force=True))
    return _answer(review, joined(decision, found), quota=refusal.quota if refusal is not None else None)


async def _found(site: Site, sent: Review, decision: model.Decision) -> Found:
    """The findings of policies. If they fail, an existing denial stays: under Ignore the object would come in."""
    try:
        return await site(sent)
    except Exception:
        if decision.allowed:
            raise
        return Found(unknowns=(model.Unknown(path=paths.ROOT, reason="a fault of usher ended the site's policies"),))


async def prepared(review: Review, admission: Admission, *, until: float) -> Review:
    """The review; for a scale, the review of an UPDATE of its scaled object."""
    if not scaling.field(review):
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
    return review if scaled is None else scaling.applied(review, scaled)


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


def _oversized(review: Review, evaluator: Evaluator) -> Answer | None:
    return oversized.validated(review, evaluator) if review.many else None


def _refusal(found: QuotaRefusal | Full | None) -> QuotaRefusal | None:
    if isinstance(found, Full):
        raise errors.ClusterError(
            f"the GPUQuota has no room for more than {found.entries} charges; divide its namespaces among several"
        )
    return found


def _answer(review: Review, decision: model.Decision, *, quota: Quota | None = None) -> Answer:
    """The answer of the validating webhook to a decision, with the quota that refused the charge."""
    answer = response.validated(review.uid, decision, display_name=_display_name(review))
    return Answer(
        body=response.encode(answer),
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
