"""usher.yaml as pydantic models. Every field has a default that is safe on a cluster we know nothing about."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

API_VERSION: Final = "gpu-usher.io/v1alpha1"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]
Pattern = Annotated[str, StringConstraints(pattern=r"^[-a-z0-9.*]+$", max_length=253)]
"""A namespace name in which `*` stands for any characters."""
LabelKey = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=256)]

DEFAULT_EXEMPT_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "gpu-usher", "gpu-operator"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class Accelerators(_Section):
    """The vocabulary: which resources are accelerators (gpu-domain 4.1). Lists given here add to the defaults."""

    names: list[str] = Field(default=[], description="Resource names that are accelerators, beside the known ones.")
    prefixes: list[str] = Field(default=[], description="Prefixes of such names.")
    taints: dict[str, str] = Field(
        default={},
        description="Taint key that nodes with a resource carry, by resource name or prefix, where no pool says it.",
    )


class Taint(_Section):
    key: LabelKey
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"


class Pool(_Section):
    """A node pool: how its nodes are recognised and what they ask of a pod."""

    name: Name
    node_selector: dict[LabelKey, str] = Field(
        min_length=1, description="Labels that all nodes of the pool carry and no other node does."
    )
    taints: list[Taint] = []
    resources: list[str] = Field(default=["nvidia.com/gpu"], description="Accelerator resources that its nodes offer.")
    fabric: Name | None = Field(default=None, description="Name of the interconnect profile in `fabrics`.")


class Fabric(_Section):
    """An interconnect profile; injected into the training containers of workloads that span several pods."""

    env: dict[VariableName, str] = Field(min_length=1)


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
    pools: list[Pool] = []
    fabrics: dict[Name, Fabric] = {}
    queues: list[Queue] = []
    routing: list[Route] = []
    priorities: Priorities = Priorities()
    isolation: Isolation = Isolation()
    enforcement: Enforcement = Enforcement()
    exempt_namespaces: list[Pattern] = Field(
        default=DEFAULT_EXEMPT_NAMESPACES, description="Namespaces in which nothing is judged or changed."
    )
