"""The options of commands that report findings: formats, colours, and the exit code."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from usher import errors
from usher.check.formats import known_formats
from usher.check.formats.known_formats import FORMATS
from usher.cli import exit_codes, output
from usher.cli.option_groups import Command, Option, added
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.document import Audit
    from usher.check import findings

_DEFAULT: Final = next(iter(FORMATS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """How a command reports, by its options."""

    targets: tuple[output.Target, ...]
    color: str
    quiet: bool
    policy: exit_codes.Policy

    def finish(self, found: "findings.Report", *, allow_unknown: bool = True, audit: "Audit | None" = None) -> int:
        """Writes the reports, and returns the exit code.

        Writes the reason for a failure without findings to standard error.

        Args:
            found: the findings.
            allow_unknown: whether parts of workloads that usher cannot judge are accepted.
            audit: the document of an audit, which its formats show.

        Raises:
            InputError: a report cannot be written.
        """
        ending = exit_codes.decide(found, replace(self.policy, allow_unknown=allow_unknown))
        outcome = output.Outcome(found=replace(found, ending=ending), audit=audit)
        output.write(outcome, self.targets, color=self.color, quiet=self.quiet)
        if ending.explained:
            click.echo(f"usher: {ending.reason}", err=True)
        return ending.code


class _Format(click.ParamType[output.Target]):
    """NAME or NAME=FILE."""

    name = "format"

    def __init__(self, *, audits: bool) -> None:
        self._names = known_formats.names(audits=audits)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return "NAME[=FILE]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> output.Target:
        name, equals, file = str(value).partition("=")
        if name not in self._names:
            only = " is a format of `usher audit`; here it" if name in FORMATS else ""
            self.fail(f"{name!r}{only} is not one of {', '.join(map(repr, self._names))}.", param, ctx)
        place = "FOLDER" if FORMATS[name].is_folder else "FILE"
        if equals and not file:
            self.fail(f"{value!r} names no file; write {name}={place}, or {name} for standard output.", param, ctx)
        path = Path(file) if file and file != "-" else None
        if FORMATS[name].is_folder and (
            path is None or path.is_file() or (path.suffix == f".{name}" and not file.endswith("/"))
        ):
            self.fail(f"{name} is several files; name a folder for them: {name}=FOLDER.", param, ctx)
        return output.Target(format_name=name, path=path)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        if "=" in incomplete:
            return [CompletionItem(incomplete.partition("=")[2], type="file")]
        return [CompletionItem(name, help=FORMATS[name].reader) for name in self._names if name.startswith(incomplete)]


def options(*, fail_on: exit_codes.FailOn, audits: bool = False) -> Callable[[Command], Command]:
    """Adds the options to a command, which gets them as `reporting`; `fail_on` is the default of --fail-on.

    With `audits` the user may also ask for the formats of audit documents. An error of usher ends the command with the
    code that --exit-codes gives it.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(*arguments: object, **parameters: Any) -> object:  # noqa: ANN401 - click passes values of all options
            reporting = _taken(parameters)
            try:
                output.check_places(reporting.targets)
                return command(*arguments, reporting=reporting, **parameters)
            except errors.UsherError as error:
                raise exit_codes.CommandFailed(str(error), code=reporting.policy.profile.failed) from error

        return added(run, *_report_options(audits=audits), *_exit_options(fail_on))

    return decorate


def _taken(parameters: dict[str, Any]) -> Reporting:
    """The options of this module, which are removed from the parameters."""
    return Reporting(
        targets=_targets(parameters.pop("formats"), parameters.pop("output")),
        color=parameters.pop("color"),
        quiet=parameters.pop("quiet"),
        policy=exit_codes.Policy(
            fail_on=exit_codes.FailOn(parameters.pop("fail_on")),
            profile=exit_codes.PROFILES[parameters.pop("profile")],
            require_match=parameters.pop("require_match"),
        ),
    )


def _targets(formats: tuple[output.Target, ...], file: Path | None) -> tuple[output.Target, ...]:
    """The reports to write, in the order of the command line.

    Raises:
        UsageError: two reports would be written to one place.
    """
    targets = formats or (output.Target(format_name=_DEFAULT, path=None),)
    if file is not None:
        if len(targets) > 1 or targets[0].path is not None:
            raise click.UsageError("--output is for a single --format NAME; with several, write --format NAME=FILE")
        return (replace(targets[0], path=file),)
    places = [None if each.path is None else each.path.resolve() for each in targets]
    if places.count(None) > 1:
        names = " and ".join(each.format_name for each in targets if each.path is None)
        raise click.UsageError(
            f"standard output holds one document, not {names}; write all but one as --format NAME=FILE"
        )
    twice = next((each for each, place in zip(targets, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        raise click.UsageError(f"two reports cannot be written to one file: {twice.path}")
    return targets


def _report_options(*, audits: bool) -> tuple[Option, ...]:
    """The options for the formats, the places and the look of reports."""
    readers = ", ".join(f"{name} for {FORMATS[name].reader}" for name in known_formats.names(audits=audits))
    return (
        click.option(
            "--format",
            "formats",
            type=_Format(audits=audits),
            multiple=True,
            help=f"NAME writes the report to standard output, NAME=FILE to a file. Repeatable. Default: {_DEFAULT}. "
            f"Formats: {readers}.",
        ),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="auto writes colours on a terminal, unless NO_COLOR is set.",
        ),
        click.option(
            "--output",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Write the report to this file, which is replaced only when the report is complete.",
        ),
        click.option(
            "--quiet",
            "-q",
            is_flag=True,
            help="Write findings alone: text has neither notes nor numbers, and standard error no warnings.",
        ),
    )


def _exit_options(fail_on: exit_codes.FailOn) -> tuple[Option, ...]:
    """The options for the exit code."""
    return (
        click.option(
            "--fail-on",
            type=click.Choice([each.value for each in exit_codes.FailOn]),
            default=fail_on.value,
            show_default=True,
            help="End with exit code 1 for findings with this outcome or a worse one; never for no finding.",
        ),
        click.option(
            "--require-match",
            is_flag=True,
            help="End as failed (exit code 2) if usher judged no workload: no object makes pods, or all are exempt.",
        ),
        click.option(
            "--exit-codes",
            "profile",
            type=click.Choice(list(exit_codes.PROFILES)),
            default=next(iter(exit_codes.PROFILES)),
            show_default=True,
            help="Exit codes as the named tool has them, for pipelines that were written for it.",
        ),
    )
