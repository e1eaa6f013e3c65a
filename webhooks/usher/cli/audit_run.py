"""One audit, from the options of `usher audit` to its document; `--serve` takes it again and again."""

import contextlib
import ctypes
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, paths
from usher.audit import document_entries
from usher.audit.document import Audit, ReadinessItem
from usher.audit.gather import dumps
from usher.audit.gather.dumps import Survey
from usher.audit.gather.estate import Estate, Scope
from usher.audit.gather.estate_builder import EstateBuilder
from usher.audit.gather.needed_inputs import WANTED, Wanted
from usher.audit.gather.object_fields import Packed
from usher.audit.sections import Sections, checklist_items, standing_findings
from usher.audit.store.earlier_audits import Api
from usher.audit.usage.series import Source
from usher.authorities.knowledge import Knowledge
from usher.check import cluster_objects, findings, judging, runner, sources
from usher.check.batches import Batch, Item
from usher.check.runner import Watch
from usher.check.site_policies import Given
from usher.cli import audit_usage, given_policies, inputs
from usher.cli.audit_usage import AuditOptions
from usher.cluster.api import Lists
from usher.cluster.facts.store import Recorded, State, Store
from usher.config import selection
from usher.extensions.gatekeeper.evaluation import Policies
from usher.kinds.reading.values import Absence
from usher.kinds.registry import FACTS
from usher.policy.evaluator import Evaluator


class Inputs(Struct, frozen=True, kw_only=True):
    """The objects of an audit, and the facts of their cluster."""

    name: str
    """The name of the cluster, or the files."""
    batches: Iterable[Batch]
    facts: Store | None = None
    """The facts of the cluster itself; None where the options name files with facts."""
    origin: str = ""
    """The name of the cluster for reports of findings; empty for files."""
    server: str = ""
    """The version of the API server."""
    recorded: Sequence[Recorded] = ()
    """The other kinds that sections want."""
    pods_known: bool = False
    """Whether the files hold a list of all pods, even if it is empty."""
    api: Api | None = None
    """The API server; None for files and the demo."""
    series: Source | None = None
    """Answers questions about usage instead of Prometheus; None except for the demo."""
    manifests: Sequence[Batch] | None = None
    """The batches that the files apply together; None for all batches."""
    lists_nodes: bool = False
    """Whether the batches have the nodes and namespaces of a cluster; else those of the facts count."""

    def batches_beside(self, builder: EstateBuilder, facts: Store) -> Iterator[Batch]:
        """The batches to judge. The builder takes the objects of each batch before the caller gets it.

        Args:
            facts: they may hold nodes and namespaces that the batches lack: with manifests, or lists of one namespace.
        """
        for value in () if self.lists_nodes else _cluster_scoped(facts):
            builder.add(value)
        for recorded in self.recorded:
            builder.record(recorded)
        if self.pods_known:
            builder.knows_pods()
        for batch in self.batches:
            if batch.source == "nodes" and not batch.notes and not batch.problems:
                builder.knows_nodes()
            if batch.source == "pods" and batch.notes:
                builder.misses_pods(batch.notes[0].reason)
            elif batch.source == "pods" and not batch.problems:
                builder.knows_pods()
            for item in batch.items:
                builder.add(item.value)
            for value in batch.aside:
                builder.add(value)
            yield batch
            del batch  # frees a page before the next one comes


