"""Findings that count less: suppressed ones, and those that were there before and did not get worse.

The author of an object suppresses findings by an annotation, as far as usher.yaml lets authors. Each line of it is
`CODE: reason` or `CODE until 2026-12-31: reason`, with the code or name of one check. A suppressed finding is still
reported, as a note. The annotation is text of a stranger: usher reads a bounded part of it and prints no control
character of it.

A finding was there before an UPDATE (`still_there`), or in a baseline. It is worse if the object has more pods or
accelerators, if the number at its place grew, or if more places have it. Other texts make another finding. So do other
numbers in its message, unless the object takes less than before.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final, NamedTuple

from msgspec import Struct

from usher import errors, memo, model, paths, quantities
from usher.config import models, selection
from usher.policy.checks.catalogue import Entry, Severity

ANNOTATION: Final = "gpu-usher.io/ignore"

_LARGEST: Final = 8192
"""Characters of the annotation that are read."""
_MOST: Final = 20
"""Lines of the annotation that are read."""
_LONGEST: Final = 200
"""Characters of a reason, or of a line in a message."""
_LINE: Final = memo.pattern(r"([A-Za-z][A-Za-z0-9-]{0,99})(?:\s+until\s+(\d{4}-\d{2}-\d{2}))?\s*:\s*(\S.*)", re.ASCII)
_GUARDED_CATEGORY: Final = "isolation"
"""Checks that protect other workloads and nodes. Only a rule that names the check itself lets authors suppress it."""


class Suppression(Struct, frozen=True, kw_only=True):
    """One line of the annotation."""

    check: str
    """The code or name of a check, as the author wrote it."""
    reason: str
    until: date | None = None
    """The last day on which it applies, in UTC; None without one."""


class Asked(Struct, frozen=True, kw_only=True):
    """The suppressions in the annotation of an object."""

    suppressions: tuple[Suppression, ...] = ()
    problems: tuple[str, ...] = ()
    """Why lines of it have no effect."""

    def about(self, entry: Entry) -> Suppression | None:
        """The first line about a check."""
        words = {entry.code.casefold(), entry.name.casefold(), *(each.casefold() for each in entry.aliases)}
        return next((each for each in self.suppressions if each.check.casefold() in words), None)


NOTHING: Final = Asked()


def read(value: paths.Object) -> Asked:
    """The suppressions that an object itself carries; those of its pod templates are for the pods."""
    annotations = paths.metadata(value).get("annotations")
    text = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    if not isinstance(text, str) or not text.strip():
        return NOTHING
    found, problems = [], []
    lines = [line.strip() for line in text[:_LARGEST].splitlines() if line.strip()]
    for line in lines[:_MOST]:
        try:
            found.append(_suppression(line))
        except ValueError:
            problems.append(f"{_plain(line)!r} is not `CODE: reason` or `CODE until YYYY-MM-DD: reason`")
    if len(text) > _LARGEST or len(lines) > _MOST:
        problems.append(f"only the first {_MOST} lines and {_LARGEST:,} characters are read")
    return Asked(suppressions=tuple(found), problems=tuple(problems))


def _suppression(line: str) -> Suppression:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(line)
    check, until, reason = match.groups()
    return Suppression(check=check, reason=_plain(reason), until=date.fromisoformat(until) if until else None)


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text[:_LONGEST])


class Circumstances(Struct, frozen=True, kw_only=True):
    """Where a finding was made, on which day, and in which object."""

    namespace: str
    role: model.Role = model.Role.UNKNOWN
    place: selection.Place = "admission"
    kind: str = ""
    name: str = ""
    today: date = date.min
    """The date in UTC."""


def exception_covers(exception: models.ExceptionRule, check: Entry, where: Circumstances) -> bool:
    """Whether an exception covers a check here; an expired one covers nothing."""
    return (
        where.today <= exception.expires
        and exception_names_check(exception, check)
        and exception_matches(exception, namespace=where.namespace, kind=where.kind, name=where.name)
    )


def exception_names_check(exception: models.ExceptionRule, check: Entry) -> bool:
    return not {check.code, check.name, *check.aliases}.isdisjoint(exception.checks)


def exception_matches(exception: models.ExceptionRule, *, namespace: str, kind: str, name: str) -> bool:
    """Whether an exception is for an object, on any day and for any check."""
    return (
        selection.matches_pattern(namespace, exception.namespaces)
        and (not exception.kinds or kind in exception.kinds)
        and (not exception.names or selection.matches_pattern(name, exception.names))
    )


def refusal(
    asked: Suppression, entry: Entry, outcome: model.Outcome, *, where: Circumstances, enforcement: models.Enforcement
) -> str:
    """Why a finding stays although its author suppresses it; empty if the suppression applies."""
    if asked.until is not None and asked.until < where.today:
        return f"the suppression ended on {asked.until}"
    fitting = [
        rule
        for rule in enforcement.suppressions
        if where.place in rule.places
        and selection.matches_pattern(where.namespace, rule.namespaces)
        and names_check(rule, entry)
    ]
    if not fitting:
        named = (
            "names it, which critical checks and checks of isolation need" if _is_guarded(entry) else "allows it here"
        )
        return f"no entry of enforcement.suppressions in usher.yaml {named}"
    allowing = [rule for rule in fitting if outcome is not model.Outcome.DENY or rule.denials]
    if not allowing:
        return "enforcement.suppressions of usher.yaml does not allow it for denials"
    if asked.until is None and all(rule.needs_end for rule in allowing):
        return f"usher.yaml asks for a last day: write `{entry.code} until YYYY-MM-DD: reason`"
    return ""


def names_check(rule: models.SuppressionRule, entry: Entry) -> bool:
    """Whether a rule lets authors suppress a check. A category or * names no check that guards others."""
    one = {entry.code, entry.name, *entry.aliases}
    words = one if _is_guarded(entry) else {"*", entry.category, *one}
    return not words.isdisjoint(rule.checks)


def _is_guarded(entry: Entry) -> bool:
    return entry.severity is Severity.CRITICAL or entry.category == _GUARDED_CATEGORY


def applied_text(asked: Suppression) -> str:
    """The reason for the milder outcome of a suppressed finding."""
    until = f" until {asked.until}" if asked.until is not None else ""
    return f"its author suppresses it{until}: {asked.reason}"


def notes(
    value: paths.Object,
    judgements: tuple[model.Judgement, ...],
    checks: Mapping[str, Entry],
    *,
    where: Circumstances,
    enforcement: models.Enforcement,
) -> Iterator[str]:
    """One line about each suppression of an object: what it did, or why it did nothing."""
    asked = read(value)
    yield from asked.problems
    for each in asked.suppressions:
        entry = next((entry for entry in checks.values() if asked.about(entry) is each), None)
        if entry is None:
            names = [word for entry in checks.values() for word in (entry.code, entry.name)]
            twice = any(other is not each and other.check == each.check for other in asked.suppressions)
            yield (
                f"{each.check} is named twice; the first line counts"
                if twice
                else f"no check is called {each.check}{selection.nearest_word(each.check, names)}"
            )
            continue
        about = [judgement for judgement in judgements if judgement.finding.check == entry.key]
        number = sum(judgement.suppressed for judgement in about)
        staying = next((each for each in about if each.outcome is not model.Outcome.AUDIT), None)
        if number:
            yield f"{entry.code} suppressed, {number} finding{'s' * (number > 1)}: {each.reason}"
        if staying is not None:
            why = refusal(each, entry, staying.outcome, where=where, enforcement=enforcement)
            yield f"{entry.code} is not suppressed: {why}"
        elif not number:
            yield f"{entry.code} finds nothing to suppress here; remove the line"


Amount = tuple[bool, Decimal]
"""Whether there is no upper bound, and the number: the most, or the fewest without a bound. Later tuples are more."""

Amounts = Mapping[str, Amount]
"""Pods and accelerators by name."""

PODS: Final = "pods"

_NUMBERS: Final = memo.pattern(r"\d+(?:\.\d+)?")
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
