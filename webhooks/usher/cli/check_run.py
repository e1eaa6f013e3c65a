"""One run of `usher check`, from its options to its findings."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from usher import errors
from usher.cli import found_objects, gatekeeper, given_policies, inputs, manifest_inputs, option_groups, progress
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from usher.check import findings, judging, processes
    from usher.check.sources import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How to judge manifests: by which rules, against which facts, and in how many processes."""

    config: Path | None
    facts: tuple[str, ...]
    policies: given_policies.Options
    diff: bool
    as_written: bool
    engine: str
    opa_url: str | None
    jobs: int | None
    no_cache: bool

    def found(self, manifests: manifest_inputs.Manifests, *, quiet: bool) -> "findings.Report":
        """Judges manifests.

        Args:
            manifests: the manifests to judge.
            quiet: whether progress, and warnings about usher.yaml, are left out.

        Raises:
            UsherError: an input cannot be used.
        """
        from usher.check import processes, runner, sources

        files = manifests.find()
        file = inputs.find_config(self.config)
        settings = self._settings(manifests, files, file)
        given = manifest_inputs.facts_of(self.facts)
        chosen = self.policies.divided()
        known = given.store if given is not None else None
        own = given_policies.own(chosen, opa=self.policies.opa)
        make = partial(inputs.assembled, file, engine=self.engine, opa_url=self.opa_url, known=known, own=own)
        remember = self._remembered(settings, manifests, files, live=given is not None and given.live)
        number = self.jobs or processes.default_number(len(files))
        with (
            gatekeeper.started(chosen, opa=self.policies.opa) as site,
            processes.start_run(
                () if site else files, make=make, settings=settings, number=number, remember=remember
            ) as run,
            inputs.evaluator(
                file, engine=self.engine, opa_url=self.opa_url, known=known, quiet=quiet, own=own
            ) as evaluator,
            progress.shown(quiet=quiet) as watch,
        ):
            if site is None:
                return runner.report(run.judge(evaluator, watch=watch), evaluator=evaluator, settings=settings)
            # Policies compare an object with all others, so one process judges them.
            batches = map(sources.load, files)
            return runner.run(batches, evaluator=evaluator, settings=settings, watch=watch, policies=site)

    def _settings(
        self, manifests: manifest_inputs.Manifests, files: "list[Found]", file: Path | None
    ) -> "judging.Settings":
        from usher.check import findings, judging

        return judging.Settings(
            command=findings.Command.CHECK,
            configuration=str(file) if file else "",
            namespace=manifests.namespace,
            mutated=not self.as_written,
            diff=self.diff,
            changes=manifests.changes(files),
        )

    def _remembered(
        self,
        settings: "judging.Settings",
        manifests: manifest_inputs.Manifests,
        files: "Sequence[Found]",
        *,
        live: bool,
    ) -> "processes.Remember":
        """Returns a function that opens the verdicts of earlier runs, if this run may use them."""
        from usher.check import processes

        # A few files are judged before a cache is open; a diff needs the objects themselves.
        many = len(files) >= processes.FILES_PER_PROCESS
        if not many or live or self.policies.policies or self.no_cache or self.diff or manifests.changed_since:
            return processes.nothing_remembered

        return partial(processes.open_verdicts, settings=settings, facts=inputs.digest(self.facts))


as_value = option_groups.as_value("run", Run)
"""Gives a command the values of its options as `run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Incomplete results that do not make a run fail."""

    allow_unknown: bool
    allow_empty: bool
    require_facts: bool

    def check(self, found: "findings.Report", manifests: manifest_inputs.Manifests) -> None:
        """Raises InputError for a run without objects, or without the facts that its checks need."""
        if not self.allow_empty:
            found_objects.require(found, manifests.named)
        if self.require_facts and found.without_facts:
            raise errors.InputError(
                f"{found.without_facts} checks were left out because the facts of the cluster are missing; "
                "name them with --facts, or leave out --require-facts"
            )


accepted_as_value = option_groups.as_value("accepted", Accepted)
"""Gives a command the values of its options as `accepted`."""
