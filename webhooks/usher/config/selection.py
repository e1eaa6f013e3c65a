"""Which entries of usher.yaml apply to a workload (by namespace, role, kind and size), and which entries overlap.

In a namespace pattern `*` stands for any characters; every other character stands for itself.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct

from usher import model
from usher.config import fields
from usher.config.fields import Selector


def matches_pattern(namespace: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern fits; the models accept `*` as the only wildcard."""
    return any(fields.glob_fits(namespace, pattern) for pattern in patterns)


Entry = TypeVar("Entry", bound=fields.Selector)


class Subject(Struct, frozen=True, kw_only=True):
    """The fields of a workload that a selector compares."""

    namespace: str
    group: str
    kind: str
    role: str
    accelerators: int | None
    """The accelerators of all pods together, under any name; None without a bound."""


def subject_of(workload: model.Workload) -> Subject:
    return Subject(
        namespace=workload.namespace,
        group=workload.group,
        kind=workload.kind,
        role=workload.role.value,
        accelerators=largest_size(workload),
    )


def first_match(entries: Iterable[Entry], subject: Subject) -> Entry | None:
    """The first entry that matches; None without a match."""
    return next((entry for entry in entries if entry_fits(entry, subject)), None)


def entry_fits(entry: fields.Selector, subject: Subject) -> bool:
    """Whether an entry matches a workload. A workload without bound is larger than any number."""
    most = entry.max_accelerators
    return (
        (not entry.kinds or subject.kind in entry.kinds or f"{subject.group}/{subject.kind}" in entry.kinds)
        and (not entry.roles or subject.role in entry.roles)
        and (subject.accelerators is None or subject.accelerators >= entry.min_accelerators)
        and (most is None or (subject.accelerators is not None and subject.accelerators <= most))
        and matches_pattern(subject.namespace, entry.namespaces)
    )


def largest_size(workload: model.Workload) -> int | None:
    """Accelerators of all pods together at their maximum, by any name and route; None without a bound."""
    maxima = [total.maximum for total in workload.totals]
    return sum(most.value for most in maxima if most is not None) if None not in maxima else None


_ANYTHING = "\0"
"""A placeholder for any text in place of a `*`; in a pattern, only another `*` matches it."""


def entry_covers(first: Selector, second: Selector) -> bool:
    """Whether the first matches every workload that the second matches."""
    return (
        patterns_cover(first.namespaces, second.namespaces)
        and _covers(first.kinds, second.kinds)
        and _covers(first.roles, second.roles)
        and first.min_accelerators <= second.min_accelerators
        and (
            first.max_accelerators is None
            or (second.max_accelerators is not None and second.max_accelerators <= first.max_accelerators)
        )
    )


def entries_overlap(first: Selector, second: Selector) -> bool:
    """Whether both can match the same workload."""
    return (
        patterns_meet(first.namespaces, second.namespaces)
        and _share(first.kinds, second.kinds)
        and _share(first.roles, second.roles)
        and _reaches(first.max_accelerators, second.min_accelerators)
        and _reaches(second.max_accelerators, first.min_accelerators)
    )


def patterns_meet(first: Iterable[str], second: Sequence[str]) -> bool:
    """Whether a name can match one of the first and one of the second."""
    return any(_ends_agree(one, other) and _meet(one, other) for one in first for other in second)


def _ends_agree(one: str, other: str) -> bool:
    """Whether the starts of both patterns agree up to the first `*`, and their ends. It spares most comparisons."""
    (start, end), (other_start, other_end) = _ends(one), _ends(other)
    return (start.startswith(other_start) or other_start.startswith(start)) and (
        end.endswith(other_end) or other_end.endswith(end)
    )


@lru_cache(maxsize=4096)
def _ends(pattern: str) -> tuple[str, str]:
    return pattern.partition("*")[0], pattern.rpartition("*")[2]


def patterns_cover(first: Sequence[str], second: Iterable[str]) -> bool:
    """Whether every name of the second matches one of the first; coverage by several patterns together is not found."""
    return all(any(fields.glob_fits(each.replace("*", _ANYTHING), pattern) for pattern in first) for each in second)


def _covers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the first list covers the second; an empty list means everything."""
    return not first or (bool(second) and set(second) <= set(first))


def _share(first: Sequence[str], second: Sequence[str]) -> bool:
    return not first or not second or not set(first).isdisjoint(second)


def _reaches(most: int | None, least: int) -> bool:
    return most is None or most >= least


@lru_cache(maxsize=1024)
def _meet(first: str, second: str) -> bool:
    """Whether a name can match both patterns; compares each place of one with each place of the other, once."""
    reached = {(0, 0)}
    waiting = [(0, 0)]
    while waiting:
        one, other = waiting.pop()
        if one == len(first) and other == len(second):
            return True
        for step in _steps(first, second, one, other):
            if step not in reached:
                reached.add(step)
                waiting.append(step)
    return False


def _steps(first: str, second: str, one: int, other: int) -> list[tuple[int, int]]:
    left, right = first[one : one + 1], second[other : other + 1]
    steps = []
    if left == "*":
        # It ends here, or matches one more character of the other pattern.
        steps += [(one + 1, other), *([(one, other + 1)] if right else [])]
    if right == "*":
        steps += [(one, other + 1), *([(one + 1, other)] if left else [])]
    if left and left == right:
        steps.append((one + 1, other + 1))
    return steps
