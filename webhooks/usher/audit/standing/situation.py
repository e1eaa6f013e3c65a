"""Everything that the findings about a cluster are made from, the records of schedulers among it.

Fingerprints of entries last as long as the finding is the same.

Kueue writes Workloads, Volcano and KAI PodGroups. They are found by their owner.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field

from usher import model, paths
from usher.audit import document_entries
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.gather import gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node, Phase, Pod, Workload
from usher.audit.gather.needed_inputs import KAI_POD_GROUP, KUEUE_WORKLOAD, POD_GROUP
from usher.authorities.knowledge import Knowledge
from usher.check import findings
from usher.cluster.facts import store
from usher.config import models, selection
from usher.config.selection import seconds
from usher.kinds import registry
from usher.kinds.kind import KueueUnit

_STARTED: Final = ("Inqueue", "Running", "Completed")
"""Phases of a PodGroup that has left Volcano's queue."""

_UNSCHEDULABLE: Final = "UnschedulableOnNodePool"
"""The condition of a PodGroup that KAI cannot place (KAI:pkg/apis/scheduling/v2alpha2/podgroup_types.go)."""

Index = Mapping[str, Sequence[paths.Object]]


class CatalogueEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of finding about a cluster. Codes and names are an interface: their meaning never changes."""

    code: str
    name: str
    title: str
    severity: Literal["critical", "high", "medium", "low"]
    category: str
    """`waiting`, `admission`, `exceptions`, `queues`, `quotas`, `nodes` or `coverage`."""
    why: str
    """The reason why it matters, in one sentence."""
    remedy: str
    """The remedy if the finding itself has no better one."""
    source: str
    """A page of this repository, or of the project behind the subject."""


ENTRIES: Final = msgspec.yaml.decode(
    Path(__file__).with_name("findings.yaml").read_bytes(), type=tuple[CatalogueEntry, ...]
)
"""The findings that an audit can make about a cluster as a whole, beside the checks on single objects; by code."""

BY_CODE: Final[Mapping[str, CatalogueEntry]] = {entry.code: entry for entry in ENTRIES}


class HeldBack(Struct, frozen=True, kw_only=True):
    """The authority that holds a workload back, and its messages."""

    by: str
    evidence: tuple[str, ...]
    since: datetime | None = None


class Records(Struct, frozen=True, kw_only=True):
    """All records, by the uid of their owner."""

    kueue: Index = field(default_factory=dict)
    volcano: Index = field(default_factory=dict)
    kai: Index = field(default_factory=dict)


def records_of(estate: Estate) -> Records:
    """The records of a cluster; empty for unknown kinds."""
    return Records(
        kueue=_by_owner(estate, KUEUE_WORKLOAD.key),
        volcano=_by_owner(estate, POD_GROUP.key),
        kai=_by_owner(estate, KAI_POD_GROUP.key),
    )


def gang_members(workload: Workload, records: Records) -> int:
    """The number of pods that must run together, if a workload has exactly one PodGroup and it says so; else 0."""
    found = gang_sizes(workload, records)
    return found[0] if len(found) == 1 else 0


def gang_sizes(workload: Workload, records: Records) -> Sequence[int]:
    """The numbers of pods that must run together, one for each PodGroup of a workload; 0 for a PodGroup without it."""
    return [
        _gang_size(each) for each in (*_of_workload(workload, records.volcano), *_of_workload(workload, records.kai))
    ]


def _gang_size(group: paths.Object) -> int:
    sub_groups = fields.objects(group, "/spec/subGroups")
    parents = {fields.text(each, "/parent") for each in sub_groups}
    leaves = [each for each in sub_groups if fields.text(each, "/name") not in parents]
    return fields.integer(group, "/spec/minMember") or sum(fields.integer(each, "/minMember") or 0 for each in leaves)


def held_by_kueue(workload: Workload, records: Records) -> HeldBack | None:
    """Kueue's record of a workload that it has not admitted."""
    for value in _of_workload(workload, records.kueue):
        known = fields.conditions(value)
        admitted, reserved = known.get("Admitted"), known.get("QuotaReserved")
        if admitted is not None and admitted.holds:
            continue
        evidence, since = [], None
        for word in ("QuotaReserved", "Admitted", "Evicted"):
            condition = known.get(word)
            if condition is not None and (condition.holds is False or word == "Evicted") and condition.message:
                evidence.append(f"Kueue, condition {word}: {condition.message}")
        waits = reserved if reserved is not None and reserved.holds is False else admitted
        if waits is not None and waits.holds is False:
            since = waits.since
        evidence += _admission_checks(value)
        return HeldBack(by="Kueue", evidence=tuple(evidence), since=since)
    return None


