"""The sections `pools`, `gangs` and `quotas` of usher.yaml. GPUQuotas of a cluster have the same models."""

import re
from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from usher import errors, memo, quantities
from usher.config.selection import LabelKey, LabelValue, Name, Pattern, ResourceName, Role, Section

MOST: Final = 10**9
"""The largest limit, beyond the size of any cluster."""

MOST_LIMITS: Final = 16
MOST_UNITS: Final = 64

PROFILE_PATTERN: Final = r"[1-8]g\.(0|[1-9][0-9]{0,3})gb(\+me|\+me\.all|\+gfx|-me)?"
UNIT_PATTERN: Final = rf"^(gpus|slices|memoryGiB|profiles\.{PROFILE_PATTERN})$"
AMOUNT_PATTERN: Final = r"^((0|[1-9][0-9]{0,8})(\.[0-9]{1,3})?|[1-9][0-9]{0,11}m)$"

_UNIT: Final = memo.pattern(UNIT_PATTERN[1:-1])
_AMOUNT: Final = memo.pattern(AMOUNT_PATTERN[1:-1], re.ASCII)

_EXPRESSIONS: Final = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
"""Operators, with whether they take values."""


def _unit(name: str) -> str:
    if _UNIT.fullmatch(name) is None:
        units = "gpus, slices, memoryGiB, and profiles. with the name of a MIG profile (profiles.1g.10gb)"
        raise ValueError(f"{name[:64]!r} is not a unit of a quota; units are {units}")
    return name


def _number_or_text(value: object) -> object:
    """Reports a wrong type once: for a union, pydantic would report it once for each type."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("expected a number, for example 16")
    return value


def _amount(value: int | str) -> int | str:
    if isinstance(value, str) and _AMOUNT.fullmatch(value) is None:
        raise ValueError(f"{value[:32]!r} is not an amount; write a number (16) or thousandths (3500m)")
    if isinstance(value, int) and not 0 <= value <= MOST:
        raise ValueError(f"a limit is at least 0, and at most {MOST}")
    return value


Unit = Annotated[
    str, AfterValidator(_unit), WithJsonSchema({"type": "string", "pattern": UNIT_PATTERN, "maxLength": 64})
]
"""`gpus`, `slices`, `memoryGiB`, or `profiles.` with the name of a MIG profile."""
Amount = Annotated[int | str, BeforeValidator(_number_or_text), AfterValidator(_amount)]
"""A whole number or a quantity."""


class Limit(Section):
    """The largest amounts in use at the same time."""

    hard: dict[Unit, Amount] = Field(
        min_length=1,
        max_length=MOST_UNITS,
        description="By unit: gpus, slices, memoryGiB, or profiles. with a MIG profile (profiles.1g.10gb).",
    )
    priority_classes: list[Name] = Field(
        default=[], max_length=16, description="Only for pods of these PriorityClasses; by default for all pods."
    )


class Assumption(Section):
    """The assumed board of whole devices whose board neither nodes nor pools name."""

    board: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="A board that MIG can divide: H100-80."
    )
    slices: int | None = Field(default=None, ge=1, le=64, description="MIG slices of one device.")
    memory_gib: int | None = Field(
        default=None, ge=1, le=65536, alias="memoryGiB", description="Memory of one device, in GiB."
    )

    @model_validator(mode="after")
    def _check_board_or_sizes(self) -> "Assumption":
        if self.board is not None and (self.slices is not None or self.memory_gib is not None):
            raise ValueError("the board decides slices and memory; leave out either the board or both of these")
        if self.board is None and self.slices is None and self.memory_gib is None:
            raise ValueError("the assumption is empty; set a board, or slices and memoryGiB")
        return self


class LabelRequirement(Section):
    key: LabelKey = Field(description="A label of namespaces.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="How its value is compared.")
    values: list[LabelValue] = Field(
        default=[], max_length=256, description="The values to compare with, for In and NotIn."
    )

    @model_validator(mode="after")
    def _check_values(self) -> "LabelRequirement":
        if _EXPRESSIONS[self.operator] != bool(self.values):
            wants = "at least one value" if _EXPRESSIONS[self.operator] else "no values"
            raise ValueError(f"{self.operator} takes {wants}")
        return self


class NamespaceSelector(Section):
    """Selects namespaces by labels; all conditions must match, and an empty selector matches every namespace."""

    match_labels: dict[LabelKey, LabelValue] = Field(
        default={}, max_length=64, description="Labels that a namespace has, with their values."
    )
    match_expressions: list[LabelRequirement] = Field(
        default=[], max_length=64, description="Comparisons of labels; all must hold."
    )


class QuotaSpec(Section):
    """The spec of a GPUQuota."""

    namespaces: list[Pattern] = Field(
        default=[], max_length=256, description="Namespaces, in which * stands for any characters."
    )
    namespace_selector: NamespaceSelector | None = Field(
        default=None, description="Namespaces by their labels; with namespaces as well, both must match."
    )
    limits: list[Limit] = Field(min_length=1, max_length=MOST_LIMITS, description="All of them apply.")
    assumes: Assumption | None = Field(default=None, description="What whole devices of an unknown board count as.")
    charges_suspended: bool = Field(default=True, description="Whether a workload is charged while it is suspended.")

    @model_validator(mode="after")
    def _check_some_namespaces(self) -> "QuotaSpec":
        if not self.namespaces and self.namespace_selector is None:
            raise ValueError("the quota is for no namespace; set namespaces or a namespaceSelector")
        return self


class Quota(QuotaSpec):
    """A quota without a GPUQuota object. The webhooks charge it in a live cluster; CI tells what it can never give."""

    name: Name = Field(description="The name of the quota in reports and of its account.")


_OF_KUBERNETES: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints of nodes that are temporarily unusable; pods should not tolerate them for long."""

