"""The kinds of a cluster that could not be read, which commands name on standard error."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from usher.facts.snapshot import Recorded


def named(recorded: "Iterable[Recorded]") -> bool:
    """Names the kinds that could not be read, each with its reason; false where all could."""
    from usher.facts.snapshot import State
    from usher.reports import wording

    unread = [each for each in recorded if each.state is State.NOT_KNOWN]
    for each in unread:
        reason = wording.harmless(wording.printable(f"{each.kind.resource}: not read: {each.reason}"))
        click.echo(f"usher: {reason}", err=True)
    return bool(unread)
