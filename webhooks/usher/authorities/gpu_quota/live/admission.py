"""What a review has to wait for: the object that is scaled, and the quota that is charged.

Reading and writing take milliseconds in which the event loop answers others, so both run in threads; whether there is
anything to wait for is known at once, and for nearly all reviews there is not.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from usher import errors, model, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Full, Refused
from usher.authorities.gpu_quota.live import confirmation, observer
from usher.authorities.gpu_quota.live.account_store import Account, Api, ConfigMaps, Statuses
from usher.authorities.gpu_quota.live.accounts import Book, Shelf
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.metering import NOBODY, Meter, Result
from usher.authorities.gpu_quota.live.object_charges import Tariff
from usher.authorities.gpu_quota.live.owners import Owners, read
from usher.policy.evaluator import Evaluator, Operation
from usher.review import scaling
from usher.review.mutate import request_of
from usher.review.parsing import Review

WITHIN: Final = 2.0
"""Seconds in which whoever waits for no review changes a quota."""

_THREADS: Final = 64

_LONGEST_UID: Final = 128
"""As the definition of GPUQuota bounds it."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What an object is to be charged."""

    quota: Quota
    entry: Entry
    value: paths.Object
    creates: bool
    """Whether there is no object of its name yet, unless the request is answered with that."""
    dry_run: bool