_TEXT: Final = memo.pattern(r"(?P<key>[^=:\s]{1,317})(?:=(?P<value>[^=:\s]{0,63}))?:(?P<effect>[A-Za-z]{1,32})")
_PLAIN_TEXT: Final = "[^=:\\s]+(=[^=:\\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)"


class Taint(Section):
    """A taint as in a Node, or as `kubectl describe node` shows it: nvidia.com/gpu=present:NoSchedule."""

    key: LabelKey = Field(description="The key of the taint.")
    value: LabelValue = Field(default="", description="Its value; by default empty.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        default="NoSchedule", description="Its effect."
    )

    @model_validator(mode="before")
    @classmethod
    def _as_pasted(cls, value: object) -> object:
        if isinstance(value, str):
            found = _TEXT.fullmatch(value)
            if found is None:
                raise ValueError("a taint as text is KEY=VALUE:EFFECT or KEY:EFFECT")
            return {name: text for name, text in found.groupdict().items() if text is not None}
        if isinstance(value, dict):
            return {name: each for name, each in value.items() if name != "timeAdded"}
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        as_object = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [as_object, {"type": "string", "pattern": f"^{_PLAIN_TEXT}$"}]}

    @field_validator("key")
    @classmethod
    def _check_not_a_node_state(cls, key: str) -> str:
        if key.startswith(_OF_KUBERNETES):
            raise ValueError(
                f"{key} marks a node that cannot be used now, and usher adds no toleration for it: leave it out"
            )
        return key


class Gpus(Section):
    """The GPUs of one node of a pool, beyond what Kubernetes knows of them."""

    board: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][-A-Za-z0-9]{0,62}$",
        description="The board, where MIG divides it, for example H100-80. It decides which slices fit.",
    )
    per_node: int = Field(ge=1, le=1024, description="GPUs of one node.")
    mig_strategy: Literal["none", "single", "mixed"] = Field(
        default="none",
        description="The MIG strategy of NVIDIA's device plugin. With single, nvidia.com/gpu is a slice; with mixed, "
        "slices have names of their own.",
    )
    per_numa_node: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="GPUs of one NUMA node, where the kubelets' Topology Manager has the policy single-numa-node: a "
        "container that asks for more is refused on every node. Leave it out for other policies.",
    )


