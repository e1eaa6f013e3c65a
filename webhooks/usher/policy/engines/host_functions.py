"""Built-ins of Rego that OPA does not compile to WebAssembly and that usher computes itself, for rules of others.

They are pure: they read no file, no clock and no network, and their time follows from the size of their arguments.
Each raises UndefinedError where the answer of OPA is undefined.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from usher.policy.engines.formatting import sprintf
from usher.policy.engines.host_calls import Functions
from usher.policy.engines.rego_values import Number, Object, Set, UndefinedError, Value, order


def _any_prefix(texts: Value, prefixes: Value) -> bool:
    wanted = tuple(_texts(prefixes))
    return any(text.startswith(wanted) for text in _texts(texts))


def _any_suffix(texts: Value, suffixes: Value) -> bool:
    wanted = tuple(_texts(suffixes))
    return any(text.endswith(wanted) for text in _texts(texts))


def _count(text: Value, part: Value) -> Number:
    if not isinstance(text, str) or not isinstance(part, str):
        raise UndefinedError("strings.count takes two texts")
    return Number(str(text.count(part)))


def _texts(value: Value) -> list[str]:
    """The texts of an array or set; a single text counts as one."""
    if isinstance(value, Set):
        value = value.items
    members = value if isinstance(value, tuple) else (value,)
    texts = [member for member in members if isinstance(member, str)]
    if len(texts) < len(members):
        raise UndefinedError("not a text, nor an array or set of texts")
    return texts


def _subset(whole: Value, part: Value) -> bool:
    if isinstance(whole, tuple) and isinstance(part, Set):
        # As in OPA, the empty set is a subset of every array but the empty one.
        return bool(whole) and _keys(part.items) <= _keys(whole)
    if type(whole) is not type(part) or not isinstance(whole, tuple | Object | Set):
        raise UndefinedError("object.subset takes two objects, two sets, two arrays, or an array and a set")
    return _within(whole, part)


def _within(whole: Value, part: Value) -> bool:
    if isinstance(whole, Object) and isinstance(part, Object):
        found: Mapping[object, Value] = {order(key): value for key, value in whole.items}
        return all(order(key) in found and _within(found[order(key)], value) for key, value in part.items)
    if isinstance(whole, Set) and isinstance(part, Set):
        return _keys(part.items) <= _keys(whole.items)
    if isinstance(whole, tuple) and isinstance(part, tuple):
        return _stretch(list(map(order, whole)), list(map(order, part)))
    return order(whole) == order(part)


def _stretch(whole: list[tuple[object, ...]], part: list[tuple[object, ...]]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _keys(values: tuple[Value, ...]) -> set[tuple[object, ...]]:
    return set(map(order, values))


def _trace(note: Value) -> bool:
    """Drops the note."""
    del note
    return True


PURE: Final[Functions] = MappingProxyType(
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