class Gate:
    """Charges what is let in, for one process; other replicas have gates of their own."""

    def __init__(  # noqa: PLR0913 - what it asks, and of whom
        self,
        api: Api,
        holdings: Holdings,
        evaluator: Callable[[], Evaluator],
        *,
        namespace: str,
        clock: Callable[[], float] = time.time,
        meter: Meter = NOBODY,
    ) -> None:
        """Takes all that is asked.

        Args:
            api: the API server; it is to answer within the time that a review has, or not at all.
            holdings: what exists.
            evaluator: gives the evaluator in service.
            namespace: our own, in which the accounts of the quotas of usher.yaml are kept.
            clock: seconds since 1970.
            meter: what counts.
        """
        self._api = api
        self._holdings = holdings
        self._evaluator = evaluator
        self._clock = clock
        self._meter = meter
        self._owners = Owners(api, holdings, lambda: Tariff(evaluator=evaluator()))
        self._namespace = namespace
        self._books: dict[str, Book[Account]] = {}
        """By what people call the quota: a GPUQuota may have the name of one of usher.yaml."""
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="charging")

    def book(self, quota: Quota) -> Book[Account]:
        """The book of a quota."""
        return self._books.setdefault(str(quota), Book(self.shelf(quota)))

    def shelf(self, quota: Quota) -> Shelf[Account]:
        """Where the account of a quota is kept."""
        if not quota.declared:
            return Statuses(self._api, quota.name, meter=self._meter)
        return ConfigMaps(self._api, lambda: self._declared(quota.name), namespace=self._namespace, meter=self._meter)

    def keep_books(self, quotas: Iterable[Quota]) -> None:
        """Forgets the books of all other quotas, which are deleted."""
        for name in self._books.keys() - set(map(str, quotas)):
            self._books.pop(name, None)

    def _declared(self, name: str) -> Quota:
        """A quota of usher.yaml as it is now."""
        for entry in self._evaluator().config.quotas:
            if entry.name == name:
                return gpu_quota_definitions.of_entry(entry)
        raise errors.ClusterError(f"quota {name} is no longer in usher.yaml")

    async def prepared(self, review: Review, *, until: float) -> Review:
        """The review; of a scale, that of the object which is scaled.

        Raises:
            ClusterError: the object cannot be read in time.
        """
        if not scaling.field(review):
            return review
        scaled = await self._in_thread(self._scaled, review, until=until)
        return review if scaled is None else scaling.applied(review, scaled)

    def bill(self, review: Review, decision: model.Decision) -> Bill | None:
        """What there is to charge for what is let in; None where there is nothing."""
        workload, value = decision.workload, review.value
        if workload is None or value is None or decision.exemption or review.sub_resource or not workload.makes_pods:
            return None
        tariff = Tariff(evaluator=self._evaluator())
        quota = tariff.quota(workload.namespace)
        if quota is None or isinstance(quota, Undecided):
            return None
        charge = tariff.charged(workload, quota)
        if not charge or (review.operation is Operation.UPDATE and charge == self._before(review, tariff, quota)):
            return None
        # Not the workload's name, which tells a prefix where there is no name yet: such objects are not one. Nor are
        # those that have no uid either, of which only the request can be told from others.
        entry = Entry(
            group=workload.group,
            kind=workload.kind,
            namespace=workload.namespace,
            name=_of_metadata(value, "name"),
            uid=(_of_metadata(value, "uid") or review.uid)[:_LONGEST_UID],
            amounts=charge,
            reserved_until=int(self._clock()) + tariff.evaluator.config.facts.reservation,
        )
        creates = review.operation is Operation.CREATE
        return Bill(quota=quota, entry=entry, value=value, creates=creates, dry_run=review.dry_run)

    async def charge(self, bill: Bill, *, until: float, force: bool = False) -> Refused | Full | None:
        """Charges a quota, or says what stands against it; `force` charges whatever stands against it.

        Raises:
            ClusterError: it cannot be charged in time, and nobody can say whether it may be.
        """
        began = time.monotonic()
        result, found = Result.FAILED, None
        try:
            if await self._answered_for(bill, until=until):
                result = Result.COVERED
            else:
                result, found = await self._in_thread(self._change, bill, force, until, until=until)
        finally:
            self._meter.charged(result, seconds=time.monotonic() - began)
        return found

    def refusal(self, bill: Bill, refused: Refused) -> QuotaRefusal:
        """What the policies are told."""
        return QuotaRefusal(quota=bill.quota, excesses=refused.excesses)

    def close(self) -> None:
        """Charges no more; what is under way still ends."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, call: Callable[..., _Answer], *arguments: object, until: float) -> _Answer:
        """What a call that waits for the API server returns; nobody waits for it for longer than until then."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(until - time.monotonic()):
                return await loop.run_in_executor(self._threads, call, *arguments)
        except TimeoutError:
            raise _too_late() from None

    async def _answered_for(self, bill: Bill, *, until: float) -> bool:
        """Whether it is within what somebody above it is charged."""
        owner = observer.owner(bill.value)
        if not owner:
            return False
        if self._holdings.get(owner) is not None:
            # Nothing is read then: to count takes less time than handing over to a thread would.
            return self._covered(bill, until)
        return await self._in_thread(self._covered, bill, until, until=until)

    def _covered(self, bill: Bill, until: float) -> bool:
        root = self._owners.answering(bill.value, until=until)
        if root is None or root.finished:
            return False
        is_pod = bill.entry.kind == "Pod" and not bill.entry.group
        return not is_pod or self._holdings.room(root, bill.entry.amounts)

    def _change(self, bill: Bill, force: bool, until: float) -> "_Outcome":  # noqa: FBT001 - run_in_executor takes no keywords
        ending = self._ending(bill)
        left = until - time.monotonic()
        changed = self.book(bill.quota).change(
            lambda account: _charged(account, bill, ending, force=force), within=left
        )
        try:
            return changed.result(timeout=max(left, 0))
        except TimeoutError:
            raise _too_late() from None

    def _ending(self, bill: Bill) -> ByClasses:
        if not bill.creates:
            return confirmation.ending(bill.entry, holdings=self._holdings)
        return confirmation.ending_at_creation(bill.value, bill.entry, api=self._api, holdings=self._holdings)

    def _before(self, review: Review, tariff: Tariff, quota: Quota) -> object:
        """What the object was charged as it was; None where it was not there."""
        if review.old_value is None:
            return None
        old = tariff.evaluator.workload(replace(request_of(review), value=review.old_value))
        return None if old is None else tariff.charged(old, quota)

    def _scaled(self, review: Review) -> paths.Object | None:
        resource = review.resource
        scale: paths.Object = {"metadata": {"namespace": review.namespace}}
        return read(
            self._api,
            resource.plural,
            group=resource.group,
            version=resource.version,
            of=scale,
            name=review.name,
            uid=None,
        )


_Outcome = tuple[Result, Refused | Full | None]


def _charged(account: Account, bill: Bill, ending: ByClasses, *, force: bool) -> tuple[Account, _Outcome]:
    limits = account.quota.limits
    found = (ledger.force if force else ledger.charge)(account.ledger, bill.entry, limits, ending)
    match found:
        case ledger.Refused():
            return account, (Result.REFUSED, found)
        case ledger.Full():
            return account, (Result.FULL, found)
    if bill.dry_run:
        return account, (Result.DRY_RUN, None)
    before, after = (ledger.find(each, bill.entry) for each in (account.ledger, found.ledger))
    covered = after is None or (before is not None and before.amounts == after.amounts)
    result = Result.COVERED if covered else Result.FORCED if force else Result.GRANTED
    return replace(account, ledger=found.ledger), (result, None)


def _too_late() -> errors.ClusterError:
    return errors.ClusterError("the API server did not answer in time")


def _of_metadata(value: paths.Object, field: str) -> str:
    metadata = value.get("metadata")
    text = metadata.get(field) if isinstance(metadata, dict) else None
    return text if isinstance(text, str) else ""
