"""What an authority is: it says of a workload that it never starts, or not now."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from usher import model
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess
from usher.authorities.knowledge import Knowledge
from usher.authorities.outlook import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRefusal:
    """Why a GPUQuota refused to be charged for a workload."""

    quota: Quota
    excesses: tuple[Excess, ...]


class Ground(Protocol):
    """Facts that change without a new revision, and on which a slice rests."""

    def still_holds(self, known: Knowledge) -> bool:
        """Whether the slice would be the same by what is known now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A workload to judge."""

    workload: model.Workload
    before: model.Workload | None = None
    """The workload as it was before the mutating webhook changed it."""
    refusal: QuotaRefusal | None = None
    grounds: list[Ground] = field(default_factory=list)
    """Slices add what they rest on beside the revisions of the facts."""


Slice = Callable[[Case, Knowledge], Mapping[str, Any] | None]
"""What Rego sees; None where there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    outlook: Callable[[Case, Knowledge], Iterable[Section]]
    """What `usher queue` says."""
    slices: Mapping[str, Slice] = field(default_factory=dict)
    """Of objects that make pods, by the field of `input.cluster`."""
    object_slices: Mapping[str, Slice] = field(default_factory=dict)
    """Of objects that make no pods."""
    speaks_without_cluster: bool = False
    """Whether usher.yaml alone may make it speak."""
