"""The kinds of a cluster that could not be read, which commands name on standard error."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from usher.cluster.facts.snapshot import Recorded


def named(recorded: "Iterable[Recorded]") -> bool:
    """Writes the kinds that could not be read, with reasons. Returns false if all could be read."""
    from usher.check.formats import wording
    from usher.cluster.facts.snapshot import State

    unread = [each for each in recorded if each.state is State.NOT_KNOWN]
    for kinds, reason in wording.by_reason((each.kind.resource, each.reason) for each in unread):
        click.echo(f"usher: {wording.harmless(wording.printable(f'{kinds}: not read: {reason}'))}", err=True)
    return bool(unread)
