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
    from usher.check.batches import Batch
    from usher.cluster.api import Lists
    from usher.extensions.gatekeeper.evaluation import Policies
    from usher.extensions.gatekeeper.library import Compiler
    from usher.extensions.given_policies import Given


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
    from usher.extensions.gatekeeper import library

    return library.make_compiler(opa, cache=cache("gatekeeper"))


def cache(name: str) -> Path | None:
    """A folder in the cache directory of usher; None for a user without a home directory."""
    from usher.extensions import opa_program

    try:
        return opa_program.cache_directory() / name
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
    from usher.check import site_policies
    from usher.extensions.gatekeeper.evaluation import Policies

    found = site_policies.read_library(given, compiler=functools.partial(compiler, opa))
    with contextlib.closing(Policies(found)) as made:
        yield made


def matched_objects(api: "Lists", policies: "Policies | None", *, namespace: str) -> "Iterator[Batch]":
    """The objects of a cluster that only policies match, and notes on the kinds that usher may not list."""
    if policies is None:
        return
    from usher.check import cluster_objects as listed
    from usher.check import site_policies
    from usher.extensions.gatekeeper import library

    kinds = library.kinds_to_read(policies.library, site_policies.AUDIT)
    yield from listed.read_matched(api, kinds, namespace=namespace)


def built(given: "Given", *, opa: Path | None) -> Built:
    """The bundle of policies of Gatekeeper.

    Raises:
        InputError: they cannot be read or compiled.
    """
    from usher.check import site_policies
    from usher.check.formats import wording
    from usher.extensions.gatekeeper import library
    from usher.extensions.gatekeeper.evaluation import Policies

    made = compiler(opa)
    found = site_policies.read_library(given, compiler=lambda: made)
    templates = wording.count(len(found.templates), "template")
    with contextlib.closing(Policies(found)) as policies:
        missing = [
            f"not evaluated: {kind}: {wording.printable(reason)}"
            for kind, reason in sorted(policies.not_evaluated.items())
        ]
    return Built(
        content=library.bundle_content(found, opa=made.version),
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
    from usher.check import site_policies
    from usher.check.formats import policy_tests
    from usher.extensions.gatekeeper import suites as gatekeeper_suites

    suites = site_policies.read_suites(paths)
    if not suites:
        raise errors.InputError(
            f"no suite found in {', '.join(paths)}; a suite is a file with apiVersion: test.gatekeeper.sh/v1alpha1 "
            "and kind: Suite"
        )
    made = compiler(opa)
    results = [
        result
        for suite in suites
        for result in gatekeeper_suites.run_suite(suite, read_file=site_policies.read_named_objects, compiler=made)
    ]
    if format_name == "json":
        click.echo(policy_tests.results_as_json(results))
    else:
        click.echo(policy_tests.results_as_text(results, verbose=verbose), nl=False)
    outcomes = {result.outcome for result in results}
    if gatekeeper_suites.Outcome.NOT_RUN in outcomes:
        context.exit(NOT_RUN)
    context.exit(CASE_FAILED if gatekeeper_suites.Outcome.FAILED in outcomes else 0)
