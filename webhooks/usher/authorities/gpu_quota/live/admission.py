"""Two steps that a validating review waits for: reading the object that a request scales, and charging a quota.

Reading and writing take milliseconds, so both run in threads while the event loop answers other reviews. Most reviews
have nothing to charge, and usher knows this without a read.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from usher import errors, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.charge_request import ChargeRequest
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Full, Refused
from usher.authorities.gpu_quota.live import confirmation, object_metadata
from usher.authorities.gpu_quota.live.account_heads import Account
from usher.authorities.gpu_quota.live.accounts import Accounts
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.metering import NO_METER, Meter, Result
from usher.authorities.gpu_quota.live.object_charges import ObjectCharges
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.authorities.gpu_quota.live.owners import Owners
from usher.authorities.knowledge import Knowledge
from usher.cluster import api as cluster_api
from usher.cluster.api import ObjectPath
from usher.dataclass import dataclass

_THREADS: Final = 64

_LONGEST_UID: Final = 128
"""The bound in the definition of GPUQuota."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charge:
    """The charge of a quota for one request."""

    quota: Quota
    entry: Entry
    request: ChargeRequest


class Admission:
    """Charges the workloads that one process allows; each other replica has its own."""

    def __init__(  # noqa: PLR0913 - all named
        self,
        api: Api,
        accounts: Accounts,
        holdings: Holdings,
        knowledge: Callable[[], Knowledge],
        *,
        clock: Callable[[], float] = time.time,
        meter: Meter = NO_METER,
    ) -> None:
        """Takes the parts that it works with.

        Args:
            api: the API server; it must answer within the time that a review has, or not at all.
            accounts: the accounts of all quotas.
            holdings: the existing objects.
            knowledge: gives the knowledge in service.
            clock: seconds since 1970.
            meter: counts charges.
        """
        self._api = api
        self._accounts = accounts
        self._holdings = holdings
        self._knowledge = knowledge
        self._clock = clock
        self._meter = meter
        self._owners = Owners(api, holdings, lambda value: ObjectCharges(known=knowledge()).of(value))
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="charging")

    async def scaled(  # noqa: PLR0913 - what names an object
        self, *, group: str, version: str, plural: str, namespace: str, name: str, until: float
    ) -> paths.Object | None:
        """The object that a request scales; None where it does not exist, or usher has no permission to read it.

        Raises:
            ClusterError: the object cannot be read by `until`, of `time.monotonic`.
        """
        at = ObjectPath(group=group, version=version, plural=plural, namespace=namespace, name=name)
        return await self._in_thread(cluster_api.read_object, self._api, at, until=until)

    async def charge(self, request: ChargeRequest, *, until: float, force: bool = False) -> QuotaRefusal | Full | None:
        """Charges the quota of a workload; None after a charge, or without anything to charge.

        Args:
            request: the workload.
            until: when the charge must be written, of `time.monotonic`.
            force: charges even if the limits do not allow it.

        Raises:
            ClusterError: the quota cannot be charged in time.
        """
        charge = self._charge_of(request)
        if charge is None:
            return None
        began = time.monotonic()
        result, found = Result.FAILED, None
        try:
            if await self._is_covered(charge, until=until):
                result = Result.COVERED
            else:
                result, found = await self._in_thread(self._write, charge, force, until, until=until)
        finally:
            self._meter.charged(result, seconds=time.monotonic() - began)
        return QuotaRefusal(quota=charge.quota, excesses=found.excesses) if isinstance(found, Refused) else found

    def close(self) -> None:
        """Accepts no more charges; running charges still end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _charge_of(self, request: ChargeRequest) -> _Charge | None:
        """The charge of a request; None without anything to charge."""
        workload, known = request.workload, self._knowledge()
        charges = ObjectCharges(known=known)
        quota = charges.quota(workload.namespace)
        if quota is None or isinstance(quota, Undecided):
            return None
        amounts = charges.of_workload(workload, quota)
        if not amounts or amounts == _before(request, charges, quota):
            return None
        # The name of a workload may be a prefix (generateName) that several objects share. The uid of the review
        # identifies an object that has neither a name nor a uid yet.
        entry = Entry(
            group=workload.group,
            kind=workload.kind,
            namespace=workload.namespace,
            name=object_metadata.text(request.value, "name"),
            uid=(object_metadata.text(request.value, "uid") or request.uid)[:_LONGEST_UID],
            amounts=amounts,
            reserved_until=int(self._clock()) + known.config.facts.reservation,
        )
        return _Charge(quota=quota, entry=entry, request=request)

    async def _in_thread(self, call: Callable[..., _Answer], *arguments: object, until: float) -> _Answer:
        """The result of a call that waits for the API server. Raises ClusterError if the result is late."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(until - time.monotonic()):
                return await loop.run_in_executor(self._threads, call, *arguments)
        except TimeoutError:
            raise _too_late() from None

    async def _is_covered(self, charge: _Charge, *, until: float) -> bool:
        """Whether an owner was charged for the object."""
        owner = object_metadata.owner_uid(charge.request.value)
        if not owner:
            return False
        if self._holdings.get(owner) is not None:
            # Without a read, counting is faster than a handover to a thread.
            return self._covers(charge, until)
        return await self._in_thread(self._covers, charge, until, until=until)

    def _covers(self, charge: _Charge, until: float) -> bool:
        root = self._owners.charged_owner(charge.request.value, until=until)
        if root is None or root.finished:
            return False
        is_pod = charge.entry.kind == "Pod" and not charge.entry.group
        return not is_pod or self._holdings.has_room(root, charge.entry.amounts)

    def _write(self, charge: _Charge, force: bool, until: float) -> "_Outcome":  # noqa: FBT001 - run_in_executor takes no keywords
        ending = self._ending(charge)
        left = until - time.monotonic()
        writer = self._accounts.writer(charge.quota)
        written = writer.change(lambda account: _charged(account, charge, ending, force=force), within=left)
        try:
            return written.result(timeout=max(left, 0))
        except TimeoutError:
            raise _too_late() from None

    def _ending(self, charge: _Charge) -> ByClasses:
        if not charge.request.creates:
            uid = object_metadata.text(charge.request.value, "uid") or None
            return confirmation.ending(charge.entry, holdings=self._holdings, current=uid)
        return confirmation.ending_at_creation(
            charge.request.value, charge.entry, api=self._api, holdings=self._holdings
        )


def _before(request: ChargeRequest, charges: ObjectCharges, quota: Quota) -> ByClasses | None:
    """The charge of the object before an UPDATE."""
    if request.old_value is None:
        return None
    old = charges.known.workload(request.old_value, namespace=request.workload.namespace)
    return None if old is None else charges.of_workload(old, quota)


_Outcome = tuple[Result, Refused | Full | None]


def _charged(account: Account, charge: _Charge, ending: ByClasses, *, force: bool) -> tuple[Account, _Outcome]:
    limits = account.quota.limits
    found = (ledger.force if force else ledger.charge)(account.ledger, charge.entry, limits, ending)
    match found:
        case ledger.Refused():
            return account, (Result.REFUSED, found)
        case ledger.Full():
            return account, (Result.FULL, found)
    if charge.request.dry_run:
        return account, (Result.DRY_RUN, None)
    before, after = (ledger.find(each, charge.entry) for each in (account.ledger, found.ledger))
    covered = after is None or (before is not None and before.amounts == after.amounts)
    result = Result.COVERED if covered else Result.FORCED if force else Result.GRANTED
    return account.charged(found.ledger), (result, None)


def _too_late() -> errors.ClusterError:
    return errors.ClusterError("the API server did not answer in time")
