"""The records of schedulers about workloads, and whether the pods of a workload wait for each other.

Kueue writes Workloads, Volcano and KAI PodGroups. They are found by their owner.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field

from usher import paths
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Phase, Pod, Workload
from usher.audit.gather.needed_inputs import KAI_POD_GROUP, KUEUE_WORKLOAD, POD_GROUP
from usher.kinds import registry
from usher.kinds.kind import KueueUnit

_STARTED: Final = ("Inqueue", "Running", "Completed")
"""Phases of a PodGroup that has left Volcano's queue."""

_UNSCHEDULABLE: Final = "UnschedulableOnNodePool"
"""The condition of a PodGroup that KAI cannot place (KAI:pkg/apis/scheduling/v2alpha2/podgroup_types.go)."""

Index = Mapping[str, Sequence[paths.Object]]


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
    return fields.whole(group, "/spec/minMember") or sum(fields.whole(each, "/minMember") or 0 for each in leaves)


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
    """Whether a pod waits for a node."""
    return pod.phase is Phase.PENDING and not pod.node and not pod.terminating
