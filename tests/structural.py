"""Whether an API server would take an object for what its definition (CRD) says, and drop nothing of it."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import yaml

import kind_definitions
from usher import paths

_ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
_OF_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata"})


@cache
def _schemas(group: str, plural: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The schemas of a kind by apiVersion and kind; empty where nothing defines it. Reading can take a second."""
    file = kind_definitions.file_of(group, plural)
    if file is None:
        return {}
    spec: Any = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)["spec"]
    return {
        (f"{spec['group']}/{version['name']}", spec["names"]["kind"]): version["schema"]["openAPIV3Schema"]
        for version in spec["versions"]
    }


def problems(value: paths.Object, plural: str) -> list[str]:
    """The refused or dropped values of an object, each with its path.

    Raises:
        KeyError: nothing defines the kind `plural` in the version of the object.
    """
    group = str(value["apiVersion"]).partition("/")[0]
    schema = _schemas(group, plural)[str(value["apiVersion"]), str(value["kind"])]
    found = jsonschema.Draft202012Validator(_as_json_schema(schema)).iter_errors(value)
    refused = [f"{paths.join('', *error.absolute_path)}: {error.message[:200]}" for error in found]
    return refused + [f"{path}: would be dropped" for path in _dropped(value, schema, "")]


def _as_json_schema(schema: Any) -> Any:
    """OpenAPI says of null beside the type what JSON Schema says in it."""
    if isinstance(schema, list):
        return [_as_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {key: _as_json_schema(child) for key, child in schema.items() if key not in {"format", "nullable"}}
    if schema.get("nullable") is True and "type" in converted:
        converted["type"] = [converted["type"], "null"]
        converted.pop("enum", None)
    return converted


def _dropped(value: paths.Json, schema: dict[str, Any], path: str) -> Iterator[str]:
    free = schema.get("x-kubernetes-preserve-unknown-fields", False)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _dropped(item, schema.get("items", _ANYTHING if free else {}), paths.join(path, index))
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    is_object = not path or schema.get("x-kubernetes-embedded-resource", False)
    for key, child in value.items():
        below = paths.join(path, key)
        if is_object and key in _OF_EVERY_OBJECT:
            continue
        if key in known:
            yield from _dropped(child, known[key], below)
        elif isinstance(others, dict):
            yield from _dropped(child, others, below)
        elif not free and others is not True:
            yield below
