"""The answer of an authority about a workload, and the amounts that its pods need together: to start, and all of them.

Source: calcPGMinResources, CalcFirstCountResources and CalcPGMinResources in pkg/controllers/job of volcano-sh/volcano,
and the defaults of pkg/webhooks/admission/jobs/mutate/mutate_job.go.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from msgspec import Struct, field
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors, memo, model, paths, quantities
from usher.kinds import registry
from usher.kinds.kind import Starts, minimum_of_owner
from usher.kinds.reading.shapes import Amount, amount_of
from usher.quantities import Quantity


class Answer(StrEnum):
    """Whether a workload starts; the worst answer comes first."""

    NEVER = "never"
    """The configuration does not let it start, even if nothing else runs."""
    UNKNOWN = "unknown"
    NOT_NOW = "not now"
    """A resource is used up, or a queue is stopped, or an object does not exist yet."""
    COULD = "could"
    """The configuration lets it start; whether there is room now is unknown."""
    FITS = "fits now"


def worst(answers: Iterable[Answer]) -> Answer:
    """The worst of several answers; FITS where there are no answers."""
    order = list(Answer)
    return min(answers, key=order.index, default=Answer.FITS)


class Room(NamedTuple):
    """How many pods the devices of one node serve at once."""

    sure: int
    """So many the scheduler places, one after another."""
    most: int
    """No more than this, in any order."""
    reason: str = ""
    """Why there are no more; empty where there are enough."""
    stops: bool = False
    """Whether the scheduler stops at this node, and places the pod nowhere."""
    weight: float = 0
    """The part of the devices that the node has of what one pod asks for; 2 where the scheduler stops."""


class ClaimedDevices(Protocol):
    """The devices that the claims of one pod ask for, with answers for each node."""

    @property
    def is_local(self) -> bool:
        """Whether each device belongs to one node."""
        ...

    @property
    def share_a_node(self) -> bool:
        """Whether all pods share a claim for devices that one node alone reaches."""
        ...

    def most_of_all(self) -> int:
        """A bound on the pods by all devices of the cluster, for devices that several nodes reach."""
        ...

    def room(self, name: str, labels: Mapping[str, str], resources: Mapping[str, int], *, pods: int = 1) -> Room:
        """How many pods a node serves at once, if no other claim had a device.

        Args:
            resources: the extended resources that device classes serve to one pod on this node.
        """
        ...

    def why_taken(self, in_use: Any, name: str, labels: Mapping[str, str], resources: Mapping[str, int]) -> str:  # noqa: ANN401
        """Why a node that could serve a pod does not serve it now; empty where it does."""
        ...


class Reach(StrEnum):
    """How far a workload gets before a resource is short."""

    START = "start"
    """It cannot start, even if nothing else runs."""
    ALL = "all"
    """It starts, but never has all of its pods."""
    LARGEST = "largest"
    """It has the pods that it needs, but cannot grow to its largest pod counts."""
    NOW = "now"
    """It must wait until other workloads free resources."""


class Part(Struct, frozen=True, kw_only=True):
    """The pods of one pod set, with what each pod takes."""

    pod_set: str
    pods: int
    each: Quantity


class Shortage(Struct, frozen=True, kw_only=True):
    """A resource that is too scarce for a workload."""

    of: str
    """The name of the quota or queue."""
    resource: str
    """The name of the resource in the quota or queue."""
    needs: Quantity
    most: Quantity
    """The most that the quota or queue can give."""
    used: Quantity | None = None
    """Current usage; only where `reach` is NOW."""
    reach: Reach
    parts: tuple[Part, ...] = ()
    """The parts that `needs` consists of, where several pod sets or pods share it."""
    assumption: str = ""
    """The condition under which the shortage exists."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer of an authority about a workload."""

    answer: Answer
    shortages: tuple[Shortage, ...] = ()
    unknowns: tuple[str, ...] = ()
    """Missing facts that make the answer UNKNOWN."""


_Entry = TypeVar("_Entry")

