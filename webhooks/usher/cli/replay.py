"""`usher replay`: shows what a change of usher.yaml, of the policies or of usher would do, before it is merged."""

import contextlib
import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher.cli import exit_codes, gatekeeper, given_policies, inputs, output, progress, replay_exit, replay_sides
from usher.cli.replay_exit import FailOn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from usher.check.replay.comparison import Side
    from usher.check.replay.impact import Impact
    from usher.cli.replay_inputs import Inputs
    from usher.cli.replay_sides import Judge


@click.command(
    epilog="""\b
Examples:
  usher replay jobs/ --against new.yaml            what would change in CI
  usher replay reviews.jsonl --against new.yaml    for reviews that `usher serve --record` wrote
  usher replay --live --against new.yaml           for the workloads of the current cluster
  usher replay jobs/ --against policies/           with other policies
  usher replay jobs/ --save before.json            save the verdicts of this version,
  usher replay jobs/ --before before.json          and compare with another one
  usher replay jobs/ --against new.yaml --format markdown --output comment.md

\b
Exit codes:
  0  nothing is newly denied
  1  something is newly denied, or --fail-on names it
  2  an input or object could not be judged, also on one side alone (--allow-unknown accepts the latter)"""
)
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@inputs.config_option
@click.option(
    "--before",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The old side: verdicts that --save wrote, instead of judging by --config.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="NEW",
    help="The new side: a usher.yaml, a directory of built policies, or verdicts that --save wrote. "
    "With --before: --config, unless given.",
)
@click.option(
    "--against-policies",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Built policies of the new side, beside a usher.yaml.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the verdicts of --config, for another version of usher to compare with.",
)
@inputs.facts_option
@click.option(
    "--live",
    is_flag=True,
    help="Read the facts from the cluster, as it is now; without a PATH its workloads too.",
)
@inputs.cluster_options
@click.option("-n", "--namespace", help="Of objects without one [default: default]; with --live, judge only this one.")
@click.option(
    "--fail-on",
    type=click.Choice([each.value for each in FailOn]),
    default=FailOn.DENIED.value,
    show_default=True,
    help="End with exit code 1 for newly denied objects, also for newly warned ones, for any difference, or never.",
)
@click.option(
    "--policies",
    multiple=True,
    metavar="PATH",
    help="Your own checks, which both sides have: a directory, or a bundle of `usher policies build`. Repeatable. "
    "Policies of Gatekeeper are refused, because usher.yaml changes nothing of what they find.",
)
@gatekeeper.opa_option
@click.option("--allow-unknown", is_flag=True, help="Accept objects that only one side could evaluate.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, markdown for comments on pull requests.",
)
@click.option(
    "--output",
    "output_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report to this file, which is replaced only when the report is complete.",
)
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
    live: bool,
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str | None,
    fail_on: str,
    policies: tuple[str, ...],
    opa: Path | None,
    allow_unknown: bool,
    format_name: str,
    output_file: Path | None,
) -> None:
    """Show what a change would newly deny, and no longer deny, in objects, pods and GPUs.

    PATH is a manifest or a directory, as for `usher check`; a record of reviews, that `usher serve --record` wrote; or
    - for standard input. Both sides judge the same objects with the same facts.
    """
    from usher.check.replay import comparison, impact
    from usher.check.replay.comparison import Side
    from usher.cli import replay_inputs

    live = live or kubeconfig is not None or context_name is not None
    pair = replay_sides.pair(config=config, before=before, against=against, policies=against_policies, save=save)
    if not paths and not live and pair.rules:
        raise click.UsageError("name a PATH (a file, a directory, a record of reviews), or use --live")
    own = given_policies.own_of_both_sides(policies, opa=opa)
    given = inputs.given_facts(facts, live=live, kubeconfig=kubeconfig, context_name=context_name)
    with contextlib.ExitStack() as stack:
        judges = [stack.enter_context(each.opened(given.store if given else None, own=own)) for each in pair.rules]
        api = replay_inputs.connected(kubeconfig, context_name) if live and not paths else None
        workloads = replay_inputs.Inputs(paths=paths, api=api, namespace=namespace or "")
        judged = iter(_judged(workloads, judges))
    old = pair.old if isinstance(pair.old, Side) else next(judged)
    if save is not None:
        context.exit(_save(old, save))
    new = pair.new if isinstance(pair.new, Side) else next(judged)
    found = impact.measure_impact(comparison.compare_sides(old, new))
    _write(found, format_name, output_file)
    ending = replay_exit.decide(found, FailOn(fail_on), allow_unknown=allow_unknown)
    if ending.reason:
        click.echo(f"usher: {ending.reason}", err=True)
    context.exit(ending.code)


def _judged(workloads: "Inputs", judges: "Sequence[Judge]") -> "Sequence[Side]":
    """The verdicts of each side that judges; a side of saved verdicts is not judged again."""
    if not judges:
        return ()
    with progress.shown(quiet=False) as watch:
        return workloads.judged(judges, watch=watch)


def _save(side: "Side", file: Path) -> int:
    """Writes the verdicts, and returns the exit code."""
    from usher.check.formats import wording
    from usher.check.replay import comparison

    output.replace_bytes(file, comparison.dump_side(side), what="verdicts")
    for problem in side.problems:
        click.echo(f"usher: {wording.harmless(wording.printable(problem))}", err=True)
    verdicts = wording.count(len(side.verdicts), "verdict")
    click.echo(f"{file}: {verdicts}, {wording.harmless(wording.printable(side.label))}")
    return exit_codes.FAILED if side.problems or any(each.failure for each in side.verdicts) else 0


def _write(found: "Impact", format_name: str, file: Path | None) -> None:
    """Writes the report to the file, replaced only when the report is complete, or to standard output."""
    from usher.check.formats import replay as formats_replay

    stream = io.StringIO()
    match format_name:
        case "json":
            formats_replay.write_json(found, stream)
        case "markdown":
            formats_replay.write_markdown(found, stream)
        case _:
            formats_replay.write_text(found, stream, color=file is None and output.colored("auto"), width=_width(file))
    if file is not None:
        output.replace(file, stream.getvalue())
    else:
        click.echo(stream.getvalue(), nl=False)


def _width(file: Path | None) -> int | None:
    """The columns of the terminal; None if the report does not go to a terminal."""
    return shutil.get_terminal_size().columns if file is None and sys.stdout.isatty() else None
