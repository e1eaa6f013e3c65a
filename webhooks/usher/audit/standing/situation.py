"""Everything that the findings about a cluster are made from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from usher import model
from usher.audit.gather import gpus
from usher.audit.gather.estate import Estate, Node, Pod, Workload
from usher.audit.standing.records import Records
from usher.authorities.knowledge import Knowledge
from usher.config import models, selection
from usher.config.fields import seconds
from usher.dataclass import dataclass
from usher.facts import namespaces
from usher.scan import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevention:
    """The rule of usher that would have kept out what a finding is about; empty texts where no rule would."""

    by: str = ""
    """It denies today."""
    if_denied: str = ""
    """It found the mistake and does not deny."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A cluster at one moment."""

    estate: Estate
    known: Knowledge
    report: findings.Report
    config: models.Config
    now: datetime
    nodes: Mapping[str, Node] = field(default_factory=dict)
    """Those with accelerators, by name."""
    records: Records = field(default_factory=Records)
    """What schedulers have written about workloads."""
    autoscaler: str = ""
    """What may add nodes with accelerators, for people; empty where no object shows an autoscaler."""

    @property
    def complete(self) -> bool:
        """Whether every workload of the cluster was seen: else something only seems to have no workload.

        The merge of shards asks each of them.
        """
        listed = self.estate.complete and not any(note.hides_objects for note in self.report.notes)
        scope = self.estate.scope
        return listed and (scope.is_whole or scope.is_merged) and not self.report.failed

    @property
    def threshold(self) -> timedelta:
        """How long something may wait before an audit reports it (`audit.pending`)."""
        return timedelta(seconds=seconds(self.config.audit.pending))

    def is_old(self, since: datetime | None) -> bool:
        """Whether something began longer ago than the threshold; false where that is not known."""
        return since is not None and self.now - since > self.threshold

    def result(self, workload: Workload) -> findings.Result | None:
        """The decision about a workload; None where it was not judged."""
        results = self.report.results
        return results[workload.index] if 0 <= workload.index < len(results) else None

    def denials(self, workload: Workload) -> list[findings.Finding]:
        """What admission would refuse a workload for today: without findings that its mutations mend."""
        return [each for each in self._lasting(workload) if each.judgement.outcome is model.Outcome.DENY]

    def preventing(self, workload: Workload, codes: Sequence[str]) -> Prevention:
        """The first of some checks that found something in a workload and denies it today, else one that only warns."""
        denied = {each.judgement.code for each in self.denials(workload)}
        found = {each.judgement.code for each in self._lasting(workload) if each.judgement.exception is None}
        by = next((code for code in codes if code in denied), "")
        return Prevention(by=by, if_denied="" if by else next((code for code in codes if code in found), ""))

    def preventing_anywhere(self, code: str) -> Prevention:
        """As `preventing`, for a check of objects that are no workloads."""
        judgements = (each.judgement for result in self.report.results for each in result.findings)
        denies = any(each.code == code and each.outcome is model.Outcome.DENY for each in judgements)
        return Prevention(by=code) if denies else Prevention(if_denied=code)

    def _lasting(self, workload: Workload) -> Iterator[findings.Finding]:
        """The findings that are left after the mutations."""
        result = self.result(workload)
        mended = result.change.mends if result is not None and result.change is not None else {}
        for each in () if result is None else result.findings:
            if each.judgement.finding.check not in mended:
                yield each

    def gpus(self, workload: Workload) -> float:
        """The GPUs that a workload holds, or the most that it asks for where it holds none."""
        return self.held(workload.pods) or gpus.number(workload.asks)

    def held(self, pods: Iterable[Pod]) -> float:
        """The GPUs that pods hold; a MIG device and a time slice count by their share."""
        return gpus.of_pods(pods, self.nodes)

    def price(self, node: str) -> float | None:
        """What a GPU of a node costs in an hour, by `audit.prices`; None without a price."""
        found = self.nodes.get(node)
        return None if found is None else gpus.price_per_hour(self.config.audit.prices, gpus.node_type_of(found))

    def labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None where they are not known."""
        return namespaces.labels(namespace, self.known.facts)

    def exemption(self, namespace: str) -> str:
        """What exempts a namespace; empty for one that is judged."""
        if selection.matches(namespace, self.config.exempt_namespaces):
            return "exemptNamespaces of usher.yaml"
        exempt = (self.labels(namespace) or {}).get(models.EXEMPTION_LABEL) == "true"
        return f"its label {models.EXEMPTION_LABEL}" if exempt else ""

    def team(self, namespace: str) -> str:
        """The team of a namespace, by the first label of usher.yaml that it has, or else its name."""
        labels = self.labels(namespace) or {}
        return next((labels[key] for key in self.config.audit.team_labels if labels.get(key)), namespace)


def span(since: datetime, now: datetime) -> str:
    """How long something lasts: `3 days`, `5 hours`, `20 minutes`."""
    minutes = max(0, int((now - since).total_seconds() // 60))
    for size, word in ((1440, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes // size:,} {word}s"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
