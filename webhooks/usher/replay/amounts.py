"""Counts the objects, pods and accelerators of a difference, in total and by check, namespace, owner and user."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from usher.dataclass import dataclass
from usher.replay.comparison import Change, CheckChange, Difference, State
from usher.scan import devices as scan_devices
from usher.scan.devices import NOTHING, Amount, Devices

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Concerned:
    """Objects, their pods, and the accelerators that these pods request."""

    objects: int = 0
    workloads: int = 0
    """How many of the objects make pods."""
    kinds: frozenset[str] = frozenset()
    pods: Amount = NOTHING
    devices: Devices

    @property
    def gpus(self) -> Amount:
        """Whole GPUs among the accelerators."""
        return scan_devices.gpus(self.devices)


NO_OBJECTS: Final = Concerned(devices={})


@dataclass(frozen=True, slots=True, kw_only=True)
class OfCheck:
    """The changes in one check, also in objects whose verdict stays the same."""

    check: str
    code: str
    name: str
    newly_denies: Concerned
    no_longer_denies: Concerned
    newly_warns: Concerned
    no_longer_warns: Concerned
    not_evaluated: Concerned


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The objects of one namespace, owner or user, by their difference."""

    name: str
    by_difference: Mapping[Difference, Concerned]
    """Only differences with objects."""

    def of(self, difference: Difference) -> Concerned:
        """The objects with a difference."""
        return self.by_difference.get(difference, NO_OBJECTS)


def concerned(changes: Iterable[Change]) -> Concerned:
    """The sum over some changes."""
    shown = [change.shown for change in changes]
    return Concerned(
        objects=len(shown),
        workloads=sum(each.workload for each in shown),
        kinds=frozenset(each.kind for each in shown),
        pods=scan_devices.total(each.pods for each in shown),
        devices=scan_devices.added(each.devices for each in shown),
    )


def by_difference(changes: Iterable[Change]) -> dict[Difference, Concerned]:
    """The objects of each difference, in the order of `Difference`, without differences that have no objects."""
    groups = _grouped(changes, lambda change: change.difference)
    return {difference: concerned(groups[difference]) for difference in Difference if difference in groups}


def by_check(changes: Iterable[Change]) -> list[OfCheck]:
    """The checks with another result, first those that newly deny the most GPUs."""
    pairs: dict[str, list[tuple[Change, CheckChange]]] = defaultdict(list)
    for change in changes:
        for check in change.checks:
            pairs[check.check].append((change, check))
    found = [_of_check(each) for each in pairs.values()]
    return sorted(found, key=lambda each: (*_least(each.newly_denies), *_least(each.no_longer_denies), each.code))


def by_namespace(changes: Iterable[Change]) -> list[Group]:
    """The objects that differ, by namespace; an empty name for objects without a namespace."""
    return _groups(changes, lambda change: change.shown.namespace)


def by_owner(changes: Iterable[Change]) -> list[Group]:
    """The objects that differ, by their controller within a namespace; by themselves if they have no controller."""
    return _groups(changes, _owner)


def by_user(changes: Iterable[Change]) -> list[Group]:
    """The objects of recorded reviews that differ, by user."""
    return _groups((change for change in changes if change.shown.user), lambda change: change.shown.user)


def _owner(change: Change) -> str:
    """`Job ml-research/bert`."""
    kind, _, name = change.shown.owner.partition("/")
    within = f"{change.shown.namespace}/" if change.shown.namespace else ""
    return f"{kind} {within}{name or '(unnamed)'}"


def _of_check(pairs: Sequence[tuple[Change, CheckChange]]) -> OfCheck:
    def those(holds: Callable[[State, State], bool]) -> Concerned:
        return concerned(change for change, check in pairs if holds(check.before, check.after))

    unknown = State.NOT_EVALUATED
    milder = (State.AUDIT, State.NOTHING)
    first = pairs[0][1]
    return OfCheck(
        check=first.check,
        code=first.code,
        name=first.name,
        newly_denies=those(lambda _, after: after is State.DENY),
        no_longer_denies=those(lambda before, after: before is State.DENY and after is not unknown),
        newly_warns=those(lambda before, after: after is State.WARN and before in milder),
        no_longer_warns=those(lambda before, after: before is State.WARN and after in milder),
        not_evaluated=those(
            lambda before, after: after is unknown or (before is unknown and after is not State.DENY),
        ),
    )


def _groups(changes: Iterable[Change], name: Callable[[Change], str]) -> list[Group]:
    differing = (change for change in changes if change.difference is not Difference.NOTHING)
    groups = [Group(name=key, by_difference=by_difference(found)) for key, found in _grouped(differing, name).items()]

    def weight(group: Group) -> tuple[object, ...]:
        worst = (group.of(each) for each in Difference)
        return (*(number for each in worst for number in _least(each)), group.name)

    return sorted(groups, key=weight)


def _least(each: Concerned) -> tuple[object, ...]:
    """A sort key, most first."""
    return -each.gpus.number, -each.objects


def _grouped(changes: Iterable[Change], key: Callable[[Change], _Key]) -> dict[_Key, list[Change]]:
    groups: dict[_Key, list[Change]] = defaultdict(list)
    for change in changes:
        groups[key(change)].append(change)
    return groups
