"""The nodes of a cluster as the scheduler sees them, kept in classes of equal nodes while nodes come and go.

Temporary states are left out: cordons, and the taints of Kubernetes itself, of autoscalers and of starting agents. A
node with seven healthy GPUs of eight counts as a node with eight.

Labels that differ from node to node (`kubernetes.io/hostname`, the name of a host in a rack) would make a class of each
node. They are kept beside the classes, in an index by value, so that selectors on them still get exact answers.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from sys import intern
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher import errors, memo, paths, quantities
from usher.accelerators.names import HAMI_REGISTER
from usher.model.placement import GUARDING, NodeTaint

Amounts = Mapping[str, int]
"""Amounts by resource, as the scheduler counts: thousandths of a cpu, whole units of the rest. Missing means 0."""

PODS: Final = "pods"
"""The resource that counts the pods of a node."""

_MOMENTARY_TAINT: Final = memo.pattern(
    # k8s.io/api core/v1 well_known_taints.go, k8s.io/cloud-provider api/well_known_taints.go
    r"node\.kubernetes\.io/|node\.cloudprovider\.kubernetes\.io/"
    # kubernetes/autoscaler cluster-autoscaler/utils/taints/taints.go
    r"|ToBeDeletedByClusterAutoscaler$|(?:startup|status|ignore)-taint\.cluster-autoscaler\.kubernetes\.io/"
    # kubernetes-sigs/karpenter pkg/apis/v1/taints.go
    r"|karpenter\.sh/(?:disrupted|disruption|unregistered)$"
    # Cilium and the CSI drivers of AWS remove theirs once they run on the node.
    r"|[^/]*/agent-not-ready$"
)


Taint = NodeTaint


class Node(Struct, frozen=True, kw_only=True):
    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    """The lasting taints that keep pods off, sorted."""
    amounts: Amounts
    """The most that pods can be given, DaemonSets included."""


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    pass


def scheduler_amount(resource: str, quantity: quantities.Quantity) -> int:
    """A quantity as the scheduler counts it (k8s.io/kubernetes pkg/scheduler/framework types.go, Resource.Add)."""
    return quantity.milli if resource == "cpu" else quantity.value


def name_of(value: paths.Object) -> str:
    """The name of an object; empty where the name is missing."""
    return paths.text(paths.metadata(value).get("name"))


def read_node(value: paths.Object) -> Node | str:
    """The node, or the reason why it cannot be read; usher concludes nothing from an unreadable node."""
    try:
        metadata, spec, status = (_mapping(value.get(key), key) for key in ("metadata", "spec", "status"))
        return Node(
            name=name_of(value),
            labels={
                **_labels(metadata.get("labels")),
                **_registered(metadata.get("annotations")),
                **_virtual(metadata.get("annotations")),
            },
            taints=_taints(spec.get("taints")),
            amounts=_amounts(status),
        )
    except _Unreadable as error:
        return str(error)


def _system(value: paths.Object) -> Mapping[str, paths.Json]:
    """The version of the kubelet of a node, `v1.34` or `v1.34+k3s`, and the name of its system."""
    info = paths.mapping(paths.mapping(value.get("status")).get("nodeInfo"))
    found = _VERSION.match(paths.text(info.get("kubeletVersion")))
    version = "".join(filter(None, found.groups())) if found else ""
    texts = {"kubeletVersion": version, "osImage": paths.text(info.get("osImage"))[:40]}
    return {key: intern(text) for key, text in texts.items() if text}


_VERSION: Final = memo.pattern(r"(v\d{1,3}\.\d{1,3})(?:[\w.-]{0,40}(\+(?:k3s|rke2|k0s)))?")


def _labels(value: paths.Json) -> dict[str, str]:
    found = _mapping(value, "metadata.labels")
    for key, text in found.items():
        if not isinstance(text, str):
            raise _Unreadable(f"its label {key} is not a text")
    return {key: text for key, text in found.items() if isinstance(text, str)}


REGISTERED: Final = "gpu-usher.io/boards-of-hami"
"""A label that usher itself adds to nodes with devices that HAMi has registered: the number of NVIDIA's boards."""

REGISTERED_MEMORY: Final = "gpu-usher.io/memory-of-hami"
"""As REGISTERED: the memory of the largest of these boards in MiB."""

