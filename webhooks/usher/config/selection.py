"""Which entries of usher.yaml apply to a workload: by namespace, role, kind and size.

In a namespace pattern `*` stands for any characters; every other character stands for itself.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TypeVar

from usher import model
from usher.config import models
from usher.dataclass import dataclass


def matches(namespace: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern fits; the models accept `*` as the only wildcard."""
    return any(fnmatchcase(namespace, pattern) for pattern in patterns)


Entry = TypeVar("Entry", bound=models.Selector)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The fields of a workload that a selector compares."""

    namespace: str
    group: str
    kind: str
    role: str
    accelerators: int | None
    """The accelerators of all pods together, under any name; None without a bound."""


def subject(workload: model.Workload) -> Subject:
    return Subject(
        namespace=workload.namespace,
        group=workload.group,
        kind=workload.kind,
        role=workload.role.value,
        accelerators=size(workload),
    )


def first(entries: Iterable[Entry], subject: Subject) -> Entry | None:
    """The first entry that matches; None without a match."""
    return next((entry for entry in entries if fits(entry, subject)), None)


def fits(entry: models.Selector, subject: Subject) -> bool:
    """Whether an entry matches a workload. A workload without bound is larger than any number."""
    most = entry.max_accelerators
    return (
        (not entry.kinds or subject.kind in entry.kinds or f"{subject.group}/{subject.kind}" in entry.kinds)
        and (not entry.roles or subject.role in entry.roles)
        and (subject.accelerators is None or subject.accelerators >= entry.min_accelerators)
        and (most is None or (subject.accelerators is not None and subject.accelerators <= most))
        and matches(subject.namespace, entry.namespaces)
    )


def size(workload: model.Workload) -> int | None:
    """Accelerators of all pods together at their maximum, by any name and route; None without a bound."""
    maxima = [total.maximum for total in workload.totals]
    return sum(most.value for most in maxima if most is not None) if None not in maxima else None
