"""GPU-hours by pod and node, each with its workload and its price: what all tables are sums of.

At each point a pod held the GPUs that kube-state-metrics or the cluster says; where neither knows, the devices whose
series name it. Devices of several pods at once count for each with an equal part. If a pod's devices are more than it
held, because its series end later than the pod, they count with the part that it held. So at every point measured is at
most allocated, and used and idle are at most measured.
"""

import math
import operator
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher.accelerators import mig
from usher.audit.gather import estate, gpus
from usher.audit.gather.gpus import NodeType
from usher.audit.usage import series
from usher.audit.usage.held_gpus import Track
from usher.audit.usage.series import EMPTY_LINE, Answer, Device, Grid, Line, PodName

ACTIVITY_BINS: Final = 100
HOURS_OF_DAY: Final = 24


def _zeros(length: int) -> list[float]:
    return [0.0] * length


class Tally(Struct, kw_only=True):
    """GPU-hours of whole GPUs, and of parts of GPUs by their share. Counting fills it; later code only reads it."""

    allocated: float = 0.0
    measured: float = 0.0
    """The allocated hours with a known activity."""
    used: float = 0.0
    """The measured hours, each weighted with its activity."""
    idle: float = 0.0
    """The measured hours in idle stretches."""
    memory: float = 0.0
    """The allocated hours with a known share of used memory."""
    memory_used: float = 0.0
    """The hours of `memory`, each weighted with the share of used memory."""
    memory_peak: float = 0.0
    """In MiB on one device."""
    memory_total: float = 0.0
    """In MiB of the largest device."""
    first: int | None = None
    """The first point of the window at which the pod held a GPU."""
    bins: list[float] = field(default_factory=lambda: _zeros(ACTIVITY_BINS + 1))
    """Measured hours by activity in whole percent."""
    allocated_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS_OF_DAY))
    """Allocated hours by hour of the day, in UTC."""
    measured_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS_OF_DAY))
    used_by_hour: list[float] = field(default_factory=lambda: _zeros(HOURS_OF_DAY))

    @property
    def activity(self) -> float | None:
        return self.used / self.measured if self.measured else None

    @property
    def memory_share(self) -> float | None:
        return self.memory_used / self.memory if self.memory else None

    def activity_at(self, share: float) -> float | None:
        """The activity, in whole percent, that this share of the measured GPU-hours does not exceed."""
        if not self.measured:
            return None
        passed = 0.0
        for percent, hours in enumerate(self.bins):
            passed += hours
            if passed >= share * self.measured * (1 - 1e-9):
                return percent / ACTIVITY_BINS
        return 1.0


def total_tally(tallies: Iterable[Tally]) -> Tally:
    """The sum of the tallies, with the highest of their peaks."""
    found = Tally()
    for each in tallies:
        if each.first is not None:
            found.first = each.first if found.first is None else min(found.first, each.first)
        found.allocated += each.allocated
        found.measured += each.measured
        found.used += each.used
        found.idle += each.idle
        found.memory += each.memory
        found.memory_used += each.memory_used
        found.memory_peak = max(found.memory_peak, each.memory_peak)
        found.memory_total = max(found.memory_total, each.memory_total)
        for mine, others in (
            (found.bins, each.bins),
            (found.allocated_by_hour, each.allocated_by_hour),
            (found.measured_by_hour, each.measured_by_hour),
            (found.used_by_hour, each.used_by_hour),
        ):
            for place, value in enumerate(others):
                mine[place] += value
    return found


class IdleRule(Struct, frozen=True, kw_only=True):
    below: float
    """Idle below this activity, from 0 to 1."""
    points: int
    """The fewest idle points in a row that count as a stretch."""


class Place(NamedTuple):
    """A pod on a node."""

    pod: PodName
    node: str


class HeldDevice(Struct, frozen=True, kw_only=True):
    """A device while a pod held it, with the share of a GPU that counts for the pod at each point."""

    track: Track
    weights: Line
    """Shares of a GPU; NaN at points where the pod did not hold the device."""


def held_devices(tracks: Iterable[Track], share: Callable[[Track], float | None]) -> Iterator[HeldDevice]:
    """The tracks of pods with their weights: the share of the device divided by the number of pods that hold it at a
    point.

    A track without a share is left out.
    """
    by_device: dict[Device, list[Track]] = {}
    for track in tracks:
        if track.holder is not None:
            by_device.setdefault(track.device, []).append(track)
    for found in by_device.values():
        for track in found:
            of_gpu = share(track)
            if of_gpu is not None:
                yield HeldDevice(track=track, weights=_weights(track, found, of_gpu))


