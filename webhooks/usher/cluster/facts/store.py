"""The store of facts: the objects of a cluster by name and kind, values derived from them, and snapshots as bytes.

Writers (one thread for each kind) never block readers: they replace maps instead of changing them.

A snapshot is gzipped JSON: `apiVersion`, `kind`, and for each kind of fact whether it is known, missing from the
cluster or not known, with its trimmed objects. Equal clusters give equal bytes.
"""

import gzip
import io
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, TypeVar

import orjson
from msgspec import Struct

from usher import errors, paths
from usher.cluster.facts.nodes import NodeTable
from usher.kinds import registry
from usher.kinds.kind import FactKind, Key
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.values import Absence, Reference

_Made = TypeVar("_Made")

Objects = Mapping[str, paths.Object]
"""Objects by name, of one namespace, or cluster-scoped."""

NODE: Final[Key] = ("", "Node")
_CLAIM: Final[Key] = ("resource.k8s.io", "ResourceClaim")
_MOST_NODES: Final = 1000

_NONE: Final[Objects] = MappingProxyType({})


class Store:
    """The facts of a cluster. A kind is either unknown or complete.

    The reading of workloads uses only `usher.kinds.reading.values.Lookup` of it.
    """

    def __init__(self) -> None:
        self.revision = 0
        """Grows with every change, except of momentary kinds. Values that were looked up under an old revision may be
        old."""
        self.revision_without_claims = 0
        """The same for values that no ResourceClaim changes: claims come and go with pods."""
        self.age: Callable[[], float] = _fresh
        """The age of the oldest facts in seconds; the thread that keeps the store up to date replaces this."""
        self.nodes = NodeTable()
        self._kinds: dict[Key, Mapping[str, Objects]] = {}
        """Objects by kind and namespace; the namespace of cluster-scoped objects is empty."""
        self._missing: frozenset[Key] = frozenset()
        self._revisions: defaultdict[Key, int] = defaultdict(int)
        self._alone: Mapping[tuple[Key, str, str], paths.Object] = {}
        """Single known objects of unknown kinds, by kind, namespace and name."""
        self._derived: dict[str, tuple[tuple[int, ...], Any]] = {}
        self._before: Store | None = None
        self._writing = threading.Lock()

    @classmethod
    def of(cls, values: Iterable[paths.Object], *, namespace: str = "") -> "Store":
        """A store of objects. For each kind among them, these are all objects.

        Args:
            values: manifests; of several with one name the last counts, as after `kubectl apply`.
            namespace: the namespace of namespaced objects without one.
        """
        store, by_kind = cls(), defaultdict[Key, list[paths.Object]](list)
        for value in values:
            by_kind[_key(value)].append(value)
        domains = by_kind.get((reading_values.COMPUTE_DOMAIN_GROUP, reading_values.COMPUTE_DOMAIN_KIND), ())
        made = [
            template for value in domains if (template := reading_values.claim_template_of_domain(value)) is not None
        ]
        for template in made:
            by_kind[_key(template)].append(template)
        for key, listed in by_kind.items():
            store.replace(key, [_object_in_namespace(value, key, namespace) for value in listed])
        return store

    @property
    def empty(self) -> bool:
        """Whether no kind is known."""
        return not self._kinds and not self._missing and not self.nodes.known

    def knows(self, group: str, kind: str) -> bool:
        """Whether all objects of a kind are known; also true for a kind that the cluster does not serve."""
        key = (group, kind)
        return key in self._kinds or key in self._missing or (key == NODE and self.nodes.known)

    def find(self, reference: Reference) -> paths.Object | Absence:
        """The object, which the caller must not change. MISSING where its kind is known, else NOT_KNOWN.

        Files do not say whether a kind is namespaced: for a reference without a namespace, an object is found if its
        name is unique.
        """
        key = (reference.group, reference.kind)
        if key == NODE:
            node = self.nodes.named(reference.name)
            return node if node is not None else self._absence(key)
        spaces = self._kinds.get(key, {})
        found = spaces.get(reference.namespace, _NONE).get(reference.name)
        if found is None and not reference.namespace:
            everywhere = [objects[reference.name] for objects in spaces.values() if reference.name in objects]
            found = everywhere[0] if len(everywhere) == 1 else None
        if found is None and not self.knows(*key):
            found = self._alone.get((key, reference.namespace, reference.name))
        return found if found is not None else self._absence(key)

    def find_stored(self, reference: Reference) -> paths.Object | Absence:
        """As `find`, without the objects that `with_applied` added."""
        return (self._before or self).find(reference)

    def objects(self, group: str, kind: str, namespace: str = "") -> Objects | Absence:
        """All objects of a kind in a namespace, or cluster-scoped, by name; nodes are in `nodes`.

        Returns:
            MISSING where the cluster does not serve the kind, NOT_KNOWN where the kind is unknown.
        """
        spaces = self._kinds.get((group, kind))
        return self._absence((group, kind)) if spaces is None else spaces.get(namespace, _NONE)

    def listed(self, group: str, kind: str, namespace: str | None) -> Objects:
        """The known objects of a kind in a namespace, or cluster-scoped ones where that is None; empty if unknown."""
        if namespace is not None:
            return self._kinds.get((group, kind), {}).get(namespace, _NONE)
        return {name.rpartition("/")[2]: value for name, value in self.everywhere(group, kind).items()}

    def everywhere(self, group: str, kind: str) -> Objects:
        """All known objects of a kind, by name; the name of one in a namespace is `NAMESPACE/NAME`."""
        spaces = self._kinds.get((group, kind), {})
        return {
            f"{namespace}/{name}" if namespace else name: value
            for namespace, objects in spaces.items()
            for name, value in objects.items()
        }

    def names(self, group: str, kind: str) -> frozenset[str] | None:
        """The names of all objects of a kind, in all namespaces; None where the kind is unknown."""
        if not self.knows(group, kind):
            return None
        return frozenset(name for objects in self._kinds.get((group, kind), {}).values() for name in objects)

    def nodes_as_manifests(self) -> Objects:
        """The nodes by name, with the kept fields; no more than the first thousand."""

        def read() -> Objects:
            found = ((name, self.nodes.named(name)) for name in islice(self.nodes.now.by_name, _MOST_NODES))
            return {name: value for name, value in found if value is not None}

        return self.derived("nodes as manifests", [NODE], read)

    def manifests(self, group: str, kind: str) -> Objects:
        """As `everywhere`, also for nodes."""
        return self.nodes_as_manifests() if (group, kind) == NODE else self.everywhere(group, kind)

    def namespaces(self, group: str, kind: str) -> frozenset[str]:
        """The namespaces with objects of a kind; the empty one for cluster-scoped objects."""
        return frozenset(space for space, objects in self._kinds.get((group, kind), {}).items() if objects)

    def counts(self) -> Mapping[Key, int]:
        """The number of objects by kind."""
        result = {key: sum(map(len, spaces.values())) for key, spaces in self._kinds.items()}
        return {**result, NODE: len(self.nodes)} if self.nodes.known else result

    def derived(self, name: str, of: Sequence[Key], make: Callable[[], _Made]) -> _Made:
        """A value that `make` derives from the objects of some kinds; it is kept until one of them changes.

        Args:
            name: the key of the value.
            of: the kinds that it is derived from.
            make: may run more than once, in several threads.
        """
        revisions = tuple(self.nodes.revision if key == NODE else self._revisions[key] for key in of)
        kept = self._derived.get(name)
        if kept is not None and kept[0] == revisions:
            made: _Made = kept[1]
            return made
        made = make()
        self._derived[name] = (revisions, made)
        return made

    def with_applied(self, values: Iterable[paths.Object], *, namespace: str, also: Collection[Key] = ()) -> "Store":
        """The store as it would be after some objects are applied. Objects of unknown kinds are left out.

        The nodes stay the same; derived values are made again.

        Args:
            also: kinds that count even if they are unknown.
        """
        new = [
            value for value in values if (key := _key(value)) in registry.FACTS and (key in self._kinds or key in also)
        ]
        if not new:
            return self
        result = Store()
        result._continue(self)
        result._kinds, result._missing, result._before = dict(self._kinds), self._missing, self
        for value in new:
            result.put(_object_in_namespace(value, _key(value), namespace))
        return result

    def completed_by(self, other: "Store") -> "Store":
        """These facts with the kinds of another store that they do not know; an empty store if it has no others."""
        kinds = other._kinds  # noqa: SLF001 - of the same class
        new = {key: spaces for key, spaces in kinds.items() if not self.knows(*key)}
        result = Store()
        if new:
            result._continue(self)
            result._kinds, result._missing = {**self._kinds, **new}, self._missing
        return result

    def replace(self, key: Key, values: Iterable[paths.Object]) -> None:
        """Takes all objects of a kind."""
        with self._writing:
            self._missing -= {key}
            if key == NODE:
                self.nodes.replace(values)
                return
            spaces: defaultdict[str, dict[str, paths.Object]] = defaultdict(dict)
            for value in values:
                namespace, name = _identity(value)
                spaces[namespace][name] = value
            if self._kinds.get(key) != spaces:
                self._set(key, dict(spaces))

    def put(self, value: paths.Object) -> None:
        """Takes a new or changed object."""
        key = _key(value)
        with self._writing:
            if key == NODE:
                self.nodes.put(value)
                return
            namespace, name = _identity(value)
            spaces = self._kinds.get(key, {})
            objects = spaces.get(namespace, _NONE)
            before = objects.get(name)
            if before != value:
                self._kinds[key] = {**spaces, namespace: {**objects, name: value}}
                if before is None or _lasting(before, key) != _lasting(value, key):
                    self._changed(key)

    def put_alone(self, value: paths.Object) -> None:
        """Takes a single object of an unknown kind; it is found while the kind is unknown."""
        key = _key(value)
        with self._writing:
            self._alone = {**self._alone, (key, *_identity(value)): value}
            self._changed(key)

    def remove_alone(self, value: paths.Object) -> None:
        """Forgets an object of `put_alone`."""
        key = _key(value)
        with self._writing:
            place = (key, *_identity(value))
            self._alone = {other: each for other, each in self._alone.items() if other != place}
            self._changed(key)

    def remove(self, value: paths.Object) -> None:
        """Forgets a deleted object."""
        key = _key(value)
        namespace, name = _identity(value)
        with self._writing:
            if key == NODE:
                self.nodes.remove(name)
                return
            spaces = self._kinds.get(key, {})
            objects = spaces.get(namespace, _NONE)
            if name in objects:
                left = {other: each for other, each in objects.items() if other != name}
                self._set(key, {**spaces, namespace: left})

    def lacks(self, key: Key) -> None:
        """Notes that the cluster does not serve a kind."""
        with self._writing:
            if key not in self._missing:
                self._kinds.pop(key, None)
                self._missing |= {key}
                self._changed(key)

    def _continue(self, other: "Store") -> None:
        """Takes the nodes and revisions of another store."""
        self.nodes = other.nodes
        self.revision, self.revision_without_claims = other.revision, other.revision_without_claims

    def _set(self, key: Key, spaces: Mapping[str, Objects]) -> None:
        self._kinds[key] = spaces
        self._changed(key)

    def _changed(self, key: Key) -> None:
        self._revisions[key] += 1
        known = registry.FACTS.get(key)
        lasts = known is None or not known.changes_often
        self.revision += lasts
        self.revision_without_claims += lasts and key != _CLAIM

    def _absence(self, key: Key) -> Absence:
        return Absence.MISSING if self.knows(*key) else Absence.NOT_KNOWN


