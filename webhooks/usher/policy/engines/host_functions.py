"""Built-ins of Rego that OPA does not compile to WebAssembly and that usher computes itself, for rules of others.

They are pure: they read no file, no clock and no network, and their time follows from the size of their arguments.
Each raises UndefinedError where the answer of OPA is undefined.

A whole number is Go's int64 or big.Int, another number float64, a text string; every other value is the text that OPA
prints. The rules are those of https://pkg.go.dev/fmt, with its marks for mistakes: `%!d(string=x)`, `%!s(MISSING)`.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import memo
from usher.policy.engines import rego_values

_VERB: Final = memo.pattern(r"%([-+# 0]*)([0-9]*)(?:(\.)([0-9]*))?(.?)", re.DOTALL)
_UNSUPPORTED: Final = {"x": "# ", "X": "# ", "q": "#+"}
"""Unsupported flags, by letter; for every other letter `#` is unsupported."""
_WIDEST: Final = 10_000
"""Characters of padding. Go stops at a million."""

_INT64: Final = range(-(2**63), 2**63)
_BASES: Final = {"d": "d", "v": "d", "b": "b", "o": "o", "x": "x", "X": "X"}


class _Verb(Struct, frozen=True, kw_only=True):
    """One `%` of a format: flags, width, precision and letter."""

    flags: str
    width: int
    precision: int | None
    letter: str


_Argument = str | int | float


def sprintf(form: rego_values.Value, values: rego_values.Value) -> str:
    """The text of a format with its arguments.

    Raises:
        UndefinedError: the format is not a text, or the arguments are not an array.
        NotImplementedError: the format uses an unsupported feature, for example explicit argument indexes.
    """
    if not isinstance(form, str) or not isinstance(values, tuple):
        raise rego_values.UndefinedError("sprintf takes a text and an array")
    arguments = [_argument(value) for value in values]
    used = 0
    parts: list[str] = []
    end = 0
    for match in _VERB.finditer(form):
        parts.append(form[end : match.start()])
        end = match.end()
        verb = _read_verb(match)
        if verb.letter == "%":
            parts.append("%")
        elif not verb.letter:
            parts.append("%!(NOVERB)")
        elif used == len(arguments):
            parts.append(f"%!{verb.letter}(MISSING)")
        else:
            parts.append(_formatted(verb, arguments[used]))
            used += 1
    parts.append(form[end:])
    if used < len(arguments):
        parts.append(f"%!(EXTRA {', '.join(_described(each) for each in arguments[used:])})")
    return "".join(parts)


def _read_verb(match: re.Match[str]) -> _Verb:
    flags, width, point, precision, letter = match.groups()
    if letter in ("*", "[") or any(flag in _UNSUPPORTED.get(letter, "#") for flag in flags):
        raise NotImplementedError(f"sprintf: usher does not know {match[0]!r}")
    if int(width or 0) > _WIDEST or int(precision or 0) > _WIDEST:
        raise NotImplementedError(f"sprintf: {match[0]!r:.40} is wider than {_WIDEST} characters")
    if letter == "v":
        flags = flags.replace("+", "")  # asks for the names of fields, and these values have no fields
    return _Verb(
        flags=flags, width=int(width or 0), precision=int(precision or 0) if point else None, letter=letter or ""
    )


def _argument(value: rego_values.Value) -> _Argument:
    if isinstance(value, str):
        return value
    if not isinstance(value, rego_values.Number):
        return rego_values.print_value(value)
    return float(value.text) if any(sign in value.text for sign in ".eE") else int(value.text)


def _type_name(argument: _Argument) -> str:
    if isinstance(argument, str):
        return "string"
    if isinstance(argument, float):
        return "float64"
    return "int64" if argument in _INT64 else "*big.Int"


_PLAIN: Final = _Verb(flags="", width=0, precision=None, letter="v")


def _described(argument: _Argument, verb: _Verb = _PLAIN) -> str:
    if isinstance(argument, int) and argument not in _INT64:
        return f"{'*' if verb is _PLAIN else ''}big.Int={argument}"
    return f"{_type_name(argument)}={_formatted(replace(verb, letter='v'), argument)}"


def _formatted(verb: _Verb, argument: _Argument) -> str:
    if verb.letter == "T":
        return _padded(_type_name(argument)[: verb.precision], verb)
    if isinstance(argument, str):
        text = _of_text(verb, argument)
    elif isinstance(argument, float):
        text = _of_float(verb, argument)
    else:
        text = _of_integer(verb, argument)
    return f"%!{verb.letter}({_described(argument, verb)})" if text is None else text


def _of_text(verb: _Verb, text: str) -> str | None:
    cut = text if verb.precision is None else text[: verb.precision]
    match verb.letter:
        case "v" | "s":
            return _padded(cut, verb)
        case "q":
            return _padded(rego_values.quote_text(cut), verb)
        case "x" | "X":
            digits = text.encode()[: verb.precision].hex()
            return _padded(digits.upper() if verb.letter == "X" else digits, verb)
    return None


def _of_integer(verb: _Verb, number: int) -> str | None:
    if verb.letter in "cqU":
        raise NotImplementedError(f"sprintf: usher does not know %{verb.letter} of a number")
    if verb.letter == "s" and number not in _INT64:
        return _signed(str(abs(number)), verb, negative=number < 0, zeros=True)
    if verb.letter not in _BASES:
        return None
    digits = format(abs(number), _BASES[verb.letter])
    if verb.precision is not None:
        digits = "" if verb.precision == 0 == number else digits.rjust(verb.precision, "0")
    return _signed(digits, verb, negative=number < 0, zeros=verb.precision is None)


def _of_float(verb: _Verb, number: float) -> str | None:
    match verb.letter:
        case "f" | "F":
            digits = f"{abs(number):.{6 if verb.precision is None else verb.precision}f}"
        case "e" | "E":
            digits = f"{abs(number):.{6 if verb.precision is None else verb.precision}{verb.letter}}"
        case "v" | "g" | "G" if verb.precision is None:
            digits = _shortest(abs(number), largest=6)
            digits = digits.upper() if verb.letter == "G" else digits
        case "v" | "g" | "G":
            digits = f"{abs(number):.{verb.precision or 1}{'G' if verb.letter == 'G' else 'g'}}"
        case "x" | "X" | "b":
            raise NotImplementedError(f"sprintf: usher does not know %{verb.letter} of a number that is not whole")
        case _:
            return None
    return _signed(digits, verb, negative=number < 0, zeros=True)


def _shortest(number: float, *, largest: int) -> str:
    """The shortest text of this number. It has an exponent if that is below -4, or `largest` or more."""
    if number == 0:
        return "0"
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - JSON has neither infinity nor NaN
    point = len(digits) + exponent
    if -4 <= point - 1 < largest:
        return format(Decimal(repr(number)).normalize(), "f")
    head, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{head}{'.' if rest else ''}{rest}e{'-' if point - 1 < 0 else '+'}{abs(point - 1):02d}"


def _signed(digits: str, verb: _Verb, *, negative: bool, zeros: bool) -> str:
    sign = "-" if negative else "+" if "+" in verb.flags else " " if " " in verb.flags else ""
    if zeros and "0" in verb.flags and "-" not in verb.flags:
        digits = digits.rjust(verb.width - len(sign), "0")
    return _padded(sign + digits, verb, zeros=False)


def _padded(text: str, verb: _Verb, *, zeros: bool = True) -> str:
    if "-" in verb.flags:
        return text.ljust(verb.width)
    return text.rjust(verb.width, "0" if zeros and "0" in verb.flags else " ")


def _any_prefix(texts: rego_values.Value, prefixes: rego_values.Value) -> bool:
    wanted = tuple(_texts(prefixes))
    return any(text.startswith(wanted) for text in _texts(texts))


def _any_suffix(texts: rego_values.Value, suffixes: rego_values.Value) -> bool:
    wanted = tuple(_texts(suffixes))
    return any(text.endswith(wanted) for text in _texts(texts))


def _count(text: rego_values.Value, part: rego_values.Value) -> rego_values.Number:
    if not isinstance(text, str) or not isinstance(part, str):
        raise rego_values.UndefinedError("strings.count takes two texts")
    return rego_values.Number(str(text.count(part)))


def _texts(value: rego_values.Value) -> list[str]:
    """The texts of an array or set; a single text counts as one."""
    if isinstance(value, rego_values.Set):
        value = value.items
    members = value if isinstance(value, tuple) else (value,)
    texts = [member for member in members if isinstance(member, str)]
    if len(texts) < len(members):
        raise rego_values.UndefinedError("not a text, nor an array or set of texts")
    return texts


def _subset(whole: rego_values.Value, part: rego_values.Value) -> bool:
    if isinstance(whole, tuple) and isinstance(part, rego_values.Set):
        # As in OPA, the empty set is a subset of every array but the empty one.
        return bool(whole) and _keys(part.items) <= _keys(whole)
    if type(whole) is not type(part) or not isinstance(whole, tuple | rego_values.Object | rego_values.Set):
        raise rego_values.UndefinedError("object.subset takes two objects, two sets, two arrays, or an array and a set")
    return _is_part_of(whole, part)


def _is_part_of(whole: rego_values.Value, part: rego_values.Value) -> bool:
    if isinstance(whole, rego_values.Object) and isinstance(part, rego_values.Object):
        found: Mapping[object, rego_values.Value] = {rego_values.sort_key(key): value for key, value in whole.items}
        return all(
            rego_values.sort_key(key) in found and _is_part_of(found[rego_values.sort_key(key)], value)
            for key, value in part.items
        )
    if isinstance(whole, rego_values.Set) and isinstance(part, rego_values.Set):
        return _keys(part.items) <= _keys(whole.items)
    if isinstance(whole, tuple) and isinstance(part, tuple):
        return _stretch(list(map(rego_values.sort_key, whole)), list(map(rego_values.sort_key, part)))
    return rego_values.sort_key(whole) == rego_values.sort_key(part)


def _stretch(whole: list[tuple[object, ...]], part: list[tuple[object, ...]]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _keys(values: tuple[rego_values.Value, ...]) -> set[tuple[object, ...]]:
    return set(map(rego_values.sort_key, values))


def _trace(note: rego_values.Value) -> bool:
    """Drops the note."""
    del note
    return True


PURE: Final[rego_values.HostFunctions] = MappingProxyType(
    {
        "object.subset": _subset,
        "sprintf": sprintf,
        "strings.any_prefix_match": _any_prefix,
        "strings.any_suffix_match": _any_suffix,
        "strings.count": _count,
        "trace": _trace,
    }
)
"""Functions by the name of the built-in."""
