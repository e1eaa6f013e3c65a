"""The node pools that the nodes of a cluster form, as the pools that usher.yaml could declare for them.

Only nodes with accelerators form pools. A pool without a node is unknown here: an autoscaler may add it at any time.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import pydantic

from usher.accelerators import boards, names
from usher.accelerators.vocabulary import Vocabulary
from usher.config import pools
from usher.dataclass import dataclass
from usher.facts import pool_labels
from usher.facts.node_classes import NodeClass
from usher.facts.node_reading import PODS, Taint
from usher.facts.node_table import Nodes
from usher.model import placement

MOST_POOLS: Final = 32
"""Beyond this number, nodes with the same taints and devices form a pool together."""

_GPU: Final = "nvidia.com/gpu"
_ORDINARY: Final = ("cpu", "memory")
_LONGEST_NAME: Final = 50
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9.-]+")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)

_OS: Final = "kubernetes.io/os"
_COARSEST: Final = 2
"""Taints and devices always divide pools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPool:
    """A pool with nodes, and the facts about it that a person may need."""

    pool: pools.Pool
    classes: tuple[NodeClass, ...]
    """The classes of its nodes; never empty."""
    labels: Mapping[str, str]
    """The labels that all of its nodes share, without labels of single nodes."""

    @property
    def nodes(self) -> int:
        return sum(each.count for each in self.classes)

    @property
    def example(self) -> str:
        """The first node in alphabetical order."""
        return min(each.example for each in self.classes)

    @property
    def managed(self) -> str:
        """The label by which a service or an autoscaler names the pool; empty without one."""
        found = pool_labels.managed(self.labels)
        return "" if found is None else found[0]


class _Traits(NamedTuple):
    """The traits that the nodes of a pool share, ordered from those that always divide pools to the finest."""

    taints: tuple[Taint, ...]
    resources: tuple[str, ...]
    devices: tuple[tuple[str, str], ...]
    managed: tuple[str, str] | None
    machines: tuple[str | None, ...]


def found_pools(nodes: Nodes, vocabulary: Vocabulary) -> tuple[FoundPool, ...]:
    """The pools of the current nodes, at most MOST_POOLS; empty where the nodes differ too much for so few pools.

    Args:
        nodes: the nodes; unreadable ones are in no pool.
        vocabulary: the names of accelerators.
    """
    ours = [each for each in nodes.classes if any(vocabulary.contains(name) for name in each.most)]
    traits = [_traits(each, vocabulary) for each in ours]
    for length in range(len(_Traits._fields), _COARSEST - 1, -1):
        groups = defaultdict[tuple[object, ...], list[NodeClass]](list)
        for each, its in zip(ours, traits, strict=True):
            groups[its[:length]].append(each)
        if len(groups) <= MOST_POOLS:
            return tuple(_named(_pools(groups.values(), vocabulary)))
    return ()


def _traits(nodes: NodeClass, vocabulary: Vocabulary) -> _Traits:
    labels, managed = nodes.labels, pool_labels.managed(nodes.labels)
    if managed is not None and managed[0] in pool_labels.KARPENTER:
        # One pool of Karpenter has machines of many types, with different devices.
        return _Traits(taints=nodes.taints, resources=(), devices=(), managed=managed, machines=())
    return _Traits(
        taints=nodes.taints,
        resources=(*_offered(nodes.most, vocabulary), *networks(nodes.most, vocabulary)),
        devices=tuple(sorted(pool_labels.devices(labels).items())),
        managed=managed,
        machines=tuple(labels.get(key) for key in pool_labels.MACHINES),
    )


