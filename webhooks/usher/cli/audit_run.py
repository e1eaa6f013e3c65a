"""One audit, from the options of `usher audit` to its document; `--serve` runs it again and again."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from usher import errors
from usher.cli import audit_inputs, audit_sections, found_objects, gatekeeper, given_policies, inputs
from usher.cli.audit_options import Options
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.audit.building.builder import EstateBuilder
    from usher.audit.document import Audit
    from usher.audit.estate import Estate
    from usher.audit.scopes import Scope
    from usher.check import findings, judging
    from usher.check.runner import Watch
    from usher.cli.audit_inputs import Inputs
    from usher.cluster.api import Lists
    from usher.cluster.connection import Api
    from usher.extensions.gatekeeper.evaluation import Policies
    from usher.extensions.given_policies import Given
    from usher.policy.evaluator import Evaluator


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A finished audit."""

    found: "findings.Report"
    audit: "Audit"
    api: "Api | None"
    """The API server of the cluster; None for files and the demo."""

    @property
    def former_names(self) -> tuple[str, ...]:
        """Names that an earlier usher gave the cluster without --cluster-name."""
        return () if self.api is None else (self.api.name,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The settings of an audit: its scope and its rules."""

    chosen: Options
    policies: "Given"
    """Policies of the site."""
    scope: "Scope"
    """The audited part of the cluster."""
    seen: "Callable[[Lists], Lists] | None" = None
    """Restricts the API server to the part of the cluster that a shard lists."""

    def take(self, now: datetime, *, watch: "Watch", quiet: bool) -> Taken:
        """Takes the audit.

        Args:
            now: its time, in UTC.
            watch: gets the progress.
            quiet: whether warnings about usher.yaml are left out.

        Raises:
            UsherError: the objects cannot be read, or not be judged.
        """
        from usher.audit import pod_evidence

        with gatekeeper.started(self.policies, opa=self.chosen.policies.opa) as site:
            audited = self._inputs(now, site, watch=watch)
            with self._evaluator(audited, now, quiet=quiet) as evaluator:
                builder = self._builder(audited, evaluator)
                found = self._judged(audited, evaluator, builder, site, watch=watch)
            # Frees the engine before the estate is made.
            self._require(found)
            estate = builder.built(results=found.results)
            found = pod_evidence.settled(found, estate)
            document = self._document(audited, evaluator, found, estate, now=now)
        return Taken(found=found, audit=document, api=audited.api)

    def _builder(self, audited: "Inputs", evaluator: "Evaluator") -> "EstateBuilder":
        from usher.audit.building.builder import EstateBuilder

        if self.chosen.namespace and audited.api is not None:
            audit_inputs.require_namespace(self.chosen.namespace, evaluator.facts)
        return EstateBuilder(
            evaluator.knowledge,
            wanted=audit_sections.wanted(),
            namespace="default" if self.chosen.paths else "",
            scope=self.scope,
        )

    def _judged(
        self,
        audited: "Inputs",
        evaluator: "Evaluator",
        builder: "EstateBuilder",
        site: "Policies | None",
        *,
        watch: "Watch",
    ) -> "findings.Report":
        """The decisions about all objects, which the builder takes at the same time."""
        from usher.check import runner

        return runner.run(
            audited.batches_beside(builder, evaluator.facts),
            evaluator=evaluator,
            settings=self._settings(audited),
            watch=watch,
            policies=site,
            together=audited.manifests,
        )

    def _document(
        self,
        audited: "Inputs",
        evaluator: "Evaluator",
        found: "findings.Report",
        estate: "Estate",
        *,
        now: datetime,
    ) -> "Audit":
        from usher.audit import assembly

        sections = audit_sections.analysed(
            estate, evaluator.knowledge, found, usage=self.chosen.usage, audited=audited, now=now
        )
        document = assembly.document(
            report=self._noted(found),
            estate=estate,
            config=evaluator.config,
            cluster=self.chosen.cluster_name or audited.name,
            server=audited.server,
            sections=sections,
            now=now,
        )
        if not (self.chosen.demo and self.scope.is_whole):
            return document
        from usher.audit.demo import past

        return past.with_past(document, now=now)

    def _noted(self, found: "findings.Report") -> "findings.Report":
        """The report with a note, if it is about one namespace."""
        from usher.check import findings

        if not self.chosen.namespace:
            return found
        reason = "other namespaces are left out, and the numbers of nodes, targets, prices and the checklist with them"
        note = findings.Note(source=f"--namespace {self.chosen.namespace}", reason=reason)
        return replace(found, notes=(*found.notes, note))

    def _inputs(self, now: datetime, site: "Policies | None", *, watch: "Watch") -> "Inputs":
        if self.chosen.demo:
            return audit_inputs.demo(now, wanted=audit_sections.wanted())
        if self.chosen.paths:
            return audit_inputs.files(
                self.chosen.paths, wanted=audit_sections.wanted(), read_facts=not self.chosen.facts, watch=watch
            )
        return audit_inputs.live(
            self.chosen.kubeconfig,
            self.chosen.context_name,
            namespace=self.chosen.namespace,
            wanted=audit_sections.wanted(),
            read_facts=not self.chosen.facts,
            more=lambda api: gatekeeper.matched_objects(api, site, namespace=self.chosen.namespace),
            seen=self.seen,
        )

    @contextlib.contextmanager
    def _evaluator(self, audited: "Inputs", now: datetime, *, quiet: bool) -> "Iterator[Evaluator]":
        if not self.chosen.demo or self.chosen.config is not None:
            file = inputs.find_config(self.chosen.config)
            with inputs.evaluator(
                file,
                engine=self.chosen.engine,
                opa_url=self.chosen.opa_url,
                facts=self.chosen.facts,
                known=audited.facts,
                quiet=quiet,
                own=given_policies.own(self.policies, opa=self.chosen.policies.opa),
            ) as evaluator:
                yield evaluator
            return
        from usher.audit.demo import cluster
        from usher.policy import assembly as policy_assembly

        evaluator = policy_assembly.embedded(cluster.configuration(now.date()), facts=audited.facts)
        with contextlib.closing(evaluator.engine) as engine:
            engine.ready()
            yield evaluator

    def _settings(self, audited: "Inputs") -> "judging.Settings":
        from usher.check import findings, judging

        file = None if self.chosen.demo and self.chosen.config is None else inputs.find_config(self.chosen.config)
        return judging.Settings(
            command=findings.Command.AUDIT,
            configuration=str(file) if file else ("demo" if self.chosen.demo else ""),
            origin=audited.origin,
            only_namespace=self.chosen.namespace,
            # Manifests are judged as by `usher check`, existing objects without mutation.
            mutated=bool(self.chosen.paths),
            drift=True,
        )

    def _require(self, found: "findings.Report") -> None:
        """Raises InputError without any object: a typing error must not look like a clean audit."""
        if not self.chosen.paths:
            return
        found_objects.require(found, self.chosen.paths)
        if self.chosen.namespace and not found.results and not found.failed:
            raise errors.InputError(
                f"{', '.join(self.chosen.paths)}: no workload is in namespace {self.chosen.namespace}"
            )