class PoolUse(Section):
    """The pods that a pool is for. All conditions must hold; of a list, one entry is enough."""

    roles: list[Role] = Field(default=[], description="Roles of workloads (docs/roles-and-pools.md); by default all.")
    namespaces: list[Pattern] = Field(
        default=[], max_length=256, description="Namespaces, in which * stands for any characters; by default all."
    )
    min_accelerators_per_pod: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="Only pods that ask for at least this number of accelerators: 8 for whole nodes.",
    )
    max_accelerators_per_pod: int | None = Field(
        default=None, ge=0, le=1024, description="Only pods that ask for at most this number of accelerators."
    )

    @model_validator(mode="after")
    def _check_some_pods(self) -> "PoolUse":
        most = self.max_accelerators_per_pod
        if most is not None and most < self.min_accelerators_per_pod:
            raise ValueError(
                f"no pod asks for {self.min_accelerators_per_pod} at least and {most} at most; swap "
                "minAcceleratorsPerPod and maxAcceleratorsPerPod"
            )
        if not self.roles and not self.namespaces and not self.min_accelerators_per_pod and most is None:
            raise ValueError("the pool is for all pods; set roles, namespaces or a number of accelerators, or no for")
        return self


class Pool(Section):
    """A node pool: how its nodes are recognised, and what they require of pods."""

    name: Name = Field(description="A name for reports; usher compares it with nothing in the cluster.")
    node_selector: dict[LabelKey, LabelValue] = Field(
        min_length=1, description="Labels that all nodes of the pool have, and no other node has."
    )
    taints: list[Taint] = Field(default=[], description="Taints that all its nodes have.")
    resources: list[ResourceName] = Field(
        default=["nvidia.com/gpu"], description="Accelerator resources that its nodes offer."
    )
    serves: PoolUse | None = Field(
        default=None,
        alias="for",
        description="The pods that the pool is for; by default all. Other pods get no toleration and no affinity for "
        "it, and usher reports those that select it. Namespaces of the system use every pool.",
    )
    fabric: Name | None = Field(default=None, description="Name of the interconnect profile in `fabrics`.")
    gpu: Gpus | None = Field(default=None, description="The GPUs of one node.")
    allocatable: dict[ResourceName, str | int] = Field(
        default={},
        description="The resources that one node offers to pods, as in its status; needed while the pool has no node. "
        "A resource that is missing here may have any amount, except accelerators. usher warns about extended "
        "resources that pods ask for and no pool lists (USH341).",
    )
    scales_from_zero: bool | None = Field(
        default=None,
        description="Whether an autoscaler adds nodes to a pool without nodes. Without a value, usher assumes that a "
        "pool without nodes can hold every pod that `allocatable` does not exclude.",
    )
    max_nodes: int | None = Field(
        default=None, ge=0, le=100_000, description="The most nodes that an autoscaler gives the pool."
    )

    @field_validator("allocatable")
    @classmethod
    def _check_quantities(cls, amounts: dict[str, str | int]) -> dict[str, str | int]:
        for name, text in amounts.items():
            try:
                found = quantities.parse(text)
            except errors.QuantityError as error:
                raise ValueError(f"{name}: {error}") from error
            if found.nanos < 0:
                raise ValueError(f"{name}: {text} is negative")
        return amounts

    @model_validator(mode="after")
    def _check_room_to_scale(self) -> "Pool":
        if self.scales_from_zero and self.max_nodes == 0:
            raise ValueError("a pool that scales has room for one node: set maxNodes to 1 or more, or leave it out")
        return self

    @model_validator(mode="after")
    def _check_a_node_is_large_enough(self) -> "Pool":
        least = 0 if self.serves is None else self.serves.min_accelerators_per_pod
        if self.gpu is not None and self.gpu.mig_strategy == "none" and least > self.gpu.per_node:
            raise ValueError(
                f"the pool is for pods with at least {least} accelerators, but a node has {self.gpu.per_node}; lower "
                "for.minAcceleratorsPerPod"
            )
        return self

    @property
    def scales(self) -> bool:
        """Whether an autoscaler adds nodes to the existing ones."""
        return bool(self.scales_from_zero) or self.max_nodes is not None


class Gangs(Section):
    """Pods that start together."""

    different_boards: Literal["warn", "narrow"] = Field(
        default="warn",
        description="What usher does where the pods of a gang may run on pools with different boards: warn, or bind "
        "them to the board of the first of these pools, in the order of usher.yaml.",
    )
