"""Makes the new text of a file, and proves that it has the wanted values and no other change."""

from collections.abc import Mapping, Sequence
from typing import Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.documents import chunks, reader
from usher.fixing import alignment, edits, planning, templates

_MARK: Final = "\ufeff".encode()
_UNPROVEN: Final = "usher cannot write this change so that the text says exactly that; change it by hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
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
        content: the file.
        documents: its documents from the reader.
        wanted: the value of each document that changes, by its number.
    """
    changes = {index: value for index, value in wanted.items() if not alignment.same(value, documents[index].value)}
    if not changes:
        return Rewritten(content=content, documents=documents, refusals={})
    if reason := templates.why_not(content):
        refused = {index: (_whole(documents[index], reason),) for index in changes}
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


def holds(content: bytes, documents: Sequence[reader.Document]) -> bool:
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
        new = _put(content, {index: (documents[index].chunk, text) for index, text in texts.items()})
        found = _parsed(new)
        wrong = _wrong(found, documents, {index: wanted[index] for index in texts})
        if found is not None and not wrong:
            return Rewritten(content=new, documents=found, refusals=refusals)
        # One document can change the meaning of the whole file, so each has to prove itself separately.
        alone = {index for index in texts if _wrong(_parsed(texts[index].encode()), [documents[index]], wanted)}
        for index in alone or set(texts):
            refusals[index] = (_whole(documents[index], _UNPROVEN),)
            del texts[index]
    return Rewritten(content=content, documents=documents, refusals=refusals)


def _rewritten(document: reader.Document, wanted: paths.Json) -> tuple[str, tuple[planning.Refusal, ...]]:
    if reason := templates.why_odd(document.chunk.text):
        return "", (_whole(document, reason),)
    plan = planning.plan(document, wanted)
    if plan.refusals:
        return "", plan.refusals
    try:
        return edits.applied(document.chunk.text, plan.edits), ()
    except edits.RefusedError:
        return "", (_whole(document, _UNPROVEN),)


def _put(content: bytes, stretches: Mapping[int, tuple[chunks.Chunk, str]]) -> bytes:
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
        if not alignment.same(new.value, wanted.get(old.index, old.value))
    }


def _whole(document: reader.Document, reason: str) -> planning.Refusal:
    return planning.Refusal(pointer=paths.ROOT, line=document.line, reason=reason)
