"""The kinds of values that usher.yaml is made of: names, patterns, and what every section of it has in common."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

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
Duration = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}[smh]$")]
"""A number of seconds, minutes or hours, as in `90s`."""
Place = Literal["admission", "check", "audit"]
"""Who asks: the webhooks, `usher check`, `usher audit`."""
Role = Literal["training", "inference", "batch", "interactive", "service", "system", "unknown"]
"""What a workload is for, as `usher workload show` tells."""


def seconds(duration: Duration) -> float:
    """How long a duration is."""
    return float(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


class Section(BaseModel):
    """A part of usher.yaml: unknown keys are refused, and nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class Selector(Section):
    """Which workloads an entry is for. The first entry of a list that fits a workload decides."""

    namespaces: list[Pattern] = Field(min_length=1, description="Namespaces, in which * stands for any characters.")
    roles: list[Role] = Field(default=[], description="Roles of workloads; all, if none is given.")
    kinds: list[str] = Field(default=[], description="Kinds of objects, such as PyTorchJob; all, if none is given.")
    min_accelerators: int = Field(
        default=0, ge=0, le=2**31, description="Only workloads whose pods together ask for so many at least."
    )
    max_accelerators: int | None = Field(
        default=None, ge=0, le=2**31, description="Only workloads whose pods together ask for so many at most."
    )

    @model_validator(mode="after")
    def _fits_some_size(self) -> "Selector":
        if self.max_accelerators is not None and self.max_accelerators < self.min_accelerators:
            raise ValueError(
                f"no workload asks for {self.min_accelerators} at least and {self.max_accelerators} at most; "
                "swap minAccelerators and maxAccelerators"
            )
        return self
