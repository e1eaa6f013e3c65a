"""`data.inventory`: the other objects that a policy may compare with (pkg/target, processUnstructured)."""

from collections.abc import Iterable
from typing import Final

import orjson

from usher import errors, paths

LARGEST: Final = 32 * 2**20
"""Bytes of all objects as JSON. The memory of a policy has 128 MiB, and an object takes about three times its text."""


def data(objects: Iterable[paths.Object]) -> bytes:
    """The base data of a policy: objects by namespace (or `cluster`), apiVersion, kind and name; the last one wins.

    Raises:
        InputError: together they are larger than LARGEST.
    """
    found: paths.Object = {"namespace": {}, "cluster": {}}
    for value in objects:
        metadata = paths.metadata(value)
        namespace = paths.text(metadata.get("namespace"))
        version, kind = paths.text(value.get("apiVersion")), paths.text(value.get("kind"))
        above = ("namespace", namespace) if namespace else ("cluster",)
        below = found
        for key in (*above, version, kind):
            inner = below.setdefault(key, {})
            assert isinstance(inner, dict)  # noqa: S101 - made here
            below = inner
        below[paths.text(metadata.get("name"))] = value
    text = orjson.dumps({"inventory": found})
    if len(text) > LARGEST:
        raise errors.InputError(
            f"the objects that policies compare with have {len(text)} bytes, and usher takes {LARGEST}; check fewer "
            "files at once"
        )
    return text
