"""`usher audit`: reports on the GPUs and workloads of a cluster or a directory."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from msgspec.structs import replace

from usher import errors
from usher.audit import document as audit_document
from usher.audit.document import Audit, Trend
from usher.audit.store import earlier_audits
from usher.audit.store.earlier_audits import Api, Outcome
from usher.check import runner
from usher.check.formats import wording
from usher.cli import audit_usage, inputs, main, output, report
from usher.cli.audit_run import AuditRun, Taken
from usher.cli.main import FailOn
from usher.cli.report import Part


class Serving(Struct, frozen=True, kw_only=True):
    """Where and how often to show reports."""

    place: tuple[str, int]
    """Host and port."""
    every: timedelta
    remote: bool

    @staticmethod
    def of_options(values: dict[str, Any]) -> "Serving | None":
        """None without --serve."""
        place, every, remote = (values.pop(name) for name in ("serve", "every", "serve_remote"))
        given = click.get_current_context().get_parameter_source("every")
        if place is None and (remote or given is not click.core.ParameterSource.DEFAULT):
            raise click.UsageError("--every and --serve-remote belong to --serve ADDRESS")
        return None if place is None else Serving(place=place, every=every, remote=remote)

    def run(self, make: Callable[[], Audit]) -> None:
        """Shows what `make` returns, until the user stops it.

        Raises:
            InputError: the address cannot be used.
        """
        from usher.audit.reports import audit_page as reports_audit_page
        from usher.audit.reports import html_elements, json_document
        from usher.server import audit_page, logs
        from usher.server.audit_page import Refresher, Rendered
        from usher.server.ports import Address

        def rendered(audit: Audit, notices: tuple[str, ...]) -> Rendered:
            return Rendered(
                html=reports_audit_page.text(audit, notices=notices).encode(errors="backslashreplace"),
                json=json_document.text(audit).encode(errors="backslashreplace"),
            )

        logs.configure()
        logs.take_over_process()
        refresher = Refresher(make, rendered, every=self.every, now=lambda: datetime.now(UTC))
        host, port = self.place
        address = Address(host=host, port=port)
        audit_page.serve(refresher, address, policy=html_elements.policy(), remote=self.remote, started=_announce)


class _Address(click.ParamType[tuple[str, int]]):
    """HOST:PORT, :PORT or PORT."""

    name = "address"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return "[HOST:]PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:  # noqa: ANN401 - click's signature
        host, _, port = str(value).rpartition(":")
        if not port.isdecimal() or int(port) > 65_535:
            self.fail(f"{value!r} is not HOST:PORT; write for example 127.0.0.1:8090.", param, ctx)
        return host.strip("[]") or "127.0.0.1", int(port)


ADDRESS: Final = _Address()
EVERY: Final = audit_usage.Length(timedelta(seconds=10), timedelta(days=365))


def _announce(address: object) -> None:
    click.echo(f"usher: the report is at http://{address}/ (end with Ctrl-C)", err=True)


class Comparison(Struct, frozen=True, kw_only=True):
    """The earlier audits that an audit is compared with."""

    history: str = ""
    """A file of SQLite or a URL of PostgreSQL; empty without a history."""
    since: Audit | None = None
    """An earlier report."""

    @staticmethod
    def of_options(values: dict[str, Any]) -> "Comparison":
        """An earlier report is read before the command begins, so that a wrong file does not cost an audit."""
        history, since = values.pop("history"), values.pop("since")
        if history and since is not None:
            raise click.UsageError("--history and --since both name earlier audits; give one of them")
        earlier = None if since is None else _read_earlier_report(since)
        if history:
            from usher.audit.store import recorded_audits

            recorded_audits.check_place(history)
        return Comparison(history=history or "", since=earlier)

    def check_scope(self, *, is_whole: bool) -> None:
        """Raises UsageError for a part of a cluster: the history would count everything outside the part as fixed."""
        if not is_whole and (self.history or self.since is not None):
            raise click.UsageError("a shard is a part of a cluster; leave out --history and --since")

    def applied(self, audit: Audit, *, former: Sequence[str] = ()) -> tuple[Audit, str]:
        """The audit with its trend, and why earlier audits could not be used; the reason is empty if they could.

        `former` are names that an earlier usher gave to the cluster. The audit becomes part of the history.

        The history has the audit from now on.
        """
        from usher.audit.store import earlier_audits, recorded_audits

        failure = ""
        if self.since is not None:
            trend = earlier_audits.trend_since(self.since, audit, former=former)
            failure = earlier_audits.why_not_since(self.since, audit, former=former)
        elif self.history:
            try:
                trend = recorded_audits.record(self.history, audit, former=former)
            except errors.InputError as error:
                failure = str(error)
                trend = Trend(problems=(failure,))
        else:
            return audit, ""
        return audit.model_copy(update={"trend": trend}), failure


def finish(code: int, failure: str) -> int:
    """The exit code of an audit that would end with `code`. Writes a failed comparison to standard error.

    The reports are written even if the comparison failed.
    """
    if not failure:
        return code
    click.echo(f"usher: {wording.harmless(wording.printable(failure))}; the report is written without trends", err=True)
    return max(code, main.FAILED)


def _read_earlier_report(file: Path) -> Audit:
    try:
        with file.open("rb") as stream:
            content = stream.read(audit_document.LARGEST + 1)
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    return audit_document.loads(content, source=str(file))


def namespaces_in_scope(namespace: str | None, part: Part | None) -> frozenset[str] | None:
    """The namespaces of an audit, with an empty name for cluster-scoped objects; None for a whole cluster."""
    if namespace:
        return frozenset({namespace})
    if part is None or part.key.shard.is_whole:
        return None
    return frozenset(part.names) | ({""} if part.key.shard.has_nodes else frozenset())


def write_report_objects(family_name: str, audit: Audit, api: Api, *, only: frozenset[str] | None = None) -> int:
    """Writes the objects and reports the result on standard error.

    Returns the exit code, FAILED if one was not written.

    Args:
        family_name: one of the choices.
        api: the audited cluster.
        only: the namespaces, as `scope` returns them.

    Raises:
        ClusterError: the cluster does not answer, or does not serve the objects.
    """
    from usher.audit.reports import json_document

    family = json_document.FAMILIES[family_name]
    reports = earlier_audits.Reports(
        group=family.group,
        version=family.version,
        plurals={family.kind: family.plural, family.cluster_kind: family.cluster_plural},
        labels=json_document.LABELS,
        taken=json_document.TAKEN,
    )
    run = earlier_audits.Run(taken=audit.taken, only=only, complete=audit.completeness.complete)
    outcome = earlier_audits.keep(api, reports, json_document.objects(audit, family), run=run)
    for line in _lines(outcome, f"{family.plural}.{family.group}"):
        click.echo(f"usher: {line}", err=True)
    return main.FAILED if outcome.problems else 0


def _lines(outcome: Outcome, resource: str) -> list[str]:
    lines = [f"{resource}: {outcome.written:,} written, {outcome.deleted:,} stale ones deleted"]
    if outcome.stale:
        lines.append(f"{resource}: {outcome.stale:,} stay as they were, because this audit is incomplete")
    if outcome.gone:
        lines.append(f"{resource}: {outcome.gone:,} not written, because their namespace is gone or being deleted")
    for reason, number in sorted(outcome.problems.items()):
        shown = wording.harmless(wording.printable(reason))
        lines.append(f"{resource}: {wording.count(number, 'object')} not written or deleted: {shown}")
    return lines


@inputs.command("audit", formats=output.readers(audits=True))
@click.pass_context
def audit(
    context: click.Context,
    *,
    chosen: audit_usage.AuditOptions,
    comparison: Comparison,
    reporting: output.Reporting,
    report_objects: str | None,
    serving: Serving | None,
    sharding: report.Sharding | None,
    allow_unknown: bool,
) -> None:
    chosen.check(report_objects=bool(report_objects), parts=sharding is not None, served=serving is not None)
    part = None
    if sharding is not None:
        comparison.check_scope(is_whole=sharding.shard.is_whole)
        chosen, part = _of_shard(chosen, sharding)
    chosen = replace(chosen, usage=replace(chosen.usage, cluster=chosen.cluster_name))
    scope = chosen.scope if part is None else part.key.shard
    # Checked first: a wrong option must not end the command after minutes of reading.
    chosen.usage.source()
    seen = None if part is None else part.seen
    run = AuditRun(chosen=chosen, policies=chosen.policies.divided(), scope=scope, seen=seen)
    if serving is not None:
        serving.run(lambda: _applied(comparison, _unwatched(run))[0])
        return
    with output.show_progress(quiet=reporting.quiet) as watch:
        taken = run.take(datetime.now(UTC), watch=watch, quiet=reporting.quiet)
    document, failure = _applied(comparison, taken)
    if part is not None:
        document = part.write(document)
        reporting = report.without_text(reporting)
    # A gate does not accept unknown parts; a report without a gate does.
    accepted = allow_unknown or reporting.policy.fail_on is FailOn.NEVER
    code = finish(reporting.finish(taken.found, allow_unknown=accepted, audit=document), failure)
    code = chosen.usage.finish(code, document.measurement, quiet=reporting.quiet)
    if report_objects and taken.api is not None:
        only = namespaces_in_scope(chosen.in_namespace, part)
        code = max(code, write_report_objects(report_objects, document, taken.api, only=only))
    context.exit(code)


def _of_shard(
    chosen: audit_usage.AuditOptions, sharding: report.Sharding
) -> tuple[audit_usage.AuditOptions, report.Part]:
    """The options for the cluster of a shard, and the part that the shard audits."""
    kubeconfig, context_name = sharding.connection(chosen.kubeconfig, chosen.context_name)
    part = sharding.begin(chosen.paths, kubeconfig, context_name, name=chosen.cluster_name)
    return replace(
        chosen,
        kubeconfig=kubeconfig,
        context_name=context_name,
        cluster_name=part.key.cluster,
    ), part


def _applied(comparison: Comparison, taken: Taken) -> tuple[Audit, str]:
    return comparison.applied(taken.audit, former=taken.former_names)


def _unwatched(run: AuditRun) -> Taken:
    return run.take(datetime.now(UTC), watch=runner.unwatched, quiet=True)
