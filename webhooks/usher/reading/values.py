"""Reads manifests of any content. Values of a wrong type are recorded as unknown, never guessed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from usher import errors, model, paths, quantities
from usher.reading import context as reading_context
from usher.reading import lookup
from usher.reading.context import Context

MAX_PODS = 10_000_000
"""More pods than any cluster holds: a larger count is a mistake and would distort totals."""

_EMPTY: Mapping[str, paths.Json] = {}

_TYPE_NAMES: Mapping[type, str] = {
    type(None): "null",
    bool: "a boolean",
    str: "a string",
    int: "a number",
    float: "a decimal number",
    list: "a list",
    dict: "an object",
}

_parse_quantity = lru_cache(maxsize=4096)(quantities.parse)


class Reading:
    """Typed values of one object; collects unreadable parts, and looks up objects that the object refers to."""

    __slots__ = ("context", "references", "unknowns")

    def __init__(self, context: Context = reading_context.NOWHERE) -> None:
        self.unknowns: list[model.Unknown] = []
        self.context = context
        self.references: dict[str, lookup.Reference] = {}
        """The objects that names refer to, by the path of the name."""

    def record_reference(self, path: str, reference: lookup.Reference) -> None:
        """Gives the parts of a referenced object paths below the text that names it.

        Problems in these parts are reported at the name.
        """
        self.references[path] = reference

    def unknown(self, path: str, reason: str) -> None:
        holder = path if self.references else paths.ROOT
        while holder:
            holder = holder.rpartition("/")[0]
            if holder in self.references:
                within = paths.readable(path.removeprefix(holder))
                path, reason = holder, f"{self.references[holder]}, {within}: {reason}"
        self.unknowns.append(model.Unknown(path=path, reason=reason))

    def unknown_once(self, path: str, reason: str) -> None:
        """Records an unknown for a place that is read twice: one reason for each path is enough."""
        if all(known.path != path for known in self.unknowns):
            self.unknown(path, reason)

    def found(self) -> tuple[model.Unknown, ...]:
        """The unreadable parts, each once, because some places are read several times."""
        return tuple(dict.fromkeys(self.unknowns))

    def look_up(self, reference: lookup.Reference, path: str, *, consequence: str) -> paths.Object | None:
        """The object that a name at a path refers to; None, and recorded as unknown, if it cannot be found.

        Args:
            reference: the object.
            path: the path of the name.
            consequence: the effect for the message, as in `its pods are not judged`.
        """
        found = self.context.objects.find(reference)
        if isinstance(found, lookup.Absence):
            self.unknown(path, f"{reference} {found.value}: {consequence}")
            return None
        return found

    def mapping(self, value: object, path: str) -> Mapping[str, paths.Json]:
        """The value as an object; empty for other values."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(path, f"expected an object, found {_type_name(value)}")
        return _EMPTY

    def descend(self, value: Mapping[str, paths.Json], pointer: str) -> Mapping[str, paths.Json]:
        """The object at a pointer of keys; empty where it is missing."""
        path = paths.ROOT
        for key in paths.split(pointer):
            path = paths.join(path, key)
            value = self.mapping(value.get(key), path)
        return value

    def sequence(self, value: object, path: str) -> Sequence[paths.Json]:
        """The value as a list; empty for other values."""
        if isinstance(value, list):
            return value
        if value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")
        return ()

    def items(self, value: object, path: str) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
        """The objects of a list, each with its path; other items are recorded and left out."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                item_path = f"{path}/{index}"
                if isinstance(item, dict):
                    yield item_path, item
                else:
                    self.not_an_object(item, item_path)
        elif value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")

    def not_an_object(self, item: object, path: str) -> None:
        """Records an item that is not an object; even null is wrong in a list."""
        self.unknown(path, f"expected an object, found {_type_name(item)}")

    def entries(self, value: object, path: str) -> Iterator[tuple[str, str, Mapping[str, paths.Json]]]:
        """The objects of an object, each with its path and key; other items are recorded and left out."""
        for key, entry in self.mapping(value, path).items():
            entry_path = paths.join(path, key)
            if isinstance(entry, dict):
                yield entry_path, key, entry
            else:
                self.unknown(entry_path, f"expected an object, found {_type_name(entry)}")

    def strings(self, value: object, path: str) -> Mapping[str, str]:
        """An object of strings, for example labels, annotations or a node selector; null counts as empty, as in Go."""
        if value is None:
            return {}
        entries = self.mapping(value, path)
        result = {}
        for key, entry in entries.items():
            if isinstance(entry, str):
                result[key] = entry
            elif entry is None:
                result[key] = ""
            else:
                self.unknown(paths.join(path, key), _not_a_string(entry))
        return result

    def text(self, value: object, path: str) -> str:
        if isinstance(value, str):
            return value
        if value is not None:
            self.unknown(path, _not_a_string(value))
        return ""

    def texts(self, value: object, path: str) -> tuple[str, ...]:
        """The strings of a list; other items are recorded and left out."""
        if value is not None and not isinstance(value, list):
            self.unknown(path, f"expected a list, found {_type_name(value)}")
        items = value if isinstance(value, list) else []
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self.unknown(f"{path}/{index}", _not_a_string(item))
        return tuple(item for item in items if isinstance(item, str))

    def flag(self, value: object, path: str) -> bool:
        """A boolean; false for other values."""
        if value is not None and not isinstance(value, bool):
            self.unknown(path, f"expected true or false, found {_type_name(value)}")
        return value is True

    def count(self, value: object, path: str, *, default: int, of: str = "pods") -> int:
        """A number of pods, or of the things that `of` names; the default replaces a missing or unusable one."""
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.unknown(path, f"expected a whole number, found {_type_name(value)}")
            return default
        if not 0 <= value <= MAX_PODS:
            self.unknown(path, f"expected a number of {of} from 0 to {MAX_PODS}")
            return default
        return value

    def resources(self, value: object, path: str) -> dict[str, quantities.Quantity]:
        """`requests` or `limits`; values that are not quantities are recorded and left out.

        Negative quantities are left out too: in a sum they would hide the request of another container.
        """
        result = {}
        for name, text in self.mapping(value, path).items():
            try:
                # Only texts are cached: to the cache 1, 1.0 and True are the same key.
                quantity = _parse_quantity(text) if isinstance(text, str) else quantities.parse(text)
            except errors.QuantityError as error:
                self.unknown(paths.join(path, name), str(error))
                continue
            if quantity.nanos < 0:
                self.unknown(paths.join(path, name), f"{quantity} is negative; no resource is")
            else:
                result[name] = quantity
        return result


def _type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def _not_a_string(value: object) -> str:
    remedy = "; quote it" if isinstance(value, bool | int | float) else ""
    return f"expected a string, found {_type_name(value)}{remedy}"
