"""A validating review that may have to wait: for the object that is scaled, for the quota that is charged."""

import asyncio
import time
from typing import Final, Protocol, TypeVar

from usher import errors, model
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota.ledger import Full, Refused
from usher.policy.evaluator import Evaluator
from usher.review import mutate
from usher.review.parsing import Review, parse

WITHIN: Final = 2.0
"""Seconds in which all that a review waits for has to come; the API server waits for three."""

_Bill = TypeVar("_Bill")


class Gate(Protocol[_Bill]):
    """What has to be asked of a cluster; `gpu_quota.live.admission` asks a real one."""

    async def prepared(self, review: Review, *, until: float) -> Review:
        """The review; of a scale, that of the object which is scaled. Raises ClusterError, by then at the latest."""
        ...

    def bill(self, review: Review, decision: model.Decision) -> _Bill | None:
        """What there is to charge for what is let in; None where there is nothing."""
        ...

    async def charge(self, bill: _Bill, *, until: float, force: bool = False) -> Refused | Full | None:
        """Charges a quota, or says what stands against it; `force` charges all the same.

        Raises ClusterError, at the time `until` (of `time.monotonic`) at the latest.
        """
        ...

    def refusal(self, bill: _Bill, refused: Refused) -> QuotaRefusal:
        """What the policies are told."""
        ...


async def validate(body: bytes, evaluator: Evaluator, gate: Gate[_Bill]) -> mutate.Answer:
    """Decides about the object of a review, and charges what is let in.

    A quota that has nothing left is a finding as any other: the policies say it, and usher.yaml may let it only warn.
    Then the workload is charged all the same.

    Raises:
        ReviewError: the body is no review that we answer.
        EngineError: no verdict; the caller must answer 5xx so that failurePolicy decides.
        ClusterError: no verdict, because the quota could not be charged.
    """
    until = time.monotonic() + WITHIN
    review = await gate.prepared(parse(body), until=until)
    decision = await _decision(review, evaluator)
    bill = gate.bill(review, decision) if decision.allowed else None
    if bill is not None:
        found = _said(await gate.charge(bill, until=until))
        if found is not None:
            decision = await _decision(review, evaluator, refusal=gate.refusal(bill, found))
            if decision.allowed:
                _said(await gate.charge(bill, until=until, force=True))
    return mutate.answered(review, decision)


async def _decision(review: Review, evaluator: Evaluator, *, refusal: QuotaRefusal | None = None) -> model.Decision:
    if evaluator.engine.waits:
        return await asyncio.to_thread(mutate.decide, review, evaluator, refusal=refusal)
    # The embedded engine takes less time than handing over to a thread would.
    return mutate.decide(review, evaluator, refusal=refusal)


def _said(found: Refused | Full | None) -> Refused | None:
    if isinstance(found, Full):
        raise errors.ClusterError(
            f"the GPUQuota has no room for more than {found.entries} charges; divide its namespaces among several"
        )
    return found
