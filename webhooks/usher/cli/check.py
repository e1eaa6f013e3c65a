"""`usher check`: judges manifests before they are applied."""

from functools import partial
from pathlib import Path

import click

from usher import errors
from usher.cli import (
    baselines,
    gatekeeper,
    given_policies,
    inputs,
    manifest_inputs,
    path_completion,
    progress,
    reporting,
)
from usher.cli.exit_codes import FailOn


@click.command(
    epilog="""\b
Examples:
  usher check job.yaml
  usher check jobs/ other.yaml --config clusters/a100/usher.yaml
  usher check -k overlays/prod --namespace ml-research
  usher check --helm charts/train --values prod.yaml
  usher check . --changed-since origin/main
  usher check --diff job.yaml              show in full what the webhook would add, and why
  usher check --as-written job.yaml        judge the file alone, without what the webhook adds
  usher check jobs/ --policies checks/     judge by your own checks or policies of Gatekeeper as well
  usher check jobs/ --format json --output report.json
  usher check jobs/ --format text --format sarif=usher.sarif --format junit=usher.xml

\b
Exit codes (docs/ci.md has those of --exit-codes):
  0  nothing is denied; there may be warnings
  1  something is denied, or --fail-on names it
  2  an input could not be read, an object could not be judged, or no object was found"""
)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=path_completion.files)
@manifest_inputs.options
@inputs.config_option
@inputs.facts_option
@click.option(
    "--require-facts", is_flag=True, help="End as failed (exit code 2) if a check was left out for want of facts."
)
@inputs.namespace_option
@given_policies.options
@click.option("--diff", is_flag=True, help="Show in full what the mutating webhook would change, and why.")
@click.option("--as-written", is_flag=True, help="Judge the objects without what the mutating webhook adds to them.")
@click.option("--allow-unknown", is_flag=True, help="Accept workloads that have parts which usher cannot judge.")
@click.option(
    "--allow-empty",
    is_flag=True,
    help="Accept files without any Kubernetes object, where a program names the files, as pre-commit does.",
)
@baselines.options
@reporting.options(fail_on=FailOn.DENY)
@inputs.engine_options
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="How many processes judge files. Default: one for each processor, and fewer for few files.",
)
@click.option(
    "--no-cache", is_flag=True, help="Judge every file, also those whose verdict an earlier run has remembered."
)
@click.pass_context
def check(
    context: click.Context,
    *,
    paths: tuple[str, ...],
    kustomizations: tuple[str, ...],
    charts: tuple[str, ...],
    values: tuple[str, ...],
    changed_since: str,
    config: Path | None,
    facts: tuple[str, ...],
    require_facts: bool,
    namespace: str,
    policies: tuple[str, ...],
    opa: Path | None,
    verify_key: Path | None,
    diff: bool,
    as_written: bool,
    allow_unknown: bool,
    baseline: Path | None,
    ratchet: bool,
    write_baseline: Path | None,
    allow_empty: bool,
    engine: str,
    opa_url: str | None,
    jobs: int | None,
    no_cache: bool,
    reporting: reporting.Reporting,
) -> None:
    """Judge manifests as the webhooks would, before they are applied.

    PATH is a file, a directory (every .yaml, .yml and .json file below it that git does not ignore), a pattern, or -
    for standard input.

    As in the cluster, the mutating webhook goes first: what it adds is a note, and the findings are about what remains
    wrong. With --as-written the findings are about the file alone.
    """
    from usher.scan import findings, processes, runner, sources

    manifests = manifest_inputs.Manifests(
        paths=paths,
        kustomizations=kustomizations,
        charts=charts,
        values=values,
        changed_since=changed_since,
        namespace=namespace,
    )
    kept = baselines.Baselines(known=baseline, ratchet=ratchet, written=write_baseline)
    known_findings = kept.read()
    files = manifests.find()
    file = inputs.find_config(config)
    settings = runner.Settings(
        command=findings.Command.CHECK,
        configuration=str(file) if file else "",
        namespace=namespace,
        mutated=not as_written,
        diff=diff,
        changes=manifests.changes(files),
    )
    given = manifest_inputs.facts_of(facts)
    known = given.store if given is not None else None
    chosen = given_policies.divided(policies, verify_key=verify_key)
    own = given_policies.own(chosen, opa=opa)
    make = partial(inputs.assembled, file, engine=engine, opa_url=opa_url, known=known, own=own)
    # Few files are judged sooner than a cache is opened; a diff needs the objects themselves.
    many = len(files) >= processes.FILES_PER_PROCESS
    cached = many and not (policies or no_cache or diff or changed_since or (given is not None and given.live))
    remember: processes.Remember = processes.nothing_remembered
    if cached:
        from usher.scan import verdicts

        remember = partial(verdicts.opened, settings=settings, facts=inputs.digest(facts))
    number = jobs or processes.default_number(len(files))
    with (
        gatekeeper.started(chosen, opa=opa) as site,
        processes.started(() if site else files, make=make, settings=settings, number=number, remember=remember) as run,
        inputs.evaluator(
            file, engine=engine, opa_url=opa_url, known=known, quiet=reporting.quiet, own=own
        ) as evaluator,
        progress.shown(quiet=reporting.quiet) as watch,
    ):
        if site is not None:
            # Policies compare an object with all others, so one process judges them.
            batches = map(sources.load, files)
            found = runner.run(batches, evaluator=evaluator, settings=settings, watch=watch, policies=site)
        else:
            found = runner.report(run.judge(evaluator, watch=watch), evaluator=evaluator, settings=settings)
    if not allow_empty:
        inputs.require_objects(found, manifests.named)
    if require_facts and found.without_facts:
        raise errors.InputError(
            f"{found.without_facts} checks were left out because the facts of the cluster are missing; "
            "name them with --facts, or leave out --require-facts"
        )
    context.exit(reporting.finish(kept.applied(found, known_findings), allow_unknown=allow_unknown))
