"""Writes wishes into the text of a file, and proves that the new text says what was wanted and nothing else."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from usher import errors, paths
from usher.check.batches import Batch, Item
from usher.check.fix import planning, remedies, syntax, text_edits
from usher.check.fix.remedies import Wish
from usher.documents import chunks, reader

# Argo, KServe and Tekton also write {{ }}, and resolve it in the cluster. Only Helm and Jinja use these forms.
_HELM: Final = re.compile(
    rb"\{\{-|-\}\}|\{\{\s*(?:/\*|\$|(?:if|else|end|range|with|define|block|template|include|toYaml|tpl)\b"
    rb"|\.(?:Values|Release|Chart|Capabilities|Files|Template|Subcharts)\b)"
)
_JINJA: Final = re.compile(rb"\{%-?\s*(?:if|for|set|raw|macro|include|import|block|extends)\b")
_ODD_LINE_END: Final = re.compile("\r(?!\n)|[\x85\u2028\u2029]")


def why_file_is_not_edited(content: bytes) -> str:
    """Why usher does not edit a file; empty if it may."""
    for pattern, name in ((_HELM, "Helm"), (_JINJA, "Jinja")):
        if found := pattern.search(content):
            line = content.count(b"\n", 0, found.start()) + 1
            return f"the file is a template for {name} (line {line}), and usher edits no templates; change it by hand"
    return ""


def why_document_is_not_edited(text: str) -> str:
    """Why usher does not edit a document; empty if it may."""
    if found := _ODD_LINE_END.search(text):
        return f"the character U+{ord(found[0]):04X} ends lines for some programs only; save the text with line feeds"
    return ""


_MARK: Final = "\ufeff".encode()
_UNPROVEN: Final = "usher cannot write this change so that the text says exactly that; change it by hand"


class Rewritten(Struct, frozen=True, kw_only=True):
    """The result for a file."""

    content: bytes
    """The new content; the old one if nothing could be written."""
    documents: Sequence[reader.Document]
    """The documents of the content."""
    refusals: Mapping[int, tuple[planning.Refusal, ...]]
    """Refusals by number of the document. A document with refusals stays unchanged."""


def rewrite(content: bytes, documents: Sequence[reader.Document], wanted: Mapping[int, paths.Json]) -> Rewritten:
    """Writes wanted values into documents of a file.

    Args:
        wanted: the value of each document that changes, by its number.
    """
    changes = {
        index: value for index, value in wanted.items() if not syntax.is_same_value(value, documents[index].value)
    }
    if not changes:
        return Rewritten(content=content, documents=documents, refusals={})
    if reason := why_file_is_not_edited(content):
        refused = {index: (_refuse_document(documents[index], reason),) for index in changes}
        return Rewritten(content=content, documents=documents, refusals=refused)
    texts: dict[int, str] = {}
    refusals: dict[int, tuple[planning.Refusal, ...]] = {}
    for index, value in changes.items():
        text, refused_here = _rewritten(documents[index], value)
        if refused_here:
            refusals[index] = refused_here
        else:
            texts[index] = text
    return _proven(content, documents, changes, texts, refusals)


def holds_documents(content: bytes, documents: Sequence[reader.Document]) -> bool:
    """Whether a content has the documents at the places that they give."""
    try:
        text = content.removeprefix(_MARK).decode()
    except UnicodeDecodeError:
        return False
    return all(
        text.startswith(each.chunk.text, each.chunk.offset)
        or text[each.chunk.offset :] == each.chunk.text.removesuffix("\n")
        for each in documents
    )


def _proven(
    content: bytes,
    documents: Sequence[reader.Document],
    wanted: Mapping[int, paths.Json],
    texts: dict[int, str],
    refusals: dict[int, tuple[planning.Refusal, ...]],
) -> Rewritten:
    """The new content, parsed again to prove that it has the wanted values. It refuses the documents that fail."""
    while texts:
        new = _put_stretches(content, {index: (documents[index].chunk, text) for index, text in texts.items()})
        found = _parsed(new)
        wrong = _wrong(found, documents, {index: wanted[index] for index in texts})
        if found is not None and not wrong:
            return Rewritten(content=new, documents=found, refusals=refusals)
        # One document can change the meaning of the whole file, so each has to prove itself separately.
        alone = {index for index in texts if _wrong(_parsed(texts[index].encode()), [documents[index]], wanted)}
        for index in alone or set(texts):
            refusals[index] = (_refuse_document(documents[index], _UNPROVEN),)
            del texts[index]
    return Rewritten(content=content, documents=documents, refusals=refusals)


def _rewritten(document: reader.Document, wanted: paths.Json) -> tuple[str, tuple[planning.Refusal, ...]]:
    if reason := why_document_is_not_edited(document.chunk.text):
        return "", (_refuse_document(document, reason),)
    plan = planning.plan(document, wanted)
    if plan.refusals:
        return "", plan.refusals
    try:
        return text_edits.apply_edits(document.chunk.text, plan.edits), ()
    except text_edits.RefusedError:
        return "", (_refuse_document(document, _UNPROVEN),)


def _put_stretches(content: bytes, stretches: Mapping[int, tuple[chunks.Chunk, str]]) -> bytes:
    mark = _MARK if content.startswith(_MARK) else b""
    text = content[len(mark) :].decode()
    parts, position = [], 0
    for _, (chunk, new) in sorted(stretches.items()):
        end = chunk.offset + len(chunk.text)
        # The reader adds a line end to the last line; the file may lack it.
        parts += [text[position : chunk.offset], new if end <= len(text) else new.rstrip("\r\n")]
        position = end
    return mark + "".join([*parts, text[position:]]).encode()


def _parsed(content: bytes) -> list[reader.Document] | None:
    try:
        return reader.parse(content, source="")
    except errors.ManifestError:
        return None


def _wrong(
    found: Sequence[reader.Document] | None, documents: Sequence[reader.Document], wanted: Mapping[int, paths.Json]
) -> set[int]:
    """Numbers of the documents with a wrong value; all documents if their number changed."""
    if found is None or len(found) != len(documents):
        return {old.index for old in documents}
    return {
        old.index
        for new, old in zip(found, documents, strict=True)
        if not syntax.is_same_value(new.value, wanted.get(old.index, old.value))
    }


def _refuse_document(document: reader.Document, reason: str) -> planning.Refusal:
    return planning.Refusal(pointer=paths.ROOT, line=document.line, reason=reason)


_SEVERAL_DOCUMENTS: Final = "the object consists of several documents; change it by hand"
_RESTS_ON_ANOTHER: Final = "it rests on another change that cannot be written here"


class NumberedWish(Struct, frozen=True, kw_only=True):
    """A wish, and the number of its object in the file."""

    item: int
    wish: Wish


class Unwritten(Struct, frozen=True, kw_only=True):
    asked: NumberedWish
    line: int
    """Line of the text in the way; of the document if the object as a whole is in the way."""
    reason: str


class Written(Struct, frozen=True, kw_only=True):
    content: bytes
    documents: Sequence[reader.Document]
    """The documents of the new content."""
    pointers: Sequence[tuple[NumberedWish, tuple[str, ...]]]
    """The written wishes, each with the pointers in its object that it changed."""
    unwritten: Sequence[Unwritten]


class _Attempt(Struct, kw_only=True):
    """The values of documents after as many wishes as possible."""

    wanted: dict[int, paths.Json] = field(default_factory=dict)
    taken: list[tuple[NumberedWish, tuple[str, ...]]] = field(default_factory=list)
    unfit: list[Unwritten] = field(default_factory=list)


def write_wishes(content: bytes, batch: Batch, asked: Sequence[NumberedWish]) -> Written:
    """Writes as many wishes as possible.

    A wish that cannot be written only stops the wishes that depend on it.

    Args:
        asked: the wishes; those of one object in the order in which to apply them.
    """
    unwritten: list[Unwritten] = []
    open_wishes = list(asked)
    while True:
        attempt = _attempt(batch.items, open_wishes)
        done = rewrite(content, batch.documents, attempt.wanted)
        found = list(_wishes_in_the_way(batch.items, attempt, done.refusals))
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


def _attempt(items: Sequence[Item], asked: Sequence[NumberedWish]) -> _Attempt:
    attempt = _Attempt()
    by_item: defaultdict[int, list[NumberedWish]] = defaultdict(list)
    for each in asked:
        by_item[each.item].append(each)
    for number, wishes in by_item.items():
        item = items[number]
        if item.document is None:
            continue
        value = item.value
        taken: list[tuple[NumberedWish, tuple[str, ...]]] = []
        for each in wishes:
            try:
                value, pointers = remedies.apply_steps(value, each.wish.steps)
            except LookupError:
                attempt.unfit.append(Unwritten(asked=each, line=item.document.line, reason=_RESTS_ON_ANOTHER))
            else:
                taken.append((each, pointers))
        index = item.document.index
        document = attempt.wanted.get(index, item.document.value)
        new = _document_with_object(document, item, value)
        if new is None:
            unfit = (Unwritten(asked=each, line=item.document.line, reason=_SEVERAL_DOCUMENTS) for each, _ in taken)
            attempt.unfit.extend(unfit)
            continue
        attempt.wanted[index] = new
        attempt.taken += taken
    return attempt


def _document_with_object(document: paths.Json, item: Item, value: paths.Object) -> paths.Json:
    """The value of a document with a changed object in it; None if the object is not a part of the document."""
    part = paths.resolve(document, item.prefix)
    if not isinstance(part, dict):
        return None
    # Items of a typed list take the kind and the version from the list above them.
    lent = [key for key in item.value if key not in part]
    if any(not syntax.is_same_value(item.value[key], value.get(key)) for key in lent) or any(
        not syntax.is_same_value(part[key], item.value.get(key)) for key in part
    ):
        return None
    own: paths.Json = {key: each for key, each in value.items() if key not in lent}
    return _put_value(document, paths.split(item.prefix), own)


def _put_value(holder: paths.Json, keys: Sequence[str], value: paths.Json) -> paths.Json:
    """A copy of the holder with another value at a pointer; it only copies the collections above the pointer."""
    if not keys:
        return value
    key, *rest = keys
    if isinstance(holder, list):
        number = int(key)
        return [_put_value(each, rest, value) if index == number else each for index, each in enumerate(holder)]
    return {**holder, key: _put_value(holder[key], rest, value)} if isinstance(holder, dict) else holder


def _wishes_in_the_way(
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


class _Concerned(Struct, frozen=True, kw_only=True):
    """A wish in a document with refusals."""

    asked: NumberedWish
    prefix: str
    pointers: tuple[str, ...]
    """The pointers in its object that it changed."""

    def touched(self, refused: Sequence[planning.Refusal]) -> planning.Refusal | None:
        places = [self.prefix + pointer for pointer in self.pointers]
        return next(
            (each for each in refused if any(remedies.pointers_overlap(each.pointer, place) for place in places)), None
        )

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
