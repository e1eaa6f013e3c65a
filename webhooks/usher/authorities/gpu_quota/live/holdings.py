"""What exists in a cluster and holds accelerators, and who answers for it: the topmost workload that was charged.

A workload that is deleted, or has finished, answers for its pods until the last of them is gone: as long as they run,
they hold what they were given. An owner is believed only where it exists, in the same namespace, and was charged
itself, and only as far as its own charge goes: whoever names a job of his as the owner of ten pods more is charged for
them all the same.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live import owner_coverage
from usher.authorities.gpu_quota.live.owner_coverage import Charged
from usher.authorities.gpu_quota.reconciliation import Holding

MOST_OWNERS: Final = 16
"""Links of a chain of owners; the longest of the field has eight. Names can be made to go in a circle."""

UNWATCHED: Final = 60.0
"""Seconds for which an object is believed to exist that was read once and that no watch has told of."""

Name = tuple[str, str, str, str]
"""Group, kind, namespace, name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An object that exists."""

    holding: Holding
    owner: str
    """uid of its controlling owner; empty where it has none."""

    @property
    def is_pod(self) -> bool:
        return self.holding.kind == "Pod" and not self.holding.group


_NONE: Final[frozenset[str]] = frozenset()

_Key = TypeVar("_Key", str, Name)


def _nobody(_holding: Holding) -> bool:
    return False


class Holdings:
    """All that exists, by uid. Filled by one thread for each kind."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.revision = 0
        """Grows with every change."""
        self.epoch = 0
        """Grows when everything is forgotten: what was listed before that is taken no more."""
        self._clock = clock
        self._held: dict[str, Held] = {}
        self._unwatched: dict[str, float] = {}
        """Of objects that were read and that no watch has told of: until when they are believed to exist."""
        self._children: dict[str, frozenset[str]] = {}
        """uids of what an owner controls, by its own."""
        self._named: dict[Name, frozenset[str]] = {}
        """uids by name: of one that is there, and of earlier ones whose pods still end."""
        self._gone: set[str] = set()
        """Workloads that are deleted and have pods left."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def put(self, held: Held, *, epoch: int | None = None) -> None:
        """Takes an object as it is now; nothing is taken of who listed it in an epoch that is over."""
        uid = held.holding.uid
        with self._lock:
            if epoch not in (None, self.epoch):
                return
            was_watched = self._unwatched.pop(uid, None) is None
            if self._held.get(uid) == held and was_watched:
                return
            self._put(held)

    def put_read(self, held: Held) -> None:
        """Takes an object that was read and of which no watch has told yet.

        It may be deleted already, and then no watch ever will: so it is believed for some time only, and never charged
        because of that.
        """
        uid = held.holding.uid
        with self._lock:
            if uid not in self._held or uid in self._unwatched:
                self._unwatched[uid] = self._clock() + UNWATCHED
                if self._held.get(uid) != held:
                    self._put(held)

    def clear(self) -> None:
        """Forgets everything, before all is listed anew."""
        with self._lock:
            self._held, self._children, self._named, self._gone, self._unwatched = {}, {}, {}, set(), {}
            self.revision += 1
            self.epoch += 1

    def remove(self, uid: str, *, epoch: int | None = None) -> None:
        """Forgets an object that is gone; one that was never there is no matter."""
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
            # Orphaned, or adopted by another.
            self._unlink(before)
            self._forget_if_left(before.owner)
        if held.owner:
            self._children[held.owner] = self._children.get(held.owner, _NONE) | {uid}
        if held.is_pod and held.holding.finished:
            self._forget_if_left(held.owner)

    def _unlink(self, held: Held) -> None:
        _without(self._children, held.owner, held.holding.uid)

    def _forget(self, held: Held) -> None:
        """Takes an object out, and whatever is only there because of it."""
        for _ in range(MOST_OWNERS):
            uid = held.holding.uid
            self._held.pop(uid, None)
            self._gone.discard(uid)
            self._unlink(held)
            _without(self._named, _name(held.holding), uid)
            above = self._left(held.owner)
            if above is None:
                return
            held = above

    def _forget_if_left(self, uid: str) -> None:
        left = self._left(uid)
        if left is not None:
            self._forget(left)

    def _left(self, uid: str) -> Held | None:
        """A workload that is deleted, once it has no pods any more."""
        held = self._held.get(uid) if uid in self._gone else None
        return held if held is not None and not self._has_pods(held) else None

    def _has_pods(self, held: Held) -> bool:
        return any(True for _ in self._pods_under(held.holding))

    def left_of(self, entry: Entry) -> Holding | None:
        """What is left of workloads of a name that are deleted; None where nothing is."""
        with self._lock:
            gone = [self._held[uid].holding for uid in self._named.get(_name(entry), _NONE) & self._gone]
        if not gone:
            return None
        return replace(gone[0], charge=together(self.at_least(each).charge for each in gone))

    def there(self, entry: Entry) -> list[Holding]:
        """What has this name and, as far as we have been told, is not deleted; more than one where we lag behind."""
        with self._lock:
            return [self._held[uid].holding for uid in self._named.get(_name(entry), _NONE) - self._gone]

    def get(self, uid: str) -> Held | None:
        """An object, whether a watch has told of it or it was read."""
        return self._held.get(uid)

    def answering(self, owner: str, namespace: str) -> Holding | None:
        """The topmost workload at or above an owner that is charged; None where none is, or they go in a circle.

        A namespace is that of what is owned: owners elsewhere are none.
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
        """All that exists, by its namespace, which is also that of its owners."""
        with self._lock:
            self._expire()
            everything = list(self._held.values())
        result: defaultdict[str, list[Held]] = defaultdict(list)
        for held in everything:
            result[held.holding.namespace].append(held)
        return dict(result)

    def roots(self, charged: Charged = _nobody, *, among: Iterable[Held] | None = None) -> list[Holding]:
        """All for which nobody else answers, each with no less than its pods take together.

        A pod that is charged by itself stands for itself for as long as it is more than its workload is charged.

        Args:
            charged: whether an object is charged by itself.
            among: all that exists in some namespaces; without it in all.
        """
        everything = [held for each in self.by_namespace().values() for held in each] if among is None else among
        read = self._unwatched
        roots: dict[str, Holding] = {}
        pods: defaultdict[str, list[Holding]] = defaultdict(list)
        for held in everything:
            answering = self.answering(held.owner, held.holding.namespace) if held.owner else None
            if answering is None:
                if held.holding.uid not in read:
                    roots[held.holding.uid] = held.holding
            elif held.is_pod and not held.holding.finished:
                pods[answering.uid].append(held.holding)
        result = []
        for holding in roots.values():
            within, beyond = owner_coverage.divided(holding, pods.get(holding.uid, ()), charged)
            result += [owner_coverage.at_least(holding, within), *beyond]
        return result

    def at_least(self, holding: Holding, charged: Charged = _nobody) -> Holding:
        """A workload as it was read, with no less than its pods take together as far as they have been seen."""
        within, _ = owner_coverage.divided(holding, list(self._pods_under(holding)), charged)
        return owner_coverage.at_least(holding, within)

    def stands_alone(self, pod: Holding, root: Holding, charged: Charged) -> bool:
        """Whether a pod is charged by itself though a workload answers for it, which is charged for less."""
        _, beyond = owner_coverage.divided(root, list(self._pods_under(root)), charged)
        return any(each.uid == pod.uid for each in beyond)

    def room(self, root: Holding, pod: ByClasses) -> bool:
        """Whether a pod more is within what a workload is charged, as far as its pods have been seen."""
        if root.finished:
            return False
        return owner_coverage.covers(root.charge, together([*(each.charge for each in self._pods_under(root)), pod]))

    def _expire(self) -> None:
        now = self._clock()
        for uid in [uid for uid, until in self._unwatched.items() if until <= now]:
            del self._unwatched[uid]
            self._forget(self._held[uid])

    def _pods_under(self, root: Holding) -> Iterator[Holding]:
        """Each pod that has not ended, however far below."""
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
