"""The policies of a site in commands: `--policies`, own checks, and policies of Gatekeeper."""

import contextlib
import functools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from usher import errors
from usher.check import site_policies
from usher.check.batches import Batch
from usher.check.site_policies import Given
from usher.cli import inputs
from usher.cluster.api import Lists
from usher.extensions import installed_programs, policy_archive
from usher.extensions.gatekeeper import library as gatekeeper_library
from usher.extensions.gatekeeper import suites as gatekeeper_suites
from usher.extensions.gatekeeper.evaluation import Policies
from usher.extensions.gatekeeper.library import Compiler as GatekeeperCompiler
from usher.extensions.gatekeeper.library import MatchedKind
from usher.extensions.own_checks import folders
from usher.extensions.own_checks.folders import Compiler as OwnChecksCompiler
from usher.extensions.own_checks.folders import Folder
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import OwnChecks


class Built(Struct, frozen=True, kw_only=True):
    """A bundle, and the messages of the command about it."""

    content: bytes
    contents: str
    warnings: tuple[str, ...] = ()


CASE_FAILED = 1
"""Exit code: a case did not find what it expects."""
NOT_RUN = 2
"""Exit code: a case could not be run."""


def gatekeeper_compiler(opa: Path | None) -> GatekeeperCompiler:
    """The compiler of templates, which keeps its results for the next run.

    Raises:
        InputError: there is no program opa.
    """
    return gatekeeper_library.make_compiler(opa, cache=cache_folder("gatekeeper"))


def cache_folder(name: str) -> Path | None:
    """A folder in the cache directory of usher; None for a user without a home directory."""
    try:
        return installed_programs.cache_directory() / name
    except RuntimeError:
        return None


@contextlib.contextmanager
def started_policies(given: Given, *, opa: Path | None) -> Iterator[Policies | None]:
    """The policies of Gatekeeper among those given for as long as the context lasts; None without any.

    Raises:
        InputError: they cannot be read or compiled.
    """
    if not given.of_gatekeeper:
        yield None
        return
    found = site_policies.read_library(given, compiler=functools.partial(gatekeeper_compiler, opa))
    with contextlib.closing(Policies(found)) as made:
        yield made


def matched_objects(api: Lists, policies: Policies | None, *, namespace: str) -> Iterator[Batch]:
    """The objects of a cluster that only policies match, and notes on the kinds that usher may not list."""
    if policies is None:
        return
    from usher.check import cluster_objects as listed

    kinds = gatekeeper_library.kinds_to_read(policies.library, site_policies.AUDIT)
    yield from listed.read_matched(api, kinds, namespace=namespace)


def gatekeeper_bundle(given: Given, *, opa: Path | None) -> Built:
    """The bundle of policies of Gatekeeper.

    Raises:
        InputError: they cannot be read or compiled.
    """
    from usher.check.formats import wording

    made = gatekeeper_compiler(opa)
    found = site_policies.read_library(given, compiler=lambda: made)
    templates = wording.count(len(found.templates), "template")
    with contextlib.closing(Policies(found)) as policies:
        missing = [
            f"not evaluated: {kind}: {wording.printable(reason)}"
            for kind, reason in sorted(policies.not_evaluated.items())
        ]
    return Built(
        content=gatekeeper_library.bundle_content(found, opa=made.version),
        contents=f"{templates}, {wording.count(len(found.constraints), 'constraint')}",
        warnings=tuple(missing),
    )


@inputs.command("policies verify")
@click.pass_context
def verify(
    context: click.Context, *, paths: tuple[str, ...], opa: Path | None, verbose: bool, format_name: str
) -> None:
    from usher.check.formats import test_cases

    suites = site_policies.read_suites(paths)
    if not suites:
        raise errors.InputError(
            f"no suite found in {', '.join(paths)}; a suite is a file with apiVersion: test.gatekeeper.sh/v1alpha1 "
            "and kind: Suite"
        )
    made = gatekeeper_compiler(opa)
    results = [
        result
        for suite in suites
        for result in gatekeeper_suites.run_suite(suite, read_file=site_policies.read_named_objects, compiler=made)
    ]
    if format_name == "json":
        click.echo(test_cases.results_as_json(results))
    else:
        click.echo(test_cases.results_as_text(results, verbose=verbose), nl=False)
    outcomes = {result.outcome for result in results}
    if gatekeeper_suites.Outcome.NOT_RUN in outcomes:
        context.exit(NOT_RUN)
    context.exit(CASE_FAILED if gatekeeper_suites.Outcome.FAILED in outcomes else 0)


MISTAKES = 1
"""Exit code: a test or an example failed, or a page is not up to date."""


def own_checks_compiler(opa: Path | None) -> OwnChecksCompiler:
    """The compiler of own checks, which keeps its results for the next run.

    Raises:
        InputError: there is no program opa.
    """
    return folders.make_compiler(opa, cache=cache_folder("own-checks"))


