"""Which pods a declared pool is for (`for` in usher.yaml), and which board its nodes have."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from usher import model
from usher.accelerators import boards
from usher.accelerators.names import Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models, pools, selection

Refusals = Mapping[str, str]
"""Why a pool is not for some pods, by the name of the pool."""

EVERY_POOL: Final[Refusals] = MappingProxyType({})

_COUNTED: Final = (Unit.DEVICE, Unit.PARTITION, Unit.SHARE)

_BOARD_LABELS: Final = (
    boards.PRODUCT_LABEL,
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
)
"""Labels that name the board of a node (docs/domain/nodes.md#labels)."""


class PoolUses:
    """Answers for one configuration."""

    def __init__(self, config: models.Config, vocabulary: Vocabulary) -> None:
        self._restricted = [pool for pool in config.pools if pool.serves is not None]
        self.any = bool(self._restricted)
        """Whether any pool is for some pods only."""
        self._system = config.priorities.system_namespaces
        self._vocabulary = vocabulary
        self._of_workloads = lru_cache(maxsize=1024)(self._refusals_of_workloads)

    def refusals(self, pod_set: model.PodSet, *, namespace: str, role: model.Role | None) -> Refusals:
        """The pools that are not for the pods, with the reason. Callers must not change the result, because it is kept.

        Without a role, a pool for some roles is for the pods as well.
        """
        known, counting = self._of_workloads(namespace, role)
        if not counting:
            return known
        least, most = _accelerators(pod_set, self._vocabulary)
        by_count = {
            pool.name: reason
            for pool in counting
            if pool.serves is not None and (reason := _too_few_or_many(pool.serves, least, most))
        }
        return {**known, **by_count} if by_count else known

    def _refusals_of_workloads(self, namespace: str, role: model.Role | None) -> tuple[Refusals, list[pools.Pool]]:
        """Refusals by namespace and role, and the other pools that are for some numbers of accelerators."""
        if selection.matches_pattern(namespace, self._system):
            return EVERY_POOL, []
        refused = {
            pool.name: reason
            for pool in self._restricted
            if pool.serves is not None and (reason := _other_workload(pool.serves, namespace, role))
        }
        counting = [
            pool
            for pool in self._restricted
            if pool.name not in refused and pool.serves is not None and _counts(pool.serves)
        ]
        return refused, counting


def board(pool: pools.Pool) -> str:
    """The board of the nodes of a pool; empty where usher.yaml does not name it."""
    product = boards.by_product(pool.node_selector.get(boards.PRODUCT_LABEL, ""))
    if product is not None:
        return product.board.name
    if pool.gpu is not None and pool.gpu.board is not None:
        return pool.gpu.board
    return next((pool.node_selector[label] for label in _BOARD_LABELS if label in pool.node_selector), "")


def _counts(use: pools.PoolUse) -> bool:
    return bool(use.min_accelerators_per_pod) or use.max_accelerators_per_pod is not None


def _other_workload(use: pools.PoolUse, namespace: str, role: model.Role | None) -> str:
    if role is not None and use.roles and role.value not in use.roles:
        return f"it is for the roles {', '.join(use.roles)}, and the role of the workload is {role}"
    if use.namespaces and not selection.matches_pattern(namespace, use.namespaces):
        return f"it is for the namespaces {', '.join(use.namespaces)}"
    return ""


def _too_few_or_many(use: pools.PoolUse, least: int, most: int | None) -> str:
    """Why no pod of the set has a number of accelerators that the pool is for; empty where one may have it."""
    if most is not None and most < use.min_accelerators_per_pod:
        return f"it is for pods with at least {use.min_accelerators_per_pod} accelerators, and a pod asks for {most}"
    limit = use.max_accelerators_per_pod
    if limit is not None and least > limit:
        return f"it is for pods with at most {limit} accelerators, and a pod asks for {least}"
    return ""


def _accelerators(pod_set: model.PodSet, vocabulary: Vocabulary) -> tuple[int, int | None]:
    """The least and the most devices, partitions and shares of one pod; None where nothing bounds them.

    A fraction of a device counts as one.
    """
    least, most = 0, 0
    unbounded = False
    for request in _counted(pod_set, vocabulary):
        least += request.minimum.value
        if request.maximum is None:
            unbounded = True
        else:
            most += request.maximum.value
    if not least and not most and pod_set.requests:
        return 1, None if unbounded else 1
    return least, None if unbounded else most


def _counted(pod_set: model.PodSet, vocabulary: Vocabulary) -> Iterator[model.AcceleratorRequest]:
    for request in pod_set.requests:
        meaning = vocabulary.meaning(request.name)
        if request.route is model.Route.CLAIM or (meaning is not None and meaning.unit in _COUNTED):
            yield request