def held_by_volcano(workload: Workload, records: Records) -> HeldBack | None:
    """Volcano's record of a gang that it has not let into its queue."""
    for value in _of_workload(workload, records.volcano):
        phase = fields.text(value, "/status/phase")
        if not phase or phase in _STARTED:
            continue
        words = [f"Volcano: PodGroup {fields.name(value)} is {fields.excerpt(phase)}"]
        unschedulable = fields.conditions(value).get("Unschedulable")
        if unschedulable is not None and unschedulable.holds:
            words.append(f"Volcano: {unschedulable.message or unschedulable.reason}")
        return HeldBack(by="Volcano", evidence=tuple(words))
    return None


def held_by_kai(workload: Workload, records: Records) -> HeldBack | None:
    """KAI's record of a workload that it cannot place."""
    for value in _of_workload(workload, records.kai):
        for condition in fields.objects(value, "/status/schedulingConditions"):
            if fields.text(condition, "/type") == _UNSCHEDULABLE and fields.text(condition, "/status") == "True":
                queue = fields.excerpt(fields.text(value, "/spec/queue"))
                reasons = [fields.text(each, "/message") for each in fields.objects(condition, "/reasons")]
                words = list(filter(None, reasons)) or [fields.text(condition, "/message")]
                evidence = (f"KAI: PodGroup {fields.name(value)} is in queue {queue}" if queue else "",
                            *(fields.excerpt(f"KAI: {each}") for each in words if each))  # fmt: skip
                return HeldBack(by="KAI", evidence=evidence, since=fields.when(condition, "/lastTransitionTime"))
    return None


def _admission_checks(value: paths.Object) -> Iterator[str]:
    for each in fields.objects(value, "/status/admissionChecks"):
        state = fields.text(each, "/state")
        if state and state != "Ready":
            message = fields.text(each, "/message")
            yield fields.excerpt(
                f"Kueue, admission check {fields.text(each, '/name')} is {state}: {message}".rstrip(": ")
            )


def _by_owner(estate: Estate, key: tuple[str, str]) -> Index:
    found: dict[str, list[paths.Object]] = {}
    for value in fields.listed(estate, *key) or ():
        for uid in fields.owners(value):
            found.setdefault(uid, []).append(value)
    return found


def _of_workload(workload: Workload, index: Index) -> Iterator[paths.Object]:
    """The records of a workload, or of its pods."""
    for uid in (workload.uid, *(pod.uid for pod in workload.pods)):
        if uid:
            yield from index.get(uid, ())


GRACE: Final = timedelta(minutes=15)
"""The time that a gang may take to start: the scheduler places its pods one by one, and an autoscaler needs minutes."""

_APPS: Final = "apps"


def is_gang(workload: Workload) -> bool:
    """Whether some of its pods hold accelerators without any work until the others run."""
    return workload.gang and not _has_groups(workload)


def _has_groups(workload: Workload) -> bool:
    """Whether its kind makes groups of pods, each a gang of its own."""
    group = workload.identity.api_version.rpartition("/")[0]
    pods = registry.PODS.get((group, workload.identity.kind))
    return pods is not None and pods.kueue_unit is KueueUnit.GROUP


class HalfStarted(Struct, frozen=True, kw_only=True):
    """Some pods of a gang hold accelerators while others wait."""

    held: Sequence[Pod]
    waiting: Sequence[Pod]
    since: datetime
    """When the first of the waiting pods began to wait."""


_NO_RECORDS: Final = Records()


