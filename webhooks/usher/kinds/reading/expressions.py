"""Read-only expressions of descriptions of kinds: a part of CEL, with places for what could not be read.

A value knows its place in the object, so an unusable one is reported there. There are no loops but `filter` and
`exists`, which do not nest, and the steps of an object are counted: no expression runs for long.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from usher import memo, paths
from usher.kinds.reading.counts import share_of_replicas
from usher.kinds.reading.values import Reading


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
        if isinstance(value, Found):
            default = 0 if value.default is None else self.number(value.default)
            return self.reading.count(value.value, value.path, default=default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnusableError(f"expected a number, found {_shown(value)}")
        return value

    def text(self, value: Value) -> str:
        if isinstance(value, Found):
            default = "" if value.default is None else self.text(value.default)
            return default if value.value is None else self.reading.text(value.value, value.path)
        if not isinstance(value, str):
            raise UnusableError(f"expected a text, found {_shown(value)}")
        return value

    def truth(self, value: Value) -> bool:
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
_MOST_DIGITS: Final = 9

_WORD: Final = memo.pattern(
    r"\s*(?:(?P<number>\d+)|(?P<text>'[^'\\]*'|\"[^\"\\]*\")|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>&&|\|\||[=!<>]=|[-+*<>!?:.,()\[\]]))",
    re.ASCII,
)
_PATH: Final = memo.pattern(r"[A-Za-z_][-\w]*(?:\.[A-Za-z_][-\w]*)*", re.ASCII)
_COMPARED: Final = ("==", "!=", "<=", ">=", "<", ">", "in")


class _Word(NamedTuple):
    kind: str
    text: str


def _words(text: str) -> Iterator[_Word]:
    position = 0
    while text[position:].strip():
        matched = _WORD.match(text, position)
        if matched is None:
            raise ExpressionError(f"cannot read {text[position:].strip()[:20]!r}")
        kind = str(matched.lastgroup)
        yield _Word(kind, matched[kind])
        position = matched.end()


class _Parser:
    """Reads one expression; each method takes the words of one level of precedence."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._words = list(_words(text))
        self._names = set(names)
        self._at = 0
        self._nested = False
        self._depth = 0
        if len(self._words) > _MOST_WORDS:
            raise ExpressionError(f"has more than {_MOST_WORDS} words; let a `let` hold a part of it")

    def whole(self) -> Run:
        found = self._choice()
        if self._at < len(self._words):
            raise ExpressionError(f"does not end before {self._words[self._at].text!r}")
        return found

    def _is_next(self, *texts: str) -> bool:
        if self._at >= len(self._words):
            return False
        kind, text = self._words[self._at]
        return kind != "text" and text in texts

    def _take(self, *texts: str) -> str:
        if not self._is_next(*texts):
            return ""
        self._at += 1
        return self._words[self._at - 1].text

    def _expect(self, text: str) -> None:
        if not self._take(text):
            found = repr(self._words[self._at].text) if self._at < len(self._words) else "its end"
            raise ExpressionError(f"expected {text!r} before {found}")

    def _word(self, kind: str) -> str:
        if self._at >= len(self._words) or self._words[self._at].kind != kind:
            raise ExpressionError(f"expected a {kind}")
        self._at += 1
        return self._words[self._at - 1].text

    def _choice(self) -> Run:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise ExpressionError(f"has more than {_MOST_DEPTH} levels of parentheses; use a `let`")
        found = self._whole_choice()
        self._depth -= 1
        return found

    def _whole_choice(self) -> Run:
        condition = self._either()
        if not self._take("?"):
            return condition
        yes = self._choice()
        self._expect(":")
        no = self._choice()
        return lambda scope: yes(scope) if scope.truth(condition(scope)) else no(scope)

    def _either(self) -> Run:
        found = self._both()
        while self._take("||"):
            found = _either(found, self._both())
        return found

    def _both(self) -> Run:
        found = self._comparison()
        while self._take("&&"):
            found = _both(found, self._comparison())
        return found

    def _comparison(self) -> Run:
        found = self._sum()
        sign = self._take(*_COMPARED)
        return _compared(sign, found, self._sum()) if sign else found

    def _sum(self) -> Run:
        found = self._product()
        while sign := self._take("+", "-"):
            found = _summed(sign, found, self._product())
        return found

    def _product(self) -> Run:
        found = self._unary()
        while self._take("*"):
            found = _multiplied(found, self._unary())
        return found

    def _unary(self) -> Run:
        if self._take("!"):
            inner = self._unary()
            return lambda scope: not scope.truth(inner(scope))
        return self._steps(self._primary())

    def _primary(self) -> Run:
        if self._take("("):
            found = self._choice()
            self._expect(")")
            return found
        if self._take("["):
            return _listed(self._arguments("]"))
        if self._at >= len(self._words):
            raise ExpressionError("ends too early")
        kind, text = self._words[self._at]
        self._at += 1
        if kind == "number" and len(text) <= _MOST_DIGITS:
            return _constant(int(text))
        if kind == "text":
            return _constant(text[1:-1])
        if kind != "name":
            raise ExpressionError(f"cannot read {text[:20]!r}")
        if text in ("true", "false"):
            return _constant(text == "true")
        if self._take("("):
            return self._call(text)
        return self._name(text)

    def _name(self, text: str) -> Run:
        if text not in self._names:
            raise ExpressionError(f"unknown name {text}; known are {', '.join(sorted(self._names))}")

        def run(scope: Scope) -> Value:
            scope.step()
            return scope.names[text]

        return run

    def _arguments(self, end: str) -> list[Run]:
        found: list[Run] = []
        while not self._take(end):
            if found:
                self._expect(",")
            found.append(self._choice())
        return found

    def _call(self, name: str) -> Run:
        if name == "at":
            return self._at_path()
        given = self._arguments(")")
        least, most, make = _FUNCTIONS.get(name, (0, 0, None))
        if make is None:
            raise ExpressionError(f"unknown function {name}; known are at, {', '.join(sorted(_FUNCTIONS))}")
        if not least <= len(given) <= most:
            raise ExpressionError(f"{name} takes {least} to {most} values, not {len(given)}")
        return make(given)

    def _at_path(self) -> Run:
        """`at(value, 'a.b.c', default)`: the path is a constant text, so that it is read once."""
        holder = self._choice()
        self._expect(",")
        path = self._word("text")[1:-1]
        if not _PATH.fullmatch(path) or path.partition(".")[0] == "status":
            raise ExpressionError(f"{path!r} is not a path of fields of a spec, as in 'spec.replicas'")
        default = self._choice() if self._take(",") else _constant(None)
        self._expect(")")
        way = Way(path)

        def run(scope: Scope) -> Value:
            scope.step()
            return scope.below(holder(scope), way, default(scope))

        return run

    def _steps(self, found: Run) -> Run:
        while sign := self._take(".", "["):
            found = self._member(found) if sign == "." else self._index(found)
        return found

    def _member(self, holder: Run) -> Run:
        name = self._word("name")
        if name in ("filter", "exists") and self._take("("):
            return self._quantified(holder, name)
        if name == "status":
            raise ExpressionError("status is written by the operator; name a field of the spec")
        way = Way(name)
        return lambda scope: scope.below(holder(scope), way)

    def _index(self, holder: Run) -> Run:
        number = int(self._word("number")[:_MOST_DIGITS])
        self._expect("]")

        def run(scope: Scope) -> Value:
            found = scope.entries(holder(scope))
            if number >= len(found):
                raise UnusableError(f"there is no entry [{number}]")
            return found[number]

        return run

    def _quantified(self, holder: Run, function: str) -> Run:
        """`list.filter(x, condition)` and `list.exists(x, condition)`; one within another would take too long."""
        if self._nested:
            raise ExpressionError(f"{function} stands in another; use a `let`")
        variable = self._word("name")
        self._expect(",")
        known, self._nested = self._names, True
        self._names = {*known, variable}
        condition = self._choice()
        self._names, self._nested = known, False
        self._expect(")")

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


