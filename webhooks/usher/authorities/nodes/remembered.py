"""Verdicts about nodes, kept until a node changes: most pods of a cluster ask for the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import orjson

from usher import model
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import gang_room, judge, places
from usher.authorities.nodes.gang_room import GangShortage, Member, Room
from usher.authorities.nodes.judge import NodeVerdict
from usher.authorities.nodes.places import Places
from usher.authorities.nodes.pod_demand import PodDemand

_LARGEST: Final = 4096
"""Bytes of a demand that is kept; real pods have some hundreds."""


@dataclass(frozen=True, slots=True)
class _Question:
    key: bytes
    demand: PodDemand = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Gang:
    key: tuple[tuple[bytes, int], ...]
    members: Sequence[Member] = field(compare=False)


class NodeVerdicts:
    """Of the nodes at one moment."""

    def __init__(self, found: Places) -> None:
        self.places = found
        self._kept = lru_cache(maxsize=1024)(lambda question: judge.judge(question.demand, self.places))
        self._rooms = lru_cache(maxsize=256)(lambda gang: gang_room.room(gang.members, self.places))

    def of(self, demand: PodDemand) -> NodeVerdict:
        """Whether any node could hold one pod."""
        key = _key(demand)
        return judge.judge(demand, self.places) if len(key) > _LARGEST else self._kept(_Question(key, demand))

    def of_gang(self, workload: model.Workload, members: Sequence[Member]) -> GangShortage | None:
        """Where fewer pods of a gang could run at once than have to; None where all may."""
        return gang_room.shortage(workload, members, self._room) if workload.gang.wanted else None

    def _room(self, members: Sequence[Member]) -> Room | None:
        key = tuple((_key(member.demand), member.pods) for member in members)
        if sum(len(each) for each, _ in key) > _LARGEST:
            return gang_room.room(members, self.places)
        return self._rooms(_Gang(key, members))


def verdicts(known: Knowledge) -> NodeVerdicts | None:
    """The verdicts about the nodes as they are now; None where nothing is known of nodes."""
    table = known.facts.nodes
    if not table.known:
        return None
    return known.derived(
        "verdicts of nodes",
        [("", "Node")],
        lambda: NodeVerdicts(places.of_cluster(table.now, known.config.pools, known.vocabulary)),
    )


def _key(demand: PodDemand) -> bytes:
    """What tells a demand from others."""
    return orjson.dumps(
        (
            dict(demand.amounts),
            [
                [[each.key, each.operator, each.values] for part in terms for each in part]
                for terms in demand.alternatives
            ],
            [[len(part) for part in terms] for terms in demand.alternatives],
            demand.tolerations,
            demand.node_name,
            demand.claims_devices,
            sorted(demand.from_classes),
            dict(demand.in_one_container),
        )
    )
