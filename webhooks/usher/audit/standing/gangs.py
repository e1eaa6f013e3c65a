"""Whether the pods of a workload wait for each other."""

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
"""The scheduler places the pods of a gang one after the other, and an autoscaler needs minutes for a node."""

_APPS: Final = "apps"


def is_gang(workload: Workload) -> bool:
    """Whether some of its pods without the others only hold accelerators.

    A kind whose objects have several groups of pods is left out, because an estate does not tell groups apart.
    """
    group = workload.identity.api_version.rpartition("/")[0]
    pods = registry.PODS.get((group, workload.identity.kind))
    return workload.gang and (pods is None or pods.kueue_unit is not KueueUnit.GROUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfStarted:
    """Some pods of a gang hold accelerators while others wait."""

    held: Sequence[Pod]
    waiting: Sequence[Pod]
    since: datetime
    """Since when the first of them waits."""


_NO_RECORDS: Final = Records()


def half_started(workload: Workload, now: datetime, recorded: Records = _NO_RECORDS) -> HalfStarted | None:
    """How a gang has started in part for longer than the grace; None for all other workloads.

    A workload is a gang by its kind, or by its PodGroup, which then says how many pods it needs.
    """
    members = records.members(workload, recorded)
    if members < 2 and not is_gang(workload):
        return None
    needed = members if members > 1 else workload.gang_minimum or workload.wanted.minimum
    held = [pod for pod in workload.pods if pod.holds and not pod.terminating]
    waiting = [pod for pod in workload.pods if waits(pod)]
    if not held or not waiting or len(held) + workload.other_pods >= needed:
        return None
    since = min((pod.created for pod in waiting if pod.created is not None), default=None)
    return HalfStarted(held=held, waiting=waiting, since=since) if since is not None and now - since > GRACE else None


def is_schedule(workload: Workload) -> bool:
    """Whether it makes runs by a schedule, so that it has no pods between them."""
    group = workload.identity.api_version.rpartition("/")[0]
    pods = registry.PODS.get((group, workload.identity.kind))
    return pods is not None and pods.kueue_unit is KueueUnit.RUN


def misses_pods(workload: Workload) -> bool:
    """Whether it has fewer pods than it wants, and not because some of them have ended.

    A controller of apps keeps its pods. A job that runs at once has none at all only where they were refused. Of other
    kinds an estate does not tell: between its runs a schedule has no pods, and a service may scale to zero. Where the
    controller says that nothing refuses its pods, they come by themselves.
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
