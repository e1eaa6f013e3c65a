"""Writes amounts of resources: readable for people, exact for programs."""

from decimal import Decimal
from typing import Final

from usher import quantities
from usher.accelerators import names
from usher.accelerators.vocabulary import Vocabulary

_BINARY: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BYTES: Final = frozenset({"memory", "ephemeral-storage"})
_HUGE_PAGES: Final = "hugepages-"


def exact(quantity: quantities.Quantity) -> str:
    """The number in decimal digits, without a suffix or an exponent: `64`, `0.5`."""
    return f"{_decimal(quantity):f}"


def number(quantity: quantities.Quantity) -> str:
    """`1,024`, `0.5`."""
    return f"{_decimal(quantity):,f}"


def span(minimum: quantities.Quantity, maximum: quantities.Quantity | None) -> str:
    """`8`, `8 to 64`, `8 or more`."""
    if maximum is None:
        return f"{number(minimum)} or more"
    return number(minimum) if minimum == maximum else f"{number(minimum)} to {number(maximum)}"


def unit(name: str, vocabulary: Vocabulary) -> str:
    """The unit of a resource that counts memory of accelerators: `MiB`. Empty for resources that count devices."""
    if name == names.GPU_MEMORY:
        return "MiB"
    meaning = vocabulary.meaning(name)
    if meaning is None or meaning.unit is not names.Unit.MEMORY or meaning.size is None:
        return ""
    return {names.MIB: "MiB", names.GIB: "GiB"}.get(meaning.size, f"{meaning.size:,} bytes")


def resource(name: str, quantity: quantities.Quantity) -> str:
    """`memory 32Gi`, `cpu 500m`: with the suffixes of manifests, but plain numbers for accelerators."""
    return f"{name} {_written(name, quantity)}"


def _written(name: str, quantity: quantities.Quantity) -> str:
    if name not in _BYTES and not name.startswith(_HUGE_PAGES):
        return str(quantity)
    # The manifest may have either suffix; people write the shorter one.
    return min((_binary(quantity), quantities.canonical(str(quantity))), key=len)


def _binary(quantity: quantities.Quantity) -> str:
    if not quantity.is_whole or not quantity:
        return str(quantity)
    amount, suffix = quantity.value, ""
    for each in _BINARY:
        if amount % 1024:
            break
        amount, suffix = amount // 1024, each
    return f"{amount}{suffix}"


def _decimal(quantity: quantities.Quantity) -> Decimal:
    """The decimal without trailing zeros. `normalize` would round it beyond the precision of the context."""
    whole, rest = divmod(quantity.nanos, quantities.NANO)
    return Decimal(f"{whole}.{rest:09d}".rstrip("0").rstrip("."))
