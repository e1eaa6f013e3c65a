"""An authority says whether a workload can never start, or cannot start now, and `usher queue` reports its answer.

The RuntimeClasses and DeviceClasses that pods name, and quotas as the cluster has them, have their part of the Rego
input here too.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from usher import model, paths, quantities
from usher.authorities import verdict
from usher.authorities.beside import NOTHING, Beside
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Answer, GangDemand, Reach, Shortage, worst
from usher.kinds import registry
from usher.kinds.reading import shapes
from usher.kinds.reading.values import Absence, Reference
from usher.quantities import Quantity

NODES: Final = "nodes"
KAI: Final = "KAI-Scheduler"
"""The authority that does not know current usage."""


class Balance(Struct, frozen=True, kw_only=True):
    """The demand for one resource, and the supply."""

    of: str
    """The limit of the resource, for the report: `flavor a100`, `ResourceQuota gpus`."""
    resource: str
    """The name of the resource in the quota or queue."""
    asks: quantities.Quantity
    most: quantities.Quantity | None
    """The most that the quota or queue could ever give; None where it has no bound."""
    own: quantities.Quantity | None = None
    """The part of `most` that is not borrowed; None where the queue borrows nothing."""
    used: quantities.Quantity | None = None
    """Current usage; None where it is unknown. For a queue of Kueue: what the queue itself has reserved."""
    free: quantities.Quantity | None = None
    """The room that is left now; None where it is unknown."""


class Taken(Struct, frozen=True, kw_only=True):
    """The flavor that pods would get."""

    pod_set: str
    resources: tuple[str, ...]
    flavor: str
    now: bool
    """Whether the flavor has room now; else it has room if nothing else runs."""


class Elsewhere(Struct, frozen=True, kw_only=True):
    """Another queue that the workload could use."""

    queue: str
    behind: str = ""
    """The ClusterQueue of the queue."""
    answer: Answer


class Holding(Struct, frozen=True, kw_only=True):
    """Nodes that could hold one pod of a pod set, if they were empty."""

    pod_set: str
    answer: Answer
    nodes: int
    """How many existing nodes could hold one pod; an upper bound."""
    grows: tuple[str, ...]
    """Pools that an autoscaler fills and whose nodes could hold one pod."""
    nearest: str = ""
    """The place that lacks least, where no node could hold one pod."""
    missing: tuple[str, ...] = ()
    """The amounts and labels that the nearest place lacks, or why the answer is unknown."""


_KUEUE_SAYS: Final = "QuotaReserved=False, {} or Pending: {}"
_KUEUE_REFUSES: Final = "QuotaReserved=False, {} or Inadmissible: {}"
_POD_SAYS: Final = "PodScheduled=False, Unschedulable: {}"
_KAI_SAYS: Final = "PodGroup UnschedulableOnNodePool=True, {}: {}"

_CALLED: Final = (
    ("Kueue", "the queue can ever give", _KUEUE_SAYS.format("ExceedsMaxQuota", "insufficient quota for ... in flavor")),
    ("Kueue", "; free now:", _KUEUE_SAYS.format("WaitingForQuota", "insufficient unused quota for ... more needed")),
    ("Kueue", "^no flavor takes.*tolerate", _KUEUE_SAYS.format("NoMatchingFlavor", "untolerated taint ... in flavor")),
    (
        "Kueue",
        "^no flavor takes(?!.*tolerate)",
        _KUEUE_SAYS.format("NoMatchingFlavor", "flavor ... doesn't match node affinity"),
    ),
    ("Kueue", "has no quota for", _KUEUE_SAYS.format("NoMatchingFlavor", "resource ... unavailable in ClusterQueue")),
    (
        "Kueue",
        "^LocalQueue .*(is stopped|is not active)",
        _KUEUE_REFUSES.format("Suspended", "LocalQueue ... is inactive"),
    ),
    (
        "Kueue",
        "^ClusterQueue .*(is stopped|is not active)",
        _KUEUE_REFUSES.format("Suspended", "ClusterQueue ... is inactive"),
    ),
    ("Kueue", "has no LocalQueue", _KUEUE_REFUSES.format("Misconfigured", "LocalQueue ... doesn't exist")),
    ("Kueue", "there is no ClusterQueue", _KUEUE_REFUSES.format("Misconfigured", "ClusterQueue ... doesn't exist")),
    (
        "Kueue",
        "does not select namespace",
        _KUEUE_SAYS.format("Misconfigured", "workload namespace doesn't match ClusterQueue selector"),
    ),
    ("Volcano", "needed|asked", "PodGroup Pending, with the event Unschedulable: queue resource quota insufficient"),
    (
        "Volcano",
        "nodes",
        "PodGroup Unschedulable=True, NotEnoughResources: ... tasks in gang unschedulable",
    ),
    (KAI, "is the limit of", _KAI_SAYS.format("OverLimit", "... quota has reached the allowable limit of")),
    (KAI, "is the quota of", _KAI_SAYS.format("NonPreemptibleOverQuota", "Non-preemptible workload is over quota")),
    (
        KAI,
        "has no queue above it|names as its parent",
        _KAI_SAYS.format("Unschedulable", "Unable to schedule podgroup"),
    ),
    ("ResourceQuota", "needed|asked", "the event FailedCreate: exceeded quota"),
    (NODES, "at the same time|asked for, one node has", _POD_SAYS.format("... Insufficient ...")),
    (NODES, "taint .* is not tolerated", _POD_SAYS.format("node(s) had untolerated taint(s)")),
    (NODES, "is not met|must be on node", _POD_SAYS.format("node(s) didn't match Pod's node affinity/selector")),
)
"""Authority, or scheduler of the pods, pattern of its reason, and the words of the controller.

