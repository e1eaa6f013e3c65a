"""Texts that an editor shows at a place: completions and meanings of keys in usher.yaml, and explanations of findings.

It reads block style, and lists in brackets on one line. In other texts it finds no place.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Final

import orjson
from msgspec import Struct

from usher.check import batches
from usher.check.editor.documents import Analysis, Diagnostic, Point, Range, Text
from usher.check.formats import mended, rule_pages, wording
from usher.config import fabrics, models
from usher.config.models import Config
from usher.policy.checks.catalogue import Catalogue, Entry

_LINE: Final = re.compile(r"(?P<blank> *)(?P<dashes>(?:- +|-$)*)(?P<rest>.*)")
_KEY: Final = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[^\s\"'#\[\]{},:&*!|>%@`-][^\s:#]*)[ \t]*:(?=\s|$)")
_WORD: Final = re.compile(r"[^\s\[\]{},:#\"']*$")
_MOST_LINES: Final = 20_000
"""The most lines above and below that it reads."""


class Cursor(Struct, frozen=True, kw_only=True):
    """The place and the text around a cursor."""

    keys: tuple[str | int, ...]
    """The path from the top to the value that the user writes, or to the mapping of the key. List items are 0."""
    word: str
    """The part of the key or value that is already written."""
    is_key: bool
    may_be_value: bool = False
    """Whether a value, instead of a key, may start a new list item."""
    siblings: frozenset[str] = frozenset()
    """The other keys of the mapping."""


class _Mark(Struct, frozen=True):
    """A key, or the dash of an item, at its column."""

    column: int
    key: str | int


def cursor_at(text: Text, point: Point) -> Cursor | None:
    """The cursor at a point; None in a comment, and if keys cannot be completed there."""
    if not 0 <= point.line < text.lines:
        return None
    line = text.line(point.line)
    before = line[: text.column(point)]
    match = _LINE.match(before)
    if match is None or _is_in_comment(before):
        return None
    marks = list(_marks(before))
    rest, start = match["rest"], match.start("rest")
    key = _KEY.match(rest)
    word = _word_at_start(rest)
    if key is not None:
        return _value(text, point.line, marks, rest[key.end() :], word)
    if rest != word:
        return None
    keys, siblings = _surroundings(text, point.line, [*marks, _Mark(start, "")])
    return Cursor(
        keys=tuple(keys), word=word, is_key=True, may_be_value=bool(match["dashes"]), siblings=frozenset(siblings)
    )


def key_at(text: Text, point: Point) -> tuple[tuple[str | int, ...], int, int] | None:
    """The key on the line of a point: its path from the top, and its first and last column in characters."""
    if not 0 <= point.line < text.lines:
        return None
    line = text.line(point.line)
    match = _LINE.match(line)
    key = _KEY.match(match["rest"]) if match is not None else None
    if match is None or key is None:
        return None
    start = match.start("rest")
    keys, _ = _surroundings(text, point.line, list(_marks(line)))
    return (*keys, _unquoted_key(key["key"])), start, start + key.end("key")


def _value(text: Text, number: int, marks: Sequence[_Mark], written: str, word: str) -> Cursor | None:
    written = written.strip()
    if written.startswith("{") or (written != word and not written.startswith(("[", '"', "'"))):
        return None
    keys, _ = _surroundings(text, number, marks)
    own = marks[-1].key
    inside = (0,) if written.startswith("[") else ()
    return Cursor(keys=(*keys, own, *inside), word=word, is_key=False)


def _surroundings(text: Text, number: int, marks: Sequence[_Mark]) -> tuple[list[str | int], set[str]]:
    """The path of the mapping with the last mark of a line, and the other keys of this mapping."""
    *before, last = marks
    lines = (text.line(above) for above in range(number - 1, max(number - _MOST_LINES, 0) - 1, -1))
    keys, siblings = _above(last, before, lines)
    below = (text.line(each) for each in range(number + 1, min(number + _MOST_LINES, text.lines)))
    return keys, siblings | set(_below(last.column, below))


def _above(last: _Mark, before: Sequence[_Mark], lines: Iterable[str]) -> tuple[list[str | int], set[str]]:
    keys, siblings = list[str | int](), set[str]()
    current, found_parent = last, False
    for marks in ([*before], *(list(_marks(line)) for line in lines)):
        for mark in reversed(marks):
            # The dashes of a list may start at the column of its key.
            at_key = mark.column == current.column and current.key == 0 and mark.key != 0
            if mark.column < current.column or at_key:
                keys.insert(0, mark.key)
                current, found_parent = mark, True
            elif mark.column == current.column and not found_parent and isinstance(mark.key, str):
                siblings.add(mark.key)
        if current.column == 0 and current.key != 0 and found_parent:
            break
    return keys, siblings


def _below(column: int, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        marks = list(_marks(line))
        if not marks:
            continue
        if marks[0].column < column:
            return
        yield from (mark.key for mark in marks[:1] if mark.column == column and isinstance(mark.key, str))


def _marks(line: str) -> Iterator[_Mark]:
    match = _LINE.match(line)
    if match is None or match["rest"].startswith("#"):
        return
    for number, character in enumerate(match["dashes"]):
        if character == "-":
            yield _Mark(match.start("dashes") + number, 0)
    key = _KEY.match(match["rest"])
    if key is not None:
        yield _Mark(match.start("rest"), _unquoted_key(key["key"]))


def _unquoted_key(key: str) -> str:
    return key[1:-1] if key[:1] in "\"'" else key


def _word_at_start(rest: str) -> str:
    found = _WORD.search(rest)
    return found[0] if found else ""


def _is_in_comment(before: str) -> bool:
    return before.lstrip().startswith("#") or " #" in before


_Node = dict[str, Any]
"""A part of a JSON Schema, as pydantic generates it."""

_DEFINITIONS: Final = "#/$defs/"
_SHOWN_DEFAULT: Final = 80


class Field(Struct, frozen=True, kw_only=True):
    """The field that usher.yaml allows at a place."""

    description: str = ""
    values: tuple[str, ...] = ()
    """All allowed values, if the schema lists them."""
    default: str = ""
    """The default as JSON; empty if there is no default or it is long."""
    required: bool = False
    holds_mapping: bool = False
    holds_list: bool = False


def field_at(keys: Sequence[str | int]) -> Field | None:
    """The field at keys and indices from the top; None if usher.yaml does not have this place."""
    found = _nodes(keys)
    return _field(found) if found else None


def fields_below(keys: Sequence[str | int]) -> dict[str, Field]:
    """The keys of the mapping at a place; empty if the site chooses the keys, or the place holds no mapping."""
    found = dict[str, Field]()
    for node in _nodes(keys):
        required = node.get("required", [])
        for name, child in node.get("properties", {}).items():
            found.setdefault(name, _field(list(_variants(child)), required=name in required))
    return found


def _nodes(keys: Sequence[str | int]) -> list[_Node]:
    found = list(_variants(_config_schema()))
    for key in keys:
        found = [variant for node in found for child in _children(node, key) for variant in _variants(child)]
    return found


def _children(node: _Node, key: str | int) -> Iterator[_Node]:
    if isinstance(key, int):
        if isinstance(node.get("items"), dict):
            yield node["items"]
        return
    if key in node.get("properties", {}):
        yield node["properties"][key]
        return
    patterns = node.get("patternProperties", {})
    others = node.get("additionalProperties")
    yield from patterns.values()
    if isinstance(others, dict):
        yield others


def _variants(node: _Node) -> Iterator[_Node]:
    """The node with references and alternatives resolved. Keywords beside a reference also apply to its target."""
    beside = {key: value for key, value in node.items() if key not in {"$ref", "anyOf", "oneOf", "allOf"}}
    if "$ref" in node:
        for target in _variants(_config_schema()["$defs"][node["$ref"].removeprefix(_DEFINITIONS)]):
            yield {**target, **beside}
        return
    alternatives = [each for word in ("anyOf", "oneOf", "allOf") for each in node.get(word, ())]
    if not alternatives:
        yield node
    for each in alternatives:
        if each.get("type") != "null":
            for target in _variants(each):
                yield {**target, **beside}


def _field(nodes: Sequence[_Node], *, required: bool = False) -> Field:
    description = next((str(node["description"]) for node in nodes if node.get("description")), "")
    default = next((orjson.dumps(node["default"]).decode() for node in nodes if "default" in node), "")
    return Field(
        description=description,
        values=tuple(dict.fromkeys(value for node in nodes for value in _schema_values(node))),
        default=default if len(default) <= _SHOWN_DEFAULT else "",
        required=required,
        holds_mapping=any(node.get("type") == "object" for node in nodes),
        holds_list=any(node.get("type") == "array" for node in nodes),
    )


def _schema_values(node: _Node) -> Iterator[str]:
    if "const" in node:
        yield str(node["const"])
    elif node.get("type") == "boolean":
        yield from ("true", "false")
    yield from (str(value) for value in node.get("enum", ()))


@cache
def _config_schema() -> _Node:
    return Config.model_json_schema(by_alias=True)


class Hover(Struct, frozen=True, kw_only=True):
    """An explanation of a place."""

    range: Range
    title: str
    paragraphs: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Title and address of each link."""


