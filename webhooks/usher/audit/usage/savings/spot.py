"""Savings for interruptible workloads on on-demand nodes, if spot nodes with the same board have a lower price."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from usher import model
from usher.audit import estate
from usher.audit.estate import CapacityType
from usher.audit.usage import prices
from usher.audit.usage.savings import case as cases
from usher.audit.usage.savings.case import Candidate, Case

KIND: Final = "spot"

_ROLES: Final = frozenset({model.Role.TRAINING, model.Role.BATCH})

_LABELS: Final = (
    ("karpenter.sh/capacity-type", "spot"),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("cloud.google.com/gke-spot", "true"),
    ("kubernetes.azure.com/scalesetpriority", "spot"),
)


def find(case: Case) -> Candidate | None:
    """A saving of money only: the GPU-hours stay."""
    if case.workload.role not in _ROLES or not case.holding:
        return None
    saved: dict[int, float] = {}
    pairs: set[tuple[str, float, float]] = set()
    for index, entry in enumerate(case.entries):
        if entry.price is None or entry.node_type.capacity_type is not CapacityType.ON_DEMAND:
            continue
        spot = prices.per_gpu_hour(case.config.prices, replace(entry.node_type, capacity_type=CapacityType.SPOT))
        if spot is not None and spot < entry.price and entry.tally.allocated:
            saved[index] = entry.tally.allocated * (1 - spot / entry.price)
            pairs.add((entry.node_type.product, entry.price, spot))
    if not saved:
        return None
    currency = case.config.prices.currency
    hours = sum(case.entries[index].tally.allocated for index in saved)
    found = cases.saving(
        case,
        kind=KIND,
        evidence=(
            f"{cases.hours(hours)} GPU-hours on on-demand nodes, by a workload for {case.workload.role}",
            *(
                f"{product}: {price:g} {currency} on demand, {spot:g} {currency} on spot nodes, by audit.prices"
                for product, price, spot in sorted(pairs)
            ),
            "Spot nodes may end at any time: it has to write checkpoints, or repeat little work",
        ),
        change=(
            f"In {case.templates} of {case.workload.identity}, add nodeSelector {_selector(case.nodes.values())}, "
            "and a toleration for the taint of these nodes"
        ),
        gpu_hours=0,
        paid_hours=saved,
        needs=_needs(case, {product for product, _, _ in pairs}),
    )
    return Candidate(saving=found)


def _needs(case: Case, products: set[str]) -> str:
    there = {node.product for node in case.nodes.values() if node.capacity_type is CapacityType.SPOT}
    missing = ", ".join(sorted(products - there))
    return f"The platform team adds spot nodes with {missing}: the cluster has none of them now" if missing else ""


def _selector(nodes: Iterable[estate.Node]) -> str:
    """The label that selects the spot nodes of the cluster; Karpenter's if the cluster has no spot nodes."""
    for node in nodes:
        for key, value in _LABELS:
            if node.capacity_type is CapacityType.SPOT and node.labels.get(key) == value:
                return f"{key}: {value}"
    return ": ".join(_LABELS[0])
