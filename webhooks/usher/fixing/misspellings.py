"""Finds the accelerator that a misspelt resource name means, if only one is possible."""

from collections.abc import Collection, Iterator
from typing import Final

from usher.accelerators import names as accelerators_names
from usher.accelerators.names import Unit

_LONGEST: Final = 64


def names_of_devices() -> frozenset[str]:
    """The names of whole devices that usher knows. Names of shares and memory differ from these by too little."""
    return frozenset(
        known.name
        for vendor in accelerators_names.VENDORS.values()
        for known in vendor
        if known.name and known.unit is Unit.DEVICE
    )


def meant(name: str, names: Collection[str]) -> str:
    """The one known name that differs in case or in one letter; empty if there are several or no match."""
    if len(name) > _LONGEST:
        return ""
    given = name.casefold()
    same = [known for known in names if known.casefold() == given]
    close = same or [known for known in names if _is_close(given, known.casefold())]
    return close[0] if len(close) == 1 else ""


def _is_close(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing, too many, or swapped with its neighbour."""
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    if len(longer) > len(shorter):
        return shorter in _without_one(longer)
    different = [index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(different) == 2:
        first, second = different
        return second == first + 1 and one[first] == other[second] and one[second] == other[first]
    return len(different) == 1


def _without_one(text: str) -> Iterator[str]:
    return (text[:index] + text[index + 1 :] for index in range(len(text)))
