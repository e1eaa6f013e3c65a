"""What the ResourceQuotas of a namespace say of a workload."""

from dataclasses import dataclass

from usher import model
from usher.authorities.limited_resource import LimitedResource
from usher.authorities.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstatedAmount:
    """What a container must state because a quota counts it: else the API server accepts no such pod."""

    quota: str
    container: model.Container
    what: str
    """As in `limits.memory`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclearQuota:
    """A quota that may or may not count the pods of a pod set."""

    quota: str
    pod_set: model.PodSet


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaVerdict(Verdict):
    limited: tuple[LimitedResource, ...]
    """Of every key by which pods are counted, enough or not."""
    unstated: tuple[UnstatedAmount, ...]
    unclear: tuple[UnclearQuota, ...]
    uncounted: tuple[str, ...]
    """Accelerator resources and device classes that no quota counts for these pods."""

    @property
    def needed(self) -> tuple[LimitedResource, ...]:
        """Resources of which usage decides whether there is room."""
        return tuple(each for each in self.limited if each.needs and each.could_suffice)
