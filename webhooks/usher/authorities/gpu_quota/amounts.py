"""Amounts in the units of a GPUQuota: exact numbers of nanos (1e-9), by unit.

The units are `gpus`, `slices`, `memoryGiB`, and `profiles.` with the name of a MIG profile: `profiles.1g.10gb`.
docs/quota.md says what counts in each unit.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from usher import quantities
from usher.accelerators import mig
from usher.quantities import NANO

GPUS: Final = "gpus"
SLICES: Final = "slices"
MEMORY: Final = "memoryGiB"
PROFILES: Final = "profiles."
"""The prefix of units of profiles; the driver's name of the profile follows."""

Amounts = Mapping[str, int]
"""Nanos by unit; a missing unit is 0."""

MOST: Final = 10**12 * NANO
"""The largest amount: more than any cluster has and any limit allows. It bounds hostile manifests."""

_NAMES: Final = {GPUS: "GPUs", SLICES: "slices", MEMORY: "GiB of device memory"}


def of_profile(profile: mig.Profile) -> str:
    """The unit that counts the instances of a profile."""
    return PROFILES + str(profile)


def profile_of(unit: str) -> mig.Profile | None:
    """The profile whose instances a unit counts; None for other units and unknown names."""
    if not unit.startswith(PROFILES):
        return None
    name = unit.removeprefix(PROFILES)
    found = mig.parse_profile(name)
    # A resource spells `1g.10gb+me` as `1g.10gb.me`; two spellings would be two units.
    return found if str(found) == name else None


def is_unit(text: str) -> bool:
    return text in _NAMES or profile_of(text) is not None


def plus(*several: Amounts) -> dict[str, int]:
    """The sum, without units that are 0."""
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
    """The text of a number in Kubernetes' notation: 16, or 3500m."""
    return str(quantities.Quantity(nanos))


def text(unit: str, nanos: int) -> str:
    """The text of an amount: `16 GPUs`, `1 GPU`, `3500m slices`, `2 instances of 1g.10gb`."""
    if unit in _NAMES:
        name = _NAMES[unit]
        return f"{number(nanos)} {name.removesuffix('s') if nanos == NANO else name}"
    return f"{number(nanos)} {'instance' if nanos == NANO else 'instances'} of {unit.removeprefix(PROFILES)}"
