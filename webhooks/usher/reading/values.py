"""Reading manifests that may hold anything: whatever has the wrong type is recorded as unknown, never guessed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from usher import errors, model, paths, quantities
from usher.reading import lookup

if TYPE_CHECKING:
    from usher.kinds.kind import Kind
    from usher.workloads.claim_specs import Claim

MAX_DEPTH: Final = 4
"""Workloads in workloads; an AppWrapper in an AppWrapper in an AppWrapper is none that anybody means."""

MAX_PODS = 10_000_000
"""More pods than any cluster holds: a count beyond it is a mistake, and would only make totals absurd."""

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
    """Collects what could not be read while one object is normalised, and looks up what it refers to."""

    __slots__ = ("_depth", "_objects", "claims", "kinds", "named", "namespace", "unknowns")

    def __init__(
        self,
        *,
        namespace: str = "",
        objects: lookup.Lookup = lookup.NOTHING,
        kinds: "Mapping[tuple[str, str], Kind]" = MappingProxyType({}),
        depth: int = 0,
    ) -> None:
        self.unknowns: list[model.Unknown] = []
        self.namespace = namespace
        """Where names are looked up that come without a namespace."""
        self.kinds = kinds
        """The kinds that are known, for objects inside this one."""
        self.named: dict[str, lookup.Reference] = {}
        """Which objects names stand for, by the path of the name."""
        self.claims: dict[lookup.Reference, Claim] = {}
        """What the device claims ask for that have been read: many templates may name one."""
        self._objects = objects
        self._depth = depth

    def inside(self) -> "Reading":
        """A reading of an object inside this one, whose unknowns are its own; in too deep a one no kind is known."""
        deeper = self._depth + 1
        return Reading(
            namespace=self.namespace,
            objects=self._objects,
            kinds=self.kinds if deeper < MAX_DEPTH else MappingProxyType({}),
            depth=deeper,
        )

    def stands_for(self, path: str, reference: lookup.Reference) -> None:
        """The parts of an object count as standing below the text that names it, where nothing else can stand.

        What is wrong with one of them is told at the name.
        """
        self.named[path] = reference

    def unknown(self, path: str, reason: str) -> None:
        holder = path if self.named else paths.ROOT
        while holder:
            holder = holder.rpartition("/")[0]
            if holder in self.named:
                within = paths.readable(path.removeprefix(holder))
                path, reason = holder, f"{self.named[holder]}, {within}: {reason}"
        self.unknowns.append(model.Unknown(path=path, reason=reason))

    def also_unknown(self, path: str, reason: str) -> None:
        """As `unknown`, for a place that is read twice: what has been told there is enough."""
        if all(known.path != path for known in self.unknowns):
            self.unknown(path, reason)

    def found(self) -> tuple[model.Unknown, ...]:
        """What could not be read, each once: some places are read for several ends."""
        return tuple(dict.fromkeys(self.unknowns))

    def referenced(self, reference: lookup.Reference, path: str, *, for_want: str) -> paths.Object | None:
        """The object that stands behind a name at a path; None and recorded where it is not to be had.

        Args:
            reference: the object.
            path: where it is named.
            for_want: what therefore cannot be told, as in `its pods are not judged`.
        """
        found = self._objects.find(reference)
        if isinstance(found, lookup.Absence):
            self.unknown(path, f"{reference} {found.value}: {for_want}")
            return None
        return found

    def mapping(self, value: object, path: str) -> Mapping[str, paths.Json]:
        """The value as an object; empty when it is missing or something else."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(path, f"expected an object, found {_type_name(value)}")
        return _EMPTY

    def sequence(self, value: object, path: str) -> Sequence[paths.Json]:
        """The value as a list; empty when it is missing or something else."""
        if isinstance(value, list):
            return value
        if value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")
        return ()

    def items(self, value: object, path: str) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
        """The objects of a list, each with its path; whatever is no object is left out and recorded."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                item_path = f"{path}/{index}"
                if isinstance(item, dict):
                    yield item_path, item
                else:
                    self.no_object(item, item_path)
        elif value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")

    def no_object(self, item: object, path: str) -> None:
        """Records an item that had to be an object and is none; not even null may stand in a list."""
        self.unknown(path, f"expected an object, found {_type_name(item)}")

    def entries(self, value: object, path: str) -> Iterator[tuple[str, str, Mapping[str, paths.Json]]]:
        """The objects of an object, each with its path and key; whatever is no object is left out and recorded."""
        for key, entry in self.mapping(value, path).items():
            entry_path = paths.join(path, key)
            if isinstance(entry, dict):
                yield entry_path, key, entry
            else:
                self.unknown(entry_path, f"expected an object, found {_type_name(entry)}")

    def strings(self, value: object, path: str) -> Mapping[str, str]:
        """Labels, annotations, a node selector: an object of strings, in which null is the empty one, as in Go."""
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
        """The strings of a list; whatever is none is left out and recorded."""
        if value is not None and not isinstance(value, list):
            self.unknown(path, f"expected a list, found {_type_name(value)}")
        items = value if isinstance(value, list) else []
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self.unknown(f"{path}/{index}", _not_a_string(item))
        return tuple(item for item in items if isinstance(item, str))

    def flag(self, value: object, path: str) -> bool:
        """A boolean; false when it is missing or something else."""
        if value is not None and not isinstance(value, bool):
            self.unknown(path, f"expected true or false, found {_type_name(value)}")
        return value is True

    def count(self, value: object, path: str, *, default: int, of: str = "pods") -> int:
        """A number of pods, or of what `of` says; the default stands for a missing or unusable one."""
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
        """`requests` or `limits`; what is no quantity of a resource is left out and recorded.

        A negative one in one container would otherwise hide what another asks for.
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
