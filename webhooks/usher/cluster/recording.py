"""All facts of a cluster, listed once for a snapshot or an audit, and the sinks that reflectors fill."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from usher import paths
from usher.cluster import api as cluster_api
from usher.cluster.api import Listed, Lists, NotServed, Refused, Target, list_pages
from usher.cluster.facts.store import Recorded, State, Store
from usher.kinds.kind import CONFIG_MAP, DEFINITION, KUEUE_CONFIGURATION, FactKind, Key
from usher.kinds.registry import ASKED_FACTS, FACTS


class Sink(Protocol):
    """Keeps the objects of a kind."""

    def replace(self, values: Iterable[paths.Object]) -> None:
        """Takes all objects of the kind."""
        ...

    def put(self, value: paths.Object) -> None: ...

    def remove(self, value: paths.Object) -> None: ...

    def lacks(self) -> None:
        """Notes that the cluster does not serve the kind."""
        ...


class StoreSink:
    """The objects of one kind in a store."""

    def __init__(self, store: Store, key: Key) -> None:
        self._store = store
        self._key = key

    def replace(self, values: Iterable[paths.Object]) -> None:
        self._store.replace(self._key, values)

    def put(self, value: paths.Object) -> None:
        self._store.put(value)

    def remove(self, value: paths.Object) -> None:
        self._store.remove(value)

    def lacks(self) -> None:
        self._store.lacks(self._key)


class SingleObjectSink:
    """The single known object of a kind whose list usher may not read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: paths.Object | None = None

    def replace(self, values: Iterable[paths.Object]) -> None:
        found = next(iter(values), None)
        if found is not None:
            self._store.put_alone(found)
        elif self._known is not None:
            self._store.remove_alone(self._known)
        self._known = found

    def put(self, value: paths.Object) -> None:
        self.replace([value])

    def remove(self, value: paths.Object) -> None:  # noqa: ARG002 - there is one object
        self.replace([])

    def lacks(self) -> None:
        self.replace([])


class CollectingSink:
    """The objects of one list."""

    def __init__(self) -> None:
        self.values: list[paths.Object] = []

    def replace(self, values: Iterable[paths.Object]) -> None:
        self.values = list(values)

    def put(self, value: paths.Object) -> None:
        self.values.append(value)

    def remove(self, value: paths.Object) -> None:
        self.values.remove(value)

    def lacks(self) -> None:
        self.values = []


class ContentSink:
    """Objects that are listed by their metadata, except one, whose content comes through the sink `content`.

    Two threads may fill both at the same time. If usher may read the list, the list decides whether that one object
    exists; otherwise only that object is known.
    """

    def __init__(self, sink: Sink, *, namespace: str, name: str, alone: Sink | None = None) -> None:
        """Takes the sink of the objects, the one object with content, and the sink of that object alone."""
        self._sink = sink
        self._alone = alone
        self._place = (namespace, name)
        self._there: paths.Object | None = None
        """Its metadata, as listed."""
        self._content: paths.Object | None = None
        self._lock = threading.Lock()
        self.content: Sink = _Content(self._take_content)

    def replace(self, values: Iterable[paths.Object]) -> None:
        with self._lock:
            listed = list(values)
            self._there = next((value for value in listed if self._is_it(value)), None)
            self._sink.replace([self._with_content(value) for value in listed])

    def put(self, value: paths.Object) -> None:
        with self._lock:
            if self._is_it(value):
                self._there = value
            self._sink.put(self._with_content(value))

    def remove(self, value: paths.Object) -> None:
        with self._lock:
            if self._is_it(value):
                self._there = None
            self._sink.remove(value)

    def lacks(self) -> None:
        with self._lock:
            self._there = None
            self._sink.lacks()

    def _take_content(self, value: paths.Object | None) -> None:
        with self._lock:
            if self._alone is not None:
                self._alone.replace([] if value is None else [value])
            self._content = value
            if self._there is not None:
                self._sink.put(self._with_content(self._there))

    def _with_content(self, value: paths.Object) -> paths.Object:
        return self._content if self._content is not None and self._is_it(value) else value

    def _is_it(self, value: paths.Object) -> bool:
        fields = paths.metadata(value)
        return (fields.get("namespace"), fields.get("name")) == self._place


