"""The meaning of a known resource name."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from usher.accelerators.known_names import VENDORS, Known
from usher.accelerators.names import CLAIM_PREFIX, LONGEST, Meaning, Unit


class _Pattern(NamedTuple):
    domain: str
    expression: re.Pattern[str]
    vendor: str
    known: Known


def _meaning(vendor: str, known: Known, divides: str | None) -> Meaning:
    return Meaning(unit=known.unit, vendor=vendor, size=known.size, divides=divides)


_BY_NAME: Final = {
    known.name: _meaning(vendor, known, known.divides)
    for vendor, entries in VENDORS.items()
    for known in entries
    if known.pattern is None
}
_PATTERNS: Final = tuple(
    _Pattern(known.domain, known.pattern, vendor, known)
    for vendor, entries in VENDORS.items()
    for known in entries
    if known.pattern is not None
)


def meaning(name: str) -> Meaning | None:
    """The meaning of a resource; None for cpu, memory and every other name that usher does not know."""
    return _remembered(name) if len(name) <= LONGEST else _find(name)


def _find(name: str) -> Meaning | None:
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    if name.startswith(CLAIM_PREFIX):
        return Meaning(unit=Unit.CLAIM, device_class=name.removeprefix(CLAIM_PREFIX))
    domain, slash, rest = name.partition("/")
    for pattern in _PATTERNS if slash else ():
        match = pattern.expression.match(rest) if pattern.domain == domain else None
        if match is not None:
            divides = pattern.known.divides
            return _meaning(pattern.vendor, pattern.known, match.expand(divides) if divides else divides)
    return None


_remembered = lru_cache(maxsize=1024)(_find)
