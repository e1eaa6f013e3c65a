"""Finds the parts of a cluster for usher.yaml, and the differences between a cluster and an existing usher.yaml."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from usher import paths
from usher.accelerators import boards
from usher.accelerators import vocabulary as accelerators_vocabulary
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority
from usher.cluster.facts import node_pools
from usher.cluster.facts.node_pools import FoundPool
from usher.cluster.facts.nodes import NodeClass, Nodes, Taint
from usher.cluster.facts.store import Store
from usher.config import models, sections, selection
from usher.config import pools as config_pools
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
    for each in paths.elements(paths.mapping(spec).get("selectors")):
        text = paths.mapping(paths.mapping(each).get("cel")).get("expression")
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


Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and the difference there."""

_NAMED: Final = 3
"""How many namespaces a difference names."""


def pool_differences(pools: Sequence[config_pools.Pool], nodes: Nodes, vocabulary: Vocabulary) -> Iterator[Problem]:
    """The differences, each with its JSON Pointer into usher.yaml."""
    for index, pool in enumerate(pools):
        its = [each for each in nodes.classes if _is_of(pool, each)]
        yield from ((f"/pools/{index}{key}", text) for key, text in _of_pool(pool, its, vocabulary))
    for declaration in declarations(nodes, vocabulary):
        outside = [each for each in declaration.found.classes if not any(_is_of(pool, each) for pool in pools)]
        if outside and not declaration.refusal:
            offered = ", ".join(declaration.pool.resources)
            yield "/pools", f"no pool declares {_nodes(outside)}, with {offered}"


def _is_of(pool: config_pools.Pool, nodes: NodeClass) -> bool:
    own = nodes.nodes[nodes.example].labels
    return all(nodes.labels.get(key, own.get(key)) == value for key, value in pool.node_selector.items())


def _of_pool(pool: config_pools.Pool, its: Sequence[NodeClass], vocabulary: Vocabulary) -> Iterator[Problem]:
    if not its:
        if not pool.scales:
            yield (
                "/nodeSelector",
                f"no node has the labels of pool {pool.name}; if an autoscaler adds them, set scalesFromZero",
            )
        return
    yield from _of_taints(pool, its, vocabulary)
    yield from _of_resources(pool, its, vocabulary)
    if pool.gpu is not None:
        yield from _of_gpus(pool.gpu, its, vocabulary)


def _of_taints(pool: config_pools.Pool, its: Sequence[NodeClass], vocabulary: Vocabulary) -> Iterator[Problem]:
    declared = {Taint(taint.key, taint.value, taint.effect) for taint in pool.taints}
    there = {taint for each in its for taint in each.taints}
    for taint in sorted(there - declared):
        having = [each for each in its if taint in each.taints]
        # A reserved node among the nodes of a pool is not open to the pods of the pool.
        if len(having) == len(its) or vocabulary.marks_accelerators(taint.key, taint.value):
            yield "/taints", f"{_nodes(having)} have the taint {taint}, which pool {pool.name} does not declare"
    for index, declared_taint in enumerate(pool.taints):
        taint = Taint(declared_taint.key, declared_taint.value, declared_taint.effect)
        # The facts do not contain preferences, because preferences do not keep pods off.
        if taint not in there and declared_taint.effect != "PreferNoSchedule":
            yield f"/taints/{index}", f"no node of pool {pool.name} has the taint {taint}"


def _of_resources(pool: config_pools.Pool, its: Sequence[NodeClass], vocabulary: Vocabulary) -> Iterator[Problem]:
    offered = {name for each in its for name in each.most if vocabulary.contains(name)}
    for index, name in enumerate(pool.resources):
        if name not in offered:
            yield f"/resources/{index}", f"no node of pool {pool.name} offers {name}"
    for name in sorted(offered.difference(pool.resources)):
        having = [each for each in its if name in each.most]
        yield "/resources", f"{_nodes(having)} offer {name}, which pool {pool.name} does not declare"


def _of_gpus(gpu: config_pools.Gpus, its: Sequence[NodeClass], vocabulary: Vocabulary) -> Iterator[Problem]:
    products = {each.labels.get(boards.PRODUCT_LABEL, "") for each in its}
    known = {found.board.name for product in products if (found := boards.by_product(product)) is not None}
    declared = None if gpu.board is None else boards.by_name(gpu.board)
    others = sorted(known - {"" if declared is None else declared.name})
    if gpu.board is not None and others:
        yield "/gpu/board", f"the nodes have {', '.join(others)}, and usher.yaml says {gpu.board}"
    classes = Nodes(classes=tuple(its))
    numbers = {each.pool.gpu.per_node for each in node_pools.found_pools(classes, vocabulary) if each.pool.gpu}
    if numbers and gpu.per_node not in numbers:
        there = " or ".join(map(str, sorted(numbers)))
        yield "/gpu/perNode", f"a node has {there} GPUs, and usher.yaml says {gpu.per_node}"


