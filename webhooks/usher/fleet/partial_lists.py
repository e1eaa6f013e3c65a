"""The part of a cluster that a shard reads: lists of its namespaces alone, behind the same protocol as the whole."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from usher import errors, paths
from usher.cluster import listing
from usher.cluster.api import JSON, Answer, Lists, root
from usher.dataclass import dataclass

_PAGE: Final = 500
_SYSTEM: Final = "kube-system"
_DEPTH: Final = {"api": 3, "apis": 4}
"""Parts of the path of a list over all namespaces: /api/v1/pods, /apis/batch/v1/jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespaces:
    names: tuple[str, ...]
    cluster_id: str
    """The uid of kube-system, which a cluster keeps for its life; empty where it has no such namespace."""


def namespaces(api: Lists) -> Namespaces:
    """All namespaces of a cluster.

    Raises:
        ClusterError: the API server does not answer, or usher may not list namespaces.
    """
    names, cluster_id = [], ""
    for page in listing.pages(api, f"{root('', 'v1')}/namespaces", size=_PAGE, accept=listing.NAMES, resume=True):
        if isinstance(page, listing.Refused):
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
    """The API server, of whose namespaced objects only those of some namespaces are seen.

    A list over all namespaces is answered from the lists of each namespace, page by page; a list of one page is asked
    for as a whole, and other namespaces are taken out of it. All other requests go through unchanged.
    """

    def __init__(self, api: Lists, *, names: Sequence[str], shared: set[str] | None = None) -> None:
        """Takes the namespaces to see, and a set for the paths of the objects of no namespace that it lists."""
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
        return self._page(asked, query.get("continue", "0:"), size=_size(query["limit"]))

    def _page(self, asked: Callable[[str, str], Answer], token: str, *, size: int) -> Answer:
        place, _, inner = token.partition(":")
        index, items, last = int(place), list[paths.Json](), Answer(status=200, value={"metadata": {}})
        while index < len(self._names) and len(items) < size:
            answer = asked(self._names[index], inner)
            following = _following(answer)
            if answer.status != 200:
                # What came before is a page of its own; the next request meets the refusal again.
                return _with_items(last, items, f"{index}:{inner}") if items else _offered(answer, index, following)
            items += _items(answer)
            last, inner = answer, following
            index += not following
        return _with_items(last, items, f"{index}:{inner}" if index < len(self._names) else "")

    def _is_seen(self, item: paths.Json) -> bool:
        return isinstance(item, dict) and paths.text(paths.metadata(item).get("namespace")) in self._seen

    def _list_over_namespaces(self, path: str) -> tuple[str, str] | None:
        """The group's path and the plural of a list over all namespaces that has to be parted; None for others."""
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
    items = answer.value.get("items")
    return items if isinstance(items, list) else []


def _following(answer: Answer) -> str:
    return paths.text(paths.metadata(answer.value).get("continue"))


def _with_items(answer: Answer, items: list[paths.Json], token: str) -> Answer:
    if answer.status != 200:
        return answer
    metadata = {**paths.metadata(answer.value), "continue": token}
    return Answer(status=200, value={**answer.value, "metadata": metadata, "items": items})


def _offered(answer: Answer, index: int, following: str) -> Answer:
    """A refusal; where the server offers a way on (410), the token leads to the same namespace."""
    metadata = {**paths.metadata(answer.value), "continue": f"{index}:{following}" if following else ""}
    return Answer(status=answer.status, value={**answer.value, "metadata": metadata})


def _size(limit: str) -> int:
    return int(limit) if limit.isdecimal() else _PAGE
