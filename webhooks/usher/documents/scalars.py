"""The value of a YAML scalar for kubectl.

The rules are those of go.yaml.in/yaml/v2 (`resolve.go`), then of sigs.k8s.io/yaml (keys become strings, numbers go
through JSON) and of sigs.k8s.io/json (a JSON number is an int64 if it reads as one, else a float64). They are YAML 1.1
with exceptions: `y` and `on` are true and `0777` is octal, but `1:30` and dates are text, and so is a float too large.
"""

import base64
import math
import re
import struct
from decimal import Decimal
from typing import Final

from usher import errors

Scalar = str | int | float | bool | None
"""The value as go-yaml resolves it: an int may be a uint64, a float infinite or not a number."""

HINTS: Final = frozenset(["", *"0123456789+-.~yYnNtTfFoO"])
"""A plain scalar is text unless it starts with one of these (`resolveTable`); "" stands for the empty scalar."""

WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
"""Plain scalars that are neither text nor numbers in digits."""
_NUMERIC: Final = frozenset("0123456789+-.")
_INTEGER: Final = re.compile(r"[-+]?(?:0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]{0,19})")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT: Final = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_SIGN_AFTER_BINARY_PREFIX: Final = re.compile(r"0b[-+][01]+")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_BASES: Final = {"0b": 2, "0o": 8, "0x": 16}
_INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)
_LONGEST_QUOTE: Final = 40

_TAG: Final = "tag:yaml.org,2002:"
_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    _TAG + "null": (type(None),),
    _TAG + "bool": (bool,),
    _TAG + "int": (int,),
    _TAG + "float": (int, float),
}


def resolve(text: str) -> Scalar:
    """A plain scalar without a tag."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    number = _dot_float(text) if text[0] == "." else _number(text.replace("_", ""))
    return text if number is None else number


def resolve_tagged(text: str, *, tag: str) -> Scalar:
    """A scalar with an explicit tag, in any style.

    Raises:
        InputError: the text is not of that type, or the tag is not one of !!str, !!int, !!bool, !!float, !!null,
            !!binary.
    """
    if tag == _TAG + "str":
        return text
    if tag == _TAG + "binary":
        return _binary(text)
    if tag not in _TAGGED:
        raise errors.InputError(f"the tag {short(tag)} has no meaning in a manifest; remove it")
    value = resolve(text)
    if type(value) not in _TAGGED[tag] or (tag == _TAG + "float" and type(value) is int and value not in _INT64):
        raise errors.InputError(f"{_quoted(text)} is not a {short(tag)}; remove the tag or correct the value")
    return float(value) if tag == _TAG + "float" and isinstance(value, int) else value


def short(tag: str) -> str:
    """A tag as people write it, safe to print: `!!int`."""
    name = "!!" + tag.removeprefix(_TAG) if tag.startswith(_TAG) else tag
    return name if name.isprintable() else repr(name)


def as_value(scalar: Scalar, text: str) -> Scalar:
    """The JSON value that kubectl sends for a resolved scalar; `text` is how it was written.

    Raises:
        InputError: JSON lacks the number, or the whole number would be sent rounded.
    """
    if type(scalar) is float:
        if not math.isfinite(scalar):
            raise errors.InputError(f"{_quoted(text)} is a number that JSON does not have; quote it if text is meant")
        number = _through_json(scalar)
        return number if type(number) is int else _unrounded(scalar, text)
    if type(scalar) is int and scalar not in _INT64:
        return _unrounded(float(scalar), str(scalar))
    return scalar


def as_key(scalar: Scalar, text: str) -> str:
    """The key that kubectl sends for a resolved scalar (`convertToJSONableObject`): `1.10` becomes `1.1`, `on` `true`.

    Raises:
        InputError: kubectl would refuse the key.
    """
    if isinstance(scalar, str):
        return scalar
    if scalar is None:
        raise errors.InputError("a key is null; quote it or remove it")
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, int):
        if scalar not in _INT64:
            raise errors.InputError(f"the key {_quoted(text)} is a number beyond 64 bits; quote it")
        return str(scalar)
    return _single_precision(scalar)


def _number(text: str) -> int | float | None:
    """The number in a text by Go's ParseInt and ParseUint with base 0, then ParseFloat; without underscores."""
    if _INTEGER.fullmatch(text):
        digits = text.lstrip("+-")
        if base := _BASES.get(digits[:2].lower()):
            whole = int(digits[2:], base)
        else:
            whole = int(digits, 8 if digits[0] == "0" else 10)
        if text[0] == "-":
            whole = -whole
        if whole in _INT64 or (text[0] not in "+-" and whole in _UINT64):
            return whole
    if _FLOAT.fullmatch(text):
        return _finite(text)
    if _SIGN_AFTER_BINARY_PREFIX.fullmatch(text):
        whole = int(text[2:], 2)  # noqa: FURB166 - base 0 takes no sign after the prefix
        return whole if whole in _INT64 else None
    return None


def _dot_float(text: str) -> float | None:
    return _finite(text) if _DOT_FLOAT.fullmatch(text) else None


def _finite(text: str) -> float | None:
    """The number of ParseFloat; None if the number is too large, so that go-yaml keeps it as text."""
    number = float(text)
    return number if math.isfinite(number) else None


def _through_json(number: float) -> int | float:
    """The number after JSON: Go writes a float64 without exponent below 1e21, and reads whole ones as int64."""
    if not number.is_integer() or abs(number) >= 1e21:
        return number
    whole = int(number) if abs(number) < 2**53 else int(Decimal(repr(number)))
    return whole if whole in _INT64 else number


def _unrounded(number: float, text: str) -> float:
    digits = text.replace("_", "").removeprefix("+").removeprefix("-").lstrip("0")
    if digits.isdecimal() and int(digits) != abs(number):
        raise errors.InputError(f"{_quoted(text)} does not fit into 64 bits and would be sent as {number!r}; quote it")
    return number


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= _LONGEST_QUOTE else repr(text[:_LONGEST_QUOTE]) + "..."


def _binary(text: str) -> str:
    """The text of !!binary. Raises InputError for bytes that are not UTF-8, which Go would replace by U+FFFD."""
    encoded = text.replace("\n", "").replace("\r", "")
    if not _BASE64.fullmatch(encoded) or len(encoded) % 4:
        raise errors.InputError("the !!binary value is not base64; correct it")
    try:
        return base64.b64decode(encoded).decode()
    except UnicodeDecodeError:
        raise errors.InputError("the !!binary value is not UTF-8 text; leave it in base64 without the tag") from None


def _single_precision(number: float) -> str:
    """The text of strconv.FormatFloat(number, 'g', -1, 32), as sigs.k8s.io/yaml writes keys."""
    if math.isnan(number):
        return ".nan"
    try:
        rounded = _float32(number)
    except OverflowError:
        rounded = math.copysign(math.inf, number)
    if math.isinf(rounded):
        return ".inf" if rounded > 0 else "-.inf"
    text = next(text for digits in range(9) if _float32(float(text := f"{rounded:.{digits}e}")) == rounded)
    exponent = int(text.partition("e")[2])
    return text if exponent < -4 or exponent >= 6 else f"{Decimal(text):f}"


def _float32(number: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", number))[0])
