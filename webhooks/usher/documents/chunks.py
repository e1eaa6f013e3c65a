"""A file, cut into documents as kubectl cuts it, and why a text is not YAML."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from usher import errors, memo

MAX_FILE_BYTES: Final = 64 * 2**20
MAX_DOCUMENT_BYTES: Final = 8 * 2**20
MAX_DOCUMENTS: Final = 100_000

_BYTE_ORDER_MARK: Final = "\ufeff"
# libyaml skips one at the start of any line, go-yaml does not.
_STRAY_MARK: Final = memo.pattern(rf"^{_BYTE_ORDER_MARK}|(?<=[\r\x85\u2028\u2029]){_BYTE_ORDER_MARK}", re.MULTILINE)
# k8s.io/apimachinery, YAMLReader: only a line with this start ends a document, in spite of YAML's rules.
_SEPARATOR: Final = memo.pattern(r"^---([^\n]*)\n?", re.MULTILINE)


class Chunk(Struct, frozen=True, kw_only=True):
    """A stretch of a file that holds one document; its offsets count characters from its own beginning."""

    source: str
    text: str
    line: int
    """Line of the first character, from 1."""
    column: int = 1
    """Column of the first character, from 1; larger only for JSON values that share a line."""
    offset: int = 0
    """Number of its first character in the file, from 0, without the byte order mark that may begin the file."""

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, from 1. Lines end at a line feed, as in editors."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        column = offset - line_start + (self.column if line_start == 0 else 1)
        return self.line + self.text.count("\n", 0, offset), column

    def refusal(self, reason: str, *, offset: int = 0) -> errors.ManifestError:
        line, column = self.place(offset)
        return errors.ManifestError(reason, source=self.source, line=line, column=column)

    def check_size(self) -> None:
        """Raises ManifestError for a document above MAX_DOCUMENT_BYTES."""
        # A character has one to four bytes, so most texts are not encoded for this.
        length = len(self.text)
        if length > MAX_DOCUMENT_BYTES or (
            length > MAX_DOCUMENT_BYTES // 4 and len(self.text.encode()) > MAX_DOCUMENT_BYTES
        ):
            reason = f"the document is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB; split it"
            raise self.refusal(f"{reason}: of a List in JSON, jq -c '.items[]' makes a document of each object")


def whole_file(content: str | bytes, *, source: str, line: int = 1) -> Chunk:
    """A whole file as text, without a byte order mark; or a part of it that begins at a line.

    Raises:
        ManifestError: too large, or no UTF-8.
    """
    too_large = errors.ManifestError(f"larger than {MAX_FILE_BYTES // 2**20} MiB; split the file", source=source)
    if len(content) > MAX_FILE_BYTES:
        raise too_large
    if isinstance(content, bytes):
        if line == 1 and content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise errors.ManifestError("the file is UTF-16; save it as UTF-8", source=source, line=1, column=1)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            before = Chunk(source=source, text=content[: error.start].decode(), line=line)
            reason = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
            raise before.refusal(reason, offset=len(before.text)) from None
    else:
        text = content
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            everything = Chunk(source=source, text=text, line=line)
            reason = f"U+{ord(text[error.start]):04X} is half a character; save the file as UTF-8"
            raise everything.refusal(reason, offset=error.start) from None
        if size > MAX_FILE_BYTES:
            raise too_large
    return Chunk(source=source, text=text.removeprefix(_BYTE_ORDER_MARK), line=line)


def split_documents(file: Chunk) -> Iterator[Chunk]:
    """The documents of a stream, the empty ones too.

    Raises:
        ManifestError: content on a separator's line, which kubectl refuses; a document too large; too many of them.
    """
    text, start, line = file.text, 0, file.line
    within = text.count("\n---")
    if within > MAX_DOCUMENTS:
        raise too_many_documents(file)
    # The pattern tries every character, and most large files are one document.
    for separator in _SEPARATOR.finditer(text) if within or text.startswith("---") else ():
        rest = separator[1].strip()
        if rest and not rest.startswith("#"):
            raise file.refusal(
                "kubectl takes nothing but a comment after ---; move the rest to the next line",
                offset=separator.start(),
            )
        if separator.start() > start:
            yield _document(file, start, separator.start(), line)
        line += text.count("\n", start, separator.end())
        start = separator.end()
    if start < len(text):
        yield _document(file, start, len(text), line)


def too_many_documents(chunk: Chunk) -> errors.ManifestError:
    """The refusal of a stream above MAX_DOCUMENTS, placed at a chunk."""
    return chunk.refusal(f"more than {MAX_DOCUMENTS} documents in one stream; split it")


def _document(file: Chunk, start: int, end: int, line: int) -> Chunk:
    text = file.text[start:end].removeprefix(_BYTE_ORDER_MARK)
    # kubectl reads by the line and ends each: a block scalar at the end of a file keeps its line feed.
    ended = text if text.endswith("\n") else text + "\n"
    chunk = Chunk(source=file.source, text=ended, line=line, offset=end - len(text))
    if stray := _BYTE_ORDER_MARK in text and _STRAY_MARK.search(text):
        raise chunk.refusal(
            "a byte order mark inside the document would become part of a key; remove it", offset=stray.start()
        )
    return chunk


# What libyaml's reader refuses; the byte order mark is handled before. A list of what it takes is compiled for long.
_FORBIDDEN: Final = memo.pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# A quoted `{{ }}` is plain YAML (Argo and KServe resolve them in the cluster), and so is one in a comment.
_TEMPLATE: Final = memo.pattern(r"^[^#\"'\n]*?(\{\{|\{%)", re.MULTILINE)

_ESCAPE: Final = "the escape names no character; write the character itself or double the backslash"
_QUOTE: Final = "the quote that opens here is never closed; close it"
_REASONS: Final = {
    "mapping values are not allowed in this context": (
        "a key cannot stand here; check the indentation, or quote the value if its colon belongs to it"
    ),
    "mapping keys are not allowed in this context": "a key cannot stand here; quote the value if the ? belongs to it",
    "block sequence entries are not allowed in this context": (
        "a list cannot start on the line of its key; move the - to the next line, or quote the value"
    ),
    "did not find expected key": "neither a key nor part of the value before it; check the indentation and the quotes",
    "did not find expected '-' indicator": "a list goes on here, yet the - is missing; check the indentation",
    "did not find expected ',' or ']'": "the list in [ ] misses a , or its ] before this; add it",
    "did not find expected ',' or '}'": "the mapping in { } misses a , or its } before this; add it",
    "did not find expected node content": "a value is missing here; add one or remove the comma or bracket",
    "did not find expected comment or line break": "only a comment may follow | or > on its line; move the text down",
    "found unknown escape character": "no such escape in double quotes; double the backslash or use single quotes",
    "found invalid Unicode character escape code": _ESCAPE,
    "did not find expected hexdecimal number": _ESCAPE,
    "found undefined tag handle": "the tag has no meaning in a manifest; remove it, or quote the value",
    "found unexpected end of stream": _QUOTE,
    "found unexpected document indicator": _QUOTE,
    "could not find expected ':'": "a key without its colon; add it, or indent what belongs to the value before",
    "did not find expected alphabetic or numeric character": (
        "* and & at the start of a value name an alias or an anchor; quote the value if text is meant"
    ),
}
UNRENDERED: Final = "looks like an unrendered template"
"""The start of the reason if the text is not YAML because it has template marks."""
_TOLD_AT_THE_START: Final = frozenset(
    [
        "found unexpected end of stream",
        "found unexpected document indicator",
        "could not find expected ':'",
        "did not find expected alphabetic or numeric character",
    ]
)


def syntax_error(chunk: Chunk, error: Exception) -> errors.ManifestError:
    """The error to raise for libyaml's error about a document, a yaml.YAMLError."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return _unreadable(chunk, error)
    problem = str(getattr(error, "problem", ""))
    context = getattr(error, "context_mark", None)
    start = mark.index if context is None else context.index
    if template := template_error(chunk, start, mark.index):
        return template
    if problem in _TOLD_AT_THE_START:
        return chunk.refusal(_REASONS[problem], offset=start)
    return chunk.refusal(_reason(chunk.text, mark.index, problem), offset=mark.index)


