"""The pools of mutations.yaml as nodes for kwok, and what a pod that was meant for one of them must have."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml

from e2e.cluster import Cluster, Object, wait_until
from e2e.gpu_nodes import accelerator_node, add_nodes

CONFIG = Path(__file__).with_name("mutations.yaml")

LOANER = "loaner"
"""A node of no pool with accelerators of both makes and no taint: what nothing binds to its pool may run there."""
OPEN_NODES = frozenset({"cpu-0", LOANER})

_GPUS = "8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool of mutations.yaml, and the nodes that play it."""

    name: str
    resource: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    variables: Mapping[str, str]
    nodes: frozenset[str]

    def tolerations(self) -> list[Object]:
        """The tolerations that its pods need, in the order of their keys."""
        needed = [{"key": taint["key"], "operator": "Exists", "effect": taint["effect"]} for taint in self.taints]
        return sorted(needed, key=itemgetter("key"))

    def requirements(self) -> list[Object]:
        return [{"key": key, "operator": "In", "values": [value]} for key, value in self.labels.items()]


def _pool(name: str, *, nodes: frozenset[str]) -> Pool:
    site: dict[str, Any] = yaml.safe_load(CONFIG.read_text())
    declared = next(each for each in site["pools"] if each["name"] == name)
    return Pool(
        name=name,
        resource=declared["resources"][0],
        labels=declared["nodeSelector"],
        taints=tuple(declared["taints"]),
        variables=site["fabrics"][declared["fabric"]]["env"],
        nodes=nodes,
    )


H100 = _pool("h100", nodes=frozenset({"gpu-0", "gpu-1"}))
"""Its nodes are those of conftest.py, which every test finds."""
MI300X = _pool("mi300x", nodes=frozenset({"mi300x-0", "mi300x-1"}))
POOLS = (H100, MI300X)


@contextlib.contextmanager
def added(cluster: Cluster) -> Iterator[None]:
    """The cluster with the nodes that it lacks, which are gone afterwards: other tests count on those they know."""
    new = [
        accelerator_node(name, labels=MI300X.labels, taints=MI300X.taints, resources={MI300X.resource: _GPUS})
        for name in sorted(MI300X.nodes)
    ]
    loaner = accelerator_node(LOANER, resources={pool.resource: _GPUS for pool in POOLS})
    with nodes(cluster, *new, loaner):
        yield


@contextlib.contextmanager
def nodes(cluster: Cluster, *new: Object) -> Iterator[None]:
    """The cluster with some more nodes."""
    add_nodes(cluster, *new)
    try:
        yield
    finally:
        names = [node["metadata"]["name"] for node in new]
        for name in names:
            cluster.delete("Node", name)
        wait_until(
            lambda: not any(cluster.exists("Node", name) for name in names), description=f"{', '.join(names)} are gone"
        )
