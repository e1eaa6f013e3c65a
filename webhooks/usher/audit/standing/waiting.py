"""Findings about waiting workloads: those that can never run, that wait too long, or whose pods were refused."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from usher.audit import fields, gpus
from usher.audit.document import FindingEntry
from usher.audit.estate import MULTI_KUEUE, Estate, Pod, Workload
from usher.audit.standing import entries, gangs, outlooks, records
from usher.audit.standing.outlooks import Outlooks, Verdicts
from usher.audit.standing.records import Held, Records
from usher.audit.standing.situation import Situation, span
from usher.authorities.kueue.read import QUEUE_LABEL
from usher.authorities.verdict import Answer
from usher.dataclass import dataclass
from usher.kinds import registry

_PREVENTING: Final = {
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
_NAMED: Final = {"scheduler": "the scheduler", _NODE: "the node"}
_REMEDIES: Final = {
    _AUTHOR: "Ask its owner; then resume it (suspend: false), put it into a queue, or delete it.",
    _NODE: "Read the events of the pods (kubectl describe pod): most often an image or a volume is missing, or an init "
    "container does not end.",
}
"""Remedies for cases in which no authority can give way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wait:
    """The way in which a workload waits."""

    waiting: Sequence[Pod]
    """Pods without a node."""
    starting: Sequence[Pod]
    """Pods that have a node and do not run yet."""
    runs: bool
    """Whether a pod holds accelerators."""
    since: datetime | None


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """One finding for each waiting workload: the worst."""
    known, looks = situation.records, Outlooks(situation)
    all_pods = _knows_all_pods(situation.estate)
    for workload in situation.estate.workloads:
        wait = _wait(workload, all_pods=all_pods)
        if wait is not None and gangs.half_started(workload, situation.now, situation.records) is None:
            yield from _findings(workload, wait, known, looks, situation)


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
    waiting = [pod for pod in workload.pods if gangs.waits(pod)]
    starting = [pod for pod in workload.pods if pod.holds and pod.phase == "Pending" and not pod.terminating]
    runs = any(pod.holds for pod in workload.pods)
    too_few = all_pods and workload.managed_by != MULTI_KUEUE and gangs.misses_pods(workload)
    # A suspended schedule waits for nothing.
    suspended = workload.suspended and not gangs.is_schedule(workload)
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


def _findings(
    workload: Workload, wait: _Wait, known: Records, looks: Outlooks, situation: Situation
) -> Iterator[FindingEntry]:
    verdicts = outlooks.NOTHING if wait.runs else looks.of(workload)
    if verdicts.never:
        yield _never(workload, wait, verdicts, situation)
    elif situation.is_old(wait.since):
        if wait.waiting or wait.starting or workload.suspended or _is_queued(workload, known):
            yield _pending(workload, wait, verdicts, known, situation)
        else:
            yield _fewer(workload, wait, verdicts)


def _is_queued(workload: Workload, known: Records) -> bool:
    """Whether a queue holds it before it has pods."""
    return any(held(workload, known) is not None for held in (records.held_by_kueue, records.held_by_volcano))


def _never(workload: Workload, wait: _Wait, verdicts: Verdicts, situation: Situation) -> FindingEntry:
    sections = verdicts.holding(Answer.NEVER)
    names = [outlooks.name(section) for section in sections]
    evidence = [reason for section in sections for reason in outlooks.reasons(section)]
    changes = [(section, each) for section in sections for each in section.remedies[:2]]
    remedies = [f"{outlooks.name(section)}: {each}" for section, each in changes]
    checks = [code for section in sections for code in _PREVENTING.get(section.authority, ())]
    return entries.finding(
        "USA001",
        entries.of_workload(workload),
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
    held = _held(workload, wait, verdicts, known)
    pods = wait.waiting or wait.starting
    since = held.since or wait.since
    lasting = f" for {span(since, situation.now)}" if since is not None else ""
    what = entries.counted(len(pods), "pod") if pods else "the workload"
    verb = "have waited" if len(pods) > 1 else "has waited"
    wanted = sum(gpus.number(pod.devices) for pod in pods) if pods else gpus.number(workload.asks)
    return entries.finding(
        "USA003",
        entries.of_workload(workload),
        f"{what} {verb}{lasting}, held back by {_NAMED.get(held.by, held.by)}{_because(held.evidence)}",
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


def _held(workload: Workload, wait: _Wait, verdicts: Verdicts, known: Records) -> Held:
    """The authority that holds a workload: what gates or suspends it, else its queue, else the scheduler."""
    own = [reason for section in verdicts.holding() for reason in outlooks.reasons(section)]
    kueue, volcano = records.held_by_kueue(workload, known), records.held_by_volcano(workload, known)
    if kueue is not None:
        return Held(by="Kueue", evidence=(*kueue.evidence, *own), since=kueue.since)
    if volcano is not None:
        return Held(by="Volcano", evidence=(*volcano.evidence, *own))
    kai = records.held_by_kai(workload, known) if wait.waiting else None
    if kai is not None:
        return Held(by="KAI", evidence=(*kai.evidence, *own), since=kai.since)
    gates = sorted({gate for pod in wait.waiting for gate in pod.gates})
    if gates:
        return Held(by=_gatekeeper(gates), evidence=(f"scheduling gates: {fields.listing(gates)}", *own))
    if workload.suspended:
        where = f"in queue {workload.queue}" if workload.queue else "and has no queue"
        by = "Kueue" if workload.labels.get(QUEUE_LABEL) else _AUTHOR
        return Held(by=by, evidence=(f"it is suspended, {where}", *own))
    if wait.waiting:
        words = _words(wait.waiting)
        named = workload.scheduler not in ("", "default-scheduler")
        scheduler = f"scheduler {workload.scheduler}" if named else "scheduler"
        return Held(by=scheduler, evidence=(*words, *own) or ("the scheduler says nothing about the pods",))
    nodes = sorted({pod.node for pod in wait.starting})
    words = sorted({f"kubelet, {fields.excerpt(pod.starting)}" for pod in wait.starting if pod.starting})[:3]
    return Held(by=_NODE, evidence=(*words, f"the pods have a node and do not run: {fields.listing(nodes)}"))


def _gatekeeper(gates: Iterable[str]) -> str:
    for gate in gates:
        if gate.startswith("kueue.x-k8s.io/"):
            return "Kueue"
        if gate.startswith("scheduling.volcano.sh/"):
            return "Volcano"
    return "another controller"


def _words(pods: Iterable[Pod]) -> list[str]:
    """The messages of the scheduler, each once."""
    return [f"scheduler: {fields.excerpt(words)}" for words in sorted({pod.waiting for pod in pods if pod.waiting})[:3]]


def _fewer(workload: Workload, wait: _Wait, verdicts: Verdicts) -> FindingEntry:
    there = len(workload.pods) + workload.other_pods
    holding = verdicts.refusing()
    evidence = [
        f"controller: {fields.excerpt(workload.reported.refusal)}" if workload.reported.refusal else "",
        *(reason for section in holding for reason in outlooks.reasons(section)),
    ]
    return entries.finding(
        "USA004",
        entries.of_workload(workload),
        f"it wants {entries.counted(workload.wanted.minimum, 'pod')} and has {there:,}{_because(evidence)}",
        evidence=evidence,
        team=workload.team,
        gpus=max(0.0, gpus.least(workload.asks) - sum(gpus.number(pod.devices) for pod in workload.pods)),
        since=wait.since,
        held_by=outlooks.name(holding[0]) if holding else "",
    )
