"""Amounts in the words of messages and reports."""

from typing import Final

from usher import quantities

_BYTES: Final = ("memory", "ephemeral-storage", "hugepages-")
_MIB: Final = 2**20
_GIB: Final = 2**30


def amount(resource: str, number: int, *, up: bool) -> str:
    """An amount in the scheduler's units, as people write it: `3500m`, `8`, `1007.5Gi`.

    Bytes are rounded to a tenth: demand up, supply down, so that too much never looks equal.
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
    """`64`, `1500m`, `512Gi`.

    Args:
        resource: its name, or the key of a quota.
        quantity: how much.
        up: whether bytes are rounded up, as for demand; else down, as for supply.
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
