"""The place in a file for the JSON Pointer of a finding."""

from typing import Final

from usher import paths
from usher.documents import places, reader
from usher.scan import findings
from usher.scan.batches import Item

# The place to show for an object as a whole, and for fields missing at its top.
_HEAD = "/kind"


_KEPT: Final[dict[str, tuple[reader.Document, places.Places]]] = {}
"""The places in the last document, under "last". A List has thousands of objects in one text, which is read
only once.
"""


def _places(document: reader.Document) -> places.Places:
    kept = _KEPT.get("last")
    if kept is not None and kept[0] is document:
        return kept[1]
    found = places.Places(document)
    _KEPT["last"] = document, found
    return found


class Pointer:
    """Finds places in the text of one object. It reads the text only when the first place is needed."""

    def __init__(self, item: Item) -> None:
        self._item = item
        self._places: places.Places | None = None

    def place(self, pointer: str) -> findings.Place | None:
        """The place of the value at a pointer, or of the nearest value above if it is missing.

        It is the place of a text or number itself, but of the key for a mapping or list, because the key names it. None
        for objects without text.
        """
        if self._item.document is None:
            return None
        if self._places is None:
            self._places = _places(self._item.document)
        span = self._span(self._places, pointer)
        excerpt = self._places.excerpt(span)
        return findings.Place(
            line=span.line,
            column=span.column,
            end_column=self._end(span, excerpt),
            excerpt=findings.Excerpt(text=excerpt.text, column=excerpt.column, end_column=excerpt.end_column),
        )

    @staticmethod
    def _end(span: places.Span, excerpt: places.Excerpt) -> int:
        """The end of a span in its first line. It covers at least one character, as the excerpt does."""
        if span.end_line == span.line:
            return max(span.end_column, span.column + 1)
        return span.column + excerpt.end_column - excerpt.column

    def _span(self, known: places.Places, pointer: str) -> places.Span:
        wanted = self._item.prefix + pointer
        nearest = wanted
        while nearest != self._item.prefix and nearest not in known:
            nearest = nearest.rpartition("/")[0]
        if nearest == self._item.prefix and nearest + _HEAD in known:
            return known[nearest + _HEAD]
        position = known.nearest(nearest)
        # A null may have no text; then its key gives the place.
        has_text = position.line == position.end_line and position.column < position.end_column
        shows_value = nearest == wanted and self._is_scalar(nearest) and has_text
        return position.key if position.key is not None and not shows_value else position

    def _is_scalar(self, pointer: str) -> bool:
        document = self._item.document
        try:
            value = paths.resolve(document.value if document else None, pointer)
        except LookupError:
            return False
        return not isinstance(value, dict | list)
