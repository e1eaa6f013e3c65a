"""What an API server says now of an object that a ledger is to be changed for; what it does not say stays unknown."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from usher import paths
from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live import observer
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.object_charges import Tariff
from usher.authorities.gpu_quota.live.owner_coverage import Charged
from usher.authorities.gpu_quota.live.owners import Owners, read
from usher.authorities.gpu_quota.reconciliation import Action, Adopt, Holding, Release, Settle
from usher.cluster import listing
from usher.cluster.api import Lists
from usher.cluster.listing import Target
from usher.facts.store import Store
from usher.kinds.kept_fields import FactKind
from usher.kinds.registry import BY_GROUP_AND_KIND
from usher.policy.evaluator import Evaluator

BUILT_IN: Final = frozenset({"", "apps", "batch"})
DEFINITIONS: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Nobody can say what is there."""


_UNKNOWN: Final = _Unknown()


class Confirming:
    """Reads one object at a time."""

    def __init__(self, api: Lists, holdings: Holdings, evaluator: Callable[[], Evaluator]) -> None:
        """Takes the API server, what exists as far as watches have told, and what gives the evaluator in service."""
        self._api = api
        self._holdings = holdings
        self._evaluator = evaluator
        self._owners = Owners(api, holdings, lambda: Tariff(evaluator=evaluator()))
        whole = observer.kinds(lambda: Tariff(evaluator=evaluator()))
        self._kinds = {kind.key: replace(kind, keep=_whole) for kind in whole}

    def confirmed(self, action: Action, tariff: Tariff, charged: Charged) -> Iterator[Action]:
        """The action that what exists calls for: at most one.

        Raises:
            ClusterError: the API server does not answer.
        """
        entry = action.entry
        found = self._standing(entry, tariff, charged)
        if isinstance(found, _Unknown):
            return
        there = found if found is not None and found.charge and not found.finished else None
        match action:
            case Adopt():
                if there is not None:
                    yield Adopt(entry=replace(entry, amounts=there.charge))
            case Release() | Settle():
                if there is None:
                    yield Release(entry=entry, reason="is not there")
                else:
                    yield Settle(entry=entry, amounts=there.charge, lowers=True)

    def is_gone(self, entry: Entry) -> bool:
        """Whether the object of an entry is not there any more, and has left no pods.

        Raises:
            ClusterError: the API server does not answer.
        """
        return self._read(entry) is None and self._holdings.left_of(entry) is None

    def _standing(self, entry: Entry, tariff: Tariff, charged: Charged) -> Holding | _Unknown | None:
        """What the object of an entry is charged for: None where it is not there, or another answers for it."""
        value = self._read(entry)
        if isinstance(value, _Unknown):
            return value
        return _with(self._itself(value, tariff, charged), self._holdings.left_of(entry))

    def _itself(self, value: paths.Object | None, tariff: Tariff, charged: Charged) -> Holding | None:
        """An object that nobody else answers for, without what is left of earlier ones of its name."""
        if value is None:
            return None
        held = observer.held(observer.kept(value, tariff))
        if held is None:
            return None
        root = self._owners.answering(value)
        if root is not None and not (held.is_pod and self._stands_alone(held.holding, root, charged)):
            return None
        return self._holdings.at_least(held.holding, charged)

    def _read(self, entry: Entry) -> paths.Object | _Unknown | None:
        """The object of an entry as it is now; None where it is not there, or cannot be told from others."""
        kind = self._kinds.get((entry.group, entry.kind))
        if kind is None:
            return _UNKNOWN
        if not entry.name:
            return None
        listed = listing.read(self._api, Target(kind=kind, namespace=entry.namespace, name=entry.name))
        match listed:
            case listing.Refused():
                return _UNKNOWN
            case listing.NotServed():
                return None if self._is_taken_away(kind) else _UNKNOWN
        return listed.values[0] if listed.values else None

    def _stands_alone(self, pod: Holding, root: Holding, charged: Charged) -> bool:
        return charged(pod) and self._holdings.stands_alone(pod, root, charged)

    def _is_taken_away(self, kind: FactKind) -> bool:
        """Whether a kind that is not served was taken away: an API server that has just started may not know it yet."""
        defined = self._facts.names(*DEFINITIONS)
        return kind.group not in BUILT_IN and defined is not None and kind.resource not in defined

    @property
    def _facts(self) -> Store:
        return self._evaluator().facts


def _with(there: Holding | None, left: Holding | None) -> Holding | None:
    """What an object takes together with what is left of earlier ones of its name."""
    if there is None or there.finished or left is None:
        return left or there
    return replace(there, charge=together([there.charge, left.charge]))


def _whole(value: paths.Object) -> paths.Object:
    return value


def ending(entry: Entry, *, holdings: Holdings) -> ByClasses:
    """What is held beside an object that is there, as far as watches have told."""
    left = holdings.left_of(entry)
    return {} if left is None else left.charge


def ending_at_creation(value: paths.Object, entry: Entry, *, api: Lists, holdings: Holdings) -> ByClasses:
    """What is held beside an object that is to be created.

    Where no watch has told of a deletion yet, the earlier object is looked up: if it is there, whoever creates another
    tries again, or will be refused; if it is not, it is taken to hold all that it was charged.

    Raises:
        ClusterError: the API server does not answer.
    """
    there = holdings.there(entry)
    untold = [holdings.at_least(each) for each in there] if there and _is_gone(value, entry, api) else []
    return together([ending(entry, holdings=holdings), *(each.charge for each in untold)])


def _is_gone(value: paths.Object, entry: Entry, api: Lists) -> bool:
    kind = BY_GROUP_AND_KIND[entry.group, entry.kind]
    _, _, version = str(value.get("apiVersion")).rpartition("/")
    place: paths.Object = {"metadata": {"namespace": entry.namespace}}
    return read(api, kind.plural, group=entry.group, version=version, of=place, name=entry.name, uid=None) is None
