"""Invented records of the synthetic cluster: its usage as Prometheus has it, and earlier audits."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from usher import paths
from usher.audit import document_entries
from usher.audit.demo import synthetic_cluster
from usher.audit.demo.synthetic_cluster import STORIES, Rhythm, Story
from usher.audit.document import Audit, Entry, FindingEntry, Point, Trend
from usher.audit.usage.series import Answer, Fold, Grid, Question, Series, ordered_series

_STILL: Final = 0.03
"""Activity of a service outside of office hours."""

_WAITS: Final = {"60": 21, "600": 48, "3600": 71, "14400": 90, "+Inf": 92}
"""Admissions by Kueue within this many seconds, in one window."""

_MIG_MEMORY: Final = {"1g.10gb": 9856, "3g.40gb": 40448}
"""MiB of a device of each profile."""


class SyntheticSource:
    """Answers the questions of `audit.usage` about the pods of the cluster. Unknown metrics have no series."""

    name = "demo"
    url = ""
    selection = ""

    def __init__(self, objects: Sequence[paths.Object]) -> None:
        self._boards = tuple(_boards(objects))
        self._pods = tuple(_running(objects))

    def read(self, question: Question, grid: Grid, /) -> Answer:
        """The series of a metric on a grid."""
        match question.metric:
            case "DCGM_FI_PROF_GR_ENGINE_ACTIVE":
                return self._of_boards(grid, lambda board, point: activity(board.story, point, grid))
            case "DCGM_FI_DEV_FB_USED":
                peak = 1.0 if question.fold is Fold.PEAK else 0.9
                return self._of_boards(grid, lambda board, _: board.memory * board.filled * peak)
            case "DCGM_FI_DEV_FB_FREE":
                return self._of_boards(grid, lambda board, _: board.memory * (1 - board.filled * 0.9))
            case "DCGM_FI_DEV_FB_TOTAL":
                return self._of_boards(grid, lambda board, _: board.memory)
            case "kube_pod_container_resource_requests":
                return self._of_pods(grid, lambda pod: (pod.requests, float(pod.story.devices)))
            case "kube_pod_status_phase":
                return self._of_pods(grid, lambda _pod: ({"phase": "Running"}, 1.0))
            case "kueue_admission_wait_time_seconds_bucket":
                return _waits(grid)
        return _about_nodes(question.metric, grid)

    def _of_boards(self, grid: Grid, value: Callable[["_Board", int], float]) -> Answer:
        points = range(grid.points)
        found = []
        for board in self._boards:
            free = board.before()
            began = _began(board.story, grid)
            values = [value(board if point >= began else free, point) for point in points]
            found.append(Series(labels=board.held, first=began, values=values[began:]))
            if began:
                found.append(Series(labels=free.labels, first=0, values=values[:began]))
        return Answer(series=ordered_series(found))

    def _of_pods(self, grid: Grid, value: Callable[["_Pod"], tuple[Mapping[str, str], float]]) -> Answer:
        found = []
        for pod in self._pods:
            labels, number = value(pod)
            began = _began(pod.story, grid)
            found.append(Series(labels={**pod.labels, **labels}, first=began, values=[number] * (grid.points - began)))
        return Answer(series=ordered_series(found))


class _Pod:
    """A running pod of a story."""

    __slots__ = ("labels", "name", "node", "requests", "story")

    def __init__(self, story: Story, name: str, node: str) -> None:
        self.story = story
        self.node = node
        self.name = {"namespace": story.namespace, "pod": name}
        self.labels = {**self.name, "uid": f"{story.namespace}-{name}"}
        self.requests = {
            "container": story.name,
            "node": node,
            "resource": _label(story.resource),
            "unit": "integer",
        }


class _Board:
    """A board or a MIG device of a node, and the pod that holds it; `memory` in MiB.

    `held` are the labels of its series while the pod holds it, `labels` those of its series before that.
    """

    __slots__ = ("held", "labels", "memory", "story")

    def __init__(self, node: str, pool: synthetic_cluster.Pool, resource: str, number: int, pod: _Pod | None) -> None:
        self.story = None if pod is None else pod.story
        profile = resource.partition("mig-")[2]
        in_each = max(pool.devices[resource] // pool.boards, 1)
        gpu, instance = divmod(number, in_each)
        self.memory = float(_MIG_MEMORY.get(profile, pool.memory))
        self.labels = {
            "Hostname": node,
            "gpu": str(gpu),
            "UUID": f"GPU-{node}-{gpu}",
            "modelName": pool.product.replace("-", " "),
            **({"GPU_I_ID": f"{profile}.{instance}", "GPU_I_PROFILE": profile} if profile else {}),
        }
        self.held = dict(self.labels)
        if pod is not None:
            self.held |= {"container": pod.story.name, **pod.name}

    def before(self) -> "_Board":
        """The board before its pod came: free, and its series name no pod."""
        found = copy.copy(self)
        found.story, found.held = None, self.labels
        return found

    @property
    def filled(self) -> float:
        """The largest share of its memory that is used."""
        return 0.0 if self.story is None else self.story.memory


def activity(story: Story | None, point: int, grid: Grid) -> float:
    """The activity of a board of a story: steady or by office hours, with a wobble that repeats. 0 for a free board."""
    if story is None:
        return 0.0
    time = datetime.fromtimestamp(grid.time(point), UTC)
    base = story.activity
    if story.rhythm is Rhythm.OFFICE_HOURS and not (8 <= time.hour < 18 and time.weekday() < 5):
        base = min(base, _STILL)
    wobble = 1 + 0.08 * math.sin(time.hour * 1.7 + len(story.name))
    return round(min(base * wobble, 1.0), 4)


def _running(objects: Sequence[paths.Object]) -> Iterator[_Pod]:
    placed = {}
    for value in objects:
        spec, metadata = value.get("spec"), paths.metadata(value)
        if value.get("kind") == "Pod" and isinstance(spec, dict) and spec.get("nodeName"):
            placed[metadata["namespace"], metadata["name"]] = str(spec["nodeName"])
    for story in STORIES:
        for number in range(story.running):
            name = synthetic_cluster.pod_name(story, number)
            yield _Pod(story, name, placed[story.namespace, name])


def _boards(objects: Sequence[paths.Object]) -> Iterator[_Board]:
    """Every device of every node. Pods take them in this order."""
    holders: dict[tuple[str, str], list[_Pod]] = {}
    for pod in _running(objects):
        holders.setdefault((pod.node, pod.story.resource), []).extend([pod] * pod.story.devices)
    for pool in synthetic_cluster.POOLS:
        for node in synthetic_cluster.node_names(pool):
            for resource, devices in pool.devices.items():
                held = holders.get((node, resource), [])
                for number in range(devices):
                    yield _Board(node, pool, resource, number, held[number] if number < len(held) else None)


def _began(story: Story | None, grid: Grid) -> int:
    """The first point at which the pods of a story run; 0 for a free board, which does not change."""
    if story is None:
        return 0
    return grid.first_point_after(datetime.fromtimestamp(grid.end, UTC) - timedelta(hours=story.age_hours))


def _about_nodes(metric: str, grid: Grid) -> Answer:
    match metric:
        case "kube_node_status_capacity":
            return _of_nodes(grid, lambda pool, _node: pool.devices)
        case "kube_node_status_allocatable":
            return _of_nodes(grid, synthetic_cluster.allocatable_devices)
        case "kube_node_spec_unschedulable":
            return Answer(
                series=(Series(labels={"node": synthetic_cluster.CORDONED}, first=0, values=[1.0] * grid.points),)
            )
    return Answer()


def _of_nodes(grid: Grid, devices: Callable[[synthetic_cluster.Pool, str], Mapping[str, int]]) -> Answer:
    found = [
        Series(labels={"node": name, "resource": _label(resource)}, first=0, values=[float(number)] * grid.points)
        for pool in synthetic_cluster.POOLS
        for name in synthetic_cluster.node_names(pool)
        for resource, number in devices(pool, name).items()
    ]
    return Answer(series=ordered_series(found))


def _label(resource: str) -> str:
    return "".join(each if each.isalnum() else "_" for each in resource)


def _waits(grid: Grid) -> Answer:
    found = [
        Series(
            labels={"cluster_queue": "research", "le": bound},
            first=0,
            values=[count * (point + 1) / grid.points for point in range(grid.points)],
        )
        for bound, count in _WAITS.items()
    ]
    return Answer(series=ordered_series(found))


_WEEK: Final = timedelta(days=7)


class _Week(Struct, frozen=True, kw_only=True):
    """An audit of an earlier week, relative to the present one."""

    idle: float
    """Idle GPU-hours, as a multiple of the present ones."""
    held: float
    """GPUs that pods held, as a multiple of the present ones."""
    fixed: int
    """Findings that later audits do not have."""
    never: int
    """How many of these are workloads that could never run."""


_WEEKS: Final = (
    _Week(idle=1.52, held=0.93, fixed=31, never=3),
    _Week(idle=1.55, held=0.95, fixed=32, never=3),
    _Week(idle=1.41, held=0.91, fixed=29, never=2),
    _Week(idle=1.38, held=0.94, fixed=25, never=2),
    _Week(idle=1.22, held=0.97, fixed=18, never=1),
    _Week(idle=1.25, held=0.98, fixed=14, never=1),
    _Week(idle=1.09, held=0.96, fixed=3, never=1),
)
"""The weeks, oldest first. The findings of the last one are in `_FIXED`."""

_FIXED: Final = (
    ("USH502", "The pods of distributed training start together", "Job speech/whisper-tune-3"),
    ("USA001", "A workload waits that can never run", "Job vision/segment-v4"),
    ("USA030", "GPU nodes without a taint", "Cluster board NVIDIA-H100-80GB-HBM3"),
)


def with_past(audit: Audit, *, now: datetime) -> Audit:
    """The audit, compared with invented audits of the seven weeks before."""
    weeks = {
        document_entries.time_text(now - _WEEK * (len(_WEEKS) - number)): each for number, each in enumerate(_WEEKS)
    }
    *_, previous = weeks
    seen = {each.fingerprint: _first_seen(each, list(weeks), audit.taken) for each in audit.findings}
    today = _Week(idle=1, held=1, fixed=0, never=0)
    trend = Trend(
        previous=previous,
        new=tuple(sorted(fingerprint for fingerprint, first in seen.items() if first == audit.taken)),
        fixed=tuple(_fixed(*each, first=list(weeks)[2], last=previous) for each in _FIXED),
        first_seen=dict(sorted(seen.items())),
        points=tuple(_point(audit, seen, taken, each) for taken, each in {**weeks, audit.taken: today}.items()),
    )
    return audit.model_copy(update={"trend": trend})


def _first_seen(found: FindingEntry, weeks: list[str], now: str) -> str:
    """The first audit after the start of a finding; any audit for a finding without a start."""
    if not found.since:
        return weeks[sum(found.subject.name.encode()) % len(weeks)]
    return next((week for week in weeks if week >= found.since), now)


def _point(audit: Audit, seen: Mapping[str, str], taken: str, week: _Week) -> Point:
    """The numbers of a week; `seen` has the first audit of each present finding."""
    summary = audit.summary
    idle, cost, activity = summary.idle, summary.cost_idle, summary.activity
    there = [each for each in audit.findings if seen[each.fingerprint] <= taken]
    return Point(
        taken=taken,
        complete=True,
        gpus=summary.gpus,
        gpus_allocated=round((summary.gpus_allocated or 0.0) * week.held, 6),
        idle=None if idle is None else round(idle * week.idle, 6),
        not_held=_not_held_in_week(summary.not_held, summary.allocated, week),
        not_held_cost=_not_held_in_week(summary.cost_not_held, summary.cost_allocated, week),
        idle_cost=None if cost is None else round(cost * week.idle, 6),
        activity=None if activity is None else round(activity / week.idle, 6),
        findings=len(there) + week.fixed,
        never=len({each.subject for each in there if each.never}) + week.never,
        readiness_failed=round(summary.readiness.get("fail", 0) * week.idle),
    )


def _not_held_in_week(not_held: float | None, held: float | None, week: _Week) -> float | None:
    """The GPUs that no pod held in a week whose pods held more or fewer GPUs than now."""
    return None if not_held is None or held is None else round(not_held + held * (1 - week.held), 6)


def _fixed(code: str, title: str, subject: str, *, first: str, last: str) -> Entry:
    return Entry(
        fingerprint=f"{code} {subject}", code=code, title=title, subject=subject, first_seen=first, last_seen=last
    )
