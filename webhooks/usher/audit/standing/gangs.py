"""Finds gangs: workloads whose pods wait for each other."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from usher.audit.estate import Phase, Pod, Workload
from usher.audit.standing import records
from usher.audit.standing.records import Records
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.kinds.kind import KueueUnit

GRACE: Final = timedelta(minutes=15)
"""The time that a gang may take to start: the scheduler places its pods one by one, and an autoscaler needs minutes."""

_APPS: Final = "apps"


def is_gang(workload: Workload) -> bool:
    """Whether some of its pods hold accelerators for nothing without the others."""
    return workload.gang and not _has_groups(workload)


def _has_groups(workload: Workload) -> bool:
    """Whether its kind makes groups of pods, each a gang of its own."""
    group = workload.identity.api_version.rpartition("/")[0]
    pods = registry.PODS.get((group, workload.identity.kind))
    return pods is not None and pods.kueue_unit is KueueUnit.GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfStarted:
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
    members = records.members(workload, recorded)
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
    needed = min(records.sizes(workload, recorded), default=workload.gang_minimum or 0)
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
    waiting = [pod for pod in pods if waits(pod)]
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


def waits(pod: Pod) -> bool:
    """Whether a pod waits for a node."""
    return pod.phase is Phase.PENDING and not pod.node and not pod.terminating
