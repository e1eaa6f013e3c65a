"""The objects of a cluster that hold accelerators, each with its charge and its topmost charged owner.

A deleted or finished workload covers its pods until the last of them has ended, because running pods keep their
devices. An owner counts only if it exists in the same namespace and was charged itself. It covers pods only up to its
own charge: a user who names a small job as the owner of ten more pods is charged for these pods.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths
from usher.authorities.gpu_quota import assignment, definitions, entries, ledger, present
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import ByClasses, sum_of_charges
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Holding
from usher.authorities.knowledge import Knowledge
from usher.memo import Memo
from usher.workloads.fingerprints import LARGEST


class Held(Struct, frozen=True, kw_only=True):
    """An object that exists."""

    holding: Holding
    owner: str
    """The uid of its controlling owner; empty where it has no controlling owner."""

    @property
    def is_pod(self) -> bool:
        return self.holding.kind == "Pod" and not self.holding.group


IsCharged = Callable[[Holding], bool]
"""Whether a ledger has an entry for an object."""

OwnerOf = Callable[[str, str], Holding | None]


def split_pods(root: Holding, pods: Iterable[Holding], is_charged: IsCharged) -> tuple[list[Holding], list[Holding]]:
    """The pods that a workload covers, and the pods beyond its charge, which get their own charges."""
    charge = {} if root.finished else root.charge
    covered: list[Holding] = []
    alone: list[Holding] = []
    for pod in pods:
        (alone if is_charged(pod) else covered).append(pod)
    beyond = []
    for pod in sorted(alone, key=lambda each: each.name):
        if covers(charge, sum_of_charges(each.charge for each in (*covered, pod))):
            covered.append(pod)
        else:
            beyond.append(pod)
    return covered, beyond


def uncovered_objects(
    everything: Iterable[Held], charged_owner: OwnerOf, is_charged: IsCharged, *, may_be_gone: Callable[[str], bool]
) -> list[Holding]:
    """All objects that no owner covers. Each has at least the sum of the pods that it covers.

    Args:
        everything: all objects of some namespaces.
        charged_owner: the topmost charged workload at or above an owner, by uid and namespace.
        is_charged: whether a ledger has an entry for an object.
        may_be_gone: whether the object with a uid may be deleted; it is not a root then.
    """
    found: dict[str, Holding] = {}
    pods: defaultdict[str, list[Holding]] = defaultdict(list)
    for held in everything:
        owner = charged_owner(held.owner, held.holding.namespace) if held.owner else None
        if owner is None:
            if not may_be_gone(held.holding.uid):
                found[held.holding.uid] = held.holding
        elif held.is_pod and not held.holding.finished:
            pods[owner.uid].append(held.holding)
    result = []
    for holding in found.values():
        if holding.uid not in pods:
            result.append(holding)
            continue
        covered, beyond = split_pods(holding, pods[holding.uid], is_charged)
        result += [at_least(holding, covered), *beyond]
    return result


def at_least(holding: Holding, pods: Iterable[Holding]) -> Holding:
    """A workload with at least the sum of the pods that it covers."""
    of_pods = sum_of_charges(pod.charge for pod in pods)
    if holding.finished:
        # The workload makes no more pods, but its running pods still hold their devices.
        return replace(holding, charge=of_pods, finished=False) if of_pods else holding
    if covers(holding.charge, of_pods):
        return holding
    classes = {*holding.charge, *of_pods}
    most = {each: definitions.highest([holding.charge.get(each, {}), of_pods.get(each, {})]) for each in classes}
    return replace(holding, charge=most)


def covers(charge: ByClasses, other: ByClasses) -> bool:
    """Whether a charge is at least another charge, over all classes: operators may change the class of pods."""
    has, needs = definitions.plus(*charge.values()), definitions.plus(*other.values())
    return all(has.get(unit, 0) >= nanos for unit, nanos in needs.items())


MOST_OWNERS: Final = 16
"""The most links of a chain of owners; real chains have at most eight. References can form a circle."""

UNWATCHED: Final = 60.0
"""How many seconds an object counts as existing that was read once and that no watch has shown."""

Name = tuple[str, str, str, str]
"""Group, kind, namespace, name."""

_NONE: Final[frozenset[str]] = frozenset()

_Key = TypeVar("_Key", str, Name)


def _nothing_is_charged(_holding: Holding) -> bool:
    return False


class Holdings:
    """The existing objects, by uid. One thread for each kind fills it."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.revision = 0
        """Grows with every change."""
        self.epoch = 0
        """Grows with every `clear`; later calls with an earlier epoch change nothing."""
        self._clock = clock
        self._by_uid: dict[str, Held] = {}
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
        return len(self._by_uid)

    def put(self, held: Held, *, epoch: int | None = None) -> None:
        """Takes the current state of an object; ignores an object of an earlier epoch."""
        uid = held.holding.uid
        with self._lock:
            if epoch not in (None, self.epoch):
                return
            was_watched = self._unwatched.pop(uid, None) is None
            if self._by_uid.get(uid) == held and was_watched:
                return
            self._put(held)

    def put_read(self, held: Held) -> None:
        """Takes an object that was read before any watch showed it.

        It counts as existing for `UNWATCHED` seconds, because it may be deleted before a watch shows it. It is never
        charged because of this.
        """
        uid = held.holding.uid
        with self._lock:
            if uid not in self._by_uid or uid in self._unwatched:
                self._unwatched[uid] = self._clock() + UNWATCHED
                if self._by_uid.get(uid) != held:
                    self._put(held)

    def clear(self) -> None:
        """Forgets all objects; a new list follows."""
        with self._lock:
            self._by_uid, self._children, self._named, self._gone, self._unwatched = {}, {}, {}, set(), {}
            self.revision += 1
            self.epoch += 1

    def remove(self, uid: str, *, epoch: int | None = None) -> None:
        """Forgets a deleted object; an unknown uid is ignored."""
        with self._lock:
            held = self._by_uid.get(uid)
            if held is None or epoch not in (None, self.epoch):
                return
            self.revision += 1
            self._unwatched.pop(uid, None)
            if not held.is_pod and self._has_pods(held):
                self._by_uid[uid] = replace(held, holding=replace(held.holding, charge={}))
                self._gone.add(uid)
                return
            self._forget(held)

    def _put(self, held: Held) -> None:
        uid = held.holding.uid
        before = self._by_uid.get(uid)
        self._by_uid[uid] = held
        self._named[_name_of(held.holding)] = self._named.get(_name_of(held.holding), _NONE) | {uid}
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
        _remove_uid(self._children, held.owner, held.holding.uid)

    def _forget(self, held: Held) -> None:
        """Forgets an object, and deleted owners that were kept only for it."""
        for _ in range(MOST_OWNERS):
            uid = held.holding.uid
            self._by_uid.pop(uid, None)
            self._gone.discard(uid)
            self._unlink(held)
            _remove_uid(self._named, _name_of(held.holding), uid)
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
        held = self._by_uid.get(uid) if uid in self._gone else None
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
            named = self._named.get(_name_of(entry), _NONE)
            deleted = named & self._gone if current is None else named - {current}
            gone = [replace(self._by_uid[uid].holding, charge={}) for uid in deleted]
        if not gone:
            return None
        return replace(gone[0], charge=sum_of_charges(self.at_least(each).charge for each in gone))

    def existing(self, entry: Entry) -> list[Holding]:
        """The objects of a name whose deletion no watch has shown; several where watches lag behind."""
        with self._lock:
            return [self._by_uid[uid].holding for uid in self._named.get(_name_of(entry), _NONE) - self._gone]

    def get(self, uid: str) -> Held | None:
        """An object that a watch has shown or that was read."""
        return self._by_uid.get(uid)

    def charged_owner(self, owner: str, namespace: str) -> Holding | None:
        """The topmost charged workload at or above an owner; None without a charged workload, or in a circle of owners.

        Args:
            owner: the uid of an owner.
            namespace: the namespace of the owned object; owners in other namespaces do not count.
        """
        found, seen = None, set[str]()
        while owner not in seen and len(seen) <= MOST_OWNERS:
            held = self._by_uid.get(owner)
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
            everything = list(self._by_uid.values())
        result: defaultdict[str, list[Held]] = defaultdict(list)
        for held in everything:
            result[held.holding.namespace].append(held)
        return dict(result)

    def roots(
        self, is_charged: IsCharged = _nothing_is_charged, *, among: Iterable[Held] | None = None
    ) -> list[Holding]:
        """All objects that no owner covers. Each has at least the sum of the pods that it covers.

        A pod with its own charge stays a root as long as the charge of its workload does not cover it.

        Args:
            is_charged: whether a ledger has an entry for an object.
            among: all objects of some namespaces; None means all namespaces.
        """
        everything = [held for each in self.by_namespace().values() for held in each] if among is None else among
        unwatched = self._unwatched
        return uncovered_objects(everything, self.charged_owner, is_charged, may_be_gone=lambda uid: uid in unwatched)

    def at_least(self, holding: Holding, is_charged: IsCharged = _nothing_is_charged) -> Holding:
        """A workload as it was read, with at least the sum of its known pods."""
        covered, _ = split_pods(holding, list(self._pods_under(holding)), is_charged)
        return at_least(holding, covered)

    def is_beyond(self, pod: Holding, root: Holding, is_charged: IsCharged) -> bool:
        """Whether the charge of a workload does not cover one of its pods."""
        _, beyond = split_pods(root, list(self._pods_under(root)), is_charged)
        return any(each.uid == pod.uid for each in beyond)

    def has_room(self, root: Holding, pod: ByClasses) -> bool:
        """Whether the charge of a workload covers one more pod beside its known pods."""
        if root.finished:
            return False
        return covers(root.charge, sum_of_charges([*(each.charge for each in self._pods_under(root)), pod]))

    def _expire(self) -> None:
        now = self._clock()
        for uid in [uid for uid, until in self._unwatched.items() if until <= now]:
            del self._unwatched[uid]
            self._forget(self._by_uid[uid])

    def _pods_under(self, root: Holding) -> Iterator[Holding]:
        """Each pod below a workload that has not ended, at any depth."""
        waiting, seen = [root.uid], {root.uid}
        while waiting:
            for child in self._children.get(waiting.pop(), _NONE):
                held = self._by_uid.get(child)
                if held is None or child in seen or held.holding.namespace != root.namespace:
                    continue
                seen.add(child)
                waiting.append(child)
                if held.is_pod and not held.holding.finished:
                    yield held.holding


