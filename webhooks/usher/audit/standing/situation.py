"""Everything that the findings about a cluster are made from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta

from usher import model
from usher.audit import gpus
from usher.audit.estate import Estate, Node, Pod, Workload
from usher.audit.standing.records import Records
from usher.authorities.knowledge import Knowledge
from usher.config import models, selection
from usher.config.fields import seconds
from usher.dataclass import dataclass
from usher.facts import namespaces
from usher.scan import findings


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

    @property
    def complete(self) -> bool:
        """Whether every workload of the cluster was seen: else something only seems to have no workload."""
        listed = self.estate.complete and not any(note.hides_objects for note in self.report.notes)
        return listed and not self.estate.only_namespace and not self.report.failed

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

    def codes(self, workload: Workload) -> Iterator[str]:
        """Codes of the checks that found something in a workload, the worst first, but for accepted findings."""
        result = self.result(workload)
        for each in () if result is None else result.findings:
            if each.judgement.exception is None:
                yield each.judgement.code

    def denials(self, workload: Workload) -> list[findings.Finding]:
        """What admission would refuse a workload for today."""
        result = self.result(workload)
        found = () if result is None else result.findings
        return [each for each in found if each.judgement.outcome is model.Outcome.DENY]

    def held(self, pods: Iterable[Pod]) -> float:
        """The GPUs that pods hold; a MIG device and a time slice count by their share."""
        return round(sum(gpus.held([pod], self.nodes.get(pod.node)) for pod in pods), 6)

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
        """The team of a namespace, by the first label of usher.yaml that it has."""
        labels = self.labels(namespace) or {}
        return next((labels[key] for key in self.config.audit.team_labels if labels.get(key)), "")


def span(since: datetime, now: datetime) -> str:
    """How long something lasts: `3 days`, `5 hours`, `20 minutes`."""
    minutes = max(0, int((now - since).total_seconds() // 60))
    for size, word in ((1440, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes // size:,} {word}s"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
