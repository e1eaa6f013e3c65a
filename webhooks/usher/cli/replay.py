"""`usher replay`: shows what a change of usher.yaml, of the policies or of usher would do, before it is merged."""

import contextlib
import dataclasses
import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource
from msgspec import Struct

from usher import errors
from usher.check import findings
from usher.check.replay import comparison, impact, review_record
from usher.check.replay.comparison import Difference, Side
from usher.check.replay.impact import Impact
from usher.check.replay.review_record import Record
from usher.check.runner import Watch
from usher.cli import given_policies, inputs, main, output
from usher.cli.main import FailOn
from usher.cluster.api import Api
from usher.cluster.facts import store
from usher.cluster.facts.store import Store
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.evaluator import Evaluator


class Ending(Struct, frozen=True, kw_only=True):
    """The end of the command: its exit code and the reason."""

    code: int
    reason: str = ""
    """A text for standard error; empty if the report gives the reason."""


def decide_ending(found: Impact, fail_on: FailOn, *, allow_unknown: bool) -> Ending:
    """The exit code. Failures come first, because an incomplete comparison proves nothing."""
    there = {each for each in found.by_difference if each is not Difference.NOTHING}
    if found.comparison.failed:
        return Ending(code=main.FAILED, reason="the comparison is incomplete, so it does not pass (exit code 2)")
    failing = {
        FailOn.DENY: {Difference.NEWLY_DENIED},
        FailOn.WARN: {Difference.NEWLY_DENIED, Difference.NEWLY_WARNED},
        FailOn.AUDIT: set(Difference) - {Difference.NOTHING, Difference.NOT_EVALUATED},
        FailOn.NEVER: set(),
    }[fail_on]
    if there & failing:
        return Ending(code=main.FINDINGS)
    if there & {Difference.NOT_EVALUATED, Difference.ONE_SIDE} and not allow_unknown:
        reason = "some objects were evaluated on one side alone, so this does not pass (exit code 2); "
        return Ending(code=main.FAILED, reason=f"{reason}--allow-unknown accepts them")
    return Ending(code=0)


def connect(kubeconfig: Path | None, context: str | None) -> Api:
    """The API server that the options name.

    Raises:
        ClusterError: it is not known.
    """
    from usher.cluster import connection

    return connection.connect(kubeconfig=kubeconfig, context=context)


class Inputs(Struct, frozen=True, kw_only=True):
    """Where the objects are."""

    paths: tuple[str, ...]
    api: Api | None
    """The cluster whose workloads are judged; None for files."""
    namespace: str
    """The namespace of objects without one."""
    only_namespace: str = ""
    """The only namespace whose workloads are judged; empty for all."""

    def judged(self, judges: "Sequence[Judge]", *, watch: Watch) -> list[Side]:
        """The verdicts of each side about the same objects.

        Raises:
            InputError: there are no objects, or a file is of the wrong kind.
            ClusterError: the API server does not answer.
        """
        evaluators = [judge.evaluator for judge in judges]
        paths = dict.fromkeys(self.paths)
        files = [path for path in paths if not review_record.is_record(Path(path))]
        for path in files:
            _refuse_snapshot(path)
        records = [review_record.judge(Path(path), evaluators, watch=watch) for path in paths if path not in files]
        found = self._reports(files, judges, watch=watch)
        if files:
            inputs.require_objects(found[0], files)
        if self.api is not None and not found[0].results and not found[0].failed:
            where = (
                f"namespace {self.only_namespace} of the {self.api.name}"
                if self.only_namespace
                else f"the {self.api.name}"
            )
            raise errors.InputError(f"no workload is in {where}; `usher audit` lists what usher may read")
        sides = []
        for number, (judge, report) in enumerate(zip(judges, found, strict=True)):
            side = review_record.side_of_report(
                report,
                label=judge.label,
                policies=judge.policies,
                reviews=[each for record in records for each in record.judged[number]],
                rules=judge.evaluator.catalogue.checks,
            )
            sides.append(_with_records(side, records))
        return sides

    def _reports(self, files: Sequence[str], judges: "Sequence[Judge]", *, watch: Watch) -> list[findings.Report]:
        from usher.check import cluster_objects, judging, runner, sources

        evaluators = [judge.evaluator for judge in judges]
        if self.api is not None:
            settings = judging.Settings(
                command=findings.Command.AUDIT, origin=self.api.name, only_namespace=self.only_namespace
            )
            batches = cluster_objects.read(self.api, namespace=self.only_namespace)
            return runner.run_each(batches, evaluators=evaluators, settings=settings, watch=watch)
        settings = judging.Settings(
            command=findings.Command.CHECK,
            namespace=self.namespace,
            only_namespace=self.only_namespace,
            mutated=True,
        )
        read = sources.read(files, stdin=sys.stdin.buffer)
        return runner.run_each(read, evaluators=evaluators, settings=settings, watch=watch)


