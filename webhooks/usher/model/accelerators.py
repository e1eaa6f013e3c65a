"""The accelerators that pods ask for, and the route of each request (docs/domain/accelerators.md#routes)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from usher import quantities
from usher.dataclass import dataclass

Resources = Mapping[str, quantities.Quantity]
"""Quantities by resource name."""


class Route(StrEnum):
    """How a pod asks for an accelerator, in the words of our messages."""

    RESOURCE = "extended resource"
    PARTITION = "partition"
    """A part of a device for one pod alone: MIG, the partitions of AMD."""
    SHARE = "share"
    """A part of a device that other pods use too: time slices, MPS, the virtual GPUs of HAMi and Volcano."""
    CLAIM = "device claim"
    FRACTION = "fraction annotation"
    DEVICE_ANNOTATION = "device annotation"
    ACCESS = "access to all devices"
    """Access that takes no device from other pods: the monitoring resources of Intel, claims with admin access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorRequest:
    """A request of one pod, by one route under one name."""

    route: Route
    name: str
    """The resource, the device class or the annotation."""
    minimum: quantities.Quantity
    maximum: quantities.Quantity | None
    """None if it has no bound."""
    path: str
    reason: str = ""
    """Why the maximum differs from the minimum."""
    claim: str = ""
    """The claim that pods share; it counts once for all of them."""
    like: str = ""
    """The known device class or resource with the same devices, if usher does not know the class `name`."""
    instead: tuple[str, ...] = ()
    """Device classes that the pod may get instead, each by its name or by its known equivalent."""
    selects: str = ""
    """The resource of the MIG profile that the selectors of a claim choose; empty if they choose no profile."""
    memory: int | None = None
    """Bytes of memory that a claim requests from each device; several claims may share a device."""


class UnclearDevices(NamedTuple):
    """A claim or device class that cannot be read, so that pods may get other devices or more."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The requests of all pods of a workload under one name."""

    route: Route
    name: str
    minimum: quantities.Quantity
    maximum: quantities.Quantity | None
    reason: str = ""