def half_started(workload: Workload, now: datetime, recorded: Records = _NO_RECORDS) -> HalfStarted | None:
    """How a gang has started in part for longer than the grace; None for any other workload.

    A workload is a gang by its kind, or by its PodGroup, which has the number of pods that it needs. Each group of pods
    of a LeaderWorkerSet is a gang of its own.
    """
    members = gang_members(workload, recorded)
    if members > 1:
        return _half(workload.pods, members, workload, now)
    if is_gang(workload):
        return _half(workload.pods, workload.gang_minimum or workload.wanted.minimum, workload, now)
    if not workload.gang:
        return None
    by_group: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in workload.pods:
        by_group[pod.group].append(pod)
    by_group.pop("", None)
    needed = min(gang_sizes(workload, recorded), default=workload.gang_minimum or 0)
    found = [half for pods in by_group.values() if (half := _half(pods, needed, workload, now)) is not None]
    if not found:
        return None
    return HalfStarted(
        held=[pod for half in found for pod in half.held],
        waiting=[pod for half in found for pod in half.waiting],
        since=min(half.since for half in found),
    )


def _half(pods: Sequence[Pod], needed: int, workload: Workload, now: datetime) -> HalfStarted | None:
    """How a gang of some pods has started in part. Pods without accelerators may come from the whole workload."""
    held = [pod for pod in pods if pod.holds and not pod.terminating]
    waiting = [pod for pod in pods if waits_for_node(pod)]
    if not held or not waiting or len(held) + workload.other_pods >= needed:
        return None
    since = min((pod.created for pod in waiting if pod.created is not None), default=None)
    return HalfStarted(held=held, waiting=waiting, since=since) if since is not None and now - since > GRACE else None


def is_schedule(workload: Workload) -> bool:
    """Whether it starts runs by a schedule, so that it has no pods between them."""
    group = workload.identity.api_version.rpartition("/")[0]
    pods = registry.PODS.get((group, workload.identity.kind))
    return pods is not None and pods.kueue_unit is KueueUnit.RUN


def misses_pods(workload: Workload) -> bool:
    """Whether it has fewer pods than it wants for another reason than that some have ended.

    A controller of apps keeps its pods. A job that runs at once has no pods only if they were refused. For other kinds
    the number of pods proves nothing: a schedule has no pods between its runs, and a service may scale to zero. If the
    controller reports that nothing refuses its pods, they will come.
    """
    if workload.reported.refused is False:
        return False
    group, there = workload.identity.api_version.rpartition("/")[0], len(workload.pods) + workload.other_pods
    if group == _APPS:
        return there < workload.wanted.minimum
    pods = registry.PODS.get((group, workload.identity.kind))
    at_once = pods is not None and (pods.kueue_unit is KueueUnit.WHOLE or pods.gang_native)
    return at_once and not there and workload.wanted.minimum > 0


def waits_for_node(pod: Pod) -> bool:
    return pod.phase is Phase.PENDING and not pod.node and not pod.terminating


class Prevention(Struct, frozen=True, kw_only=True):
    """The rule of usher that would have refused the object of a finding; empty texts if no rule would."""

    by: str = ""
    """The rule, if it denies today."""
    if_denied: str = ""
    """The rule, if it found the mistake and does not deny."""
    found_by: tuple[str, ...] = ()
    """All rules that found the mistake, also those with an exception, or whose mistake a mutation mends."""


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
        result = self.result(workload)
        anyhow = {each.judgement.code for each in result.findings} if result is not None else set()
        return Prevention(
            by=by,
            if_denied="" if by else next((code for code in codes if code in found), ""),
            found_by=tuple(code for code in codes if code in anyhow),
        )

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
            default = namespace in models.DEFAULT_EXEMPT_NAMESPACES
            return "a default of usher" if default else "exemptNamespaces of usher.yaml"
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
        part: distinguishes findings with the same code about the same object: a resource or a profile, without numbers.
        same_as: the code in the fingerprint, for a finding that may change its code.
        remedy: what to do here; by default the remedy of the catalogue.
        gpus_least: may be equal to `gpus`.
        prevention: the check whose denial would have prevented it.
    """
    entry = BY_CODE[code]
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
        found_by=prevention.found_by,
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
