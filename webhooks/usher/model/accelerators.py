"""By which route a pod gets accelerators, and how many (docs/domain/accelerators.md#routes)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from usher import quantities

Resources = Mapping[str, quantities.Quantity]
"""Quantities by the name of their resource."""


class Route(StrEnum):
    """How a pod asks for an accelerator, in the words of our messages."""

    RESOURCE = "extended resource"
    PARTITION = "partition"
    """A slice of a device that nobody else uses: MIG, the partitions of AMD."""
    SHARE = "share"
    """A part of a device that others use too: time slices, MPS, HAMi's and Volcano's virtual GPUs."""
    CLAIM = "device claim"
    FRACTION = "fraction annotation"
    DEVICE_ANNOTATION = "device annotation"
    ACCESS = "access to all devices"
    """Of which it takes none from anybody: the monitoring resources of Intel, claims with admin access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorRequest:
    """What one pod asks for by one route under one name."""

    route: Route
    name: str
    """The resource, the device class or the annotation."""
    minimum: quantities.Quantity
    maximum: quantities.Quantity | None
    """None when nothing bounds it."""
    path: str
    reason: str = ""
    """Why the maximum is not the minimum."""
    claim: str = ""
    """The claim that pods share: counted once, however many pods there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What all pods of a workload ask for under one name."""

    route: Route
    name: str
    minimum: quantities.Quantity
    maximum: quantities.Quantity | None
    reason: str = ""
