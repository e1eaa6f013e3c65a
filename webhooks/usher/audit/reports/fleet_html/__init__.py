"""The merged audits of a fleet as one HTML file: it loads nothing, and reads well without JavaScript and on paper.

The same document makes the same bytes. What was not measured has no number anywhere.
"""

from collections.abc import Iterator
from typing import TextIO

from usher.audit.document.fleet import Fleet
from usher.audit.reports import numbers, words
from usher.audit.reports.fleet_html import groups, lists, overview
from usher.audit.reports.web import page
from usher.reports import wording


def write(fleet: Fleet, stream: TextIO, /) -> None:
    """Writes the page."""
    stream.write(text(fleet))


def text(fleet: Fleet) -> str:
    """The page."""
    return page.html(
        page.Page(
            title=f"Fleet: audit of {numbers.day(fleet.taken)}",
            heading="Fleet",
            facts=tuple(_facts(fleet)),
            notices=tuple(_notices(fleet)),
            first=overview.html(fleet),
            sections=(
                groups.clusters(fleet),
                *groups.tables_of(fleet),
                *groups.accelerators(fleet),
                lists.findings(fleet),
                lists.idle(fleet),
                lists.savings(fleet),
                lists.readiness(fleet),
                lists.problems(fleet),
            ),
        )
    )


def _facts(fleet: Fleet) -> Iterator[str]:
    yield words.clusters(fleet.summary)
    if numbers.minute(fleet.oldest) == numbers.minute(fleet.taken):
        yield f"Taken {numbers.minute(fleet.taken)}"
    else:
        yield f"Taken {numbers.minute(fleet.oldest)} to {numbers.minute(fleet.taken)}"
    yield f"gpu-usher {fleet.version}"


def _notices(fleet: Fleet) -> Iterator[str]:
    if not fleet.complete:
        yield "Parts of the fleet are missing or incomplete, so these numbers may be wrong. See Gaps."
    if fleet.summary.clusters_not_measured:
        lacking = wording.count(fleet.summary.clusters_not_measured, "cluster")
        yield f"The use of GPUs was not measured in {lacking}; idle hours and money leave them out."
