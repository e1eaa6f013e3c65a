"""An object that exists and holds accelerators, or stands between such an object and its owner."""

from dataclasses import dataclass

from usher.authorities.gpu_quota.reconciliation import Holding


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An object that exists."""

    holding: Holding
    owner: str
    """uid of its controlling owner; empty where it has none."""

    @property
    def is_pod(self) -> bool:
        return self.holding.kind == "Pod" and not self.holding.group