def hovers_of_findings(point: Point, analysis: Analysis, catalogue: Catalogue) -> Iterator[Hover]:
    """The explanations at a point: one for each check with a finding there, and one for the object."""
    seen = set[str]()
    for diagnostic in analysis.diagnostics:
        entry = catalogue.checks.get(diagnostic.rule)
        if entry is not None and diagnostic.range.holds(point) and entry.key not in seen:
            seen.add(entry.key)
            yield _explained(entry, diagnostic, analysis.config)
    yield from _of_object(point, analysis)


def _of_object(point: Point, analysis: Analysis) -> Iterator[Hover]:
    """The explanation on the line of an object's kind: how usher reads the object, and what the webhook adds to it."""
    text = analysis.document.text
    line = point.line + 1
    before = [each for each in analysis.items if each.document is not None and each.document.line <= line]
    if not before or before[-1].prefix:
        return
    item = before[-1]
    place = batches.Pointer(item).place("/kind")
    result = next((each for each in analysis.results if item.document and each.line == item.document.line), None)
    if place is None or result is None or not result.makes_pods:
        return
    span = text.range(text.offset_of(place.line, place.column), text.offset_of(place.line, place.end_column))
    if span.start.line != point.line:
        return
    read = f"usher reads: role {result.role}, {wording.pods(result.pods)}, {wording.devices(result.accelerators)}."
    added = () if result.change is None else tuple(mended.entries_of(result.change))
    yield Hover(
        range=span,
        title=wording.printable(str(result.identity)),
        paragraphs=(
            read,
            *(
                f"The mutating webhook {'adds' if mark == '+' else 'warns'} ({name}): {wording.printable(words)}"
                for mark, name, words in added
            ),
        ),
    )


