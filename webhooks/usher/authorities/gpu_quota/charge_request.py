"""A request of a review to charge a workload to its GPUQuota."""

from usher import model, paths
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRequest:
    """A workload that the policies allow."""

    uid: str
    """The uid of the review; the key of an object that has neither a name nor a uid yet."""
    workload: model.Workload
    value: paths.Object
    """The manifest of the workload."""
    old_value: paths.Object | None = None
    """The object before an UPDATE."""
    creates: bool = True
    dry_run: bool = False
