"""Amounts in the words of our reports."""

from typing import Final

from usher import quantities
from usher.policy.cluster import node_texts

_PREFIXES: Final = ("requests.", "limits.")


def text(resource: str, quantity: quantities.Quantity, *, up: bool = True) -> str:
    """`64`, `1500m`, `512Gi`: bytes are rounded, what is asked for up and what is there down.

    Args:
        resource: its name, also as the key of a quota has it.
        quantity: how much.
        up: whether it is asked for.
    """
    name = resource
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    if name != "cpu" and not quantity.is_whole:
        return str(quantity)
    return node_texts.amount(name, quantity.milli if name == "cpu" else quantity.value, up=up)


def named(resource: str, quantity: quantities.Quantity, *, up: bool = True) -> str:
    """`64 nvidia.com/gpu`."""
    return f"{text(resource, quantity, up=up)} {resource}"


def left(most: quantities.Quantity, used: quantities.Quantity | None) -> quantities.Quantity | None:
    """What of it is free; None where nobody knows what is used."""
    return None if used is None else quantities.Quantity(max(most.nanos - used.nanos, 0))


def waiting(
    resource: str,
    *,
    of: str,
    used: quantities.Quantity,
    most: quantities.Quantity,
    needs: quantities.Quantity,
) -> str:
    """What has to become free: `wait: 16 of 72 nvidia.com/gpu of Queue research are used now, and 64 are needed`."""
    return (
        f"wait: {text(resource, used)} of {named(resource, most, up=False)} of {of} are used now, "
        f"and {text(resource, needs)} are needed"
    )
