"""The usage of the synthetic cluster: the answers of a Prometheus there about its GPUs and queues."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from usher import paths
from usher.audit.demo import nodes, workloads
from usher.audit.demo.stories import STORIES, Rhythm, Story
from usher.audit.usage.series import Answer, Fold, Grid, Question, Series, ordered

_STILL: Final = 0.03
"""Activity of a service outside of office hours."""

_WAITS: Final = {"60": 21, "600": 48, "3600": 71, "14400": 90, "+Inf": 92}
"""Admissions by Kueue within this many seconds, in one window."""

_MIG_MEMORY: Final = {"1g.10gb": 9856, "3g.40gb": 40448}
"""MiB of a device of each profile."""


class Source:
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
        return Answer(series=ordered(found))

    def _of_pods(self, grid: Grid, value: Callable[["_Pod"], tuple[Mapping[str, str], float]]) -> Answer:
        found = []
        for pod in self._pods:
            more, number = value(pod)
            began = _began(pod.story, grid)
            found.append(Series(labels={**pod.labels, **more}, first=began, values=[number] * (grid.points - began)))
        return Answer(series=ordered(found))


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

    def __init__(self, node: str, pool: nodes.Pool, resource: str, number: int, pod: _Pod | None) -> None:
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
            name = workloads.pod_name(story, number)
            yield _Pod(story, name, placed[story.namespace, name])


def _boards(objects: Sequence[paths.Object]) -> Iterator[_Board]:
    """Every device of every node. Pods take them in this order."""
    holders: dict[tuple[str, str], list[_Pod]] = {}
    for pod in _running(objects):
        holders.setdefault((pod.node, pod.story.resource), []).extend([pod] * pod.story.devices)
    for pool in nodes.POOLS:
        for node in nodes.names(pool):
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
            return _of_nodes(grid, nodes.allocatable)
        case "kube_node_spec_unschedulable":
            return Answer(series=(Series(labels={"node": nodes.CORDONED}, first=0, values=[1.0] * grid.points),))
    return Answer()


def _of_nodes(grid: Grid, devices: Callable[[nodes.Pool, str], Mapping[str, int]]) -> Answer:
    found = [
        Series(labels={"node": name, "resource": _label(resource)}, first=0, values=[float(number)] * grid.points)
        for pool in nodes.POOLS
        for name in nodes.names(pool)
        for resource, number in devices(pool, name).items()
    ]
    return Answer(series=ordered(found))


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
    return Answer(series=ordered(found))
