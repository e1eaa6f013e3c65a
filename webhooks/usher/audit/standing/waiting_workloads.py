"""Workloads that wait: those that can never run, gangs that have started in part, and pods that were refused.

What the authorities say about a workload comes from the same code as `usher queue`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.accelerators.names import WHOLE_GPUS
from usher.audit.document import FindingEntry
from usher.audit.gather import gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import MULTI_KUEUE, Estate, Pod, Workload
from usher.audit.standing import situation as standing_situation
from usher.audit.standing.situation import (
    HeldBack,
    Records,
    Situation,
    cluster_finding,
    counted,
    span,
    workload_subject,
)
from usher.authorities import registry as authorities
from usher.authorities.authority import Case, Section, answer_of_sections
from usher.authorities.kueue import judge as kueue_judge
from usher.authorities.kueue.judge import QUEUE_LABEL
from usher.authorities.kueue.queues import ClusterQueue
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes.places import Obstacles
from usher.authorities.verdict import Answer
from usher.check import devices
from usher.kinds import registry

_HOLDING: Final = (Answer.NEVER, Answer.NOT_NOW)
_NAMES: Final = {"nodes": "the nodes", "classes": "the priority classes"}
_REFUSING: Final = ("ResourceQuota", "GPUQuota", "LimitRange")
_OWN_METADATA: Final = (
    *("name", "generateName", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "managedFields", "selfLink", "annotations"),
)
"""Metadata that no authority reads. The code also ignores the annotation with kubectl's copy of the manifest."""
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_NUMBERED: Final = (
    *("controller-uid", "batch.kubernetes.io/controller-uid"),
    *("job-name", "batch.kubernetes.io/job-name"),
)
"""Labels that the Job controller gives the pods of each Job."""
_MOST_REASONS: Final = 8
"""The most reasons that usher shows of one authority."""

_KUEUE: Final = "Kueue"
_LARGEST: Final = 16
"""The most GPUs of one machine that can be a node."""


class Verdicts(Struct, frozen=True, kw_only=True):
    """The sections of all authorities about one workload."""

    sections: Sequence[Section] = ()

    @property
    def never(self) -> bool:
        return answer_of_sections(self.sections) is Answer.NEVER

    def holding(self, answer: Answer | None = None) -> list[Section]:
        """The authorities that hold the workload back, for ever or now; only those with the given answer, if any."""
        wanted = _HOLDING if answer is None else (answer,)
        return [each for each in self.sections if each.answer in wanted]

    def refusing(self) -> list[Section]:
        """The quotas and limits that may refuse some pods while the others could start."""
        certain = [each for each in self.sections if each.authority in _REFUSING and each.answer is not Answer.UNKNOWN]
        return [each for each in certain if each.answer in _HOLDING or (each.answer is Answer.COULD and each.reasons)]


NO_VERDICTS: Final = Verdicts()