def live_inputs(
    kubeconfig: Path | None,
    context_name: str | None,
    *,
    namespace: str,
    read_facts: bool,
    further_batches: Callable[[Lists], Iterable[Batch]] = lambda _api: (),
    seen: Callable[[Lists], Lists] | None = None,
) -> Inputs:
    """A cluster; its objects are listed while the caller takes batches.

    Args:
        kubeconfig: the path, as kubectl takes it.
        context_name: the context of the kubeconfig.
        namespace: the only one to audit; empty for all.
        read_facts: whether to read the facts of the cluster.
        more: lists objects that only policies of the site judge.
        seen: restricts the workloads to a part of the cluster; facts and wanted kinds come from the whole cluster.

    Raises:
        ClusterError: the API server does not answer.
    """
    from usher.cluster import connection, recording

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    lists = api if seen is None else seen(api)
    batches: Iterable[Batch] = itertools.chain(cluster_objects.read(lists, namespace=namespace), further_batches(lists))
    facts = None
    if read_facts:
        recorded = list(recording.read_facts(api))
        facts = recording.store_of_recorded(recorded)
        batches = itertools.chain(_unlisted(recorded), batches)
    listed = recording.read_facts(api, kinds=WANTED)
    others = [replace(each, values=Packed(each.values)) for each in listed]
    if namespace and (facts is None or not facts.knows("", "Namespace")):
        batches = itertools.chain(_namespace(api, namespace), batches)
    return Inputs(
        name=connection.cluster_name(api, kubeconfig=kubeconfig, context=context_name),
        origin=api.name,
        server=_version(api),
        facts=facts,
        batches=itertools.chain(_unlisted(others), batches),
        recorded=others,
        api=api,
        lists_nodes=not namespace,
    )


def _namespace(api: Lists, name: str) -> Iterator[Batch]:
    """The only audited namespace, whose labels name the team, if usher may not list all namespaces."""
    answer = api.get(f"/api/v1/namespaces/{name}")
    if answer.status == 200:
        value = {"apiVersion": "v1", "kind": "Namespace", **answer.value}
        yield Batch(source="namespaces", aside=(value,), is_file=False)


def demo_inputs(now: datetime) -> Inputs:
    """The synthetic cluster that ships with usher, with its usage.

    It has no objects of the kinds that it does not show, so usher knows all kinds.
    """
    from usher.audit.demo import synthetic_cluster, synthetic_records

    objects = list(synthetic_cluster.objects(now))
    read = Batch(source=synthetic_cluster.NAME, items=tuple(Item(value=value) for value in objects), is_file=False)
    survey = Survey({each.key: each.keep for each in WANTED})
    survey.add(read)
    facts = survey.facts
    for key in FACTS:
        if facts.knows(*key):
            continue
        if synthetic_cluster.serves(key[0]):
            facts.replace(key, ())
        else:
            facts.lacks(key)
    return Inputs(
        name=synthetic_cluster.NAME,
        origin="the synthetic cluster of the demo",
        server=synthetic_cluster.SERVER,
        batches=[survey.settled(read)],
        facts=facts,
        recorded=_recorded(WANTED, survey),
        series=synthetic_records.SyntheticSource(objects),
    )


def _cluster_scoped(facts: Store) -> Iterator[paths.Object]:
    """The nodes and namespaces among facts, without nodes that the files have too."""
    namespaces = facts.objects("", "Namespace")
    yield from () if isinstance(namespaces, Absence) else namespaces.values()
    for name in sorted(facts.nodes.now.by_name):
        found = facts.nodes.named(name)
        if found is not None:
            yield found


def file_inputs(names: tuple[str, ...], *, read_facts: bool, watch: Watch) -> Inputs:
    """The objects of files. All files are read first: they may hold a dump of a cluster, whose objects belong together.

    Args:
        read_facts: whether the facts of the cluster come from the files.
        watch: gets the number of files read.

    Raises:
        InputError: they hold two clusters.
    """
    survey = Survey({each.key: each.keep for each in WANTED})
    read = dumps.read_files(runner.watched(sources.find_files(names, stdin=sys.stdin.buffer), watch), survey=survey)
    return Inputs(
        name=", ".join(names),
        batches=itertools.chain([read.together], read.batches()),
        manifests=read.manifests,
        facts=survey.facts if read_facts else None,
        recorded=_recorded((each for each in WANTED if each.key in survey.kinds), survey),
        pods_known=("", "Pod") in survey.kinds,
    )


def _recorded(wanted: Iterable[Wanted], survey: Survey) -> list[Recorded]:
    """The kinds that sections want, each with all of its objects."""
    return [Recorded(kind=each, state=State.KNOWN, values=Packed(survey.kept(each.key))) for each in wanted]


