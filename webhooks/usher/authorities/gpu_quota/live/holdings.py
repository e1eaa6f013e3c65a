"""The objects of a cluster that hold accelerators, each with the topmost workload that was charged for it.

A deleted or finished workload covers its pods until the last of them has ended, because running pods keep their
devices. An owner counts only if it exists in the same namespace and was charged itself. It covers pods only up to its
own charge: a user who names a small job as the owner of ten more pods is charged for these pods.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live import owner_coverage
from usher.authorities.gpu_quota.live.held import Held
from usher.authorities.gpu_quota.live.owner_coverage import IsCharged
from usher.authorities.gpu_quota.reconciliation import Holding

MOST_OWNERS: Final = 16
"""The most links of a chain of owners; real chains have at most eight. References can form a circle."""

UNWATCHED: Final = 60.0
"""How many seconds an object counts as existing that was read once and that no watch has shown."""

Name = tuple[str, str, str, str]
"""Group, kind, namespace, name."""


_NONE: Final[frozenset[str]] = frozenset()

_Key = TypeVar("_Key", str, Name)


def _never(_holding: Holding) -> bool:
    return False


class Holdings:
    """The existing objects, by uid. One thread for each kind fills it."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.revision = 0
        """Grows with every change."""
        self.epoch = 0
        """Grows with every `clear`; later calls with an earlier epoch change nothing."""
        self._clock = clock
        self._held: dict[str, Held] = {}
        self._unwatched: dict[str, float] = {}
        """Objects that were read and that no watch has shown: until when they count as existing, by uid."""
        self._children: dict[str, frozenset[str]] = {}
        """The uids of the objects that an owner controls, by the uid of the owner."""
        self._named: dict[Name, frozenset[str]] = {}
        """The uids of the existing object and of deleted objects with remaining pods, by name."""
        self._gone: set[str] = set()
        """The uids of deleted workloads with remaining pods."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def put(self, held: Held, *, epoch: int | None = None) -> None:
        """Takes the current state of an object; ignores an object of an earlier epoch."""
        uid = held.holding.uid
        with self._lock:
            if epoch not in (None, self.epoch):
                return
            was_watched = self._unwatched.pop(uid, None) is None
            if self._held.get(uid) == held and was_watched:
                return
            self._put(held)

    def put_read(self, held: Held) -> None:
        """Takes an object that was read before any watch showed it.

        It counts as existing for `UNWATCHED` seconds, because it may be deleted before a watch shows it. It is never
        charged because of this.
        """
        uid = held.holding.uid
        with self._lock:
            if uid not in self._held or uid in self._unwatched:
                self._unwatched[uid] = self._clock() + UNWATCHED
                if self._held.get(uid) != held:
                    self._put(held)

    def clear(self) -> None:
        """Forgets all objects; a new list follows."""
        with self._lock:
            self._held, self._children, self._named, self._gone, self._unwatched = {}, {}, {}, set(), {}
            self.revision += 1
            self.epoch += 1

    def remove(self, uid: str, *, epoch: int | None = None) -> None:
        """Forgets a deleted object; an unknown uid is ignored."""
        with self._lock:
            held = self._held.get(uid)
            if held is None or epoch not in (None, self.epoch):
                return
            self.revision += 1
            self._unwatched.pop(uid, None)
            if not held.is_pod and self._has_pods(held):
                self._held[uid] = replace(held, holding=replace(held.holding, charge={}))
                self._gone.add(uid)
                return
            self._forget(held)

    def _put(self, held: Held) -> None:
        uid = held.holding.uid
        before = self._held.get(uid)
        self._held[uid] = held
        self._named[_name(held.holding)] = self._named.get(_name(held.holding), _NONE) | {uid}
        self._gone.discard(uid)
        self.revision += 1
        if before is not None and before.owner != held.owner:
            # Its owner orphaned it, or another owner adopted it.
            self._unlink(before)
            self._forget_without_pods(before.owner)
        if held.owner:
            self._children[held.owner] = self._children.get(held.owner, _NONE) | {uid}
        if held.is_pod and held.holding.finished:
            self._forget_without_pods(held.owner)

    def _unlink(self, held: Held) -> None:
        _without(self._children, held.owner, held.holding.uid)

    def _forget(self, held: Held) -> None:
        """Forgets an object, and deleted owners that were kept only for it."""
        for _ in range(MOST_OWNERS):
            uid = held.holding.uid
            self._held.pop(uid, None)
            self._gone.discard(uid)
            self._unlink(held)
            _without(self._named, _name(held.holding), uid)
            above = self._without_pods(held.owner)
            if above is None:
                return
            held = above

    def _forget_without_pods(self, uid: str) -> None:
        gone = self._without_pods(uid)
        if gone is not None:
            self._forget(gone)

    def _without_pods(self, uid: str) -> Held | None:
        """The deleted workload with this uid, if all its pods have ended."""
        held = self._held.get(uid) if uid in self._gone else None
        return held if held is not None and not self._has_pods(held) else None

    def _has_pods(self, held: Held) -> bool:
        return any(True for _ in self._pods_under(held.holding))

    def remaining(self, entry: Entry, *, current: str | None = None) -> Holding | None:
        """The amounts that pods of deleted workloads of a name still hold; None without remaining pods.

        Args:
            entry: names the workloads.
            current: the uid of the existing workload, empty if no workload exists; None to use what watches have shown.
        """
        with self._lock:
            named = self._named.get(_name(entry), _NONE)
            deleted = named & self._gone if current is None else named - {current}
            gone = [replace(self._held[uid].holding, charge={}) for uid in deleted]
        if not gone:
            return None
        return replace(gone[0], charge=together(self.at_least(each).charge for each in gone))

    def existing(self, entry: Entry) -> list[Holding]:
        """The objects of a name whose deletion no watch has shown; several where watches lag behind."""
        with self._lock:
            return [self._held[uid].holding for uid in self._named.get(_name(entry), _NONE) - self._gone]

    def get(self, uid: str) -> Held | None:
        """An object that a watch has shown or that was read."""
        return self._held.get(uid)

    def charged_owner(self, owner: str, namespace: str) -> Holding | None:
        """The topmost charged workload at or above an owner; None without a charged workload, or in a circle of owners.

        Args:
            owner: the uid of an owner.
            namespace: the namespace of the owned object; owners in other namespaces do not count.
        """
        found, seen = None, set[str]()
        while owner not in seen and len(seen) <= MOST_OWNERS:
            held = self._held.get(owner)
            if held is None or held.holding.namespace != namespace:
                return found
            if held.holding.charge or owner in self._gone:
                found = held.holding
            seen.add(owner)
            owner = held.owner
        return None

    def by_namespace(self) -> dict[str, list[Held]]:
        """All objects by namespace, which is also the namespace of their owners."""
        with self._lock:
            self._expire()
            everything = list(self._held.values())
        result: defaultdict[str, list[Held]] = defaultdict(list)
        for held in everything:
            result[held.holding.namespace].append(held)
        return dict(result)

    def roots(self, is_charged: IsCharged = _never, *, among: Iterable[Held] | None = None) -> list[Holding]:
        """All objects that no owner covers. Each has at least the sum of the pods that it covers.

        A pod with its own charge stays a root as long as the charge of its workload does not cover it.

        Args:
            is_charged: whether a ledger has an entry for an object.
            among: all objects of some namespaces; None means all namespaces.
        """
        everything = [held for each in self.by_namespace().values() for held in each] if among is None else among
        unwatched = self._unwatched
        return owner_coverage.roots(
            everything, self.charged_owner, is_charged, may_be_gone=lambda uid: uid in unwatched
        )

    def at_least(self, holding: Holding, is_charged: IsCharged = _never) -> Holding:
        """A workload as it was read, with at least the sum of its known pods."""
        covered, _ = owner_coverage.split(holding, list(self._pods_under(holding)), is_charged)
        return owner_coverage.at_least(holding, covered)

    def is_beyond(self, pod: Holding, root: Holding, is_charged: IsCharged) -> bool:
        """Whether the charge of a workload does not cover one of its pods."""
        _, beyond = owner_coverage.split(root, list(self._pods_under(root)), is_charged)
        return any(each.uid == pod.uid for each in beyond)

    def has_room(self, root: Holding, pod: ByClasses) -> bool:
        """Whether the charge of a workload covers one more pod beside its known pods."""
        if root.finished:
            return False
        return owner_coverage.covers(root.charge, together([*(each.charge for each in self._pods_under(root)), pod]))

    def _expire(self) -> None:
        now = self._clock()
        for uid in [uid for uid, until in self._unwatched.items() if until <= now]:
            del self._unwatched[uid]
            self._forget(self._held[uid])

    def _pods_under(self, root: Holding) -> Iterator[Holding]:
        """Each pod below a workload that has not ended, at any depth."""
        waiting, seen = [root.uid], {root.uid}
        while waiting:
            for child in self._children.get(waiting.pop(), _NONE):
                held = self._held.get(child)
                if held is None or child in seen or held.holding.namespace != root.namespace:
                    continue
                seen.add(child)
                waiting.append(child)
                if held.is_pod and not held.holding.finished:
                    yield held.holding


def _name(of: Entry | Holding) -> Name:
    return of.group, of.kind, of.namespace, of.name


def _without(sets: dict[_Key, frozenset[str]], key: _Key, uid: str) -> None:
    left = sets.get(key, _NONE) - {uid}
    if left:
        sets[key] = left
    else:
        sets.pop(key, None)
