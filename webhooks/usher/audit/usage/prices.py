"""The price of a GPU on a node, by the section `audit.prices` of usher.yaml."""

import math
from collections.abc import Iterable, Iterator

from usher.audit import estate, gpus
from usher.config import fields
from usher.config.audit_settings import PriceRule, Prices
from usher.dataclass import dataclass

_INSTANCE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeType:
    """The properties that decide a price. For a node that is gone only the board is known."""

    product: str
    capacity_type: estate.CapacityType = estate.CapacityType.UNKNOWN
    instance_type: str = ""
    gpus: int = 0
    """GPUs of the node; 0 if unknown."""


def of_node(node: estate.Node) -> NodeType:
    instance = next((node.labels[key] for key in _INSTANCE_LABELS if key in node.labels), "")
    return NodeType(
        product=node.product,
        capacity_type=node.capacity_type,
        instance_type=instance,
        # MIG may leave a part of a GPU unused. The price of the node covers this part too.
        gpus=math.ceil(gpus.capacity(node) - 1e-6),
    )


def per_gpu_hour(prices: Prices, node_type: NodeType) -> float | None:
    """The price of one whole GPU for an hour, from the first rule that matches; None if no rule does.

    A price per node is multiplied by gpuShare and divided by the GPUs of the node.
    """
    place = deciding(prices, node_type)
    if place is None:
        return None
    rule = prices.rules[place]
    return rule.per_gpu_hour if rule.per_node_hour is None else rule.per_node_hour * prices.gpu_share / node_type.gpus


def deciding(prices: Prices, node_type: NodeType) -> int | None:
    """The index of the rule that gives the price. A price per node needs the number of its GPUs."""
    for place, rule in enumerate(prices.rules):
        if matches(rule, node_type) and (rule.per_gpu_hour is not None or node_type.gpus):
            return place
    return None


def matches(rule: PriceRule, node_type: NodeType) -> bool:
    """Whether a rule matches a node. Products match in any case, because clouds and drivers spell them differently."""
    return (
        fields.glob_fits(node_type.product.casefold(), rule.product.casefold())
        and fields.glob_fits(node_type.instance_type, rule.instance_type)
        and rule.capacity_type in {"*", node_type.capacity_type.value}
    )


def problems(prices: Prices, seen: Iterable[NodeType]) -> Iterator[str]:
    """Rules that match nothing in the cluster, and boards without a price."""
    known = sorted(set(seen), key=lambda each: (each.product, each.capacity_type, each.instance_type))
    if not known:
        return
    if not prices.rules:
        yield "audit.prices of usher.yaml has no rules, so GPU-hours are not priced"
        return
    for index, rule in enumerate(prices.rules):
        if not any(matches(rule, node_type) for node_type in known):
            products = ", ".join(sorted({each.product for each in known if each.product})) or "of no known product"
            yield (
                f"audit.prices.rules[{index}] matches no node (product {rule.product}, instance type "
                f"{rule.instance_type}, capacity type {rule.capacity_type}). The GPUs are {products}"
            )
    missing = [each for each in known if per_gpu_hour(prices, each) is None]
    if missing:
        names = sorted({f"{each.product or 'GPUs of unknown product'} ({each.capacity_type})" for each in missing})
        yield f"audit.prices has no price for {', '.join(names)}: these GPU-hours count as not priced"
