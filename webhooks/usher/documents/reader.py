"""Manifests: the text of a YAML or JSON file -> the objects that kubectl would send.

The text is read as in kubectl (k8s.io/cli-runtime, StreamVisitor): it is cut at the lines that start with ---, and a
text that starts like JSON is read as JSON first. If kubectl would guess, drop or round a value, usher refuses it.
"""

import re
from json import JSONDecodeError
from typing import TYPE_CHECKING, Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.documents import chunks, plain

# Most manifests are read without YAML's events, whose library takes long to import.
if TYPE_CHECKING:
    from usher.documents import composing, jsontext

_OPENING: Final = re.compile(r"[ \t\r\n]*[{\[\"]")
"""Starts a text that may be JSON."""

# Text that starts like this is meant as JSON, so errors name the JSON error. Other text in brackets may be YAML.
_MEANT_AS_JSON: Final = re.compile(r"\s*\{\s*[\"}]")


MAX_ERRORS: Final = 20
"""The most unusable documents of one file; usher does not read the rest of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a file or stream; `usher.documents.places` knows where its values stand."""

    value: paths.Json
    """As kubectl sends it; no part of it is shared with another place."""
    source: str
    """File name or `<stdin>`."""
    index: int
    """Its number among the stream's documents that are not empty, from 0."""
    line: int
    """First line of its content, from 1."""
    chunk: chunks.Chunk
    """Its text; for YAML with the comments around it."""
    is_json: bool
    """Whether the text was read by JSON's rules."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The usable documents of a file, and why others are not usable."""

    documents: list[Document]
    errors: list[errors.ManifestError]


def parse(text: str | bytes, *, source: str) -> list[Document]:
    """The documents of a file. Empty ones (nothing, comments, null) are left out, `List` kinds stay unchanged.

    Raises:
        ManifestError: kubectl would refuse a document, or would change or drop a part of it without an error.
    """
    found = parse_each(text, source=source)
    if found.errors:
        raise found.errors[0]
    return found.documents


def parse_each(text: str | bytes, *, source: str, line: int = 1) -> Parsed:
    """The documents of a file, like `parse`, but with other documents beside an unusable one.

    The text may be a part of a file, which starts at `line`.
    """
    found, aliased = Parsed([], []), 0
    try:
        for chunk in chunks.split(chunks.whole(text, source=source, line=line)):
            try:
                aliased = _read(chunk, found.documents, aliased)
            except errors.ManifestError as error:
                found.errors.append(error)
                if len(found.errors) == MAX_ERRORS:
                    break
    except errors.ManifestError as error:
        found.errors.append(error)
    return found


def _read(chunk: chunks.Chunk, documents: list[Document], aliased: int) -> int:
    """Adds the documents of a chunk to the earlier ones. Returns the aliased characters so far, the chunk included."""
    values = _json_values(chunk)
    if isinstance(values, list):
        found = [(each.value, each.chunk.line, each.chunk) for each in values]
    elif values is None and (plainly := _plain(chunk)) is not None:
        found = [(plainly.value, chunk.line + plainly.line, chunk)] if plainly.value is not None else []
    elif composed := _composed(chunk, aliased=aliased, not_json=values):
        found = [(composed.value, chunk.place(composed.start)[0], chunk)]
        aliased = composed.aliased
    else:
        return aliased
    for value, line, part in found:
        if len(documents) == chunks.MAX_DOCUMENTS:
            raise chunks.too_many(part)
        if value is not None:
            documents.append(
                Document(
                    value=value,
                    source=part.source,
                    index=len(documents),
                    line=line,
                    chunk=part,
                    is_json=isinstance(values, list),
                )
            )
    return aliased


def trace(document: Document) -> "composing.Composed | None":
    """The document composed again, with the offsets of its values and keys in its chunk."""
    from usher.documents import composing

    return composing.compose(document.chunk, event_source(document), traced=True)


def event_source(document: Document) -> "composing.EventSource":
    """The document as events, whose marks count the characters of its chunk."""
    if document.is_json:
        from usher.documents import jsontext

        return jsontext.event_source(document.chunk)
    import yaml

    source: composing.EventSource = yaml.CBaseLoader(document.chunk.text).get_event
    return source


def _json_values(chunk: chunks.Chunk) -> "list[jsontext.Value] | JSONDecodeError | None":
    if _OPENING.match(chunk.text) is None:
        return None
    from usher.documents import jsontext

    try:
        values = jsontext.decode(chunk)
    except JSONDecodeError as error:
        return error
    for each in values:
        each.chunk.check_size()
    return values


def _plain(chunk: chunks.Chunk) -> plain.Read | None:
    chunk.check_size()
    return plain.read(chunk.text)


def _composed(chunk: chunks.Chunk, *, aliased: int, not_json: JSONDecodeError | None) -> "composing.Composed | None":
    import yaml

    from usher.documents import composing, syntax

    chunk.check_size()
    try:
        try:
            return composing.compose(chunk, yaml.CBaseLoader(chunk.text).get_event, aliased=aliased)
        except yaml.YAMLError as error:
            raise syntax.refusal(chunk, error) from None
    except errors.ManifestError:
        if not_json is not None and _MEANT_AS_JSON.match(chunk.text):
            raise chunk.refusal(f"not JSON: {not_json.msg}; correct it", offset=not_json.pos) from None
        raise
