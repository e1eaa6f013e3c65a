"""Policies of Gatekeeper in commands: started, built, and their suites run by `usher policies verify`."""

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import inputs
from usher.cli.option_groups import Command
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.cluster.api import Lists
    from usher.gatekeeper.compilation import Compiler
    from usher.gatekeeper.evaluation import Policies
    from usher.scan.batches import Batch
    from usher.scan.given_policies import Given


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A bundle, and the messages of the command about it."""

    content: bytes
    contents: str
    warnings: tuple[str, ...] = ()


CASE_FAILED = 1
"""Exit code: a case did not find what it expects."""
NOT_RUN = 2
"""Exit code: a case could not be run."""


def opa_option(command: Command) -> Command:
    return click.option(
        "--opa",
        type=click.Path(path_type=Path),
        metavar="PROGRAM",
        envvar="USHER_OPA",
        help="The program opa, which compiles policies. Default: $USHER_OPA, else opa on the search path.",
    )(command)


def compiler(opa: Path | None) -> "Compiler":
    """The compiler of templates, which keeps its results for the next run.

    Raises:
        InputError: there is no program opa.
    """
    from usher.gatekeeper import compilation

    return compilation.compiler(opa, cache=cache("gatekeeper"))


def cache(name: str) -> Path | None:
    """A folder in the cache directory of usher; None for a user without a home directory."""
    from usher import cache_directory

    try:
        return cache_directory.find() / name
    except RuntimeError:
        return None


@contextlib.contextmanager
def started(given: "Given", *, opa: Path | None) -> "Iterator[Policies | None]":
    """The policies of Gatekeeper among those given for as long as the context lasts; None without any.

    Raises:
        InputError: they cannot be read or compiled.
    """
    if not given.of_gatekeeper:
        yield None
        return
    from usher.gatekeeper.evaluation import Policies
    from usher.scan import policy_files

    found = policy_files.read_library(given, compiler=functools.partial(compiler, opa))
    with contextlib.closing(Policies(found)) as made:
        yield made


def matched_objects(api: "Lists", policies: "Policies | None", *, namespace: str) -> "Iterator[Batch]":
    """The objects of a cluster that only policies match, and notes on the kinds that usher may not list."""
    if policies is None:
        return
    from usher.gatekeeper import matched_kinds
    from usher.scan import matched_objects as listed
    from usher.scan import site_policies

    kinds = matched_kinds.read_by(policies.library, site_policies.AUDIT)
    yield from listed.read(api, kinds, namespace=namespace)


def built(given: "Given", *, opa: Path | None) -> Built:
    """The bundle of policies of Gatekeeper.

    Raises:
        InputError: they cannot be read or compiled.
    """
    from usher.gatekeeper import bundles
    from usher.gatekeeper.evaluation import Policies
    from usher.reports import wording
    from usher.scan import policy_files

    made = compiler(opa)
    found = policy_files.read_library(given, compiler=lambda: made)
    templates = wording.count(len(found.templates), "template")
    with contextlib.closing(Policies(found)) as policies:
        missing = [
            f"not evaluated: {kind}: {wording.printable(reason)}"
            for kind, reason in sorted(policies.not_evaluated.items())
        ]
    return Built(
        content=bundles.written(found, opa=made.version),
        contents=f"{templates}, {wording.count(len(found.constraints), 'constraint')}",
        warnings=tuple(missing),
    )


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
    context.exit(CASE_FAILED if verification.Outcome.FAILED in outcomes else 0)
