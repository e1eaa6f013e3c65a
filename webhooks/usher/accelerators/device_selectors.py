"""Evaluates the CEL selectors of device claims and DeviceClasses for one device, without loops.

An evaluation takes no more steps than its text has characters. It has the part of CEL that selectors use: comparisons,
`in`, `&&`, `||`, `!`, `? :`, lists, `has`, `cel.bind`, `.?`, functions of texts, quantities and versions of Kubernetes.
Anything else raises `NotEvaluated`. As in the allocator, an error (a missing attribute) does not mean "no match": it
raises `SelectorError` (k8s.io/dynamic-resource-allocation cel/compile.go DeviceMatches).
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from usher import errors, quantities
from usher.documents.cel import CelError, Node, parse
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
        try:
            node = parse(expression, deepest=_DEEPEST, most_words=_LONGEST)
        except CelError as error:
            raise NotEvaluated(repr(error.word) if error.word else str(error)) from None
        compiler = _Compiler()
        self._code = compiler.code(node)
        self._reads = None if compiler.dynamic else tuple(sorted(compiler.reads))
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
        return isinstance(left, str) and left in right
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
        if not isinstance(name, str) or name not in target:
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
    return _Optional(target.get(name, _NOTHING) if isinstance(name, str) else _NOTHING)


class _Compiler:
    """Makes functions of the tree of an expression."""

    def __init__(self) -> None:
        self._bound: list[str] = []
        self.reads: set[tuple[str, Name]] = set()
        """The attributes and capacities that it reads by fixed names."""
        self.dynamic = False
        """Whether it reads others too."""

    def code(self, node: Node) -> _Code:
        value, parts = node.value, node.parts
        match node.kind:
            case "constant":
                return _constant(value)
            case "name":
                return self._name(str(value))
            case ".":
                return self._field(str(value), parts[0])
            case ".?":
                return _binary(_optional_member, self.code(parts[0]), _constant(value))
            case "[":
                return self._domain(node, "") or _binary(_member, self.code(parts[0]), self.code(parts[1]))
            case "()":
                return self._call(str(value), parts)
            case ".()":
                return self._method(str(value), *parts)
            case "-" if len(parts) == 1 and isinstance(number := parts[0].value, int | float):
                return _constant(-number)
        make = _OPERATORS.get(node.kind)
        if make is None:
            raise NotEvaluated(repr(node.kind))
        return make([self.code(each) for each in parts])

    def _name(self, name: str) -> _Code:
        if name not in self._bound:
            raise NotEvaluated(repr(name))
        return lambda scope: scope.names[name]

    def _field(self, name: str, target: Node) -> _Code:
        if target != _DEVICE:
            return _binary(_member, self._domain(target, name) or self.code(target), _constant(name))
        if name == "driver":
            return lambda scope: scope.device.driver
        if name == "allowMultipleAllocations":
            return lambda scope: scope.device.multiple
        raise NotEvaluated(f"device.{name} without a domain" if name in _DOMAINS else f"device.{name}")

    def _domain(self, node: Node, name: str) -> _Code | None:
        """One domain of the device, with the name that is read in it; None for nodes of other forms."""
        if node.kind != "[" or node.parts[0] not in [Node(".", each, (_DEVICE,)) for each in _DOMAINS]:
            return None
        kind, domain = str(node.parts[0].value), node.parts[1]
        if name and domain.kind == "constant" and isinstance(domain.value, str):
            self.reads.add((kind, (domain.value, name)))
        else:
            self.dynamic = True
        return _binary(lambda of, key: of.domain(kind, key), lambda scope: scope.device, self.code(domain))

    def _call(self, name: str, parts: Sequence[Node]) -> _Code:
        if name == "has":
            if len(parts) != 1 or parts[0].kind != "." or parts[0].parts[0] == _DEVICE:
                raise NotEvaluated("has()")
            field, target = str(parts[0].value), parts[0].parts[0]
            return _having(self._domain(target, field) or self.code(target), field)
        if name not in _FUNCTIONS:
            raise NotEvaluated(repr(name))
        codes = [self.code(each) for each in parts]
        return lambda scope: _called(name, [each(scope) for each in codes])

    def _method(self, name: str, target: Node, *parts: Node) -> _Code:
        if target == Node("name", "cel") and name == "bind" and len(parts) == 3:
            return self._bind(*parts)
        if name not in _METHOD_NAMES:
            raise NotEvaluated(f"{name}()")
        code, codes = self.code(target), [self.code(each) for each in parts]
        return lambda scope: _applied(name, code(scope), [each(scope) for each in codes])

    def _bind(self, variable: Node, value: Node, body: Node) -> _Code:
        if variable.kind != "name" or variable == _DEVICE:
            raise NotEvaluated(f"the variable {variable.value}")
        name, found = str(variable.value), self.code(value)
        self._bound.append(name)
        code = self.code(body)
        self._bound.pop()
        return _binding(name, found, code)


_DEVICE: Final = Node("name", "device")
_DOMAINS: Final = ("attributes", "capacity")


def _constant(value: object) -> _Code:
    return lambda _: value


def _binary(apply: Callable[[Any, Any], Any], left: _Code, right: _Code) -> _Code:
    return lambda scope: apply(left(scope), right(scope))


def _having(target: _Code, name: str) -> _Code:
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


def _relation(sign: str) -> Callable[[list[_Code]], _Code]:
    return lambda codes: _binary(_RELATIONS[sign], *codes)


_OPERATORS: Final[Mapping[str, Callable[[list[_Code]], _Code]]] = {
    "list": lambda codes: lambda scope: [each(scope) for each in codes],
    "!": lambda codes: lambda scope: not _truth(codes[0](scope)),
    "?": lambda codes: _choice(*codes),
    "||": lambda codes: _joining(codes, decides=True),
    "&&": lambda codes: _joining(codes, decides=False),
    "[?": lambda codes: _binary(_optional_member, *codes),
    **{sign: _relation(sign) for sign in _RELATIONS},
}
"""Makes the function of an operator."""