class _Content:
    """The one object, listed by its name."""

    def __init__(self, take: Callable[[paths.Object | None], None]) -> None:
        self._take = take

    def replace(self, values: Iterable[paths.Object]) -> None:
        self._take(next(iter(values), None))

    def put(self, value: paths.Object) -> None:
        self._take(value)

    def remove(self, value: paths.Object) -> None:  # noqa: ARG002 - there is one object
        self._take(None)

    def lacks(self) -> None:
        self._take(None)


class DefinitionsSink:
    """The definitions of kinds. When one comes or changes, its kind is listed at once."""

    def __init__(self, sink: Sink, *, wake: Callable[[str], None]) -> None:
        """Takes the sink of the definitions, and a function to call with the name of each (`<plural>.<group>`)."""
        self._sink = sink
        self._wake = wake

    def replace(self, values: Iterable[paths.Object]) -> None:
        listed = list(values)
        self._sink.replace(listed)
        for value in listed:
            self._defined(value)

    def put(self, value: paths.Object) -> None:
        self._sink.put(value)
        self._defined(value)

    def remove(self, value: paths.Object) -> None:
        self._sink.remove(value)

    def lacks(self) -> None:
        self._sink.lacks()

    def _defined(self, value: paths.Object) -> None:
        name = paths.text(paths.metadata(value).get("name"))
        if name:
            self._wake(name)


_ATTEMPTS = 3
"""Attempts for a list whose state expires before its last page."""


def read_facts(api: Lists, *, kinds: Iterable[FactKind] = ASKED_FACTS) -> Iterator[Recorded]:
    """The objects of each kind, one kind after the other. A kind that cannot be listed is unknown, with the reason.

    Raises:
        ClusterError: the API server does not answer.
    """
    for kind in kinds:
        found = _list_target(api, Target(kind=kind))
        if isinstance(found, NotServed):
            yield Recorded(kind=kind, state=State.MISSING)
        elif isinstance(found, Listed):
            values = _with_content(api, kind, found) if kind.key == CONFIG_MAP else found.values
            yield Recorded(kind=kind, state=State.KNOWN, values=values)
        else:
            yield Recorded(kind=kind, state=State.NOT_KNOWN, reason=found.explained, failed=not found.forbidden)


def read_definitions(api: Lists, names: Iterable[str]) -> tuple[list[paths.Object], dict[str, str]]:
    """The CustomResourceDefinitions with these names, and by name the reasons why others cannot be read.

    Facts hold the names of definitions alone: all of them together may have tens of megabytes.

    Raises:
        ClusterError: the API server does not answer.
    """
    found, refused = list[paths.Object](), dict[str, str]()
    for name in names:
        target = Target(kind=FACTS[DEFINITION], name=name)
        for page in list_pages(api, target.path(target.kind.versions[0]), size=1, query=target.query):
            if isinstance(page, Refused):
                refused[name] = page.explained
            else:
                found += (_definition(name, each) for each in page.items if paths.metadata(each).get("name") == name)
    return found, refused


def _definition(name: str, value: paths.Object) -> paths.Object:
    """A definition with its kind, name and spec; items of a list may lack their kind."""
    group, kind = DEFINITION
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": value.get("spec")}


def store_of_recorded(recorded: Iterable[Recorded]) -> Store:
    """A store of the recorded facts."""
    result = Store()
    for each in recorded:
        if each.state is State.KNOWN:
            result.replace(each.kind.key, each.values)
        elif each.state is State.MISSING:
            result.lacks(each.kind.key)
    return result


def _list_target(api: Lists, target: Target) -> Listed | NotServed | Refused:
    for _ in range(_ATTEMPTS - 1):
        found = cluster_api.list_objects(api, target)
        if not (isinstance(found, Refused) and found.status == 410):
            return found
    return cluster_api.list_objects(api, target)


def _with_content(api: Lists, kind: FactKind, found: Listed) -> list[paths.Object]:
    """The ConfigMaps by name. The one of Kueue has its content, if usher may read it."""
    namespace, name = KUEUE_CONFIGURATION
    sink = CollectingSink()
    joined = ContentSink(sink, namespace=namespace, name=name)
    content = _list_target(api, Target(kind=kind, namespace=namespace, name=name))
    if isinstance(content, Listed):
        joined.content.replace(content.values)
    joined.replace(found.values)
    return sink.values
