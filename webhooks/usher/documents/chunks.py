"""A file, cut into documents as kubectl cuts it, with the place of each document."""

import re
from collections.abc import Iterator
from typing import Final

from usher import errors
from usher.dataclass import dataclass

MAX_FILE_BYTES: Final = 64 * 2**20
MAX_DOCUMENT_BYTES: Final = 8 * 2**20
MAX_DOCUMENTS: Final = 100_000

_BYTE_ORDER_MARK: Final = "\ufeff"
# libyaml skips one at the start of any line, go-yaml does not.
_STRAY_MARK: Final = re.compile(rf"^{_BYTE_ORDER_MARK}|(?<=[\r\x85\u2028\u2029]){_BYTE_ORDER_MARK}", re.MULTILINE)
# k8s.io/apimachinery, YAMLReader: only a line with this start ends a document, in spite of YAML's rules.
_SEPARATOR: Final = re.compile(r"^---([^\n]*)\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
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


def whole(content: str | bytes, *, source: str, line: int = 1) -> Chunk:
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


def split(file: Chunk) -> Iterator[Chunk]:
    """The documents of a stream, the empty ones too.

    Raises:
        ManifestError: content on a separator's line, which kubectl refuses; a document too large; too many of them.
    """
    text, start, line = file.text, 0, file.line
    within = text.count("\n---")
    if within > MAX_DOCUMENTS:
        raise too_many(file)
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


def too_many(chunk: Chunk) -> errors.ManifestError:
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
