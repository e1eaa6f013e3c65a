"""usher.yaml as pydantic models. Every field has a default that is safe on a cluster we know nothing about."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

API_VERSION: Final = "gpu-usher.io/v1alpha1"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]
Pattern = Annotated[str, StringConstraints(pattern=r"^[-a-z0-9.*]+$", max_length=253)]
"""A namespace name in which `*` stands for any characters."""
LabelKey = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)]
ResourceName = Annotated[LabelKey, StringConstraints(max_length=317)]
ResourcePrefix = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_./]*$", max_length=317)]
"""What resource names begin with; never empty, or every resource would be meant."""
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=256)]
UserPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.:@/*+=,]+$", max_length=512)]
"""Name of a user or group in which `*` stands for any characters."""
Place = Literal["admission", "check", "audit"]
"""Who asks: the webhooks, `usher check`, `usher audit`."""

_DECIDES_DEVICES: Final = "it decides which devices a container sees, which is the device plugin's to say"
_DIFFERS_BY_POD: Final = "it differs from pod to pod, and the operator of the job sets it"
RESERVED_VARIABLES: Final = {
    **dict.fromkeys(
        (
            "CUDA_VISIBLE_DEVICES",
            "HABANA_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES",
            "NEURON_RT_VISIBLE_CORES",
            "NVIDIA_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "TPU_VISIBLE_CHIPS",
        ),
        _DECIDES_DEVICES,
    ),
    **dict.fromkeys(
        ("JOB_COMPLETION_INDEX", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "RANK", "WORLD_SIZE"),
        _DIFFERS_BY_POD,
    ),
}
"""Variables that a fabric cannot set, with the reason (gpu-domain 1.5 and 5.1)."""

EXEMPTION_LABEL: Final = "gpu-usher.io/exempt"
"""Of a namespace, with the value true: what it holds is neither judged nor changed. A check guards it."""

DEFAULT_EXEMPT_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "gpu-usher", "gpu-operator"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class Resource(_Section):
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
    vendor: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9]*$", max_length=63)] | None = Field(
        default=None, description="Who makes the devices, such as nvidia."
    )

    @model_validator(mode="after")
    def _measures_what_can_be_measured(self) -> "Resource":
        if self.size is not None and self.unit not in {"memory", "memory-fraction", "cores"}:
            raise ValueError(f"size says nothing of the unit {self.unit}; leave it out, or choose memory or cores")
        return self


class DeviceClass(_Section):
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


class Accelerators(_Section):
    """The vocabulary: which resources are accelerators (gpu-domain 4.1). What is given here adds to the defaults."""

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


class Taint(_Section):
    key: LabelKey
    value: LabelValue = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"


class Pool(_Section):
    """A node pool: how its nodes are recognised and what they ask of a pod."""

    name: Name
    node_selector: dict[LabelKey, LabelValue] = Field(
        min_length=1, description="Labels that all nodes of the pool carry and no other node does."
    )
    taints: list[Taint] = []
    resources: list[ResourceName] = Field(
        default=["nvidia.com/gpu"], description="Accelerator resources that its nodes offer."
    )
    fabric: Name | None = Field(default=None, description="Name of the interconnect profile in `fabrics`.")


class Fabric(_Section):
    """An interconnect profile; injected into the training containers of workloads that span several pods."""

    env: dict[VariableName, str] = Field(min_length=1)

    @field_validator("env")
    @classmethod
    def _sets_nothing_reserved(cls, env: dict[str, str]) -> dict[str, str]:
        reserved = [
            f"{name} cannot be set here: {RESERVED_VARIABLES[name]}" for name in env if name in RESERVED_VARIABLES
        ]
        if reserved:
            raise ValueError("; ".join(reserved))
        return env


class Queue(_Section):
    """Which workloads belong into a Kueue LocalQueue of their own namespace."""

    namespaces: list[Pattern] = Field(min_length=1)
    local_queue: Name
    places_pods: bool = Field(
        default=True, description="Whether the queue's flavors select the nodes, so that no node affinity is injected."
    )


class Route(_Section):
    """Which workloads Volcano places as a gang (gpu-domain 3.4: the operators must be run with Volcano switched on)."""

    scheduler: Literal["volcano"] = "volcano"
    scheduler_name: Name = "volcano"
    kinds: list[Literal["PyTorchJob", "MPIJob"]] = ["PyTorchJob", "MPIJob"]
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    queue: Name = "default"


class Priorities(_Section):
    system_namespaces: list[Pattern] = Field(
        default=[
            "gpu-operator",
            "gpu-usher",
            "inteldeviceplugins-system",
            "kai-resource-reservation",
            "kai-scheduler",
            "kube-amd-gpu",
            "kube-system",
            "kueue-system",
            "node-feature-discovery",
            "nvidia-device-plugin",
            "nvidia-dra-driver-gpu",
            "nvidia-gpu-operator",
            "nvidia-network-operator",
            "runai",
            "runai-reservation",
            "volcano-system",
        ],
        description="Namespaces whose pods may use the classes system-cluster-critical and system-node-critical.",
    )


class Isolation(_Section):
    visible_devices: list[Pattern] = Field(
        default=[], description="Namespaces that may set NVIDIA_VISIBLE_DEVICES by hand, such as those of monitoring."
    )


class Identity(_Section):
    """Who somebody is, by what the API server says of them; no object can claim it."""

    users: list[UserPattern] = []
    groups: list[UserPattern] = []


_OF_CONTROLLERS: Final = (
    "gpu-operator",
    "kueue-system",
    "node-feature-discovery",
    "nvidia-gpu-operator",
    "volcano-system",
)
_OF_SCHEDULERS: Final = ("kai-scheduler", "koordinator-system", "runai", "volcano-system", "yunikorn")

DEFAULT_IDENTITIES: Final = {
    "administrators": Identity(groups=["system:masters"]),
    "controllers": Identity(
        users=[
            "system:kube-controller-manager",
            "system:apiserver",
            "system:node:*",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_CONTROLLERS),
        ]
    ),
    "schedulers": Identity(
        users=[
            "system:kube-scheduler",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_SCHEDULERS),
        ]
    ),
}


class ParameterValues(_Section):
    """Values for the parameters of one check, in some namespaces."""

    check: str = Field(description="Name or code of a check.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    values: dict[str, bool | int | str | list[str]] = Field(
        min_length=1, description="Values by the names that `usher explain CHECK` lists."
    )


class EnforcementRule(_Section):
    check: str = Field(description="Name, code or category of a check, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    roles: list[Literal["training", "inference", "batch", "interactive", "service", "system", "unknown"]] = Field(
        default=[], description="Roles of workloads for which the rule is; all, if none is given."
    )
    places: list[Place] = Field(
        default=[],
        description="Where the rule holds: in the webhooks, `usher check`, `usher audit`; in all, if none is given.",
    )
    action: Literal["deny", "warn", "audit", "off"]


class ExceptionRule(_Section):
    """A finding that somebody answers for, until a day: it is told, and held against nobody."""

    checks: list[str] = Field(min_length=1, description="Names or codes of checks.")
    namespaces: list[Pattern] = Field(min_length=1)
    kinds: list[str] = Field(default=[], description="Kinds of objects; all, if none is given.")
    names: list[Pattern] = Field(
        default=[], description="Names of objects, which anybody in the namespace can choose; all, if none is given."
    )
    owner: str = Field(min_length=1, max_length=253, description="Who answers for it.")
    reason: str = Field(min_length=1, max_length=1000)
    ticket: str = Field(min_length=1, max_length=253)
    expires: date = Field(description="The last day, in UTC, on which it holds.")


class Enforcement(_Section):
    preset: Literal["baseline", "recommended", "strict"] = "recommended"
    rules: list[EnforcementRule] = Field(default=[], description="The last rule that fits a finding decides.")
    exceptions: list[ExceptionRule] = Field(
        default=[], description="What would be denied or warned about is only noted, until it expires."
    )


class Config(_Section):
    """The whole of usher.yaml."""

    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["Config"] = "Config"
    accelerators: Accelerators = Accelerators()
    # Before the pools, whose validation looks into it.
    fabrics: dict[Name, Fabric] = {}
    pools: list[Pool] = []
    queues: list[Queue] = []
    routing: list[Route] = []
    priorities: Priorities = Priorities()
    isolation: Isolation = Isolation()
    identities: dict[Name, Identity] = Field(
        default={},
        description="Who is who, by name. administrators, controllers and schedulers have defaults, which an entry of "
        "that name replaces.",
    )
    parameters: list[ParameterValues] = Field(
        default=[], description="Parameters of checks; the last entry that fits decides about each value."
    )
    enforcement: Enforcement = Enforcement()
    exempt_namespaces: list[Pattern] = Field(
        default=DEFAULT_EXEMPT_NAMESPACES, description="Namespaces in which nothing is judged or changed."
    )

    @field_validator("pools")
    @classmethod
    def _have_names_of_their_own(cls, pools: list[Pool]) -> list[Pool]:
        names = [pool.name for pool in pools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"several pools are named {', '.join(twice)}; give each pool a name of its own")
        return pools

    @field_validator("pools")
    @classmethod
    def _name_fabrics_that_are_there(cls, pools: list[Pool], info: ValidationInfo) -> list[Pool]:
        # Fabrics that are wrong themselves are missing here, and reported already.
        fabrics = info.data.get("fabrics")
        if fabrics is None:
            return pools
        missing = [
            f"pool {pool.name} names the fabric {pool.fabric}, which fabrics does not define"
            for pool in pools
            if pool.fabric is not None and pool.fabric not in fabrics
        ]
        if missing:
            raise ValueError("; ".join(missing) + f"; defined are: {', '.join(sorted(fabrics)) or 'none'}")
        return pools
