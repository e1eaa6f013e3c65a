"""The sides that `usher replay` compares: a usher.yaml with policies, or verdicts that were saved."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from usher import errors
from usher.cli import inputs
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.check.replay.comparison import Side
    from usher.cluster.facts.store import Store
    from usher.policy.checks.catalogue import OwnChecks
    from usher.policy.evaluator import Evaluator

_REMEMBERED: Final = 4096
"""Answers of the engine: a run over many files meets many kinds of pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A side that judges."""

    config: Path | None
    policies: Path | None = None

    @contextlib.contextmanager
    def opened(self, known: "Store | None", *, own: "Sequence[OwnChecks]" = ()) -> Iterator["Judge"]:
        """Returns a judge with these rules for as long as the context lasts. Warnings go to standard error.

        Args:
            known: the facts of the cluster.
            own: checks of the site, which both sides have.

        Raises:
            ConfigError: the configuration cannot be used with these policies.
            BundleError: the policies are missing or damaged.
        """
        from usher.config import load, models
        from usher.policy import assembly, config_problems
        from usher.policy.checks import bundle
        from usher.policy.checks import catalogue as own_checks

        policies = bundle.load(self.policies)
        config = models.Config()
        if self.config is not None:
            entries = own_checks.join_catalogues(policies.catalogue, own)
            config = load.load(self.config, more=lambda found: config_problems.problems(found, entries))
        evaluator = assembly.embedded(
            config, file=self.config, directory=self.policies, facts=known, remembered=_REMEMBERED, own=own
        )
        name = str(self.config) if self.config is not None else "built-in defaults"
        of = f", policies of {self.policies}" if self.policies is not None else ""
        label = f"{name} (preset {config.enforcement.preset}{of})"
        for warning in assembly.warnings(evaluator, file=self.config):
            click.echo(f"usher: warning: {warning}", err=True)
        with contextlib.closing(evaluator.engine):
            yield Judge(evaluator=evaluator, label=label, policies=policies.revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """An evaluator, and how reports name it."""

    evaluator: "Evaluator"
    label: str
    policies: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The two sides; a side that judges is Rules."""

    old: "Rules | Side"
    new: "Rules | Side | None"
    """None if verdicts are only saved."""

    @property
    def rules(self) -> list[Rules]:
        """The sides that judge, the old one first."""
        return [each for each in (self.old, self.new) if isinstance(each, Rules)]


def pair(
    *, config: Path | None, before: Path | None, against: Path | None, policies: Path | None, save: Path | None
) -> Pair:
    """The sides that the options name.

    Raises:
        InputError: a file cannot be read, or is of the wrong kind.
        UsageError: the options contradict each other, or name no new side.
    """
    own = inputs.find_config(config)
    if save is not None:
        if before is not None or against is not None or policies is not None:
            raise click.UsageError("--save writes the verdicts of --config; leave out --before and --against")
        return Pair(old=Rules(config=own), new=None)
    old = Rules(config=own) if before is None else _loaded(before)
    if against is not None:
        return Pair(old=old, new=_against(against, config=own, policies=policies))
    if before is not None or policies is not None:
        return Pair(old=old, new=Rules(config=own, policies=policies))
    raise click.UsageError("name the new side with --against: a usher.yaml, a directory of policies, or saved verdicts")


def _against(given: Path, *, config: Path | None, policies: Path | None) -> "Rules | Side":
    """The new side.

    Args:
        given: a usher.yaml, a directory of policies, or verdicts that --save wrote.
        config: usher.yaml of the old side, which a new bundle keeps.
        policies: a directory of policies, beside a usher.yaml.

    Raises:
        InputError: it is something else.
    """
    if given.is_dir():
        if policies is not None:
            raise errors.InputError(
                f"--against {given}: a directory of policies, as --against-policies is; name a usher.yaml, or leave "
                "out one of them"
            )
        return Rules(config=config, policies=given)
    if (side := _saved(given)) is not None:
        if policies is not None:
            raise errors.InputError(f"--against {given}: saved verdicts have their policies; omit --against-policies")
        return side
    return Rules(config=given, policies=policies)


def _loaded(file: Path) -> "Side":
    """The verdicts that --save wrote.

    Raises:
        InputError: the file has no verdicts, or cannot be read.
    """
    from usher.check.replay import comparison as saved_verdicts

    return saved_verdicts.load_side(_content(file, saved_verdicts.LARGEST_SAVED + 1), source=str(file))


def _saved(file: Path) -> "Side | None":
    from usher.check.replay import comparison as saved_verdicts

    if not saved_verdicts.is_saved_side(_content(file, saved_verdicts.SAVED_HEAD)):
        return None
    return _loaded(file)


def _content(file: Path, most: int) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(most)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise errors.InputError(f"{file}: cannot be read: {reason.lower()}") from None