class Outlooks:
    """The verdicts about many workloads. usher judges workloads that differ only in their names once."""

    def __init__(self, situation: Situation) -> None:
        self._manifests = situation.estate.manifests
        self._known = situation.known
        self._autoscaler = situation.autoscaler
        self._made: dict[bytes, Verdicts] = {}
        """Verdicts by the digest of everything that decides them."""

    def of(self, workload: Workload) -> Verdicts:
        """The verdicts about a workload; empty if its manifest is unknown, or makes no pods itself.

        It judges the object unchanged, because admission has changed it already.
        """
        value = self._manifests.get(workload.uid) if workload.uid else None
        if value is None:
            return NO_VERDICTS
        try:
            key = _deciding(value, workload.identity.namespace)
        except orjson.JSONEncodeError:
            # Half a surrogate pair, or a number of more than 64 bits.
            return self._judged(value, workload.identity.namespace)
        if key not in self._made:
            self._made[key] = self._judged(value, workload.identity.namespace)
        return self._made[key]

    def _judged(self, value: paths.Object, namespace: str) -> Verdicts:
        written = self._known.workload(value, namespace=namespace)
        if written is None or not written.pod_sets or not written.makes_pods or written.is_template:
            return NO_VERDICTS
        sections = authorities.sections(Case(workload=written), self._known)
        if written.managed_by == MULTI_KUEUE:
            # Its pods run in another cluster. A queue of this cluster decides whether they may.
            return Verdicts(sections=tuple(each for each in sections if each.authority == _KUEUE))
        return Verdicts(sections=tuple(self._provisional(each, written) for each in sections))

    def _provisional(self, section: Section, workload: model.Workload) -> Section:
        """The section of nodes, marked as temporary if new nodes could hold the pods."""
        if not section.is_of_nodes or section.answer is not Answer.NEVER:
            return section
        adding = self._adds_nodes(workload)
        if not adding or not self._could_hold(workload):
            return section
        return replace(
            section,
            answer=Answer.NOT_NOW,
            holding=tuple(
                replace(each, answer=Answer.NOT_NOW) if each.answer is Answer.NEVER else each
                for each in section.holding
            ),
            waits=(*section.waits, f"{adding} may add nodes that hold the pods"),
            remedies=(),
        )

    def _adds_nodes(self, workload: model.Workload) -> str:
        """The object that may add nodes for a workload; empty if usher knows no object that does, or if usher.yaml has
        pools, which already show it.
        """
        queue = self._cluster_queue(workload)
        if queue is not None and queue.has_checks is not False:
            return f"an admission check of ClusterQueue {fields.excerpt(queue.name)}"
        return "" if self._known.config.pools else self._autoscaler

    def _cluster_queue(self, workload: model.Workload) -> ClusterQueue | None:
        facts, name = self._known.facts, workload.queue_labels.get(kueue_judge.QUEUE_LABEL, "")
        local = (kueue_judge.local_queues(facts, workload.namespace) or {}).get(name) if name else None
        return None if local is None else (kueue_judge.cluster(facts).queues or {}).get(local.cluster_queue)

    def _could_hold(self, workload: model.Workload) -> bool:
        """Whether other nodes than the current ones could hold the pods."""
        verdicts = nodes_judge.node_verdicts(self._known)
        if verdicts is None:
            return True
        found = [verdicts.of(each).nearest for each in nodes_places.demands_of_workload(workload, self._known)]
        return not any(nearest is not None and _stays(nearest.obstacles) for nearest in found)


def _stays(obstacles: Obstacles) -> bool:
    """Whether new nodes would not help: nodes of a pool have the same taint, and no machine has that many GPUs."""
    too_many = any(each.resource in WHOLE_GPUS and each.asked > _LARGEST for each in obstacles.amounts)
    return bool(obstacles.taints or obstacles.names or obstacles.nowhere or too_many)


def _deciding(value: paths.Object, namespace: str) -> bytes:
    """A digest of an object without its status, its name, and the fields that the API server and the Job controller
    number.
    """
    metadata = {key: each for key, each in paths.metadata(value).items() if key not in _OWN_METADATA}
    annotations = {key: text for key, text in fields.strings(value, "/metadata/annotations").items() if key != _APPLIED}
    rest = {key: each for key, each in value.items() if key not in ("metadata", "status")}
    if value.get("apiVersion") == "batch/v1":
        rest["spec"] = _without_numbers(rest.get("spec"))
    written = orjson.dumps([namespace, {**metadata, "annotations": annotations}, rest], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).digest()


def _without_numbers(spec: paths.Json) -> paths.Json:
    """The spec of a Job without its selector and without the labels that select its pods."""
    template = fields.at(spec, "/template")
    metadata = fields.at(template, "/metadata")
    if not isinstance(spec, dict) or not isinstance(template, dict) or not isinstance(metadata, dict):
        return spec
    labels = {key: text for key, text in fields.strings(metadata, "/labels").items() if key not in _NUMBERED}
    rest = {key: each for key, each in spec.items() if key != "selector"}
    return {**rest, "template": {**template, "metadata": {**metadata, "labels": {**labels}}}}


def authority_name(section: Section) -> str:
    """The authority as people call it: `Kueue`, `the nodes`."""
    return _NAMES.get(section.authority, section.authority)


def reasons_of(section: Section) -> Iterator[str]:
    """The reasons why an authority holds the workload, each as a sentence that names the authority."""
    way = " of ".join(section.way[:2])
    who = (
        way
        if way.startswith(authority_name(section))
        else f"{authority_name(section)} ({way})"
        if way
        else authority_name(section)
    )
    found = [*section.reasons, *_missing_on_nodes(section)]
    found = [*found, *section.waits] if section.is_of_nodes or not found else found
    for each in found[:_MOST_REASONS]:
        yield fields.excerpt(f"{who}: {each}")


