"""Objects that a schema takes, and objects that break one of its limits: both made at random, from the schema alone."""

import copy
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from e2e.cluster import Object

_TEXTS: Final = (
    *("a", "a1", "x-y", "v1", "Abc", "none", "main", "Always", "GET", "*"),
    *("10%", "1h", "30s", "1Gi", "500m", "0.5", "1", "12:30", "1.2.3", "10MB"),
    *("/", "/x", "a.b", "a.b/c", "a/v1", "nvidia.com/gpu", "kubernetes.io/hostname"),
    *("http://a.b", "https://a.b/c", "hf://m", "pvc://c/m"),
)
_FORMATS: Final = {"date-time": "2026-01-01T00:00:00Z", "byte": "YQ==", "duration": "1h", "uri": "http://a.b"}
_OF_OBJECTS: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def _fits(schema: Object, text: str) -> bool:
    try:
        matches = not schema.get("pattern") or re.search(schema["pattern"], text)
    except re.error:  # another syntax than that of Python
        return True
    return bool(matches) and schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 999)


class SchemaObjects:
    """Makes values of schemas by one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def value(self, schema: Object, depth: int = 0) -> Any:
        """A value that breaks no limit, except that numbers may be below a limit of 0; rules it may break."""
        chance = self._chance
        if schema.get("enum"):
            return chance.choice(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return chance.choice([1, 3, *(each for each in ("1", "10%", "1Gi") if _fits(schema, each))])
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._list(schema, depth)
        if kind == "string":
            known = [each for each in _TEXTS if _fits(schema, each)]
            return _FORMATS.get(schema.get("format", "")) or (chance.choice(known) if known else "a")
        if kind in ("integer", "number"):
            least = int(schema.get("minimum", 0))
            return chance.randint(least, int(min(schema.get("maximum", least + 5), least + 9)))
        return chance.random() < 0.5 if kind == "boolean" else {}

    def _object(self, schema: Object, depth: int) -> Object:
        chance, required = self._chance, schema.get("required", ())
        found = {
            name: self.value(each, depth + 1)
            for name, each in schema.get("properties", {}).items()
            if (depth or name not in _OF_OBJECTS) and (name in required or chance.random() < 0.4 / (1 + depth * 0.35))
        }
        every = schema.get("additionalProperties")
        if isinstance(every, dict):
            number = max(chance.randint(0, 2), schema.get("minProperties", 0))
            found |= {f"key{index}": self.value(every, depth + 1) for index in range(number)}
        return found

    def _list(self, schema: Object, depth: int) -> list[Any]:
        number = min(max(schema.get("minItems", 0), self._chance.randint(0, 3)), schema.get("maxItems", 3))
        keys = schema.get("x-kubernetes-list-map-keys")
        alone = schema.get("x-kubernetes-list-type") in ("map", "set")
        found = dict[str, Any]()
        for index in range(number):
            each = self.value(schema["items"], depth + 1)
            found[str([each.get(key) for key in keys] if keys else each if alone else index)] = each
        return [*found.values()]

    def damage(self, value: Object, schema: Object) -> bool:
        """Breaks one limit of a value at a place of chance; False if it has no limit."""
        places = list[Callable[[], object]]()
        for name in value:
            if name not in _OF_OBJECTS:
                self._gather(value[name], schema["properties"].get(name, {}), value, name, places)
        if places:
            self._chance.choice(places)()
        return bool(places)

    def _gather(self, value: Any, schema: Object, holder: Any, key: Any, places: list[Callable[[], object]]) -> None:
        places += [partial(holder.__setitem__, key, other) for other in _broken(value, schema)]
        every = schema.get("additionalProperties", {})
        known, items = schema.get("properties", {}), schema.get("items", {})
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, each in parts:
            below = items if isinstance(value, list) else known.get(name, every)
            self._gather(each, below if isinstance(below, dict) else {}, value, name, places)


def _broken(value: Any, schema: Object) -> Iterator[Any]:
    """Values in place of another one, and each breaks one limit."""
    if isinstance(value, dict):
        required = [name for name in schema.get("required", ()) if name in value]
        yield from ({other: each for other, each in value.items() if other != name} for name in required)
    elif isinstance(value, list):
        if value and schema.get("x-kubernetes-list-type") in ("map", "set"):
            yield [*value, copy.deepcopy(value[0])]
        if schema.get("minItems"):
            yield []
    elif isinstance(value, str):
        yield from ["Bad value!"] if "pattern" in schema else []
        yield from ["a" * (schema["maxLength"] + 1)] if schema.get("maxLength", 999) < 300 else []
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (schema[name] + beyond for name, beyond in (("minimum", -1), ("maximum", 1)) if name in schema)
