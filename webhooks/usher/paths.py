"""JSON objects and RFC 6901 JSON Pointers, which give the places of findings and patches."""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

# Any JSON value, as orjson and usher's YAML reader return it.
if TYPE_CHECKING:
    Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
else:
    Json = Any  # msgspec reads no alias that names itself

Object = dict[str, Json]
"""A JSON object: a manifest, or a part of one."""

ROOT = ""

_EMPTY: Final[Mapping[str, Json]] = MappingProxyType({})

# RFC 6901 allows only this spelling of an index. No list needs more than nine digits.
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
"""A label of RFC 1123: the form of a namespace's name, and of each part of a host name."""

NAMESPACE_NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label with its name that Kubernetes gives every namespace."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


def metadata(value: Object) -> Mapping[str, Json]:
    """The `metadata` of a Kubernetes object; empty where it is missing or not an object."""
    found = value.get("metadata")
    return found if isinstance(found, dict) else _EMPTY


def controller_reference(value: Object) -> Object:
    """The reference of a Kubernetes object to its controlling owner; empty without one. Any user can write one."""
    references = metadata(value).get("ownerReferences")
    for each in references if isinstance(references, list) else ():
        if isinstance(each, dict) and each.get("controller") is True and text(each.get("uid")):
            return each
    return {}


def text(value: object) -> str:
    """The value if it is a text, otherwise the empty text."""
    return value if isinstance(value, str) else ""


def mapping(value: Json) -> Object:
    """The value if it is a JSON object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def elements(value: object) -> list[Json]:
    """The value if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def given(**fields: object) -> Any:  # noqa: ANN401 - fields of any shape
    """An object with the fields that say something, and without those that are None, False, zero or empty."""
    return {name: value for name, value in fields.items() if value}


def escape(key: str) -> str:
    """A key in the spelling of pointers: `a/b` becomes `a~1b`."""
    if "~" in key or "/" in key:
        return key.replace("~", "~0").replace("/", "~1")
    return key


def join(pointer: str, *keys: str | int) -> str:
    """The pointer to the value at `keys` below `pointer`."""
    return pointer + "".join(f"/{escape(key) if isinstance(key, str) else key}" for key in keys)


def split(pointer: str) -> list[str]:
    """The unescaped keys of a pointer, outermost first."""
    if not pointer:
        return []
    keys = pointer.removeprefix("/").split("/")
    return [key.replace("~1", "/").replace("~0", "~") for key in keys] if "~" in pointer else keys


def resolve(document: Json, pointer: str) -> Json:
    """The value at `pointer`.

    Raises:
        LookupError: the document has no value there.
    """
    value = document
    for key in split(pointer):
        if isinstance(value, list):
            if _INDEX.fullmatch(key) is None:
                raise LookupError(pointer)
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value[key]
        else:
            raise LookupError(pointer)
    return value


def exists(document: Json, pointer: str) -> bool:
    """Whether the document has a value at `pointer`."""
    try:
        resolve(document, pointer)
    except LookupError:
        return False
    return True


def readable(pointer: str) -> str:
    """The pointer as a field path: `spec.containers[0].env`, `metadata.labels["a/b"]`.

    Keys that could mislead a reader are quoted and escaped as in JSON.
    """
    return "".join(_readable_parts(pointer)).lstrip(".") or "."


def _readable_parts(pointer: str) -> Iterator[str]:
    for key in split(pointer):
        if _INDEX.fullmatch(key):
            yield f"[{key}]"
        elif _PLAIN_KEY.fullmatch(key):
            yield f".{key}"
        else:
            yield f"[{json.dumps(key)}]"
