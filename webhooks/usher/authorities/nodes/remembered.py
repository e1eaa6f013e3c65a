"""Verdicts on nodes, kept until a node changes. Most pods of a cluster have the same demand."""

from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

import orjson

from usher import memo, model
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import gang_room, judge, places
from usher.authorities.nodes.gang_room import GangShortage, Member, Room
from usher.authorities.nodes.judge import NodeVerdict
from usher.authorities.nodes.places import Places
from usher.authorities.nodes.pod_demand import PodDemand
from usher.dataclass import dataclass

_LARGEST: Final = 4096
"""The most bytes of a demand that is kept; real pods have a few hundred."""

_MOST: Final = 64
"""The most members of a gang that is kept."""


@dataclass(frozen=True, slots=True)
class _Question:
    key: bytes
    demand: PodDemand = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Gang:
    key: tuple[tuple[bytes, int], ...]
    members: Sequence[Member] = field(compare=False)


class NodeVerdicts:
    """The verdicts on the nodes at one moment."""

    def __init__(self, found: Places) -> None:
        self.places = found
        self._kept = lru_cache(maxsize=1024)(lambda question: judge.judge(question.demand, self.places))
        self._rooms = lru_cache(maxsize=256)(lambda gang: gang_room.room(gang.members, self.places))

    def of(self, demand: PodDemand) -> NodeVerdict:
        """Whether any node could hold one pod."""
        key = _key(demand)
        return self._kept(_Question(key, demand)) if key else judge.judge(demand, self.places)

    def of_gang(self, workload: model.Workload, members: Sequence[Member]) -> GangShortage | None:
        """The shortage where fewer pods of a gang could run at the same time than it needs; None where all could."""
        return gang_room.shortage(workload, members, self._room) if workload.gang.wanted else None

    def _room(self, members: Sequence[Member]) -> Room | None:
        key = tuple((_key(member.demand), member.pods) for member in members)
        is_kept = len(key) <= _MOST and all(each for each, _ in key)
        return self._rooms(_Gang(key, members)) if is_kept else gang_room.room(members, self.places)


def verdicts(known: Knowledge) -> NodeVerdicts | None:
    """The verdicts on the current nodes; None where the nodes are unknown."""
    table = known.facts.nodes
    if not table.known:
        return None
    return known.derived(
        "verdicts of nodes",
        [("", "Node")],
        lambda: NodeVerdicts(places.of_cluster(table.now, known.config.pools, known.vocabulary)),
    )


def _key(demand: PodDemand) -> bytes:
    """A digest of a demand; empty for one that is too large to be kept."""
    text = orjson.dumps(
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
    return memo.digest(text) if len(text) <= _LARGEST else b""
