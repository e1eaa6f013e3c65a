"""Computes the charge of objects and their quota, by the configuration and the facts in service."""

from collections.abc import Callable
from typing import Final

import orjson

from usher import memo, model, paths
from usher.authorities.gpu_quota import assignment, entries, judge, ledger
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live import object_metadata
from usher.authorities.knowledge import Knowledge
from usher.dataclass import dataclass
from usher.memo import Memo

LIKE_PODS: Final = 4096
"""How many different pods are remembered with their charge; an entry takes half a kilobyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectCharges:
    """The charges of objects by one state of knowledge."""

    known: Knowledge
    on_read: Callable[[str, Quota | Undecided | None], None] | None = None
    """Called with the namespace of each object and its quota at that moment."""

    def of(self, value: paths.Object) -> ByClasses:
        """The charge of an object; empty where no quota holds for its namespace, or it is undecided which."""
        namespace = object_metadata.namespace(value)
        quota = self.quota(namespace)
        if self.on_read is not None:
            self.on_read(namespace, quota)
        if quota is None or isinstance(quota, Undecided):
            return {}
        workload = self.known.workload(value, namespace=namespace)
        return {} if workload is None else self.of_workload(workload, quota)

    def quota(self, namespace: str) -> Quota | Undecided | None:
        """The quota of a namespace."""
        return assignment.read(self.known, namespace)

    def of_workload(self, workload: model.Workload, quota: Quota) -> ByClasses:
        """The charge of a workload by a quota.

        An unbounded workload is charged nothing, because its pods are charged one by one. A pod that asks for all
        devices of a node is charged for its other requests; a check denies it.
        """
        found = judge.charge(self.known, workload, quota)
        if (found.unbounded and not workload.is_pod) or (found.suspended and not quota.charges_suspended):
            return {}
        return entries.tidy(ledger.relevant(found.amounts, quota.limits))


class RememberedCharges:
    """Memoised charges for a scan of all pods of a cluster: equal pods are read once."""

    def __init__(self, charges: ObjectCharges) -> None:
        self._charges = charges
        self._memo: Memo[tuple[str, int, bytes], ByClasses] = Memo(LIKE_PODS)

    def of(self, value: paths.Object) -> ByClasses:
        """The charge of an object. Equal pods share one value; callers must not change it."""
        digest = _digest(value) if value.get("kind") == "Pod" and value.get("apiVersion") == "v1" else None
        if digest is None:
            return self._charges.of(value)
        key = object_metadata.namespace(value), self._charges.known.facts.revision, digest
        return self._memo.get(key, lambda: self._charges.of(value))


def _digest(pod: paths.Object) -> bytes | None:
    """A digest that differs for pods with different charges; None where the charge depends on other objects (claims).

    Labels and the node do not change what a pod asks for, and they differ within one workload.
    """
    spec, metadata = pod.get("spec"), pod.get("metadata")
    if not isinstance(spec, dict) or not isinstance(metadata, dict) or spec.get("resourceClaims"):
        return None
    asked = {key: value for key, value in spec.items() if key != "nodeName"}
    try:
        return memo.digest(orjson.dumps((asked, metadata.get("annotations"))))
    except orjson.JSONEncodeError:  # Python's own parser takes half surrogates and very large integers, orjson does not
        return None
