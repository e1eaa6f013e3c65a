"""`input.cluster` of the policies: what is known of the cluster, as far as it matters to one object."""

from dataclasses import dataclass
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import runtime_class
from usher.authorities.authority import Case, QuotaRefusal
from usher.authorities.gpu_quota import object_slice
from usher.authorities.gpu_quota import slice as gpu_quota_slice
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.nodes import slice as nodes_slice
from usher.authorities.nodes.pool_slice import AllNodes
from usher.authorities.priority import slice as priority_slice
from usher.authorities.resource_quota import slice as resource_quota_slice
from usher.authorities.volcano import slice as volcano_slice
from usher.config import models
from usher.facts.store import Objects, Store
from usher.reading.lookup import Absence

_POD_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")


class Cluster(TypedDict):
    """Each family is absent where it says nothing of the object."""

    gpuQuota: NotRequired[gpu_quota_slice.GpuQuota]
    kueue: NotRequired[kueue_slice.Kueue]
    nodes: NotRequired[nodes_slice.Nodes]
    podGroupObject: NotRequired[volcano_slice.PodGroupObject]
    """Of a PodGroup of Volcano, which makes no pods itself."""
    priorities: NotRequired[priority_slice.Priorities]
    quotaObject: NotRequired[object_slice.QuotaObject]
    """Of a GPUQuota."""
    resourceQuotas: NotRequired[resource_quota_slice.ResourceQuotas]
    runtimeClasses: NotRequired[runtime_class.RuntimeClasses]
    volcano: NotRequired[volcano_slice.Volcano]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PodGroups:
    """The PodGroups of a namespace, which change without a new revision."""

    namespace: str
    found: Objects | Absence

    def still_holds(self, known: Knowledge) -> bool:
        return known.facts.objects(*_POD_GROUP, self.namespace) is self.found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quotas:
    """The ResourceQuotas and LimitRanges of a namespace, and what a workload needs of them."""

    namespace: str
    answer: resource_quota_slice.Answer

    def still_holds(self, known: Knowledge) -> bool:
        return self.answer.still_holds(resource_quota_slice.known(self.namespace, known.facts))


class Slices:
    """The slices for all workloads under one configuration."""

    def __init__(self, config: models.Config, vocabulary: Vocabulary, all_nodes: AllNodes) -> None:
        self._config = config
        self._vocabulary = vocabulary
        self._nodes = nodes_slice.FeasibleNodes(config, vocabulary, all_nodes)

    def of(self, case: Case, known: Knowledge) -> Cluster | None:
        """The slice for an object, whose grounds are added to the case; None where the facts say nothing of it.

        Quotas are known without a cluster where usher.yaml declares them.
        """
        workload, facts = case.workload, known.facts
        if not workload.pod_sets:
            return None if facts.empty else self._of_object(workload, facts)
        if facts.empty:
            unknown = resource_quota_slice.Known(quotas=None, ranges=None)
            return self._made(workload, facts, unknown, case.refusal)[0]
        # Read before anything is computed: a change in between makes the slice old, never wrong.
        groups = facts.objects(*_POD_GROUP, workload.namespace)
        found = resource_quota_slice.known(workload.namespace, facts)
        cluster, quotas = self._made(workload, facts, found, case.refusal)
        case.grounds.append(_PodGroups(namespace=workload.namespace, found=groups))
        case.grounds.append(_Quotas(namespace=workload.namespace, answer=quotas))
        return cluster

    def _made(
        self, workload: model.Workload, facts: Store, found: resource_quota_slice.Known, refusal: QuotaRefusal | None
    ) -> tuple[Cluster | None, resource_quota_slice.Answer]:
        on_quotas = resource_quota_slice.Answer(slice=None, known=found)
        config = self._config
        if facts.empty and not config.quotas and refusal is None:
            return None, on_quotas
        known = Knowledge(facts=facts, config=config, vocabulary=self._vocabulary)
        case = Case(workload=workload, refusal=refusal)
        result: Cluster = {}
        if (gpu_quota := gpu_quota_slice.of(case, known)) is not None:
            result["gpuQuota"] = gpu_quota
        if facts.empty:
            return result or None, on_quotas
        if (queueing := kueue_slice.of(workload, facts)) is not None:
            result["kueue"] = queueing
        if (on_nodes := self._nodes.of(workload, facts)) is not None:
            result["nodes"] = on_nodes
        if (classes := priority_slice.of(workload, facts, config)) is not None:
            result["priorities"] = classes
        on_quotas = resource_quota_slice.answer(workload, facts, config, found, self._vocabulary)
        if on_quotas.slice is not None:
            result["resourceQuotas"] = on_quotas.slice
        if (runtimes := runtime_class.of(workload, facts)) is not None:
            result["runtimeClasses"] = runtimes
        if (gangs := volcano_slice.of(workload, facts, config)) is not None:
            result["volcano"] = gangs
        return result, on_quotas

    def _of_object(self, workload: model.Workload, facts: Store) -> Cluster | None:
        """The slice for an object that makes no pods."""
        known = Knowledge(facts=facts, config=self._config, vocabulary=self._vocabulary)
        result: Cluster = {}
        if (group := volcano_slice.of_group(workload, facts)) is not None:
            result["podGroupObject"] = group
        if (quota := object_slice.of(Case(workload=workload), known)) is not None:
            result["quotaObject"] = quota
        return result or None
