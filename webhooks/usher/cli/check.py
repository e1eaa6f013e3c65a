"""`usher check`: judges manifests before they are applied; and `usher lsp`, the language server for editors."""

import contextlib
import gc
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click
from msgspec import Struct
from msgspec.structs import replace

from usher import errors
from usher.check import changes, findings, judging, processes, runner, sources
from usher.check.changes import Changes, KnownFindings, RevisionFiles
from usher.check.sources import FileOrBatch
from usher.cli import given_policies, inputs, output
from usher.policy.checks.catalogue import About
from usher.policy.evaluator import Evaluator
from usher.policy.rule_choice import RuleChoice

_LARGEST = 64 * 2**20


class Baselines(Struct, frozen=True, kw_only=True):
    """The values of the options."""

    baseline: Path | None
    ratchet: bool
    write_baseline: Path | None

    def read(self) -> KnownFindings | None:
        """The known findings; None without a baseline.

        Raises:
            InputError: the file cannot be read, or is not a baseline.
            UsageError: the options contradict each other.
        """
        if self.ratchet and self.baseline is None:
            raise click.UsageError("--ratchet needs --baseline FILE")
        if self.baseline is None:
            return None
        try:
            with self.baseline.open("rb") as stream:
                content = stream.read(_LARGEST + 1)
        except OSError as error:
            raise errors.InputError(f"{self.baseline}: cannot be read: {error.strerror}") from None
        if len(content) > _LARGEST:
            raise errors.InputError(f"{self.baseline}: larger than {_LARGEST // 2**20} MiB")
        return changes.read_baseline(content, source=str(self.baseline))

    def applied(self, found: findings.Report, known: KnownFindings | None) -> findings.Report:
        """The report with only new findings. Writes the files that the options name.

        A failed run writes no file, because it does not know all findings.

        Raises:
            InputError: a file cannot be written.
        """
        if known is None and self.write_baseline is None:
            return found
        from usher.check.formats.wording import count

        if self.write_baseline is not None and not found.failed:
            # The baseline makes these findings known for later runs.
            known = changes.baseline_of(found)
            self._write(self.write_baseline, known)
            click.echo(f"usher: {self.write_baseline}: {count(known.total(), 'finding')} written", err=True)
            return changes.compared_with_baseline(found, known).report
        if known is None:
            return found
        compared = changes.compared_with_baseline(found, known)
        reason = f"{count(compared.known, 'finding')} that the baseline knows"
        if compared.gone:
            reason += f"; {count(compared.gone, 'finding')} of it {'is' if compared.gone == 1 else 'are'} gone"
            if self.ratchet and self.baseline is not None and not found.failed:
                self._write(self.baseline, compared.remaining)
                reason += ", and removed from the file"
            else:
                reason += f" (--ratchet removes {'it' if compared.gone == 1 else 'them'})"
        note = findings.Note(source=str(self.baseline), reason=reason)
        return replace(compared.report, notes=(*found.notes, note))

    def _write(self, file: Path, known: KnownFindings) -> None:
        output.replace_file(file, changes.baseline_bytes(known), what="baseline")


class Manifests(Struct, frozen=True, kw_only=True):
    """The manifests that the command line names."""

    paths: tuple[str, ...]
    kustomizations: tuple[str, ...]
    charts: tuple[str, ...]
    values: tuple[str, ...]
    changed_since: str
    namespace: str

    @property
    def named(self) -> list[str]:
        """All inputs of the command line, for messages."""
        return [
            *self.paths,
            *(f"-k {each}" for each in self.kustomizations),
            *(f"--helm {each}" for each in self.charts),
        ]

    def find(self) -> list[FileOrBatch]:
        """The files, and the output of kustomize and helm.

        Raises:
            UsageError: nothing is named.
        """
        from usher.check import rendering, sources

        if not self.named:
            raise click.UsageError("name a PATH (a file, a directory, or - for standard input), or use -k or --helm")
        if self.values and not self.charts:
            raise click.UsageError("--values is for charts; name one with --helm")
        found = list(sources.find_files(self.paths, stdin=sys.stdin.buffer))
        found += map(rendering.render_kustomization, self.kustomizations)
        charts = rendering.Charts(charts=self.charts, values=self.values, namespace=self.namespace)
        return [*found, *rendering.render_charts(charts)]

    def changes(self, found: list[FileOrBatch]) -> Changes | None:
        """The changed files; None if all files are to be judged.

        Raises:
            InputError: git is missing, or does not know the revision.
        """
        if not self.changed_since:
            return None
        if self.kustomizations or self.charts:
            raise click.UsageError("--changed-since compares files; leave out -k and --helm, or the option")
        return changes.changed_since(self.changed_since, found, namespace=self.namespace)


