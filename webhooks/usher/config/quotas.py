"""The section `quotas` of usher.yaml. The same models read the spec of a GPUQuota in the cluster."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from usher.config.fields import LabelKey, LabelValue, Name, Pattern, Section, repeated

MOST: Final = 10**9
"""The largest limit, beyond the size of any cluster."""

MOST_LIMITS: Final = 16
MOST_UNITS: Final = 64

PROFILE_PATTERN: Final = r"[1-8]g\.(0|[1-9][0-9]{0,3})gb(\+me|\+me\.all|\+gfx|-me)?"
UNIT_PATTERN: Final = rf"^(gpus|slices|memoryGiB|profiles\.{PROFILE_PATTERN})$"
AMOUNT_PATTERN: Final = r"^((0|[1-9][0-9]{0,8})(\.[0-9]{1,3})?|[1-9][0-9]{0,11}m)$"

_UNIT: Final = re.compile(UNIT_PATTERN[1:-1])
_AMOUNT: Final = re.compile(AMOUNT_PATTERN[1:-1], re.ASCII)

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


def check_unique_names(quotas: list[Quota]) -> list[Quota]:
    """Returns the quotas. Raises ValueError where two have the same name."""
    names = [quota.name for quota in quotas]
    twice = repeated(names)
    if twice:
        raise ValueError(f"several quotas are named {', '.join(twice)}; give each quota a name of its own")
    return quotas


Quotas = Annotated[list[Quota], AfterValidator(check_unique_names)]
