"""The names of a cluster that usher.yaml can use: its queues, classes, namespaces and pools."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from usher import paths
from usher.accelerators import vocabulary as accelerators_vocabulary
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority
from usher.cluster.facts import node_pools
from usher.cluster.facts.node_pools import FoundPool
from usher.cluster.facts.nodes import NodeClass, Nodes
from usher.cluster.facts.store import Store
from usher.config import pools as config_pools
from usher.config import sections
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence

NAMESPACE: Final[Key] = ("", "Namespace")
LOCAL_QUEUE: Final[Key] = ("kueue.x-k8s.io", "LocalQueue")
WORKLOAD_CLASS: Final[Key] = priority.QUEUE_PRIORITY_CLASS
PRIORITY_CLASS: Final[Key] = priority.PRIORITY_CLASS
VOLCANO_QUEUE: Final[Key] = ("scheduling.volcano.sh", "Queue")
DEVICE_CLASS: Final[Key] = ("resource.k8s.io", "DeviceClass")

_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*["']([a-z0-9][-a-z0-9.]{0,252})["']""", re.ASCII)


class LocalQueue(Struct, frozen=True, kw_only=True):
    """A queue of Kueue in a namespace."""

    namespace: str
    name: str


def is_object_name(text: str) -> bool:
    """Whether a text can be the name of an object; a file may hold any text."""
    return _NAME.fullmatch(text) is not None


def object_names(facts: Store, kind: Key) -> list[str] | None:
    """The names of all objects of a kind, in order; None where the kind is unknown."""
    found = facts.names(*kind)
    return None if found is None else sorted(name for name in found if is_object_name(name))


def local_queues(facts: Store) -> list[LocalQueue] | None:
    """All LocalQueues, by namespace and name; None where they are unknown."""
    if not facts.knows(*LOCAL_QUEUE):
        return None
    spaces = facts.namespaces(*LOCAL_QUEUE)
    found = (
        LocalQueue(namespace=space, name=name)
        for space in spaces
        for name in _objects(facts, LOCAL_QUEUE, space)
        if is_object_name(space) and is_object_name(name)
    )
    return sorted(found, key=lambda each: (each.namespace, each.name))


def unknown_device_classes(facts: Store, vocabulary: Vocabulary) -> dict[str, sections.DeviceClass]:
    """Declarations for DeviceClasses that usher does not know by name, by the known devices of their drivers."""
    return dict(_device_classes(facts, vocabulary))


def _device_classes(facts: Store, vocabulary: Vocabulary) -> Iterator[tuple[str, sections.DeviceClass]]:
    for name, value in sorted(_objects(facts, DEVICE_CLASS).items()):
        if not is_object_name(name) or vocabulary.device_class(name) is not None:
            continue
        expressions = list(_expressions(value.get("spec")))
        drivers = {driver for text in expressions for driver in _DRIVER.findall(text)}
        accelerator = vocabulary.driver(min(drivers)) if len(drivers) == 1 else None
        if accelerator is None:
            continue
        # Further conditions may select slices of devices, which have no resource.
        every = accelerator and len(expressions) == 1 and _DRIVER.fullmatch(expressions[0].strip())
        resource = accelerators_vocabulary.meaning_of_class(min(drivers)).resource if every else None
        yield name, sections.DeviceClass(accelerator=accelerator, resource=resource)


def _expressions(spec: paths.Json) -> Iterator[str]:
    selectors = spec.get("selectors") if isinstance(spec, dict) else None
    for each in selectors if isinstance(selectors, list) else ():
        cel = each.get("cel") if isinstance(each, dict) else None
        text = cel.get("expression") if isinstance(cel, dict) else None
        # A selector that narrows a driver down selects devices of this driver alone.
        if isinstance(text, str) and "||" not in text:
            yield text


def _objects(facts: Store, kind: Key, namespace: str = "") -> Mapping[str, paths.Object]:
    found = facts.objects(*kind, namespace)
    return {} if isinstance(found, Absence) else found


_COUNTS: Final = ("nvidia.com/gpu.count", "nvidia.com/mig.config", "nvidia.com/gpu.present")
"""Labels that may separate pools where models and machines do not."""


class Declaration(Struct, frozen=True, kw_only=True):
    """A pool for usher.yaml."""

    pool: config_pools.Pool
    found: FoundPool
    refusal: str = ""
    """Why the file should only suggest the pool; empty for a pool to declare."""
    shared_with: tuple[str, ...] = ()
    """Other pools that have the same labels."""


def declarations(nodes: Nodes, vocabulary: Vocabulary) -> list[Declaration]:
    """The pools of the current nodes, in order of their names."""
    found = node_pools.found_pools(nodes, vocabulary)
    members = {id(each) for pool in found for each in pool.classes}
    ordinary = [each for each in nodes.classes if id(each) not in members]
    return [_declaration(each, found, ordinary, vocabulary) for each in found]


def _declaration(
    found: FoundPool, pools: Sequence[FoundPool], ordinary: Sequence[NodeClass], vocabulary: Vocabulary
) -> Declaration:
    others = [pool for pool in pools if pool is not found]
    # Pods of a pool cannot enter reserved nodes, whatever labels these have.
    open_pools = [pool for pool in others if not _reserving(pool, vocabulary)]
    selector = _selector(found, open_pools, ordinary)
    reserving = _reserving(found, vocabulary)
    refusal = ""
    if selector is None:
        refusal = "no label separates its nodes from nodes without accelerators: label the nodes, and select the label"
    elif reserving:
        key = reserving[0].key
        refusal = f"the taint {key} reserves its nodes; declare the pool if its users need it"
    chosen = found.pool.node_selector if selector is None else selector
    return Declaration(
        pool=found.pool.model_copy(update={"node_selector": chosen}),
        found=found,
        refusal=refusal,
        shared_with=tuple(pool.pool.name for pool in others if _has(pool.labels, chosen)),
    )


def _reserving(found: FoundPool, vocabulary: Vocabulary) -> list[config_pools.Taint]:
    """The taints of a pool that keep its nodes for some pods with accelerators."""
    return [taint for taint in found.pool.taints if not vocabulary.marks_accelerators(taint.key, taint.value)]


def _selector(found: FoundPool, others: Sequence[FoundPool], ordinary: Sequence[NodeClass]) -> dict[str, str] | None:
    """Labels that separate the nodes of a pool from all others, or at least from nodes without accelerators."""
    outside = [each.labels for pool in others for each in pool.classes]
    plain = [each.labels for each in ordinary]
    separating = None
    for labels in _choices(found):
        if any(_has(each, labels) for each in plain):
            continue
        if not any(_has(each, labels) for each in outside):
            return labels
        separating = separating or labels
    return separating


def _choices(found: FoundPool) -> Iterator[dict[str, str]]:
    """Sets of labels to try, the best first.

    An autoscaler knows the labels of a service before a node exists, but not those that operators write afterwards.
    """
    labels = found.labels
    managed = node_pools.managed_pool_label(labels)
    if managed is not None:
        first = dict([managed, *_existing(labels, node_pools.TEMPLATE_DEVICES)])
        if managed[0] in node_pools.KARPENTER:
            yield dict([managed])
            return
    else:
        first = node_pools.device_labels(labels)
    if first:
        yield first
    own = [key for key in sorted(labels) if "/" not in key]
    for extra in (*node_pools.MACHINE_LABELS, *node_pools.BOOTED_DEVICES, *own, *_COUNTS):
        if extra in labels and extra not in first:
            yield {**first, extra: labels[extra]}


def _existing(labels: Mapping[str, str], keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((key, labels[key]) for key in keys if labels.get(key))


def _has(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())
