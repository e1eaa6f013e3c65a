"""Values made by usher's decorator behave like those of the standard library."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    name: str
    number: int = 3
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    line: int = dataclasses.field(default=0, compare=False)
    secret: str = dataclasses.field(default="", repr=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Theirs:
    name: str
    number: int = 3
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    line: int = dataclasses.field(default=0, compare=False)
    secret: str = dataclasses.field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class One:
    only: object


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Themselves:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived(Themselves):
    more: int = 1


@dataclass(frozen=True, slots=True)
class WithMethods:
    number: int

    def __repr__(self) -> str:
        return "a text of its own"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithMethods)

    def __hash__(self) -> int:
        return 7


@dataclass(slots=True)
class Mutable:
    number: int


@dataclass(frozen=True, slots=True)
class Checked:
    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("a number below 0")


BOTH: list[Any] = [Ours, Theirs]
VALUES = [Ours(name="a", labels={"b": "c"}), One((1, 2)), One(()), One(None), Nothing(), Derived(number=1, more=2)]


def test_a_repr_shows_the_class_and_its_fields_but_no_secret() -> None:
    ours, theirs = (repr(kind(name="a", secret="hidden")) for kind in BOTH)

    assert ours == "Ours(name='a', number=3, labels={}, line=0)"
    assert ours.removeprefix("Ours") == theirs.removeprefix("Theirs")


def test_values_are_equal_by_their_class_and_compared_fields() -> None:
    assert Ours(name="a", line=1) == Ours(name="a", line=2)
    assert Ours(name="a") != Ours(name="b")
    assert len({type(kind(name="a")) for kind in BOTH if kind(name="a") == Ours(name="a")}) == 1
    assert Nothing() == Nothing()


def test_a_value_equals_itself_although_a_field_does_not() -> None:
    nan = float("nan")

    assert One(nan) == One(nan)
    assert One(nan) != One(float("nan"))


def test_equal_values_have_one_hash() -> None:
    assert hash(One((1, 2))) == hash(One((1, 2)))
    assert len({One("a"), One("a"), One("b"), Nothing(), Nothing()}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ours(name="a"))


def test_without_equality_a_value_equals_itself_alone() -> None:
    value = Themselves(number=1)

    assert value == value  # noqa: PLR0124 - what __eq__ says of the same object
    assert value != Themselves(number=1)
    assert len({value, Themselves(number=1)}) == 2


@pytest.mark.parametrize("kind", BOTH)
def test_no_field_can_be_set_deleted_or_added(kind: Any) -> None:
    value = kind(name="a")

    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        value.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
        del value.name
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
        value.unknown = 1
    assert value.name == "a"


def test_a_default_is_made_for_each_value() -> None:
    first, second = Ours(name="a"), Ours(name="a")

    assert first.labels == {}
    assert first.labels is not second.labels


@pytest.mark.parametrize("made", ["first", "second"])
@pytest.mark.parametrize("kind", ["ours", "theirs"])
def test_wrong_arguments_are_named_by_the_first_value_too(made: str, kind: str) -> None:
    decorator: Any = dataclass if kind == "ours" else dataclasses.dataclass

    @decorator(frozen=True, slots=True, kw_only=True)
    class Fresh:
        name: str

    fresh: Any = Fresh
    if made == "second":
        fresh(name="a")
    with pytest.raises(TypeError, match=r"Fresh.__init__\(\) got an unexpected keyword argument 'other'"):
        fresh(other=1)
    with pytest.raises(TypeError, match=r"takes 1 positional argument"):
        fresh("a")
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'name'"):
        fresh()


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_survive_pickling_and_copying(value: Any) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert dataclasses.replace(value) == value


def test_the_standard_library_knows_the_fields() -> None:
    assert dataclasses.asdict(Ours(name="a")) == dataclasses.asdict(Theirs(name="a"))
    assert Ours.__match_args__ == Theirs.__match_args__
    assert dataclasses.replace(Ours(name="a"), number=4) == Ours(name="a", number=4)
    assert not hasattr(Ours(name="a"), "__dict__")


def test_a_class_keeps_its_own_methods() -> None:
    assert repr(WithMethods(1)) == "a text of its own"
    assert (WithMethods(1), hash(WithMethods(1))) == (WithMethods(2), 7)


def test_a_derived_class_has_the_fields_of_both() -> None:
    assert repr(Derived(number=1)) == "Derived(number=1, more=1)"
    assert Derived(number=1) == Derived(number=1, more=1) != Derived(number=1, more=2)


def test_a_value_that_holds_itself_has_a_text() -> None:
    values: list[object] = []
    values.append(One(values))

    assert "..." in repr(values[0])


def test_a_class_that_is_not_frozen_is_the_standard_one() -> None:
    value = Mutable(1)
    value.number = 2

    assert value == Mutable(2)


def test_a_class_that_checks_its_values_does_so() -> None:
    assert Checked(1).number == 1
    with pytest.raises(ValueError, match="below 0"):
        Checked(-1)
