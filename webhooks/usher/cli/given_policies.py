"""Options that name policies of the site, and `usher policies build`, which makes a bundle of them."""

import functools
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from usher import errors
from usher.cli import gatekeeper, option_groups, own_checks
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.extensions.gatekeeper.library import MatchedKind
    from usher.extensions.given_policies import Given
    from usher.policy.checks.catalogue import OwnChecks
    from usher.server.policy_bundles import Bundles


_VERIFY_KEY: Final = click.option(
    "--verify-key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take only bundles in --policies that the owner of this public key (Ed25519, PEM) has signed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the options of a command that judges objects by policies of the site as well."""

    policies: tuple[str, ...]
    opa: Path | None
    """The program that compiles them; None for opa on the search path."""
    verify_key: Path | None

    def divided(self) -> "Given":
        """The policies that the options name, by their kind.

        Raises:
            InputError: a bundle or the key cannot be read, or a bundle is not signed by the owner of the key.
        """
        from usher.extensions import given_policies

        if self.verify_key is None:
            return given_policies.divided(self.policies)
        _require_bundles(self.policies)
        from usher.extensions import policy_archive

        return given_policies.divided(self.policies, key=policy_archive.public_key(self.verify_key))

    def own_alone(self) -> "list[OwnChecks]":
        """The own checks that the options name, for commands that show checks.

        Raises:
            InputError: they cannot be read or compiled, or are policies of Gatekeeper, which have no METADATA.
        """
        given = self.divided()
        if given.of_gatekeeper:
            names = ", ".join([*given.files, *(each.source for each in given.bundles)])
            raise errors.InputError(f"{names}: holds no checks of your own; their METADATA are what this command shows")
        return own(given, opa=self.opa)

    def listed(self) -> "Sequence[tuple[str, str]]":
        """The groups and plurals that an audit lists for the policies.

        Writes to standard error which ones it leaves out.

        Raises:
            InputError: they cannot be read or compiled.
        """
        return _listed(self.divided(), opa=self.opa)


options = option_groups.as_value(
    "policies",
    Options,
    click.option(
        "--policies",
        multiple=True,
        metavar="PATH",
        help="Policies that judge as well: a directory with your own checks, ConstraintTemplates and constraints of "
        "Gatekeeper (a file or a directory), or a bundle of `usher policies build`. Repeatable.",
    ),
    gatekeeper.opa_option,
    _VERIFY_KEY,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """The values of the options of a server, which takes policies in bundles alone."""

    policies: tuple[str, ...]
    verify_key: Path | None

    def bundles(self) -> "Bundles | None":
        """The bundles, which the server reads when it starts; None without bundles."""
        from usher.server.policy_bundles import Bundles

        if self.verify_key is not None:
            _require_bundles(self.policies)
        return Bundles(self.policies, verify_key=self.verify_key) if self.policies else None


bundle_options = option_groups.as_value(
    "policies",
    BundleOptions,
    click.option(
        "--policies",
        multiple=True,
        metavar="BUNDLE",
        help="Policies that judge as well: own checks or policies of Gatekeeper in a bundle of `usher policies build`, "
        "read again when it changes. Repeatable.",
    ),
    _VERIFY_KEY,
)


def _require_bundles(files: tuple[str, ...]) -> None:
    if not files:
        raise click.UsageError("--verify-key is about the bundles of --policies; name them")


def matched_kinds(files: tuple[str, ...]) -> "Collection[MatchedKind]":
    """The kinds that the constraints for the webhook in bundles are about.

    Raises:
        InputError: a file is not a bundle, or cannot be used.
    """
    from usher.extensions.gatekeeper import library as matched
    from usher.review.site_policies import POINTS
    from usher.server.policy_bundles import Bundles

    found = Bundles(files, verify_key=None).library() if files else None
    return matched.matched_kinds(found, POINTS) if found is not None else ()


def listed_by_bundles(files: tuple[str, ...], *, verify_key: Path | None) -> "Sequence[tuple[str, str]]":
    """The groups and plurals that an audit in a pod lists for bundles; a pod has no compiler for other policies.

    Raises:
        InputError: a file is not a bundle, cannot be used, or is not signed by the owner of the key.
    """
    given = Options(policies=files, opa=None, verify_key=verify_key).divided()
    if sources := [*map(str, given.own_folders), *given.files]:
        raise errors.InputError(
            f"{sources[0]}: is not a bundle; `usher policies build {sources[0]} --output policies.bundle` makes one"
        )
    return _listed(given, opa=None)


def _listed(given: "Given", *, opa: Path | None) -> "Sequence[tuple[str, str]]":
    from usher.check import site_policies
    from usher.extensions.gatekeeper import library as gatekeeper_library
    from usher.install.manifests import roles

    with gatekeeper.started(given, opa=opa) as site:
        if site is None:
            return ()
        library = site.library
    found = roles.resources_to_list(gatekeeper_library.kinds_to_read(library, site_policies.AUDIT))
    for each in found.left_out:
        click.echo(f"usher: {each}", err=True)
    return found.resources


def own_of_both_sides(paths: tuple[str, ...], *, opa: Path | None) -> "list[OwnChecks]":
    """The own checks that both sides of `usher replay` have.

    Raises:
        InputError: they cannot be read or compiled, or are policies of Gatekeeper.
    """
    from usher.extensions import given_policies

    given = given_policies.divided(paths)
    if given.of_gatekeeper:
        names = ", ".join([*given.files, *(each.source for each in given.bundles)])
        raise errors.InputError(
            f"{names}: holds policies of Gatekeeper, which find the same on both sides; usher replay compares what "
            "follows from usher.yaml and usher's policies. `usher check --policies` judges by them"
        )
    return own(given, opa=opa)


def own(given: "Given", *, opa: Path | None) -> "list[OwnChecks]":
    """The own checks among them, compiled.

    Raises:
        InputError: they cannot be read or compiled.
    """
    from usher.extensions import given_policies

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
    from usher.cli import output as outputs
    from usher.extensions import given_policies as policies
    from usher.extensions import policy_archive

    key = policy_archive.private_key(sign_key) if sign_key is not None else None
    given = policies.divided(paths)
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
