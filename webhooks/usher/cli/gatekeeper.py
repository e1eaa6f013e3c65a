"""`usher policies verify` and `usher policies build`: policies of Gatekeeper, their tests and their compiled form."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from usher.cli import inputs

if TYPE_CHECKING:
    from usher.gatekeeper.compilation import Compiler
    from usher.gatekeeper.evaluation import Policies

FAILED = 1
"""Exit code: a case did not find what it expects."""
NOT_RUN = 2
"""Exit code: a case could not be run."""


def opa_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--opa",
        type=click.Path(path_type=Path),
        metavar="PROGRAM",
        envvar="USHER_OPA",
        help="The program opa, which compiles ConstraintTemplates. Default: $USHER_OPA, else opa on the search path.",
    )(command)


def compiler(opa: Path | None) -> "Compiler":
    """The compiler of templates, which keeps its results for the next run.

    Raises:
        InputError: there is no program opa.
    """
    from usher.gatekeeper import compilation
    from usher.scan import verdicts

    try:
        cache = verdicts.directory() / "gatekeeper"
    except RuntimeError:  # no home directory
        cache = None
    return compilation.compiler(opa, cache=cache)


def policies_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--policies",
        multiple=True,
        metavar="PATH",
        help="ConstraintTemplates and constraints of Gatekeeper that judge all objects as well: a file, a directory, "
        "or a bundle of `usher policies build`. Repeatable.",
    )(command)


@contextlib.contextmanager
def started(paths: tuple[str, ...], *, opa: Path | None) -> "Iterator[Policies | None]":
    """The policies in files, directories and bundles for as long as the context lasts; None without any.

    Raises:
        InputError: they cannot be read or compiled.
    """
    if not paths:
        yield None
        return
    from usher.gatekeeper.evaluation import Policies
    from usher.scan import policy_files

    found = policy_files.read_library(paths, compiler=functools.partial(compiler, opa))
    with contextlib.closing(Policies(found)) as made:
        yield made


@click.command(
    epilog="""\b
Examples:
  usher policies build policies/ --output policies.bundle
  usher check manifests/ --policies policies.bundle"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@opa_option
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="The bundle, which is replaced only when it is complete.",
)
def build(*, paths: tuple[str, ...], opa: Path | None, output: Path) -> None:
    """Compile Gatekeeper policies into a bundle, which `usher check --policies` takes where there is no opa.

    PATH is a file or a directory with ConstraintTemplates and their constraints.
    """
    from usher.cli import output as outputs
    from usher.gatekeeper import bundles
    from usher.gatekeeper.evaluation import Policies
    from usher.reports import wording
    from usher.scan import policy_files

    made = compiler(opa)
    found = policy_files.read_library(paths, compiler=lambda: made)
    outputs.replace_bytes(output, bundles.written(found, opa=made.version), what="bundle")
    templates = wording.count(len(found.templates), "template")
    click.echo(f"{output}: {templates}, {wording.count(len(found.constraints), 'constraint')}")
    with contextlib.closing(Policies(found)) as started:
        for kind, reason in sorted(started.not_evaluated.items()):
            click.echo(f"usher: not evaluated: {kind}: {wording.printable(reason)}", err=True)


@click.command(
    epilog="""\b
Examples:
  usher policies verify policies/
  usher policies verify policies/required-labels/suite.yaml --format json

\b
Exit codes:
  0  every case that ran found what it expects
  1  a case did not
  2  a case could not be run, an input could not be read, or no suite was found"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@opa_option
@click.option("--verbose", "-v", is_flag=True, help="List the cases that passed as well.")
@inputs.format_option
@click.pass_context
def verify(
    context: click.Context, *, paths: tuple[str, ...], opa: Path | None, verbose: bool, format_name: str
) -> None:
    """Run the test suites of Gatekeeper policies, in the format of `gator verify`.

    PATH is a file with a Suite (test.gatekeeper.sh), or a directory, in which usher looks for them. The templates are
    compiled by opa and evaluated by the engine that judges objects in `usher check`.
    """
    from usher import errors
    from usher.gatekeeper import verification
    from usher.reports import verification_report
    from usher.scan import policy_files

    suites = policy_files.read_suites(paths)
    if not suites:
        raise errors.InputError(
            f"no suite found in {', '.join(paths)}; a suite is a file with apiVersion: test.gatekeeper.sh/v1alpha1 "
            "and kind: Suite"
        )
    made = compiler(opa)
    results = [
        result
        for suite in suites
        for result in verification.run(suite, read_file=policy_files.read_named, compiler=made)
    ]
    if format_name == "json":
        click.echo(verification_report.as_json(results))
    else:
        click.echo(verification_report.as_text(results, verbose=verbose), nl=False)
    outcomes = {result.outcome for result in results}
    if verification.Outcome.NOT_RUN in outcomes:
        context.exit(NOT_RUN)
    context.exit(FAILED if verification.Outcome.FAILED in outcomes else 0)
