"""The section `accelerators` of usher.yaml: the meaning of resource names and device classes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from usher.config.fields import LabelKey, Name, ResourceName, ResourcePrefix, Section


class Resource(Section):
    """The meaning of a resource."""

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
        description="For memory, the bytes of one unit: 1048576 is 1 MiB. For memory-fraction and cores, how many "
        "units make up a device: 100 for percent.",
    )
    per_device: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="For a share or a partition, how many of them make up a device: 4 for GPUs that are time-sliced "
        "with 4 replicas. A GPUQuota charges each as that part of a device; by default as a whole one.",
    )
    vendor: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9]*$", max_length=63)] | None = Field(
        default=None, description="The vendor of the devices: nvidia."
    )

    @model_validator(mode="after")
    def _check_unit_has_size(self) -> "Resource":
        if self.size is not None and self.unit not in {"memory", "memory-fraction", "cores"}:
            raise ValueError(f"the unit {self.unit} has no size; leave size out, or choose memory or cores")
        if self.per_device is not None and self.unit not in {"share", "partition"}:
            raise ValueError(f"the unit {self.unit} has no perDevice; leave it out, or choose share")
        return self


class DeviceClass(Section):
    """The devices of a DRA device class."""

    accelerator: bool = Field(default=True, description="Whether its devices are accelerators.")
    resource: ResourceName | None = Field(
        default=None, description="The resource that stands for one of its devices: nvidia.com/gpu."
    )
    memory_step: int | None = Field(
        default=None,
        ge=1,
        le=2**63 - 1,
        description="Where claims share its devices by capacity.requests.memory: the bytes to whose next multiple the "
        "driver rounds up (1073741824 for 1 GiB), and the least that it gives. A GPUQuota then charges a claim its "
        "part of the memory; by default a whole device.",
    )

    @model_validator(mode="after")
    def _check_resource_of_accelerator(self) -> "DeviceClass":
        if self.resource is not None and not self.accelerator:
            raise ValueError(
                f"a class that is not an accelerator cannot stand for {self.resource}; leave one of them out"
            )
        if self.memory_step is not None and not self.accelerator:
            raise ValueError("a class that is not an accelerator has no memoryStep; leave one of them out")
        return self


class Accelerators(Section):
    """Which resources are accelerators (docs/domain/accelerators.md#resource-names). These add to the defaults."""

    names: list[ResourceName] = Field(
        default=[],
        max_length=1000,
        description="Resource names that are accelerators, beside the known ones: whole devices, unless `resources` "
        "says otherwise.",
    )
    prefixes: list[ResourcePrefix] = Field(
        default=[], max_length=100, description="Prefixes of resource names that are accelerators."
    )
    resources: dict[ResourcePrefix, Resource] = Field(
        default={},
        max_length=1000,
        description="The meaning of resources, by their name, which `names` need not repeat, or by one of `prefixes`. "
        "Known resources may be described too: nvidia.com/gpu as a share, where GPUs are time-sliced.",
    )
    device_classes: dict[Name, DeviceClass] = Field(
        default={}, max_length=1000, description="DRA device classes of this cluster, beside the known ones."
    )
    ignored: list[ResourceName] = Field(
        default=[],
        max_length=1000,
        description="Resource names that are not accelerators, although they look like one or are known as one.",
    )
    taints: dict[ResourcePrefix, LabelKey] = Field(
        default={},
        max_length=1000,
        description="Taint key of nodes with a resource, by resource name or prefix. usher assumes it where no pool "
        "is declared. In a declared pool it marks accelerator nodes: every pod that fits the pool tolerates it.",
    )

    @model_validator(mode="after")
    def _check_no_conflicts(self) -> "Accelerators":
        both = sorted(set(self.ignored) & {*self.names, *self.resources})
        stray = sorted(key for key in self.resources if not key[-1].isalnum() and key not in self.prefixes)
        wrong = [
            *(
                f"ignored lists {name}, which names or resources makes an accelerator: leave one of them out"
                for name in both
            ),
            *(f"resources describes the prefix {key}, which is missing in prefixes: add it there" for key in stray),
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self