def count_hours(held: Line, found: Iterable[HeldDevice], *, grid: Grid, idle: IdleRule) -> Tally:
    """The GPU-hours of one pod on one node; `held` are the GPUs that it is known to have held."""
    tally = Tally()
    mine = [device for device in found if device.weights.values]
    lines = [held, *(device.weights for device in mine)]
    first = min((line.first for line in lines if line.values), default=0)
    end = max((line.end for line in lines if line.values), default=0)
    factors = _count_allocated(tally, held, mine, range(first, end), grid)
    for device in mine:
        counted = _hours_of_pod(device, factors, first, grid)
        _count_activity(tally, device, counted, grid)
        _count_memory(tally, device, counted)
        for start, stop in stretches(device, below=idle.below, points=idle.points):
            tally.idle += sum(counted[start - device.weights.first : stop - device.weights.first])
    # Sums of the same parts in another order may differ in the last digit.
    tally.measured = min(tally.measured, tally.allocated)
    tally.memory = min(tally.memory, tally.allocated)
    tally.idle = min(tally.idle, tally.measured)
    return tally


def _weights(track: Track, rivals: list[Track], share: float) -> Line:
    first, end = track.first, track.end
    mine = _has_samples(track, first, end)
    others = [_has_samples(other, first, end) for other in rivals if other is not track]
    if not others:
        # Within a hole the pod still held the device.
        return Line(first=first, values=array("d", [share]) * len(mine))
    values = array("d")
    for has_sample, *theirs in zip(mine, *others, strict=True):
        holding = sum(theirs)
        values.append(share / (1 + holding) if has_sample else math.nan if holding else share)
    return Line(first=first, values=values)


def _has_samples(track: Track, first: int, end: int) -> list[bool]:
    """Whether the device has a sample of this pod, by point."""
    lines = (series.spread_values(line, first, end) for line in (track.activity, track.memory_used))
    return [not (math.isnan(activity) and math.isnan(used)) for activity, used in zip(*lines, strict=True)]


def _count_allocated(tally: Tally, held: Line, mine: list[HeldDevice], points: range, grid: Grid) -> "array[float]":
    """Counts the allocated GPU-hours, and gives for each point the part of the devices that counts."""
    factors = array("d")
    hours = grid.hours
    weights = [series.spread_values(device.weights, points.start, points.stop) for device in mine]
    known = series.spread_values(held, points.start, points.stop)
    for point, held_now, *each in zip(points, known, *weights, strict=True):
        weight = sum(value for value in each if not math.isnan(value))
        amount = weight if math.isnan(held_now) else held_now
        factors.append(min(1.0, amount / weight) if weight else 0.0)
        if amount > 0 and tally.first is None:
            tally.first = point
        tally.allocated += amount * hours
        tally.allocated_by_hour[grid.hour_of_day(point)] += amount * hours
    return factors


def _hours_of_pod(device: HeldDevice, factors: "array[float]", first: int, grid: Grid) -> "array[float]":
    """The GPU-hours of a device that count for the pod at each point; NaN at points where it did not hold
    the device.
    """
    start = device.weights.first - first
    of_device = factors[start : start + len(device.weights.values)]
    return array("d", map(operator.mul, device.weights.values, (factor * grid.hours for factor in of_device)))


def _count_activity(tally: Tally, device: HeldDevice, counted: "array[float]", grid: Grid) -> None:
    first, bins = device.weights.first, tally.bins
    measured = used = 0.0
    activities = series.spread_values(device.track.activity, first, device.weights.end)
    for point, (hours, activity) in enumerate(zip(counted, activities, strict=True), start=first):
        # Comparisons with NaN are false.
        if hours > 0 and activity >= 0:
            hour, busy = grid.hour_of_day(point), hours * activity
            measured += hours
            used += busy
            bins[math.ceil(activity * ACTIVITY_BINS - 1e-9)] += hours
            tally.measured_by_hour[hour] += hours
            tally.used_by_hour[hour] += busy
    tally.measured += measured
    tally.used += used


