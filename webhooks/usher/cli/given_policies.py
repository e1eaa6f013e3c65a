"""Options that name policies of the site, and `usher policies build`, which makes a bundle of them."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from usher import errors
from usher.cli import gatekeeper, own_checks

if TYPE_CHECKING:
    from usher.policy.checks.own import OwnChecks
    from usher.scan.given_policies import Given


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that judges objects by policies of the site as well."""
    command = click.option(
        "--verify-key",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Take only bundles in --policies that the owner of this public key (Ed25519, PEM) has signed.",
    )(command)
    command = gatekeeper.opa_option(command)
    return click.option(
        "--policies",
        multiple=True,
        metavar="PATH",
        help="Policies that judge as well: a directory with your own checks, ConstraintTemplates and constraints of "
        "Gatekeeper (a file or a directory), or a bundle of `usher policies build`. Repeatable.",
    )(command)


def divided(paths: tuple[str, ...], *, verify_key: Path | None) -> "Given":
    """The policies that the options name, by their kind.

    Raises:
        InputError: a bundle or the key cannot be read, or a bundle is not signed by the owner of the key.
    """
    from usher.scan import given_policies

    if verify_key is None:
        return given_policies.divided(paths)
    if not paths:
        raise click.UsageError("--verify-key is about the bundles of --policies; name them")
    from usher import policy_archive

    return given_policies.divided(paths, key=policy_archive.public_key(verify_key))


def own(given: "Given", *, opa: Path | None) -> "list[OwnChecks]":
    """The own checks among them, compiled.

    Raises:
        InputError: they cannot be read or compiled.
    """
    from usher.scan import given_policies

    return given_policies.own_checks(given, compiler=functools.partial(own_checks.compiler, opa))


@click.command(
    epilog="""\b
Examples:
  usher policies build checks/ --output checks.bundle
  usher policies build gatekeeper/ --output policies.bundle --sign-key key.pem
  usher check manifests/ --policies checks.bundle --policies policies.bundle"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@gatekeeper.opa_option
@click.option(
    "--sign-key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sign the bundle with this private key (Ed25519, PEM), for --verify-key of usher check.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="The bundle, which is replaced only when it is complete.",
)
def build(*, paths: tuple[str, ...], opa: Path | None, sign_key: Path | None, output: Path) -> None:
    """Compile policies into a bundle, which `usher check --policies` takes where there is no opa.

    PATH is a directory with your own checks; or files and directories with ConstraintTemplates of Gatekeeper and their
    constraints. Each of the two kinds has bundles of its own.
    """
    from usher import policy_archive
    from usher.cli import output as outputs

    key = policy_archive.private_key(sign_key) if sign_key is not None else None
    given = divided(paths, verify_key=None)
    if given.own_bundles or len(given.own_folders) > 1 or (given.own_folders and given.of_gatekeeper):
        raise errors.InputError(
            f"{', '.join(paths)}: a bundle holds one directory of your own checks, or policies of Gatekeeper; build a "
            "bundle for each, and give --policies for each"
        )
    made = own_checks.built(given.own_folders[0], opa=opa) if given.own_folders else gatekeeper.built(given, opa=opa)
    content = made.content if key is None else policy_archive.signed(made.content, key)
    outputs.replace_bytes(output, content, what="bundle")
    click.echo(f"{output}: {made.contents}{'' if key is None else ', signed'}")
    for warning in made.warnings:
        click.echo(f"usher: {warning}", err=True)
