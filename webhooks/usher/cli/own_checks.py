"""`usher policies new`, `test` and `docs`: checks that a site writes itself."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import gatekeeper, inputs

if TYPE_CHECKING:
    from usher.extensions.own_checks.folders import Folder
    from usher.extensions.own_checks.own_bundles import Compiler

MISTAKES = 1
"""Exit code: a test or an example failed, or a page is not up to date."""


def compiler(opa: Path | None) -> "Compiler":
    """The compiler of own checks, which keeps its results for the next run.

    Raises:
        InputError: there is no program opa.
    """
    from usher.extensions.own_checks import own_bundles

    return own_bundles.make_compiler(opa, cache=gatekeeper.cache("own-checks"))


def begin(name: str, *, directory: Path, code: str) -> None:
    """Makes the folder of an own check.

    Raises:
        InputError: the name or the code cannot be used, or the folder exists.
    """
    from usher.extensions.own_checks import folders
    from usher.policy.checks import catalogue

    if (directory / "usher" / "checks").is_dir():
        raise errors.InputError(
            f"{directory}: these are the policies of gpu-usher itself; give a category for a check of usher, or "
            "another directory for a check of your own"
        )
    known = folders.read_folder(directory).checks if folders.is_folder(directory) else ()
    code = code or next_code([check.entry.code for check in known])
    if not catalogue.OWN_CODE.fullmatch(code) or code in {check.entry.code for check in known}:
        raise errors.InputError(
            f"--code {code}: give a prefix of your site and a number that no other check has, for example "
            f"{next_code([check.entry.code for check in known])}; the prefixes USH and USM belong to usher"
        )
    if not catalogue.OWN_NAME.fullmatch(name):
        raise errors.InputError(
            f"{name!r}: write small letters, digits and underscores, like gpus_per_team; a name is not lib, and does "
            "not end in _test"
        )
    folder = directory / name
    folders.write_scaffold(folder, folders.scaffold_files(catalogue.OWN_CATEGORY, name, code))
    click.echo(f"{code}: {folder}\nNext: write the rule and its examples, then usher policies test {directory}")


def next_code(codes: list[str]) -> str:
    """The code after the largest one of a site; SITE101 for its first check."""
    if not codes:
        return "SITE101"
    last = max(codes, key=lambda code: (int(code.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")), code))
    prefix = last.rstrip("0123456789")
    return f"{prefix}{int(last.removeprefix(prefix)) + 1}"


def read(directory: Path) -> "Folder":
    """The checks of a directory.

    Raises:
        InputError: it is not a directory, or a check in it is wrong.
    """
    from usher.extensions.own_checks import folders

    if not directory.is_dir():
        raise errors.InputError(f"{directory}: is not a directory; give the one that holds the folders of your checks")
    return folders.read_folder(directory)


def built(directory: Path, *, opa: Path | None) -> gatekeeper.Built:
    """The bundle of own checks.

    Raises:
        InputError: a check is wrong.
    """
    from usher.check.formats import wording
    from usher.extensions.own_checks import own_bundles

    made, folder = compiler(opa), read(directory)
    content = own_bundles.bundle_content(made.compiled(folder), own_bundles.rego_sources(folder), opa=made.version)
    return gatekeeper.Built(content=content, contents=wording.count(len(folder.checks), "check"))


_directory = click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")


@click.command(
    epilog="""\b
Examples:
  usher policies test checks/
  usher policies test checks/ --coverage 95
  usher policies test checks/ --format json

\b
Exit codes:
  0  every test passes, and every example is judged as its name says
  1  a test or an example fails, one is missing, or --coverage is not reached
  2  a file could not be read, or opa refuses the Rego"""
)
@_directory
@gatekeeper.opa_option
@click.option(
    "--coverage",
    type=click.FloatRange(0, 100),
    default=0,
    metavar="PERCENT",
    help="Fail a check whose tests reach a smaller part of its lines.",
)
@inputs.format_option
@click.pass_context
def test(context: click.Context, *, directory: Path, opa: Path | None, coverage: float, format_name: str) -> None:
    """Test your own checks: their Rego tests, their good and bad examples, and the lines that no test reaches.

    DIR holds one folder for each check, as `usher policies new` makes it.
    """
    from usher.check.formats import policy_tests
    from usher.extensions.own_checks import trials

    folder = read(directory)
    found = trials.run_trials(folder, compiler(opa), coverage=coverage)
    click.echo(
        policy_tests.trials_as_json(found) if format_name == "json" else policy_tests.trials_as_text(found).rstrip("\n")
    )
    context.exit(0 if all(trial.passed for trial in found) else MISTAKES)


@click.command(
    epilog="""\b
Examples:
  usher policies docs checks/ --output docs/checks
  usher policies docs checks/ --output docs/checks --check    in CI: are the pages those of the checks?"""
)
@_directory
@gatekeeper.opa_option
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Directory of the pages. Files that usher did not write stay.",
)
@click.option("--check", is_flag=True, help="Write nothing, and end with exit code 1 if a page is not up to date.")
@click.pass_context
def docs(context: click.Context, *, directory: Path, opa: Path | None, output: Path, check: bool) -> None:
    """Write a page in Markdown for each of your own checks, and an index.

    A page has the METADATA of the check, a bad example with its finding, and a good one.
    """
    from usher.check.formats import rule_pages
    from usher.extensions.own_checks import trials

    pages = rule_pages.own_check_pages(trials.judged_checks(read(directory), compiler(opa)))
    stale = sorted(name for name, text in pages.items() if _content(output / name) != text.encode())
    gone = sorted(
        file.name
        for file in output.glob("*.md")
        if file.name not in pages and _content(file).startswith(rule_pages.OWN_CHECKS_HEAD.encode())
    )
    if check:
        for name in (*stale, *gone):
            click.echo(f"{output / name}: is not up to date; run `usher policies docs` without --check")
        context.exit(MISTAKES if stale or gone else 0)
    _write(output, {name: pages[name] for name in stale}, gone)
    click.echo(f"{output}: {len(pages)} pages, {len(stale)} changed, {len(gone)} removed")


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _write(output: Path, pages: dict[str, str], gone: list[str]) -> None:
    from usher.cli import output as outputs

    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in gone:
            (output / name).unlink()
    except OSError as error:
        raise errors.InputError(f"{output}: cannot be written: {error.strerror}") from None
    for name, text in pages.items():
        outputs.replace_bytes(output / name, text.encode(), what="page")
