"""usher.yaml as pydantic models. Every field has a default that is safe on a cluster we know nothing about."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

API_VERSION: Final = "gpu-usher.io/v1alpha1"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]
Pattern = Annotated[str, StringConstraints(pattern=r"^[-a-z0-9.*]+$", max_length=253)]
"""A namespace name in which `*` stands for any characters."""
LabelKey = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)]
ResourceName = LabelKey
ResourcePrefix = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_./]*$", max_length=317)]
"""What resource names begin with; never empty, or every resource would be meant."""
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=256)]

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

DEFAULT_EXEMPT_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "gpu-usher", "gpu-operator"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class Accelerators(_Section):
    """The vocabulary: which resources are accelerators (gpu-domain 4.1). Lists given here add to the defaults."""

    names: list[ResourceName] = Field(
        default=[], description="Resource names that are accelerators, beside the known ones."
    )
    prefixes: list[ResourcePrefix] = Field(default=[], description="Prefixes of such names.")
    taints: dict[ResourcePrefix, LabelKey] = Field(
        default={},
        description="Taint key that nodes with a resource carry, by resource name or prefix, where no pool says it.",
    )


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
        default=["kube-system", "gpu-operator", "gpu-usher", "kueue-system", "volcano-system"],
        description="Namespaces whose pods may use the classes system-cluster-critical and system-node-critical.",
    )


class Isolation(_Section):
    visible_devices: list[Pattern] = Field(
        default=[], description="Namespaces that may set NVIDIA_VISIBLE_DEVICES by hand, such as those of monitoring."
    )


class EnforcementRule(_Section):
    check: str = Field(description="Name or code of a check, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    action: Literal["deny", "warn", "audit", "off"]


class Enforcement(_Section):
    preset: Literal["baseline", "recommended", "strict"] = "recommended"
    rules: list[EnforcementRule] = Field(default=[], description="The last rule that fits a finding decides.")


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
