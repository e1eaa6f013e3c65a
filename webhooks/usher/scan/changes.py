"""Finds the objects of a run that changed since an earlier state of its files, and the objects that refer to them."""

import hashlib
from collections.abc import Iterable, Iterator

import orjson

from usher import paths
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.scan import outlines
from usher.scan.batches import Batch
from usher.workloads.grown_workloads import growth_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes since an earlier state."""

    since: str
    """The user's name for the earlier state."""
    sources: frozenset[str]
    """Names of the files that changed or are new."""
    known: frozenset[bytes]
    """Digests of all earlier objects in these files, independent of their place."""
    names: frozenset[str]
    """Names of objects that changed or are gone and that others may name, and of the targets of changed autoscalers."""
    selectors: tuple[frozenset[tuple[str, str]], ...]
    """The labels by which changed Services select pods."""

    def concerns(self, value: paths.Object, source: str) -> bool:
        """Whether an object changed, or refers to one that did."""
        if source in self.sources and digest(value) not in self.known:
            return True
        return not self.names.isdisjoint(_texts(value)) or self._selects(value)

    def _selects(self, value: paths.Object) -> bool:
        """Whether a changed Service selects the labels of an object or of a template in it."""
        return any(
            selector <= {(key, text) for key, text in each.items() if isinstance(text, str)}
            for each in (_mappings(value) if self.selectors else ())
            for selector in self.selectors
        )


def of(before: Iterable[Batch], now: Iterable[Batch], *, since: str, namespace: str) -> Changes:
    """The changes of some files.

    Args:
        before: the files in their earlier state, including deleted ones.
        now: the files in their present state.
        since: the user's name for the earlier state.
        namespace: the namespace of objects without one.
    """
    after = list(now)
    old = {digest(item.value): item.value for batch in before for item in batch.items}
    new = {digest(item.value): item.value for batch in after for item in batch.items}
    differing = [value for found, other in ((old, new), (new, old)) for key, value in found.items() if key not in other]
    return Changes(
        since=since,
        sources=frozenset(batch.source for batch in after),
        known=frozenset(old),
        names=frozenset(name for value in differing for name in _names(value, namespace)),
        selectors=tuple(filter(None, map(_selector, differing))),
    )


def digest(value: paths.Object) -> bytes:
    """The digest of an object, independent of the order of its fields."""
    try:
        return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()
    except orjson.JSONEncodeError:  # half surrogates and very large integers
        return hashlib.sha256(repr(value).encode(errors="backslashreplace")).digest()


def _names(value: paths.Object, namespace: str) -> Iterator[str]:
    named = outlines.named(value, namespace)
    if (named.group, named.kind) not in registry.NEVER_NAMED:
        yield from filter(None, [named.name])
    growth = growth_of(value, namespace=namespace)
    if growth is not None:
        yield from filter(None, [growth.target.name])


def _selector(value: paths.Object) -> frozenset[tuple[str, str]]:
    """The labels that a Service selects; empty for any other object."""
    spec = value.get("spec")
    if (value.get("apiVersion"), value.get("kind")) != ("v1", "Service") or not isinstance(spec, dict):
        return frozenset()
    selector = spec.get("selector")
    labels = selector.items() if isinstance(selector, dict) else ()
    return frozenset((key, text) for key, text in labels if isinstance(text, str))


def _texts(value: paths.Json) -> Iterator[str]:
    return (each for each in _parts(value) if isinstance(each, str))


def _mappings(value: paths.Json) -> Iterator[paths.Object]:
    return (each for each in _parts(value) if isinstance(each, dict))


def _parts(value: paths.Json) -> Iterator[paths.Json]:
    pending = [value]
    while pending:
        each = pending.pop()
        yield each
        if isinstance(each, dict):
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
