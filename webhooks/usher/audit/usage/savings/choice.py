"""All savings, the largest first; of several for one workload only the largest adds up."""

from collections.abc import Iterable, Iterator

from usher.audit.document.usage import Saving
from usher.audit.usage.savings import idle, mig_profiles, nights, spot
from usher.audit.usage.savings.case import Case

_KINDS = (idle.find, mig_profiles.find, spot.find, nights.find)


def savings(cases: Iterable[Case]) -> tuple[Saving, ...]:
    found = [each for case in cases for each in _of_one(case)]
    return tuple(sorted(found, key=lambda each: (*_size(each), each.subject.namespace, each.subject.name, each.kind)))


def _of_one(case: Case) -> Iterator[Saving]:
    found = sorted(filter(None, (find(case) for find in _KINDS)), key=_size)
    for index, each in enumerate(found):
        yield each if index == 0 else each.model_copy(update={"adds_up": False})


def _size(saving: Saving) -> tuple[float, float]:
    """Smaller for a larger saving: by money, else by GPU-hours."""
    return -(saving.cost or 0), -saving.gpu_hours
