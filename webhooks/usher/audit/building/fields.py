"""Reads fields of objects that may have any shape. A value of a wrong type counts as missing."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from sys import intern

from usher import paths


def mapping(value: paths.Json) -> paths.Object:
    return value if isinstance(value, dict) else {}


def mappings(value: paths.Json) -> Iterator[paths.Object]:
    """The JSON objects of a list."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def texts(value: paths.Json) -> Mapping[str, str]:
    """The entries of a mapping whose values are texts: labels, annotations. Equal mappings of many objects share
    memory.
    """
    if not isinstance(value, dict):
        return {}
    return {key: intern(each) for key, each in value.items() if isinstance(each, str)}


def time(value: paths.Json) -> datetime | None:
    """A time as Kubernetes writes it, in UTC; None for any other value."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        found = datetime.fromisoformat(value)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
