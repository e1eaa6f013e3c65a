"""Kubernetes quantities, exact: `1`, `1000m`, `1e0` and `" 1"` are one and the same number.

The grammar and the rounding are those of k8s.io/apimachinery pkg/api/resource (quantity.go, suffix.go). A quantity is
a whole number of nanos, because anything finer is rounded up to a nano there as well; so no float is ever involved.
Stricter than Go in what nobody means: texts without a digit, which Go takes for 0 (`.`, `+`, `E`), and numbers beyond
the bounds below.
"""

import re
from dataclasses import dataclass
from typing import Self

from usher import errors

NANO = 10**9
MILLI = 10**6

_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<whole>[0-9]+)(?:\.(?P<fraction>[0-9]*))?|\.(?P<only_fraction>[0-9]+))"
    r"(?P<suffix>(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?)",
    re.ASCII,
)
_BINARY_SUFFIXES = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

# Go trims a text after it has taken the quotes off but before it would undo JSON's escapes: spaces that the API server
# writes as escapes (tab, line feed, U+2028) stay, and are refused.
_SPACES = " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

# Beyond these Go's own arithmetic caps or wraps, and no real manifest comes near; refusing keeps parsing cheap.
MAX_EXPONENT = 30
MAX_LENGTH = 64
MAX_NANOS = 10**MAX_EXPONENT * NANO

MAX_INT64 = 2**63 - 1


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """A number of nanos (1e-9). Compares, adds and multiplies as the number that it is."""

    nanos: int

    def __add__(self, other: Self) -> "Quantity":
        return Quantity(self.nanos + other.nanos)

    def __mul__(self, factor: int) -> "Quantity":
        return Quantity(self.nanos * factor)

    def __bool__(self) -> bool:
        return self.nanos != 0

    @property
    def value(self) -> int:
        """The number rounded up to a whole one, capped to 64 bits, where Go's Value() wraps around."""
        return _rounded_up(self.nanos, NANO)

    @property
    def milli(self) -> int:
        """The number of thousandths, rounded up, capped to 64 bits, where Go's MilliValue() wraps around."""
        return _rounded_up(self.nanos, MILLI)

    @property
    def is_whole(self) -> bool:
        return self.nanos % NANO == 0

    def __str__(self) -> str:
        """The shortest decimal form: `500m`, `2`, `16Gi` reads `17179869184`."""
        for suffix, nanos in (("", NANO), ("m", MILLI), ("u", 1000)):
            if self.nanos % nanos == 0:
                return f"{self.nanos // nanos}{suffix}"
        return f"{self.nanos}n"


ZERO = Quantity(0)


def parse(value: object) -> Quantity:
    """A quantity from the text or number of a manifest.

    As the API server's JSON decoder does, surrounding spaces are dropped and bare numbers are taken.

    Raises:
        QuantityError: the text is none, or the number is too long or too large to be meant.
    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, bool) or value is None:
        found = "null" if value is None else "a boolean"
        raise errors.QuantityError(f"{found} is not a quantity; write a number, such as 1 or 500m")
    if isinstance(value, int):
        # Python refuses to write out an int of thousands of digits, so its size is looked at first.
        if abs(value) * NANO > MAX_NANOS:
            raise errors.QuantityError("the number is larger than any quantity")
        return Quantity(value * NANO)
    if isinstance(value, float):
        return _parse_text(repr(value))
    raise errors.QuantityError(f"a {type(value).__name__} is not a quantity; write a number, such as 1 or 500m")


def _parse_text(text: str) -> Quantity:
    if len(text) > MAX_LENGTH:
        raise errors.QuantityError(f"{text[:16]!r}... is {len(text)} characters long; no quantity is")
    match = _GRAMMAR.fullmatch(text.strip(_SPACES))
    if match is None:
        raise errors.QuantityError(f"{text!r} is not a quantity; write a number, such as 1, 500m or 16Gi")
    whole = match["whole"] or "0"
    fraction = match["fraction"] or match["only_fraction"] or ""
    digits = int(whole + fraction)
    suffix = match["suffix"]
    if suffix in _BINARY_SUFFIXES:
        nanos = _divide_up(digits * _BINARY_SUFFIXES[suffix] * NANO, 10 ** len(fraction))
        nanos = min(nanos, MAX_INT64 * NANO)
    else:
        exponent = _decimal_exponent(text, suffix) - len(fraction) + 9
        nanos = digits * 10**exponent if exponent >= 0 else _divide_up(digits, 10**-exponent)
    if nanos > MAX_NANOS:
        raise errors.QuantityError(f"{text!r} is larger than any quantity")
    return Quantity(-nanos if match["sign"] == "-" else nanos)


def _decimal_exponent(text: str, suffix: str) -> int:
    exponent = _DECIMAL_EXPONENTS.get(suffix)
    if exponent is None:
        exponent = int(suffix[1:])
        if abs(exponent) > MAX_EXPONENT:
            raise errors.QuantityError(f"{text!r} has an exponent beyond {MAX_EXPONENT}; no quantity does")
    return exponent


def _divide_up(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _rounded_up(nanos: int, unit: int) -> int:
    return max(-MAX_INT64, min(_divide_up(nanos, unit), MAX_INT64))
