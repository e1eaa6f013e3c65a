"""Whether a finding was there before and did not get worse: before an UPDATE (`still_there`), or in a baseline.

A finding is worse if the object has more pods or accelerators, if the number at its place grew, or if more places have
it. Other texts make another finding. So do other numbers in its message, unless the object takes less than before.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from usher import errors, model, paths, quantities

Amount = tuple[bool, Decimal]
"""Whether there is no upper bound, and the number: the most, or the fewest without a bound. Later tuples are more."""

Amounts = Mapping[str, Amount]
"""Pods and accelerators by name."""

PODS: Final = "pods"

_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)?")
_NOTHING: Final[Amount] = (False, Decimal(0))


def are_no_more(amounts: Amounts, known: Amounts) -> bool:
    """Whether each amount is at most the known one."""
    return all(amount <= known.get(name, _NOTHING) for name, amount in amounts.items())


def single_value(value: paths.Object, path: str) -> str | int | float | None:
    """The value at a place; None for an object or a list, and without a value."""
    try:
        found = paths.resolve(value, path)
    except (LookupError, ValueError):
        return None
    return found if isinstance(found, str | int | float) else None


class Side(NamedTuple):
    """An object before an UPDATE or after it, with its findings."""

    findings: Sequence[model.Finding]
    workload: model.Workload
    value: paths.Object


class _Measured(NamedTuple):
    check: str
    words: str
    """The message without its numbers."""
    text: str
    """The text at the place; empty for numbers and quantities."""
    numbers: tuple[Decimal, ...]
    """The numbers in the message."""
    value: Decimal
    """The number or quantity at the place; 0 without one."""
    amounts: Amounts

    @property
    def key(self) -> tuple[str, str, str]:
        return self[:3]

    @property
    def size(self) -> tuple[Amount, Decimal, tuple[Decimal, ...]]:
        return self.amounts[PODS], self.value, self.numbers

    def is_no_worse(self, before: "_Measured") -> bool:
        """Whether an earlier finding with its key was as bad."""
        if not are_no_more(self.amounts, before.amounts) or self.value > before.value:
            return False
        if self.numbers == before.numbers:
            return True
        takes_less = self.amounts != before.amounts and len(self.numbers) == len(before.numbers)
        return takes_less and all(now <= then for now, then in zip(self.numbers, before.numbers, strict=True))


def still_there(now: Side, before: Side, *, may_grow: bool) -> frozenset[int]:
    """The indexes of the findings that the object had before the UPDATE, no milder than now.

    Args:
        now: the object as the request has it.
        before: the object that exists.
        may_grow: whether more pods and accelerators make no finding worse.
    """
    earlier: defaultdict[tuple[str, str, str], list[_Measured]] = defaultdict(list)
    for each in sorted(_measured(before, may_grow=may_grow), key=lambda each: each.size, reverse=True):
        earlier[each.key].append(each)
    found = list(_measured(now, may_grow=may_grow))
    kept = set()
    # The smallest first, each beside the smallest that was as bad: the order of places does not matter.
    for index in sorted(range(len(found)), key=lambda index: found[index].size):
        left = earlier[found[index].key]
        while left:
            if found[index].is_no_worse(left.pop()):
                kept.add(index)
                break
    return frozenset(kept)


def _measured(side: Side, *, may_grow: bool) -> Iterable[_Measured]:
    devices = {} if may_grow else dict(_accelerators(side.workload))
    for finding in side.findings:
        pods = _NOTHING if may_grow else _pods_of(finding, side.workload)
        value = single_value(side.value, finding.path)
        number = _number(value)
        yield _Measured(
            check=finding.check,
            words=_NUMBERS.sub("#", finding.message),
            text=str(value) if number is None and value is not None else "",
            numbers=tuple(map(Decimal, _NUMBERS.findall(finding.message))),
            value=number or Decimal(0),
            amounts={**devices, PODS: pods},
        )


def _accelerators(workload: model.Workload) -> Iterable[tuple[str, Amount]]:
    for total in workload.totals:
        most = total.minimum if total.maximum is None else total.maximum
        yield f"{total.name} ({total.route.value})", (total.maximum is None, Decimal(most.nanos))


def _pods_of(finding: model.Finding, workload: model.Workload) -> Amount:
    """The pods of the pod set that a finding is about, or of the whole object."""
    about = max(
        (each for each in workload.pod_sets if f"{finding.path}/".startswith(f"{each.path}/")),
        key=lambda each: len(each.path),
        default=None,
    )
    count = workload.pods if about is None else about.count
    return (True, Decimal(count.minimum)) if count.maximum is None else (False, Decimal(count.maximum))


def _number(value: str | float | None) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        return Decimal(quantities.parse(value).nanos)
    except errors.QuantityError:
        return None
