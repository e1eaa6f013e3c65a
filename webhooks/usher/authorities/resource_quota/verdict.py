"""The verdict of the ResourceQuotas of a namespace on a workload."""

from usher import model
from usher.authorities.limited_resource import LimitedResource
from usher.authorities.verdict import Verdict
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstatedAmount:
    """An amount that a container must state because a quota counts it; else the API server refuses the pod."""

    quota: str
    container: model.Container
    what: str
    """The field to set, for example `limits.memory`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclearQuota:
    """A quota that may count the pods of a pod set; usher cannot decide it."""

    quota: str
    pod_set: model.PodSet


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaVerdict(Verdict):
    limited: tuple[LimitedResource, ...]
    """Every quota key that counts the pods, with or without enough room."""
    unstated: tuple[UnstatedAmount, ...]
    unclear: tuple[UnclearQuota, ...]
    uncounted: tuple[str, ...]
    """Accelerator resources and device classes that no quota counts for these pods."""

    @property
    def needed(self) -> tuple[LimitedResource, ...]:
        """The resources where usage decides whether there is room."""
        return tuple(each for each in self.limited if each.needs and each.could_suffice)
