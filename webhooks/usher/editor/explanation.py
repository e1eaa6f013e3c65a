"""The explanations of a finding and of an object that the editor shows when a cursor rests on it."""

from collections.abc import Iterator

from usher.config import models
from usher.dataclass import dataclass
from usher.editor.analysis import Analysis
from usher.editor.diagnostics import Diagnostic
from usher.editor.positions import Point, Range
from usher.policy.checks.catalogue import Catalogue, Entry
from usher.reports import mended, rule_pages, wording
from usher.scan import positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Hover:
    """An explanation of a place."""

    range: Range
    title: str
    paragraphs: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Title and address of each link."""


def hovers(point: Point, analysis: Analysis, catalogue: Catalogue) -> Iterator[Hover]:
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
    place = positions.Pointer(item).place("/kind")
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
        links=tuple((link.description or link.ref, link.ref) for link in entry.links),
    )


def _flowing(text: str) -> str:
    """The text with one line for each paragraph; METADATA breaks lines at its own width."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
