"""Recognises files that hold the output of a program but no complete objects: an error, a table, one page of a list."""

import re
from typing import Final

from usher import paths

_META: Final = "meta.k8s.io/"
_WORDS: Final = 200
"""The most characters of a message that are shown."""

_ARCHIVES: Final = (
    (
        0,
        b"\x1f\x8b",
        "compressed; unpack it with gunzip, or a .tar.gz with tar -xzf. A snapshot of usher is for --facts",
    ),
    (0, b"\x28\xb5\x2f\xfd", "compressed; unpack it with unzstd"),
    (0, b"BZh", "compressed; unpack it with bunzip2"),
    (0, b"\xfd7zXZ", "compressed; unpack it with unxz"),
    (0, b"PK\x03\x04", "a ZIP archive; unpack it with unzip"),
    (257, b"ustar", "a tar archive; unpack it with tar -xf"),
)
"""The bytes that identify a type of file, their offset, and the remedy."""

_TEXTS: Final = (
    (re.compile(rb"(?:NAMESPACE|NAME) {2,}[A-Z]"), "the table that kubectl shows"),
    (re.compile(rb"Name: {6,}\S.*\n(?:Namespace|Labels|Roles): {2,}"), "the text of kubectl describe"),
    (
        re.compile(rb"Error from server|(?:The connection|Unable to connect) to the server|error: .*\n?\Z"),
        "an error of kubectl",
    ),
)
"""How these outputs begin. A YAML file may begin with `error:` or `Name:` too, as translations do, but it has more
lines.
"""
_REMEDY: Final = "and no objects; write them with kubectl get -o json or -o yaml"


def why_no_text(content: bytes) -> str:
    """Why a file cannot hold manifests: it is packed, or kubectl printed it for people; else empty."""
    for start, magic, reason in _ARCHIVES:
        if content.startswith(magic, start):
            return reason
    for pattern, name in _TEXTS:
        if pattern.match(content):
            return f"{name}, {_REMEDY}"
    return ""


def why_no_objects(value: paths.Json) -> str:
    """Why a document holds no objects although an API server sent it; empty for any other document."""
    if not isinstance(value, dict):
        return ""
    kind, version, items = value.get("kind"), paths.text(value.get("apiVersion")), value.get("items")
    if kind is None and version and isinstance(items, list) and any(map(_is_object, items)):
        return "a List without its kind, which kubectl writes at its end: the file was cut off; write it again"
    if kind == "Status" and version == "v1":
        return f"an answer of the API server, and no objects: {_excerpt(value.get('message'))}"
    if version.startswith(_META):
        name = "the table that kubectl shows" if kind == "Table" else "the metadata of objects"
        return f"{name}, {_REMEDY}"
    return ""


def why_cut(value: paths.Json) -> str:
    """Why a list is only a part of the cluster's list; empty for any other document."""
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(items, list):
        return ""
    metadata = paths.metadata(value)
    left = metadata.get("remainingItemCount")
    if not metadata.get("continue") and not left:
        return ""
    more = f"{left:,} more" if isinstance(left, int) else "more"
    return f"one page of a list: {len(items):,} objects are here, and the cluster has {more}; write the whole list"


def _is_object(value: paths.Json) -> bool:
    return isinstance(value, dict) and bool(value.get("kind")) and bool(value.get("apiVersion"))


def _excerpt(message: paths.Json) -> str:
    text = paths.text(message) or "it has no message"
    return text if len(text) <= _WORDS else f"{text[:_WORDS]}..."