def _listed(items: Sequence[Run]) -> Run:
    return lambda scope: [each(scope) for each in items]


def _either(one: Run, other: Run) -> Run:
    return lambda scope: scope.truth(one(scope)) or scope.truth(other(scope))


def _both(one: Run, other: Run) -> Run:
    return lambda scope: scope.truth(one(scope)) and scope.truth(other(scope))


def _multiplied(one: Run, other: Run) -> Run:
    return lambda scope: scope.number(one(scope)) * scope.number(other(scope))


def _summed(sign: str, one: Run, other: Run) -> Run:
    def run(scope: Scope) -> Value:
        first, second = one(scope), other(scope)
        if sign == "-":
            return max(scope.number(first) - scope.number(second), 0)
        if any(isinstance(each.value if isinstance(each, Found) else each, str) for each in (first, second)):
            return scope.text(first) + scope.text(second)
        return scope.number(first) + scope.number(second)

    return run


def _compared(sign: str, one: Run, other: Run) -> Run:
    def run(scope: Scope) -> Value:
        first, second = one(scope), other(scope)
        if sign == "in":
            entries = scope.entries(second)
            scope.steps[0] -= len(entries)
            scope.step()
            return any(scope.equal(first, each) for each in entries)
        if sign in ("==", "!="):
            return scope.equal(first, second) is (sign == "==")
        low, high = scope.number(first), scope.number(second)
        return {"<": low < high, ">": low > high, "<=": low <= high, ">=": low >= high}[sign]

    return run


