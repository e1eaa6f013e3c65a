"""Reads and writes the parts of an account: ConfigMaps in the namespace of accounts.

A part is created before the head names it, and never changes. It is made for one version of the head: if another
replica writes the head first, the part is never used, and a new attempt makes new parts. So a crash between the two
writes leaves the account as it was (see `leftovers`).
"""

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import structlog

from usher import errors, paths
from usher.authorities.gpu_quota import ledger as gpu_quota_ledger
from usher.authorities.gpu_quota import parts as account_parts
from usher.authorities.gpu_quota.entries import MalformedError
from usher.authorities.gpu_quota.layers import Changes, Layers
from usher.authorities.gpu_quota.ledger import Ledger
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.authorities.gpu_quota.parts import Content, Part
from usher.dataclass import dataclass

NAME: Final = "gpu-usher-charges-"
"""The start of the name of a part."""

KEY: Final = "charges.json"
"""The field of `data` with the content of a part."""

ACCOUNT: Final = "gpu-usher.io/account"
"""The label of all parts: a digest of the uid of the object with the head."""

AGAINST: Final = "gpu-usher.io/written-against"
"""The label with the version of the head for which a part was made."""

_PAUSE: Final = 15.0
"""Seconds until parts are tried again after they could not be written."""


class MissingPartError(errors.ClusterError):
    """A part does not exist: a later version of the head may not name it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """The entries of all parts."""

    names: tuple[str, ...] = ()
    ledger: Ledger = gpu_quota_ledger.EMPTY
    unread: int = 0
    """How many entries cannot be read."""


class PartStore:
    """The parts of one account. It keeps what it has read, because parts never change."""

    def __init__(self, api: Api, *, namespace: str, clock: Callable[[], float] = time.time) -> None:
        """Takes the API server, the namespace of accounts, and a clock in seconds since 1970."""
        self._api = api
        self._namespace = namespace
        self._clock = clock
        self._contents: dict[str, Content] = {}
        self._whole = Whole()
        self._paused_until = 0.0
        self._lock = threading.Lock()

    def read(self, parts: Sequence[Part]) -> Whole:
        """The entries of all parts.

        Raises:
            MissingPartError: a part does not exist.
            ClusterError: a part cannot be read.
        """
        names = tuple(part.name for part in parts)
        with self._lock:
            if self._whole.names == names:
                return self._whole
            known, before = self._contents, self._whole
        contents = {name: known[name] if name in known else self._read(name) for name in names}
        grown = bool(before.names) and names[: len(before.names)] == before.names
        entries = dict(before.ledger.entries.base) if grown else {}
        for name in names[len(before.names) :] if grown else names:
            account_parts.apply(entries, contents[name])
        unread = sum(len(content.unread) for content in contents.values())
        whole = Whole(names=names, ledger=gpu_quota_ledger.in_parts(entries), unread=unread)
        self._keep(whole, contents)
        return whole

    def spread(
        self, ledger: Ledger, parts: Sequence[Part], *, owner: paths.Object, version: str
    ) -> tuple[Ledger, tuple[Part, ...]]:
        """The ledger without changes in the head, after its changes were written as parts.

        If the head has few changes, or the parts cannot be written, ledger and parts stay as they are: then the head
        keeps the changes.

        Args:
            ledger: the account.
            parts: the parts that exist.
            owner: the reference to the object with the head; Kubernetes deletes the parts with it.
            version: the version of the head that the next write replaces.
        """
        changes: Changes = ledger.entries.changes if parts else dict(ledger.entries)
        if len(changes) <= account_parts.MOST_CHANGES or self._clock() < self._paused_until:
            return ledger, tuple(parts)
        first = account_parts.first_to_merge(parts, changes=len(changes), live=len(ledger.entries))
        try:
            self.read(parts)
            before = [self._contents[part.name] for part in parts]
            new = account_parts.merged(before[first:], changes, all_of_them=first == 0)
            contents = {self._create(each, owner, version): each for each in account_parts.pieces(new)}
        except errors.ClusterError as error:
            self._paused_until = self._clock() + _PAUSE
            structlog.get_logger().warning("quota_account_not_spread", quota=owner.get("name"), reason=str(error))
            return ledger, tuple(parts)
        made = tuple(Part(name=name, changes=len(each.changes)) for name, each in contents.items())
        after = (*parts[:first], *made)
        kept = {part.name: before[index] for index, part in enumerate(parts[:first])}
        spread = replace(ledger, entries=Layers(dict(ledger.entries)), size=0, in_parts=True)
        everything = {**kept, **contents}
        unread = sum(len(content.unread) for content in everything.values())
        self._keep(Whole(names=tuple(everything), ledger=spread, unread=unread), everything)
        return spread, after

    def _keep(self, whole: Whole, contents: dict[str, Content]) -> None:
        with self._lock:
            self._whole, self._contents = whole, contents

    def _read(self, name: str) -> Content:
        path = f"{config_maps(self._namespace)}/{name}"
        answer = self._api.get(path)
        if answer.status == 404:
            raise MissingPartError(
                f"{path} is missing, and with it charges of a quota. Restore it, or delete the quota and create it "
                "again: usher then charges what exists"
            )
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read: {answer.message}")
        data = answer.value.get("data")
        try:
            return account_parts.decode(data.get(KEY) if isinstance(data, dict) else None)
        except MalformedError as error:
            raise errors.ClusterError(f"{path} cannot be read: {error}") from None

    def _create(self, content: Content, owner: paths.Object, version: str) -> str:
        account = digest(str(owner["uid"]))
        name = f"{NAME}{account}-{secrets.token_hex(8)}"
        metadata: dict[str, Any] = {
            "name": name,
            "namespace": self._namespace,
            "labels": {ACCOUNT: account, AGAINST: version},
            "ownerReferences": [owner],
        }
        value: paths.Object = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "immutable": True,
            "data": {KEY: account_parts.encode(content)},
        }
        path = config_maps(self._namespace)
        answer = self._api.post(path, value)
        if answer.status not in (200, 201):
            raise errors.ClusterError(f"{path}/{name} cannot be created: {answer.message}")
        return name


def config_maps(namespace: str) -> str:
    """The path of the ConfigMaps of a namespace."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


def digest(uid: str) -> str:
    """The account of an object, as a label."""
    return hashlib.sha256(uid.encode()).hexdigest()[:16]