Sources: KQ:pkg/scheduler/flavorassigner/flavorassigner.go, KQ:pkg/controller/core/workload_controller.go, which write
Pending and Inadmissible without their gate UnadmittedWorkloadsObservability; VC:pkg/scheduler/plugins/{gang,capacity,
proportion}; KAI:pkg/scheduler/api/unschedule_info.go; pkg/scheduler/framework/plugins/{noderesources,tainttoleration,
nodeaffinity} of kubernetes/kubernetes v1.36. tests/data/waiting*.json hold texts of Kueue, Volcano and the scheduler.
"""

_OF_NODES_BY_KAI: Final = (
    (
        "asked for, one node has",
        "... Max ... resources available in a single node, or node(s) didn't have enough resources",
    ),
    ("at the same time", "Resources were found for ... pods while ... are required for gang scheduling"),
    ("taint .* is not tolerated", "... node(s) had untolerated taint"),
    ("is not met|must be on node", "... node(s) didn't match Pod's node affinity/selector"),
)
"""The same about nodes where KAI-Scheduler places the pods; the reason of its PodGroup is PodSchedulingErrors.

Sources: KAI:pkg/scheduler/actions/common/allocate.go, KAI:pkg/scheduler/k8s_internal/predicates/maxNodeResources.go,
KAI:pkg/scheduler/api/common_info/errors.go.
"""

_PASSED_OVER: Final = "^there is no Queue [^ ]*$|^the pods belong to the shard"
"""Reasons why no scheduler of KAI looks at a PodGroup (KAI:pkg/scheduler/cache/cluster_info/cluster_info.go)."""


class Section(Struct, frozen=True, kw_only=True):
    """The answer of one authority."""

    authority: str
    """`Kueue`, `Volcano`, `KAI-Scheduler`, `GPUQuota`, `ResourceQuota`, `LimitRange`, `classes`, `nodes`."""
    way: tuple[str, ...] = ()
    """The queues or quotas that decide, from the one that the workload names to the outermost."""
    given: bool = False
    """Whether gpu-usher adds the first of them; the file does not name it."""
    answer: Answer
    reasons: tuple[str, ...] = ()
    balances: tuple[Balance, ...] = ()
    taken: tuple[Taken, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    holding: tuple[Holding, ...] = ()
    remedies: tuple[str, ...] = ()
    node_changes: tuple[str, ...] = ()
    """The changes among `remedies` that change nodes, and not the workload."""
    waits: tuple[str, ...] = ()
    """The amounts that must become free."""
    sends: str = ""
    """The ClusterQueue by which MultiKueue runs the workload in other clusters; empty where its pods run here."""
    placed_by: str = ""
    """The scheduler of the pods where it writes about nodes in words of its own."""
    says: tuple[str, ...] = ()
    """The conditions that the controller has written into the objects of the workload, if the facts have these."""

    @property
    def called(self) -> tuple[str, ...]:
        """The words in which the controller reports what holds the workload back; people search for them."""
        if self.answer not in (Answer.NEVER, Answer.NOT_NOW):
            return ()
        if self.is_of_nodes and self.placed_by == KAI:
            table = [(pattern, _KAI_SAYS.format("PodSchedulingErrors", words)) for pattern, words in _OF_NODES_BY_KAI]
        else:
            table = [(pattern, words) for authority, pattern, words in _CALLED if authority == self.authority]
        return tuple(words for pattern, words in table if self._has_reason(pattern))

    @property
    def silence(self) -> str:
        """Why the controller writes nothing about the workload; empty where it does, or where usher does not know."""
        if self.authority == KAI and self._has_reason(_PASSED_OVER):
            return "its scheduler leaves out a PodGroup without its queue, and writes no condition and no event"
        return ""

    def _has_reason(self, pattern: str) -> bool:
        lacking = (each for holding in self.holding if holding.answer is Answer.NEVER for each in holding.missing)
        return any(re.search(pattern, each) for each in (*self.reasons, *lacking))

    @property
    def who(self) -> str:
        """Who reports it: the scheduler of Kubernetes about nodes, for example."""
        named = {NODES: self.placed_by or "the scheduler", "ResourceQuota": "the controller of the pods"}
        return named.get(self.authority, self.authority)

    @property
    def is_of_nodes(self) -> bool:
        return self.authority == NODES


def answer_of_sections(sections: Iterable[Section]) -> Answer:
    """The worst answer. COULD of nodes is left out: nodes never give a better answer, while others may give FITS."""
    answers = [section.answer for section in sections if not (section.is_of_nodes and section.answer is Answer.COULD)]
    return worst(answers) if answers else Answer.COULD


class Rank(Struct, frozen=True, kw_only=True):
    """A priority class that counts for the workload."""

    kind: str
    """`WorkloadPriorityClass` or `PriorityClass`."""
    name: str
    """Empty where the pods have no class."""
    value: int | None
    """The priority; None where the class is unknown or does not exist."""
    of: tuple[str, ...] = ()
    """The pod sets with this class; empty for all pod sets."""
    by_default: bool = False
    missing: bool = False
    """Whether the class does not exist in the cluster."""
    given: bool = False
    """Whether gpu-usher adds the class; the file does not name it."""


class Outlook(Struct, frozen=True, kw_only=True):
    """The report of `usher queue` on one workload."""

    workload: model.Workload
    ranks: tuple[Rank, ...]
    sections: tuple[Section, ...]
    given: tuple[str, ...] = ()
    """The additions of the mutating webhook, a few words for each change."""
    fewer: tuple[str, ...] = ()
    """The pod counts at which the workload would fit, by all sections together."""

    @property
    def answer(self) -> Answer:
        return answer_of_sections(self.sections)

    @property
    def remedies(self) -> tuple[str, ...]:
        """Changes that would make the workload fit: fewer pods for all authorities, or a change for one authority."""
        found = [*self.fewer]
        for section in self.sections:
            own = [*map(_use, section.elsewhere), *section.remedies]
            own += () if self.answer is Answer.NEVER else section.waits
            found += (f"{section.authority}: {each}" for each in own)
        return tuple(dict.fromkeys(found))


def _use(other: Elsewhere) -> str:
    behind = f" (ClusterQueue {other.behind})" if other.behind else ""
    words = {Answer.FITS: "it has room now", Answer.NOT_NOW: "it could admit it, though not now"}
    return f"use queue {other.queue}{behind}: {words.get(other.answer, 'it could admit it')}"


class LimitedResource(Struct, frozen=True, kw_only=True):
    of: str
    """The name of the quota or queue."""
    resource: str
    """The name of the resource in the quota or queue."""
    demand: GangDemand
    most: Quantity
    used: Quantity | None = None
    """None before the first count."""

    @property
    def needs(self) -> Quantity:
        """The amount that must be free at the same time."""
        return self.demand.starts if self.demand.is_gang else self.demand.all

    @property
    def could_suffice(self) -> bool:
        """Whether all pods would fit if nothing were used."""
        return self.demand.starts <= self.most and self.demand.all <= self.most

    def shortages(self) -> Iterator[Shortage]:
        """The shortages of the resource; at most one of START, ALL and NOW."""
        demand = self.demand
        shortage = Shortage(
            of=self.of,
            resource=self.resource,
            reach=Reach.START,
            needs=demand.starts,
            most=self.most,
            assumption=demand.assumption,
        )
        if demand.starts > self.most:
            parts = demand.parts if demand.starts == demand.all else ()
            yield replace(shortage, parts=parts, assumption=demand.assumption if demand.is_gang else "")
        elif demand.all > self.most:
            yield replace(shortage, reach=Reach.ALL, needs=demand.all, parts=demand.parts)
        else:
            if demand.largest is not None and demand.largest > self.most:
                yield replace(shortage, reach=Reach.LARGEST, needs=demand.largest)
            if self.used is not None and self.needs and self.needs + self.used > self.most:
                parts = demand.parts if self.needs == demand.all else ()
                yield replace(shortage, reach=Reach.NOW, needs=self.needs, used=self.used, parts=parts)

    def balance(self, kind: str) -> Balance:
        """The row of `usher queue`; `kind` is the kind of the quota or queue."""
        left = None if self.used is None else Quantity(max(self.most.nanos - self.used.nanos, 0))
        return Balance(
            of=f"{kind} {self.of}", resource=self.resource, asks=self.needs, most=self.most, used=self.used, free=left
        )


class QuotaRefusal(Struct, frozen=True, kw_only=True):
    """A GPUQuota that refused the charge of a workload, with the limits that it exceeds."""

    quota: Quota
    excesses: tuple[Excess, ...]


class Ground(Protocol):
    """Facts that a slice depends on and that change without a new revision."""

    def still_holds(self, known: Knowledge) -> bool:
        """Whether the current knowledge gives the same slice."""
        ...


class Case(Struct, frozen=True, kw_only=True):
    """A workload to judge."""

    workload: model.Workload
    before: model.Workload | None = None
    """The workload before the mutating webhook changed it."""
    refusal: QuotaRefusal | None = None
    beside: Beside = NOTHING
    """The facts about the workload from other objects of the same files."""
    grounds: list[Ground] = field(default_factory=list)
    """Slices add facts here whose changes the revisions do not show."""


Slice = Callable[[Case, Knowledge], Mapping[str, Any] | None]
"""Makes the part of the Rego input that one authority gives; None where the authority has nothing to report."""


class Authority(Struct, frozen=True, kw_only=True):
    outlook: Callable[[Case, Knowledge], Iterable[Section]]
    """Gives the sections of `usher queue`."""
    slices: Mapping[str, Slice] = field(default_factory=dict)
    """Slices for objects that make pods, by the field of `input.cluster`."""
    object_slices: Mapping[str, Slice] = field(default_factory=dict)
    """Slices for objects that do not make pods, by the field of `input.cluster`."""
    speaks_without_cluster: bool = False
    """Whether the authority can answer from usher.yaml alone."""


def with_overhead(workload: model.Workload, classes: Mapping[str, paths.Object] | Absence) -> model.Workload:
    """The workload with the overhead of its RuntimeClasses, as the API server adds it to each pod.

    A pod that states an overhead keeps it: the API server refuses an overhead that differs from that of the class.
    """
    if isinstance(classes, Absence) or not any(pod_set.runtime_class_name for pod_set in workload.pod_sets):
        return workload
    return replace(workload, pod_sets=tuple(_with_overhead(pod_set, classes) for pod_set in workload.pod_sets))


def _with_overhead(pod_set: model.PodSet, classes: Mapping[str, paths.Object]) -> model.PodSet:
    found = classes.get(pod_set.runtime_class_name)
    if found is None or pod_set.overhead:
        return pod_set
    source = verdict.SourceObject(f"RuntimeClass {pod_set.runtime_class_name}", found)
    return replace(pod_set, overhead=source.amounts("/overhead/podFixed"))


ClassesInput = dict[str, bool]
"""Whether each class exists, by name; unknown classes are left out."""


def runtime_classes_input(case: Case, known: Knowledge) -> ClassesInput | None:
    """The RuntimeClasses that pod sets name; None without any."""
    names = {pod_set.runtime_class_name for pod_set in case.workload.pod_sets if pod_set.runtime_class_name}
    return _which_exist("node.k8s.io", "RuntimeClass", names, known) if names else None


def device_classes_input(case: Case, known: Knowledge) -> ClassesInput | None:
    """The DeviceClasses that the claims of pod sets name; None without any."""
    if any(pod_set.unclear_devices for pod_set in case.workload.pod_sets):
        return None
    names = {
        name
        for pod_set in case.workload.pod_sets
        for request in pod_set.requests
        if request.route is model.Route.CLAIM
        for name in (request.name, *request.instead)
    }
    return _which_exist("resource.k8s.io", "DeviceClass", names, known) if names else None


_LIMITING: Final = frozenset({"clusterQueue", "gpuQuota", "kaiQueue", "resourceQuota", "volcanoQueue"})
"""Keys of kinds whose objects limit workloads, and whose status has the amounts in use."""


def stored_input(case: Case, known: Knowledge) -> Mapping[str, Any] | None:
    """The shape of a quota or queue as the cluster has it now, by the key of its kind; None without one."""
    workload = case.workload
    shape = registry.SHAPES.get((workload.group, workload.kind))
    if shape is None or shape.key not in _LIMITING:
        return None
    namespace = workload.namespace if shape.key == "resourceQuota" else ""
    reference = Reference(group=workload.group, kind=workload.kind, name=workload.name, namespace=namespace)
    found = known.facts.find_stored(reference)
    if isinstance(found, Absence):
        return None
    return {shape.key: shapes.read_shape(shape.adapter, found, paths.ROOT, lambda *_: None)}


def _which_exist(group: str, kind: str, names: Iterable[str], known: Knowledge) -> ClassesInput:
    found = {name: known.facts.find(Reference(group=group, kind=kind, name=name)) for name in sorted(names)}
    return {name: value is not Absence.MISSING for name, value in found.items() if value is not Absence.NOT_KNOWN}
