"""Reads Kubernetes quantities exactly, and writes them: `1`, `1000m`, `1e0` and `" 1"` are the same number. Also reads
semantic versions.

The grammar and the rounding are those of k8s.io/apimachinery pkg/api/resource (quantity.go, suffix.go). A quantity is a
whole number of nanos, because Kubernetes rounds finer numbers up to a nano. So no floats are needed. No library is
exact to the nano and rounds as Kubernetes does. Two kinds of text that Go accepts are refused as mistakes: texts
without a digit, which Go reads as 0 (`.`, `+`, `E`), and numbers beyond the bounds below.
"""

import math
import re
from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple, Self

from msgspec import Struct

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

# Go removes the quotes and trims the text, but it does not decode JSON's escapes. So spaces that the API server writes
# as escapes (tab, line feed, U+2028) stay, and Go refuses them.
_SPACES = " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

# Beyond these bounds Go's own arithmetic caps or wraps. Real manifests stay far below; refusing keeps parsing cheap.
MAX_EXPONENT = 30
MAX_LENGTH = 64
MAX_NANOS = 10**MAX_EXPONENT * NANO

MAX_INT64 = 2**63 - 1


class _Format(Enum):
    """The format of a quantity; its canonical text has the same format."""

    DECIMAL = "500m"
    BINARY = "512Mi"
    EXPONENT = "5e3"


class Quantity(Struct, frozen=True, order=True):
    """A number of nanos (1e-9). Compares, adds and multiplies as a number."""

    nanos: int

    def __add__(self, other: Self) -> "Quantity":
        return Quantity(self.nanos + other.nanos)

    def __mul__(self, factor: int) -> "Quantity":
        return Quantity(self.nanos * factor)

    def __bool__(self) -> bool:
        return self.nanos != 0

    @property
    def value(self) -> int:
        """The whole number, rounded away from 0 and capped to 64 bits. Go's Value() wraps around and does not cap."""
        return _rounded(self.nanos, NANO)

    @property
    def milli(self) -> int:
        """The number of thousandths, rounded and capped like `value`."""
        return _rounded(self.nanos, MILLI)

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

    Like the API server's JSON decoder, it drops surrounding spaces and accepts bare numbers.

    Raises:
        QuantityError: the text is not a quantity, or the number is too long or too large.
    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, bool) or value is None:
        found = "null" if value is None else "a boolean"
        raise errors.QuantityError(f"{found} is not a quantity; write a number, for example 1 or 500m")
    if isinstance(value, int):
        # Python refuses to format an int of thousands of digits, so its size is checked first.
        if abs(value) * NANO > MAX_NANOS:
            raise errors.QuantityError("the number is larger than any quantity")
        return Quantity(value * NANO)
    if isinstance(value, float):
        return _parse_text(repr(value))
    raise errors.QuantityError(f"a {type(value).__name__} is not a quantity; write a number, for example 1 or 500m")


def canonical(value: object) -> str:
    """The text that the API server makes of a quantity: `0.5` reads `500m`, `1.5Gi` `1536Mi`, `1e4` `10e3`.

    Raises:
        QuantityError: as `parse`.
    """
    return canonical_sum([value])


def canonical_sum(values: Iterable[object]) -> str:
    """The canonical text of a sum. As in Go, it has the format of the addend that makes it nonzero.

    Unlike Go, a decimal number of 1000E or more keeps its last suffix; Go loses the zeros.

    Raises:
        QuantityError: as `parse` does.
    """
    total, format_ = ZERO, _Format.DECIMAL
    for value in values:
        quantity = parse(value)
        if not total:
            format_ = _format(value, quantity)
        total += quantity
    return _format_nanos(total.nanos, format_)


def _format(value: object, quantity: Quantity) -> _Format:
    if isinstance(value, float):
        # Go formats a float, with or without an exponent, before it reads the text as a quantity.
        return _Format.DECIMAL if 1e-6 <= abs(value) < 1e21 else _Format.EXPONENT
    text = str(value).strip(_SPACES)
    if text.endswith("i"):
        return _Format.DECIMAL if abs(quantity.nanos) < NANO else _Format.BINARY
    return _Format.EXPONENT if {"e", "E"}.intersection(text[:-1]) else _Format.DECIMAL


