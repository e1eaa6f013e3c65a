"""Typed reading of the objects of a policy: every error names the file, the line of the object, and the field."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from usher import errors, paths
from usher.dataclass import dataclass

NO_FIELDS: Final[Mapping[str, paths.Json]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One object of a file, and the line of its start."""

    value: paths.Object
    source: str
    """File name as the user wrote it."""
    line: int = 0
    """First line of its document; 0 where unknown."""

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source

    def wrong(self, field: str, reason: str) -> errors.InputError:
        """The error for a field."""
        return errors.InputError(f"{self.place}: {field}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of a mapping within an object. A missing field and null are the same."""

    written: Written
    path: str
    """Path of the mapping; empty for the object itself."""
    values: Mapping[str, paths.Json]

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, name: str, reason: str) -> errors.InputError:
        return self.written.wrong(self.at(name), reason)

    def get(self, name: str) -> paths.Json:
        return self.values.get(name)

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, f"must be a text, and is {kind_of(value)}")
        return value

    def required(self, name: str) -> str:
        """A text that is not empty."""
        value = self.text(name)
        if not value:
            raise self.wrong(name, "is missing")
        return value

    def mapping(self, name: str) -> "Fields":
        """The mapping in a field; without fields where it is missing."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(name, f"must be a mapping, and is {kind_of(value)}")
        return Fields(written=self.written, path=self.at(name), values=NO_FIELDS if value is None else value)

    def items(self, name: str, *, most: int) -> "list[paths.Json]":
        """The list in a field; empty where it is missing."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(name, f"must be a list, and is {kind_of(value)}")
        if len(value) > most:
            raise self.wrong(name, f"has {len(value)} items; usher takes {most} at most")
        return value

    def mappings(self, name: str, *, most: int) -> "list[Fields]":
        """The mappings of a list."""
        found = []
        for index, value in enumerate(self.items(name, most=most)):
            if not isinstance(value, dict):
                raise self.wrong(f"{name}[{index}]", f"must be a mapping, and is {kind_of(value)}")
            found.append(Fields(written=self.written, path=self.at(f"{name}[{index}]"), values=value))
        return found

    def texts(self, name: str, *, most: int) -> tuple[str, ...]:
        """The texts of a list."""
        items = self.items(name, most=most)
        for index, value in enumerate(items):
            if not isinstance(value, str):
                raise self.wrong(f"{name}[{index}]", f"must be a text, and is {kind_of(value)}")
        return tuple(value for value in items if isinstance(value, str))


def top(written: Written) -> Fields:
    """The fields of the object itself."""
    return Fields(written=written, path="", values=written.value)


def group_and_kind(value: paths.Object) -> tuple[str, str]:
    """API group and kind; each empty where it is missing or not a text."""
    group, slash, _ = paths.text(value.get("apiVersion")).rpartition("/")
    return (group if slash else ""), paths.text(value.get("kind"))


def kind_of(value: paths.Json) -> str:
    """The kind of a value in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
