"""The words that usher.yaml allows at a place, and the meaning of its keys."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from usher.config.fabrics import shipped
from usher.dataclass import dataclass
from usher.editor import cursor, schema
from usher.editor.explanation import Hover
from usher.editor.positions import Point, Range, Text
from usher.policy.checks.catalogue import Catalogue, Entry


class Sort(StrEnum):
    KEY = "key"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One word that the user may insert."""

    label: str
    sort: Sort
    range: Range
    """The range to replace: the part of the word before the cursor."""
    text: str
    """The text to insert."""
    description: str
    detail: str = ""
    """A few words beside the label."""


_Words = Callable[[Catalogue], Iterator[tuple[str, str]]]


def _of(entries: Iterator[Entry]) -> Iterator[tuple[str, str]]:
    return ((entry.name, f"{entry.code}: {entry.title}") for entry in entries)


def _checks(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from _of(iter(catalogue.checks.values()))


def _checks_and_categories(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield "*", "all checks"
    for category in sorted({entry.category for entry in catalogue.checks.values()}):
        yield category, f"all checks of the category {category}"
    yield from _checks(catalogue)


def _with_parameters(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from _of(entry for entry in catalogue.checks.values() if entry.parameters)


def _mutations(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield "*", "all mutations"
    yield from _of(iter(catalogue.mutations.values()))


def _fabrics(_catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from ((name, fabric.about) for name, fabric in shipped.SHIPPED.items())


_WORDS: Final[Mapping[tuple[str | int, ...], _Words]] = {
    ("enforcement", "exceptions", 0, "checks", 0): _checks,
    ("enforcement", "rules", 0, "check"): _checks_and_categories,
    ("mutations", "optOuts", 0, "mutations", 0): _mutations,
    ("mutations", "rules", 0, "mutation"): _mutations,
    ("parameters", 0, "check"): _with_parameters,
    ("pools", 0, "fabric"): _fabrics,
}
"""Words that the schema cannot list, by their place."""


def completions(text: Text, point: Point, catalogue: Catalogue) -> list[Completion]:
    """The completions at a point of usher.yaml."""
    found = cursor.at(text, point)
    if found is None:
        return []
    end = text.offset(point)
    span = text.range(end - len(found.word), end)
    listed = list[Completion]()
    if found.is_key:
        listed += _keys(found, span)
    if not found.is_key or found.may_be_value:
        listed += _values(found, span, catalogue)
    return listed


def _keys(found: cursor.Cursor, span: Range) -> Iterator[Completion]:
    for name, field in schema.below(found.keys).items():
        if name not in found.siblings:
            opens = field.holds_mapping or field.holds_list
            yield Completion(
                label=name,
                sort=Sort.KEY,
                range=span,
                text=f"{name}:" if opens else f"{name}: ",
                description=field.description,
                detail="required" if field.required else "",
            )


def _values(found: cursor.Cursor, span: Range, catalogue: Catalogue) -> Iterator[Completion]:
    field = schema.at(found.keys)
    if field is None:
        return
    words = _WORDS.get(found.keys)
    known = [(value, field.description) for value in field.values]
    for word, description in words(catalogue) if words is not None else known:
        # A star without quotes would be a YAML alias.
        text = f'"{word}"' if word == "*" else word
        yield Completion(label=word, sort=Sort.VALUE, range=span, text=text, description=description)


def hover(text: Text, point: Point) -> Hover | None:
    """The meaning of the key on the line of a point of usher.yaml."""
    found = cursor.key_at(text, point)
    if found is None:
        return None
    keys, first, last = found
    field = schema.at(keys)
    if field is None or not field.description:
        return None
    start = text.offset(point) - text.column(point)
    paragraphs = [field.description]
    if field.values:
        paragraphs.append(f"One of: {', '.join(field.values)}.")
    if field.default:
        paragraphs.append(f"Default: {field.default}.")
    return Hover(range=text.range(start + first, start + last), title=str(keys[-1]), paragraphs=tuple(paragraphs))
