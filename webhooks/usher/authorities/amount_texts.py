"""Amounts and requirements in the words of messages and reports."""

from typing import Final

from usher import quantities
from usher.authorities.nodes.places import Places
from usher.scheduling import requirements
from usher.scheduling.requirements import Requirement

_BYTES: Final = ("memory", "ephemeral-storage", "hugepages-")
_MIB: Final = 2**20
_GIB: Final = 2**30

_VALUES: Final = 5
"""How many values of a label, or of a requirement, a message names."""

_LONGEST: Final = 63
"""Characters of the longest label value."""


def amount(resource: str, number: int, *, up: bool) -> str:
    """What the scheduler counts, as people write it: `3500m`, `8`, `1007.5Gi`.

    Bytes are rounded to a tenth, what is asked for up and what is there down, so that the two never look equal.
    """
    if resource == "cpu":
        return str(quantities.Quantity(number * quantities.MILLI))
    if not resource.startswith(_BYTES):
        return str(number)
    if number < _MIB:
        return str(number)
    unit, suffix = (_GIB, "Gi") if number >= _GIB else (_MIB, "Mi")
    tenths = -(-number * 10 // unit) if up else number * 10 // unit
    whole, rest = divmod(tenths, 10)
    return f"{whole}.{rest}{suffix}" if rest else f"{whole}{suffix}"


def requirement(wanted: Requirement) -> str:
    """`zone=a`, `zone in (a, b)`."""
    shown = [value[:_LONGEST] for value in wanted.values[:_VALUES]]
    listed = ", ".join([*shown, "..."] if len(wanted.values) > _VALUES else shown)
    match wanted.operator:
        case "In" if len(wanted.values) == 1:
            return f"{wanted.key}={listed}"
        case "In":
            return f"{wanted.key} in ({listed})"
        case "NotIn":
            return f"{wanted.key} not in ({listed})"
        case "Gt" | "Lt":
            return f"{wanted.key} {'>' if wanted.operator == 'Gt' else '<'} {listed}"
        case operator:
            return f"{wanted.key} {operator}"


def values(key: str, places: Places) -> list[str]:
    """Some values of a label that nodes have, in order; none of a label that differs from node to node."""
    return sorted({place.labels[key] for place in places.all if key in place.labels})[:_VALUES]


def is_met_anywhere(wanted: Requirement, places: Places) -> bool:
    """Whether some nodes meet a requirement on labels."""
    beside = places.nodes.individual.get(wanted.key)
    if beside is not None:
        return any(requirements.labels_match(wanted, {wanted.key: value}) for value in beside)
    return any(requirements.labels_match(wanted, place.labels) for place in places.all)


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
    return amount(name, quantity.milli if name == "cpu" else quantity.value, up=up)


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
