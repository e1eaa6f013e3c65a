"""Evaluates the CEL selectors of device claims and DeviceClasses for one device, without loops.

An evaluation takes no more steps than its text has characters. It has the part of CEL that selectors use: comparisons,
`in`, `&&`, `||`, `!`, `? :`, lists, `has`, `cel.bind`, `.?`, functions of texts, quantities and versions of Kubernetes.
Anything else raises `NotEvaluated`. As in the allocator, an error (a missing attribute) does not mean "no match": it
raises `SelectorError` (k8s.io/dynamic-resource-allocation cel/compile.go DeviceMatches).
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from usher import errors, quantities
from usher.quantities import Quantity

_LONGEST: Final = 10_240
"""CELSelectorExpressionMaxLength of k8s.io/api resource/v1/types.go."""
_DEEPEST: Final = 40


class SelectorError(Exception):
    """The evaluation fails in the scheduler too, which then does not place the pod at all."""


class NotEvaluated(Exception):  # noqa: N818 - not a fault
    """The expression has a part that usher does not evaluate; the text names the part."""


class Version(NamedTuple):
    """A semantic version; compares like one."""

    numbers: tuple[int, int, int]
    released: bool
    before: tuple[tuple[int, int, str], ...]

    @classmethod
    def parse(cls, text: str) -> "Version":
        """The version of a text.

        Raises:
            SelectorError: the text is not a semantic version.
        """
        found = _VERSION.fullmatch(text)
        if found is None:
            raise SelectorError(f"{text[:40]!r} is not a semantic version")
        parts = [each for each in (found[4] or "").split(".") if each]
        before = tuple((0, int(each), "") if each.isdecimal() else (1, 0, each) for each in parts)
        return cls((int(found[1]), int(found[2]), int(found[3])), not parts, before)


_NUMBER: Final = r"(0|[1-9][0-9]{0,9})"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z.-]{{1,64}}))?(?:\+[0-9A-Za-z.-]{{1,64}})?", re.ASCII
)

Name = tuple[str, str]
"""Domain and name of an attribute or a capacity."""


class Subject(NamedTuple):
    """A device as expressions see it."""

    driver: str
    attributes: Mapping[Name, object]
    capacity: Mapping[Name, object]
    multiple: bool = False

    def domain(self, kind: str, domain: str) -> dict[str, object]:
        found = self.attributes if kind == "attributes" else self.capacity
        return {name: value for (of, name), value in found.items() if of == domain}


class _Scope:
    """The values of names during one evaluation."""

    __slots__ = ("device", "names")

    def __init__(self, device: Subject) -> None:
        self.device, self.names = device, dict[str, object]()


_Code = Callable[[_Scope], Any]
_NOTHING: Final = object()
"""The value of an optional without one."""


class _Optional(NamedTuple):
    value: object


class Selector:
    """A parsed expression. It remembers its answers by the values that it reads."""

    def __init__(self, expression: str) -> None:
        parser = _Parser(expression)
        self._code = parser.whole()
        self._reads = None if parser.dynamic else tuple(sorted(parser.reads))
        self._known: dict[object, bool | Exception] = {}

    def matches(self, device: Subject) -> bool:
        """Whether it selects the device.

        Raises:
            SelectorError: the scheduler would stop here.
            NotEvaluated: usher cannot say.
        """
        if self._reads is None:
            return self._evaluated(device)
        values = [getattr(device, kind).get(name) for kind, name in self._reads]
        # True and 1 are equal keys in Python.
        key = (device.driver, device.multiple, *((type(each), str(each)) for each in values))
        if key not in self._known:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            try:
                self._known[key] = self._evaluated(device)
            except (SelectorError, NotEvaluated) as error:
                self._known[key] = error.with_traceback(None)
        answer = self._known[key]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _evaluated(self, device: Subject) -> bool:
        result = self._code(_Scope(device))
        if not isinstance(result, bool):
            raise SelectorError("its result is neither true nor false")
        return result


_REMEMBERED: Final = 4096


@lru_cache(maxsize=512)
def _compiled(expression: str) -> Selector | NotEvaluated:
    try:
        return Selector(expression)
    except NotEvaluated as error:
        return error


def compiled(expression: str) -> Selector:
    """The parsed expression; parsed expressions are kept.

    Raises:
        NotEvaluated: it has a part that usher does not evaluate.
    """
    found = _compiled(expression) if len(expression) <= _LONGEST else NotEvaluated("more than 10 KiB")
    if isinstance(found, NotEvaluated):
        raise found
    return found


_TOKEN: Final = re.compile(
    r"""\s*(?:(//[^\n]*)|(?P<number>-?[0-9]+\.[0-9]+|-?[0-9]+u?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<sign>&&|\|\||==|!=|<=|>=|\.\?|\[\?|[-<>!?:.,()\[\]]))""",
    re.ASCII,
)
_ESCAPED: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t", "r": "\r", "`": "`", "?": "?"}


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise NotEvaluated(f"{text[position : position + 10].strip()!r}")
        position = found.end()
        if found.lastgroup:
            yield found.lastgroup, found[found.lastgroup]
    yield "end", ""


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise NotEvaluated(f"the escape \\{found[1]}")
        return _ESCAPES[found[1]]

    return _ESCAPED.sub(plain, text[1:-1])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: object, right: object) -> bool:
    """Equality of CEL: values of different types are not equal, but numbers compare with numbers."""
    if type(left) is type(right) or (_is_number(left) and _is_number(right)):
        return left == right
    return False


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def ordered(left: object, right: object) -> bool:
        if (_is_number(left) and _is_number(right)) or (isinstance(left, str | bool) and type(left) is type(right)):
            return compare(left, right)
        raise SelectorError("values of different types have no order")

    return ordered


