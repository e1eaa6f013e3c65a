"""The price of a GPU on a node, by the section `audit.prices` of usher.yaml."""

import math
from collections.abc import Iterable, Iterator, Mapping

from usher.audit import estate, gpus
from usher.config import globs
from usher.config.audit import PriceRule, Prices
from usher.dataclass import dataclass

_INSTANCE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """What a rule looks at: a node of now, or the board of one that is gone."""

    product: str
    capacity_type: estate.CapacityType = estate.CapacityType.UNKNOWN
    instance_type: str = ""
    gpus: int = 0
    """GPUs of the node; 0 where they are not known."""


def of_node(node: estate.Node) -> Priced:
    instance = next((node.labels[key] for key in _INSTANCE_LABELS if key in node.labels), "")
    return Priced(
        product=node.product,
        capacity_type=node.capacity_type,
        instance_type=instance,
        # MIG may leave a part of a GPU unused, which the price of the node covers.
        gpus=math.ceil(gpus.capacity(node) - 1e-6),
    )


def per_gpu_hour(prices: Prices, what: Priced) -> float | None:
    """The price of one whole GPU for an hour: that of the first rule that matches; None without one.

    A price of a node is multiplied with gpuShare and divided by the GPUs of the node.
    """
    place = deciding(prices, what)
    if place is None:
        return None
    rule = prices.rules[place]
    return rule.per_gpu_hour if rule.per_node_hour is None else rule.per_node_hour * prices.gpu_share / what.gpus


def deciding(prices: Prices, what: Priced) -> int | None:
    """The place of the rule that gives the price; the price of a node needs the number of its GPUs."""
    for place, rule in enumerate(prices.rules):
        if matches(rule, what) and (rule.per_gpu_hour is not None or what.gpus):
            return place
    return None


def matches(rule: PriceRule, what: Priced) -> bool:
    """Whether a rule is about a node. Products are compared without case, because clouds and drivers differ in it."""
    return (
        globs.fits(what.product.casefold(), rule.product.casefold())
        and globs.fits(what.instance_type, rule.instance_type)
        and rule.capacity_type in {"*", what.capacity_type.value}
    )


def problems(prices: Prices, seen: Iterable[Priced]) -> Iterator[str]:
    """Rules that match nothing of the cluster, and boards that no rule prices."""
    known = sorted(set(seen), key=lambda each: (each.product, each.capacity_type, each.instance_type))
    if not known:
        return
    if not prices.rules:
        yield "audit.prices of usher.yaml has no rules, so GPU-hours are not priced"
        return
    for index, rule in enumerate(prices.rules):
        if not any(matches(rule, what) for what in known):
            products = ", ".join(sorted({each.product for each in known if each.product})) or "of no known product"
            yield (
                f"audit.prices.rules[{index}] matches no node (product {rule.product}, instance type "
                f"{rule.instance_type}, capacity type {rule.capacity_type}). The GPUs are {products}"
            )
    missing = [each for each in known if per_gpu_hour(prices, each) is None]
    if missing:
        names = sorted({f"{each.product or 'GPUs of unknown product'} ({each.capacity_type})" for each in missing})
        yield f"audit.prices has no price for {', '.join(names)}: these GPU-hours count as not priced"


def by_node(nodes: Mapping[str, estate.Node]) -> dict[str, Priced]:
    return {name: of_node(node) for name, node in nodes.items()}
