"""Reads fields of `metadata` that identify charges. Each function takes an object of any form."""

from collections.abc import Mapping

from usher import paths


def text(value: paths.Object, field: str) -> str:
    """A field of `metadata`; empty where it is missing or not a text."""
    found = _metadata(value).get(field)
    return found if isinstance(found, str) else ""


def namespace(value: paths.Object) -> str:
    """The namespace of an object; empty for cluster-scoped objects."""
    return text(value, "namespace")


def controller(value: paths.Object) -> Mapping[str, paths.Json] | None:
    """The owner reference of the controller. Any user can write a reference, so it proves nothing."""
    references = _metadata(value).get("ownerReferences")
    for reference in references if isinstance(references, list) else []:
        if isinstance(reference, dict) and reference.get("controller") is True:
            return reference
    return None


def owner_uid(value: paths.Object) -> str:
    """The uid of the controlling owner; empty where the object names no controller."""
    uid = (controller(value) or {}).get("uid")
    return uid if isinstance(uid, str) else ""


def _metadata(value: paths.Object) -> Mapping[str, paths.Json]:
    metadata = value.get("metadata")
    return metadata if isinstance(metadata, dict) else {}
