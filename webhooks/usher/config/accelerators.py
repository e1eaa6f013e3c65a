"""What usher.yaml says of accelerators: the vocabulary of resource names and device classes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from usher.config.fields import LabelKey, Name, ResourceName, ResourcePrefix, Section


class Resource(Section):
    """What one of a resource is."""

    unit: Literal[
        "device", "partition", "share", "memory", "memory-fraction", "cores", "fabric", "monitoring", "setting"
    ] = Field(
        default="device",
        description="A whole device; a partition of one (MIG); a share of one (time slices, MPS); memory or cores of a "
        "share; a network card (fabric); access to all devices (monitoring); or a setting, which gives nothing.",
    )
    size: int | None = Field(
        default=None,
        ge=1,
        le=2**63 - 1,
        description="Of memory, the bytes of one, such as 1048576; of memory-fraction and cores, how many make up a "
        "device, such as 100.",
    )
    per_device: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="Of a share or a partition, as how many of them a device is given out, such as 4 for GPUs that are "
        "time-sliced with 4 replicas. A GPUQuota charges one as that part of a device; as a whole one, if nothing is "
        "given.",
    )
    vendor: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9]*$", max_length=63)] | None = Field(
        default=None, description="Who makes the devices, such as nvidia."
    )

    @model_validator(mode="after")
    def _measures_what_can_be_measured(self) -> "Resource":
        if self.size is not None and self.unit not in {"memory", "memory-fraction", "cores"}:
            raise ValueError(f"size says nothing of the unit {self.unit}; leave it out, or choose memory or cores")
        if self.per_device is not None and self.unit not in {"share", "partition"}:
            raise ValueError(f"perDevice says nothing of the unit {self.unit}; leave it out, or choose share")
        return self


class DeviceClass(Section):
    """What the devices of a DRA device class are."""

    accelerator: bool = Field(default=True, description="Whether its devices are accelerators.")
    resource: ResourceName | None = Field(
        default=None, description="The resource that one of its devices stands for, such as nvidia.com/gpu."
    )

    @model_validator(mode="after")
    def _stands_for_an_accelerator(self) -> "DeviceClass":
        if self.resource is not None and not self.accelerator:
            raise ValueError(f"a class that is no accelerator cannot stand for {self.resource}; leave one of them out")
        return self


class Accelerators(Section):
    """Which resources are accelerators (docs/domain/accelerators.md#resource-names). These add to the defaults."""

    names: list[ResourceName] = Field(
        default=[],
        max_length=1000,
        description="Resource names that are accelerators, beside the known ones: whole devices, unless `resources` "
        "says otherwise.",
    )
    prefixes: list[ResourcePrefix] = Field(default=[], max_length=100, description="Prefixes of such names.")
    resources: dict[ResourcePrefix, Resource] = Field(
        default={},
        max_length=1000,
        description="What one of a resource is, by its name, which need not stand in `names` as well, or by one of "
        "`prefixes`. Known resources may be described too: nvidia.com/gpu as a share, where GPUs are time-sliced.",
    )
    device_classes: dict[Name, DeviceClass] = Field(
        default={}, max_length=1000, description="DRA device classes of this cluster, beside the known ones."
    )
    ignored: list[ResourceName] = Field(
        default=[],
        max_length=1000,
        description="Resource names that are no accelerators, though they look like some, or are known as some.",
    )
    taints: dict[ResourcePrefix, LabelKey] = Field(
        default={},
        max_length=1000,
        description="Taint key that nodes with a resource carry, by resource name or prefix, where no pool says it.",
    )

    @model_validator(mode="after")
    def _contradicts_itself_nowhere(self) -> "Accelerators":
        both = sorted(set(self.ignored) & {*self.names, *self.resources})
        stray = sorted(key for key in self.resources if not key[-1].isalnum() and key not in self.prefixes)
        wrong = [
            *(
                f"ignored holds {name}, which names or resources calls an accelerator: leave one of them out"
                for name in both
            ),
            *(f"resources describes the prefix {key}, which prefixes does not list: add it there" for key in stray),
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self