def begin_own_check(name: str, *, directory: Path, code: str) -> None:
    """Makes the folder of an own check.

    Raises:
        InputError: the name or the code cannot be used, or the folder exists.
    """
    if (directory / "usher" / "checks").is_dir():
        raise errors.InputError(
            f"{directory}: these are the policies of gpu-usher itself; give a category for a check of usher, or "
            "another directory for a check of your own"
        )
    known = folders.read_folder(directory).checks if folders.is_folder(directory) else ()
    code = code or next_own_code([check.entry.code for check in known])
    if not catalogue.OWN_CODE.fullmatch(code) or code in {check.entry.code for check in known}:
        raise errors.InputError(
            f"--code {code}: give a prefix of your site and a number that no other check has, for example "
            f"{next_own_code([check.entry.code for check in known])}; the prefixes USH and USM belong to usher"
        )
    if not catalogue.OWN_NAME.fullmatch(name):
        raise errors.InputError(
            f"{name!r}: write small letters, digits and underscores, like gpus_per_team; a name is not lib, and does "
            "not end in _test"
        )
    folder = directory / name
    folders.write_scaffold(folder, folders.scaffold_files(catalogue.OWN_CATEGORY, name, code))
    click.echo(f"{code}: {folder}\nNext: write the rule and its examples, then usher policies test {directory}")


