"""Amounts in the units of a GPUQuota: exact numbers of nanos (1e-9), by unit.

The units are `gpus`, `slices`, `memoryGiB`, and `profiles.` with the name of a MIG profile: `profiles.1g.10gb`. What
counts how in each of them is told in docs/quota.md.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from usher import quantities
from usher.accelerators import profiles
from usher.quantities import NANO

GPUS: Final = "gpus"
SLICES: Final = "slices"
MEMORY: Final = "memoryGiB"
PROFILES: Final = "profiles."
"""Prefix; the name of a profile follows, as the driver writes it."""

Amounts = Mapping[str, int]
"""Nanos by unit; a unit that is missing is 0."""

MOST: Final = 10**12 * NANO
"""More than any cluster has, and more than a limit can say: where amounts of hostile manifests end."""

_NAMES: Final = {GPUS: "GPUs", SLICES: "slices", MEMORY: "GiB of device memory"}


def of_profile(profile: profiles.Profile) -> str:
    """The unit that counts the instances of a profile."""
    return PROFILES + str(profile)


def profile_of(unit: str) -> profiles.Profile | None:
    """The profile whose instances a unit counts; None for all other units, and for names that no profile has."""
    if not unit.startswith(PROFILES):
        return None
    name = unit.removeprefix(PROFILES)
    found = profiles.parse(name)
    # `1g.10gb.me` is how a resource spells `1g.10gb+me`; two spellings would be two units.
    return found if str(found) == name else None


def is_unit(text: str) -> bool:
    return text in _NAMES or profile_of(text) is not None


def plus(*several: Amounts) -> dict[str, int]:
    """The sum; units of which nothing is left are left out."""
    result: dict[str, int] = {}
    for each in several:
        for unit, nanos in each.items():
            result[unit] = result.get(unit, 0) + nanos
    return {unit: nanos for unit, nanos in result.items() if nanos}


def highest(several: Iterable[Amounts]) -> dict[str, int]:
    """The largest of several amounts, unit by unit."""
    result: dict[str, int] = {}
    for each in several:
        for unit, nanos in each.items():
            result[unit] = max(result.get(unit, 0), nanos)
    return {unit: nanos for unit, nanos in result.items() if nanos}


def number(nanos: int) -> str:
    """A number as Kubernetes writes it: 16, or 3500m."""
    return str(quantities.Quantity(nanos))


def text(unit: str, nanos: int) -> str:
    """`16 GPUs`, `1 GPU`, `3500m slices`, `2 instances of 1g.10gb`."""
    if unit in _NAMES:
        name = _NAMES[unit]
        return f"{number(nanos)} {name.removesuffix('s') if nanos == NANO else name}"
    return f"{number(nanos)} {'instance' if nanos == NANO else 'instances'} of {unit.removeprefix(PROFILES)}"
