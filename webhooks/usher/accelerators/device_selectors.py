"""Evaluates the CEL selectors of device claims and DeviceClasses for one device.

It has the part of CEL that selectors of Kubernetes 1.37 use (apiserver/pkg/cel/environment/base.go): comparisons, `in`,
`&&`, `||`, `!`, `? :`, numbers, lists, loops, `has`, `cel.bind`, `includes`, optional values, sets, and functions of
texts, lists, addresses, quantities and versions. Loops and texts that grow are bounded. Anything else raises
`NotEvaluated`. As in the allocator, an error (a missing attribute) does not mean "no match": it raises
`EvaluationError` (k8s.io/dynamic-resource-allocation cel/compile.go DeviceMatches).
"""

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from usher import errors, quantities
from usher.documents import cel
from usher.documents.cel import ARITHMETIC, CelError, EvaluationError, Node, NotEvaluated, Overload, parse
from usher.quantities import Quantity, Version

_LONGEST: Final = 10_240
"""CELSelectorExpressionMaxLength of k8s.io/api resource/v1/types.go."""
_DEEPEST: Final = 40


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

    def domains(self, kind: str) -> "_Domains":
        return _Domains({of: self.domain(kind, of) for of, _ in getattr(self, kind)})


class _Domains(dict[str, object]):
    """All domains of a device: an unknown one is an empty map, although `in` and loops do not see it."""


class _Scope:
    """The values of names during one evaluation."""

    __slots__ = ("device", "names", "steps")

    def __init__(self, device: Subject, subject: object = None) -> None:
        self.device, self.names = device, {_SUBJECT: subject}
        self.steps = 0

    def walk(self, steps: int) -> None:
        """Counts steps of loops; too many raise NotEvaluated."""
        self.steps += steps
        if self.steps > _MOST_STEPS:
            raise NotEvaluated(f"more than {_MOST_STEPS:,} steps")


_Code = Callable[[_Scope], Any]
_NOTHING: Final = object()
"""The value of an optional without one."""


class _Optional(NamedTuple):
    value: object


class Selector:
    """A parsed expression. It remembers its answers by the values that it reads."""

    def __init__(self, expression: str) -> None:
        self.text = " ".join(expression.split())
        try:
            node = parse(expression, deepest=_DEEPEST, most_words=_LONGEST)
        except CelError as error:
            raise NotEvaluated(repr(error.word) if error.word else str(error)) from None
        compiler = _Compiler()
        self._code, self._size = compiler.code(node), node.size
        self._reads = None if compiler.dynamic else tuple(sorted(compiler.reads))
        self._known: dict[object, bool | Exception] = {}

    def values(self, devices: Iterable[Subject]) -> Mapping[str, frozenset[str]]:
        """The values of devices that it reads by fixed names, by the short name; without those that no device has."""
        found = defaultdict[str, set[str]](set)
        for device in devices:
            for kind, name in self._reads or ():
                if (value := getattr(device, kind).get(name)) is not None:
                    found[name[1]].add(str(value)[:60])
        return {name: frozenset(each) for name, each in found.items()}

    def matches(self, device: Subject, left: list[int] | None = None) -> bool:
        """Whether it selects the device.

        Args:
            left: the steps that a search may still take, in a list of one; remembered answers cost no steps.

        Raises:
            EvaluationError: the scheduler would stop here.
            NotEvaluated: usher cannot say.
        """
        left = left or [MOST_STEPS_OF_SEARCH]
        if self._reads is None:
            return self._evaluated(device, left)
        values = [getattr(device, kind).get(name) for kind, name in self._reads]
        # True and 1 are equal keys in Python.
        key = (device.driver, device.multiple, *((type(each), str(each)) for each in values))
        if key not in self._known:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            try:
                self._known[key] = self._evaluated(device, left)
            except (EvaluationError, NotEvaluated) as error:
                if left[0] < 0:
                    raise
                self._known[key] = error.with_traceback(None)
        answer = self._known[key]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _evaluated(self, device: Subject, left: list[int]) -> bool:
        if left[0] < 0:
            raise NotEvaluated(f"more than {MOST_STEPS_OF_SEARCH:,} steps on all devices")
        scope = _Scope(device)
        try:
            result = self._code(scope)
        finally:
            left[0] -= self._size + scope.steps
        if not isinstance(result, bool):
            raise EvaluationError("its result is neither true nor false")
        return result


