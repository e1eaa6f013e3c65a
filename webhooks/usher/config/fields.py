"""The types of values in usher.yaml: names, patterns, and the base of every section."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Final, Literal

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
"""The start of resource names; never empty, because that would match every resource."""
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=256)]
UserPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.:@/*+=,]+$", max_length=512)]
"""Name of a user or group in which `*` stands for any characters."""
Duration = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}[smh]$")]
"""A number of seconds, minutes or hours, as in `90s`."""
Place = Literal["admission", "check", "audit"]
"""Where a decision is made: in the webhooks, `usher check` or `usher audit`."""
Role = Literal["training", "inference", "batch", "interactive", "service", "system", "unknown"]
"""The purpose of a workload, as in `usher workload show`."""


ANY_NAMESPACE: Final = "Namespaces, in which * stands for any characters; by default all."


def seconds(duration: Duration) -> float:
    """The number of seconds of a duration."""
    return float(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, sorted."""
    return sorted(name for name, number in Counter(names).items() if number > 1)


class Section(BaseModel):
    """A part of usher.yaml: unknown keys are refused, and nothing changes after loading."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


class Selector(Section):
    """The workloads of an entry. The first entry of a list that matches a workload decides."""

    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    roles: list[Role] = Field(default=[], description="Roles of workloads; by default all.")
    kinds: list[str] = Field(default=[], description="Kinds of objects: PyTorchJob. By default all.")
    min_accelerators: int = Field(
        default=0, ge=0, le=2**31, description="Only workloads whose pods together ask for at least this number."
    )
    max_accelerators: int | None = Field(
        default=None, ge=0, le=2**31, description="Only workloads whose pods together ask for at most this number."
    )

    @model_validator(mode="after")
    def _check_size_is_possible(self) -> "Selector":
        if self.max_accelerators is not None and self.max_accelerators < self.min_accelerators:
            raise ValueError(
                f"no workload asks for {self.min_accelerators} at least and {self.max_accelerators} at most; "
                "swap minAccelerators and maxAccelerators"
            )
        return self