def _name_of(of: Entry | Holding) -> Name:
    return of.group, of.kind, of.namespace, of.name


def _remove_uid(sets: dict[_Key, frozenset[str]], key: _Key, uid: str) -> None:
    left = sets.get(key, _NONE) - {uid}
    if left:
        sets[key] = left
    else:
        sets.pop(key, None)


def metadata_text(value: paths.Object, field: str) -> str:
    """A field of `metadata`; empty where it is missing or not a text."""
    found = _metadata(value).get(field)
    return found if isinstance(found, str) else ""


def namespace_of(value: paths.Object) -> str:
    """The namespace of an object; empty for cluster-scoped objects."""
    return metadata_text(value, "namespace")


def owner_uid(value: paths.Object) -> str:
    """The uid of the controlling owner; empty where the object names no controller."""
    return paths.text(paths.controller_reference(value).get("uid"))


def _metadata(value: paths.Object) -> Mapping[str, paths.Json]:
    metadata = value.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


LIKE_OBJECTS: Final = 4096
"""How many different objects are remembered with their charge; an entry takes half a kilobyte."""

BUILT_IN_GROUPS: Final = frozenset({"", "apps", "batch"})
"""Groups that every API server serves."""


class ObjectCharges(Struct, frozen=True, kw_only=True):
    """The charges of objects by one state of knowledge."""

    known: Knowledge
    on_read: Callable[[str, Quota | Undecided | None], None] | None = None
    """Called with the namespace of each object and its quota at that moment."""

    def of(self, value: paths.Object) -> ByClasses:
        """The charge of an object; empty where no quota holds for its namespace, or it is undecided which."""
        namespace = namespace_of(value)
        quota = self.quota(namespace)
        if self.on_read is not None:
            self.on_read(namespace, quota)
        if quota is None or isinstance(quota, Undecided):
            return {}
        workload = self.known.workload(value, namespace=namespace)
        return {} if workload is None else self.of_workload(workload, quota)

    def quota(self, namespace: str) -> Quota | Undecided | None:
        return assignment.quota_of_namespace(self.known, namespace)

    def of_workload(self, workload: model.Workload, quota: Quota) -> ByClasses:
        """The charge of a workload by a quota.

        An unbounded workload is charged nothing, because its pods are charged one by one. A pod that asks for all
        devices of a node is charged for its other requests; a check denies it.
        """
        found = present.charge(self.known, workload, quota)
        if (found.unbounded and not workload.is_pod) or (found.suspended and not quota.charges_suspended):
            return {}
        return entries.tidy(ledger.relevant_amounts(found.amounts, quota.limits))