def _within(left: object, right: object) -> bool:
    if isinstance(right, list):
        return any(_equal(left, each) for each in right)
    if isinstance(right, dict):
        return left in right
    raise SelectorError("`in` needs a list")


_RELATIONS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "in": _within,
}
# A pattern of plain characters, classes and at most two repetitions, so that Python's search is as bounded as RE2.
_PATTERN: Final = re.compile(r"(?:[\w\s.^$,:;/@#%&=<>~!\"'-]|\\[.dws/-]|\[[^\[\]\\]+\]|[*+?])*", re.ASCII)


def _matches_pattern(text: str, pattern: str) -> bool:
    if not _PATTERN.fullmatch(pattern) or len(re.findall(r"[*+?]", pattern)) > 2:
        raise NotEvaluated("a pattern")
    try:
        return re.search(pattern, text, re.ASCII) is not None
    except re.error:
        raise NotEvaluated("a pattern") from None


def _quantity(text: str) -> Quantity:
    try:
        return quantities.parse(text)
    except errors.QuantityError as error:
        raise SelectorError(str(error)) from None


def _compared(left: Any, right: Any) -> int:  # noqa: ANN401 - quantities and versions
    return int(left > right) - int(left < right)


def _integer(value: Quantity) -> int:
    if not value.is_whole:
        raise SelectorError("the quantity is not a whole number")
    return value.value


_METHODS: Final[Mapping[tuple[type, str], tuple[Callable[..., Any], tuple[type, ...]]]] = {
    (str, "startsWith"): (str.startswith, (str,)),
    (str, "endsWith"): (str.endswith, (str,)),
    (str, "contains"): (lambda text, part: part in text, (str,)),
    (str, "matches"): (_matches_pattern, (str,)),
    (str, "lowerAscii"): (lambda text: "".join(each.lower() if each.isascii() else each for each in text), ()),
    (str, "upperAscii"): (lambda text: "".join(each.upper() if each.isascii() else each for each in text), ()),
    (str, "size"): (len, ()),
    (list, "size"): (len, ()),
    (dict, "size"): (len, ()),
    (Quantity, "compareTo"): (_compared, (Quantity,)),
    (Quantity, "isGreaterThan"): (operator.gt, (Quantity,)),
    (Quantity, "isLessThan"): (operator.lt, (Quantity,)),
    (Quantity, "sign"): (lambda value: (value.nanos > 0) - (value.nanos < 0), ()),
    (Quantity, "isInteger"): (lambda value: value.is_whole, ()),
    (Quantity, "asInteger"): (_integer, ()),
    (Quantity, "asApproximateFloat"): (lambda value: value.nanos / quantities.NANO, ()),
    (Version, "compareTo"): (_compared, (Version,)),
    (Version, "isGreaterThan"): (operator.gt, (Version,)),
    (Version, "isLessThan"): (operator.lt, (Version,)),
    (Version, "major"): (lambda value: value.numbers[0], ()),
    (Version, "minor"): (lambda value: value.numbers[1], ()),
    (Version, "patch"): (lambda value: value.numbers[2], ()),
}
_METHOD_NAMES: Final = frozenset(name for _, name in _METHODS) | {"orValue", "hasValue"}
_FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], tuple[type, ...]]]] = {
    "quantity": (_quantity, (str,)),
    "semver": (Version.parse, (str,)),
    "isSemver": (lambda text: _VERSION.fullmatch(text) is not None, (str,)),
    "size": (len, (object,)),
    "dyn": (lambda value: value, (object,)),
}


