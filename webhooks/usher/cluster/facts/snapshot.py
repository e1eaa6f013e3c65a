"""Snapshots: the facts of a cluster as bytes. Pure.

A snapshot is gzipped JSON: `apiVersion`, `kind`, and for each kind of fact whether it is known, missing from the
cluster or not known, with its trimmed objects. Equal clusters give equal bytes.
"""

import gzip
import io
import zlib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

import orjson
from msgspec import Struct

from usher import errors, paths
from usher.kinds import registry
from usher.kinds.kind import FactKind

API_VERSION: Final = "gpu-usher.io/v1"
KIND: Final = "FactsSnapshot"

MAGIC: Final = b"\x1f\x8b"
"""The first bytes of a gzip file."""

LARGEST_FILE: Final = 64 * 2**20
LARGEST_CONTENT: Final = 512 * 2**20
"""Bytes, compressed and uncompressed; a cluster of 5,000 nodes needs a hundredth of that."""


class State(StrEnum):
    """Whether the objects of a kind are known."""

    KNOWN = "known"
    """All objects are in the snapshot."""
    MISSING = "missing"
    """The cluster does not serve the kind."""
    NOT_KNOWN = "not known"


class Recorded(Struct, frozen=True, kw_only=True):
    """The facts of one kind."""

    kind: FactKind
    state: State
    values: Sequence[paths.Object] = ()
    """Trimmed objects, in any order."""
    reason: str = ""
    """Why the kind is not known."""
    failed: bool = False
    """Whether the list ended early for another reason than a missing right. A snapshot file does not hold this."""


def dumps(recorded: Iterable[Recorded]) -> bytes:
    """The bytes of a snapshot."""
    entries = [_entry(each) for each in sorted(recorded, key=lambda each: each.kind.key)]
    content = orjson.dumps({"apiVersion": API_VERSION, "kind": KIND, "facts": entries}, option=orjson.OPT_SORT_KEYS)
    buffer = io.BytesIO()
    # No name and no time, which would differ between runs.
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
        stream.write(content)
    return buffer.getvalue()


def loads(data: bytes, *, source: str) -> list[Recorded]:
    """The facts in a snapshot.

    Kinds that this version does not know are left out. Objects are trimmed again, because a snapshot may come from
    anywhere.

    Raises:
        InputError: it is not a snapshot, or is damaged, too large, or of another version; the message names `source`.
    """
    try:
        entries = _entries(_content(data, source), source)
        return [each for entry in entries if (each := _recorded(entry, source)) is not None]
    except RecursionError:
        raise _damaged(source) from None


def _entry(each: Recorded) -> dict[str, object]:
    entry: dict[str, object] = {"group": each.kind.group, "kind": each.kind.kind, "state": each.state.value}
    if each.state is State.KNOWN:
        entry["objects"] = sorted(each.values, key=_place)
    if each.reason:
        entry["reason"] = each.reason
    return entry


def _place(value: paths.Object) -> tuple[str, str]:
    metadata = paths.metadata(value)
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _content(data: bytes, source: str) -> paths.Object:
    if len(data) > LARGEST_FILE:
        raise errors.InputError(
            f"{source}: larger than {LARGEST_FILE // 2**20} MiB, too large for a snapshot of a cluster"
        )
    decompressor = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = decompressor.decompress(data, LARGEST_CONTENT)
    except zlib.error:
        raise _damaged(source) from None
    if decompressor.unconsumed_tail:
        raise errors.InputError(
            f"{source}: unpacks to more than {LARGEST_CONTENT // 2**20} MiB, too large for a snapshot"
        )
    if not decompressor.eof:
        raise _damaged(source)
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise _damaged(source) from None
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise errors.InputError(f"{source}: not a snapshot; `usher snapshot` writes one")
    if value.get("apiVersion") != API_VERSION:
        version = str(value.get("apiVersion"))[:64]
        raise errors.InputError(
            f"{source}: a snapshot of version {version}, but this usher reads {API_VERSION}; take it again"
        )
    return value


def _damaged(source: str) -> errors.InputError:
    return errors.InputError(f"{source}: damaged, or not a snapshot; take it again with `usher snapshot`")


def _entries(content: paths.Object, source: str) -> list[paths.Object]:
    entries = content.get("facts")
    found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    if not isinstance(entries, list) or len(found) != len(entries):
        raise _damaged(source)
    return found


def _recorded(entry: Mapping[str, paths.Json], source: str) -> Recorded | None:
    group, name, state = entry.get("group"), entry.get("kind"), entry.get("state")
    if not isinstance(group, str) or not isinstance(name, str) or state not in tuple(State):
        raise _damaged(source)
    kind = registry.FACTS.get((group, name))
    if kind is None:
        return None
    if state != State.KNOWN:
        return Recorded(kind=kind, state=State(state), reason=str(entry.get("reason") or ""))
    values = entry.get("objects")
    if not isinstance(values, list):
        raise _damaged(source)
    return Recorded(kind=kind, state=State.KNOWN, values=[_object(value, kind, source) for value in values])


def _object(value: paths.Json, kind: FactKind, source: str) -> paths.Object:
    if not isinstance(value, dict) or not _place(value)[1]:
        raise _damaged(source)
    api_version = value.get("apiVersion")
    group = api_version.rpartition("/")[0] if isinstance(api_version, str) else None
    # The store files an object by its own group and kind, so these must be right.
    if group != kind.group or value.get("kind") != kind.kind:
        raise _damaged(source)
    return kind.keep(value)
