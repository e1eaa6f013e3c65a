"""Read-only expressions of descriptions of kinds: a part of CEL, with places for what could not be read.

A value knows its place in the object, so an unusable one is reported there. There are no loops but `filter` and
`exists`, which do not nest, and the steps of an object are counted: no expression runs for long.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from usher import memo, paths
from usher.documents.cel import CelError, Node, parse
from usher.kinds.reading.counts import share_of_replicas
from usher.kinds.reading.values import MAX_PODS, Reading


class ExpressionError(ValueError):
    """An expression that usher cannot read; the text says why."""


class UnusableError(Exception):
    """Values of an object for which an expression has no result; the text says why."""


class Found(NamedTuple):
    """A value of the object with its place."""

    value: paths.Json
    path: str
    default: "Value" = None
    """Used instead of a missing value."""


class Way:
    """Fields from a value on, as `a.b.c` names them; no fields lead to the value itself."""

    __slots__ = ("_keys", "_last", "pointer")

    def __init__(self, path: str) -> None:
        *above, self._last = path.split(".")
        self._keys = [(key, "".join(f"/{each}" for each in above[:number])) for number, key in enumerate(above)]
        self.pointer = "/" + path.replace(".", "/") if path else paths.ROOT

    def value_in(self, value: paths.Json, path: str, reading: Reading) -> paths.Json:
        """The value on this way from a value at a path; holders that are not objects are recorded."""
        if not self._last:
            return value
        for key, pointer in self._keys:
            if value is None:
                return None
            value = value.get(key) if type(value) is dict else reading.mapping(value, path + pointer).get(key)
        if type(value) is dict:
            return value.get(self._last)
        return reading.mapping(value, path + self.pointer.rpartition("/")[0]).get(self._last)


Value = bool | int | str | Sequence["Value"] | Found | None


class Scope:
    """The values of the names in expressions, and the steps that are left."""

    __slots__ = ("names", "reading", "steps")

    def __init__(self, names: dict[str, Value], reading: Reading, steps: list[int]) -> None:
        self.names = names
        self.reading = reading
        self.steps = steps
        """One number, which all expressions of an object share."""

    def step(self) -> None:
        self.steps[0] -= 1
        if self.steps[0] < 0:
            raise UnusableError(f"the expressions of its description need more than {MOST_STEPS:,} steps")

    def number(self, value: Value) -> int:
        """A number of pods; an unusable value is recorded at its place, and its default counts."""
        if type(value) is int:
            return value
        if type(value) is Found:
            found, default = value.value, value.default
            if type(found) is int and 0 <= found <= MAX_PODS:
                return found
            if found is None and type(default) is int:
                return default
            default = 0 if default is None else self.number(default)
            return self.reading.count(value.value, value.path, default=default)
        raise UnusableError(f"expected a number, found {_shown(value)}")

    def present(self, value: Value) -> Value:
        """The entry of a list, where even null is wrong."""
        if isinstance(value, Found) and value.value is None:
            self.reading.unknown(value.path, "expected a whole number, found null")
        return value

    def text(self, value: Value) -> str:
        if type(value) is str:
            return value
        if isinstance(value, Found):
            default = "" if value.default is None else self.text(value.default)
            return default if value.value is None else self.reading.text(value.value, value.path)
        if not isinstance(value, str):
            raise UnusableError(f"expected a text, found {_shown(value)}")
        return value

    def truth(self, value: Value) -> bool:
        if value is True or value is False:
            return value
        if isinstance(value, Found):
            default = False if value.default is None else self.truth(value.default)
            return default if value.value is None else self.reading.flag(value.value, value.path)
        if not isinstance(value, bool):
            raise UnusableError(f"expected true or false, found {_shown(value)}")
        return value

    def entries(self, value: Value) -> Sequence[Value]:
        """The entries of a list, each with its place."""
        if isinstance(value, Found):
            if value.value is None and value.default is not None:
                return self.entries(value.default)
            found = self.reading.sequence(value.value, value.path)
            return [Found(each, f"{value.path}/{index}") for index, each in enumerate(found)]
        if value is None or isinstance(value, bool | int | str):
            raise UnusableError(f"expected a list, found {_shown(value)}")
        return value

    def below(self, value: Value, way: "Way", default: Value = None) -> Found:
        """The value on a way; missing where one of its holders is missing."""
        if not isinstance(value, Found):
            raise UnusableError(f"expected an object, found {_shown(value)}")
        return Found(way.value_in(value.value, value.path, self.reading), value.path + way.pointer, default)

    def equal(self, one: Value, other: Value) -> bool:
        """Whether two values are equal; a field that is compared with a text has to be one."""
        if type(one) is type(other) and isinstance(one, int | str):
            return one == other
        if type(one) is Found and type(other) is str and type(one.value) is str:
            return one.value == other
        first, second = self._plain(one), self._plain(other)
        if isinstance(first, str) or isinstance(second, str):
            first, second = self._text_of(one, second), self._text_of(other, first)
        return first == second and type(first) is type(second)

    def _text_of(self, value: Value, beside: Value) -> Value:
        missing = isinstance(value, Found) and value.value is None and value.default is None
        return (
            self.text(value)
            if isinstance(value, Found) and isinstance(beside, str) and not missing
            else self._plain(value)
        )

    def _plain(self, value: Value) -> Value:
        if not isinstance(value, Found):
            return value
        if value.value is None:
            return self._plain(value.default)
        return value.value if isinstance(value.value, str | bool | int) else None


def _shown(value: Value) -> str:
    names = {bool: "true or false", int: "a number", str: "a text", list: "a list", tuple: "a list"}
    return "a field of the object" if isinstance(value, Found) else names.get(type(value), "nothing")


Run = Callable[[Scope], Value]

MOST_STEPS: Final = 100_000
"""Steps that all expressions of one object may take together."""
_MOST_WORDS: Final = 120
_MOST_DEPTH: Final = 12

_PATH: Final = memo.pattern(r"[A-Za-z_][-\w]*(?:\.[A-Za-z_][-\w]*)*", re.ASCII)
_MOST_NUMBER: Final = 10**9


_OF_NAMES: Final = "; entry(at(object, 'metadata.annotations'), 'a/b') reads a name with dots"


class _Compiler:
    """Makes functions of the tree of an expression."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = set(names)
        self._nested = False

    def run(self, node: Node) -> Run:
        value, parts = node.value, node.parts
        match node.kind:
            case "constant":
                if isinstance(value, float) or (isinstance(value, int) and value >= _MOST_NUMBER):
                    raise ExpressionError(f"cannot read {value!r}")
                return _constant(value)
            case "name":
                return self._name(str(value))
            case ".":
                return self._member(self.run(parts[0]), str(value))
            case "[":
                return self._index(*parts)
            case "()":
                return self._call(str(value), parts)
            case ".()" if value in ("filter", "exists") and len(parts) == 3:
                return self._quantified(str(value), *parts)
            case ".()":
                raise ExpressionError(f"unknown function {value} of a value; known are exists, filter")
        make = _OPERATORS.get(node.kind)
        if make is None or (node.kind == "-" and len(parts) == 1):
            raise ExpressionError(f"cannot read {node.kind!r}")
        return make(node.kind, [self.run(each) for each in parts])

    def _name(self, text: str) -> Run:
        if text not in self._names:
            known = ", ".join(sorted(self._names))
            meant = f"a text stands in quotes, '{text}', and a field is at(object, '{text}')"
            raise ExpressionError(f"unknown name {text}; known are {known}; {meant}")

        return lambda scope: scope.names[text]

    def _member(self, holder: Run, name: str) -> Run:
        if name == "status":
            raise ExpressionError("status is written by the operator; name a field of the spec")
        way = Way(name)
        return lambda scope: scope.below(holder(scope), way)

    def _call(self, name: str, parts: Sequence[Node]) -> Run:
        if name == "at":
            return self._at_path(parts)
        least, most, make = _FUNCTIONS.get(name, (0, 0, None))
        if make is None:
            raise ExpressionError(f"unknown function {name}; known are at, {', '.join(sorted(_FUNCTIONS))}")
        if not least <= len(parts) <= most:
            raise ExpressionError(f"{name} takes {least} to {most} values, not {len(parts)}")
        return make([self.run(each) for each in parts])

    def _at_path(self, parts: Sequence[Node]) -> Run:
        """`at(value, 'a.b.c', default)`: the path is a constant text, so that it is read once."""
        if not 2 <= len(parts) <= 3:
            raise ExpressionError(f"at takes 2 to 3 values, not {len(parts)}")
        path = parts[1].value
        if parts[1].kind != "constant" or not isinstance(path, str):
            raise ExpressionError("at takes a path in quotes before its default")
        if not _PATH.fullmatch(path) or path.partition(".")[0] == "status":
            raise ExpressionError(
                f"{path!r} is not a path of fields, as in 'spec.replicas'{_OF_NAMES if '/' in path else ''}"
            )
        holder, way = self.run(parts[0]), Way(path)
        pointer, value_in = way.pointer, way.value_in
        otherwise, fixed = None, None
        if len(parts) == 3:
            otherwise, constant = self.run(parts[2]), parts[2].value
            # Most defaults are constants. Expressions run for every entry of every object, so these take the short way.
            if parts[2].kind == "constant" and not isinstance(constant, float):
                otherwise, fixed = None, constant

        def run(scope: Scope) -> Value:
            scope.steps[0] -= 1
            if scope.steps[0] < 0:
                scope.step()
            value, default = holder(scope), fixed if otherwise is None else otherwise(scope)
            if type(value) is not Found:
                return scope.below(value, way, default)
            return Found(value_in(value.value, value.path, scope.reading), value.path + pointer, default)

        return run

    def _index(self, of: Node, index: Node) -> Run:
        holder, number = self.run(of), index.value
        if index.kind != "constant" or type(number) is not int or number >= _MOST_NUMBER:
            raise ExpressionError("expected a number in brackets; entry(map, 'key') reads a field by its name")

        def run(scope: Scope) -> Value:
            found = scope.entries(holder(scope))
            if number >= len(found):
                raise UnusableError(f"there is no entry [{number}]")
            return found[number]

        return run

    def _quantified(self, function: str, of: Node, name: Node, test: Node) -> Run:
        """`list.filter(x, condition)` and `list.exists(x, condition)`; one within another would take too long."""
        holder, variable = self.run(of), str(name.value)
        if self._nested:
            raise ExpressionError(f"{function} stands in another; use a `let`")
        if name.kind != "name":
            raise ExpressionError("expected a name")
        known, self._nested = self._names, True
        self._names = {*known, variable}
        condition = self.run(test)
        self._names, self._nested = known, False

        def chosen(scope: Scope) -> Iterator[Value]:
            for each in scope.entries(holder(scope)):
                scope.step()
                if scope.truth(condition(Scope({**scope.names, variable: each}, scope.reading, scope.steps))):
                    yield each

        if function == "exists":
            return lambda scope: any(True for _ in chosen(scope))
        return lambda scope: list(chosen(scope))


