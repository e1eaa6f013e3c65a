"""The prices of the GPUs of a cluster, each with its rule in usher.yaml."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from usher.audit import estate, gpus
from usher.audit.document.usage import PriceEntry
from usher.audit.usage import amounts, prices
from usher.audit.usage.ledger import Entry
from usher.audit.usage.prices import NodeType
from usher.config.audit_settings import Prices


class _Key(NamedTuple):
    product: str
    capacity_type: str
    rule: int
    """Index of the rule; -1 without a rule."""
    price: float
    formula: str


def rows(
    config: Prices, nodes: Mapping[str, estate.Node], entries: Iterable[Entry], *, is_measured: bool
) -> tuple[PriceEntry, ...]:
    """One row for each board, payment type and price; the rows with the most GPUs first.

    Args:
        config: the section `audit.prices`.
        nodes: the current nodes, by name.
        entries: what pods held in the window, also on nodes that are gone.
        is_measured: whether a source of usage exists.
    """
    of_nodes: dict[_Key, list[estate.Node]] = {}
    hours: dict[_Key, float] = {}
    for node in nodes.values():
        of_nodes.setdefault(_key(config, prices.of_node(node)), []).append(node)
    for entry in entries:
        key = _key(config, entry.node_type)
        hours[key] = hours.get(key, 0.0) + entry.tally.allocated
    result = [
        _row(key, of_nodes.get(key, ()), hours.get(key, 0.0) if is_measured else None)
        for key in of_nodes.keys() | hours.keys()
    ]
    return tuple(sorted(result, key=lambda row: (-row.gpus, row.product, row.capacity_type, row.rule, row.formula)))


def _key(config: Prices, node_type: NodeType) -> _Key:
    place, price = prices.deciding(config, node_type), prices.per_gpu_hour(config, node_type)
    if place is None or price is None:
        return _Key(node_type.product, node_type.capacity_type.value, -1, 0.0, "")
    of_node = config.rules[place].per_node_hour
    formula = f"{price:g} {config.currency} per GPU and hour"
    if of_node is not None:
        formula = f"{of_node:g} {config.currency} per node and hour x {config.gpu_share:g} / {node_type.gpus} GPUs"
    return _Key(node_type.product, node_type.capacity_type.value, place, price, formula)


def _row(key: _Key, nodes: Sequence[estate.Node], allocated: float | None) -> PriceEntry:
    return PriceEntry(
        product=key.product,
        capacity_type=key.capacity_type,
        per_gpu_hour=amounts.rounded(key.price) if key.rule >= 0 else None,
        rule=f"audit.prices.rules[{key.rule}]" if key.rule >= 0 else "",
        formula=key.formula,
        nodes=len(nodes),
        gpus=amounts.rounded(sum(map(gpus.capacity, nodes))),
        allocated=amounts.optional(allocated),
    )
