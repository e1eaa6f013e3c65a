"""Steps that a validating review waits for: reading the object that a request scales, and charging a quota.

A review without a verdict leaves no charge: what was written for it is taken back (`Admission.undoing`).

Reading and writing take milliseconds, so both run in threads while the event loop answers other reviews. Most reviews
have nothing to charge, and usher knows this without a read.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import ByClasses, sum_of_charges
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Action, Adopt, Full, Holding, Refused, Release, Settle
from usher.authorities.gpu_quota.live import holdings as live_holdings
from usher.authorities.gpu_quota.live import observer
from usher.authorities.gpu_quota.live.account_store import NO_METER, Account, Api, ChargeResult, Meter
from usher.authorities.gpu_quota.live.accounts import Accounts
from usher.authorities.gpu_quota.live.holdings import MOST_OWNERS, Holdings, IsCharged, ObjectCharges
from usher.authorities.gpu_quota.live.observer import ChargeOf
from usher.authorities.gpu_quota.status import ChargeRequest
from usher.authorities.knowledge import Knowledge
from usher.cluster import api as cluster_api
from usher.cluster.api import Lists, ObjectPath, Target
from usher.cluster.http_clients import Backoff
from usher.kinds.kind import FactKind
from usher.kinds.registry import WORKLOADS

_TOO_LATE: Final = "its owners could not be read in time"


class Owners:
    """Follows owner references from an object to the workload that was charged for it."""

    def __init__(
        self,
        api: Lists,
        holdings: Holdings,
        charge_of: ChargeOf,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes the API server, the existing objects, a function that gives their charges, and a clock in seconds."""
        self._api = api
        self._holdings = holdings
        self._charge_of = charge_of
        self._clock = clock

    def charged_owner(self, value: paths.Object, *, until: float | None = None) -> Holding | None:
        """The topmost charged workload above an object; None where no owner was charged.

        A new controller makes pods at once, so an owner that no watch has shown yet is read.

        Raises:
            ClusterError: the API server does not answer, or it is later than `until`.
        """
        lowest = live_holdings.owner_uid(value)
        below = value
        for _ in range(MOST_OWNERS):
            uid = live_holdings.owner_uid(below)
            if not uid or self._holdings.get(uid) is not None:
                break
            if until is not None and self._clock() > until:
                raise errors.ClusterError(_TOO_LATE)
            found = self._read_existing(below)
            if found is None:
                break
            held = observer.held(observer.kept(found, self._charge_of))
            if held is not None:
                self._holdings.put_read(held)
            below = found
        return self._holdings.charged_owner(lowest, live_holdings.namespace_of(value)) if lowest else None

    def _read_existing(self, owned: paths.Object) -> paths.Object | None:
        """The owner that an object names, if it exists with that uid and its kind is known."""
        reference = paths.controller_reference(owned)
        api_version, kind, name, uid = (reference.get(key) for key in ("apiVersion", "kind", "name", "uid"))
        if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(name, str)):
            return None
        group, _, version = api_version.rpartition("/")
        known = WORKLOADS.get((group, kind))
        if known is None or not known.plural or version not in known.versions:
            return None
        place = live_holdings.namespace_of(owned)
        at = ObjectPath(group=group, version=version, plural=known.plural, namespace=place, name=name)
        found = cluster_api.read_object(self._api, at, uid=uid)
        # The answer to a read of one object need not name its kind.
        return None if found is None else {**found, "apiVersion": api_version, "kind": kind}


DEFINITIONS: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")


class _UnknownExistence(Struct, frozen=True):
    """It is unknown whether the object exists."""


_UNKNOWN: Final = _UnknownExistence()


