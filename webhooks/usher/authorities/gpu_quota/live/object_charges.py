"""What objects are charged, and to which quota, by the configuration and the facts in service."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import orjson

from usher import model, paths
from usher.authorities.gpu_quota import assignment as gpu_quota_assignment
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota import entries, ledger
from usher.authorities.gpu_quota.assignment import Undecided
from usher.authorities.gpu_quota.charge import ByClasses, Charge
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.gpu_quota.live import observer
from usher.facts.store import Store
from usher.policy.evaluator import Evaluator, Request
from usher.workloads import fingerprints

_ASSIGNMENT: Final = [("", "Namespace"), (GROUP, KIND)]

LIKE_PODS: Final = 4096
"""Of how many different pods the charges are remembered; an entry takes half a kilobyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What one evaluator makes of objects."""

    evaluator: Evaluator
    noted: Callable[[str, Quota | Undecided | None], None] | None = None
    """Told by which quota an object of a namespace was read."""

    def of(self, value: paths.Object) -> ByClasses:
        """What an object takes of the quota of its namespace; nothing where none is for it, or nobody can tell."""
        namespace = observer.namespace(value)
        quota = self.quota(namespace)
        if self.noted is not None:
            self.noted(namespace, quota)
        if quota is None or isinstance(quota, Undecided):
            return {}
        workload = self.evaluator.workload(Request(value=value, namespace=namespace))
        return {} if workload is None else self.charged(workload, quota)

    def quota(self, namespace: str) -> Quota | Undecided | None:
        """The quota of a namespace."""
        return gpu_quota_assignment.of_namespace(namespace, self._facts, self.evaluator.config)

    @property
    def assignment(self) -> object:
        """What is the same for as long as quotas and the labels of namespaces are."""
        return self._facts.derived("assignment of quotas", _ASSIGNMENT, object)

    def charged(self, workload: model.Workload, quota: Quota) -> ByClasses:
        """What a quota charges for a workload; of one that nothing bounds nothing: its pods are charged one by one.

        Of a pod that nothing bounds itself (all devices of a node) the rest is charged; a check finds it.
        """
        found = self.charge(workload, quota)
        if (found.unbounded and not workload.is_pod) or (found.suspended and not quota.charges_suspended):
            return {}
        return entries.tidy(ledger.relevant(found.amounts, quota.limits))

    def charge(self, workload: model.Workload, quota: Quota) -> Charge:
        """What a workload takes, whatever the quota makes of it."""
        return gpu_quota_charge.charge(
            workload,
            pools=self.evaluator.config.pools,
            vocabulary=self.evaluator.vocabulary,
            assumption=quota.assumption,
            default_class=gpu_quota_assignment.default_class(self._facts, self.evaluator.config),
        )

    @property
    def _facts(self) -> Store:
        return self.evaluator.facts


@dataclass(frozen=True, slots=True)
class _LikePod:
    key: tuple[str, int, bytes]
    """Namespace, revision of the facts, and a digest of what charges depend on."""
    value: list[paths.Object] = field(compare=False)
    """Empty once it is read: what is remembered must not hold the pod."""


class LikePods:
    """A tariff for who goes through all pods of a cluster: those of one workload are read once."""

    def __init__(self, tariff: Tariff) -> None:
        self._tariff = tariff
        self._kept = lru_cache(maxsize=LIKE_PODS)(lambda like: tariff.of(like.value.pop()))

    def of(self, value: paths.Object) -> ByClasses:
        """What an object takes; equal pods get the same value, which nobody may change."""
        key = _likeness(value) if value.get("kind") == "Pod" and value.get("apiVersion") == "v1" else None
        if key is None:
            return self._tariff.of(value)
        return self._kept(_LikePod((observer.namespace(value), self._tariff.evaluator.facts.revision, key), [value]))


def _likeness(pod: paths.Object) -> bytes | None:
    """What tells a pod from others that are charged otherwise; None where that stands elsewhere, in its claims.

    Neither labels nor the node on which it runs change what a pod asks for, and they differ within one workload.
    """
    spec, metadata = pod.get("spec"), pod.get("metadata")
    if not isinstance(spec, dict) or not isinstance(metadata, dict) or spec.get("resourceClaims"):
        return None
    asked = {key: value for key, value in spec.items() if key != "nodeName"}
    try:
        return fingerprints.of(orjson.dumps((asked, metadata.get("annotations"))))
    except orjson.JSONEncodeError:  # of what Python's own parser took: half surrogates, very large integers
        return None