def _explained(entry: Entry, diagnostic: Diagnostic, config: models.Config) -> Hover:
    severity = f"Severity {entry.severity}; here: {rule_pages.outcome(entry, config)}."
    remedy = f"Remedy: {_flowing(entry.remediation)}" if entry.remediation else ""
    paragraphs = (_flowing(entry.why), _flowing(entry.description), remedy, severity)
    return Hover(
        range=diagnostic.range,
        title=f"{entry.code} {entry.name}: {entry.title}",
        paragraphs=tuple(filter(None, paragraphs)),
        links=(
            *((("The page of this check", page),) if (page := entry.page(config.check_pages)) else ()),
            *((link.description or link.ref, link.ref) for link in entry.links),
        ),
    )


def _flowing(text: str) -> str:
    """The text with one line for each paragraph; METADATA breaks lines at its own width."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


class CompletionType(StrEnum):
    KEY = "key"
    VALUE = "value"


class Completion(Struct, frozen=True, kw_only=True):
    """One word that the user may insert."""

    label: str
    sort: CompletionType
    range: Range
    """The range to replace: the part of the word before the cursor."""
    text: str
    """The text to insert."""
    description: str
    detail: str = ""
    """A few words beside the label."""


_Words = Callable[[Catalogue], Iterator[tuple[str, str]]]


def _names_with_titles(entries: Iterator[Entry]) -> Iterator[tuple[str, str]]:
    return ((entry.name, f"{entry.code}: {entry.title}") for entry in entries)


def _checks(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from _names_with_titles(iter(catalogue.checks.values()))


def _checks_and_categories(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield "*", "all checks"
    for category in sorted({entry.category for entry in catalogue.checks.values()}):
        yield category, f"all checks of the category {category}"
    yield from _checks(catalogue)


def _with_parameters(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from _names_with_titles(entry for entry in catalogue.checks.values() if entry.parameters)


def _mutations(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield "*", "all mutations"
    yield from _names_with_titles(iter(catalogue.mutations.values()))


def _fabrics(_catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from ((name, fabric.about) for name, fabric in fabrics.shipped_fabrics().items())


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
    found = cursor_at(text, point)
    if found is None:
        return []
    end = text.offset(point)
    span = text.range(end - len(found.word), end)
    listed = list[Completion]()
    if found.is_key:
        listed += _key_completions(found, span)
    if not found.is_key or found.may_be_value:
        listed += _value_completions(found, span, catalogue)
    return listed


def _key_completions(found: Cursor, span: Range) -> Iterator[Completion]:
    for name, field in fields_below(found.keys).items():
        if name not in found.siblings:
            opens = field.holds_mapping or field.holds_list
            yield Completion(
                label=name,
                sort=CompletionType.KEY,
                range=span,
                text=f"{name}:" if opens else f"{name}: ",
                description=field.description,
                detail="required" if field.required else "",
            )


def _value_completions(found: Cursor, span: Range, catalogue: Catalogue) -> Iterator[Completion]:
    field = field_at(found.keys)
    if field is None:
        return
    words = _WORDS.get(found.keys)
    known = [(value, field.description) for value in field.values]
    for word, description in words(catalogue) if words is not None else known:
        # A star without quotes would be a YAML alias.
        text = f'"{word}"' if word == "*" else word
        yield Completion(label=word, sort=CompletionType.VALUE, range=span, text=text, description=description)


def hover_of_key(text: Text, point: Point) -> Hover | None:
    """The meaning of the key on the line of a point of usher.yaml."""
    found = key_at(text, point)
    if found is None:
        return None
    keys, first, last = found
    field = field_at(keys)
    if field is None or not field.description:
        return None
    start = text.offset(point) - text.column(point)
    paragraphs = [field.description]
    if field.values:
        paragraphs.append(f"One of: {', '.join(field.values)}.")
    if field.default:
        paragraphs.append(f"Default: {field.default}.")
    return Hover(range=text.range(start + first, start + last), title=str(keys[-1]), paragraphs=tuple(paragraphs))