class Confirmation:
    """Reads one object at a time."""

    def __init__(self, api: Lists, holdings: Holdings, knowledge: Callable[[], Knowledge]) -> None:
        """Takes the API server, the observed objects, and a function that gives the knowledge in service."""
        self._api = api
        self._holdings = holdings
        self._knowledge = knowledge
        self._owners = Owners(api, holdings, self._charge_of)
        self._kinds = {kind.key: replace(kind, keep=_unchanged) for kind in observer.kinds(self._charge_of)}

    def confirmed(self, action: Action, is_charged: IsCharged) -> Iterator[Action]:
        """The action that the current object needs: at most one.

        Raises:
            ClusterError: the API server does not answer.
        """
        entry = action.entry
        found = self._current(entry, is_charged)
        if isinstance(found, _UnknownExistence):
            return
        holding = found if found is not None and found.charge and not found.finished else None
        match action:
            case Adopt():
                if holding is not None:
                    yield Adopt(entry=replace(entry, amounts=holding.charge))
            case Release() | Settle():
                if holding is None:
                    yield Release(entry=entry, reason="does not exist")
                else:
                    yield Settle(entry=entry, amounts=holding.charge, lowers=True)

    def is_gone(self, entry: Entry) -> bool:
        """Whether the object of an entry does not exist any more and has left no pods.

        Raises:
            ClusterError: the API server does not answer.
        """
        if self._read_existing(entry) is not None:
            return False
        remaining = self._holdings.remaining(entry, current="")
        return remaining is None or not remaining.charge

    def _charge_of(self, value: paths.Object) -> ByClasses:
        return ObjectCharges(known=self._knowledge()).of(value)

    def _current(self, entry: Entry, is_charged: IsCharged) -> Holding | _UnknownExistence | None:
        """The current holding of an entry; None where its object does not exist, or an owner covers it."""
        value = self._read_existing(entry)
        if isinstance(value, _UnknownExistence):
            return value
        uid = "" if value is None else live_holdings.metadata_text(value, "uid")
        # A watch may not have shown yet that an earlier object of the name is deleted.
        return _sum_of_holdings(self._itself(value, is_charged), self._holdings.remaining(entry, current=uid))

    def _itself(self, value: paths.Object | None, is_charged: IsCharged) -> Holding | None:
        """The holding of an object that no owner covers, without remaining pods of deleted objects of its name."""
        if value is None:
            return None
        held = observer.held(observer.kept(value, self._charge_of))
        if held is None:
            return None
        root = self._owners.charged_owner(value)
        if root is not None and not (held.is_pod and self._is_alone(held.holding, root, is_charged)):
            return None
        return self._holdings.at_least(held.holding, is_charged)

    def _is_alone(self, pod: Holding, root: Holding, is_charged: IsCharged) -> bool:
        return is_charged(pod) and self._holdings.is_beyond(pod, root, is_charged)

    def _read_existing(self, entry: Entry) -> paths.Object | _UnknownExistence | None:
        """The current object of an entry; None where it does not exist, or the entry has no name."""
        kind = self._kinds.get((entry.group, entry.kind))
        if kind is None:
            return _UNKNOWN
        if not entry.name:
            return None
        listed = cluster_api.list_objects(self._api, Target(kind=kind, namespace=entry.namespace, name=entry.name))
        match listed:
            case cluster_api.Refused():
                return _UNKNOWN
            case cluster_api.NotServed():
                return None if self._is_uninstalled(kind) else _UNKNOWN
        return listed.values[0] if listed.values else None

    def _is_uninstalled(self, kind: FactKind) -> bool:
        """Whether an unserved kind has no definition either: an API server that just started may not serve it yet."""
        defined = self._knowledge().facts.names(*DEFINITIONS)
        return kind.group not in live_holdings.BUILT_IN_GROUPS and defined is not None and kind.resource not in defined


def ending_amounts(entry: Entry, *, holdings: Holdings, current: str | None = None) -> ByClasses:
    """The amounts that pods of deleted objects of a name hold; `current` is the uid of the existing object, or None."""
    remaining = holdings.remaining(entry, current=current)
    return {} if remaining is None else remaining.charge


def ending_amounts_at_creation(value: paths.Object, entry: Entry, *, api: Lists, holdings: Holdings) -> ByClasses:
    """The amounts that pods of earlier objects hold when an object of the same name is created.

    If no watch has shown the deletion of the earlier object, it is read. If it exists, the request is a retry, or the
    API server will refuse the new object. If it does not exist, it counts as holding its whole charge.

    Raises:
        ClusterError: the API server does not answer.
    """
    existing = holdings.existing(entry)
    deleted = [holdings.at_least(each) for each in existing] if existing and _is_deleted(value, entry, api) else []
    return sum_of_charges([ending_amounts(entry, holdings=holdings), *(each.charge for each in deleted)])