def next_own_code(codes: list[str]) -> str:
    """The code after the largest one of a site; SITE101 for its first check."""
    if not codes:
        return "SITE101"
    last = max(codes, key=lambda code: (int(code.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")), code))
    prefix = last.rstrip("0123456789")
    return f"{prefix}{int(last.removeprefix(prefix)) + 1}"


def read_own_checks(directory: Path) -> Folder:
    """The checks of a directory.

    Raises:
        InputError: it is not a directory, or a check in it is wrong.
    """
    if not directory.is_dir():
        raise errors.InputError(f"{directory}: is not a directory; give the one that holds the folders of your checks")
    return folders.read_folder(directory)


def own_checks_bundle(directory: Path, *, opa: Path | None) -> Built:
    """The bundle of own checks.

    Raises:
        InputError: a check is wrong.
    """
    from usher.check.formats import wording

    made, folder = own_checks_compiler(opa), read_own_checks(directory)
    content = folders.bundle_content(made.compiled(folder), folders.rego_sources(folder), opa=made.version)
    return Built(content=content, contents=wording.count(len(folder.checks), "check"))


PERCENT: Final = click.FloatRange(0, 100)


@inputs.command("policies test")
@click.pass_context
def test(context: click.Context, *, directory: Path, opa: Path | None, coverage: float, format_name: str) -> None:
    from usher.check.formats import test_cases
    from usher.extensions.own_checks import trials

    folder = read_own_checks(directory)
    found = trials.run_trials(folder, own_checks_compiler(opa), coverage=coverage)
    click.echo(
        test_cases.trials_as_json(found) if format_name == "json" else test_cases.trials_as_text(found).rstrip("\n")
    )
    context.exit(0 if all(trial.passed for trial in found) else MISTAKES)


@inputs.command("policies docs")
@click.pass_context
def docs(context: click.Context, *, directory: Path, opa: Path | None, output: Path, check: bool) -> None:
    from usher.check.formats import rule_pages
    from usher.extensions.own_checks import trials

    pages = rule_pages.own_check_pages(trials.judged_checks(read_own_checks(directory), own_checks_compiler(opa)))
    stale = sorted(name for name, text in pages.items() if _file_content(output / name) != text.encode())
    gone = sorted(
        file.name
        for file in output.glob("*.md")
        if file.name not in pages and _file_content(file).startswith(rule_pages.OWN_CHECKS_HEAD.encode())
    )
    if check:
        for name in (*stale, *gone):
            click.echo(f"{output / name}: is not up to date; run `usher policies docs` without --check")
        context.exit(MISTAKES if stale or gone else 0)
    _write_pages(output, {name: pages[name] for name in stale}, gone)
    click.echo(f"{output}: {len(pages)} pages, {len(stale)} changed, {len(gone)} removed")


def _file_content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _write_pages(output: Path, pages: dict[str, str], gone: list[str]) -> None:
    from usher.cli import output as outputs

    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in gone:
            (output / name).unlink()
    except OSError as error:
        raise errors.InputError(f"{output}: cannot be written: {error.strerror}") from None
    for name, text in pages.items():
        outputs.replace_file(output / name, text.encode(), what="page")


class PolicyOptions(Struct, frozen=True, kw_only=True):
    """The values of the options of a command that judges objects by policies of the site as well."""

    policies: tuple[str, ...]
    opa: Path | None
    """The program that compiles them; None for opa on the search path."""
    verify_key: Path | None

    def divided(self) -> Given:
        """The policies that the options name, by their kind.

        Raises:
            InputError: a bundle or the key cannot be read, or a bundle is not signed by the owner of the key.
        """
        if self.verify_key is None:
            return site_policies.divided(self.policies)
        _require_bundles(self.policies)
        return site_policies.divided(self.policies, key=policy_archive.public_key(self.verify_key))

    def own_alone(self) -> list[OwnChecks]:
        """The own checks that the options name, for commands that show checks.

        Raises:
            InputError: they cannot be read or compiled, or are policies of Gatekeeper, which have no METADATA.
        """
        given = self.divided()
        if given.of_gatekeeper:
            names = ", ".join([*given.files, *(each.source for each in given.bundles)])
            raise errors.InputError(f"{names}: holds no checks of your own; their METADATA are what this command shows")
        return own_checks_of(given, opa=self.opa)

    def listed(self) -> Sequence[tuple[str, str]]:
        """The groups and plurals that an audit lists for the policies.

        Writes to standard error which ones it leaves out.

        Raises:
            InputError: they cannot be read or compiled.
        """
        return _listed(self.divided(), opa=self.opa)


class BundleOptions(Struct, frozen=True, kw_only=True):
    """The values of the options of a server, which takes policies in bundles alone."""

    policies: tuple[str, ...]
    verify_key: Path | None

    def check(self) -> None:
        """Raises UsageError if there is a key and no bundle."""
        if self.verify_key is not None:
            _require_bundles(self.policies)


def _require_bundles(files: tuple[str, ...]) -> None:
    if not files:
        raise click.UsageError("--verify-key is about the bundles of --policies; name them")


def matched_kinds(files: tuple[str, ...]) -> Collection[MatchedKind]:
    """The kinds that the constraints for the webhook in bundles are about.

    Raises:
        InputError: a file is not a bundle, or cannot be used.
    """
    from usher.review.webhooks import POINTS
    from usher.server.reloading import Bundles

    found = Bundles(files, verify_key=None).library() if files else None
    return gatekeeper_library.matched_kinds(found, POINTS) if found is not None else ()


def listed_by_bundles(files: tuple[str, ...], *, verify_key: Path | None) -> Sequence[tuple[str, str]]:
    """The groups and plurals that an audit in a pod lists for bundles; a pod has no compiler for other policies.

    Raises:
        InputError: a file is not a bundle, cannot be used, or is not signed by the owner of the key.
    """
    given = PolicyOptions(policies=files, opa=None, verify_key=verify_key).divided()
    if sources := [*map(str, given.own_folders), *given.files]:
        raise errors.InputError(
            f"{sources[0]}: is not a bundle; `usher policies build {sources[0]} --output policies.bundle` makes one"
        )
    return _listed(given, opa=None)


def _listed(given: Given, *, opa: Path | None) -> Sequence[tuple[str, str]]:
    from usher.install.manifests import roles

    with started_policies(given, opa=opa) as site:
        if site is None:
            return ()
        library = site.library
    found = roles.resources_to_list(gatekeeper_library.kinds_to_read(library, site_policies.AUDIT))
    for each in found.left_out:
        click.echo(f"usher: {each}", err=True)
    return found.resources


def own_checks_of_both_sides(paths: tuple[str, ...], *, opa: Path | None) -> list[OwnChecks]:
    """The own checks that both sides of `usher replay` have.

    Raises:
        InputError: they cannot be read or compiled, or are policies of Gatekeeper.
    """
    given = site_policies.divided(paths)
    if given.of_gatekeeper:
        names = ", ".join([*given.files, *(each.source for each in given.bundles)])
        raise errors.InputError(
            f"{names}: holds policies of Gatekeeper, which find the same on both sides; usher replay compares what "
            "follows from usher.yaml and usher's policies. `usher check --policies` judges by them"
        )
    return own_checks_of(given, opa=opa)


def own_checks_of(given: Given, *, opa: Path | None) -> list[OwnChecks]:
    """The own checks among them, compiled.

    Raises:
        InputError: they cannot be read or compiled.
    """
    return site_policies.own_checks(given, compiler=functools.partial(own_checks_compiler, opa))


@inputs.command("policies build")
def build(*, paths: tuple[str, ...], opa: Path | None, sign_key: Path | None, output: Path) -> None:
    from usher.cli import output as outputs

    key = policy_archive.private_key(sign_key) if sign_key is not None else None
    given = site_policies.divided(paths)
    if given.own_bundles or len(given.own_folders) > 1 or (given.own_folders and given.of_gatekeeper):
        raise errors.InputError(
            f"{', '.join(paths)}: a bundle holds one directory of your own checks, or policies of Gatekeeper; build a "
            "bundle for each, and give --policies for each"
        )
    made = own_checks_bundle(given.own_folders[0], opa=opa) if given.own_folders else gatekeeper_bundle(given, opa=opa)
    content = made.content if key is None else policy_archive.signed(made.content, key)
    outputs.replace_file(output, content, what="bundle")
    click.echo(f"{output}: {made.contents}{'' if key is None else ', signed'}")
    for warning in made.warnings:
        click.echo(f"usher: {warning}", err=True)
