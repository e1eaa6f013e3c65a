"""Quotas of GPUs in usher.yaml. The spec of a GPUQuota is read by the same models."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from usher.config.fields import LabelKey, LabelValue, Name, Pattern, Section

MOST: Final = 10**9
"""Largest limit of a unit; no cluster has as much."""

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
        units = "gpus, slices, memoryGiB, and profiles. with the name of a MIG profile, such as profiles.1g.10gb"
        raise ValueError(f"{name[:64]!r} is not a unit of a quota; units are {units}")
    return name


def _number_or_text(value: object) -> object:
    """Rejects other types with one error; pydantic reports one for each type of a union."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("expected a number, such as 16")
    return value


def _amount(value: int | str) -> int | str:
    if isinstance(value, str) and _AMOUNT.fullmatch(value) is None:
        raise ValueError(f"{value[:32]!r} is not an amount; write a number, such as 16, or parts of one, such as 3500m")
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
    """The most that workloads hold at the same time."""

    hard: dict[Unit, Amount] = Field(
        min_length=1,
        max_length=MOST_UNITS,
        description="By unit: gpus, slices, memoryGiB, or profiles. with a MIG profile (profiles.1g.10gb).",
    )
    priority_classes: list[Name] = Field(
        default=[], max_length=16, description="Only for pods of these PriorityClasses; of all, if none is given."
    )


class Assumption(Section):
    """The board of whole devices, where neither nodes nor pools of usher.yaml name it."""

    board: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="A board that MIG can divide, such as H100-80."
    )
    slices: int | None = Field(default=None, ge=1, le=64)
    memory_gib: int | None = Field(default=None, ge=1, le=65536, alias="memoryGiB")

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Assumption":
        if self.board is not None and (self.slices is not None or self.memory_gib is not None):
            raise ValueError("the board tells slices and memory; leave out either it or them")
        if self.board is None and self.slices is None and self.memory_gib is None:
            raise ValueError("it assumes nothing; name a board, or slices and memoryGiB")
        return self


class LabelRequirement(Section):
    key: LabelKey
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[LabelValue] = Field(default=[], max_length=256)

    @model_validator(mode="after")
    def _takes_values_or_none(self) -> "LabelRequirement":
        if _EXPRESSIONS[self.operator] != bool(self.values):
            wants = "at least one value" if _EXPRESSIONS[self.operator] else "no values"
            raise ValueError(f"{self.operator} takes {wants}")
        return self


class NamespaceSelector(Section):
    """Selects namespaces by labels: all conditions must fit. An empty selector fits every namespace."""

    match_labels: dict[LabelKey, LabelValue] = Field(default={}, max_length=64)
    match_expressions: list[LabelRequirement] = Field(default=[], max_length=64)


class QuotaSpec(Section):
    """The spec of a GPUQuota."""

    namespaces: list[Pattern] = Field(
        default=[], max_length=256, description="Namespaces, in which * stands for any characters."
    )
    namespace_selector: NamespaceSelector | None = Field(
        default=None, description="Namespaces by their labels; where namespaces are given too, both must fit."
    )
    limits: list[Limit] = Field(min_length=1, max_length=MOST_LIMITS, description="Each of them holds.")
    assumes: Assumption | None = None
    charges_suspended: bool = Field(default=True, description="Whether a workload is charged while it is suspended.")

    @model_validator(mode="after")
    def _is_for_some_namespaces(self) -> "QuotaSpec":
        if not self.namespaces and self.namespace_selector is None:
            raise ValueError("it is for no namespace; give namespaces, or a namespaceSelector")
        return self


class Quota(QuotaSpec):
    """A quota without a GPUQuota object. The webhooks charge it in a live cluster; CI tells what it can never give."""

    name: Name


def names_of_their_own(quotas: list[Quota]) -> list[Quota]:
    """The same quotas. Raises ValueError where two share a name."""
    names = [quota.name for quota in quotas]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several quotas are named {', '.join(twice)}; give each quota a name of its own")
    return quotas


Quotas = Annotated[list[Quota], AfterValidator(names_of_their_own)]