def _called(name: str, values: list[object]) -> object:
    function, types = _FUNCTIONS[name]
    if len(values) != len(types):
        raise NotEvaluated(f"{name}() with {len(values)} values")
    if not all(map(isinstance, values, types)) or (name == "size" and not isinstance(values[0], str | list | dict)):
        raise SelectorError(f"{name}() does not take this value")
    return function(*values)


def _applied(name: str, target: object, values: list[object]) -> object:
    if isinstance(target, _Optional):
        if name == "orValue" and len(values) == 1:
            return values[0] if target.value is _NOTHING else target.value
        if name == "hasValue" and not values:
            return target.value is not _NOTHING
        raise NotEvaluated(f"{name}() of an optional value")
    found = _METHODS.get((type(target), name))
    if found is None or len(values) != len(found[1]) or not all(map(isinstance, values, found[1])):
        raise SelectorError(f"{name}() does not take these values")
    return found[0](target, *values)


def _member(target: object, name: object) -> object:
    if isinstance(target, dict):
        if name not in target:
            raise SelectorError(f"the map lacks the key {name}")
        return target[name]
    if isinstance(target, list) and isinstance(name, int) and not isinstance(name, bool):
        if not 0 <= name < len(target):
            raise SelectorError("the index is beyond the list")
        return target[name]
    raise SelectorError(f"a value without the field {name}")


def _optional_member(target: object, name: object) -> _Optional:
    if isinstance(target, _Optional):
        target = {} if target.value is _NOTHING else target.value
    if not isinstance(target, dict):
        raise SelectorError(f"a value without the field {name}")
    return _Optional(target.get(name, _NOTHING))