MOST_OBJECTS: Final = 256
"""How many entries of a list are read; a longer list is recorded as unreadable."""

Amounts = Mapping[str, quantities.Quantity]
"""Quantities by the name of the resource."""

_NAME: Final = memo.pattern(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,317}", re.ASCII)
"""The name of a resource, with an optional domain and an optional `requests.` before it."""


class Unreadable(Struct, frozen=True, kw_only=True):
    """A field of an object of the cluster that cannot be read."""

    of: str
    """The kind and name of the object."""
    field: str
    """The path of the field, as in `spec.hard`."""
    reason: str

    def __str__(self) -> str:
        return f"{self.of}: {self.field}: {self.reason}"


def first_objects(
    objects: Mapping[str, paths.Object], kind: str
) -> tuple[Mapping[str, paths.Object], list[Unreadable]]:
    """The first objects of one kind in a namespace, by name; and a note where the namespace has more than are read."""
    names = sorted(objects)
    reason = f"is not read: the namespace has {len(names)} {kind}s, and only the first {MOST_OBJECTS} are read"
    beyond = [
        Unreadable(of=f"{kind} {name}", field="spec", reason=reason) for name in names[MOST_OBJECTS : MOST_OBJECTS + 1]
    ]
    return {name: objects[name] for name in names[:MOST_OBJECTS]}, beyond


class SourceObject(Struct, frozen=True):
    """An object of the cluster during reading."""

    of: str
    value: paths.Object
    unreadable: list[Unreadable] = field(default_factory=list)

    def unknown(self, pointer: str, reason: str) -> None:
        found = Unreadable(of=self.of, field=paths.readable(pointer), reason=reason)
        if len(self.unreadable) < MOST_OBJECTS and found not in self.unreadable:
            self.unreadable.append(found)

    def at(self, pointer: str) -> paths.Json:
        """The value at a place; None where the value is missing, or a field on the way to it is unreadable."""
        value: paths.Json = self.value
        place = paths.ROOT
        for key in paths.split(pointer):
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and key.isdecimal():
                value = value[int(key)]
            else:
                if value is not None:
                    self.unknown(place, "is not an object")
                return None
            place = paths.join(place, key)
        return value

    def mapping(self, pointer: str) -> Mapping[str, paths.Json]:
        """The object at a place; empty where it is missing."""
        value = self.at(pointer)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(pointer, "is not an object")
        return {}

    def items(self, pointer: str) -> Iterator[str]:
        """The places of the objects in a list."""
        value = self.at(pointer)
        if value is not None and not isinstance(value, list):
            self.unknown(pointer, "is not a list")
            return
        for index, item in enumerate(self._first(value or [], pointer)):
            if isinstance(item, dict):
                yield paths.join(pointer, index)
            else:
                self.unknown(paths.join(pointer, index), "is not an object")

    def text(self, pointer: str) -> str:
        """The text at a place; empty where it is missing."""
        value = self.at(pointer)
        if value is not None and not isinstance(value, str):
            self.unknown(pointer, "is not a string")
        return value if isinstance(value, str) else ""

    def texts(self, pointer: str) -> tuple[str, ...]:
        """The texts in a list."""
        value = self.at(pointer)
        listed = value if isinstance(value, list) else []
        if (value is not None and not isinstance(value, list)) or any(not isinstance(each, str) for each in listed):
            self.unknown(pointer, "is not a list of strings")
        return tuple(each for each in self._first(listed, pointer) if isinstance(each, str))

    def amounts(self, pointer: str) -> Amounts:
        """The readable quantities of a resource list."""
        found = {}
        for name, value in self._first(list(self.mapping(pointer).items()), pointer):
            if _NAME.fullmatch(name) is None:
                self.unknown(pointer, "has a key that is not a valid resource name")
                continue
            try:
                found[name] = quantities.parse(value)
            except errors.QuantityError as error:
                self.unknown(paths.join(pointer, name), str(error))
        return found

    def _first(self, entries: list[_Entry], pointer: str) -> list[_Entry]:
        """The first entries, up to MOST; records a longer list as unreadable."""
        if len(entries) > MOST_OBJECTS:
            self.unknown(pointer, f"has {len(entries)} entries, and only the first {MOST_OBJECTS} are read")
        return entries[:MOST_OBJECTS]


