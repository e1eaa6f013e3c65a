"""One audit: reads a cluster, files or the synthetic cluster, judges, analyses, and makes the document."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from usher import errors
from usher.cli import audit_inputs, audit_sections, inputs, progress

if TYPE_CHECKING:
    from usher.audit.document import Audit
    from usher.cli.audit_inputs import Source
    from usher.cli.audit_shards import Part
    from usher.cli.audit_usage import Options
    from usher.cluster.connection import Api
    from usher.policy.evaluator import Evaluator
    from usher.scan import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What to audit and how, by the options of the command."""

    paths: tuple[str, ...] = ()
    """Files; without them a live cluster."""
    demo: bool = False
    """Whether to audit the synthetic cluster."""
    config: Path | None
    """The file of --config."""
    facts: tuple[str, ...]
    kubeconfig: Path | None
    context_name: str | None
    namespace: str
    """The only one to audit; empty for all."""
    cluster_name: str
    """In reports; empty for the one that usher finds."""
    engine: str
    opa_url: str | None
    usage: "Options"
    part: "Part | None" = None
    """The part of a cluster or a fleet; None for all of it."""
    quiet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """An audit: the decisions about its objects, and the document."""

    report: "findings.Report"
    document: "Audit"
    api: "Api | None"
    """The API server of the cluster; None for files and the demo."""


def run(choices: Choices, *, now: datetime) -> Audited:
    """Audits.

    Args:
        choices: those of the user.
        now: the time of the audit, in UTC.

    Raises:
        ClusterError: the API server does not answer, or lists no kind of workload.
        ConfigError: usher.yaml cannot be used.
        InputError: files hold no objects, or the namespace does not exist.
    """
    from usher.audit import assembly
    from usher.audit.building.builder import EstateBuilder
    from usher.scan import findings, runner

    file = None if choices.demo else inputs.find_config(choices.config)
    source = _source(choices, now=now)
    settings = runner.Settings(
        command=findings.Command.AUDIT,
        configuration="the demo's own" if choices.demo else str(file or ""),
        origin=source.origin,
        only_namespace=choices.namespace,
    )
    with (
        _evaluator(choices, source, file, now=now) as evaluator,
        progress.shown(quiet=choices.quiet) as watch,
    ):
        if choices.namespace and not choices.paths:
            audit_inputs.require_namespace(choices.namespace, evaluator.facts)
        builder = EstateBuilder(
            evaluator.knowledge,
            wanted=audit_sections.wanted(),
            namespace="default" if choices.paths else "",
            only=choices.namespace,
        )
        found = runner.run(source.fed(builder, evaluator.facts), evaluator=evaluator, settings=settings, watch=watch)
        estate = builder.built(results=found.results)
        _require_some(choices, found)
        sections = audit_sections.analysed(
            estate,
            evaluator.knowledge,
            found,
            server=source.server,
            usage=choices.usage,
            series=source.series,
            now=now,
        )
    document = assembly.document(
        report=found,
        estate=estate,
        config=evaluator.config,
        cluster=choices.cluster_name or source.name,
        server=source.server,
        sections=sections,
        now=now,
    )
    return Audited(report=found, document=document, api=source.api)


def _source(choices: Choices, *, now: datetime) -> "Source":
    if choices.demo:
        return audit_inputs.demo(now)
    if choices.paths:
        return audit_inputs.files(choices.paths, read_facts=not choices.facts)
    return audit_inputs.live(
        choices.kubeconfig,
        choices.context_name,
        namespace=choices.namespace,
        wanted=audit_sections.wanted(),
        read_facts=not choices.facts,
        **({} if choices.part is None else {"seen": choices.part.seen}),
    )


@contextlib.contextmanager
def _evaluator(choices: Choices, source: "Source", file: Path | None, *, now: datetime) -> "Iterator[Evaluator]":
    if not choices.demo:
        with inputs.evaluator(
            file,
            engine=choices.engine,
            opa_url=choices.opa_url,
            facts=choices.facts,
            known=source.facts,
            quiet=choices.quiet,
        ) as evaluator:
            yield evaluator
        return
    from usher.audit.demo import cluster
    from usher.policy import assembly

    made = assembly.embedded(cluster.configuration(now.date()), facts=source.facts)
    with contextlib.closing(made.engine):
        yield made


def _require_some(choices: Choices, found: "findings.Report") -> None:
    if choices.paths:
        inputs.require_objects(found, choices.paths)
        if choices.namespace and not found.results and not found.failed:
            raise errors.InputError(f"{', '.join(choices.paths)}: no workload is in namespace {choices.namespace}")