def _nodes(classes: Sequence[NodeClass]) -> str:
    number, example = sum(each.count for each in classes), min(each.example for each in classes)
    return f"the nodes like {example} ({number:,})"


class Comparison(Struct, frozen=True, kw_only=True):
    """The differences, and the kinds that could not be compared."""

    differences: tuple[Problem, ...]
    unknown: tuple[str, ...] = field(default=())
    """The kinds whose objects usher does not know but needs for the comparison."""


def compare(config: models.Config, facts: Store) -> Comparison:
    """Compares usher.yaml with a cluster: pools, queues, classes."""
    needed: dict[Key, bool] = {
        ("", "Node"): True,
        LOCAL_QUEUE: bool(config.queues),
        WORKLOAD_CLASS: any(queue.priority_class for queue in config.queues),
        PRIORITY_CLASS: bool(config.priorities.classes or config.priorities.global_default),
        VOLCANO_QUEUE: any(route.scheduler == "volcano" for route in config.routing),
        DEVICE_CLASS: bool(config.accelerators.device_classes),
    }
    unknown = tuple(_title(kind) for kind, is_needed in needed.items() if is_needed and not facts.knows(*kind))
    return Comparison(differences=tuple(_differences(config, facts)), unknown=unknown)


def _differences(config: models.Config, facts: Store) -> Iterator[Problem]:
    vocabulary = Vocabulary(config.accelerators)
    if facts.nodes.known:
        yield from pool_differences(config.pools, facts.nodes.now, vocabulary)
    yield from _of_device_classes(config, facts, vocabulary)
    yield from _of_queues(config, facts)
    yield from _of_routing(config, facts)
    yield from _of_priorities(config, facts)


def _of_device_classes(config: models.Config, facts: Store, vocabulary: Vocabulary) -> Iterator[Problem]:
    there = object_names(facts, DEVICE_CLASS)
    for name in config.accelerators.device_classes:
        if there is not None and name not in there:
            yield f"/accelerators/deviceClasses/{name}", f"the cluster has no DeviceClass {name}"
    for name in unknown_device_classes(facts, vocabulary):
        yield "/accelerators", f"DeviceClass {name} of the cluster has a known driver, but is missing in deviceClasses"


def _of_queues(config: models.Config, facts: Store) -> Iterator[Problem]:
    found = local_queues(facts)
    there = {(each.namespace, each.name) for each in found or ()}
    namespaces = object_names(facts, NAMESPACE)
    for index, queue in enumerate(config.queues):
        if found is not None:
            matching = _namespaces(queue, config, namespaces)
            without = [name for name in matching if (name, queue.local_queue) not in there]
            if without:
                yield f"/queues/{index}/localQueue", f"there is no LocalQueue {queue.local_queue} in {_list(without)}"
        if queue.priority_class is not None:
            yield from _missing(facts, WORKLOAD_CLASS, queue.priority_class, f"/queues/{index}/priorityClass")


def _namespaces(queue: sections.Queue, config: models.Config, known: list[str] | None) -> list[str]:
    """The namespaces of an entry: those of the cluster that match, or those that it names where they are unknown."""
    if known is None:
        return [name for name in queue.namespaces if "*" not in name]
    return [
        name
        for name in known
        if selection.matches_pattern(name, queue.namespaces)
        and not selection.matches_pattern(name, config.exempt_namespaces)
    ]


def _of_routing(config: models.Config, facts: Store) -> Iterator[Problem]:
    for index, route in enumerate(config.routing):
        if route.scheduler == "volcano":
            yield from _missing(facts, VOLCANO_QUEUE, route.queue, f"/routing/{index}/queue")


def _of_priorities(config: models.Config, facts: Store) -> Iterator[Problem]:
    for index, rule in enumerate(config.priorities.classes):
        pointer = f"/priorities/classes/{index}/priorityClass"
        yield from _missing(facts, PRIORITY_CLASS, rule.priority_class, pointer)
    declared = config.priorities.global_default
    there = priority.default_class(facts)
    if there is not None and declared is not None and declared != there.name:
        actual = f"the cluster's is {there.name}" if there.name else "no class of the cluster has globalDefault"
        yield "/priorities/globalDefault", f"{declared} is not the default PriorityClass: {actual}"


def _missing(facts: Store, kind: Key, name: str, pointer: str) -> Iterator[Problem]:
    there = object_names(facts, kind)
    if there is not None and name not in there:
        yield pointer, f"the cluster has no {_title(kind)} {name}"


def _title(kind: Key) -> str:
    return "Queue of Volcano" if kind == VOLCANO_QUEUE else kind[1]


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    kind = "namespace" if len(names) == 1 else "namespaces"
    return f"{kind} {', '.join(names[:_NAMED])}{more}"
