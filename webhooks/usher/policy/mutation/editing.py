"""Edits a copy of an object, records the edits as RFC 6902 operations, and says why an intent changes nothing."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NotRequired, TypeVar

import orjson
from typing_extensions import TypedDict

from usher import errors, model, paths, quantities


class Operation(TypedDict):
    """One RFC 6902 operation. It never replaces a user's value, and removes only values that the API server wrote."""

    op: Literal["add", "remove"]
    path: str
    value: NotRequired[paths.Json]


class Edit:
    """A working copy and the operations so far. The original is never changed."""

    def __init__(self, original: paths.Object) -> None:
        self._original = original
        self.value = original
        """The original until the first change, because mutations leave most objects as they are."""
        self.operations: list[Operation] = []

    def _copy(self) -> None:
        if self.value is self._original:
            self.value = copied(self._original)

    def get(self, pointer: str) -> paths.Json:
        """The value at a pointer; None without one."""
        try:
            return paths.resolve(self.value, pointer)
        except (LookupError, ValueError):
            return None

    def add(self, pointer: str, value: paths.Json) -> None:
        """Adds a value at a free place, and the missing objects above it.

        Raises:
            LookupError: a value on the way is not an object, so it cannot hold the new one.
        """
        self._copy()
        keys = paths.split(pointer)
        parent: paths.Json = self.value
        for depth, key in enumerate(keys[:-1]):
            child = parent.get(key) if isinstance(parent, dict) else paths.resolve(parent, paths.join("", key))
            if child is None:
                # The outermost missing parent is added with all that belongs into it, in one operation.
                for missing in reversed(keys[depth + 1 :]):
                    value = {missing: value}
                self._add(parent, keys[: depth + 1], value)
                return
            parent = child
        self._add(parent, keys, value)

    def append(self, pointer: str, value: paths.Json) -> None:
        """Adds a value to the end of the list at a pointer; adds a missing list first.

        Raises:
            LookupError: the value at the pointer is not a list.
        """
        self._copy()
        existing = self.get(pointer)
        if existing is None:
            self.add(pointer, [value])
        elif isinstance(existing, list):
            existing.append(copied(value))
            self.operations.append({"op": "add", "path": f"{pointer}/-", "value": value})
        else:
            raise LookupError(pointer)

    def remove(self, pointer: str) -> None:
        """Removes a field of an object.

        Raises:
            LookupError: the object above the field does not exist or is not an object.
        """
        self._copy()
        parent_pointer, _, key = pointer.rpartition("/")
        parent = paths.resolve(self.value, parent_pointer)
        if not isinstance(parent, dict):
            raise LookupError(pointer)
        del parent[paths.split(f"/{key}")[0]]
        self.operations.append({"op": "remove", "path": pointer})

    def make(self, way: model.Way) -> str:
        """The pointer to the end of a way. Adds the missing list elements on the way.

        Raises:
            LookupError: a value on the way is not a list.
        """
        pointer = paths.ROOT
        for step in way:
            if isinstance(step, str):
                pointer = paths.join(pointer, step)
                continue
            elements = self.get(pointer)
            found = elements if isinstance(elements, list) else []
            index = next((i for i, each in enumerate(found) if _has(each, step)), len(found))
            if index == len(found):
                self.append(pointer, {step.name: step.value})
            pointer = paths.join(pointer, index)
        return pointer

    def _add(self, parent: paths.Json, keys: list[str], value: paths.Json) -> None:
        pointer = paths.join("", *keys)
        if not isinstance(parent, dict):
            raise LookupError(pointer)
        # A copy, because later edits inside the value must not change this operation or another place.
        parent[keys[-1]] = copied(value)
        self.operations.append({"op": "add", "path": pointer, "value": value})


