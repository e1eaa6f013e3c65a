"""The options of `usher audit` that compare it: with a history of audits, or with an earlier report."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from usher import errors
from usher.cli import exit_codes, option_groups
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.document import Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The earlier audits that an audit is compared with."""

    history: str = ""
    """A file of SQLite or a URL of PostgreSQL; empty without a history."""
    since: "Audit | None" = None
    """An earlier report."""

    def check_scope(self, *, is_whole: bool) -> None:
        """Raises UsageError for a part of a cluster: the history would count everything outside the part as fixed."""
        if not is_whole and (self.history or self.since is not None):
            raise click.UsageError("a shard is a part of a cluster; leave out --history and --since")

    def applied(self, audit: "Audit", *, former: Sequence[str] = ()) -> tuple["Audit", str]:
        """The audit with its trend, and why earlier audits could not be used; the reason is empty if they could.

        `former` are names that an earlier usher gave to the cluster. The audit becomes part of the history.

        The history has the audit from now on.
        """
        from usher.audit.document import Trend
        from usher.audit.store import earlier_audits, recorded_audits

        failure = ""
        if self.since is not None:
            trend = earlier_audits.trend_since(self.since, audit, former=former)
            failure = earlier_audits.why_not_since(self.since, audit, former=former)
        elif self.history:
            try:
                trend = recorded_audits.record(self.history, audit, former=former)
            except errors.InputError as error:
                failure = str(error)
                trend = Trend(problems=(failure,))
        else:
            return audit, ""
        return audit.model_copy(update={"trend": trend}), failure


def finish(code: int, failure: str) -> int:
    """The exit code of an audit that would end with `code`. Writes a failed comparison to standard error.

    The reports are written even if the comparison failed.
    """
    if not failure:
        return code
    from usher.check.formats import wording

    click.echo(f"usher: {wording.harmless(wording.printable(failure))}; the report is written without trends", err=True)
    return max(code, exit_codes.FAILED)


def options(command: option_groups.Command) -> option_groups.Command:
    """Adds the options to a command, which gets them as `comparison`.

    An earlier report is read before the command begins, so that a wrong file does not cost an audit.
    """

    @functools.wraps(command)
    def run(*arguments: object, **parameters: Any) -> object:  # noqa: ANN401 - click passes values of all options
        history, since = parameters.pop("history"), parameters.pop("since")
        if history and since is not None:
            raise click.UsageError("--history and --since both name earlier audits; give one of them")
        earlier = None if since is None else _read(since)
        if history:
            from usher.audit.store import recorded_audits

            recorded_audits.check_place(history)
        return command(*arguments, comparison=Comparison(history=history or "", since=earlier), **parameters)

    return option_groups.added(
        run,
        click.option(
            "--history",
            metavar="FILE|URL",
            envvar="USHER_AUDIT_HISTORY",
            help="Add this audit to a history, and compare it with the ones before: a file of SQLite, or "
            "postgresql://USER@HOST/DATABASE. A URL with a password belongs in the variable USHER_AUDIT_HISTORY.",
        ),
        click.option(
            "--since",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Compare with an earlier report, which --format json=FILE has written.",
        ),
    )


def _read(file: Path) -> "Audit":
    from usher.audit.document import reading

    try:
        with file.open("rb") as stream:
            content = stream.read(reading.LARGEST + 1)
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    return reading.loads(content, source=str(file))
