"""The input of all findings about a cluster."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from usher import model
from usher.audit import gpus
from usher.audit.estate import Estate, Node, Pod, Workload
from usher.audit.standing.records import Records
from usher.audit.usage import prices
from usher.authorities.knowledge import Knowledge
from usher.check import findings
from usher.cluster.facts import store
from usher.config import models, selection
from usher.config.fields import seconds
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevention:
    """The rule of usher that would have refused the object of a finding; empty texts if no rule would."""

    by: str = ""
    """The rule, if it denies today."""
    if_denied: str = ""
    """The rule, if it found the mistake and does not deny."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One cluster at one moment."""

    estate: Estate
    known: Knowledge
    report: findings.Report
    config: models.Config
    now: datetime
    nodes: Mapping[str, Node] = field(default_factory=dict)
    """The nodes with accelerators, by name."""
    records: Records = field(default_factory=Records)
    """The records of schedulers about workloads."""
    autoscaler: str = ""
    """The autoscaler that may add nodes with accelerators, as people call it; empty if no object shows one."""

    @property
    def complete(self) -> bool:
        """Whether usher read every workload of the cluster. Otherwise an object may only seem to have no workload.

        The merge of shards asks this of each shard.
        """
        listed = self.estate.complete and not any(note.hides_objects for note in self.report.notes)
        scope = self.estate.scope
        return listed and (scope.is_whole or scope.is_merged) and not self.report.failed

    @property
    def threshold(self) -> timedelta:
        """How long a workload may wait before an audit reports it (`audit.pending`)."""
        return timedelta(seconds=seconds(self.config.audit.pending))

    def is_old(self, since: datetime | None) -> bool:
        """Whether something began longer ago than the threshold; false if its start is unknown."""
        return since is not None and self.now - since > self.threshold

    def result(self, workload: Workload) -> findings.Result | None:
        """The decision about a workload; None if it was not judged."""
        results = self.report.results
        return results[workload.index] if 0 <= workload.index < len(results) else None

    def denials(self, workload: Workload) -> list[findings.Finding]:
        """The findings for which admission would refuse a workload today, without those that its mutations mend."""
        return [each for each in self._lasting(workload) if each.judgement.outcome is model.Outcome.DENY]

    def preventing(self, workload: Workload, codes: Sequence[str]) -> Prevention:
        """The first of these checks that found something in a workload and denies today, else one that only warns."""
        denied = {each.judgement.code for each in self.denials(workload)}
        found = {each.judgement.code for each in self._lasting(workload) if each.judgement.exception is None}
        by = next((code for code in codes if code in denied), "")
        return Prevention(by=by, if_denied="" if by else next((code for code in codes if code in found), ""))

    def preventing_anywhere(self, code: str) -> Prevention:
        """As `preventing`, for a check of objects that are not workloads."""
        judgements = (each.judgement for result in self.report.results for each in result.findings)
        denies = any(each.code == code and each.outcome is model.Outcome.DENY for each in judgements)
        return Prevention(by=code) if denies else Prevention(if_denied=code)

    def _lasting(self, workload: Workload) -> Iterator[findings.Finding]:
        """The findings that remain after the mutations."""
        result = self.result(workload)
        mended = result.change.mends if result is not None and result.change is not None else {}
        for each in () if result is None else result.findings:
            if each.judgement.finding.check not in mended:
                yield each

    def gpus(self, workload: Workload) -> float:
        """The GPUs that a workload holds. If it holds no GPU: the most that it requests."""
        return self.held(workload.pods) or gpus.number(workload.asks)

    def held(self, pods: Iterable[Pod]) -> float:
        """The GPUs that pods hold; a MIG device and a time slice count by their share."""
        return gpus.of_pods(pods, self.nodes)

    def price(self, node: str) -> float | None:
        """The price in an hour of a GPU of a node, by `audit.prices`; None without a price."""
        found = self.nodes.get(node)
        return None if found is None else prices.per_gpu_hour(self.config.audit.prices, prices.of_node(found))

    def labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None if unknown."""
        return store.namespace_labels(namespace, self.known.facts)

    def exemption(self, namespace: str) -> str:
        """The reason why a namespace is exempt; empty for a namespace that usher judges."""
        if selection.matches_pattern(namespace, self.config.exempt_namespaces):
            return "exemptNamespaces of usher.yaml"
        exempt = (self.labels(namespace) or {}).get(models.EXEMPTION_LABEL) == "true"
        return f"its label {models.EXEMPTION_LABEL}" if exempt else ""

    def team(self, namespace: str) -> str:
        """The team of a namespace: the first label of usher.yaml that it has, or else its name."""
        labels = self.labels(namespace) or {}
        return next((labels[key] for key in self.config.audit.team_labels if labels.get(key)), namespace)


def span(since: datetime, now: datetime) -> str:
    """The time between the two, in words: `3 days`, `5 hours`, `20 minutes`."""
    minutes = max(0, int((now - since).total_seconds() // 60))
    for size, word in ((1440, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes // size:,} {word}s"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