def rule(expression: str) -> Callable[[object], bool]:
    """A rule about one value, which it calls `self`. It and its function raise as `Selector.matches`."""
    try:
        code = _Compiler(_SUBJECT).code(parse(expression, deepest=_DEEPEST, most_words=_LONGEST))
    except (CelError, RecursionError) as error:
        raise NotEvaluated(str(error)) from None
    return lambda value: _truth(code(_Scope(_NO_DEVICE, value)))


_SUBJECT: Final = "self"
_NO_DEVICE: Final = Subject("", {}, {})
_REMEMBERED: Final = 4096
_MOST_STEPS: Final = 20_000
"""The nodes of trees that the loops of one evaluation run through; the scheduler stops at a cost of 1,000,000."""
MOST_STEPS_OF_SEARCH: Final = 2_000_000
"""The same for all devices of all nodes together: about half a second."""
_MOST_INCLUDED: Final = 48
"""ResourceSliceMaxAttributeValuesPerDevice of k8s.io/api resource/v1/types.go."""


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


def _parsed(parse: Callable[..., Any], *values: object) -> Any:  # noqa: ANN401 - a quantity or a version
    try:
        return parse(*values)
    except errors.QuantityError as error:
        raise EvaluationError(str(error)) from None


def _includes(value: object, other: object) -> bool:
    found = any(cel.equal(each, other) for each in (value[:_MOST_INCLUDED] if isinstance(value, list) else [value]))
    # The iteration ends at the first equal value, so only what follows the bound fails.
    if not found and isinstance(value, list) and len(value) > _MOST_INCLUDED:
        raise EvaluationError(f"includes() takes at most {_MOST_INCLUDED} values")
    return found


def _compared(left: Any, right: Any) -> int:  # noqa: ANN401 - quantities and versions
    return int(left > right) - int(left < right)


def _integer(value: Quantity) -> int:
    if not value.is_whole:
        raise EvaluationError("the quantity is not a whole number")
    return value.value


def _is_quantity(text: str) -> bool:
    try:
        quantities.parse(text)
    except errors.QuantityError:
        return False
    return True


def _moved(sign: int) -> list[Overload]:
    """`add` and `sub` of quantities."""
    return [
        (lambda one, other: Quantity(one.nanos + sign * other.nanos), (Quantity,)),
        (lambda one, other: Quantity(one.nanos + sign * other * quantities.NANO), (int,)),
    ]


_METHODS: Final[Mapping[tuple[type, str], Sequence[Overload]]] = {
    **{(str, name): overloads for name, overloads in cel.TEXT_METHODS.items()},
    **cel.NETWORK_METHODS,
    **{(list, name): overloads for name, overloads in cel.LIST_METHODS.items()},
    (dict, "size"): [(len, ())],
    (Quantity, "compareTo"): [(_compared, (Quantity,))],
    (Quantity, "isGreaterThan"): [(operator.gt, (Quantity,))],
    (Quantity, "isLessThan"): [(operator.lt, (Quantity,))],
    (Quantity, "sign"): [(lambda value: (value.nanos > 0) - (value.nanos < 0), ())],
    (Quantity, "isInteger"): [(lambda value: value.is_whole, ())],
    (Quantity, "asInteger"): [(_integer, ())],
    (Quantity, "asApproximateFloat"): [(lambda value: value.nanos / quantities.NANO, ())],
    (Quantity, "add"): _moved(1),
    (Quantity, "sub"): _moved(-1),
    (Version, "compareTo"): [(_compared, (Version,))],
    (Version, "isGreaterThan"): [(operator.gt, (Version,))],
    (Version, "isLessThan"): [(operator.lt, (Version,))],
    **{
        (Version, name): [(lambda value, index=index: value.numbers[index], ())]
        for index, name in enumerate(("major", "minor", "patch"))
    },
}


def _given(optional: _Optional) -> object:
    if optional.value is _NOTHING:
        raise EvaluationError("an empty optional value")
    return optional.value


_OF_OPTIONALS: Final[Mapping[str, Callable[..., object]]] = {
    "orValue": lambda own, other: other if own.value is _NOTHING else own.value,
    "or": lambda own, other: other if own.value is _NOTHING else own,
    "hasValue": lambda own: own.value is not _NOTHING,
    "value": _given,
}
_METHOD_NAMES: Final = frozenset(name for _, name in _METHODS) | _OF_OPTIONALS.keys() | {"includes"}


def _of_non_zero(value: object) -> _Optional:
    return _Optional(value if value or isinstance(value, Quantity | Version) else _NOTHING)


def _holds_all(some: list[Any], others: list[Any]) -> bool:
    return all(cel.within(each, some) for each in others)


_FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], tuple[type, ...]]]] = {
    "quantity": (partial(_parsed, quantities.parse), (str,)),
    "isQuantity": (_is_quantity, (str,)),
    "semver": (partial(_parsed, Version.parse), (str, bool)),
    "isSemver": (Version.is_one, (str, bool)),
    "size": (len, (object,)),
    "dyn": (lambda value: value, (object,)),
    "int": (cel.whole_number, (object,)),
    "double": (cel.double, (object,)),
    "string": (cel.text_of, (object,)),
    **cel.NETWORK_FUNCTIONS,
    "sets.contains": (_holds_all, (list, list)),
    "sets.intersects": (lambda some, others: any(cel.within(each, some) for each in others), (list, list)),
    "sets.equivalent": (lambda one, other: _holds_all(one, other) and _holds_all(other, one), (list, list)),
    "optional.of": (_Optional, (object,)),
    "optional.none": (lambda: _Optional(_NOTHING), ()),
    "optional.ofNonZeroValue": (_of_non_zero, (object,)),
}


def _called(name: str, values: list[object]) -> object:
    function, types = _FUNCTIONS[name]
    if types == (str, bool) and len(values) == 1:
        values = [*values, False]
    if len(values) != len(types):
        raise NotEvaluated(f"{name}() with {len(values)} values")
    if not all(map(isinstance, values, types)) or (name == "size" and not isinstance(values[0], str | list | dict)):
        raise EvaluationError(f"{name}() does not take this value")
    return function(*values)


def _applied(name: str, target: object, values: list[object]) -> object:
    if isinstance(target, _Optional):
        function = _OF_OPTIONALS.get(name)
        if function is None or len(values) != (name in ("or", "orValue")):
            raise NotEvaluated(f"{name}() of an optional value")
        return function(target, *values)
    if name == "includes" and len(values) == 1:
        return _includes(target, values[0])
    for method, types in _METHODS.get((type(target), name), ()):
        if len(values) == len(types) and all(map(isinstance, values, types)):
            return method(target, *values)
    raise EvaluationError(f"{name}() does not take these values")


def _member(target: object, name: object) -> object:
    if isinstance(target, _Domains) and isinstance(name, str):
        return target.get(name, {})
    if isinstance(target, dict):
        if not isinstance(name, str) or name not in target:
            raise EvaluationError(f"the map lacks the key {name}")
        return target[name]
    if isinstance(target, list) and isinstance(name, int) and not isinstance(name, bool):
        if not 0 <= name < len(target):
            raise EvaluationError("the index is beyond the list")
        return target[name]
    raise EvaluationError(f"a value without the field {name}")


def _optional_member(target: object, name: object) -> _Optional:
    if isinstance(target, _Optional):
        target = {} if target.value is _NOTHING else target.value
    if not isinstance(target, dict):
        raise EvaluationError(f"a value without the field {name}")
    return _Optional(target.get(name, _NOTHING) if isinstance(name, str) else _NOTHING)


class _Compiler:
    """Makes functions of the tree of an expression."""

    def __init__(self, *names: str) -> None:
        self._bound = [*names]
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
        if name in _DOMAINS:
            self.dynamic = True
            return lambda scope: scope.device.domains(name)
        raise NotEvaluated(f"device.{name}")

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
        if target.kind == "name" and target.value in ("sets", "optional"):
            return self._call(f"{target.value}.{name}", parts)
        if name in ("optMap", "optFlatMap") and len(parts) == 2:
            return self._optional(target, *parts, flat=name == "optFlatMap")
        if name in _LOOPS and len(parts) in (2, 3, 4) and parts[0].kind == "name":
            return self._loop(name, target, *parts)
        if name not in _METHOD_NAMES:
            raise NotEvaluated(f"{name}()")
        code, codes = self.code(target), [self.code(each) for each in parts]
        return lambda scope: _applied(name, code(scope), [each(scope) for each in codes])

    def _loop(self, name: str, target: Node, *parts: Node) -> _Code:
        """A macro of CEL with one variable, or with the index or key too; `map` may have a condition first."""
        maps = name in ("map", "transformList")
        is_pair = name == "transformList" or (
            parts[1].kind == "name" and len(parts) == 3 and name not in ("map", "filter")
        )
        names = [str(each.value) for each in parts[: 1 + is_pair]]
        found = self.code(target)
        self._bound += names
        bodies = [self.code(each) for each in parts[len(names) :]]
        del self._bound[-len(names) :]
        if not 1 <= len(bodies) <= 1 + maps or not all(each.kind == "name" for each in parts[: len(names)]):
            raise NotEvaluated(f"{name}()")
        steps = 1 + sum(each.size for each in parts)

        def rounds(scope: _Scope) -> Iterator[tuple[object, _Code]]:
            values = found(scope)
            if not isinstance(values, list | dict):
                raise EvaluationError("a loop needs a list or a map")
            before = scope.names
            for key in [*values] if isinstance(values, dict) else range(len(values)):
                scope.walk(steps)
                bound = (key, values[key]) if is_pair else (key if isinstance(values, dict) else values[key],)
                scope.names = {**before, **dict(zip(names, bound, strict=True))}
                yield bound[0], bodies[0]

        return _keeping_names(_LOOPS[name](rounds, bodies))

    def _optional(self, target: Node, variable: Node, body: Node, *, flat: bool) -> _Code:
        """The value of an optional, changed, if it is there."""
        if variable.kind != "name" or variable == _DEVICE:
            raise NotEvaluated(f"the variable {variable.value}")
        name, found = str(variable.value), self.code(target)
        self._bound.append(name)
        code = self.code(body)
        self._bound.pop()

        def mapped(scope: _Scope) -> object:
            optional = found(scope)
            if not isinstance(optional, _Optional):
                raise EvaluationError("optMap() needs an optional value")
            if optional.value is _NOTHING:
                return optional
            scope.names = {**scope.names, name: optional.value}
            return code(scope) if flat else _Optional(code(scope))

        return _keeping_names(mapped)

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
            raise EvaluationError(f"a value without the field {name}")
        return name in value

    return having


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError("a value that is neither true nor false")
    return value


