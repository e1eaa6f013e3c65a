"""Which entry of a list in usher.yaml is for a workload: by namespace, role, kind and size."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from usher import model
from usher.config import models, namespaces

Entry = TypeVar("Entry", bound=models.Selector)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a selector looks at."""

    namespace: str
    group: str
    kind: str
    role: str
    accelerators: int | None
    """Of all pods together, whatever they are; None where nothing bounds them."""


def first(entries: Iterable[Entry], subject: Subject) -> Entry | None:
    """The first entry that fits; None where none does."""
    return next((entry for entry in entries if fits(entry, subject)), None)


def fits(entry: models.Selector, subject: Subject) -> bool:
    """Whether an entry is for a workload. One without bound is larger than any number."""
    most = entry.max_accelerators
    return (
        (not entry.kinds or subject.kind in entry.kinds or f"{subject.group}/{subject.kind}" in entry.kinds)
        and (not entry.roles or subject.role in entry.roles)
        and (subject.accelerators is None or subject.accelerators >= entry.min_accelerators)
        and (most is None or (subject.accelerators is not None and subject.accelerators <= most))
        and namespaces.matches(subject.namespace, entry.namespaces)
    )


def size(workload: model.Workload) -> int | None:
    """Accelerators of all pods together at their most, by whatever name and route; None where nothing bounds them."""
    maxima = [total.maximum for total in workload.totals]
    return sum(most.value for most in maxima if most is not None) if None not in maxima else None