class CheckRun(Struct, frozen=True, kw_only=True):
    """How to judge manifests: by which rules, against which facts, and in how many processes."""

    config: Path | None
    facts: tuple[str, ...]
    kubeconfig: Path | None
    context_name: str | None
    policies: given_policies.PolicyOptions
    diff: bool
    as_written: bool
    engine: str
    opa_url: str | None
    jobs: int | None
    no_cache: bool
    rules_from: str
    choice: RuleChoice
    config_name: str = ""
    """The name of the configuration in reports; empty for that of the file."""

    @contextlib.contextmanager
    def deciding(self, baselines: Baselines) -> Iterator[tuple["CheckRun", Baselines, tuple[findings.Note, ...]]]:
        """The run and its baseline by the files of the revision that decides, and notes about these files.

        Raises:
            InputError: git is missing, or does not know the revision.
        """
        file = inputs.find_config(self.config)
        if not self.rules_from:
            yield replace(self, config=file), baselines, ()
            return
        if baselines.ratchet or baselines.write_baseline is not None:
            raise click.UsageError(
                "--rules-from reads the baseline of a revision; leave out --ratchet and --write-baseline"
            )
        with tempfile.TemporaryDirectory(prefix="usher-rules-") as folder:
            found = changes.RevisionFiles.of(self.rules_from, Path(folder), option="--rules-from")
            given = _Given(config=file, facts=self.facts, policies=self.policies, baseline=baselines.baseline)
            used = given.of(found)
            name = f"{file} of {self.rules_from}" if used.config is not None else ""
            run = replace(self, config=used.config, config_name=name, facts=used.facts, policies=used.policies)
            yield run, replace(baselines, baseline=used.baseline), tuple(given.notes(found))

    def found(self, manifests: Manifests, *, quiet: bool) -> findings.Report:
        """Judges manifests by the configuration in `config`, or by the defaults.

        Args:
            manifests: the manifests to judge.
            quiet: whether progress, and warnings about usher.yaml, are left out.

        Raises:
            UsherError: an input cannot be used.
        """
        files = manifests.find()
        file = self.config
        settings = self._settings(manifests, files, file)
        given = inputs.given_facts(
            self.facts,
            kubeconfig=self.kubeconfig,
            context_name=self.context_name,
            kinds=partial(sources.named_kinds, files),
        )
        chosen = self.policies.divided()
        known = given.store if given is not None else None
        own = given_policies.own_checks_of(chosen, opa=self.policies.opa)
        make = partial(
            inputs.assembled,
            file,
            engine=self.engine,
            opa_url=self.opa_url,
            known=known,
            own=own,
            choice=self.choice,
        )
        remember = self._remembered(settings, manifests, files, live=given is not None and given.live)
        number = self.jobs or processes.default_number(files)
        with (
            given_policies.started_policies(chosen, opa=self.policies.opa) as site,
            processes.start_run(
                () if site else files, make=make, settings=settings, number=number, remember=remember
            ) as run,
            inputs.evaluator(
                file,
                engine=self.engine,
                opa_url=self.opa_url,
                known=known,
                quiet=quiet,
                own=own,
                choice=self.choice,
            ) as evaluator,
            output.show_progress(quiet=quiet) as watch,
        ):
            if site is None:
                part = run.judge(evaluator, watch=watch)
                return self._chosen(runner.report(part, evaluator=evaluator, settings=settings), evaluator)
            # Policies compare an object with all others, so one process judges them.
            batches = map(sources.load, files)
            found = runner.run(batches, evaluator=evaluator, settings=settings, watch=watch, policies=site)
            return self._chosen(found, evaluator)

    def _chosen(self, found: findings.Report, evaluator: Evaluator) -> findings.Report:
        """The report, which says which checks the options leave out."""
        chosen = self.choice.describe()
        if not chosen:
            return found
        entries = evaluator.catalogue
        left_out = {each.key for each in self.choice.left_out(entries)}
        needing = [key for key, each in entries.checks.items() if each.about is About.CLUSTER_FACTS]
        number = len(entries.checks)
        reason = f"judged by {number - len(left_out)} of {number} checks; the others are left out"
        return replace(
            found,
            notes=(*found.notes, findings.Note(source=chosen, reason=reason)),
            not_evaluated=tuple(each for each in found.not_evaluated if each.check not in left_out),
            without_facts=len(set(needing) - left_out) if found.without_facts else 0,
        )

    def _settings(self, manifests: Manifests, files: list[FileOrBatch], file: Path | None) -> judging.Settings:
        return judging.Settings(
            command=findings.Command.CHECK,
            configuration=self.config_name or (str(file) if file else ""),
            namespace=manifests.namespace,
            mutated=not self.as_written,
            diff=self.diff,
            changes=manifests.changes(files),
            facts_of_files=inputs.NONE not in self.facts,
        )

    def _remembered(
        self,
        settings: judging.Settings,
        manifests: Manifests,
        files: Sequence[FileOrBatch],
        *,
        live: bool,
    ) -> processes.Remember:
        """Returns a function that opens the verdicts of earlier runs, if this run may use them."""
        # A few files are judged before a cache is open; a diff needs the objects themselves.
        many = len(files) >= processes.FILES_PER_PROCESS
        if not many or live or self.policies.policies or self.no_cache or self.diff or manifests.changed_since:
            return processes.nothing_remembered

        facts = [each for each in self.facts if each != inputs.NONE]
        return partial(processes.open_verdicts, settings=settings, facts=inputs.facts_digest(facts))


