"""Writes the wishes for the objects of one file: gives its new content, and the wishes that cannot be written."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.documents import reader
from usher.fixing import alignment, planning, rewriting, steps
from usher.fixing.wishes import Wish
from usher.scan.batches import Batch, Item

_SEVERAL_DOCUMENTS: Final = "the object consists of several documents; change it by hand"
_RESTS_ON_ANOTHER: Final = "it rests on another change that cannot be written here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A wish, and the number of its object in the file."""

    item: int
    wish: Wish


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritten:
    asked: Asked
    line: int
    """Line of the text in the way; of the document if the object as a whole is in the way."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    content: bytes
    documents: Sequence[reader.Document]
    """The documents of the new content."""
    pointers: Sequence[tuple[Asked, tuple[str, ...]]]
    """The written wishes, each with the pointers in its object that it changed."""
    unwritten: Sequence[Unwritten]


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """The values of documents after as many wishes as possible."""

    wanted: dict[int, paths.Json] = field(default_factory=dict)
    taken: list[tuple[Asked, tuple[str, ...]]] = field(default_factory=list)
    unfit: list[Unwritten] = field(default_factory=list)


def write(content: bytes, batch: Batch, asked: Sequence[Asked]) -> Written:
    """Writes as many wishes as possible.

    A wish that cannot be written only stops the wishes that depend on it.

    Args:
        content: the file.
        batch: its objects and documents.
        asked: the wishes; those of one object in the order in which to apply them.
    """
    unwritten: list[Unwritten] = []
    open_wishes = list(asked)
    while True:
        attempt = _attempt(batch.items, open_wishes)
        done = rewriting.rewrite(content, batch.documents, attempt.wanted)
        found = list(_in_the_way(batch.items, attempt, done.refusals))
        if not found:
            return Written(
                content=done.content,
                documents=done.documents,
                pointers=attempt.taken,
                unwritten=[*unwritten, *attempt.unfit],
            )
        unwritten += found
        gone = {id(each.asked) for each in found}
        open_wishes = [each for each in open_wishes if id(each) not in gone]


def _attempt(items: Sequence[Item], asked: Sequence[Asked]) -> _Attempt:
    attempt = _Attempt()
    by_item: defaultdict[int, list[Asked]] = defaultdict(list)
    for each in asked:
        by_item[each.item].append(each)
    for number, wishes in by_item.items():
        item = items[number]
        if item.document is None:
            continue
        value = item.value
        taken: list[tuple[Asked, tuple[str, ...]]] = []
        for each in wishes:
            try:
                value, pointers = steps.taken(value, each.wish.steps)
            except LookupError:
                attempt.unfit.append(Unwritten(asked=each, line=item.document.line, reason=_RESTS_ON_ANOTHER))
            else:
                taken.append((each, pointers))
        index = item.document.index
        whole = attempt.wanted.get(index, item.document.value)
        new = _with(whole, item, value)
        if new is None:
            unfit = (Unwritten(asked=each, line=item.document.line, reason=_SEVERAL_DOCUMENTS) for each, _ in taken)
            attempt.unfit.extend(unfit)
            continue
        attempt.wanted[index] = new
        attempt.taken += taken
    return attempt


def _with(document: paths.Json, item: Item, value: paths.Object) -> paths.Json:
    """The value of a document with a changed object in it; None if the object is not a part of the document."""
    part = paths.resolve(document, item.prefix)
    if not isinstance(part, dict):
        return None
    # Items of a typed list take the kind and the version from the list above them.
    lent = [key for key in item.value if key not in part]
    if any(not alignment.same(item.value[key], value.get(key)) for key in lent) or any(
        not alignment.same(part[key], item.value.get(key)) for key in part
    ):
        return None
    own: paths.Json = {key: each for key, each in value.items() if key not in lent}
    return _put(document, paths.split(item.prefix), own)


def _put(holder: paths.Json, keys: Sequence[str], value: paths.Json) -> paths.Json:
    """A copy of the holder with another value at a pointer; it only copies the collections above the pointer."""
    if not keys:
        return value
    key, *rest = keys
    if isinstance(holder, list):
        number = int(key)
        return [_put(each, rest, value) if index == number else each for index, each in enumerate(holder)]
    return {**holder, key: _put(holder[key], rest, value)} if isinstance(holder, dict) else holder


def _in_the_way(
    items: Sequence[Item], attempt: _Attempt, refusals: Mapping[int, Sequence[planning.Refusal]]
) -> Iterator[Unwritten]:
    """The wishes to which refusals apply: those that touch a refused place, or else all of the document."""
    for index, refused in refusals.items():
        concerned = [
            _Concerned(asked=each, prefix=items[each.item].prefix, pointers=pointers)
            for each, pointers in attempt.taken
            if (document := items[each.item].document) is not None and document.index == index
        ]
        everywhere = _Everywhere(concerned)
        found = [(each, refusal) for each in concerned if (refusal := each.touched(refused)) is not None]
        # Wishes for all places of a shared text can stay: without the other wishes they can be written at the anchor.
        disagreeing = [(each, refusal) for each, refusal in found if not everywhere.has(each, refusal.sites)]
        named = disagreeing or found or [(each, refused[0]) for each in concerned]
        yield from (Unwritten(asked=each.asked, line=refusal.line, reason=refusal.reason) for each, refusal in named)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concerned:
    """A wish in a document with refusals."""

    asked: Asked
    prefix: str
    pointers: tuple[str, ...]
    """The pointers in its object that it changed."""

    def touched(self, refused: Sequence[planning.Refusal]) -> planning.Refusal | None:
        places = [self.prefix + pointer for pointer in self.pointers]
        return next((each for each in refused if any(steps.overlap(each.pointer, place) for place in places)), None)

    def relative_to(self, site: str) -> str:
        """Its effect below a place as text; empty if it also changes another place."""
        found = []
        for step in self.asked.wish.steps:
            place = self.prefix + step.pointer
            if not place.startswith(f"{site}/"):
                return ""
            found.append(f"{step.action.name} {place.removeprefix(site)} {json.dumps(step.value, sort_keys=True)}")
        return "\n".join(found)


class _Everywhere:
    """Whether all places of shared text have a wish."""

    def __init__(self, wishes: Sequence[_Concerned]) -> None:
        self._wishes = wishes
        self._meant: dict[str, frozenset[str]] = {}

    def has(self, wish: _Concerned, sites: Sequence[str]) -> bool:
        meant = next(filter(None, map(wish.relative_to, sites)), "")
        return bool(meant) and all(meant in self._at(site) for site in sites)

    def _at(self, site: str) -> frozenset[str]:
        if site not in self._meant:
            self._meant[site] = frozenset(each.relative_to(site) for each in self._wishes)
        return self._meant[site]
