"""Objects of any kind: their metadata, fields that may be absent, copies that share nothing."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

import orjson

from usher import paths

GPU = "nvidia.com/gpu"

JsonValue = (
    Mapping[str, "JsonValue"] | Sequence["JsonValue"] | paths.Json  # read-only views, so that narrower types fit
)


class Metadata(TypedDict, total=False):
    """The fields of `metadata`; the name and the namespace have defaults."""

    name: str | None
    namespace: str | None
    generate_name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    owner_kind: str
    deletion_timestamp: str


def custom(api_version: str, kind: str, spec: Mapping[str, JsonValue], **metadata: Unpack[Metadata]) -> paths.Object:
    """An object of any kind."""
    return object_of(api_version, kind, as_json(spec), metadata)


def replaced(value: paths.Object, pointer: str, other: paths.Json) -> paths.Object:
    """A copy with something else at a place; the place may be new, what holds it must be there."""
    changed = as_json(value)
    holder_pointer, _, _ = pointer.rpartition("/")
    key = paths.split(pointer)[-1]
    holder = paths.resolve(changed, holder_pointer)
    if isinstance(holder, list):
        holder[int(key)] = other
    elif isinstance(holder, dict):
        holder[key] = other
    else:
        raise LookupError(pointer)
    return changed


def object_of(api_version: str, kind: str, spec: paths.Object, metadata: Metadata) -> paths.Object:
    owner_kind = metadata.get("owner_kind")
    owner = {"apiVersion": "example.com/v1", "kind": owner_kind, "name": "owner", "uid": "1", "controller": True}
    return present(
        apiVersion=api_version,
        kind=kind,
        metadata=present(
            name=metadata.get("name", None if "generate_name" in metadata else "example"),
            generateName=metadata.get("generate_name"),
            namespace=metadata.get("namespace", "ml-research"),
            labels=metadata.get("labels"),
            annotations=metadata.get("annotations"),
            ownerReferences=[owner] if owner_kind else None,
            deletionTimestamp=metadata.get("deletion_timestamp"),
        ),
        spec=spec,
    )


def present(**fields: JsonValue) -> paths.Object:
    return as_json({name: value for name, value in fields.items() if value is not None})


def as_json(value: Mapping[str, JsonValue]) -> paths.Object:
    """A copy as JSON, so that no two objects share a part."""
    result: paths.Object = orjson.loads(orjson.dumps(value))
    return result