def _with_records(side: Side, records: Sequence[Record]) -> Side:
    from usher.check.formats import wording

    problems = [wording.located(problem) for record in records for problem in record.problems]
    notes = [f"{note.source}: {note.reason}" for record in records for note in record.notes]
    return dataclasses.replace(side, problems=(*side.problems, *problems), notes=(*side.notes, *notes))


def _refuse_snapshot(path: str) -> None:
    """Raises InputError for a file of `usher snapshot`, which would look like damaged YAML."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(len(store.MAGIC))
    except (OSError, ValueError):
        return
    if head == store.MAGIC:
        raise errors.InputError(
            f"{path}: a snapshot holds facts and no workloads; give it with --facts, and name manifests, a record of "
            "reviews, or what `usher snapshot --workloads FILE` writes"
        )


_REMEMBERED: Final = 4096
"""Answers of the engine: a run over many files meets many kinds of pods."""


class Rules(Struct, frozen=True, kw_only=True):
    """A side that judges."""

    config: Path | None
    policies: Path | None = None

    @contextlib.contextmanager
    def opened(self, known: Store | None, *, own: Sequence[OwnChecks] = ()) -> Iterator["Judge"]:
        """Returns a judge with these rules for as long as the context lasts. Warnings go to standard error.

        Args:
            own: checks of the site, which both sides have.

        Raises:
            ConfigError: the configuration cannot be used with these policies.
            BundleError: the policies are missing or damaged.
        """
        from usher.config import load, models
        from usher.policy import assembly, config_problems

        policies = catalogue.load(self.policies)
        config = models.Config()
        if self.config is not None:
            entries = catalogue.join_catalogues(policies.catalogue, own)
            config = load.load(self.config, check=lambda found: config_problems.problems(found, entries))
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


class Judge(Struct, frozen=True, kw_only=True):
    """An evaluator, and how reports name it."""

    evaluator: Evaluator
    label: str
    policies: str


class Pair(Struct, frozen=True, kw_only=True):
    """The two sides; a side that judges is Rules."""

    old: Rules | Side
    new: Rules | Side | None
    """None if verdicts are only saved."""

    @property
    def rules(self) -> list[Rules]:
        """The sides that judge, the old one first."""
        return [each for each in (self.old, self.new) if isinstance(each, Rules)]


def pair_of_sides(
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


def _against(given: Path, *, config: Path | None, policies: Path | None) -> Rules | Side:
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


def _loaded(file: Path) -> Side:
    """The verdicts that --save wrote.

    Raises:
        InputError: the file has no verdicts, or cannot be read.
    """
    return comparison.load_side(_content(file, comparison.LARGEST_SAVED + 1), source=str(file))


def _saved(file: Path) -> Side | None:
    if not comparison.is_saved_side(_content(file, comparison.SAVED_HEAD)):
        return None
    return _loaded(file)


def _content(file: Path, most: int) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(most)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise errors.InputError(f"{file}: cannot be read: {reason.lower()}") from None


FAILING: Final = inputs.OldValues(
    [each.value for each in FailOn],
    old={"denied": FailOn.DENY.value, "warned": FailOn.WARN.value, "any": FailOn.AUDIT.value},
)


def _only_namespace(context: click.Context, in_namespace: str, namespace: str, api: Api | None) -> str:
    """The only namespace to judge. An older --namespace also chose it, for the workloads of a cluster."""
    is_given = context.get_parameter_source("namespace") is ParameterSource.COMMANDLINE
    if in_namespace or api is None or not is_given:
        return in_namespace
    click.echo(
        "usher: warning: to choose the workloads of a cluster, --namespace is an old spelling; write --in-namespace",
        err=True,
    )
    return namespace


@inputs.command("replay")
@click.pass_context
def replay(
    context: click.Context,
    *,
    paths: tuple[str, ...],
    config: Path | None,
    before: Path | None,
    against: Path | None,
    against_policies: Path | None,
    save: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    in_namespace: str,
    fail_on: str,
    policies: tuple[str, ...],
    opa: Path | None,
    allow_unknown: bool,
    format_name: str,
    output_file: Path | None,
) -> None:
    live = inputs.are_live(facts, kubeconfig=kubeconfig, context_name=context_name)
    pair = pair_of_sides(config=config, before=before, against=against, policies=against_policies, save=save)
    if not paths and not live and pair.rules:
        raise click.UsageError("name a PATH (a file, a directory, a record of reviews), or use --facts live")
    own = given_policies.own_checks_of_both_sides(policies, opa=opa)
    kinds = partial(inputs.kinds_named_in, paths)
    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name, kinds=kinds)
    with contextlib.ExitStack() as stack:
        judges = [stack.enter_context(each.opened(given.store if given else None, own=own)) for each in pair.rules]
        api = connect(kubeconfig, context_name) if live and not paths else None
        only = _only_namespace(context, in_namespace, namespace, api)
        workloads = Inputs(paths=paths, api=api, namespace=namespace, only_namespace=only)
        judged = iter(_judged(workloads, judges))
    old = pair.old if isinstance(pair.old, Side) else next(judged)
    if save is not None:
        context.exit(_save(old, save))
    new = pair.new if isinstance(pair.new, Side) else next(judged)
    found = impact.measure_impact(comparison.compare_sides(old, new))
    _write(found, format_name, output_file)
    ending = decide_ending(found, FailOn(fail_on), allow_unknown=allow_unknown)
    if ending.reason:
        click.echo(f"usher: {ending.reason}", err=True)
    context.exit(ending.code)


def _judged(workloads: Inputs, judges: Sequence[Judge]) -> Sequence[Side]:
    """The verdicts of each side that judges; a side of saved verdicts is not judged again."""
    if not judges:
        return ()
    with output.show_progress(quiet=False) as watch:
        return workloads.judged(judges, watch=watch)


def _save(side: Side, file: Path) -> int:
    """Writes the verdicts, and returns the exit code."""
    from usher.check.formats import wording

    output.replace_file(file, comparison.dump_side(side), what="verdicts")
    for problem in side.problems:
        click.echo(f"usher: {wording.harmless(wording.printable(problem))}", err=True)
    verdicts = wording.count(len(side.verdicts), "verdict")
    click.echo(f"{file}: {verdicts}, {wording.harmless(wording.printable(side.label))}")
    return main.FAILED if side.problems or any(each.failure for each in side.verdicts) else 0


def _write(found: Impact, format_name: str, file: Path | None) -> None:
    """Writes the report to the file, replaced only when the report is complete, or to standard output."""
    from usher.check.formats import replay as replay_report

    stream = io.StringIO()
    match format_name:
        case "json":
            replay_report.write_json(found, stream)
        case "markdown":
            replay_report.write_markdown(found, stream)
        case _:
            replay_report.write_text(found, stream, color=file is None and output.colored("auto"), width=_width(file))
    if file is not None:
        output.replace_report(file, stream.getvalue())
    else:
        click.echo(stream.getvalue(), nl=False)


def _width(file: Path | None) -> int | None:
    """The columns of the terminal; None if the report does not go to a terminal."""
    return shutil.get_terminal_size().columns if file is None and sys.stdout.isatty() else None
