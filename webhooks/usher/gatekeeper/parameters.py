"""Parameters of constraints and the schema of their template: mistakes, and defaults.

The schema is OpenAPI v3 as in a CustomResourceDefinition. A wrong schema refuses nothing: Gatekeeper and the API server
report it when the template is applied.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from usher import paths
from usher.gatekeeper.fields import kind_of

_DEEPEST: Final = 64
"""Levels of a schema that usher reads; deeper ones are ignored."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_WORDS: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}


def problem(value: paths.Json, schema: paths.Json, *, path: str = "spec.parameters") -> str:
    """The first field that does not fit, with the reason; empty if all fit."""
    return next(_problems(value, schema, path, _DEEPEST), "")


def defaulted(value: paths.Json, schema: paths.Json, *, depth: int = _DEEPEST) -> paths.Json:
    """A value with the defaults of the schema for missing fields, and for nulls that the schema does not allow.

    The API server and gator do the same (apiextensions-apiserver, pkg/apiserver/schema/defaulting).
    """
    if not isinstance(schema, dict) or depth == 0:
        return value
    if isinstance(value, list):
        items = schema.get("items")
        return [defaulted(_or_default(item, items), items, depth=depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    known = properties if isinstance(properties, dict) else {}
    made = {name: _or_default(item, known.get(name, others)) for name, item in value.items()}
    for name, inner in known.items():
        if name not in made and isinstance(inner, dict) and inner.get("default") is not None:
            made[name] = inner["default"]
    return {name: defaulted(item, known.get(name, others), depth=depth - 1) for name, item in made.items()}


def _or_default(value: paths.Json, schema: paths.Json) -> paths.Json:
    if value is None and isinstance(schema, dict) and schema.get("nullable") is not True:
        return schema.get("default")
    return value


def _problems(value: paths.Json, schema: paths.Json, path: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth == 0 or (value is None and schema.get("nullable") is True):
        return
    kind = paths.text(schema.get("type"))
    if schema.get("x-kubernetes-int-or-string") is True:
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield f"{path}: must be a whole number or a text, and is {kind_of(value)}"
        return
    if kind in _TYPES and not _is(value, kind):
        yield f"{path}: must be {_WORDS[kind]}, and is {kind_of(value)}"
        return
    yield from _limits(value, schema, path)
    yield from _combined(value, schema, path, depth)
    if isinstance(value, dict):
        yield from _fields(value, schema, path, depth)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, schema.get("items"), f"{path}[{index}]", depth - 1)


def _is(value: paths.Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _fields(value: paths.Object, schema: paths.Object, path: str, depth: int) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            yield f"{path}.{name}: is missing"
    for name, item in value.items():
        inner = known.get(name, schema.get("additionalProperties"))
        yield from _problems(item, inner, f"{path}.{name}", depth - 1)


def _limits(value: paths.Json, schema: paths.Object, path: str) -> Iterator[str]:
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        yield f"{path}: must be one of {', '.join(map(str, allowed))}"[:400]
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum"), schema.get("maximum")
        if isinstance(least, int | float) and (
            value < least or (value == least and schema.get("exclusiveMinimum") is True)
        ):
            yield f"{path}: must be {least} or more"
        if isinstance(most, int | float) and (
            value > most or (value == most and schema.get("exclusiveMaximum") is True)
        ):
            yield f"{path}: must be {most} or less"
    for sized, least_name, most_name, unit in (
        (str, "minLength", "maxLength", "characters"),
        (list, "minItems", "maxItems", "items"),
        (dict, "minProperties", "maxProperties", "fields"),
    ):
        if isinstance(value, sized):
            fewest, greatest = schema.get(least_name), schema.get(most_name)
            if isinstance(fewest, int) and len(value) < fewest:
                yield f"{path}: must have {fewest} {unit} or more"
            if isinstance(greatest, int) and len(value) > greatest:
                yield f"{path}: must have {greatest} {unit} or fewer"
    pattern = schema.get("pattern")
    if isinstance(value, str) and isinstance(pattern, str) and _misses(pattern, value):
        yield f"{path}: must match {pattern:.100}"


def _misses(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is None
    except re.error:
        return False  # Go's syntax, which the API server has checked


def _combined(value: paths.Json, schema: paths.Object, path: str, depth: int) -> Iterator[str]:
    def fitting(name: str) -> list[bool]:
        inner = schema.get(name)
        each = inner if isinstance(inner, list) else []
        return [not next(_problems(value, one, path, depth - 1), "") for one in each]

    if not all(fitting("allOf")):
        yield f"{path}: does not fit every schema of allOf"
    if (found := fitting("anyOf")) and not any(found):
        yield f"{path}: fits no schema of anyOf"
    if (found := fitting("oneOf")) and sum(found) != 1:
        yield f"{path}: must fit one schema of oneOf, and fits {sum(found)}"
    denied = schema.get("not")
    if isinstance(denied, dict) and not next(_problems(value, denied, path, depth - 1), ""):
        yield f"{path}: fits the schema of not"
