"""The synthetic cluster: its objects, owners first, and its usher.yaml."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

from usher import paths
from usher.audit.demo import nodes, surroundings, workloads
from usher.audit.demo.stories import STORIES, Story
from usher.config import models

NAME: Final = "demo"
"""The name of the cluster in reports."""

SERVER: Final = "v1.36.1"
"""The version of its API server."""


def objects(now: datetime) -> Iterator[paths.Object]:
    """Every object of the cluster at a time."""
    yield from nodes.objects(now)
    yield from surroundings.objects(now)
    places = Places()
    for story in STORIES:
        yield from workloads.objects(story, places.take, now=now)


def serves(group: str) -> bool:
    """Whether every API server serves the group, even if the cluster has no object of it."""
    return not group or group.endswith(".k8s.io")


class Places:
    """The boards of the nodes. Each pod gets boards of the first node that has enough left."""

    def __init__(self) -> None:
        self._free = {
            name: dict(pool.devices) for pool in nodes.POOLS for name in nodes.names(pool) if name != nodes.CORDONED
        }
        self._free[nodes.WITH_A_DEAD_BOARD][nodes.GPU] -= 1

    def take(self, story: Story) -> str:
        """The node of the next pod of a story.

        Raises:
            LookupError: the stories hold more than the nodes have.
        """
        for name, free in self._free.items():
            if name.rpartition("-")[0] == story.pool and free.get(story.resource, 0) >= story.devices:
                free[story.resource] -= story.devices
                return name
        raise LookupError(f"no node of pool {story.pool} has room for {story.name}")


def configuration(today: date) -> models.Config:
    """The usher.yaml of the cluster. Its prices are examples, not those of a provider."""
    return models.Config.model_validate(
        {
            "pools": [_pool(pool) for pool in nodes.POOLS],
            "queues": [
                {"namespaces": ["llm-*"], "roles": ["training"], "localQueue": "pretraining", "placesPods": True},
                {"namespaces": ["speech", "robotics"], "roles": ["training"], "localQueue": "research"},
            ],
            "enforcement": {"exceptions": list(_exceptions(today))},
            "audit": {
                "prices": {
                    "currency": "USD",
                    "rules": [
                        {"product": "NVIDIA-H100-*", "capacityType": "reserved", "perGpuHour": 2.9},
                        {"product": "NVIDIA-A100-*", "capacityType": "spot", "perGpuHour": 1.2},
                        {"instanceType": "g6e.12xlarge", "perNodeHour": 10.5},
                    ],
                }
            },
        }
    )


def _pool(pool: nodes.Pool) -> dict[str, object]:
    resources = [name for name, number in pool.devices.items() if number]
    found: dict[str, object] = {
        "name": pool.name,
        "nodeSelector": {"node.example.com/pool": pool.name},
        "taints": [nodes.TAINT],
        "resources": resources,
    }
    return {**found, "gpu": {"perNode": pool.boards}}


def _exceptions(today: date) -> Iterator[dict[str, object]]:
    shared = {"reason": "agreed with the platform team", "checks": ["gpu-toleration-present"]}
    yield {
        **shared,
        "namespaces": ["speech"],
        "owner": "dana@example.com",
        "ticket": "GPU-118",
        "expires": today + timedelta(days=6),
    }
    yield {
        **shared,
        "namespaces": ["vision-archive"],
        "owner": "chen@example.com",
        "ticket": "GPU-71",
        "expires": today + timedelta(days=90),
    }
    yield {
        **shared,
        "namespaces": ["robotics"],
        "owner": "eli@example.com",
        "ticket": "GPU-40",
        "expires": today - timedelta(days=12),
    }
