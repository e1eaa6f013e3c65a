"""Finds anchors whose places all want the same change, so that the text at the anchor can change for all of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from usher import paths
from usher.dataclass import dataclass
from usher.fixing import alignment
from usher.fixing.syntax import Entry, Node, Sort

_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The anchors of a document, by name."""

    agreed: frozenset[str]
    """Anchors that one value defines, and whose aliases all become the value that it becomes."""
    sites: Mapping[str, tuple[str, ...]]
    """The pointers to the places with the value. It lacks anchors that a merge key names, because a merge key takes
    only single keys.
    """


def shared(root: Node, wanted: paths.Json) -> Shared:
    """The anchors whose places agree, from comparing the wanted values of all places of each anchor."""
    values: defaultdict[str, list[object]] = defaultdict(list)
    sites: defaultdict[str, list[str]] = defaultdict(list)
    defined: Counter[str] = Counter()
    unfit: set[str] = set()
    pending: list[tuple[Node, object, str]] = [(root, wanted, paths.ROOT)]
    while pending:
        node, value, pointer = pending.pop()
        if node.shared:
            defined[node.anchor] += node.sort is not Sort.ALIAS
            values[node.anchor].append(value)
            sites[node.anchor].append(pointer)
        for number, entry in enumerate(node.entries):
            if entry.merges:
                unfit.update(_names(entry))
            else:
                key = number if entry.key is None else entry.name
                pending.append((entry.value, _below(value, key), paths.join(pointer, key)))
            if entry.key is not None and entry.key.shared:
                unfit.add(entry.key.anchor)
    found = {name: tuple(each) for name, each in sites.items() if defined[name] == 1 and name not in unfit}
    return Shared(agreed=frozenset(name for name in found if _are_same(values[name])), sites=found)


def _are_same(values: list[object]) -> bool:
    first = values[0]
    return all(
        first is not _MISSING and each is not _MISSING and alignment.same(first, each)  # type: ignore[arg-type]  # JSON
        for each in values
    )


def _below(value: object, key: str | int) -> object:
    if isinstance(value, dict):
        return value.get(key, _MISSING)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return _MISSING


def _names(entry: Entry) -> Iterator[str]:
    """The anchors whose keys a merge key takes."""
    if entry.value.anchor:
        yield entry.value.anchor
    for each in entry.value.entries:
        yield from _names(each)
