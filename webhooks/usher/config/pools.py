"""What usher.yaml says of node pools: how to recognise their nodes, and what these ask of a pod."""

from typing import Final, Literal

from pydantic import Field, field_validator

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
