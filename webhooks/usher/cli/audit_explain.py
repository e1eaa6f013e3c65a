"""The page of one finding about a cluster (USA001), for `usher explain`."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from usher.cli import prose

if TYPE_CHECKING:
    from usher.audit.standing.finding_catalogue import CatalogueEntry

_FIELDS: Final = ("code", "name", "title", "severity", "category", "why", "remedy", "source")


def find(code_or_name: str) -> "CatalogueEntry | None":
    """The entry with this code, in any case, or name."""
    from usher.audit.standing.finding_catalogue import BY_CODE, ENTRIES

    named = (entry for entry in ENTRIES if entry.name == code_or_name)
    return BY_CODE.get(code_or_name.upper()) or next(named, None)


def words() -> Iterator[str]:
    """The codes and names of all entries."""
    from usher.audit.standing.finding_catalogue import ENTRIES

    for entry in ENTRIES:
        yield from (entry.code, entry.name)


def write(entry: "CatalogueEntry", *, format_name: str) -> None:
    """Writes its page to standard output, or its fields as JSON."""
    if format_name == "json":
        click.echo(json.dumps({name: getattr(entry, name) for name in _FIELDS}, indent=2, sort_keys=True))
    else:
        click.echo("\n".join(_page(entry)))


def _page(entry: "CatalogueEntry") -> Iterator[str]:
    yield f"{entry.code} {entry.name}"
    yield entry.title
    yield ""
    yield f"  category  {entry.category}"
    yield f"  severity  {entry.severity}"
    yield "  reported  by usher audit alone, about the cluster as a whole; usher.yaml cannot deny it"
    for text in (entry.why, f"Remedy: {entry.remedy}"):
        yield ""
        yield from prose.paragraphs(text)
    yield ""
    yield f"Read more: {entry.source}"
