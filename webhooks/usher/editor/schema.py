"""The fields and values that usher.yaml allows at a place, from its JSON Schema."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import orjson

from usher.config.models import Config
from usher.dataclass import dataclass

_Node = dict[str, Any]
"""A part of a JSON Schema, as pydantic generates it."""

_DEFINITIONS: Final = "#/$defs/"
_SHOWN_DEFAULT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The field that usher.yaml allows at a place."""

    description: str = ""
    values: tuple[str, ...] = ()
    """All allowed values, if the schema lists them."""
    default: str = ""
    """The default as JSON; empty if there is no default or it is long."""
    required: bool = False
    holds_mapping: bool = False
    holds_list: bool = False


def at(keys: Sequence[str | int]) -> Field | None:
    """The field at keys and indices from the top; None if usher.yaml has no such place."""
    found = _nodes(keys)
    return _field(found) if found else None


def below(keys: Sequence[str | int]) -> dict[str, Field]:
    """The keys of the mapping at a place; empty if the site chooses the keys, or the place holds no mapping."""
    found = dict[str, Field]()
    for node in _nodes(keys):
        required = node.get("required", [])
        for name, child in node.get("properties", {}).items():
            found.setdefault(name, _field(list(_variants(child)), required=name in required))
    return found


def _nodes(keys: Sequence[str | int]) -> list[_Node]:
    found = list(_variants(_whole()))
    for key in keys:
        found = [variant for node in found for child in _children(node, key) for variant in _variants(child)]
    return found


def _children(node: _Node, key: str | int) -> Iterator[_Node]:
    if isinstance(key, int):
        if isinstance(node.get("items"), dict):
            yield node["items"]
        return
    if key in node.get("properties", {}):
        yield node["properties"][key]
        return
    patterns = node.get("patternProperties", {})
    others = node.get("additionalProperties")
    yield from patterns.values()
    if isinstance(others, dict):
        yield others


def _variants(node: _Node) -> Iterator[_Node]:
    """The node with references and alternatives resolved. Keywords beside a reference also apply to its target."""
    beside = {key: value for key, value in node.items() if key not in {"$ref", "anyOf", "oneOf", "allOf"}}
    if "$ref" in node:
        for target in _variants(_whole()["$defs"][node["$ref"].removeprefix(_DEFINITIONS)]):
            yield {**target, **beside}
        return
    alternatives = [each for word in ("anyOf", "oneOf", "allOf") for each in node.get(word, ())]
    if not alternatives:
        yield node
    for each in alternatives:
        if each.get("type") != "null":
            for target in _variants(each):
                yield {**target, **beside}


def _field(nodes: Sequence[_Node], *, required: bool = False) -> Field:
    description = next((str(node["description"]) for node in nodes if node.get("description")), "")
    default = next((_json(node["default"]) for node in nodes if "default" in node), "")
    return Field(
        description=description,
        values=tuple(dict.fromkeys(value for node in nodes for value in _values(node))),
        default=default if len(default) <= _SHOWN_DEFAULT else "",
        required=required,
        holds_mapping=any(node.get("type") == "object" for node in nodes),
        holds_list=any(node.get("type") == "array" for node in nodes),
    )


def _values(node: _Node) -> Iterator[str]:
    if "const" in node:
        yield str(node["const"])
    elif node.get("type") == "boolean":
        yield from ("true", "false")
    yield from (str(value) for value in node.get("enum", ()))


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


@cache
def _whole() -> _Node:
    return Config.model_json_schema(by_alias=True)
