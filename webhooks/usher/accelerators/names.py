"""What a resource name can say of accelerators: what one of the resource is, who makes it, and what it divides.

`known_names` has the names, `meanings` finds the meaning of one, `vocabulary` adds what usher.yaml says.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

LONGEST: Final = 317
"""Characters of the longest resource name that Kubernetes takes; nothing longer is remembered."""

CLAIM_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""This and the name of a class make a claim for its devices (docs/domain/device-claims.md#extended-resources)."""

MIB: Final = 2**20
GIB: Final = 2**30


class Unit(StrEnum):
    """What one of a resource is. Only DEVICE may be added up to a number of whole devices."""

    DEVICE = "device"
    """A whole device by its name, maybe a time slice or MIG (docs/domain/accelerators.md#resource-names)."""
    PARTITION = "partition"
    """A part of a device that hardware keeps apart: MIG, AMD's partitions, NeuronCores. Which part, the board tells."""
    SHARE = "share"
    """Access to a device that others use too; how much of it, side resources tell or nobody."""
    MEMORY = "memory"
    """Memory of a share; `size` is the bytes of one."""
    MEMORY_FRACTION = "memory-fraction"
    """Memory of a share; `size` is how many make up the memory of a device, such as 100."""
    CORES = "cores"
    """Computing power of a share; `size` is how many make up a device, such as 100."""
    FABRIC = "fabric"
    """A network card or a switch of GPUs: no accelerator, but it goes with them."""
    MONITORING = "monitoring"
    """Access to all devices of the node; it takes none from anybody."""
    CLAIM = "claim"
    """Devices of the class `device_class`, which alone tells what they are."""
    SETTING = "setting"
    """Tunes another resource and gives nothing."""


GIVING: Final = frozenset(Unit) - {Unit.FABRIC, Unit.SETTING}
"""Units of which a positive amount gives a pod an accelerator; of a CLAIM, the device class has to agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a resource name says of itself."""

    unit: Unit
    vendor: str = ""
    """Who makes the devices, in lower case; empty where the name does not tell."""
    size: int | None = None
    """Of MEMORY, MEMORY_FRACTION and CORES, as these say; None where the sources do not tell or contradict."""
    divides: str | None = None
    """The resource that counts the devices: in a container that asks for both, those devices are shares."""
    device_class: str | None = None
    per_device: int | None = None
    """Of a SHARE or PARTITION, as how many of them a device is given out; None where nobody has said it."""
