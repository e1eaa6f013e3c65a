"""The share of one shard in an audit: its cluster of the fleet, its own namespaces, and their lists.

The same namespace is in the same shard at every run.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import pydantic
from msgspec import Struct
from pydantic import StringConstraints

from usher import errors, paths
from usher.cluster import api as cluster_api
from usher.cluster.api import JSON, Answer, Lists, group_path
from usher.documents import reader

MOST_SHARDS: Final = 10_000
_SPELLING: Final = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")


class Shard(Struct, frozen=True, kw_only=True):
    """One of `of` shards, counted from 0. Shard 0 also has the nodes and all cluster-scoped objects."""

    index: int = 0
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.of <= MOST_SHARDS:
            raise errors.InputError(f"{self.of} shards: there are 1 to {MOST_SHARDS:,}")
        if not 0 <= self.index < self.of:
            raise errors.InputError(f"shard {self.index} of {self.of}: shards count from 0 to {self.of - 1}")

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def is_whole(self) -> bool:
        return self.of == 1

    @property
    def is_merged(self) -> bool:
        """Whether other shards have the rest of the cluster."""
        return not self.is_whole

    @property
    def namespace(self) -> str:
        """Empty, because a shard is not a single namespace."""
        return ""

    @property
    def has_nodes(self) -> bool:
        return self.index == 0

    def has(self, namespace: str) -> bool:
        """Whether a namespace belongs to the shard; the empty name, of cluster-scoped objects, belongs to shard 0."""
        return home_shard(namespace, self.of) == self.index if namespace else self.has_nodes


def home_shard(namespace: str, of: int) -> int:
    """The index of the shard that a namespace belongs to, by the first eight bytes of its SHA-256, modulo `of`."""
    return int.from_bytes(hashlib.sha256(namespace.encode(errors="surrogatepass")).digest()[:8]) % of


def parse_shard(text: str) -> Shard:
    """The shard of a text like `3/10`.

    Raises:
        InputError: the text is not INDEX/NUMBER, or the index is too large.
    """
    found = _SPELLING.fullmatch(text)
    if found is None:
        raise errors.InputError(f"{text[:50]!r} is not a shard; write INDEX/NUMBER, like 0/10 for the first of ten")
    return Shard(index=int(found[1]), of=int(found[2]))


MOST_CLUSTERS: Final = 10_000
_Text = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$")]


class _ClusterEntry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: _Text
    context: _Text | None = None
    kubeconfig: _Text | None = None


class FleetCluster(Struct, frozen=True, kw_only=True):
    name: str
    """Its name in reports."""
    context: str | None
    kubeconfig: Path | None
    """None for the kubeconfig of the environment."""


def read_clusters(file: Path) -> tuple[FleetCluster, ...]:
    """The clusters of a file, in its order: a list of entries with `name`, and `context`, `kubeconfig` or both.

    A kubeconfig is a path relative to the folder of the file. The order matters: the number of a shard is the place of
    its cluster.

    Raises:
        InputError: the file cannot be read, or an entry is not usable; the message names it.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise errors.InputError(f"{file}: {error.strerror}") from None
    values = [each.value for each in reader.parse(content, source=str(file))]
    entries = values[0] if len(values) == 1 else None
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_CLUSTERS:
        raise errors.InputError(
            f"{file}: write a list of 1 to {MOST_CLUSTERS:,} clusters: [{{name: prod, context: prod}}, ...]"
        )
    found = tuple(_cluster(each, number, file) for number, each in enumerate(entries))
    names = Counter(each.name for each in found)
    twice = next((name for name, number in names.items() if number > 1), None)
    if twice is not None:
        raise errors.InputError(f"{file}: two clusters have the name {twice}; the merge would keep one of them")
    return found


def _cluster(value: object, number: int, file: Path) -> FleetCluster:
    try:
        entry = _ClusterEntry.model_validate(value)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the entry"
        raise errors.InputError(f"{file}: entry {number}: {where}: {first['msg'].lower()}") from None
    if entry.context is None and entry.kubeconfig is None:
        raise errors.InputError(f"{file}: entry {number}: {entry.name} names neither a context nor a kubeconfig")
    kubeconfig = None if entry.kubeconfig is None else file.parent / entry.kubeconfig
    return FleetCluster(name=entry.name, context=entry.context, kubeconfig=kubeconfig)


_PAGE: Final = 500
_SYSTEM: Final = "kube-system"
_DEPTH: Final = {"api": 3, "apis": 4}
"""Parts of the path of a list over all namespaces: /api/v1/pods, /apis/batch/v1/jobs."""