class _Parser:
    """Reads one expression by recursive descent, as the grammar of CEL orders its operators."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._depth = 0
        self._bound: list[str] = []
        self.reads: set[tuple[str, Name]] = set()
        """The attributes and capacities that it reads by fixed names."""
        self.dynamic = False
        """Whether it reads others too."""

    def whole(self) -> _Code:
        code = self._expression()
        if self._tokens[self._at][0] != "end":
            raise NotEvaluated(repr(self._tokens[self._at][1]))
        return code

    def _peek(self) -> str:
        kind, text = self._tokens[self._at]
        return text if kind in ("sign", "name") else ""

    def _take(self, *signs: str) -> str:
        found = self._peek()
        if found not in signs or not found:
            return ""
        self._at += 1
        return found

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise NotEvaluated(repr(self._tokens[self._at][1] or "an unfinished expression"))

    def _expression(self) -> _Code:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotEvaluated("too many brackets")
        condition = self._joined("||", decides=True)
        if self._take("?"):
            then = self._joined("||", decides=True)
            self._expect(":")
            condition = _choice(condition, then, self._expression())
        self._depth -= 1
        return condition

    def _joined(self, sign: str, *, decides: bool) -> _Code:
        def part() -> _Code:
            return self._joined("&&", decides=False) if decides else self._relation()

        parts = [part()]
        while self._take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else _joining(parts, decides=decides)

    def _relation(self) -> _Code:
        left = self._unary()
        while sign := self._take(*_RELATIONS):
            left = _binary(_RELATIONS[sign], left, self._unary())
        return left

    def _unary(self) -> _Code:
        if self._take("!"):
            operand = self._deeper()
            return lambda scope: not _truth(operand(scope))
        return self._postfix()

    def _deeper(self) -> _Code:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotEvaluated("too many signs")
        code = self._unary()
        self._depth -= 1
        return code

    def _postfix(self) -> _Code:
        code = self._device() if self._take("device") else self._primary()
        while sign := self._take(".", ".?", "[", "[?"):
            if sign in ("[", "[?"):
                index = self._expression()
                self._expect("]")
                code = _binary(_member if sign == "[" else _optional_member, code, index)
                continue
            name = self._name()
            if sign == ".?":
                code = _binary(_optional_member, code, _constant(name))
            elif self._take("("):
                code = self._method(code, name)
            else:
                code = _field(code, name)
        return code

    def _name(self) -> str:
        kind, text = self._tokens[self._at]
        if kind != "name":
            raise NotEvaluated(repr(text))
        self._at += 1
        return text

    def _device(self) -> _Code:
        """A field of the device; of its attributes and capacities one domain."""
        self._expect(".")
        name = self._name()
        if name == "driver":
            return lambda scope: scope.device.driver
        if name == "allowMultipleAllocations":
            return lambda scope: scope.device.multiple
        if name not in ("attributes", "capacity"):
            raise NotEvaluated(f"device.{name}")
        if not self._take("["):
            raise NotEvaluated(f"device.{name} without a domain")
        kind, text = self._tokens[self._at]
        domain = self._expression()
        self._expect("]")
        following = [text for _, text in self._tokens[self._at : self._at + 3]]
        is_literal = kind == "text" and self._tokens[self._at - 2] == (kind, text)
        if is_literal and following[0] == "." and following[2] != "(" and following[1].isidentifier():
            self.reads.add((name, (_unescaped(text), following[1])))
        else:
            self.dynamic = True
        return _binary(lambda of, key: of.domain(name, key), lambda scope: scope.device, domain)

    def _primary(self) -> _Code:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "text":
            return _constant(_unescaped(text))
        if kind == "number":
            return _constant(float(text) if "." in text else int(text.rstrip("u")[:20]))
        if text == "(":
            code = self._expression()
            self._expect(")")
            return code
        if text == "[":
            parts = self._arguments("]")
            return lambda scope: [each(scope) for each in parts]
        if text in ("true", "false"):
            return _constant(text == "true")
        if text == "has" and self._take("("):
            return self._has()
        if text == "cel" and self._take(".") and self._name() == "bind":
            return self._bind()
        if text in _FUNCTIONS and self._take("("):
            values = self._arguments(")")
            return lambda scope: _called(text, [each(scope) for each in values])
        if kind == "name" and text in self._bound:
            return lambda scope: scope.names[text]
        raise NotEvaluated(repr(text) if text else "an unfinished expression")

    def _arguments(self, end: str) -> list[_Code]:
        found: list[_Code] = []
        if self._take(end):
            return found
        while True:
            found.append(self._expression())
            if self._take(end):
                return found
            self._expect(",")

    def _has(self) -> _Code:
        before = self._at
        code = self._expression()
        self._expect(")")
        field = self._tokens[self._at - 2]
        if field[0] != "name" or self._tokens[self._at - 3][1] != "." or self._at - before < 4:
            raise NotEvaluated("has()")
        return _having(code, field[1])

    def _bind(self) -> _Code:
        self._expect("(")
        name = self._variable_name()
        self._expect(",")
        value = self._expression()
        self._expect(",")
        self._bound.append(name)
        body = self._expression()
        self._bound.pop()
        self._expect(")")
        return _binding(name, value, body)

    def _variable_name(self) -> str:
        name = self._name()
        if name in ("device", "true", "false"):
            raise NotEvaluated(f"the variable {name}")
        return name

    def _method(self, target: _Code, name: str) -> _Code:
        if name not in _METHOD_NAMES:
            raise NotEvaluated(f"{name}()")
        arguments = self._arguments(")")
        return lambda scope: _applied(name, target(scope), [each(scope) for each in arguments])


def _constant(value: object) -> _Code:
    return lambda _: value


def _binary(apply: Callable[[Any, Any], Any], left: _Code, right: _Code) -> _Code:
    return lambda scope: apply(left(scope), right(scope))


class _Field:
    """The field of a value; `has` asks for its target."""

    __slots__ = ("name", "target")

    def __init__(self, target: _Code, name: str) -> None:
        self.target, self.name = target, name

    def __call__(self, scope: _Scope) -> object:
        return _member(self.target(scope), self.name)


def _field(target: _Code, name: str) -> _Code:
    return _Field(target, name)


def _having(code: _Code, name: str) -> _Code:
    if not isinstance(code, _Field) or code.name != name:
        raise NotEvaluated("has()")
    target = code.target

    def having(scope: _Scope) -> bool:
        value = target(scope)
        if not isinstance(value, dict):
            raise SelectorError(f"a value without the field {name}")
        return name in value

    return having


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise SelectorError("a value that is neither true nor false")
    return value


def _choice(condition: _Code, then: _Code, otherwise: _Code) -> _Code:
    return lambda scope: (then if _truth(condition(scope)) else otherwise)(scope)


def _joining(parts: list[_Code], *, decides: bool) -> _Code:
    """`&&` or `||`: a part that decides makes the errors of all other parts void."""

    def joined(scope: _Scope) -> bool:
        failed: SelectorError | NotEvaluated | None = None
        for part in parts:
            try:
                if _truth(part(scope)) is decides:
                    return decides
            except SelectorError as error:
                failed = failed or error
            except NotEvaluated as error:
                failed = error
        if failed is not None:
            raise failed
        return not decides

    return joined


def _binding(name: str, value: _Code, body: _Code) -> _Code:
    def bound(scope: _Scope) -> object:
        before = scope.names
        scope.names = {**before, name: value(scope)}
        try:
            return body(scope)
        finally:
            scope.names = before

    return bound
