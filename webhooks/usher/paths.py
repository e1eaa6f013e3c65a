"""Places in an object, as RFC 6901 JSON Pointers: what findings point at, what patches change."""

from collections.abc import Iterator

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
"""Any JSON value as orjson and our YAML reader give it."""

Object = dict[str, Json]
"""A JSON object: a manifest, or a part of one."""

ROOT = ""


def escape(key: str) -> str:
    """One key as it stands inside a pointer: `a/b` becomes `a~1b`."""
    if "~" in key or "/" in key:
        return key.replace("~", "~0").replace("/", "~1")
    return key


def join(pointer: str, *keys: str | int) -> str:
    """The pointer to what lies under `keys` below `pointer`."""
    return pointer + "".join(f"/{escape(key) if isinstance(key, str) else key}" for key in keys)


def split(pointer: str) -> list[str]:
    """The unescaped keys of a pointer, outermost first."""
    if not pointer:
        return []
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer[1:].split("/")]


def resolve(document: Json, pointer: str) -> Json:
    """The value at `pointer`.

    Raises:
        LookupError: nothing is there.
    """
    value = document
    for key in split(pointer):
        if isinstance(value, list):
            if not key.isdecimal():
                raise LookupError(pointer)
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value[key]
        else:
            raise LookupError(pointer)
    return value


def readable(pointer: str) -> str:
    """The pointer as people write field paths: `spec.containers[0].env`, `metadata.labels["a/b"]`."""
    return "".join(_readable_parts(pointer)).lstrip(".") or "."


def _readable_parts(pointer: str) -> Iterator[str]:
    for key in split(pointer):
        if key.isdecimal():
            yield f"[{key}]"
        elif "." in key or "/" in key:
            yield f'["{key}"]'
        else:
            yield f".{key}"
