"""Changes of an object as small steps, and how to apply them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.policy.mutation import editing


class Action(Enum):
    SET = auto()
    """Sets a field, and makes missing mappings above it."""
    APPEND = auto()
    """Adds an item to a list, and makes a missing list and missing mappings above it."""
    REMOVE = auto()
    """Removes a field or an item."""
    PRUNE = auto()
    """Removes it, and also the mapping or list that held it if that becomes empty."""


_MAKING: Final = (Action.SET, Action.APPEND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    action: Action
    pointer: str
    """The place; for an appended item, the place of its list."""
    value: paths.Json = None


def of_operation(operation: editing.Operation) -> tuple[Step, ...]:
    """The steps of an RFC 6902 operation of a mutation.

    The first of several operations includes the missing mappings above its value. A step only has the value itself, so
    it works without the other operations.
    """
    pointer = operation["path"]
    if operation["op"] == "remove":
        return (Step(action=Action.REMOVE, pointer=pointer),)
    if pointer.endswith("/-"):
        return (Step(action=Action.APPEND, pointer=pointer.removesuffix("/-"), value=operation.get("value")),)
    return tuple(_setting(pointer, operation.get("value")))


def _setting(pointer: str, value: paths.Json) -> Iterator[Step]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _setting(paths.join(pointer, key), each)
    elif isinstance(value, list) and value:
        for each in value:
            yield Step(action=Action.APPEND, pointer=pointer, value=each)
    else:
        yield Step(action=Action.SET, pointer=pointer, value=value)


def taken(value: paths.Object, steps: Iterable[Step]) -> tuple[paths.Object, tuple[str, ...]]:
    """A copy of the object after the steps, and the pointer that each one changed.

    Raises:
        LookupError: a step does not fit the object.
    """
    copy = editing.copied(value)
    return copy, tuple(_take(copy, step) for step in steps)


def overlap(one: str, other: str) -> bool:
    """Whether one of two pointers leads to the other, or both to the same place."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _take(value: paths.Object, step: Step) -> str:
    parent = _parent(value, step)
    last = paths.split(step.pointer)[-1]
    if isinstance(parent, list):
        paths.resolve(parent, paths.join(paths.ROOT, last))
    if step.action is Action.APPEND:
        if isinstance(parent, dict) and parent.get(last) is None:
            parent[last] = []
        found = paths.resolve(parent, paths.join(paths.ROOT, last))
        if not isinstance(found, list):
            raise LookupError(step.pointer)
        found.append(editing.copied(step.value))
        return paths.join(step.pointer, len(found) - 1)
    if step.action is Action.SET:
        if isinstance(parent, dict):
            parent[last] = editing.copied(step.value)
        else:
            parent[int(last)] = editing.copied(step.value)
        return step.pointer
    if isinstance(parent, dict):
        del parent[last]
    else:
        del parent[int(last)]
    above = step.pointer.rpartition("/")[0]
    if step.action is Action.PRUNE and not parent and above:
        return _take(value, Step(action=Action.REMOVE, pointer=above))
    return step.pointer


def _parent(value: paths.Object, step: Step) -> paths.Object | list[paths.Json]:
    found: paths.Json = value
    for key in paths.split(step.pointer)[:-1]:
        if isinstance(found, dict) and step.action in _MAKING and found.get(key) is None:
            found[key] = {}
        found = paths.resolve(found, paths.join(paths.ROOT, key))
    if not isinstance(found, dict | list):
        raise LookupError(step.pointer)
    return found


def spelt_like_limits(step: Step, before: paths.Object) -> Step:
    """The step with the amount of a request spelt like its limit: 8 if the limit is 8, and not "8"."""
    keys = paths.split(step.pointer)
    if keys[-2:-1] != ["requests"] or step.action is not Action.SET:
        return step
    try:
        limit = paths.resolve(before, paths.join(paths.ROOT, *keys[:-2], "limits", keys[-1]))
    except LookupError:
        return step
    alike = isinstance(limit, int) and not isinstance(limit, bool) and str(limit) == step.value
    return replace(step, value=limit) if alike else step
