"""The decorator of this package's values: `dataclasses.dataclass`, made for many classes that are imported at once.

The standard decorator writes and compiles six functions for each class. A command imports some three hundred classes,
so this took a quarter of the start of `usher check`. Here all classes share the code of equality, hash, representation
and immutability, and a class compiles its constructor for its first value. Type checkers see the standard decorator.
"""

import dataclasses
import reprlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True, **options: bool) -> Callable:
        """Makes a class as `dataclasses.dataclass` does. It passes on to it the classes that are not frozen, have no
        slots, have an order, or check their values (`__post_init__`).
        """
        standard = dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, **options)
        if not (frozen and slots) or options.get("order"):
            return standard

        def decorated(written: type) -> type:
            if hasattr(written, "__post_init__"):
                return standard(written)
            # Each option that is true here would compile a function.
            made = dataclasses.dataclass(written, init=False, repr=False, eq=False, slots=True, **options)
            return _completed(made, eq=eq)

        return decorated


__all__ = ["dataclass"]


def _completed(made: type, *, eq: bool) -> type:
    fields = dataclasses.fields(made)
    names = [field.name for field in fields]
    state = _values(names)
    methods: dict[str, Callable[..., Any]] = {
        "__init__": _first_constructor(made, fields),
        "__repr__": _text([field.name for field in fields if field.repr]),
        "__getstate__": lambda self: state(self),  # noqa: PLW0108 - a getter is not a method
        "__setstate__": _set_state(made, names),
    }
    if eq:
        compared = _values([field.name for field in fields if field.compare])
        methods["__eq__"] = _equality(compared)
        methods["__hash__"] = lambda self: hash(compared(self))
    for name, method in methods.items():
        # A class without a hash of its own has None: Python sets it beside an equality of its own.
        if made.__dict__.get(name) is None:
            setattr(made, name, method)
    for name, refusal in (("__setattr__", _refuse_assignment), ("__delattr__", _refuse_deletion)):
        setattr(made, name, refusal)
    return made


def _first_constructor(made: Any, fields: Sequence["dataclasses.Field[Any]"]) -> Callable[..., None]:  # noqa: ANN401 - any class
    """A constructor that compiles the real one on first use and is then replaced by it."""

    def construct(self: object, *given: object, **named: object) -> None:
        made.__init__ = _constructor(made, fields)
        made.__init__(self, *given, **named)

    return construct


def _constructor(made: type, fields: Sequence["dataclasses.Field[Any]"]) -> Callable[..., None]:
    """The constructor of a class. It sets slots directly, because the class refuses assignments."""
    known: dict[str, Any] = {"_not_given": dataclasses.MISSING}
    parameters, only_named, lines = ["self"], list[str](), list[str]()
    for field in fields:
        name, value = field.name, field.name
        known[f"_set_{name}"] = getattr(made, name).__set__
        parameter = name
        if field.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = field.default_factory
            parameter = f"{name}=_not_given"
            value = f"_make_{name}() if {name} is _not_given else {name}"
        (only_named if field.kw_only else parameters).append(parameter)
        lines.append(f"_set_{name}(self, {value})")
    if only_named:
        parameters += ["*", *only_named]
    body = "\n    ".join(lines) or "pass"
    exec(f"def __init__({', '.join(parameters)}):\n    {body}", known)  # noqa: S102 - of the names in a class alone
    constructor: Callable[..., None] = known["__init__"]
    constructor.__qualname__ = f"{made.__qualname__}.__init__"  # errors about arguments name the class
    return constructor


def _values(names: Sequence[str]) -> Callable[[object], tuple[Any, ...]]:
    """Gives the values of some fields."""
    if len(names) > 1:
        return attrgetter(*names)
    # For one name, an `attrgetter` gives the bare value and no tuple.
    return lambda value: tuple(getattr(value, name) for name in names)


def _equality(compared: Callable[[object], tuple[Any, ...]]) -> Callable[[object, object], bool]:
    def equal_to(self: object, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    return equal_to


def _text(names: Sequence[str]) -> Callable[[object], str]:
    @reprlib.recursive_repr()
    def text(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return text


def _set_state(made: type, names: Sequence[str]) -> Callable[[object, tuple[Any, ...]], None]:
    """Fills a pickled or copied value with the result of `__getstate__`."""
    setters = [getattr(made, name).__set__ for name in names]

    def fill(self: object, state: tuple[Any, ...]) -> None:
        for setter, value in zip(setters, state, strict=True):
            setter(self, value)

    return fill


def _refuse_assignment(_self: object, name: str, _value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
