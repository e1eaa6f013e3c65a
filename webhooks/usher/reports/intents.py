"""Writes intents of mutations for people: the value and its place."""

from typing import Final

from usher import model, paths
from usher.fixing import rendering
from usher.policy.mutation import strategies
from usher.scan import findings

_PAIRS: Final = (("key", "value"), ("setting", "value"), ("name", "value"), ("name", "amount"))
"""Keys of values that people write as `name=value`."""


_PARTS: Final = {"containers": ("initContainers", "containers"), "volumes": ("volumes",)}
"""The lists of a recipe, by the usual word for their entries."""


def field(intent: model.Intent) -> str:
    return strategies.WORDS[intent.field]


def place(intent: model.Intent, change: findings.Change) -> str:
    """The pod set or container of an intent; empty for the object itself."""
    if intent.field in strategies.ON_OBJECT:
        return ""
    return change.places.get(intent.at, paths.readable(intent.at))


def where(intent: model.Intent, change: findings.Change) -> str:
    """`toleration of Worker`."""
    named = place(intent, change)
    return f"{field(intent)} of {named}" if named else field(intent)


def value(intent: model.Intent) -> str:
    """The intended value, short."""
    wanted = intent.value
    if not isinstance(wanted, dict):
        return str(wanted)
    if intent.field == "mount":
        return _mount(wanted)
    if intent.field == "recipe":
        return _recipe(wanted)
    for name, content in _PAIRS:
        if set(wanted) == {name, content}:
            return f"{wanted[name]}={_short(wanted[content])}"
    if "name" in wanted:
        return str(wanted["name"])
    return " ".join(f"{key}={_short(wanted[key])}" for key in sorted(wanted, key=rendering.rank))


def _short(content: paths.Json) -> str:
    if isinstance(content, list):
        return ",".join(str(each) for each in content)
    return str(content)


def _recipe(wanted: paths.Object) -> str:
    """The names of its containers and volumes."""
    found = wanted.get("recipe")
    lists = found if isinstance(found, dict) else {}
    parts = {
        noun: [str(each["name"]) for field in fields for each in _named(lists.get(field))]
        for noun, fields in _PARTS.items()
    }
    return ", ".join(f"{noun} {' '.join(names)}" for noun, names in parts.items() if names)


def _named(content: paths.Json) -> list[paths.Object]:
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _mount(wanted: paths.Object) -> str:
    """The volume, its mount path and the variable with that path."""
    volume, variable = wanted.get("volume"), wanted.get("variable")
    kind = next((key for key in volume if key != "name"), "") if isinstance(volume, dict) else ""
    named = f", {variable.get('name')}={variable.get('value')}" if isinstance(variable, dict) else ""
    return f"{kind} at {wanted.get('mountPath')}{named}"
