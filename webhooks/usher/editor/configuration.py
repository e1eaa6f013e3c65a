"""Diagnostics of usher.yaml: each mistake at its place."""

from collections.abc import Iterator, Sequence
from typing import Final

from usher import errors, paths
from usher.config import load, models
from usher.documents import places, reader
from usher.editor import schema
from usher.editor.diagnostics import Diagnostic, Severity, at_line
from usher.editor.positions import Text
from usher.policy import config_problems
from usher.policy.checks.catalogue import Catalogue
from usher.reports import wording
from usher.scan import positions
from usher.scan.batches import Item

_SOURCE: Final = "usher.yaml"


def diagnostics(text: Text, catalogue: Catalogue) -> list[Diagnostic]:
    """All mistakes and warnings of a text for usher.yaml, in the order of their lines."""
    try:
        documents = reader.parse(text.content, source=_SOURCE)
    except errors.ManifestError as error:
        start = text.offset_of(error.line, error.column)
        message = wording.capitalised(wording.printable(error.reason))
        return [Diagnostic(range=text.range(start, start + 1), severity=Severity.ERROR, message=message)]
    if not documents:
        return []
    if len(documents) > 1:
        message = "usher.yaml is one document; remove this one"
        return [at_line(text, documents[1].line, severity=Severity.ERROR, message=message)]
    found = list(_found(documents[0], text, catalogue))
    return sorted(found, key=lambda each: each.range.start)


def _found(document: reader.Document, text: Text, catalogue: Catalogue) -> Iterator[Diagnostic]:
    mistakes = load.find_mistakes(document.value, more=lambda config: config_problems.problems(config, catalogue))
    where = _Places(document, text)
    for pointer, reason in mistakes:
        yield where.diagnostic(pointer, reason, Severity.ERROR)
    if not mistakes:
        for pointer, reason in config_problems.warnings(models.Config.model_validate(document.value)):
            yield where.diagnostic(pointer, reason, Severity.WARNING)


class _Places:
    def __init__(self, document: reader.Document, text: Text) -> None:
        self._value = document.value
        self._text = text
        self._places = places.Places(document)
        value = document.value if isinstance(document.value, dict) else {}
        self._pointer = positions.Pointer(Item(value=value, document=document))

    def diagnostic(self, pointer: str, reason: str, severity: Severity) -> Diagnostic:
        line, column, end_column = self._place(pointer)
        start, end = self._text.offset_of(line, column), self._text.offset_of(line, end_column)
        message = wording.capitalised(wording.printable(reason))
        if pointer not in self._places:
            message = f"{wording.printable(paths.readable(pointer))}: {wording.printable(reason)}"
        return Diagnostic(range=self._text.range(start, end), severity=severity, message=message)

    def _place(self, pointer: str) -> tuple[int, int, int]:
        """The place of an unknown key, or of the value of a known key if it is a text or a number."""
        known = self._places.get(pointer)
        if known is not None and known.key is not None and not schema.at(self._keys(pointer)):
            return known.key.line, known.key.column, known.key.end_column
        place = self._pointer.place(pointer)
        return (place.line, place.column, place.end_column) if place is not None else (1, 1, 1)

    def _keys(self, pointer: str) -> Sequence[str | int]:
        """The pointer as keys, with numbers for the items of lists."""
        keys = list[str | int]()
        value = self._value
        for key in paths.split(pointer):
            if isinstance(value, list):
                keys.append(int(key))
                value = value[int(key)]
            else:
                keys.append(key)
                value = value.get(key) if isinstance(value, dict) else None
        return keys