def _size(given: Sequence[Run]) -> Run:
    """`size(value)`: the entries of a list or of an object."""

    def run(scope: Scope) -> Value:
        value = given[0](scope)
        if isinstance(value, Found) and value.default is None and not isinstance(value.value, list):
            return len(scope.reading.mapping(value.value, value.path))
        return len(scope.entries(value))

    return run


def _has(given: Sequence[Run]) -> Run:
    def run(scope: Scope) -> Value:
        value = given[0](scope)
        return (value.value if isinstance(value, Found) else value) is not None

    return run


def _text(given: Sequence[Run]) -> Run:
    return lambda scope: str(scope.number(given[0](scope)))


def _lower(given: Sequence[Run]) -> Run:
    return lambda scope: scope.text(given[0](scope)).lower()


def _bound(best: Callable[[Sequence[int]], int], *beside: int) -> Callable[[Sequence[Run]], Run]:
    return lambda given: lambda scope: best([*(scope.number(each(scope)) for each in given), *beside])


def _share(given: Sequence[Run]) -> Run:
    """`share(n, value, default)`: a number, or a percentage of n, rounded up as surges are."""
    of, value, default = given

    def run(scope: Scope) -> Value:
        found, otherwise = value(scope), default(scope)
        if not isinstance(found, Found) or not isinstance(otherwise, int | str):
            raise UnusableError("share takes a number, a field and a default")
        return share_of_replicas(scope.number(of(scope)), found.value, found.path, scope.reading, default=otherwise)

    return run


_FUNCTIONS: Final[Mapping[str, tuple[int, int, Callable[[Sequence[Run]], Run] | None]]] = {
    "has": (1, 1, _has),
    "lower": (1, 1, _lower),
    "max": (2, 4, _bound(max)),
    "max1": (1, 1, _bound(max, 1)),
    "min": (2, 4, _bound(min)),
    "share": (3, 3, _share),
    "size": (1, 1, _size),
    "text": (1, 1, _text),
}
"""Functions beside `at`, each with the least and the most values that it takes."""


def compiled(text: str, names: Collection[str]) -> Run:
    """A function for an expression.

    Args:
        names: the names that it may use.

    Raises:
        ExpressionError: the expression is malformed, or uses unknown names or functions.
    """
    return _Parser(text, names).whole()
