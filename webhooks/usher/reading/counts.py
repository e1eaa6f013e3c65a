"""How often something runs, as far as a manifest tells: steps and tasks that fan out (Argo, Tekton)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from usher import model
from usher.reading.values import MAX_PODS


class Times(NamedTuple):
    """How often something runs; `high` is None when nothing bounds it."""

    low: int
    high: int | None
    reasons: tuple[str, ...] = ()
    """Why the one is not the other."""

    def of_pods(self) -> model.Count:
        reason = "; ".join(self.reasons) if self.low != self.high or self.high == 0 else ""
        return model.Count(minimum=self.low, maximum=self.high, reason=reason)

    def perhaps(self, reason: str) -> "Times":
        """The same for something that need not run at all."""
        return Times(0, self.high, united(self.reasons, (reason,)))


NEVER: Final = Times(0, 0)
ONCE: Final = Times(1, 1)

_TOO_MANY: Final = ("more pods than any cluster holds",)


def together(found: Iterable[Times]) -> Times:
    """All of these."""
    low = 0
    high: int | None = 0
    reasons: tuple[str, ...] = ()
    for times in found:
        low += times.low
        high = None if high is None or times.high is None else high + times.high
        reasons = united(reasons, times.reasons)
    return _bounded(Times(low, high, reasons))


def each(outer: Times, inner: Times) -> Times:
    """The inner ones every time that the outer ones happen."""
    if outer.high == 0 or inner.high == 0:
        return NEVER
    high = None if outer.high is None or inner.high is None else outer.high * inner.high
    return _bounded(Times(outer.low * inner.low, high, united(outer.reasons, inner.reasons)))


def capped(found: Sequence[Times], limit: int, reason: str) -> list[Times]:
    """As many of them as there may be at one time: what certainly happens fills the room in the given order."""
    total = together(found).high
    if total is not None and total <= limit:
        return list(found)
    left = limit
    result = []
    for times in found:
        low = min(times.low, left)
        left -= low
        high = limit if times.high is None else min(times.high, limit)
        result.append(Times(low, high, united(times.reasons, (reason,))))
    return result


def united(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Reasons, each once."""
    return tuple(dict.fromkeys((*one, *other)))


def _bounded(times: Times) -> Times:
    if times.high is None or times.high <= MAX_PODS:
        return times._replace(low=min(times.low, MAX_PODS))
    return Times(min(times.low, MAX_PODS), None, united(times.reasons, _TOO_MANY))
