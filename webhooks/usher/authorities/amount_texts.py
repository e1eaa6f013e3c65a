"""Formats amounts for messages and reports."""

from typing import Final

from usher import quantities

_BYTES: Final = ("memory", "ephemeral-storage", "hugepages-")
_MIB: Final = 2**20
_GIB: Final = 2**30


def amount(resource: str, number: int, *, up: bool) -> str:
    """The text of an amount in the scheduler's units: `3500m`, `8`, `1007.5Gi`.

    Bytes are rounded to a tenth: demand up, supply down. So a demand above the supply never looks equal to it.
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


_PREFIXES: Final = ("requests.", "limits.")


def text(resource: str, quantity: quantities.Quantity, *, up: bool = True) -> str:
    """The text of a quantity: `64`, `1500m`, `512Gi`.

    Args:
        resource: the name of the resource, or the key of a quota.
        up: true rounds bytes up, as for demand; false rounds down, as for supply.
    """
    name = resource
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    if name != "cpu" and not quantity.is_whole:
        return str(quantity)
    return amount(name, quantity.milli if name == "cpu" else quantity.value, up=up)


def named(resource: str, quantity: quantities.Quantity, *, up: bool = True) -> str:
    """The text of a quantity with its resource: `64 nvidia.com/gpu`."""
    return f"{text(resource, quantity, up=up)} {resource}"


def waiting(
    resource: str,
    *,
    of: str,
    used: quantities.Quantity,
    most: quantities.Quantity,
    needs: quantities.Quantity,
) -> str:
    """The text of a wait: `wait: 16 of 72 nvidia.com/gpu of Queue research are used now, and 64 are needed`."""
    return (
        f"wait: {text(resource, used)} of {named(resource, most, up=False)} of {of} are used now, "
        f"and {text(resource, needs)} are needed"
    )