REACHES = {Reach.START: "never", Reach.ALL: "not all", Reach.LARGEST: "not largest", Reach.NOW: "not now"}
"""The names of the reaches in the Rego input."""


class PartInput(TypedDict):
    """The pods of one pod set, with what each pod takes."""

    podSet: str
    pods: int
    each: Amount


class UnreadableInput(TypedDict):
    of: str
    field: str
    reason: str


def parts_input(parts: Iterable[Part]) -> list[PartInput]:
    return [{"podSet": part.pod_set, "pods": part.pods, "each": amount_of(part.each)} for part in parts]


def unreadable_input(unreadable: Iterable[Unreadable]) -> list[UnreadableInput]:
    return [{"of": each.of, "field": each.field, "reason": each.reason} for each in unreadable]


_MOST_IN_ORDER: Final = 11
"""Volcano sorts tasks by priority. Go keeps the order of equal elements only in lists up to this length."""


def volcano_tasks(workload: model.Workload) -> Sequence[Mapping[str, Any]]:
    """The tasks of a Volcano Job or JobTemplate; empty for other kinds."""
    job = workload.view.get("volcanoJob") or workload.view.get("volcanoJobTemplate") or {}
    tasks: Sequence[Mapping[str, Any]] = job.get("spec", {}).get("tasks", [])
    return tasks


def volcano_minimum(workload: model.Workload) -> int | None:
    """The sum over the tasks, for a Job that sets no minimum itself; None where all pods start together."""
    tasks = volcano_tasks(workload)
    if all(_task_minimum(task) == _task_replicas(task) for task in tasks):
        return None
    return sum(map(_task_minimum, tasks))


def first_volcano_pods(workload: model.Workload) -> Sequence[int] | None:
    """How many pods of each pod set must fit into the queue before any pod starts.

    None for other kinds, and where the order of the tasks depends on the values of priority classes.
    """
    tasks = volcano_tasks(workload)
    in_order = len({pod_set.priority_class_name for pod_set in workload.pod_sets}) <= 1
    if not tasks or len(tasks) != len(workload.pod_sets) or len(tasks) > _MOST_IN_ORDER or not in_order:
        return None
    minima, replicas = [_task_minimum(task) for task in tasks], [_task_replicas(task) for task in tasks]
    total = sum(minima)
    wanted = workload.gang.minimum or total
    if wanted < total:
        return _take_in_turn(replicas, wanted)
    needed = _take_in_turn(minima, wanted)
    others = [all_pods - least for all_pods, least in zip(replicas, minima, strict=True)]
    beyond = _take_in_turn(others, wanted - sum(needed))
    return [first + second for first, second in zip(needed, beyond, strict=True)]


def _take_in_turn(available: Sequence[int], wanted: int) -> list[int]:
    """Takes from each in turn until enough are taken."""
    taken = []
    for number in available:
        taken.append(max(min(number, wanted), 0))
        wanted -= taken[-1]
    return taken


def _task_replicas(task: Mapping[str, Any]) -> int:
    replicas: int = task.get("replicas", 0)
    return replicas


def _task_minimum(task: Mapping[str, Any]) -> int:
    policy = task.get("partitionPolicy", {})
    partitions: int = policy.get("minPartitions", 0)
    by_partitions = partitions * policy.get("partitionSize", 0) if partitions > 0 else _task_replicas(task)
    least: int = task.get("minAvailable", by_partitions)
    return least


