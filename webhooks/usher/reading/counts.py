"""How many pods a manifest makes: of Jobs, in rollouts, of steps and tasks that fan out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from usher import model, paths
from usher.reading.values import MAX_PODS, Reading

DEFAULT_SURGE: Final = "25%"
"""The default share of a Deployment's replicas for its surge."""

_PERCENTAGE: Final = re.compile(r"([0-9]{1,4})%", re.ASCII)


def concurrent_pods(spec: Mapping[str, paths.Json], path: str, reading: Reading) -> int:
    """Pods of a JobSpec that run at one time: parallelism, but never more than completions."""
    parallelism = reading.count(spec.get("parallelism"), path + "/parallelism", default=1)
    completions = reading.count(spec.get("completions"), path + "/completions", default=parallelism)
    return min(parallelism, completions)


def in_turns(spec: Mapping[str, paths.Json]) -> bool:
    """Whether a JobSpec completes more pods than it runs at one time: later pods start when earlier ones have ended.

    Values of wrong types are recorded elsewhere.
    """
    given, completions = spec.get("parallelism"), spec.get("completions")
    parallelism = 1 if given is None else given
    return isinstance(parallelism, int) and isinstance(completions, int) and completions > parallelism


def share_of(  # noqa: PLR0913 - a field, what it is a share of, and how
    replicas: int,
    value: object,
    path: str,
    reading: Reading,
    *,
    default: int | str = DEFAULT_SURGE,
    rounded_up: bool = True,
) -> int:
    """Some of the replicas: a number, or a percentage. Surges are rounded up, unavailable pods are rounded down."""
    if value is None:
        value = default
    if not isinstance(value, str):
        return reading.count(value, path, default=0)
    percentage = _PERCENTAGE.fullmatch(value)
    if percentage is None:
        reading.unknown(path, "expected a whole number or a percentage, for example 25%")
        return 0
    hundredths = replicas * int(percentage[1])
    return -(-hundredths // 100) if rounded_up else hundredths // 100


class Times(NamedTuple):
    """How often a part runs; `high` is None without a bound."""

    low: int
    high: int | None
    reasons: tuple[str, ...] = ()
    """Why `low` and `high` differ."""

    def of_pods(self) -> model.Count:
        reason = "; ".join(self.reasons) if self.low != self.high or self.high == 0 else ""
        return model.Count(minimum=self.low, maximum=self.high, reason=reason)

    def perhaps(self, reason: str) -> "Times":
        """The same, but possibly never."""
        return Times(0, self.high, united(self.reasons, (reason,)))


NEVER: Final = Times(0, 0)
ONCE: Final = Times(1, 1)

_TOO_MANY: Final = ("more pods than any cluster holds",)


def together(found: Iterable[Times]) -> Times:
    """The sum of all of these."""
    low = 0
    high: int | None = 0
    reasons: tuple[str, ...] = ()
    for times in found:
        low += times.low
        high = None if high is None or times.high is None else high + times.high
        reasons = united(reasons, times.reasons)
    return _bounded(Times(low, high, reasons))


def each(outer: Times, inner: Times) -> Times:
    """The product: the inner runs, for each of the outer ones."""
    if outer.high == 0 or inner.high == 0:
        return NEVER
    high = None if outer.high is None or inner.high is None else outer.high * inner.high
    return _bounded(Times(outer.low * inner.low, high, united(outer.reasons, inner.reasons)))


def capped(found: Sequence[Times], limit: int, reason: str) -> list[Times]:
    """The runs that fit below a limit on runs at one time; certain runs take the room in the given order."""
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