def template_error(chunk: Chunk, start: int, end: int) -> errors.ManifestError | None:
    """The error to raise if the lines between two offsets hold template marks, which are then the cause; else None."""
    line_start = chunk.text.rfind("\n", 0, start) + 1
    line_end = chunk.text.find("\n", end)
    match = _TEMPLATE.search(chunk.text, line_start, line_end if line_end >= 0 else len(chunk.text))
    if match is None:
        return None
    line, _ = chunk.place(match.start(1))
    return chunk.refusal(
        f"{UNRENDERED} (line {line}): render it first, e.g. helm template | usher check -",
        offset=match.start(1),
    )


def _reason(text: str, offset: int, problem: str) -> str:
    character = text[offset : offset + 1]
    if character == "\t":
        return "a tab where YAML wants spaces; indent with spaces"
    if problem == "found character that cannot start any token":
        return f"a value cannot start with {character}; quote it"
    if problem == "did not find expected <document start>":
        if text.startswith("%"):
            return "kubectl takes no directives (%YAML, %TAG); remove them"
        return "the document ends before this; put --- in between or check the indentation"
    return _REASONS.get(problem, f"not YAML: {problem}; mend it or quote the value")


def _unreadable(chunk: Chunk, error: Exception) -> errors.ManifestError:
    match = _FORBIDDEN.search(chunk.text)
    if match is None:
        return chunk.refusal(f"not YAML: {error}")
    reason = f"the control character U+{ord(match[0]):04X} is not allowed; remove it"
    return chunk.refusal(reason, offset=match.start())
