"""The nodes of a cluster, kept in classes of equal nodes while nodes come and go."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field
from sys import intern
from types import MappingProxyType
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.facts import node_classes, node_reading
from usher.facts.node_classes import MOST_CLASSES, Division, Key, NodeClass, Own
from usher.facts.node_reading import Amounts, Node

_Index = Mapping[str, Mapping[str, frozenset[str]]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """The nodes at one moment; this value never changes."""

    classes: tuple[NodeClass, ...] = ()
    """Sorted by their examples."""
    by_name: Mapping[str, NodeClass] = field(default_factory=dict)
    individual: _Index = field(default_factory=dict)
    """Names of nodes by individual label and value. A label that no node has may be missing."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """The nodes with an unreadable field, by name, with the reason; they are in no class."""


_NONE: Final[Mapping[str, frozenset[str]]] = MappingProxyType({})


class NodeTable:
    """The nodes of a cluster. One thread writes; readers use `now` and never wait.

    `known` is false before a first list.
    """

    def __init__(self) -> None:
        self.known = False
        self.revision = 0
        """Grows with every change that the scheduler would see; heartbeats do not count."""
        self.now = Nodes()
        self._division = Division()
        self._too_many = MOST_CLASSES
        self._keys: dict[str, Key] = {}
        """The key of every node, by name."""
        self._members: dict[Key, dict[str, Own]] = {}
        self._amounts: dict[frozenset[tuple[str, int]], Amounts] = {}

    def __len__(self) -> int:
        return len(self.now.by_name) + len(self.now.unreadable)

    def replace(self, values: Iterable[paths.Object]) -> None:
        """Takes all nodes of the cluster."""
        nodes, unreadable = [], {}
        for name, value in {node_reading.name_of(value): value for value in values}.items():
            found = node_reading.read(value)
            if isinstance(found, str):
                unreadable[name] = found
            else:
                nodes.append(found)
        self._amounts.clear()
        division = node_classes.division(nodes)
        members = self._divided(division, nodes)
        if not self.known or members != self._members or unreadable != self.now.unreadable:
            self._publish(self._divided_again(division, members, unreadable))

    def put(self, value: paths.Object) -> None:
        """Takes a new or changed node."""
        name, found = node_reading.name_of(value), node_reading.read(value)
        if isinstance(found, str):
            if self.now.unreadable.get(name) != found:
                self._move(name, None, unreadable={**self.now.unreadable, name: found})
            return
        key, own = self._division.divide(found)
        if self._keys.get(name) != key or self._members[key][name] != own:
            self._move(name, (key, own), unreadable=_without(self.now.unreadable, name))
            if len(self._members) > self._too_many:
                nodes = [node for other in self.now.by_name if (node := self._node(other)) is not None]
                division = node_classes.division(nodes)
                self.now = self._divided_again(division, self._divided(division, nodes), self.now.unreadable)

    def remove(self, name: str) -> None:
        """Forgets a deleted node."""
        if name in self._keys or name in self.now.unreadable:
            self._move(name, None, unreadable=_without(self.now.unreadable, name))

    def named(self, name: str) -> paths.Object | None:
        """A node as a manifest with the kept fields; an unreadable node has only its name. None for an unknown name."""
        node = self._node(name)
        if node is None:
            bare: paths.Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            return bare if name in self.now.unreadable else None
        taints: list[paths.Json] = [taint._asdict() for taint in node.taints]
        # The scheduler counts thousandths of cpus.
        allocatable: paths.Object = {
            resource: f"{amount}m" if resource == "cpu" else str(amount) for resource, amount in node.amounts.items()
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": dict(node.labels)},
            "spec": {"taints": taints},
            "status": {"allocatable": allocatable},
        }

    def _node(self, name: str) -> Node | None:
        found = self.now.by_name.get(name)
        if found is None:
            return None
        own = found.nodes[name]
        return Node(name=name, labels={**found.labels, **own.labels}, taints=found.taints, amounts=own.amounts)

    def _move(self, name: str, to: tuple[Key, Own] | None, *, unreadable: Mapping[str, str]) -> None:
        """Moves a node from its class to another one; with `to` None, only out of its class."""
        classes = {key: self.now.by_name[next(iter(nodes))] for key, nodes in self._members.items()}
        old = self._keys.pop(name, None)
        changed = set[Key]()
        index = self.now.individual
        if old is not None:
            left = dict(self._members[old])
            index = _indexed(index, name, left.pop(name).labels, there=False)
            self._members[old] = left
            changed.add(old)
        if to is not None:
            key, own = to
            key = next((each for each in (old, *self._members) if each == key), None) or _interned(key)
            self._members[key] = {**self._members.get(key, {}), name: self._shared(own)}
            self._keys[name] = key
            index = _indexed(index, name, own.labels, there=True)
            changed.add(key)
        by_name = dict(self.now.by_name)
        by_name.pop(name, None)
        for key in changed:
            nodes = self._members[key]
            if not nodes:
                del self._members[key], classes[key]
                continue
            classes[key] = node_classes.node_class(key, nodes)
            by_name.update(dict.fromkeys(nodes, classes[key]))
        self._publish(
            Nodes(classes=_ordered(classes.values()), by_name=by_name, individual=index, unreadable=unreadable)
        )

    def _divided(self, division: Division, nodes: Iterable[Node]) -> dict[Key, dict[str, Own]]:
        members, kept = defaultdict[Key, dict[str, Own]](dict), dict[Key, Key]()
        for node in nodes:
            key, own = division.divide(node)
            members[kept.setdefault(key, _interned(key))][node.name] = self._shared(own)
        return dict(members)

    def _divided_again(
        self, division: Division, members: dict[Key, dict[str, Own]], unreadable: Mapping[str, str]
    ) -> Nodes:
        self._division, self._members = division, members
        # Where taints alone make more classes, dividing again after each change would not help.
        self._too_many = max(MOST_CLASSES, 2 * len(members))
        self._keys = {name: key for key, nodes in members.items() for name in nodes}
        classes = {key: node_classes.node_class(key, nodes) for key, nodes in members.items()}
        return Nodes(
            classes=_ordered(classes.values()),
            by_name={name: classes[key] for name, key in self._keys.items()},
            individual=self._index(),
            unreadable=unreadable,
        )

    def _publish(self, nodes: Nodes) -> None:
        # The revision comes last: a value stored under the new revision must not come from the old nodes.
        self.now = nodes
        self.known = True
        self.revision += 1

    def _index(self) -> _Index:
        found: dict[str, defaultdict[str, set[str]]] = {
            key: defaultdict(set) for key in sorted(self._division.individual)
        }
        for nodes in self._members.values():
            for name, own in nodes.items():
                for key, value in own.labels.items():
                    found[key][value].add(name)
        return {key: {value: frozenset(names) for value, names in values.items()} for key, values in found.items()}

    def _shared(self, own: Own) -> Own:
        """The same value, with one object of equal amounts for all nodes: a cluster has thousands of equal nodes."""
        if len(self._amounts) > 2 * len(self._keys) + MOST_CLASSES:
            self._amounts.clear()
        amounts = self._amounts.setdefault(frozenset(own.amounts.items()), own.amounts)
        return Own(own.labels, amounts)


def _ordered(classes: Iterable[NodeClass]) -> tuple[NodeClass, ...]:
    return tuple(sorted(classes, key=lambda each: each.example))


def _interned(key: Key) -> Key:
    return key._replace(labels=frozenset((intern(label), intern(value)) for label, value in key.labels))


def _indexed(index: _Index, name: str, labels: Mapping[str, str], *, there: bool) -> _Index:
    changed = dict(index)
    for key, value in labels.items():
        values = dict(changed.get(key, _NONE))
        names = values.get(value, frozenset()) - {name}
        values[value] = names | {name} if there else names
        if not values[value]:
            del values[value]
        changed[key] = values
    return changed


def _without(entries: Mapping[str, str], name: str) -> Mapping[str, str]:
    return {key: value for key, value in entries.items() if key != name} if name in entries else entries