def _constant(value: Value) -> Run:
    return lambda _scope: value


def _chosen(condition: Run, yes: Run, no: Run) -> Run:
    return lambda scope: yes(scope) if scope.truth(condition(scope)) else no(scope)


def _summed(sign: str, one: Run, other: Run) -> Run:
    def run(scope: Scope) -> Value:
        first, second = one(scope), other(scope)
        if type(first) is int and type(second) is int:
            return first + second if sign == "+" else max(first - second, 0)
        if sign == "-":
            return max(scope.number(first) - scope.number(second), 0)
        if any(isinstance(each.value if isinstance(each, Found) else each, str) for each in (first, second)):
            return scope.text(first) + scope.text(second)
        return scope.number(first) + scope.number(second)

    return run


def _compared(sign: str, one: Run, other: Run) -> Run:
    compare = _RELATIONS.get(sign)
    if compare is not None:
        return lambda scope: compare(scope.number(one(scope)), scope.number(other(scope)))
    if sign != "in":
        return lambda scope: scope.equal(one(scope), other(scope)) is (sign == "==")

    def is_in(scope: Scope) -> Value:
        first, entries = one(scope), scope.entries(other(scope))
        scope.steps[0] -= len(entries)
        scope.step()
        return any(scope.equal(first, each) for each in entries)

    return is_in