class GangDemand(Struct, frozen=True, kw_only=True):
    """The amounts that pods need together. A pod set with unknown requests counts as 0."""

    starts: quantities.Quantity
    """The amount that must be free for a start: for the first pods of a gang, else for the largest pod."""
    all: quantities.Quantity
    """The amount that all pods need, at the smallest pod counts."""
    largest: quantities.Quantity | None
    """The amount that all pods need, at the largest pod counts; None where the counts have no bound."""
    is_gang: bool
    """Whether `starts` is the sum of several pods that wait for each other."""
    parts: tuple[Part, ...] = ()
    """The parts that `all` consists of; empty for graphs of steps."""
    assumption: str = ""
    """The condition under which `starts` and `all` are right."""


def demand_of_workload(
    workload: model.Workload, each: Sequence[quantities.Quantity], *, minimum: int | None = None
) -> GangDemand:
    """The amounts of one resource that the pods of a workload need together.

    Args:
        each: the amount that one pod of each pod set needs, in the order of the pod sets.
        minimum: how many pods start together, where a PodGroup sets it.
    """
    pairs = list(zip(workload.pod_sets, each, strict=True))
    taking = [(pod_set, amount) for pod_set, amount in pairs if amount and pod_set.count.maximum != 0]
    alone = max((amount for _, amount in taking), default=quantities.ZERO)
    unbounded = any(pod_set.count.maximum is None for pod_set, _ in taking)
    kind = registry.PODS.get((workload.group, workload.kind))
    starts_of_kind = Starts.TOGETHER if kind is None else kind.starts
    if starts_of_kind is Starts.IN_STEPS:
        return GangDemand(starts=alone, all=alone, largest=None if unbounded else alone, is_gang=False)
    parts = tuple(
        Part(pod_set=pod_set.name, pods=pod_set.count.minimum, each=amount)
        for pod_set, amount in taking
        if pod_set.count.minimum
    )
    total = quantities.Quantity(sum(part.each.nanos * part.pods for part in parts))
    most = quantities.Quantity(sum(amount.nanos * (pod_set.count.maximum or 0) for pod_set, amount in taking))
    starts, is_gang = alone, False
    if workload.gang.wanted and total:
        starts = _amount_at_start(workload, pairs, minimum)
        is_gang = starts != alone
    waits = len(parts) > 1 and (
        starts_of_kind is Starts.MAY_WAIT or any("dependsOn" in task for task in volcano_tasks(workload))
    )
    return GangDemand(
        starts=starts,
        all=total,
        largest=None if unbounded else max(alone, most),
        is_gang=is_gang,
        parts=parts,
        assumption="its parts run at the same time" if waits and total > alone else "",
    )


def gang_minimum(workload: model.Workload) -> int | None:
    """How many pods start together; None where the object does not set it, so that all pods start together."""
    if workload.gang.minimum:
        return workload.gang.minimum
    kind = registry.PODS.get((workload.group, workload.kind))
    if kind is not None and kind.minimum_from:
        return minimum_of_owner(workload.annotations)
    return volcano_minimum(workload) if workload.gang_native else None


def _amount_at_start(
    workload: model.Workload, pairs: Sequence[tuple[model.PodSet, quantities.Quantity]], minimum: int | None
) -> quantities.Quantity:
    """The amount of the pods that start together. Other pods of the gang, even larger ones, may come later."""
    first = first_volcano_pods(workload) if minimum is None else None
    if first is not None:
        return quantities.Quantity(sum(pods * amount.nanos for pods, (_, amount) in zip(first, pairs, strict=True)))
    needed = gang_minimum(workload) if minimum is None else minimum
    at_once = [pair for pair in pairs if not pair[0].later] or pairs
    every_pod = sum(pod_set.count.minimum for pod_set, _ in at_once)
    return _least_amount(at_once, every_pod if needed is None else max(needed, 1))


def _least_amount(pairs: Sequence[tuple[model.PodSet, quantities.Quantity]], needed: int) -> quantities.Quantity:
    """The least amount that `needed` pods take."""
    nanos, left = 0, needed
    for pod_set, amount in sorted(pairs, key=lambda pair: pair[1]):
        taken = min(left, pod_set.count.minimum)
        nanos += taken * amount.nanos
        left -= taken
    return quantities.Quantity(nanos)