def _fresh() -> float:
    """The age of facts from files, which do not change."""
    return 0.0


def _key(value: paths.Object) -> Key:
    return paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))


def _lasting(value: paths.Object, key: Key) -> paths.Object:
    """An object without its momentary fields."""
    known, status = registry.FACTS.get(key), value.get("status")
    if known is None or not known.momentary or not isinstance(status, dict):
        return value
    metadata = {field: each for field, each in paths.metadata(value).items() if field != "resourceVersion"}
    lasting = {field: each for field, each in status.items() if field not in known.momentary}
    return {**value, "metadata": metadata, "status": lasting}


def _identity(value: paths.Object) -> tuple[str, str]:
    metadata = paths.metadata(value)
    return paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))


def _object_in_namespace(value: paths.Object, key: Key, namespace: str) -> paths.Object:
    """The object with its namespace, or without one for a cluster-scoped kind, even if the manifest has one."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return value
    known = registry.FACTS.get(key)
    within = metadata.get("namespace")
    if known is not None and known.cluster_scoped:
        return value if within is None else {**value, "metadata": {**metadata, "namespace": None}}
    return value if within or not namespace else {**value, "metadata": {**metadata, "namespace": namespace}}


def namespace_labels(name: str, facts: Store) -> Mapping[str, str] | None:
    """The labels of a namespace, with the one that the API server adds to all; None where a label is unknown."""
    found = facts.find(Reference(group="", kind="Namespace", name=name))
    if isinstance(found, Absence):
        return None
    written = paths.metadata(found).get("labels")
    result = {paths.NAMESPACE_NAME_LABEL: name}
    if written is None:
        return result
    if not isinstance(written, dict):
        return None
    for key, value in written.items():
        if not isinstance(value, str | None):
            return None
        result[key] = value or ""
    return result


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
