"""The meanings that a resource name can have: the unit, the vendor, and the resource that it divides.

`known_names` has the names, `meanings` finds the meaning of one, `vocabulary` adds what usher.yaml says.
"""

from enum import StrEnum
from typing import Final

from usher.dataclass import dataclass

LONGEST: Final = 317
"""Characters of the longest resource name in Kubernetes; the meanings of longer names are not remembered."""

CLAIM_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""With the name of a class: a resource that claims a device of it (docs/domain/device-claims.md#extended-resources)."""

MIB: Final = 2**20
GIB: Final = 2**30


class Unit(StrEnum):
    """One unit of a resource. Only units of DEVICE add up to a number of whole devices."""

    DEVICE = "device"
    """A whole device by its name, maybe a time slice or MIG (docs/domain/accelerators.md#resource-names)."""
    PARTITION = "partition"
    """A part of a device that hardware keeps apart: MIG, AMD's partitions, NeuronCores. The board decides which part.
    """
    SHARE = "share"
    """Access to a device that other pods use too. Side resources may say how much of it."""
    MEMORY = "memory"
    """Memory of a share; `size` is the bytes of one."""
    MEMORY_FRACTION = "memory-fraction"
    """Memory of a share; `size` is how many units make up the memory of a device: 100 for percent."""
    CORES = "cores"
    """Computing power of a share; `size` is how many units make up a device: 100 for percent."""
    FABRIC = "fabric"
    """A network card or a switch of GPUs, which is not an accelerator itself."""
    MONITORING = "monitoring"
    """Access to all devices of the node, without taking a device from other pods."""
    CLAIM = "claim"
    """Devices of the class `device_class`, which decides their type."""
    SETTING = "setting"
    """Changes a setting of another resource."""


GIVING: Final = frozenset(Unit) - {Unit.FABRIC, Unit.SETTING}
"""A positive amount of these units gives a pod an accelerator; for a CLAIM, the device class decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The meaning of a resource name."""

    unit: Unit
    vendor: str = ""
    """The vendor of the devices, in lower case; empty where the name does not say it."""
    size: int | None = None
    """For MEMORY, MEMORY_FRACTION and CORES, as described there; None where the sources do not say it or contradict
    each other."""
    divides: str | None = None
    """The resource that counts the devices. In a container that asks for both, those devices are shares."""
    device_class: str | None = None
    per_device: int | None = None
    """For SHARE and PARTITION, how many of them make up a device; None where usher.yaml does not say it."""
