"""Where the pools of usher.yaml differ from the nodes of a cluster."""

from collections.abc import Iterator, Sequence

from usher.accelerators import boards
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts import node_pools
from usher.cluster.facts.nodes import NodeClass, Nodes, Taint
from usher.config import pools as config_pools
from usher.discovery import pools as discovery_pools

Problem = tuple[str, str]


def of(pools: Sequence[config_pools.Pool], nodes: Nodes, vocabulary: Vocabulary) -> Iterator[Problem]:
    """The differences, each with its JSON Pointer into usher.yaml."""
    for index, pool in enumerate(pools):
        its = [each for each in nodes.classes if _is_of(pool, each)]
        yield from ((f"/pools/{index}{key}", text) for key, text in _of_pool(pool, its, vocabulary))
    for declaration in discovery_pools.declarations(nodes, vocabulary):
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