def _version(api: Lists) -> str:
    """The version of the API server; empty if its answer lacks it."""
    answer = api.get("/version")
    found = answer.value.get("gitVersion") if answer.status == 200 else ""
    return found[:64] if isinstance(found, str) else ""


def _unlisted(recorded: Iterable[Recorded]) -> Iterator[Batch]:
    """Notes on kinds that usher may not list, and problems with other kinds that it could not list."""
    for each in recorded:
        source = each.kind.resource
        if each.state is State.NOT_KNOWN and each.failed:
            problem = findings.Problem(source=source, reason=f"the list ended: {each.reason}; run the audit again")
            yield Batch(source=source, problems=(problem,), is_file=False)
        elif each.state is State.NOT_KNOWN:
            note = findings.Note(source=source, reason=f"not read: {each.reason}")
            yield Batch(source=source, notes=(note,), is_file=False)


def require_namespace(name: str, facts: Store) -> None:
    """Raises InputError for a namespace that does not exist: a typing error must not look like a clean audit."""
    there = facts.names("", "Namespace")
    if there and name not in there:
        raise errors.InputError(f"the cluster has no namespace {name}{selection.nearest_word(name, there)}")


def analyse(
    estate: Estate,
    known: Knowledge,
    report: findings.Report,
    *,
    usage: audit_usage.UsageOptions,
    audited: Inputs,
    now: datetime,
) -> Sections:
    """The sections of all analyses.

    Args:
        usage: where to measure usage.
        audited: the cluster or the files.
        now: the time of the audit, in UTC.
    """
    return Sections(
        measured=usage.measure(estate, config=known.config.audit, now=now, source=audited.series),
        standing=tuple(standing_findings(estate, known, report=report, config=known.config, now=now)),
        readiness=_readiness(estate, known, now, server_version=audited.server),
        window=usage.window,
    )


def _readiness(estate: Estate, known: Knowledge, now: datetime, *, server_version: str) -> tuple[ReadinessItem, ...]:
    """The production checklist; empty without a cluster."""
    if not estate.knows_cluster:
        return ()
    return checklist_items(estate, known, config=known.config, now=now, server_version=server_version)


_M_MMAP_THRESHOLD: Final = -3  # its number in malloc.h
_LARGE: Final = 2**20


