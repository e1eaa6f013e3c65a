"""An existing object that holds accelerators, or that is between an object with accelerators and its owner."""

from usher.authorities.gpu_quota.reconciliation import Holding
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An object that exists."""

    holding: Holding
    owner: str
    """The uid of its controlling owner; empty where it has no controlling owner."""

    @property
    def is_pod(self) -> bool:
        return self.holding.kind == "Pod" and not self.holding.group