_RELATIONS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def _size(given: Sequence[Run]) -> Run:
    """`size(value)`: the entries of a list or of an object."""

    def run(scope: Scope) -> Value:
        value = given[0](scope)
        if isinstance(value, Found) and value.default is None and not isinstance(value.value, list):
            return len(scope.reading.mapping(value.value, value.path))
        return len(scope.entries(value))

    return run


def _entry(given: Sequence[Run]) -> Run:
    """`entry(map, key, default)`: the value of an object under a key that is itself a value."""

    def run(scope: Scope) -> Value:
        holder, key = given[0](scope), scope.text(given[1](scope))
        if not isinstance(holder, Found):
            raise UnusableError(f"expected an object, found {_shown(holder)}")
        found = scope.reading.mapping(holder.value, holder.path).get(key)
        return Found(found, paths.join(holder.path, key), given[2](scope) if len(given) > 2 else None)

    return run


def _has(given: Sequence[Run]) -> Run:
    def run(scope: Scope) -> Value:
        value = given[0](scope)
        return (value.value if isinstance(value, Found) else value) is not None

    return run


def _text(given: Sequence[Run]) -> Run:
    return lambda scope: str(scope.number(given[0](scope)))


_DIGITS: Final = memo.pattern(r"[0-9]{1,9}", re.ASCII)


