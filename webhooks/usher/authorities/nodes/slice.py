"""Whether nodes could ever hold the pods of a workload, as the policies see it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NotRequired

import orjson
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import amount_texts
from usher.authorities.nodes import gang_room, judge, mig_repartitioning, places, pod_demand
from usher.authorities.nodes.judge import Feasibility, Verdict
from usher.authorities.nodes.pod_demand import Ask
from usher.authorities.nodes.pool_slice import AllNodes
from usher.config import models
from usher.facts.node_table import NodeTable
from usher.facts.store import Store
from usher.reading.lookup import Absence, Reference

_LARGEST: Final = 4096
"""Bytes of what a pod asks for that are worth remembering; real pods have some hundreds."""

_QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"


class Shortage(TypedDict):
    resource: str
    asked: str
    most: str
    """What one node has; empty where it has nothing of it."""
    path: NotRequired[str]
    """Where the pod asks for it, where that is in one place."""


class Mismatch(TypedDict):
    """A requirement on labels."""

    wants: str
    """`zone in (a, b)`."""
    there: list[str]
    """Values of the label, some of those that nodes have."""
    elsewhere: bool
    """Whether nodes of another place meet it."""


class Nearest(TypedDict):
    """The place of which the least is missing."""

    place: NotRequired[str]
    """Absent where there is no node, or none of the name."""
    shortages: list[Shortage]
    taints: list[str]
    labels: list[Mismatch]
    nowhere: bool
    """Whether the affinity matches no node at all."""
    node: NotRequired[str]
    """The name that no node has."""


class Divided(TypedDict):
    """GPUs of one node that would hold all slices of a pod, if they were divided so."""

    place: str
    board: str
    gpus: int
    of: int
    mix: str


class Crowded(TypedDict):
    """A pool whose kubelets refuse the pods: no NUMA node has as many GPUs as a container asks for."""

    place: str
    asked: int
    most: int


class PodSetNodes(TypedDict):
    verdict: str
    reason: NotRequired[str]
    nearest: NotRequired[Nearest]
    divided: NotRequired[Divided]
    crowded: NotRequired[Crowded]
    declared: bool
    """Whether usher.yaml declares a pool for such pods; elsewhere an autoscaler may know of others."""


class GangNodes(TypedDict):
    wanted: int
    most: int
    sure: bool
    """Whether usher.yaml bounds every pool that counts."""


class Nodes(TypedDict):
    pods: dict[str, PodSetNodes]
    """By the path of the pod set; without those that some node can hold."""
    gang: NotRequired[GangNodes]
    """Absent where all that must start together may."""


@dataclass(frozen=True, slots=True)
class _Question:
    key: bytes
    ask: Ask = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Together:
    key: tuple[tuple[bytes, int], ...]
    members: Sequence[gang_room.Member] = field(compare=False)


_RoomFor = Callable[[Sequence[gang_room.Member]], gang_room.Room | None]
"""Works out how many pods of a gang could run at once."""


class _Answers:
    """Of one moment; remembered, because most pods of a cluster ask for the same."""

    def __init__(self, found: places.Places) -> None:
        self.places = found
        self._kept = lru_cache(maxsize=1024)(lambda question: judge.judge(question.ask, self.places))
        self._rooms = lru_cache(maxsize=256)(lambda together: gang_room.room(together.members, self.places))

    def of(self, ask: Ask) -> Feasibility:
        key = _key(ask)
        return judge.judge(ask, self.places) if len(key) > _LARGEST else self._kept(_Question(key, ask))

    def room(self, members: Sequence[gang_room.Member]) -> gang_room.Room | None:
        """The most pods of a gang that could run at once."""
        key = tuple((_key(member.ask), member.pods) for member in members)
        if sum(len(each) for each, _ in key) > _LARGEST:
            return gang_room.room(members, self.places)
        return self._rooms(_Together(key, members))


def _key(ask: Ask) -> bytes:
    """What tells an ask from others."""
    return orjson.dumps(
        (
            dict(ask.amounts),
            [[[each.key, each.operator, each.values] for part in way for each in part] for way in ask.ways],
            [[len(part) for part in way] for way in ask.ways],
            ask.tolerations,
            ask.node_name,
            ask.claims_devices,
            sorted(ask.from_classes),
            dict(ask.in_one_container),
        )
    )


class FeasibleNodes:
    """Answers for one configuration."""

    def __init__(self, config: models.Config, vocabulary: Vocabulary, all_nodes: AllNodes) -> None:
        self._config = config
        self._vocabulary = vocabulary
        self._all_nodes = all_nodes
        self._last: tuple[NodeTable, int, _Answers] | None = None

    def of(self, workload: model.Workload, facts: Store) -> Nodes | None:
        """What keeps pods off all nodes; None where nothing does, nobody knows, or no accelerators are asked for."""
        if not facts.nodes.known or not workload.asks_accelerators:
            return None
        answers = self._answers(facts.nodes)
        added = tuple(_added_by_queues(workload, facts))
        found: dict[str, PodSetNodes] = {}
        members: list[gang_room.Member] = []
        for pod_set in workload.pod_sets:
            if pod_set.placed and pod_set.node_name:
                continue
            ask = self._ask(pod_set, facts, added)
            judged = answers.of(ask)
            if judged.verdict is not Verdict.FITS or judged.crowded is not None:
                found[pod_set.path] = self._document(pod_set, ask, judged, answers.places)
            members.append(gang_room.Member(ask=ask, pods=_pods(pod_set, workload.gang)))
        gang = None if found else _gang(workload, members, answers.room)
        if not found and gang is None:
            return None
        return {"pods": found} if gang is None else {"pods": found, "gang": gang}

    def _answers(self, table: NodeTable) -> _Answers:
        last, revision = self._last, table.revision
        if last is not None and last[0] is table and last[1] == revision:
            return last[2]
        answers = _Answers(places.of_cluster(table.now, self._config.pools, self._vocabulary))
        self._last = (table, revision, answers)
        return answers

    def _ask(self, pod_set: model.PodSet, facts: Store, added: Sequence[Mapping[str, paths.Json]]) -> Ask:
        ask = pod_demand.of_pod_set(pod_set, self._vocabulary, from_classes=_served_by_classes(facts))
        return replace(
            ask, tolerations=(*ask.tolerations, *self._asked_elsewhere(pod_set), *_of_runtime(pod_set, facts), *added)
        )

    def _asked_elsewhere(self, pod_set: model.PodSet) -> Iterator[Mapping[str, paths.Json]]:
        """Tolerations that another check asks for: with them too no node may fit, and that is what is to be told."""
        where = self._all_nodes.of(pod_set)
        for fit in where["fits"]:
            for taint in fit["untolerated"]:
                yield {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
        for key in where["assumedTaints"]:
            yield {"key": key, "operator": "Exists"}

    def _document(self, pod_set: model.PodSet, ask: Ask, judged: Feasibility, all_places: places.Places) -> PodSetNodes:
        result: PodSetNodes = {
            "verdict": judged.verdict.value,
            "declared": self._all_nodes.of(pod_set)["poolsDeclared"],
        }
        if judged.reason:
            result["reason"] = judged.reason
        if judged.nearest is not None:
            result["nearest"] = _nearest(pod_set, judged.nearest, all_places)
            would_do = mig_repartitioning.holding(ask, all_places.all) if judged.nearest.obstacles.shortages else None
            if would_do is not None:
                result["divided"] = {
                    "place": would_do.place,
                    "board": would_do.board,
                    "gpus": would_do.gpus,
                    "of": would_do.per_node,
                    "mix": would_do.mix,
                }
        if judged.crowded is not None and judged.crowded.pool is not None and judged.crowded.pool.gpu is not None:
            result["crowded"] = {
                "place": judged.crowded.name,
                "asked": ask.in_one_container["nvidia.com/gpu"],
                "most": judged.crowded.pool.gpu.per_numa_node or 0,
            }
        return result


def asks_of(workload: model.Workload, facts: Store, vocabulary: Vocabulary) -> list[Ask]:
    """What the pods of a workload ask of nodes, with the tolerations that they get before they are scheduled."""
    added = tuple(_added_by_queues(workload, facts))
    classes = _served_by_classes(facts)
    found = []
    for pod_set in workload.pod_sets:
        ask = pod_demand.of_pod_set(pod_set, vocabulary, from_classes=classes)
        found.append(replace(ask, tolerations=(*ask.tolerations, *_of_runtime(pod_set, facts), *added)))
    return found


def gang_of(workload: model.Workload, asked: Sequence[Ask], found: places.Places) -> GangNodes | None:
    """Where fewer pods of a gang could run at once than have to; None where all may."""
    pairs = zip(workload.pod_sets, asked, strict=True)
    members = [gang_room.Member(ask=ask, pods=_pods(pod_set, workload.gang)) for pod_set, ask in pairs]
    return _gang(workload, members, lambda gang: gang_room.room(gang, found))


def _nearest(pod_set: model.PodSet, nearest: judge.Nearest, all_places: places.Places) -> Nearest:
    missing = nearest.obstacles
    result: Nearest = {
        "shortages": [
            {
                "resource": each.resource,
                "asked": amount_texts.amount(each.resource, each.asked, up=True),
                "most": amount_texts.amount(each.resource, each.most, up=False) if each.most else "",
                **_path(pod_set, each.resource),
            }
            for each in missing.shortages
        ],
        "taints": [str(taint) for taint in missing.taints],
        "labels": [
            {
                "wants": amount_texts.requirement(each),
                "there": amount_texts.values(each.key, all_places),
                "elsewhere": amount_texts.is_met_anywhere(each, all_places),
            }
            for each in missing.labels
        ],
        "nowhere": missing.nowhere,
    }
    if nearest.place is not None:
        result["place"] = nearest.place.name
    if missing.names:
        result["node"] = ", ".join(value for each in missing.names for value in each.values)
    return result


class _Path(TypedDict):
    path: NotRequired[str]


def _path(pod_set: model.PodSet, resource: str) -> _Path:
    naming = [
        container for container in pod_set.containers if resource in container.requests or resource in container.limits
    ]
    return {"path": naming[0].first_path(resource)} if len(naming) == 1 else {}


def _pods(pod_set: model.PodSet, gang: model.Gang) -> int:
    """Where fewer may start together than there are, all of them count."""
    count = pod_set.count
    return count.minimum if gang.minimum is None or count.maximum is None else count.maximum


def _gang(workload: model.Workload, members: Sequence[gang_room.Member], room_for: _RoomFor) -> GangNodes | None:
    if not workload.gang.wanted:
        return None
    wanted = workload.pods.minimum if workload.gang.minimum is None else workload.gang.minimum
    # A minimum above all pods is a mistake of its own.
    wanted = min(wanted, sum(member.pods for member in members))
    room = room_for(members)
    if room is None or room.most >= wanted:
        return None
    return {"wanted": wanted, "most": room.most, "sure": room.sure}


def _served_by_classes(facts: Store) -> frozenset[str]:
    """Extended resources that device classes give as well (docs/domain/device-claims.md#extended-resources)."""
    found = facts.objects("resource.k8s.io", "DeviceClass")
    if isinstance(found, Absence):
        return frozenset()
    specs = (value.get("spec") for value in found.values())
    names = (spec.get("extendedResourceName") for spec in specs if isinstance(spec, dict))
    return frozenset(name for name in names if isinstance(name, str))


def _added_by_queues(workload: model.Workload, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that Kueue gives pods with the flavor that it finds for them: any of them may be that."""
    if not workload.queue_labels.get(_QUEUE_LABEL):
        return
    found = facts.objects("kueue.x-k8s.io", "ResourceFlavor")
    for value in () if isinstance(found, Absence) else found.values():
        spec = value.get("spec")
        yield from _mappings(spec.get("tolerations") if isinstance(spec, dict) else None)


def _of_runtime(pod_set: model.PodSet, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that the API server gives pods with their RuntimeClass."""
    if not pod_set.runtime_class_name:
        return
    reference = Reference(group="node.k8s.io", kind="RuntimeClass", name=pod_set.runtime_class_name)
    found = facts.find(reference)
    scheduling = None if isinstance(found, Absence) else found.get("scheduling")
    yield from _mappings(scheduling.get("tolerations") if isinstance(scheduling, dict) else None)


def _mappings(value: paths.Json) -> Iterator[Mapping[str, paths.Json]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()