def _offered(most: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    return sorted(name for name in most if vocabulary.contains(name))


def networks(most: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """The network devices among the resources of nodes, in order."""
    meanings = {name: vocabulary.meaning(name) for name in most}
    return sorted(name for name, each in meanings.items() if each is not None and each.unit is names.Unit.FABRIC)


def _pools(groups: Iterable[Sequence[NodeClass]], vocabulary: Vocabulary) -> Iterable[FoundPool]:
    for group in groups:
        shared = frozenset.intersection(*(frozenset(each.labels.items()) for each in group))
        labels = {key: value for key, value in sorted(shared) if _is_legal(key, value)}
        try:
            pool = _pool(group, labels, vocabulary)
        except pydantic.ValidationError:
            # Files may hold taints and resources that no API server accepts.
            continue
        yield FoundPool(pool=pool, classes=tuple(group), labels=labels)


def _is_legal(key: str, value: str) -> bool:
    return placement.is_label_key(key) and placement.is_label_value(value)


def _pool(group: Sequence[NodeClass], labels: Mapping[str, str], vocabulary: Vocabulary) -> pools.Pool:
    most: dict[str, int] = {}
    for each in group:
        for name, amount in each.most.items():
            most[name] = max(amount, most.get(name, 0))
    offered = _offered(most, vocabulary)
    managed = pool_labels.managed(labels)
    varies = managed is not None and managed[0] in pool_labels.KARPENTER
    counted = (PODS,) if varies else (*_ORDINARY, *offered, *networks(most, vocabulary))
    return pools.Pool(
        name=_name(labels, offered),
        node_selector=_selector(labels),
        taints=[_taint(each) for each in group[0].taints],
        resources=offered,
        gpu=None if varies else _gpus(labels, most),
        allocatable={name: quantity(name, most[name]) for name in counted if name in most},
        scales_from_zero=True if varies else None,
    )


def quantity(resource: str, amount: int) -> str | int:
    """The text of an amount that the scheduler counts; a number where it is small."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else amount // 1000
    if resource == "memory" and amount >= 2**30:
        # Rounded up, because the amounts of a pool are the most that one of its nodes has.
        return f"{-(-amount // 2**30)}Gi"
    return amount


def _selector(labels: Mapping[str, str]) -> dict[str, str]:
    managed = pool_labels.managed(labels)
    if managed is not None and managed[0] in pool_labels.KARPENTER:
        return dict([managed])
    found = {**dict([managed] if managed is not None else []), **pool_labels.devices(labels)}
    return found or {_OS: labels.get(_OS, "linux")}


def _taint(found: Taint) -> pools.Taint:
    return pools.Taint.model_validate(found._asdict())


def _gpus(labels: Mapping[str, str], most: Mapping[str, int]) -> pools.Gpus | None:
    """The NVIDIA GPUs of one node; None where their number is unknown, as under the MIG strategy single."""
    product = boards.by_product(labels.get(boards.PRODUCT_LABEL, ""))
    strategy = labels.get(pool_labels.MIG_STRATEGY, "none")
    if product is not None and (product.profile is not None or product.invalid):
        return None
    replicas = _number(labels.get(pool_labels.GPU_REPLICAS)) or 1
    offered = most.get(_GPU, 0)
    count = _number(labels.get(pool_labels.GPU_COUNT))
    whole = count if count is not None and strategy == "mixed" else offered // replicas
    if not 1 <= whole <= 1024 or offered % replicas:
        return None
    return pools.Gpus.model_validate(
        {
            "board": None if product is None else product.board.name,
            "per_node": whole,
            "mig_strategy": "mixed" if strategy == "mixed" else "none",
        }
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def _name(labels: Mapping[str, str], offered: Sequence[str]) -> str:
    """A name of the pool, from its label, its device or its resource."""
    managed = pool_labels.managed(labels)
    device = next(iter(pool_labels.devices(labels).values()), "")
    text = managed[1] if managed is not None else device or offered[0].rpartition("/")[2]
    plain = _NOT_IN_NAMES.sub("-", text.lower()).removeprefix("nvidia-")[:_LONGEST_NAME].strip("-.")
    return plain or "accelerators"


def _named(found: Iterable[FoundPool]) -> Iterable[FoundPool]:
    """The pools in order, each with a name of its own."""
    used: set[str] = set()
    for each in sorted(found, key=lambda each: (each.pool.name, -each.nodes, each.example)):
        name = next(name for name in _numbered(each.pool.name) if name not in used)
        used.add(name)
        pool = each.pool if name == each.pool.name else each.pool.model_copy(update={"name": name})
        yield FoundPool(pool=pool, classes=each.classes, labels=each.labels)


def _numbered(name: str) -> Iterable[str]:
    yield name
    yield from (f"{name}-{number}" for number in range(2, MOST_POOLS + 2))
