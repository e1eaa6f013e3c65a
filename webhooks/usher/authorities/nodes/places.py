"""Places where pods may run: classes of existing nodes, and declared pools that an autoscaler fills."""

from collections.abc import Iterator, Mapping, Sequence

from usher import quantities
from usher.accelerators import boards
from usher.accelerators.mig import MIG_RESOURCE_PREFIX, Board
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.nodes import pool_amounts
from usher.cluster.facts.nodes import Amounts, NodeClass, Nodes, Taint, scheduler_amount
from usher.config import pools as config_pools
from usher.dataclass import dataclass
from usher.model import placement
from usher.model.placement import Requirement


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeTemplate:
    """The nodes that an autoscaler adds to a pool."""

    resources: frozenset[str]
    """The accelerators that the nodes offer; they offer no others."""
    vocabulary: Vocabulary
    board: Board | None
    """The board of their `gpus` GPUs, if the node divides it when pods ask for slices."""
    gpus: int

    def offers(self, resource: str) -> bool:
        """Whether a node may have a resource that its amounts do not name."""
        return resource in self.resources or not self.vocabulary.contains(resource)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    name: str
    """The name in messages: `pool h100`, `nodes like gpu-0`."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    frontier: tuple[Amounts, ...]
    """The frontier, as in a class of nodes."""
    nodes: NodeClass | None = None
    """None for nodes that do not exist yet."""
    template: NodeTemplate | None = None
    """For nodes that do not exist yet; `labels` holds some of their future labels."""
    pool: config_pools.Pool | None = None
    """The declared pool of the nodes."""

    @property
    def may_never_be(self) -> bool:
        """Whether the place has no node, and usher.yaml does not say that an autoscaler adds one."""
        return self.template is not None and self.pool is not None and not self.pool.scales


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """All places of a cluster at one moment, for one usher.yaml."""

    nodes: Nodes
    all: tuple[Place, ...]

    def any_meets(self, wanted: Requirement) -> bool:
        """Whether some nodes meet a requirement on labels."""
        individual = self.nodes.individual.get(wanted.key)
        if individual is not None:
            return any(placement.labels_match(wanted, {wanted.key: value}) for value in individual)
        return any(placement.labels_match(wanted, place.labels) for place in self.all)


def of_cluster(nodes: Nodes, pools: Sequence[config_pools.Pool], vocabulary: Vocabulary) -> Places:
    """The places of a cluster."""
    there = [_of_class(each, _pool_of(each, pools)) for each in nodes.classes]
    empty = {pool.name for pool in pools}.difference(place.pool.name for place in there if place.pool is not None)
    return Places(nodes=nodes, all=(*there, *_of_pools(pools, empty, vocabulary)))


def _of_pools(pools: Sequence[config_pools.Pool], empty: set[str], vocabulary: Vocabulary) -> Iterator[Place]:
    for pool in pools:
        described = bool(pool.allocatable) or pool.gpu is not None
        # Existing nodes describe a pool that usher.yaml does not describe.
        counts = pool.scales_from_zero is not False if pool.name in empty else pool.scales and described
        if counts:
            yield _of_pool(pool, vocabulary)


def _of_class(nodes: NodeClass, pool: config_pools.Pool | None) -> Place:
    return Place(
        name=f"pool {pool.name}" if pool is not None else f"nodes like {nodes.example}",
        labels=nodes.labels,
        taints=nodes.taints,
        frontier=nodes.frontier,
        nodes=nodes,
        pool=pool,
    )


def _pool_of(nodes: NodeClass, pools: Sequence[config_pools.Pool]) -> config_pools.Pool | None:
    own = nodes.nodes[nodes.example].labels
    for pool in pools:
        if all(nodes.labels.get(key, own.get(key)) == value for key, value in pool.node_selector.items()):
            return pool
    return None


def _of_pool(pool: config_pools.Pool, vocabulary: Vocabulary) -> Place:
    amounts = {name: scheduler_amount(name, quantities.parse(text)) for name, text in pool.allocatable.items()}
    board = None
    if pool.gpu is not None:
        if (gpus := pool_amounts.gpus(pool)) is not None:
            amounts.setdefault(pool_amounts.GPU, gpus)
        # If usher.yaml counts the slices, the division is fixed.
        if pool.gpu.mig_strategy == "mixed" and not any(name.startswith(MIG_RESOURCE_PREFIX) for name in amounts):
            board = boards.by_name(pool.gpu.board) if pool.gpu.board is not None else None
    return Place(
        name=f"pool {pool.name}",
        labels=pool.node_selector,
        taints=tuple(Taint(each.key, each.value, each.effect) for each in pool.taints),
        frontier=(amounts,),
        template=NodeTemplate(
            resources=frozenset(pool.resources),
            vocabulary=vocabulary,
            board=board,
            gpus=0 if pool.gpu is None else pool.gpu.per_node,
        ),
        pool=pool,
    )
