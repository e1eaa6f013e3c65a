"""Why a text is not YAML: libyaml's errors in plain words, and unrendered templates."""

import re
from typing import Final

import yaml

from usher import errors
from usher.documents import chunks

# Only characters that libyaml's reader accepts are missing here; the byte order mark is handled before.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A quoted `{{ }}` is plain YAML (Argo and KServe resolve them in the cluster), and so is one in a comment.
_TEMPLATE: Final = re.compile(r"^[^#\"'\n]*?(\{\{|\{%)", re.MULTILINE)

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


def refusal(chunk: chunks.Chunk, error: yaml.YAMLError) -> errors.ManifestError:
    """The error to raise for libyaml's error about a document."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return _unreadable(chunk, error)
    problem = str(getattr(error, "problem", ""))
    context = getattr(error, "context_mark", None)
    start = mark.index if context is None else context.index
    if template := unrendered(chunk, start, mark.index):
        return template
    if problem in _TOLD_AT_THE_START:
        return chunk.refusal(_REASONS[problem], offset=start)
    return chunk.refusal(_reason(chunk.text, mark.index, problem), offset=mark.index)


def unrendered(chunk: chunks.Chunk, start: int, end: int) -> errors.ManifestError | None:
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


def _unreadable(chunk: chunks.Chunk, error: yaml.YAMLError) -> errors.ManifestError:
    match = _FORBIDDEN.search(chunk.text)
    if match is None:
        return chunk.refusal(f"not YAML: {error}")
    reason = f"the control character U+{ord(match[0]):04X} is not allowed; remove it"
    return chunk.refusal(reason, offset=match.start())
