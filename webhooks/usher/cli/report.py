"""`usher report`: merges and shows finished audits."""

import io
import pkgutil
import sys
from pathlib import Path
from typing import Final

import click

from usher import __version__, errors
from usher.audit.document.fleet_document import Fleet
from usher.cli import output
from usher.cli.output import FLEET_FORMATS

_MOST_BYTES: Final = 256 << 20
"""The most bytes of an earlier document."""

_INCOMPLETE: Final = 2
_OF_TEXT: Final = frozenset({"", "txt", "log"})
"""Endings of files with text."""


@click.group()
def report() -> None:
    """Make reports of audits that are written already."""


@report.command(
    epilog="""\b
Examples:
  usher report merge audits/             the parts below a folder, as text
  usher report merge s3://audits/prod/run-1 --output fleet.html
  usher report merge audits/ --earlier last-week.json --output fleet.json

\b
Exit codes:
  0  the report is written; it says which clusters and shards are missing
  2  a folder cannot be read, or has no usable part; or --require-complete, and something is missing"""
)
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER|URL...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FLEET_FORMATS)),
    help=f"Default: by the ending of --output, else {next(iter(FLEET_FORMATS))}.",
)
@click.option(
    "--output",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report to this file, which is replaced only when the report is complete.",
)
@click.option(
    "--earlier",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A JSON document of an earlier merge, for the trend. Repeatable.",
)
@click.option("--require-complete", is_flag=True, help="End with exit code 2 if a cluster or a shard is not complete.")
@click.option(
    "--memory",
    type=click.IntRange(64, 1 << 20),
    default=512,
    show_default=True,
    metavar="MB",
    help="Memory of the database of the merge; beyond that it uses the folder for temporary files.",
)
def merge(
    *,
    folders: tuple[str, ...],
    format_name: str | None,
    file: Path | None,
    earlier: tuple[Path, ...],
    require_complete: bool,
    memory: int,
) -> None:
    """Merge audits of clusters, or of the shards of large ones, to one report.

    It reads what `usher audit --output-dir` has written below each FOLDER or URL. Of each cluster the newest parts
    count. Object stores (s3://, gs://, abfs://) need their library, and credentials from the environment.
    """
    from usher.audit.store import fleet_merge

    name = format_name or _by_ending(file)
    if file is not None and not file.resolve().parent.is_dir():
        raise errors.InputError(f"{file}: the report cannot be written: there is no folder {file.parent}; make it")
    fleet = fleet_merge.merge(
        folders,
        version=__version__,
        earlier=[_read_fleet(each) for each in earlier],
        limits=fleet_merge.Limits(memory=f"{memory}MB"),
    )
    _write(fleet, name, file)
    if require_complete and not fleet.complete:
        click.echo("usher: --require-complete: a cluster or a shard is missing or incomplete", err=True)
        click.get_current_context().exit(_INCOMPLETE)


def _by_ending(file: Path | None) -> str:
    """The format of a file name: fleet.json is JSON, and fleet.txt and fleet are text.

    Raises:
        UsageError: no format has this ending.
    """
    ending = "" if file is None else file.suffix.removeprefix(".").lower()
    if ending in FLEET_FORMATS:
        return ending
    if ending not in _OF_TEXT:
        known = ", ".join(f".{each}" for each in FLEET_FORMATS if each != "text")
        raise click.UsageError(
            f"--output {file}: no format has the ending .{ending}; write .txt, {known}, or name a format with --format"
        )
    return next(iter(FLEET_FORMATS))


def _read_fleet(file: Path) -> Fleet:
    import pydantic

    try:
        if file.stat().st_size > _MOST_BYTES:
            raise errors.InputError(f"{file}: more than {_MOST_BYTES >> 20} MB is not a document of a merge")
        return Fleet.model_validate_json(file.read_bytes())
    except OSError as error:
        raise errors.InputError(f"{file}: {error.strerror}") from None
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))[:80]
        raise errors.InputError(
            f"{file}: not a document of `usher report merge --format json`: {where}: {first['msg']}"
        ) from None


def _write(fleet: Fleet, name: str, file: Path | None) -> None:
    write = pkgutil.resolve_name(FLEET_FORMATS[name])
    if file is None:
        options = {"color": output.colored("auto")} if name == "text" else {}
        write(fleet, sys.stdout, **options)
        return
    stream = io.StringIO(newline="")
    write(fleet, stream)
    output.replace_report(file, stream.getvalue())
