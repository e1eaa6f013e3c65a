"""Confirms changes of charges by a live read of the object. Without a clear answer, no charge changes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from usher import paths
from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live import object_metadata, observer
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.object_charges import ObjectCharges
from usher.authorities.gpu_quota.live.owner_coverage import IsCharged
from usher.authorities.gpu_quota.live.owners import Owners
from usher.authorities.gpu_quota.reconciliation import Action, Adopt, Holding, Release, Settle
from usher.authorities.knowledge import Knowledge
from usher.cluster import api as cluster_api
from usher.cluster.api import Lists, ObjectPath, Target
from usher.dataclass import dataclass
from usher.kinds.kind import FactKind
from usher.kinds.registry import WORKLOADS

BUILT_IN: Final = frozenset({"", "apps", "batch"})
"""Groups that every API server serves."""

DEFINITIONS: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True, slots=True)
class _Unknown:
    """It is unknown whether the object exists."""


_UNKNOWN: Final = _Unknown()


class Confirmation:
    """Reads one object at a time."""

    def __init__(self, api: Lists, holdings: Holdings, knowledge: Callable[[], Knowledge]) -> None:
        """Takes the API server, the observed objects, and a function that gives the knowledge in service."""
        self._api = api
        self._holdings = holdings
        self._knowledge = knowledge
        self._owners = Owners(api, holdings, self._charge_of)
        self._kinds = {kind.key: replace(kind, keep=_whole) for kind in observer.kinds(self._charge_of)}

    def confirmed(self, action: Action, is_charged: IsCharged) -> Iterator[Action]:
        """The action that the current object needs: at most one.

        Raises:
            ClusterError: the API server does not answer.
        """
        entry = action.entry
        found = self._current(entry, is_charged)
        if isinstance(found, _Unknown):
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
        if self._read(entry) is not None:
            return False
        remaining = self._holdings.remaining(entry, current="")
        return remaining is None or not remaining.charge

    def _charge_of(self, value: paths.Object) -> ByClasses:
        return ObjectCharges(known=self._knowledge()).of(value)

    def _current(self, entry: Entry, is_charged: IsCharged) -> Holding | _Unknown | None:
        """The current holding of an entry; None where its object does not exist, or an owner covers it."""
        value = self._read(entry)
        if isinstance(value, _Unknown):
            return value
        uid = "" if value is None else object_metadata.text(value, "uid")
        # A watch may not have shown yet that an earlier object of the name is deleted.
        return _with(self._itself(value, is_charged), self._holdings.remaining(entry, current=uid))

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

    def _read(self, entry: Entry) -> paths.Object | _Unknown | None:
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
        return kind.group not in BUILT_IN and defined is not None and kind.resource not in defined


def ending(entry: Entry, *, holdings: Holdings, current: str | None = None) -> ByClasses:
    """The amounts that pods of deleted objects of a name hold; `current` is the uid of the existing object, or None."""
    remaining = holdings.remaining(entry, current=current)
    return {} if remaining is None else remaining.charge


def ending_at_creation(value: paths.Object, entry: Entry, *, api: Lists, holdings: Holdings) -> ByClasses:
    """The amounts that pods of earlier objects hold when an object of the same name is created.

    If no watch has shown the deletion of the earlier object, it is read. If it exists, the request is a retry, or the
    API server will refuse the new object. If it does not exist, it counts as holding its whole charge.

    Raises:
        ClusterError: the API server does not answer.
    """
    existing = holdings.existing(entry)
    deleted = [holdings.at_least(each) for each in existing] if existing and _is_deleted(value, entry, api) else []
    return together([ending(entry, holdings=holdings), *(each.charge for each in deleted)])


def _is_deleted(value: paths.Object, entry: Entry, api: Lists) -> bool:
    kind = WORKLOADS[entry.group, entry.kind]
    _, _, version = str(value.get("apiVersion")).rpartition("/")
    at = ObjectPath(group=entry.group, version=version, plural=kind.plural, namespace=entry.namespace, name=entry.name)
    return cluster_api.read_object(api, at) is None


def _with(itself: Holding | None, remaining: Holding | None) -> Holding | None:
    """The sum of an object and of remaining pods of deleted objects of its name."""
    if itself is None or itself.finished or remaining is None:
        return remaining or itself
    return replace(itself, charge=together([itself.charge, remaining.charge]))


def _whole(value: paths.Object) -> paths.Object:
    return value
