"""The section `pools` of a new usher.yaml."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usher.accelerators import boards
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts import node_pools
from usher.config import pools
from usher.discovery import fabrics
from usher.discovery.pools import Declaration
from usher.discovery.yaml_text import commented, flow, scalar, shown

_ABOUT: Final = (
    "# Node pools: how to recognise their nodes, and what a pod needs to run there. usher found them by their labels,",
    "# taints and devices. A pool that has no node now is not here: declare it with scalesFromZero and allocatable.",
)


def section(declarations: Sequence[Declaration], vocabulary: Vocabulary) -> Iterator[str]:
    """The lines of the section; pools that usher should not declare are comments."""
    yield from _ABOUT
    ready = [each for each in declarations if not each.refusal]
    yield "pools:" if ready else "pools: []"
    for each in ready:
        yield from (f"  {line}" for line in _pool(each, vocabulary))
    for each in declarations:
        if each.refusal:
            yield f"  # Not declared: {each.refusal}."
            yield from (f"  {line}" for line in commented(list(_pool(each, vocabulary))))


def _pool(declaration: Declaration, vocabulary: Vocabulary) -> Iterator[str]:
    pool, found = declaration.pool, declaration.found
    number = "1 node" if found.nodes == 1 else f"{found.nodes:,} nodes"
    yield f"# {number}: {shown(found.example)}" + ("" if found.nodes == 1 else " and others")
    if declaration.shared_with:
        yield f"# Nodes of {', '.join(declaration.shared_with)} have these labels as well."
    yield f"- name: {scalar(pool.name)}"
    yield "  nodeSelector:"
    yield from (f"    {scalar(key)}: {scalar(value)}" for key, value in pool.node_selector.items())
    if pool.taints:
        yield "  taints:"
        yield from (f"    - {flow(_taint(taint))}" for taint in pool.taints)
    yield f"  resources: {flow(pool.resources)}"
    if pool.gpu is not None:
        yield from _gpus(pool.gpu, found.labels.get(boards.PRODUCT_LABEL, ""), found.labels.get(node_pools.NUMA, ""))
    yield from _networks(declaration, vocabulary)
    yield from _scaling(declaration)


def _taint(taint: pools.Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def _gpus(gpu: pools.Gpus, product: str, numa: str) -> Iterator[str]:
    board = {"board": gpu.board} if gpu.board is not None else {}
    strategy = {"migStrategy": gpu.mig_strategy} if gpu.mig_strategy != "none" else {}
    if product and not board:
        yield f"  # MIG cannot divide {shown(product)}, or usher does not know its board."
    yield f"  gpu: {flow({**board, 'perNode': gpu.per_node, **strategy})}"
    if numa == "true":
        yield "  # Its machines have several NUMA nodes. Add perNumaNode to gpu if the kubelets' Topology Manager has"
        yield "  # the policy single-numa-node; nodes do not show it."


def _networks(declaration: Declaration, vocabulary: Vocabulary) -> Iterator[str]:
    found = declaration.found
    names = node_pools.network_devices((name for each in found.classes for name in each.most), vocabulary)
    name = fabrics.suggested(names, found.labels)
    if names:
        yield f"  # Network devices of its nodes: {', '.join(map(shown, names))}."
    if names and not name:
        yield "  # See docs/fabrics.md for the profile that fits them, and name it as fabric."
    if name:
        yield "  # Uncomment it if the pods should get the settings of this network (docs/fabrics.md)."
        yield f"  # fabric: {name}"


def _scaling(declaration: Declaration) -> Iterator[str]:
    pool, key = declaration.pool, declaration.found.managed
    if pool.scales_from_zero:
        yield "  # Karpenter chooses a machine type for each node, so a node may have any amount of each resource."
        yield "  scalesFromZero: true"
    yield f"  allocatable: {flow(pool.allocatable)}"
    if key and not pool.scales_from_zero:
        yield "  # scalesFromZero: true    # if an autoscaler adds nodes; set maxNodes too"
    elif not key:
        yield "  # scalesFromZero: false   # if no autoscaler adds nodes: then usher can say that a gang never fits"


def may_scale(declarations: Iterable[Declaration]) -> bool:
    """Whether an autoscaler may add nodes or pools: a service or Karpenter manages the nodes."""
    return any(each.found.managed for each in declarations)
