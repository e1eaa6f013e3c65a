"""An authority says whether a workload can never start, or cannot start now."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Protocol

from usher import model
from usher.authorities.beside import NOTHING, Beside
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Section
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRefusal:
    """A GPUQuota that refused the charge of a workload, with the limits that it exceeds."""

    quota: Quota
    excesses: tuple[Excess, ...]


class Ground(Protocol):
    """Facts that a slice depends on and that change without a new revision."""

    def still_holds(self, known: Knowledge) -> bool:
        """Whether the current knowledge gives the same slice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A workload to judge."""

    workload: model.Workload
    before: model.Workload | None = None
    """The workload before the mutating webhook changed it."""
    refusal: QuotaRefusal | None = None
    beside: Beside = NOTHING
    """The facts about the workload from other objects of the same files."""
    grounds: list[Ground] = field(default_factory=list)
    """Slices add facts here whose changes the revisions do not show."""


Slice = Callable[[Case, Knowledge], Mapping[str, Any] | None]
"""Makes the part of the Rego input that one authority gives; None where the authority has nothing to report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    outlook: Callable[[Case, Knowledge], Iterable[Section]]
    """Gives the sections of `usher queue`."""
    slices: Mapping[str, Slice] = field(default_factory=dict)
    """Slices for objects that make pods, by the field of `input.cluster`."""
    object_slices: Mapping[str, Slice] = field(default_factory=dict)
    """Slices for objects that do not make pods, by the field of `input.cluster`."""
    speaks_without_cluster: bool = False
    """Whether the authority can answer from usher.yaml alone."""