class Namespaces(Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    cluster_id: str
    """The uid of kube-system, which a cluster never changes; empty if the cluster lacks this namespace."""


def list_namespaces(api: Lists) -> Namespaces:
    """All namespaces of a cluster.

    Raises:
        ClusterError: the API server does not answer, or usher may not list namespaces.
    """
    names, cluster_id = [], ""
    for page in cluster_api.list_pages(
        api, f"{group_path('', 'v1')}/namespaces", size=_PAGE, accept=cluster_api.NAMES, resume=True
    ):
        if isinstance(page, cluster_api.Refused):
            raise errors.ClusterError(
                f"{api.name}: a shard needs the verb list on namespaces, to know which are its own: {page.reason}"
            )
        for item in page.items:
            metadata = paths.metadata(item)
            name = paths.text(metadata.get("name"))
            names.append(name)
            if name == _SYSTEM:
                cluster_id = paths.text(metadata.get("uid"))
    return Namespaces(names=tuple(sorted(set(filter(None, names)))), cluster_id=cluster_id)


class PartialLists:
    """The API server, limited to the objects of some namespaces and to cluster-scoped objects.

    It answers a list over all namespaces from the lists of each namespace, page by page. It requests a list of one page
    as a whole, and removes other namespaces from it. All other requests pass unchanged.
    """

    def __init__(self, api: Lists, *, names: Sequence[str], shared: set[str] | None = None) -> None:
        """Takes the namespaces to see, and a set that collects the paths of the cluster-scoped objects that
        it lists.
        """
        self._api = api
        self._names = tuple(names)
        self._seen = frozenset(names)
        self._shared = set() if shared is None else shared
        self._namespaced: dict[str, frozenset[str]] = {}

    @property
    def name(self) -> str:
        return self._api.name

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        is_list = query is not None and "limit" in query
        found = self._list_over_namespaces(path) if is_list else None
        if found is None or query is None:
            answer = self._api.get(path, query=query, accept=accept)
            if is_list:
                self._shared.update(f"{path}/{paths.text(paths.metadata(each).get('name'))}" for each in _items(answer)
                                    if isinstance(each, dict))  # fmt: skip
            return answer
        prefix, plural = found

        def asked(namespace: str, token: str) -> Answer:
            rest = {key: value for key, value in query.items() if key != "continue"}
            given = {**rest, "continue": token} if token else rest
            where = f"{prefix}/namespaces/{namespace}/{plural}" if namespace else path
            return self._api.get(where, query=given, accept=accept)

        if not query.get("continue"):
            first = asked("", "")
            if first.status != 200 or not _following(first):
                return _with_items(first, [each for each in _items(first) if self._is_seen(each)], "")
        return self._page(
            asked, query.get("continue", "0:"), size=int(query["limit"]) if query["limit"].isdecimal() else _PAGE
        )

    def _page(self, asked: Callable[[str, str], Answer], token: str, *, size: int) -> Answer:
        place, _, inner = token.partition(":")
        index, items, last = int(place), list[paths.Json](), Answer(status=200, value={"metadata": {}})
        while index < len(self._names) and len(items) < size:
            answer = asked(self._names[index], inner)
            following = _following(answer)
            if answer.status != 200:
                # The objects so far are a page of their own. The next request gets the refusal again.
                return _with_items(last, items, f"{index}:{inner}") if items else _refusal(answer, index, following)
            items += _items(answer)
            last, inner = answer, following
            index += not following
        return _with_items(last, items, f"{index}:{inner}" if index < len(self._names) else "")

    def _is_seen(self, item: paths.Json) -> bool:
        return isinstance(item, dict) and paths.text(paths.metadata(item).get("namespace")) in self._seen

    def _list_over_namespaces(self, path: str) -> tuple[str, str] | None:
        """The group's path and the plural of a list over all namespaces that must be split; None for other requests."""
        parts = path.strip("/").split("/")
        if len(parts) != _DEPTH.get(parts[0], math.inf):
            return None
        prefix, plural = f"/{'/'.join(parts[:-1])}", parts[-1]
        return (prefix, plural) if plural in self._namespaced_plurals(prefix) else None

    def _namespaced_plurals(self, prefix: str) -> frozenset[str]:
        if prefix not in self._namespaced:
            resources = self._api.get(prefix).value.get("resources")
            self._namespaced[prefix] = frozenset(_namespaced(resources if isinstance(resources, list) else []))
        return self._namespaced[prefix]


def _namespaced(resources: list[paths.Json]) -> Iterator[str]:
    for each in resources:
        if isinstance(each, dict) and each.get("namespaced") is True:
            yield paths.text(each.get("name"))


def _items(answer: Answer) -> list[paths.Json]:
    return paths.elements(answer.value.get("items"))


def _following(answer: Answer) -> str:
    return paths.text(paths.metadata(answer.value).get("continue"))


def _with_items(answer: Answer, items: list[paths.Json], token: str) -> Answer:
    if answer.status != 200:
        return answer
    metadata = {**paths.metadata(answer.value), "continue": token}
    return Answer(status=200, value={**answer.value, "metadata": metadata, "items": items})


def _refusal(answer: Answer, index: int, following: str) -> Answer:
    """A refusal. If the server offers to continue (410), the token leads to the same namespace."""
    metadata = {**paths.metadata(answer.value), "continue": f"{index}:{following}" if following else ""}
    return Answer(status=answer.status, value={**answer.value, "metadata": metadata})