def _format_nanos(nanos: int, format_: _Format) -> str:
    if nanos == 0:
        return "0"
    if format_ is _Format.BINARY and nanos % NANO == 0 and abs(nanos) >= 1024 * NANO:
        number, power = _without_factors(nanos // NANO, 1024, most=len(_BINARY_SUFFIXES))
        return f"{number}{['', *_BINARY_SUFFIXES][power]}"
    if format_ is _Format.EXPONENT:
        number, power = _without_factors(nanos, 1000)
        return f"{number}e{3 * power - 9}" if power != 3 else str(number)
    number, power = _without_factors(nanos, 1000, most=len(_DECIMAL_EXPONENTS) - 1)
    return f"{number}{[*_DECIMAL_EXPONENTS][power]}"


def _without_factors(number: int, factor: int, *, most: float = math.inf) -> tuple[int, int]:
    """Divides a number other than 0 by the factor while the rest is 0. Returns the result and how often it divided."""
    times = 0
    while times < most and number % factor == 0:
        number //= factor
        times += 1
    return number, times


def _parse_text(text: str) -> Quantity:
    if len(text) > MAX_LENGTH:
        raise errors.QuantityError(f"{text[:16]!r}... is {len(text)} characters long, too long for a quantity")
    match = _GRAMMAR.fullmatch(text.strip(_SPACES))
    if match is None:
        raise errors.QuantityError(f"{text!r} is not a quantity; write a number, for example 1, 500m or 16Gi")
    integer = match["whole"] or "0"
    fraction = match["fraction"] or match["only_fraction"] or ""
    digits = int(integer + fraction)
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
            raise errors.QuantityError(f"{text!r} has an exponent beyond {MAX_EXPONENT}, too large for a quantity")
    return exponent


def _divide_up(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _rounded(nanos: int, unit: int) -> int:
    rounded = min(_divide_up(abs(nanos), unit), MAX_INT64)
    return -rounded if nanos < 0 else rounded


_BYTES: Final = ("memory", "ephemeral-storage", "hugepages-")
_MIB: Final = 2**20
_GIB: Final = 2**30


def amount(resource: str, number: int, *, up: bool) -> str:
    """The text of an amount in the scheduler's units: `3500m`, `8`, `1007.5Gi`.

    Bytes are rounded to a tenth: demand up, supply down. So a demand above the supply never looks equal to it.
    """
    if resource == "cpu":
        return str(Quantity(number * MILLI))
    if not resource.startswith(_BYTES):
        return str(number)
    if number < _MIB:
        return str(number)
    unit, suffix = (_GIB, "Gi") if number >= _GIB else (_MIB, "Mi")
    tenths = -(-number * 10 // unit) if up else number * 10 // unit
    units, rest = divmod(tenths, 10)
    return f"{units}.{rest}{suffix}" if rest else f"{units}{suffix}"


_PREFIXES: Final = ("requests.", "limits.")


def text(resource: str, quantity: Quantity, *, up: bool = True) -> str:
    """The text of a quantity: `64`, `1500m`, `512Gi`.

    Args:
        resource: the name of the resource, or the key of a quota.
        up: true rounds bytes up, as for demand; false rounds down, as for supply.
    """
    name = resource
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    if name != "cpu" and not quantity.is_whole:
        return str(quantity)
    return amount(name, quantity.milli if name == "cpu" else quantity.value, up=up)


def named(resource: str, quantity: Quantity, *, up: bool = True) -> str:
    """The text of a quantity with its resource: `64 nvidia.com/gpu`."""
    return f"{text(resource, quantity, up=up)} {resource}"


def waiting(
    resource: str,
    *,
    of: str,
    used: Quantity,
    most: Quantity,
    needs: Quantity,
) -> str:
    """The text of a wait: `wait: 16 of 72 nvidia.com/gpu of Queue research are used now, and 64 are needed`."""
    return (
        f"wait: {text(resource, used)} of {named(resource, most, up=False)} of {of} are used now, "
        f"and {text(resource, needs)} are needed"
    )


class Version(NamedTuple):
    """A semantic version; compares like one."""

    numbers: tuple[int, int, int]
    released: bool
    before: tuple[tuple[int, int, str], ...]

    @classmethod
    def parse(cls, text: str, normalize: bool = False) -> Self:  # noqa: FBT001, FBT002 - as in CEL
        """The version of a text.

        Args:
            normalize: whether it may begin with v and lack numbers, as `semver` of Kubernetes reads it if told to.

        Raises:
            QuantityError: the text is not a semantic version.
        """
        if normalize and (head := _LENIENT.match(text)) is not None:
            parts = [each.lstrip("0") or "0" for each in head[1].split(".")]
            missing = ["0"] * (3 - len(parts)) if head.end() == len(text) else []
            text = ".".join([*parts, *missing]) + text[head.end() :]
        found = _VERSION.fullmatch(text)
        if found is None:
            raise errors.QuantityError(f"{text[:40]!r} is not a semantic version")
        parts = [each for each in (found[4] or "").split(".") if each]
        before = tuple((0, int(each), "") if each.isdecimal() else (1, 0, each) for each in parts)
        return cls((int(found[1]), int(found[2]), int(found[3])), not parts, before)

    @classmethod
    def is_one(cls, text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - as in CEL
        """Whether `parse` reads the text."""
        try:
            return bool(cls.parse(text, normalize))
        except errors.QuantityError:
            return False


_LENIENT: Final = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)", re.ASCII)
_NUMBER: Final = r"(0|[1-9][0-9]{0,9})"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z.-]{{1,64}}))?(?:\+[0-9A-Za-z.-]{{1,64}})?", re.ASCII
)
