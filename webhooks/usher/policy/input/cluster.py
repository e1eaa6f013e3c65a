"""`input.cluster` of the policies: what is known of the cluster, as far as it matters to one object."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, NotRequired, cast

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.authorities import registry
from usher.authorities.authority import Case, Ground
from usher.authorities.gpu_quota.object_slice import QuotaObject
from usher.authorities.gpu_quota.slice import GpuQuota
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue.slice import KueueInput
from usher.authorities.nodes.slice import NodesInput
from usher.authorities.priority.slice import PrioritiesInput
from usher.authorities.resource_quota.slice import ResourceQuotasInput
from usher.authorities.runtime_class import RuntimeClassesInput
from usher.authorities.volcano.slice import PodGroupObjectInput, VolcanoInput
from usher.facts.store import Store


class Cluster(TypedDict):
    """Each field is absent where its authority says nothing of the object."""

    gpuQuota: NotRequired[GpuQuota]
    kueue: NotRequired[KueueInput]
    nodes: NotRequired[NodesInput]
    podGroupObject: NotRequired[PodGroupObjectInput]
    """Of a PodGroup of Volcano, which makes no pods itself."""
    priorities: NotRequired[PrioritiesInput]
    quotaObject: NotRequired[QuotaObject]
    """Of a GPUQuota."""
    resourceQuotas: NotRequired[ResourceQuotasInput]
    runtimeClasses: NotRequired[RuntimeClassesInput]
    volcano: NotRequired[VolcanoInput]


LIKE_PODS: Final = 1024
"""How many different pods the slices are kept for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """The slices of a pod, and what they rest on."""

    facts: Store
    revisions: tuple[int, ...]
    grounds: tuple[Ground, ...]
    cluster: Cluster | None

    def still_holds(self, known: Knowledge) -> bool:
        return (
            self.facts is known.facts
            and self.revisions == _revisions(known.facts)
            and all(ground.still_holds(known) for ground in self.grounds)
        )


class Slices:
    """The slices for all workloads under one configuration."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, case: Case, known: Knowledge, *, likeness: bytes | None = None) -> Cluster | None:
        """The slices for an object; None where nothing is known of the cluster that matters to it.

        usher.yaml may declare quotas, which are known without a cluster.

        Args:
            case: the object.
            known: what is known.
            likeness: of a pod, what tells it from pods with other slices (`fingerprints.of_pod`).
        """
        if likeness is None or case.refusal is not None or known.facts.empty:
            return _made(case, known)
        last = self._kept.get(likeness)
        if last is not None and last.still_holds(known):
            return last.cluster
        # Read before the slices are made: a change in between makes what is kept old, never wrong.
        revisions = _revisions(known.facts)
        cluster = _made(case, known)
        with self._lock:
            self._kept[likeness] = _Kept(
                facts=known.facts, revisions=revisions, grounds=tuple(case.grounds), cluster=cluster
            )
            self._kept.move_to_end(likeness)
            if len(self._kept) > LIKE_PODS:
                self._kept.popitem(last=False)
        return cluster


def _revisions(facts: Store) -> tuple[int, ...]:
    return facts.revision, facts.nodes.revision


def _made(case: Case, known: Knowledge) -> Cluster | None:
    found = cast(Cluster, registry.slices(case, known))
    nothing_known = known.facts.empty or not case.workload.pod_sets
    return None if nothing_known and not found else found
