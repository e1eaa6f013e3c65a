"""Where usher.yaml differs from a cluster."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from usher.accelerators import boards
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority
from usher.cluster.facts import node_pools
from usher.cluster.facts.nodes import NodeClass, Nodes, Taint
from usher.cluster.facts.store import Store
from usher.config import models, sections, selection
from usher.config import pools as config_pools
from usher.install import discovery
from usher.kinds.kind import Key

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and the difference there."""

_NAMED: Final = 3
"""How many namespaces a difference names."""


def pool_differences(pools: Sequence[config_pools.Pool], nodes: Nodes, vocabulary: Vocabulary) -> Iterator[Problem]:
    """The differences, each with its JSON Pointer into usher.yaml."""
    for index, pool in enumerate(pools):
        its = [each for each in nodes.classes if _is_of(pool, each)]
        yield from ((f"/pools/{index}{key}", text) for key, text in _of_pool(pool, its, vocabulary))
    for declaration in discovery.declarations(nodes, vocabulary):
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
        discovery.LOCAL_QUEUE: bool(config.queues),
        discovery.WORKLOAD_CLASS: any(queue.priority_class for queue in config.queues),
        discovery.PRIORITY_CLASS: bool(config.priorities.classes or config.priorities.global_default),
        discovery.VOLCANO_QUEUE: any(route.scheduler == "volcano" for route in config.routing),
        discovery.DEVICE_CLASS: bool(config.accelerators.device_classes),
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
    there = discovery.object_names(facts, discovery.DEVICE_CLASS)
    for name in config.accelerators.device_classes:
        if there is not None and name not in there:
            yield f"/accelerators/deviceClasses/{name}", f"the cluster has no DeviceClass {name}"
    for name in discovery.unknown_device_classes(facts, vocabulary):
        yield "/accelerators", f"DeviceClass {name} of the cluster has a known driver, but is missing in deviceClasses"


def _of_queues(config: models.Config, facts: Store) -> Iterator[Problem]:
    found = discovery.local_queues(facts)
    there = {(each.namespace, each.name) for each in found or ()}
    namespaces = discovery.object_names(facts, discovery.NAMESPACE)
    for index, queue in enumerate(config.queues):
        if found is not None:
            matching = _namespaces(queue, config, namespaces)
            without = [name for name in matching if (name, queue.local_queue) not in there]
            if without:
                yield f"/queues/{index}/localQueue", f"there is no LocalQueue {queue.local_queue} in {_list(without)}"
        if queue.priority_class is not None:
            yield from _missing(facts, discovery.WORKLOAD_CLASS, queue.priority_class, f"/queues/{index}/priorityClass")


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
            yield from _missing(facts, discovery.VOLCANO_QUEUE, route.queue, f"/routing/{index}/queue")


def _of_priorities(config: models.Config, facts: Store) -> Iterator[Problem]:
    for index, rule in enumerate(config.priorities.classes):
        pointer = f"/priorities/classes/{index}/priorityClass"
        yield from _missing(facts, discovery.PRIORITY_CLASS, rule.priority_class, pointer)
    declared = config.priorities.global_default
    there = priority.default_class(facts)
    if there is not None and declared is not None and declared != there.name:
        actual = f"the cluster's is {there.name}" if there.name else "no class of the cluster has globalDefault"
        yield "/priorities/globalDefault", f"{declared} is not the default PriorityClass: {actual}"


def _missing(facts: Store, kind: Key, name: str, pointer: str) -> Iterator[Problem]:
    there = discovery.object_names(facts, kind)
    if there is not None and name not in there:
        yield pointer, f"the cluster has no {_title(kind)} {name}"


def _title(kind: Key) -> str:
    return "Queue of Volcano" if kind == discovery.VOLCANO_QUEUE else kind[1]


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    kind = "namespace" if len(names) == 1 else "namespaces"
    return f"{kind} {', '.join(names[:_NAMED])}{more}"