def _applying(function: Callable[[Any, Any], Any]) -> Callable[[list[_Code]], _Code]:
    """An operation of two values; of one alone, as of 0 and this one."""
    return lambda codes: _binary(function, *[_constant(0), *codes][-2:])


_Rounds = Callable[[_Scope], Iterator[tuple[object, _Code]]]
"""The rounds of a loop: the value of the variable, and the code to run while it has this value."""


def _deciding(rounds: _Rounds, *, decides: bool) -> _Code:
    """`&&` or `||`: a part that decides makes the errors of all other parts void."""

    def joined(scope: _Scope) -> bool:
        failed: EvaluationError | NotEvaluated | None = None
        for _, part in rounds(scope):
            try:
                if _truth(part(scope)) is decides:
                    return decides
            except EvaluationError as error:
                failed = failed or error
            except NotEvaluated as error:
                failed = error
        if failed is not None:
            raise failed
        return not decides

    return joined


def _gathering(name: str) -> Callable[[_Rounds, list[_Code]], _Code]:
    def gathering(rounds: _Rounds, bodies: list[_Code]) -> _Code:
        def gathered(scope: _Scope) -> object:
            found = list[object]()
            for value, body in rounds(scope):
                if name in ("map", "transformList"):
                    if len(bodies) == 1 or _truth(body(scope)):
                        found.append(bodies[-1](scope))
                elif _truth(body(scope)):
                    found.append(value)
            return len(found) == 1 if name.startswith("exists") else found

        return gathered

    return gathering


_LOOPS: Final[Mapping[str, Callable[[_Rounds, list[_Code]], _Code]]] = {
    "all": lambda rounds, _: _deciding(rounds, decides=False),
    "exists": lambda rounds, _: _deciding(rounds, decides=True),
    **{name: _gathering(name) for name in ("exists_one", "existsOne", "filter", "map", "transformList")},
}


def _binding(name: str, value: _Code, body: _Code) -> _Code:
    def bound(scope: _Scope) -> object:
        scope.names = {**scope.names, name: value(scope)}
        return body(scope)

    return _keeping_names(bound)


def _keeping_names(code: _Code) -> _Code:
    def kept(scope: _Scope) -> object:
        before = scope.names
        try:
            return code(scope)
        finally:
            scope.names = before

    return kept


_OPERATORS: Final[Mapping[str, Callable[[list[_Code]], _Code]]] = {
    "list": lambda codes: lambda scope: [each(scope) for each in codes],
    "!": lambda codes: lambda scope: not _truth(codes[0](scope)),
    "?": lambda codes: lambda scope: codes[1 if _truth(codes[0](scope)) else 2](scope),
    "||": lambda codes: _deciding(lambda _: ((None, code) for code in codes), decides=True),
    "&&": lambda codes: _deciding(lambda _: ((None, code) for code in codes), decides=False),
    "[?": lambda codes: _binary(_optional_member, *codes),
    **{sign: _applying(function) for sign, function in cel.RELATIONS.items()},
    **{sign: _applying(cel.calculated(sign)) for sign in ARITHMETIC},
}
"""Makes the function of an operator."""