class RememberedCharges:
    """Memoised charges for all objects that watches show: equal ones are read once."""

    def __init__(self, charges: ObjectCharges) -> None:
        self._charges = charges
        self._memo: Memo[tuple[str, int, bytes], ByClasses] = Memo(LIKE_OBJECTS)

    def of(self, value: paths.Object) -> ByClasses:
        """The charge of an object. Equal objects share one value; callers must not change it."""
        is_pod = value.get("kind") == "Pod" and value.get("apiVersion") == "v1"
        digest = _pod_digest(value) if is_pod else _workload_digest(value)
        if digest is None:
            return self._charges.of(value)
        facts = self._charges.known.facts
        # A workload may name an object with claims; a Pod has its own.
        key = namespace_of(value), facts.revision_without_claims if is_pod else facts.revision, digest
        return self._memo.get(key, lambda: self._charges.of(value))


def _pod_digest(pod: paths.Object) -> bytes | None:
    """A digest that differs for pods with different charges; None where the charge depends on other objects (claims).

    Labels and the node do not change what a pod asks for, and they differ within one workload.
    """
    spec, metadata = pod.get("spec"), pod.get("metadata")
    if not isinstance(spec, dict) or not isinstance(metadata, dict) or spec.get("resourceClaims"):
        return None
    asked = {key: value for key, value in spec.items() if key != "nodeName"}
    try:
        return memo.digest(orjson.dumps((asked, metadata.get("annotations"))))
    except orjson.JSONEncodeError:  # Python's own parser takes half surrogates and very large integers, orjson does not
        return None