class _Given(Struct, frozen=True, kw_only=True):
    """The files by which a run decides."""

    config: Path | None
    facts: tuple[str, ...]
    policies: given_policies.PolicyOptions
    baseline: Path | None

    def of(self, found: RevisionFiles) -> "_Given":
        """The same files of a revision. One that it lacks decides nothing.

        Raises:
            InputError: it lacks the key of policies, or a file cannot be used.
        """
        given = self.policies
        key = None if given.verify_key is None else found.written(str(given.verify_key))
        if given.verify_key is not None and key is None:
            raise errors.InputError(f"--verify-key {given.verify_key}: {found.revision} has no file of this name")
        chosen = tuple(path for each in given.policies if (path := found.written(each)) is not None)
        facts = tuple(path for each in self.facts if (path := _of_revision(found, each)) is not None)
        return _Given(
            config=_path_of(found, self.config),
            facts=facts,
            policies=replace(given, policies=chosen, verify_key=Path(key) if key and chosen else None),
            baseline=_path_of(found, self.baseline),
        )

    def notes(self, found: RevisionFiles) -> Iterator[findings.Note]:
        """Which files of the tree decide nothing, because the revision lacks them or has others."""
        named = [str(each) for each in (self.config, self.baseline, *self.facts, *self.policies.policies) if each]
        for each in named:
            if each in inputs.NO_FILES:
                continue
            if found.written(each) is None:
                reason = f"{found.revision} has no file of this name, so this one decides nothing"
            elif found.differs(each):
                reason = f"the one of {found.revision} decides; here it is another one"
            else:
                continue
            yield findings.Note(source=each, reason=reason)


def _of_revision(found: RevisionFiles, path: str) -> str | None:
    return path if path in inputs.NO_FILES else found.written(path)


def _path_of(found: RevisionFiles, path: Path | None) -> Path | None:
    written = None if path is None else found.written(str(path))
    return None if written is None else Path(written)


class Accepted(Struct, frozen=True, kw_only=True):
    """Incomplete results that do not make a run fail."""

    allow_unknown: bool
    allow_empty: bool
    require_facts: bool

    def check(self, found: findings.Report, manifests: Manifests) -> None:
        """Raises InputError for a run without objects, or without the facts that its checks need."""
        if not self.allow_empty:
            inputs.require_objects(found, manifests.named)
        if self.require_facts and found.without_facts:
            raise errors.InputError(
                f"{found.without_facts} checks were left out because the facts of the cluster are missing; "
                "name them with --facts, or leave out --require-facts"
            )


@inputs.command("check", formats=output.readers(audits=False))
@click.pass_context
def check(
    context: click.Context,
    *,
    manifests: Manifests,
    baseline: Baselines,
    accepted: Accepted,
    run: CheckRun,
    reporting: output.Reporting,
) -> None:
    from usher.check.formats import wording

    with run.deciding(baseline) as (decided, deciding, notes):
        known = deciding.read()
        found = decided.found(manifests, quiet=reporting.quiet)
        accepted.check(found, manifests)
        shown = deciding.applied(found, known)
        shown = replace(shown, notes=(*shown.notes, *notes))
        for note in () if reporting.quiet else notes:
            click.echo(
                f"usher: warning: {wording.harmless(wording.printable(f'{note.source}: {note.reason}'))}", err=True
            )
        context.exit(reporting.finish(shown, allow_unknown=accepted.allow_unknown))


@inputs.command("lsp")
def lsp(
    *,
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    verbose: bool,
) -> None:
    import logging

    from usher.check.editor import session as editor_session
    from usher.check.editor.serving import Server
    from usher.check.editor.session import Manifests, Session, Site
    from usher.policy.checks import catalogue

    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if verbose else logging.WARNING,
        format="usher: %(levelname)s: %(name)s: %(message)s",
    )
    # An editor stays open for days, so it collects more often than a command that ends.
    gc.set_threshold(100_000, 20, 100)
    site = Site(
        lambda: _evaluator_of_editor(config, facts, kubeconfig, context_name),
        rests_on=lambda: [
            *filter(None, [inputs.find_config(config)]),
            *(Path(each) for each in facts if each != inputs.LIVE),
        ],
    )
    manifests = Manifests(site, namespace=namespace)
    session = Session(manifests, catalogue=catalogue.load().catalogue, write=editor_session.write_changes)
    with _streams() as (stdin, stdout):
        Server(session).run(stdin, stdout)


def _evaluator_of_editor(
    config: Path | None, facts: tuple[str, ...], kubeconfig: Path | None, context_name: str | None
) -> Evaluator:
    kinds = partial(inputs.kinds_named_in, ["."])
    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name, kinds=kinds)
    known = given.store if given else None
    return inputs.assembled(inputs.find_config(config), engine="wasm", opa_url=None, known=known)


@contextlib.contextmanager
def _streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The streams of the protocol. Other output goes to standard error, so that it cannot break the protocol."""
    sys.stdout.flush()
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(own, "wb") as stdout:  # noqa: PTH123 - a file descriptor
        yield sys.stdin.buffer, stdout