def repeated(original: paths.Object, operations: Sequence[Operation]) -> paths.Object:
    """A copy of an object with the operations that another edit made in an object like it."""
    if not operations:
        return original
    edit = Edit(original)
    for operation in operations:
        pointer = str(operation["path"])
        if operation["op"] == "remove":
            edit.remove(pointer)
        elif pointer.endswith("/-"):
            edit.append(pointer.removesuffix("/-"), operation["value"])
        else:
            edit.add(pointer, operation["value"])
    return edit.value


def _has(value: paths.Json, keyed: model.Keyed) -> bool:
    return isinstance(value, dict) and value.get(keyed.name) == keyed.value


T = TypeVar("T", bound=paths.Json)


def copied(value: T) -> T:
    """A deep copy; a JSON round trip is several times faster than copy.deepcopy."""
    result: T = orjson.loads(orjson.dumps(value))
    return result


ALREADY_THERE: Final = "it is there already"
USER_DECIDES: Final = "the user set another value"
MATCHES_NOTHING: Final = "its node affinity matches no node at all"
NO_PLACE: Final = "the kind has no place for it"
ELSEWHERE: Final = "the kind keeps the containers of its pods in fields of its own"
SHARED_METADATA: Final = "its pods have their metadata in common with others, which would be given it too"
NOT_CHANGEABLE: Final = (
    "a change here would not reach its pods, or would be refused; the webhook changes the pods when they are made"
)

_DEFAULTS: Final[Mapping[str, paths.Json]] = {"defaultMode": 420, "apiVersion": "v1"}
"""Defaults that the API server adds to volumes and to references in variables."""

_QUANTITIES: Final = frozenset({"sizeLimit"})
"""Fields that hold quantities, which the API server may spell differently from the user."""


def is_same(present: paths.Json, wanted: paths.Json) -> bool:
    """Whether a value equals the wanted one, as a user or the API server would write it."""
    if not isinstance(present, dict) or not isinstance(wanted, dict):
        return present == wanted
    return all(
        _is_same_field(key, present[key], wanted[key])
        if key in present and key in wanted
        else key in present and _DEFAULTS.get(key) == present[key]
        for key in {**present, **wanted}
    )


def _is_same_field(key: str, present: paths.Json, wanted: paths.Json) -> bool:
    if key not in _QUANTITIES:
        return is_same(present, wanted)
    try:
        return quantities.parse(present) == quantities.parse(wanted)
    except errors.QuantityError:
        return False


def set_if_absent(edit: Edit, pointer: str, entries: Mapping[str, paths.Json]) -> str:
    """Sets the entries that an object lacks. An empty text counts as missing, as in the API."""
    existing = edit.get(pointer)
    present = existing if isinstance(existing, dict) else {}
    missing = {key: value for key, value in entries.items() if present.get(key) in (None, "")}
    for key, value in missing.items():
        edit.add(paths.join(pointer, key), value)
    if missing:
        return ""
    return ALREADY_THERE if all(present[key] == value for key, value in entries.items()) else USER_DECIDES


def set_unless_chosen(edit: Edit, pointer: str, value: paths.Json, *, instead: paths.Json = None) -> str:
    """Sets a field that is unset or empty, or that holds the default that Kubernetes writes (`instead`)."""
    current = edit.get(pointer)
    if current == value:
        return ALREADY_THERE
    if current not in (None, "", instead):
        return USER_DECIDES
    edit.add(pointer, value)
    return ""


def list_at(edit: Edit, pointer: str) -> list[paths.Json]:
    """The list at a pointer; empty without one.

    Raises:
        LookupError: the value at the pointer is not a list.
    """
    existing = edit.get(pointer)
    if existing is None:
        return []
    if not isinstance(existing, list):
        raise LookupError(pointer)
    return existing


def entry_named(entries: list[paths.Json], key: str, value: paths.Json) -> paths.Object | None:
    """The entry of a list that has a value under a key."""
    return next((each for each in entries if isinstance(each, dict) and each.get(key) == value), None)
