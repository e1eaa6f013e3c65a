"""What usher.yaml says of node pools: how to recognise their nodes, and what these ask of a pod."""

from typing import Final, Literal

from pydantic import Field, field_validator, model_validator

from usher import errors, quantities
from usher.config.fields import LabelKey, LabelValue, Name, ResourceName, Section

_OF_KUBERNETES: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints of nodes that cannot be used now; nobody should tolerate them for long."""


class Taint(Section):
    key: LabelKey
    value: LabelValue = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"

    @field_validator("key")
    @classmethod
    def _is_no_state_of_a_node(cls, key: str) -> str:
        if key.startswith(_OF_KUBERNETES):
            raise ValueError(
                f"{key} says that a node cannot be used now; no pod is given a toleration of it: leave it out"
            )
        return key


class Gpus(Section):
    """The GPUs of one node of a pool, beside what Kubernetes tells of them."""

    board: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][-A-Za-z0-9]{0,62}$",
        description="The board, where MIG divides it, such as H100-80: it tells which slices fit on it.",
    )
    per_node: int = Field(ge=1, le=1024, description="GPUs of one node.")
    mig_strategy: Literal["none", "single", "mixed"] = Field(
        default="none",
        description="Of NVIDIA's device plugin. Under single, nvidia.com/gpu is a slice; under mixed, slices have "
        "names of their own.",
    )
    per_numa_node: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="GPUs of one NUMA node, where the kubelets' Topology Manager has the policy single-numa-node: a "
        "container that asks for more is refused on every node. Leave it out for other policies.",
    )


class Pool(Section):
    """A node pool: how its nodes are recognised and what they ask of a pod."""

    name: Name
    node_selector: dict[LabelKey, LabelValue] = Field(
        min_length=1, description="Labels that all nodes of the pool carry and no other node does."
    )
    taints: list[Taint] = Field(default=[])
    resources: list[ResourceName] = Field(
        default=["nvidia.com/gpu"], description="Accelerator resources that its nodes offer."
    )
    fabric: Name | None = Field(default=None, description="Name of the interconnect profile in `fabrics`.")
    gpu: Gpus | None = Field(default=None)
    allocatable: dict[ResourceName, str | int] = Field(
        default={},
        description="What one node offers to pods, as in its status: where no node is there yet, this is all that is "
        "known. A resource that is not named may be there in any amount, but for accelerators.",
    )
    scales_from_zero: bool | None = Field(
        default=None,
        description="Whether an autoscaler adds nodes, even where there is none. While it is not said, a pool without "
        "nodes may hold whatever `allocatable` does not exclude, and nothing is found against it.",
    )
    max_nodes: int | None = Field(
        default=None, ge=0, le=100_000, description="The most nodes that an autoscaler makes of it."
    )

    @field_validator("allocatable")
    @classmethod
    def _are_quantities(cls, amounts: dict[str, str | int]) -> dict[str, str | int]:
        for name, text in amounts.items():
            try:
                found = quantities.parse(text)
            except errors.QuantityError as error:
                raise ValueError(f"{name}: {error}") from error
            if found.nanos < 0:
                raise ValueError(f"{name}: {text} is less than nothing")
        return amounts

    @model_validator(mode="after")
    def _scales_to_some_node(self) -> "Pool":
        if self.scales_from_zero and self.max_nodes == 0:
            raise ValueError("a pool that scales has room for one node: set maxNodes to 1 or more, or leave it out")
        return self

    @property
    def scales(self) -> bool:
        """Whether nodes are added beside those that are there."""
        return bool(self.scales_from_zero) or self.max_nodes is not None