def _missing_on_nodes(section: Section) -> Iterator[str]:
    """The resources that nodes lack for the pods that do not fit."""
    for each in section.holding:
        if each.answer is section.answer and each.missing:
            of_pod_set = f"{each.pod_set}: " if each.pod_set else ""
            nearest = f" (nearest: {each.nearest})" if each.nearest else ""
            yield f"{of_pod_set}{'; '.join(each.missing)}{nearest}"


HALF_STARTED: Final = "USA002"
"""The sum of the GPUs of these findings is the headline number of half-started gangs."""

_PREVENTING_HALVES: Final = ("USH501", "USH502", "USH503", "USH509", "USH417", "USH516", "USH331")
"""Checks that keep a gang from starting in part, if they deny."""


def half_started_findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each gang that holds GPUs while its other pods have waited longer than the grace."""
    for workload in situation.estate.workloads:
        yield from _half_started(workload, situation)


def _half_started(workload: Workload, situation: Situation) -> Iterator[FindingEntry]:
    half = standing_situation.half_started(workload, situation.now, situation.records)
    if half is None:
        return
    held, waiting, since = half.held, half.waiting, half.since
    amounts = devices.added(pod.devices for pod in held)
    holding = ", ".join(f"{amount.number:,} {name}" for name, amount in amounts.items())
    yield cluster_finding(
        HALF_STARTED,
        workload_subject(workload),
        f"{counted(len(held), 'pod')} of its gang {'holds' if len(held) == 1 else 'hold'} {holding}, and "
        f"{counted(len(waiting), 'pod')} waited for {span(since, situation.now)}",
        evidence=[
            f"on nodes: {', '.join(sorted({pod.node for pod in held})[:5])}",
            *sorted({f"scheduler: {pod.waiting}" for pod in waiting if pod.waiting})[:3],
        ],
        team=workload.team,
        gpus=situation.held(half.held),
        since=since,
        held_by="scheduler",
        gpus_lost=situation.held(half.held),
        cost_per_hour=_cost_of_half(half, situation),
        prevention=situation.preventing(workload, _PREVENTING_HALVES),
    )


def _cost_of_half(half: standing_situation.HalfStarted, situation: Situation) -> float | None:
    """The cost in an hour of the GPUs that the gang holds; None if one of them has no price."""
    costs = [(situation.held([pod]), situation.price(pod.node)) for pod in half.held]
    known = [number * price for number, price in costs if price is not None]
    return sum(known) if known and len(known) == len(costs) else None


_PREVENTING_WAITS: Final = {
    "Kueue": ("USH430", "USH431", "USH434", "USH435", "USH436", "USH437", "USH438", "USH405", "USH408", "USH410"),
    "Volcano": ("USH504", "USH520", "USH522", "USH523", "USH524"),
    "GPUQuota": ("USH1230",),
    "ResourceQuota": ("USH1220", "USH1221", "USH1222", "USH1223"),
    "LimitRange": ("USH1224",),
    "classes": ("USH620", "USH621", "USH1226"),
    "nodes": ("USH330", "USH331", "USH301", "USH307", "USH314", "USH711"),
}
"""For each authority, the checks that find the same mistake before a workload is created."""

_PODS: Final = ("pods", "Pod")
_AUTHOR: Final = "its author"
_NODE: Final = "node"
_NAMED_HOLDERS: Final = {"scheduler": "the scheduler", _NODE: "the node"}
_REMEDIES: Final = {
    _AUTHOR: "Ask its owner; then resume it (suspend: false), put it into a queue, or delete it.",
    _NODE: "Read the events of the pods (kubectl describe pod): most often an image or a volume is missing, or an init "
    "container does not end.",
}
"""Remedies for cases in which no authority can give way."""


class _Wait(Struct, frozen=True, kw_only=True):
    """The way in which a workload waits."""

    waiting: Sequence[Pod]
    """Pods without a node."""
    starting: Sequence[Pod]
    """Pods that have a node and do not run yet."""
    runs: bool
    """Whether a pod holds accelerators."""
    since: datetime | None


def waiting_findings(situation: Situation) -> Iterator[FindingEntry]:
    """One finding for each waiting workload: the worst."""
    known, looks = situation.records, Outlooks(situation)
    all_pods = _knows_all_pods(situation.estate)
    for workload in situation.estate.workloads:
        wait = _wait(workload, all_pods=all_pods)
        if wait is not None and standing_situation.half_started(workload, situation.now, situation.records) is None:
            yield from _findings_of(workload, wait, known, looks, situation)


def _knows_all_pods(estate: Estate) -> bool:
    """Whether each workload has all of its pods. If pods or ReplicaSets were not read, it may only seem to have too
    few.
    """
    unlisted = {each.source for each in estate.unlisted_owners}
    between = any(".".join(filter(None, (kind, group))) in unlisted for group, kind in registry.WORKLOADS)
    return estate.pods_known and not between and not any(each.source in _PODS for each in estate.missing)


def _wait(workload: Workload, *, all_pods: bool) -> _Wait | None:
    """How a workload waits; None if it does not wait."""
    if workload.is_template or workload.deleting:
        return None
    if not workload.exists:
        return _Wait(waiting=(), starting=(), runs=False, since=None)
    waiting = [pod for pod in workload.pods if standing_situation.waits_for_node(pod)]
    starting = [pod for pod in workload.pods if pod.holds and pod.phase == "Pending" and not pod.terminating]
    runs = any(pod.holds for pod in workload.pods)
    too_few = all_pods and workload.managed_by != MULTI_KUEUE and standing_situation.misses_pods(workload)
    # A suspended schedule does not wait.
    suspended = workload.suspended and not standing_situation.is_schedule(workload)
    if not waiting and not starting and not suspended and not too_few:
        return None
    began = [pod.created for pod in waiting] or [pod.scheduled or pod.created for pod in starting]
    reported = workload.reported
    otherwise = (reported.suspended_since if suspended else reported.refused_since) or workload.created
    return _Wait(
        waiting=waiting,
        starting=starting,
        runs=runs,
        since=min((each for each in began if each is not None), default=otherwise),
    )


def _findings_of(
    workload: Workload, wait: _Wait, known: Records, looks: Outlooks, situation: Situation
) -> Iterator[FindingEntry]:
    verdicts = NO_VERDICTS if wait.runs else looks.of(workload)
    if verdicts.never:
        yield _never(workload, wait, verdicts, situation)
    elif situation.is_old(wait.since):
        if wait.waiting or wait.starting or workload.suspended or _is_queued(workload, known):
            yield _pending(workload, wait, verdicts, known, situation)
        else:
            yield _fewer(workload, wait, verdicts)


def _is_queued(workload: Workload, known: Records) -> bool:
    """Whether a queue holds it before it has pods."""
    return any(
        held(workload, known) is not None
        for held in (standing_situation.held_by_kueue, standing_situation.held_by_volcano)
    )


def _never(workload: Workload, wait: _Wait, verdicts: Verdicts, situation: Situation) -> FindingEntry:
    sections = verdicts.holding(Answer.NEVER)
    names = [authority_name(section) for section in sections]
    evidence = [reason for section in sections for reason in reasons_of(section)]
    changes = [(section, each) for section in sections for each in section.remedies[:2]]
    remedies = [f"{authority_name(section)}: {each}" for section, each in changes]
    checks = [code for section in sections for code in _PREVENTING_WAITS.get(section.authority, ())]
    return cluster_finding(
        "USA001",
        workload_subject(workload),
        f"it can never run; {evidence[0] if evidence else fields.listing(names)}",
        remedy=fields.excerpt("; ".join(remedies)),
        evidence=evidence,
        team=workload.team,
        gpus=gpus.number(workload.asks),
        gpus_least=gpus.least(workload.asks),
        since=wait.since,
        held_by=names[0] if names else "",
        never=True,
        fixed_by_platform=bool(changes) and all(each in section.node_changes for section, each in changes),
        prevention=situation.preventing(workload, checks),
    )


def _pending(workload: Workload, wait: _Wait, verdicts: Verdicts, known: Records, situation: Situation) -> FindingEntry:
    held = _held_back(workload, wait, verdicts, known)
    pods = wait.waiting or wait.starting
    since = held.since or wait.since
    lasting = f" for {span(since, situation.now)}" if since is not None else ""
    what = counted(len(pods), "pod") if pods else "the workload"
    verb = "have waited" if len(pods) > 1 else "has waited"
    wanted = sum(gpus.number(pod.devices) for pod in pods) if pods else gpus.number(workload.asks)
    return cluster_finding(
        "USA003",
        workload_subject(workload),
        f"{what} {verb}{lasting}, held back by {_NAMED_HOLDERS.get(held.by, held.by)}{_because(held.evidence)}",
        remedy=_REMEDIES.get(held.by, ""),
        evidence=held.evidence,
        team=workload.team,
        gpus=wanted,
        since=since,
        held_by=held.by,
    )


def _because(evidence: Sequence[str]) -> str:
    """The first reason without the name of the authority: texts show findings without their evidence."""
    first = next(filter(None, evidence), "")
    _, colon, words = first.partition(": ")
    return f": {words if colon else first}" if first else ""


def _held_back(workload: Workload, wait: _Wait, verdicts: Verdicts, known: Records) -> HeldBack:
    """The authority that holds a workload: what gates or suspends it, else its queue, else the scheduler."""
    own = [reason for section in verdicts.holding() for reason in reasons_of(section)]
    kueue, volcano = (
        standing_situation.held_by_kueue(workload, known),
        standing_situation.held_by_volcano(workload, known),
    )
    if kueue is not None:
        return HeldBack(by="Kueue", evidence=(*kueue.evidence, *own), since=kueue.since)
    if volcano is not None:
        return HeldBack(by="Volcano", evidence=(*volcano.evidence, *own))
    kai = standing_situation.held_by_kai(workload, known) if wait.waiting else None
    if kai is not None:
        return HeldBack(by="KAI", evidence=(*kai.evidence, *own), since=kai.since)
    gates = sorted({gate for pod in wait.waiting for gate in pod.gates})
    if gates:
        return HeldBack(by=_gatekeeper(gates), evidence=(f"scheduling gates: {fields.listing(gates)}", *own))
    if workload.suspended:
        where = f"in queue {workload.queue}" if workload.queue else "and has no queue"
        by = "Kueue" if workload.labels.get(QUEUE_LABEL) else _AUTHOR
        return HeldBack(by=by, evidence=(f"it is suspended, {where}", *own))
    if wait.waiting:
        words = _scheduler_words(wait.waiting)
        named = workload.scheduler not in ("", "default-scheduler")
        scheduler = f"scheduler {workload.scheduler}" if named else "scheduler"
        return HeldBack(by=scheduler, evidence=(*words, *own) or ("the scheduler says nothing about the pods",))
    nodes = sorted({pod.node for pod in wait.starting})
    words = sorted({f"kubelet, {fields.excerpt(pod.starting)}" for pod in wait.starting if pod.starting})[:3]
    return HeldBack(by=_NODE, evidence=(*words, f"the pods have a node and do not run: {fields.listing(nodes)}"))


def _gatekeeper(gates: Iterable[str]) -> str:
    for gate in gates:
        if gate.startswith("kueue.x-k8s.io/"):
            return "Kueue"
        if gate.startswith("scheduling.volcano.sh/"):
            return "Volcano"
    return "another controller"


def _scheduler_words(pods: Iterable[Pod]) -> list[str]:
    """The messages of the scheduler, each once."""
    return [f"scheduler: {fields.excerpt(words)}" for words in sorted({pod.waiting for pod in pods if pod.waiting})[:3]]


def _fewer(workload: Workload, wait: _Wait, verdicts: Verdicts) -> FindingEntry:
    there = len(workload.pods) + workload.other_pods
    holding = verdicts.refusing()
    evidence = [
        f"controller: {fields.excerpt(workload.reported.refusal)}" if workload.reported.refusal else "",
        *(reason for section in holding for reason in reasons_of(section)),
    ]
    return cluster_finding(
        "USA004",
        workload_subject(workload),
        f"it wants {counted(workload.wanted.minimum, 'pod')} and has {there:,}{_because(evidence)}",
        evidence=evidence,
        team=workload.team,
        gpus=max(0.0, gpus.least(workload.asks) - sum(gpus.number(pod.devices) for pod in workload.pods)),
        since=wait.since,
        held_by=authority_name(holding[0]) if holding else "",
    )
