"""What the editor says of a finding when a cursor rests on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from usher.config import models
from usher.editor.diagnostics import Diagnostic
from usher.editor.positions import Point, Range
from usher.policy.checks.catalogue import Catalogue, Entry
from usher.reports import rule_pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Hover:
    """An explanation of a place."""

    range: Range
    title: str
    paragraphs: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Title and address of each."""


def hovers(
    point: Point, diagnostics: Sequence[Diagnostic], catalogue: Catalogue, config: models.Config
) -> Iterator[Hover]:
    """The explanations of the checks that found something at a point, each check once."""
    seen = set[str]()
    for diagnostic in diagnostics:
        entry = catalogue.checks.get(diagnostic.rule)
        if entry is not None and diagnostic.range.holds(point) and entry.key not in seen:
            seen.add(entry.key)
            yield _explained(entry, diagnostic, config)


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
    """The text with one line for each paragraph; METADATA break lines by their width."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