_IDENTITY: Final = frozenset(
    {"creationTimestamp", "generateName", "generation", "managedFields", "name", "resourceVersion", "uid"}
)
"""Fields of `metadata` that say which object it is, and not what it asks for."""

_LOOKED_UP: Final = (b'"resourceClaims"', b'"schedulingGroup"', b'"workloadRef"')
"""Fields of a pod spec that name claims and groups, whose contents are not in the object."""


def _workload_digest(value: paths.Object) -> bytes | None:
    """A digest that differs for workloads with different charges; None where the charge depends on other objects.

    The API server writes the uid of a Job into its selector and the labels of its template. These and the status do not
    change what kinds of Kubernetes itself ask for.
    """
    metadata, spec = value.get("metadata"), value.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return None
    read = {**value, "metadata": {key: each for key, each in metadata.items() if key not in _IDENTITY}}
    if paths.text(value.get("apiVersion")).rpartition("/")[0] in BUILT_IN_GROUPS:
        read |= {"spec": _without_labels({**spec, "selector": None}), "status": None}
    try:
        text = orjson.dumps(read)
    except orjson.JSONEncodeError:
        return None
    return memo.digest(text) if len(text) <= LARGEST and not any(map(text.__contains__, _LOOKED_UP)) else None


def _without_labels(spec: paths.Object) -> paths.Object:
    """A spec without the labels of its template."""
    template = spec.get("template")
    metadata = template.get("metadata") if isinstance(template, dict) else None
    if not isinstance(template, dict) or not isinstance(metadata, dict):
        return spec
    unlabelled: paths.Object = {key: each for key, each in metadata.items() if key != "labels"}
    return {**spec, "template": {**template, "metadata": unlabelled}}