def _count_memory(tally: Tally, device: HeldDevice, counted: "array[float]") -> None:
    track, first, end = device.track, device.weights.first, device.weights.end
    if not track.memory_used.values:
        return
    lines = (
        series.spread_values(line, first, end) for line in (track.memory_used, track.memory_total, track.memory_peak)
    )
    for hours, used, total, peak in zip(counted, *lines, strict=True):
        if not (hours > 0 and used >= 0):
            continue
        highest = max(used, peak)
        tally.memory_peak = max(tally.memory_peak, highest)
        if total > 0:
            tally.memory += hours
            tally.memory_used += hours * min(used / total, 1.0)
            tally.memory_total = max(tally.memory_total, total)


def stretches(device: HeldDevice, *, below: float, points: int) -> Iterator[tuple[int, int]]:
    """The stretches in which a held device stayed below an activity, each with its first point and the point after it.

    A point without a measurement ends a stretch.
    """
    first, weights = device.weights.first, device.weights
    activities = series.spread_values(device.track.activity, first, weights.end)
    start = -1
    for point, (weight, activity) in enumerate(zip(weights.values, activities, strict=True), start=first):
        # A comparison with NaN is false.
        if weight > 0 and activity < below:
            start = point if start < 0 else start
        elif start >= 0:
            if point - start >= points:
                yield start, point
            start = -1
    if start >= 0 and weights.end - start >= points:
        yield start, weights.end


_LONGEST_CHAIN: Final = 8

_ROLES: Final = (
    "master|worker|workers|launcher|chief|ps|evaluator|head|leader|driver|exec|executor|server|predictor|prefill|decode"
)
_RANDOM: Final = "[bcdfghjklmnpqrstvwxz2456789]"
"""The letters of generated names (k8s.io/apimachinery pkg/util/rand)."""
_TAIL: Final = re.compile(
    rf"(?:-(?:{_ROLES}|{_RANDOM}{{6,10}}|\d{{1,10}}|{_RANDOM}{{5}})){{0,4}}-(?:\d{{1,6}}|{_RANDOM}{{5}})"
)
"""The suffixes that controllers add to the name of a workload for its pods: roles, hashes, numbers, five random
letters.
"""


class Owner(NamedTuple):
    """The workload of a pod by its place in the estate; -1 if unknown: then the pod counts for its namespace."""

    workload: int
    namespace: str


class _Object(NamedTuple):
    namespace: str
    kind: str
    name: str


class Attribution(Struct, frozen=True, kw_only=True):
    """Finds the owner of a pod."""

    pods: Mapping[PodName, int]
    objects: Mapping[_Object, int]
    owners: Mapping[_Object, _Object]
    names: Mapping[str, tuple[tuple[str, int], ...]]
    """The workloads of each namespace, the longest names first."""

    def owner(self, pod: PodName) -> Owner:
        """The owner of a pod: from the existing pods, else from the recorded owners, else from the name of the pod."""
        known = self.pods.get(pod)
        if known is None:
            known = self._by_owners(pod)
        if known is None:
            known = self._by_name(pod)
        return Owner(-1 if known is None else known, pod.namespace)

    def _by_owners(self, pod: PodName) -> int | None:
        at: _Object | None = _Object(pod.namespace, "Pod", pod.pod)
        for _ in range(_LONGEST_CHAIN):
            if at is None:
                return None
            if at in self.objects:
                return self.objects[at]
            at = self.owners.get(at)
        return None

    def _by_name(self, pod: PodName) -> int | None:
        for name, index in self.names.get(pod.namespace, ()):
            if pod.pod.startswith(name) and (pod.pod == name or _TAIL.fullmatch(pod.pod, len(name))):
                return index
        return None


def attribution_of(
    workloads: Iterable[estate.Workload], *, pods: Answer, replicasets: Answer, jobs: Answer
) -> Attribution:
    """An attribution that knows the pods of an estate, and the owners that kube-state-metrics recorded."""
    known: dict[PodName, int] = {}
    objects: dict[_Object, int] = {}
    names: dict[str, list[tuple[str, int]]] = {}
    for index, workload in enumerate(workloads):
        identity = workload.identity
        objects[_Object(identity.namespace, identity.kind, identity.name)] = index
        names.setdefault(identity.namespace, []).append((identity.name, index))
        known |= {PodName(pod.namespace, pod.name): index for pod in workload.pods}
    return Attribution(
        pods=known,
        objects=objects,
        owners={
            **_recorded_owners(pods, "Pod", series.pod_of),
            **_recorded_owners(replicasets, "ReplicaSet", _pod_of_label("replicaset")),
            **_recorded_owners(jobs, "Job", _pod_of_label("job_name")),
        },
        names={namespace: tuple(sorted(found, key=lambda each: -len(each[0]))) for namespace, found in names.items()},
    )