VIRTUAL: Final = "gpu-usher.io/boards-of-volcano"
"""A label that usher itself adds to nodes whose boards Volcano divides: their number."""

VIRTUAL_MEMORY: Final = "gpu-usher.io/memory-of-volcano"
"""As VIRTUAL: the memory of the largest of these boards in MiB."""

REGISTERS: Final = ("hami.io/node-nvidia-register", "4pd.io/node-nvidia-register")
"""Annotations in which HAMi lists the boards of a node: JSON, before version 2.5 texts with a colon behind each
(HAMi:pkg/device/nvidia/device.go, HAMi:pkg/util/util.go DecodeNodeDevices).
"""
_LONGEST_REGISTER: Final = 65536

VOLCANO_REGISTER: Final = "volcano.sh/node-vgpu-register"
"""The annotation in which Volcano's device plugin lists the boards of a node, with colons between them
(volcano-sh/volcano pkg/scheduler/api/devices/nvidia/vgpu/utils.go, decodeNodeDevices).
"""


def boards_of_volcano(annotations: Mapping[str, str]) -> list[int]:
    """The memory in MiB of each board of a node that Volcano divides into virtual GPUs; 0 where it is not said."""
    boards = (each.split(",") for each in annotations.get(VOLCANO_REGISTER, "")[:_LONGEST_REGISTER].split(":"))
    return [_mebibytes(each[2] if len(each) > _MEMORY else "") for each in boards if len(each) > 1]


def registered_boards(annotations: Mapping[str, str]) -> list[int]:
    """The memory in MiB of each board that HAMi offers many times on a node; empty on a node without HAMi."""
    text = next((annotations[key] for key in REGISTERS if annotations.get(key)), "")[:_LONGEST_REGISTER]
    if not text.startswith("["):
        boards = (each.split(",") for each in text.split(":"))
        return [_mebibytes(each[_MEMORY]) for each in boards if len(each) >= _FIELDS_OF_BOARD]
    try:
        listed = json.loads(text)
    except ValueError:
        return []
    return [_mebibytes(paths.mapping(each).get("devmem")) for each in listed] if isinstance(listed, list) else []


def _mebibytes(value: object) -> int:
    return int(str(value)) if re.fullmatch(r"\d{1,12}", str(value), re.ASCII) else 0


_MEMORY: Final = 2
"""The index of the memory of a board in the text of a register."""


_FIELDS_OF_BOARD: Final = 6
"""The id, how often it is offered, memory, cores, type and NUMA node of a board; newer versions have more."""


def _registered(annotations: paths.Json) -> dict[str, str]:
    if not isinstance(annotations, dict | None):
        # HAMi may have registered it.
        return {REGISTERED: "0"}
    known = {key: text for key, text in paths.mapping(annotations).items() if HAMI_REGISTER.match(key)}
    texts = {key: text for key, text in known.items() if isinstance(text, str)}
    if not known:
        return {}
    boards = registered_boards(texts)
    return {REGISTERED: str(len(boards)), **({REGISTERED_MEMORY: str(max(boards))} if all(boards) and boards else {})}


def _virtual(annotations: paths.Json) -> dict[str, str]:
    text = paths.mapping(annotations).get(VOLCANO_REGISTER)
    boards = boards_of_volcano({VOLCANO_REGISTER: text}) if isinstance(text, str) else []
    known = {VIRTUAL_MEMORY: str(max(boards))} if boards and all(boards) else {}
    return {VIRTUAL: str(len(boards)), **known} if boards else {}


def _taints(value: paths.Json) -> tuple[Taint, ...]:
    if not isinstance(value, list | None):
        raise _Unreadable("spec.taints is not a list")
    found = set()
    for item in value or ():
        taint = _mapping(item, "an entry of spec.taints")
        key, text, effect = (taint.get(field) for field in ("key", "value", "effect"))
        if not isinstance(key, str) or not isinstance(text, str | None) or not isinstance(effect, str):
            raise _Unreadable("an entry of spec.taints has fields that are not texts")
        if effect in GUARDING and not _MOMENTARY_TAINT.match(key):
            found.add(Taint(key, text or "", effect))
    return tuple(sorted(found))


