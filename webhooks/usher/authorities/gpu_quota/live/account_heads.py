"""Accounts of quotas, and how the head of an account becomes an account.

A head is what one compare-and-swap replaces. A small account is all in its head; a large one has parts.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from usher import errors, paths
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.layers import Changes
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live import object_metadata
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.authorities.gpu_quota.live.part_store import PartStore
from usher.authorities.gpu_quota.parts import Part
from usher.dataclass import dataclass

UPGRADE: Final = 600
"""Seconds before an account of an earlier gpu-usher gets parts: replicas of that version cannot read parts, and a
rolling upgrade must end before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A quota with its charges."""

    quota: Quota
    ledger: Ledger
    unread: tuple[paths.Json, ...] = ()
    """Unreadable entries of the head. They stay until an administrator removes them."""
    unread_in_parts: int = 0
    """The number of unreadable entries in parts."""
    parts: tuple[Part, ...] = ()
    """The parts of the account; `ledger` has the entries of all of them."""
    parts_from: int | None = None
    """From when on the account may have parts, in seconds since 1970; None where the store does not keep this."""

    def charged(self, ledger: Ledger) -> "Account":
        """The account with other charges."""
        return replace(self, ledger=ledger)


class Heads:
    """Makes accounts of heads, and heads of accounts."""

    def __init__(self, api: Api, *, namespace: str, clock: Callable[[], float]) -> None:
        """Takes the API server, the namespace of parts, and a clock in seconds since 1970."""
        self._parts = PartStore(api, namespace=namespace, clock=clock)
        self._clock = clock

    def account(self, quota: Quota, head: paths.Json) -> Account:
        """The account of a head. Raises ClusterError."""
        found = gpu_quota_status.decode(head)
        if not found.writable:
            raise errors.ClusterError(f"{quota} cannot be charged: {found.problems[0][1]}")
        ledger, unread_in_parts = found.ledger, 0
        if found.parts:
            whole = self._parts.read(found.parts)
            changes: Changes = {**dict.fromkeys(found.removed), **ledger.entries.base}
            ledger, unread_in_parts = gpu_quota_ledger.changed(whole.ledger, changes), whole.unread
        elif self._may_have_parts(found.parts_from):
            ledger = replace(ledger, in_parts=True, size=0)
        return Account(
            quota=quota,
            ledger=ledger,
            unread=found.unread,
            unread_in_parts=unread_in_parts,
            parts=found.parts,
            parts_from=found.parts_from,
        )

    def spread(self, account: Account, value: paths.Object) -> Account:
        """The account whose changes have moved to parts, if it has many changes and may have parts."""
        if not account.parts and not self._may_have_parts(account.parts_from):
            return account
        owner: paths.Object = {
            "apiVersion": value.get("apiVersion"),
            "kind": value.get("kind"),
            "name": object_metadata.text(value, "name"),
            "uid": object_metadata.text(value, "uid"),
        }
        version = object_metadata.text(value, "resourceVersion")
        ledger, parts = self._parts.spread(account.ledger, account.parts, owner=owner, version=version)
        return replace(account, ledger=ledger, parts=parts)

    def encoded(self, account: Account, before: paths.Json) -> paths.Object:
        """The head of an account.

        Args:
            account: the account.
            before: the head that it replaces. If it has charges, an earlier gpu-usher may still write it.
        """
        parts_from = account.parts_from
        if parts_from is None:
            is_old = isinstance(before, dict) and bool(before.get("charges"))
            parts_from = int(self._clock()) + (UPGRADE if is_old else 0)
        return gpu_quota_status.encode(
            account.ledger,
            account.quota.limits,
            unread=account.unread,
            parts=account.parts,
            parts_from=parts_from,
        )

    def _may_have_parts(self, parts_from: int | None) -> bool:
        return parts_from is not None and self._clock() >= parts_from