def _recorded_owners(
    answer: Answer, kind: str, name_of: Callable[[Mapping[str, str]], PodName | None]
) -> dict[_Object, _Object]:
    """The owner of each object of a kind, by series that name it; not owners that do not control it."""
    found = {}
    for each in answer.series:
        name = name_of(each.labels)
        owner = each.labels.get("owner_kind", ""), each.labels.get("owner_name", "")
        if name is not None and all(owner) and each.labels.get("owner_is_controller") != "false":
            found[_Object(name.namespace, kind, name.pod)] = _Object(name.namespace, *owner)
    return found


def _pod_of_label(label: str) -> Callable[[Mapping[str, str]], PodName | None]:
    def name(found: Mapping[str, str]) -> PodName | None:
        namespace = series.label_value(found, "namespace")
        return PodName(namespace, found[label]) if namespace and found.get(label) else None

    return name


class Entry(Struct, frozen=True, kw_only=True):
    """The GPU-hours of one pod on one node."""

    place: Place
    owner: Owner
    tally: Tally
    node_type: NodeType
    """The board, and the payment type of its node."""
    price: float | None
    """Price of a GPU for an hour; None if no rule sets one."""
    profile: str = ""
    """The MIG profile of its devices; empty for whole GPUs."""


class AllDevices(Struct, frozen=True, kw_only=True):
    """The measured devices of the cluster, held or not, in GPU-hours."""

    measured: float
    used: float


def ledger_entries(  # noqa: PLR0913 - all sources by name
    tracks: Iterable[Track],
    held: Mapping[tuple[PodName, str], Line],
    *,
    nodes: Mapping[str, estate.Node],
    attribution: Attribution,
    price: Callable[[NodeType], float | None],
    grid: Grid,
    idle: IdleRule,
) -> tuple[Entry, ...]:
    homes = _homes(held)
    found: dict[Place, list[HeldDevice]] = {Place(*key): [] for key in held}
    for device in held_devices(tracks, lambda track: share_of_track(track, nodes)):
        pod = device.track.holder
        if pod is not None:
            place = Place(pod, device.track.node or homes.get(pod, ""))
            found.setdefault(place, []).append(device)
    result = []
    for place, devices in sorted(found.items()):
        tally = count_hours(held.get((place.pod, place.node), EMPTY_LINE), devices, grid=grid, idle=idle)
        node_type = _type_of_node(nodes.get(place.node), devices)
        result.append(
            Entry(
                place=place,
                owner=attribution.owner(place.pod),
                tally=tally,
                node_type=node_type,
                price=price(node_type),
                profile=next((device.track.profile for device in devices if device.track.profile), ""),
            )
        )
    return tuple(result)


def share_of_track(track: Track, nodes: Mapping[str, estate.Node]) -> float | None:
    """The share of a GPU that the device of a track has; None if unknown."""
    if not track.device.instance:
        return 1.0
    node = nodes.get(track.node)
    profile = mig.parse_profile(track.profile)
    return None if profile is None else float(gpus.of_profile(profile, node.product if node else track.product))


def all_device_hours(tracks: Iterable[Track], nodes: Mapping[str, estate.Node], grid: Grid) -> AllDevices:
    """Each device counts once at each point, whether a pod holds it or not."""
    by_device: dict[object, list[Track]] = {}
    for track in tracks:
        by_device.setdefault(track.device, []).append(track)
    measured = used = 0.0
    for found in by_device.values():
        of_gpu = share_of_track(found[0], nodes) or 0.0
        first, end = min(each.activity.first for each in found), max(each.activity.end for each in found)
        for each in zip(*(series.spread_values(track.activity, first, end) for track in found), strict=True):
            values = [value for value in each if value >= 0]
            if values:
                measured += of_gpu * grid.hours
                used += of_gpu * grid.hours * sum(values) / len(values)
    return AllDevices(measured=measured, used=used)


def _homes(held: Iterable[tuple[PodName, str]]) -> dict[PodName, str]:
    """The node of each pod that ran on only one node."""
    nodes: dict[PodName, set[str]] = {}
    for pod, node in held:
        nodes.setdefault(pod, set()).add(node)
    return {pod: next(iter(found)) for pod, found in nodes.items() if len(found) == 1}


def _type_of_node(node: estate.Node | None, devices: Iterable[HeldDevice]) -> NodeType:
    if node is not None:
        return gpus.node_type_of(node)
    return NodeType(product=next((device.track.product for device in devices if device.track.product), ""))
