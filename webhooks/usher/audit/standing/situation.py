"""Everything that the findings about a cluster are made from, and their entries of the audit document.

Fingerprints of entries last as long as the finding is the same.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct, field

from usher import model, paths
from usher.audit import document_entries
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.gather import gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node, Pod, Workload
from usher.audit.standing import finding_catalogue
from usher.audit.standing.scheduler_records import Records
from usher.authorities.knowledge import Knowledge
from usher.check import findings
from usher.cluster.facts import store
from usher.config import models, selection
from usher.config.fields import seconds


class Prevention(Struct, frozen=True, kw_only=True):
    """The rule of usher that would have refused the object of a finding; empty texts if no rule would."""

    by: str = ""
    """The rule, if it denies today."""
    if_denied: str = ""
    """The rule, if it found the mistake and does not deny."""


class Situation(Struct, frozen=True, kw_only=True):
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
        return None if found is None else gpus.price_per_hour(self.config.audit.prices, gpus.node_type_of(found))

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


_CATEGORY = "cluster"
_OUTCOME = "audit"
_NO_PREVENTION = Prevention()


def cluster_finding(  # noqa: PLR0913 - the fields of a finding
    code: str,
    subject: Subject,
    message: str,
    *,
    part: str = "",
    same_as: str = "",
    path: str = "",
    remedy: str = "",
    evidence: Iterable[str] = (),
    team: str = "",
    gpus: float = 0,
    gpus_least: float | None = None,
    since: datetime | None = None,
    held_by: str = "",
    never: bool = False,
    prevention: Prevention = _NO_PREVENTION,
    gpus_lost: float | None = None,
    cost_per_hour: float | None = None,
    fixed_by_platform: bool = False,
) -> FindingEntry:
    """A finding of the catalogue. The parameters without a line below are fields of FindingEntry.

    Args:
        code: its code in the catalogue.
        part: distinguishes findings with the same code about the same object: a resource or a profile, without numbers.
        same_as: the code in the fingerprint, for a finding that may change its code.
        remedy: what to do here; by default the remedy of the catalogue.
        gpus_least: may be equal to `gpus`.
        prevention: the check whose denial would have prevented it.
    """
    entry = finding_catalogue.BY_CODE[code]
    return FindingEntry(
        fingerprint=_fingerprint(same_as or code, subject, part or path),
        code=code,
        name=entry.name,
        title=entry.title,
        category=_CATEGORY,
        outcome=_OUTCOME,
        severity=Severity(entry.severity),
        subject=subject,
        path=path,
        message=message,
        remedy=remedy or entry.remedy,
        team=team,
        gpus=round(gpus, 6),
        gpus_least=None if gpus_least == gpus else gpus_least,
        since="" if since is None else since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        evidence=tuple(dict.fromkeys(filter(None, evidence))),
        held_by=held_by,
        never=never,
        prevented_by=prevention.by,
        preventable_by=prevention.if_denied,
        gpus_lost=None if gpus_lost is None else round(gpus_lost, 6),
        cost_per_hour=None if cost_per_hour is None else round(cost_per_hour, 6),
        fixed_by_platform=fixed_by_platform,
    )


def _fingerprint(code: str, subject: Subject, part: str) -> str:
    """The fingerprint of a finding. It has the API group without the version, because an upgrade changes only the
    version.
    """
    group = subject.api_version.rpartition("/")[0]
    words = (code, group, subject.kind, subject.namespace, subject.name, part)
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def workload_subject(workload: Workload) -> Subject:
    """A workload as the subject of a finding."""
    return document_entries.subject_of(workload.identity)


def object_subject(value: paths.Object) -> Subject:
    """An object as the subject of a finding."""
    return Subject(
        api_version=fields.text(value, "/apiVersion"),
        kind=fields.text(value, "/kind"),
        namespace=fields.namespace(value),
        name=fields.name(value),
    )


def named_subject(api_version: str, kind: str, name: str, *, namespace: str = "") -> Subject:
    """An object as the subject of a finding, by its name."""
    return Subject(api_version=api_version, kind=kind, namespace=namespace, name=name)


def cluster_subject(name: str) -> Subject:
    """The cluster as the subject of a finding; `name` is the part of the cluster that the finding is about."""
    return Subject(api_version="", kind="Cluster", name=name)


def counted(number: float, word: str) -> str:
    """`1 pod`, `2 pods`, `0.5 GPUs`."""
    return f"{amount_text(number)} {word}{'' if number == 1 else 's'}"


def amount_text(number: float) -> str:
    """`1,234` or `0.25`, with at most 6 decimal places."""
    text = f"{number:,.6f}"
    return text.rstrip("0").rstrip(".")