def _amounts(status: Mapping[str, paths.Json]) -> dict[str, int]:
    allocatable = _quantities(status.get("allocatable"), "status.allocatable")
    if not allocatable:
        raise _Unreadable("it has no status.allocatable")
    capacity = _quantities(status.get("capacity"), "status.capacity")
    for name, most in capacity.items():
        # Unhealthy devices recover, and a device plugin offers no device for a moment while it restarts.
        if "/" in name:
            allocatable[name] = max(most, allocatable.get(name, 0))
    # Zero pods is kept, because it means that no pod fits. For all other resources, missing means 0.
    return {name: most for name, most in sorted(allocatable.items()) if most > 0 or name == PODS}


def _quantities(value: paths.Json, where: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, text in _mapping(value, where).items():
        try:
            found[name] = scheduler_amount(name, quantities.parse(text))
        except errors.QuantityError as error:
            raise _Unreadable(f"{name} in {where}: {error}") from error
    return found


_EMPTY: Final[Mapping[str, paths.Json]] = MappingProxyType({})


def _mapping(value: paths.Json, where: str) -> Mapping[str, paths.Json]:
    if value is None:
        return _EMPTY
    if not isinstance(value, dict):
        raise _Unreadable(f"{where} is not an object")
    return value


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


class ClassKey(NamedTuple):
    """The labels, taints and amounts that the nodes of a class share."""

    labels: frozenset[tuple[str, str]]
    taints: tuple[Taint, ...]
    shape: frozenset[tuple[str, int]]
    """Amounts, rounded; empty if the class holds nodes of any amounts."""


class NodeClass(Struct, frozen=True, kw_only=True, eq=False):
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


class Division(Struct, frozen=True, kw_only=True):
    """How nodes are divided into classes."""

    individual: frozenset[str] = ALWAYS_INDIVIDUAL
    by_amounts: bool = True

    def divide(self, node: Node) -> tuple[ClassKey, Own]:
        """The class of a node, and its differences from the class."""
        own = {key: node.labels[key] for key in node.labels.keys() & self.individual}
        labels = frozenset((key, value) for key, value in node.labels.items() if key not in self.individual)
        shape = frozenset(_rounded(node.amounts)) if self.by_amounts else frozenset()
        return ClassKey(labels, node.taints, shape), Own(own, node.amounts)


def divide_nodes(nodes: Iterable[Node]) -> Division:
    """The division that leaves as many labels in the classes as MOST_CLASSES allow.

    Taints always divide classes, because they belong to whole pools.
    """
    found = Division()
    keys = {found.divide(node)[0] for node in nodes}
    for _ in range(_ROUNDS):
        if len(keys) <= MOST_CLASSES:
            return found
        keys, found = _coarser_division(keys, found)
    labels = [key.labels for key in keys]
    several = frozenset[tuple[str, str]]().union(*labels).difference(frozenset.intersection(*labels))
    return Division(individual=found.individual.union(key for key, _ in several), by_amounts=False)


def _coarser_division(keys: set[ClassKey], found: Division) -> tuple[set[ClassKey], Division]:
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


def node_class(key: ClassKey, nodes: Mapping[str, Own]) -> NodeClass:
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


_Index = Mapping[str, Mapping[str, frozenset[str]]]


class Nodes(Struct, frozen=True, kw_only=True, eq=False):
    """The nodes at one moment; this value never changes."""

    classes: tuple[NodeClass, ...] = ()
    """Sorted by their examples."""
    by_name: Mapping[str, NodeClass] = field(default_factory=dict)
    individual: _Index = field(default_factory=dict)
    """Names of nodes by individual label and value. A label that no node has may be missing."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """The nodes with an unreadable field, by name, with the reason; they are in no class."""


def total(resource: str, found: Nodes) -> int:
    """The amount of a resource on all nodes together, as the scheduler counts it."""
    return sum(own.amounts.get(resource, 0) for each in found.classes for own in each.nodes.values())


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
        self.systems: Mapping[str, Mapping[str, paths.Json]] = {}
        """The kubelet and the system of each node that says them, by name."""
        self._division = Division()
        self._too_many = MOST_CLASSES
        self._keys: dict[str, ClassKey] = {}
        """The key of every node, by name."""
        self._members: dict[ClassKey, dict[str, Own]] = {}
        self._amounts: dict[frozenset[tuple[str, int]], Amounts] = {}

    def __len__(self) -> int:
        return len(self.now.by_name) + len(self.now.unreadable)

    def replace(self, values: Iterable[paths.Object]) -> None:
        """Takes all nodes of the cluster."""
        nodes, unreadable = [], {}
        by_name = {name_of(value): value for value in values}
        self.systems = {name: system for name, value in by_name.items() if (system := _system(value))}
        for name, value in by_name.items():
            found = read_node(value)
            if isinstance(found, str):
                unreadable[name] = found
            else:
                nodes.append(found)
        self._amounts.clear()
        division = divide_nodes(nodes)
        members = self._divided(division, nodes)
        if not self.known or members != self._members or unreadable != self.now.unreadable:
            self._publish(self._divided_again(division, members, unreadable))

    def put(self, value: paths.Object) -> None:
        """Takes a new or changed node."""
        name, found = name_of(value), read_node(value)
        if (system := _system(value)) != self.systems.get(name, {}):
            self.systems = {**self.systems, name: system}
        if isinstance(found, str):
            if self.now.unreadable.get(name) != found:
                self._move(name, None, unreadable={**self.now.unreadable, name: found})
            return
        key, own = self._division.divide(found)
        if self._keys.get(name) != key or self._members[key][name] != own:
            self._move(name, (key, own), unreadable=_entries_without(self.now.unreadable, name))
            if len(self._members) > self._too_many:
                nodes = [node for other in self.now.by_name if (node := self._node(other)) is not None]
                division = divide_nodes(nodes)
                self.now = self._divided_again(division, self._divided(division, nodes), self.now.unreadable)

    def remove(self, name: str) -> None:
        """Forgets a deleted node."""
        if name in self._keys or name in self.now.unreadable:
            self._move(name, None, unreadable=_entries_without(self.now.unreadable, name))

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
            "status": {
                "allocatable": allocatable,
                **({"nodeInfo": dict(system)} if (system := self.systems.get(name)) else {}),
            },
        }

    def _node(self, name: str) -> Node | None:
        found = self.now.by_name.get(name)
        if found is None:
            return None
        own = found.nodes[name]
        return Node(name=name, labels={**found.labels, **own.labels}, taints=found.taints, amounts=own.amounts)

    def _move(self, name: str, to: tuple[ClassKey, Own] | None, *, unreadable: Mapping[str, str]) -> None:
        """Moves a node from its class to another one; with `to` None, only out of its class."""
        classes = {key: self.now.by_name[next(iter(nodes))] for key, nodes in self._members.items()}
        old = self._keys.pop(name, None)
        changed = set[ClassKey]()
        index = self.now.individual
        if old is not None:
            left = dict(self._members[old])
            index = _indexed(index, name, left.pop(name).labels, there=False)
            self._members[old] = left
            changed.add(old)
        if to is not None:
            key, own = to
            key = next((each for each in (old, *self._members) if each == key), None) or _interned_key(key)
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
            classes[key] = node_class(key, nodes)
            by_name.update(dict.fromkeys(nodes, classes[key]))
        self._publish(
            Nodes(classes=_sorted_classes(classes.values()), by_name=by_name, individual=index, unreadable=unreadable)
        )

    def _divided(self, division: Division, nodes: Iterable[Node]) -> dict[ClassKey, dict[str, Own]]:
        members, kept = defaultdict[ClassKey, dict[str, Own]](dict), dict[ClassKey, ClassKey]()
        for node in nodes:
            key, own = division.divide(node)
            members[kept.setdefault(key, _interned_key(key))][node.name] = self._shared(own)
        return dict(members)

    def _divided_again(
        self, division: Division, members: dict[ClassKey, dict[str, Own]], unreadable: Mapping[str, str]
    ) -> Nodes:
        self._division, self._members = division, members
        # Where taints alone make more classes, dividing again after each change would not help.
        self._too_many = max(MOST_CLASSES, 2 * len(members))
        self._keys = {name: key for key, nodes in members.items() for name in nodes}
        classes = {key: node_class(key, nodes) for key, nodes in members.items()}
        return Nodes(
            classes=_sorted_classes(classes.values()),
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


def _sorted_classes(classes: Iterable[NodeClass]) -> tuple[NodeClass, ...]:
    return tuple(sorted(classes, key=lambda each: each.example))


def _interned_key(key: ClassKey) -> ClassKey:
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


def _entries_without(entries: Mapping[str, str], name: str) -> Mapping[str, str]:
    return {key: value for key, value in entries.items() if key != name} if name in entries else entries
