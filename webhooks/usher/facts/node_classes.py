"""Classes of nodes that are equal for the scheduler: thousands of nodes form some dozen classes.

Labels that differ from node to node (`kubernetes.io/hostname`, the name of a host in a rack) would make a class of each
node. They are kept beside the classes, in an index by value, so that selectors on them still get exact answers.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from usher.dataclass import dataclass
from usher.facts.node_reading import Amounts, Node, Taint

ALWAYS_INDIVIDUAL: Final = frozenset({"kubernetes.io/hostname", "nvidia.com/gfd.timestamp"})

MOST_CLASSES: Final = 128
"""Beyond this number of classes, the label with the most values becomes individual."""

_ROUNDS: Final = 16
_ROUNDED: Final = ("memory", "ephemeral-storage")
"""Resources that differ by some bytes between nodes of one type; the nodes of a class agree in the first bits."""
_BITS: Final = 3

_LONG: Final = 64
"""Beyond this length of a frontier, further vectors are added without a comparison."""


class Own(NamedTuple):
    """The labels and amounts of one node that differ from its class."""

    labels: Mapping[str, str]
    """The individual labels."""
    amounts: Amounts


class Key(NamedTuple):
    """The labels, taints and amounts that the nodes of a class share."""

    labels: frozenset[tuple[str, str]]
    taints: tuple[Taint, ...]
    shape: frozenset[tuple[str, int]]
    """Amounts, rounded; empty if the class holds nodes of any amounts."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeClass:
    labels: Mapping[str, str]
    """The labels of all its nodes, without the individual ones."""
    taints: tuple[Taint, ...]
    nodes: Mapping[str, Own]
    """The nodes by name; never empty."""
    most: Amounts
    """The most of each resource on any node; these may be different nodes."""
    frontier: tuple[Amounts, ...]
    """The amounts of nodes that no other node exceeds in every resource: a pod that does not fit them fits no node."""
    example: str
    """The first name in alphabetical order."""

    @property
    def count(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """How nodes are divided into classes."""

    individual: frozenset[str] = ALWAYS_INDIVIDUAL
    by_amounts: bool = True

    def divide(self, node: Node) -> tuple[Key, Own]:
        """The class of a node, and its differences from the class."""
        own = {key: node.labels[key] for key in node.labels.keys() & self.individual}
        labels = frozenset((key, value) for key, value in node.labels.items() if key not in self.individual)
        shape = frozenset(_rounded(node.amounts)) if self.by_amounts else frozenset()
        return Key(labels, node.taints, shape), Own(own, node.amounts)


def division(nodes: Iterable[Node]) -> Division:
    """The division that leaves as many labels in the classes as MOST_CLASSES allow.

    Taints always divide classes, because they belong to whole pools.
    """
    found = Division()
    keys = {found.divide(node)[0] for node in nodes}
    for _ in range(_ROUNDS):
        if len(keys) <= MOST_CLASSES:
            return found
        keys, found = _coarser(keys, found)
    labels = [key.labels for key in keys]
    several = frozenset[tuple[str, str]]().union(*labels).difference(frozenset.intersection(*labels))
    return Division(individual=found.individual.union(key for key, _ in several), by_amounts=False)


def _coarser(keys: set[Key], found: Division) -> tuple[set[Key], Division]:
    """A coarser division: without the labels that have very many values, or without the rounded amounts."""
    values = defaultdict[str, set[str]](set)
    for key in keys:
        for label, value in key.labels:
            values[label].add(value)
    numbers = {label: len(each) for label, each in values.items()}
    worst = max(numbers, key=lambda label: (numbers[label], label), default="")
    if len({key.shape for key in keys}) > numbers.get(worst, 0):
        return {key._replace(shape=frozenset()) for key in keys}, Division(
            individual=found.individual, by_amounts=False
        )
    gone = {label for label, number in numbers.items() if number > MOST_CLASSES // 2} | {worst}
    left = {key._replace(labels=frozenset(each for each in key.labels if each[0] not in gone)) for key in keys}
    return left, Division(individual=found.individual | gone, by_amounts=found.by_amounts)


def node_class(key: Key, nodes: Mapping[str, Own]) -> NodeClass:
    """The class of nodes that share a key."""
    distinct = [*{id(own.amounts): own.amounts for own in nodes.values()}.values()]
    most: dict[str, int] = {}
    for amounts in distinct:
        for name, amount in amounts.items():
            most[name] = max(amount, most.get(name, 0))
    return NodeClass(
        labels=dict(sorted(key.labels)),
        taints=key.taints,
        nodes=nodes,
        most=most,
        frontier=tuple(_frontier(distinct, sorted(most))),
        example=min(nodes),
    )


def _frontier(distinct: Iterable[Amounts], names: list[str]) -> list[Amounts]:
    found: list[Amounts] = []
    # In this order, a later vector never exceeds an earlier one.
    for amounts in sorted(distinct, key=lambda each: [each.get(name, 0) for name in names], reverse=True):
        below = len(found) <= _LONG and any(
            all(other.get(name, 0) >= amount for name, amount in amounts.items()) for other in found
        )
        if not below:
            found.append(amounts)
    return found


def _rounded(amounts: Amounts) -> Iterable[tuple[str, int]]:
    for name, amount in amounts.items():
        dropped = max(0, amount.bit_length() - _BITS) if name in _ROUNDED else 0
        yield name, amount >> dropped << dropped