def _int(given: Sequence[Run]) -> Run:
    """`int(value)`: the number that a text says, as annotations do; a number is itself."""

    def parsed(value: Value) -> Value:
        return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value

    def run(scope: Scope) -> Value:
        found = given[0](scope)
        if isinstance(found, Found):
            text = found.value
            number = int(text) if isinstance(text, str) and _DIGITS.fullmatch(text) else text
            return scope.number(Found(number, found.path, parsed(found.default)))
        return scope.number(parsed(found))

    return run


def _lower(given: Sequence[Run]) -> Run:
    return lambda scope: scope.text(given[0](scope)).lower()


def _bound(best: Callable[[Sequence[int]], int], *beside: int) -> Callable[[Sequence[Run]], Run]:
    return lambda given: lambda scope: best([scope.number(each(scope)) for each in given] + [*beside])


def _largest(given: Sequence[Run]) -> Run:
    """`largest(list)`: the largest number of a list; 0 for an empty one."""

    def run(scope: Scope) -> Value:
        found = [scope.number(scope.present(each)) for each in scope.entries(given[0](scope))]
        scope.steps[0] -= len(found)
        return max(found, default=0)

    return run


def _share(given: Sequence[Run], *, rounded_up: bool = True) -> Run:
    """`share(n, value, default)`: a number, or a percentage of n, rounded up as surges are; `part` rounds down."""
    of, value, default = given

    def run(scope: Scope) -> Value:
        found, otherwise = value(scope), default(scope)
        if not isinstance(found, Found) or not isinstance(otherwise, int | str):
            raise UnusableError("share takes a number, a field and a default")
        replicas = scope.number(of(scope))
        return share_of_replicas(
            replicas, found.value, found.path, scope.reading, default=otherwise, rounded_up=rounded_up
        )

    return run


_FUNCTIONS: Final[Mapping[str, tuple[int, int, Callable[[Sequence[Run]], Run] | None]]] = {
    "entry": (2, 3, _entry),
    "has": (1, 1, _has),
    "int": (1, 1, _int),
    "largest": (1, 1, _largest),
    "lower": (1, 1, _lower),
    "max": (2, 4, _bound(max)),
    "max1": (1, 1, _bound(max, 1)),
    "min": (2, 4, _bound(min)),
    "part": (3, 3, partial(_share, rounded_up=False)),
    "share": (3, 3, _share),
    "size": (1, 1, _size),
    "text": (1, 1, _text),
}
"""Functions beside `at`, each with the least and the most values that it takes."""


_OPERATORS: Final[Mapping[str, Callable[[str, list[Run]], Run]]] = {
    "list": lambda _, found: lambda scope: [each(scope) for each in found],
    "!": lambda _, found: lambda scope: not scope.truth(found[0](scope)),
    "?": lambda _, found: _chosen(*found),
    "||": lambda _, found: lambda scope: any(scope.truth(each(scope)) for each in found),
    "&&": lambda _, found: lambda scope: all(scope.truth(each(scope)) for each in found),
    "*": lambda _, found: lambda scope: scope.number(found[0](scope)) * scope.number(found[1](scope)),
    **{sign: lambda sign, found: _summed(sign, *found) for sign in ("+", "-")},
    **{sign: lambda sign, found: _compared(sign, *found) for sign in ("==", "!=", "<=", ">=", "<", ">", "in")},
}
"""Makes the function of an operator."""


def compiled(text: str, names: Collection[str]) -> Run:
    """A function for an expression.

    Args:
        names: the names that it may use.

    Raises:
        ExpressionError: the expression is malformed, or uses unknown names or functions.
    """
    try:
        node = parse(text, deepest=_MOST_DEPTH, most_words=_MOST_WORDS, chains=False)
    except CelError as error:
        raise ExpressionError(f"{error}; let a `let` hold a part of it" if error.is_bound else str(error)) from None
    return _Compiler(names).run(node)