def return_large_buffers() -> None:
    """Makes glibc return each buffer from 1 MiB when it is freed. It would keep those up to the largest answer."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


class Taken(Struct, frozen=True, kw_only=True):
    """A finished audit."""

    found: findings.Report
    audit: Audit
    api: Api | None
    """The API server of the cluster; None for files and the demo."""

    @property
    def former_names(self) -> tuple[str, ...]:
        """Names that an earlier usher gave the cluster without --cluster-name."""
        return () if self.api is None else (self.api.name,)


class AuditRun(Struct, frozen=True, kw_only=True):
    """The settings of an audit: its scope and its rules."""

    chosen: AuditOptions
    policies: Given
    """Policies of the site."""
    scope: Scope
    """The audited part of the cluster."""
    seen: Callable[[Lists], Lists] | None = None
    """Restricts the API server to the part of the cluster that a shard lists."""

    def take(self, now: datetime, *, watch: Watch, quiet: bool) -> Taken:
        """Takes the audit.

        Args:
            now: its time, in UTC.
            quiet: whether warnings about usher.yaml are left out.

        Raises:
            UsherError: the objects cannot be read, or not be judged.
        """
        return_large_buffers()
        with given_policies.started_policies(self.policies, opa=self.chosen.policies.opa) as site:
            audited = self._inputs(now, site, watch=watch)
            with self._evaluator(audited, now, quiet=quiet) as evaluator:
                builder = self._builder(audited, evaluator)
                found = self._judged(audited, evaluator, builder, site, watch=watch)
            # Frees the engine before the estate is made.
            self._require(found)
            estate = builder.built(results=found.results)
            found = document_entries.settled_by_pods(found, estate)
            document = self._document(audited, evaluator, found, estate, now=now)
        return Taken(found=found, audit=document, api=audited.api)

    def _builder(self, audited: Inputs, evaluator: Evaluator) -> EstateBuilder:
        if self.chosen.in_namespace and audited.api is not None:
            require_namespace(self.chosen.in_namespace, evaluator.facts)
        return EstateBuilder(
            evaluator.knowledge,
            wanted=WANTED,
            namespace="default" if self.chosen.paths else "",
            scope=self.scope,
        )

    def _judged(
        self,
        audited: Inputs,
        evaluator: Evaluator,
        builder: EstateBuilder,
        site: Policies | None,
        *,
        watch: Watch,
    ) -> findings.Report:
        """The decisions about all objects, which the builder takes at the same time."""
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
        audited: Inputs,
        evaluator: Evaluator,
        found: findings.Report,
        estate: Estate,
        *,
        now: datetime,
    ) -> Audit:
        from usher.audit import document_assembly

        sections = analyse(estate, evaluator.knowledge, found, usage=self.chosen.usage, audited=audited, now=now)
        document = document_assembly.document(
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
        from usher.audit.demo import synthetic_records

        return synthetic_records.with_past(document, now=now)

    def _noted(self, found: findings.Report) -> findings.Report:
        """The report with a note, if it is about one namespace."""
        if not self.chosen.in_namespace:
            return found
        reason = "other namespaces are left out, and the numbers of nodes, targets, prices and the checklist with them"
        note = findings.Note(source=f"--in-namespace {self.chosen.in_namespace}", reason=reason)
        return replace(found, notes=(*found.notes, note))

    def _inputs(self, now: datetime, site: Policies | None, *, watch: Watch) -> Inputs:
        if self.chosen.demo:
            return demo_inputs(now)
        if self.chosen.paths:
            known = self.chosen.live_facts()
            read_facts = known is None and not self.chosen.facts
            found = file_inputs(self.chosen.paths, read_facts=read_facts, watch=watch)
            return found if known is None else replace(found, facts=known)
        return live_inputs(
            self.chosen.kubeconfig,
            self.chosen.context_name,
            namespace=self.chosen.in_namespace,
            read_facts=not self.chosen.fact_files and inputs.NONE not in self.chosen.facts,
            further_batches=lambda api: given_policies.matched_objects(api, site, namespace=self.chosen.in_namespace),
            seen=self.seen,
        )

    @contextlib.contextmanager
    def _evaluator(self, audited: Inputs, now: datetime, *, quiet: bool) -> Iterator[Evaluator]:
        if not self.chosen.demo or self.chosen.config is not None:
            file = inputs.find_config(self.chosen.config)
            with inputs.evaluator(
                file,
                engine=self.chosen.engine,
                opa_url=self.chosen.opa_url,
                facts=self.chosen.fact_files,
                known=audited.facts,
                quiet=quiet,
                own=given_policies.own_checks_of(self.policies, opa=self.chosen.policies.opa),
            ) as evaluator:
                yield evaluator
            return
        from usher.audit.demo import synthetic_cluster
        from usher.policy import assembly as policy_assembly

        evaluator = policy_assembly.embedded(synthetic_cluster.configuration(now.date()), facts=audited.facts)
        with contextlib.closing(evaluator.engine) as engine:
            engine.ready()
            yield evaluator

    def _settings(self, audited: Inputs) -> judging.Settings:
        file = None if self.chosen.demo and self.chosen.config is None else inputs.find_config(self.chosen.config)
        return judging.Settings(
            command=findings.Command.AUDIT,
            configuration=str(file) if file else ("demo" if self.chosen.demo else ""),
            origin=audited.origin,
            only_namespace=self.chosen.in_namespace,
            # Manifests are judged as by `usher check`, existing objects without mutation.
            mutated=bool(self.chosen.paths),
            drift=True,
        )

    def _require(self, found: findings.Report) -> None:
        """Raises InputError without any object: a typing error must not look like a clean audit."""
        if not self.chosen.paths:
            return
        inputs.require_objects(found, self.chosen.paths)
        if self.chosen.in_namespace and not found.results and not found.failed:
            raise errors.InputError(
                f"{', '.join(self.chosen.paths)}: no workload is in namespace {self.chosen.in_namespace}"
            )