def _is_deleted(value: paths.Object, entry: Entry, api: Lists) -> bool:
    kind = WORKLOADS[entry.group, entry.kind]
    _, _, version = str(value.get("apiVersion")).rpartition("/")
    at = ObjectPath(group=entry.group, version=version, plural=kind.plural, namespace=entry.namespace, name=entry.name)
    return cluster_api.read_object(api, at) is None


def _sum_of_holdings(itself: Holding | None, remaining: Holding | None) -> Holding | None:
    """The sum of an object and of remaining pods of deleted objects of its name."""
    if itself is None or itself.finished or remaining is None:
        return remaining or itself
    return replace(itself, charge=sum_of_charges([itself.charge, remaining.charge]))


def _unchanged(value: paths.Object) -> paths.Object:
    return value


_THREADS: Final = 64

_LONGEST_UID: Final = 128
"""The bound in the definition of GPUQuota."""

_Answer = TypeVar("_Answer")


class _Charge(Struct, frozen=True, kw_only=True):
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
            clock: seconds since 1970.
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
        return await self._in_thread(_retried, lambda: cluster_api.read_object(self._api, at), until, until=until)

    @contextlib.contextmanager
    def undoing(self, request: ChargeRequest) -> Iterator[None]:
        """Takes back what was charged for a request, or will be by a write under way, if the block raises an error.

        Then the review gets no verdict, so nothing may stay charged for it.
        """
        try:
            yield
        except BaseException as error:
            # A thread may still write after the time is over.
            late = isinstance(error, errors.ClusterError) and not isinstance(error, errors.CountingError)
            if request.attempts or late:
                self._undo(request)
            raise

    async def charge(self, request: ChargeRequest, *, until: float, force: bool = False) -> QuotaRefusal | Full | None:
        """Charges the quota of a workload; None after a charge, or without anything to charge.

        Args:
            until: when the charge must be written, of `time.monotonic`.
            force: charges even if the limits do not allow it.

        Raises:
            CountingError: usher still counts what exists.
            ClusterError: the quota cannot be charged in time. It may be written all the same; see `undoing`.
        """
        charge = self._charge_of(request)
        if charge is None:
            return None
        began = time.monotonic()
        result, found = ChargeResult.FAILED, None
        try:
            if await self._is_covered(charge, until=until):
                result = ChargeResult.COVERED
            else:
                result, found = await self._in_thread(self._write, charge, force, until, until=until)
        finally:
            self._meter.charged(result, seconds=time.monotonic() - began)
        if result is ChargeResult.COUNTING:
            raise errors.CountingError(f"{charge.quota}: usher counts what exists in its namespaces; try again")
        return QuotaRefusal(quota=charge.quota, excesses=found.excesses) if isinstance(found, Refused) else found

    def may_charge(self, namespace: str) -> bool:
        """Whether a quota counts objects of a namespace, so that a review of one may have to wait for its charge."""
        return isinstance(ObjectCharges(known=self._knowledge()).quota(namespace), Quota)

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
        if not amounts or amounts == _charge_before(request, charges, quota):
            return None
        # The name of a workload may be a prefix (generateName) that several objects share. The uid of the review
        # identifies an object that has neither a name nor a uid yet.
        entry = Entry(
            group=workload.group,
            kind=workload.kind,
            namespace=workload.namespace,
            name=live_holdings.metadata_text(request.value, "name"),
            uid=(live_holdings.metadata_text(request.value, "uid") or request.uid)[:_LONGEST_UID],
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
        owner = live_holdings.owner_uid(charge.request.value)
        if not owner:
            return False
        if self._holdings.get(owner) is not None:
            # Without a read, counting is faster than a handover to a thread.
            return self._covers(charge, until)
        return await self._in_thread(_retried, lambda: self._covers(charge, until), until, until=until)

    def _covers(self, charge: _Charge, until: float) -> bool:
        root = self._owners.charged_owner(charge.request.value, until=until)
        if root is None or root.finished:
            return False
        is_pod = charge.entry.kind == "Pod" and not charge.entry.group
        return not is_pod or self._holdings.has_room(root, charge.entry.amounts)

    def _write(self, charge: _Charge, force: bool, until: float) -> "_Outcome":  # noqa: FBT001 - run_in_executor takes no keywords
        ending = _retried(lambda: self._ending(charge), until)
        if charge.request.dry_run and (watched := self._accounts.watched(charge.quota)) is not None:
            _, outcome = _charge_account(watched, charge, ending, force=force)
            if outcome[0] in _NOT_WRITTEN:
                return outcome
        left = until - time.monotonic()
        writer = self._accounts.writer(charge.quota)
        written = writer.change(lambda account: _charge_account(account, charge, ending, force=force), within=left)
        try:
            return written.result(timeout=max(left, 0))
        except TimeoutError:
            raise _too_late() from None

    def _undo(self, request: ChargeRequest) -> None:
        charge = self._charge_of(request)
        if charge is not None and not request.dry_run:
            # After that the reservation has ended by itself.
            within = self._knowledge().config.facts.reservation
            self._accounts.writer(charge.quota).change(lambda account: _uncharge(account, request), within=within)

    def _ending(self, charge: _Charge) -> ByClasses:
        if not charge.request.creates:
            uid = live_holdings.metadata_text(charge.request.value, "uid") or None
            return ending_amounts(charge.entry, holdings=self._holdings, current=uid)
        return ending_amounts_at_creation(charge.request.value, charge.entry, api=self._api, holdings=self._holdings)


def _charge_before(request: ChargeRequest, charges: ObjectCharges, quota: Quota) -> ByClasses | None:
    """The charge of the object before an UPDATE."""
    if request.old_value is None:
        return None
    old = charges.known.workload(request.old_value, namespace=request.workload.namespace)
    return None if old is None else charges.of_workload(old, quota)


_Outcome = tuple[ChargeResult, Refused | Full | None]

_NOT_WRITTEN: Final = frozenset({ChargeResult.COVERED, ChargeResult.DRY_RUN})
"""Results of a dry run that the account of a watch proves well enough. For any other the account is read."""


def _charge_account(account: Account, charge: _Charge, ending: ByClasses, *, force: bool) -> tuple[Account, _Outcome]:
    limits = account.quota.limits
    found = (ledger.force if force else ledger.charge)(
        account.ledger, charge.entry, limits, ending, creates=charge.request.creates
    )
    match found:
        case ledger.Refused():
            return account, (ChargeResult.REFUSED, found)
        case ledger.Full():
            return account, (ChargeResult.FULL, found)
    before, after = (ledger.find_entry(each, charge.entry) for each in (account.ledger, found.ledger))
    covered = after is None or (before is not None and before.amounts == after.amounts)
    if account.counting and not covered and not force:
        return account, (ChargeResult.COUNTING, None)
    if charge.request.dry_run:
        return account, (ChargeResult.DRY_RUN, None)
    if after is not None and after != before:
        charge.request.attempts.append((before, after))
    result = ChargeResult.COVERED if covered else ChargeResult.FORCED if force else ChargeResult.GRANTED
    return account.charged(found.ledger), (result, None)


def _uncharge(account: Account, request: ChargeRequest) -> tuple[Account, None]:
    for before, after in reversed(request.attempts):
        restored = ledger.restore(account.ledger, after, before)
        if restored != account.ledger:
            return account.charged(restored), None
    return account, None


_FIRST_RETRY: Final = 0.05
_LONGEST_RETRY: Final = 0.4
"""The first and the longest wait in seconds before a read is tried again."""


def _retried(read: Callable[[], _Answer], until: float) -> _Answer:
    """The result of reads, which are tried again while the API server is busy or fails, until `until`."""
    backoff = Backoff(first=_FIRST_RETRY, ceiling=_LONGEST_RETRY)
    while True:
        try:
            return read()
        except errors.UnavailableError:
            pause = backoff.next()
            if time.monotonic() + pause >= until:
                raise
            time.sleep(pause)


def _too_late() -> errors.UnavailableError:
    return errors.UnavailableError("the API server did not answer in time")
