"""The option of `usher audit` that writes report objects into the cluster."""

from typing import TYPE_CHECKING

import click

from usher.cli import exit_codes
from usher.cli.option_groups import Command

if TYPE_CHECKING:
    from usher.audit.document import Audit
    from usher.audit.store.report_store import Api, Outcome
    from usher.cli.audit_shards import Part

_NAMES = ("openreports", "policyreport")


def options(command: Command) -> Command:
    """Adds the option to a command, which gets it as `report_objects`; None if it was not given."""
    return click.option(
        "--report-objects",
        type=click.Choice(_NAMES),
        is_flag=False,
        flag_value=_NAMES[0],
        help="Write the findings into the cluster too, as Reports of OpenReports or PolicyReports: "
        f"one object for each namespace, and stale ones are deleted. Without a value: {_NAMES[0]}.",
    )(command)


def scope(namespace: str | None, part: "Part | None") -> frozenset[str] | None:
    """The namespaces of an audit, with an empty name for cluster-scoped objects; None for a whole cluster."""
    if namespace:
        return frozenset({namespace})
    if part is None or part.key.shard.is_whole:
        return None
    return frozenset(part.names) | ({""} if part.key.shard.has_nodes else frozenset())


def write(family_name: str, audit: "Audit", api: "Api", *, only: frozenset[str] | None = None) -> int:
    """Writes the objects and reports the result on standard error.

    Returns the exit code, FAILED if one was not written.

    Args:
        family_name: one of the choices.
        audit: the audit with the findings.
        api: the audited cluster.
        only: the namespaces, as `scope` returns them.

    Raises:
        ClusterError: the cluster does not answer, or does not serve the objects.
    """
    from usher.audit.reports import report_objects
    from usher.audit.store import report_store

    family = report_objects.FAMILIES[family_name]
    reports = report_store.Reports(
        group=family.group,
        version=family.version,
        plurals={family.kind: family.plural, family.cluster_kind: family.cluster_plural},
        labels=report_objects.LABELS,
        taken=report_objects.TAKEN,
    )
    run = report_store.Run(taken=audit.taken, only=only, complete=audit.completeness.complete)
    outcome = report_store.keep(api, reports, report_objects.objects(audit, family), run=run)
    for line in _lines(outcome, f"{family.plural}.{family.group}"):
        click.echo(f"usher: {line}", err=True)
    return exit_codes.FAILED if outcome.problems else 0


def _lines(outcome: "Outcome", resource: str) -> list[str]:
    from usher.check.formats import wording

    lines = [f"{resource}: {outcome.written:,} written, {outcome.deleted:,} stale ones deleted"]
    if outcome.stale:
        lines.append(f"{resource}: {outcome.stale:,} stay as they were, because this audit is incomplete")
    if outcome.gone:
        lines.append(f"{resource}: {outcome.gone:,} not written, because their namespace is gone or being deleted")
    for reason, number in sorted(outcome.problems.items()):
        shown = wording.harmless(wording.printable(reason))
        lines.append(f"{resource}: {wording.count(number, 'object')} not written or deleted: {shown}")
    return lines
