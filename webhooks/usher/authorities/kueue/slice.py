"""The Kueue part of the Rego input: the queue of a workload, and whether it could ever admit the workload."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.accelerators.names import CLAIM_PREFIX
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge, queues
from usher.authorities.kueue.flavor_fit import FlavorCapacity, FlavorShortage, KueueVerdict, UnmatchedPods
from usher.authorities.kueue.flavors import Configuration, FlavorRefusal
from usher.authorities.kueue.judge import QUEUE_LABEL, KueueFacts
from usher.authorities.kueue.queues import ClusterQueue, State
from usher.authorities.verdict import Answer, worst
from usher.config import selection
from usher.kinds import registry
from usher.kinds.kind import KueueUnit
from usher.kinds.reading.shapes import Amount, amount_of

MOST_LISTED: Final = 8
"""How many entries of a list a message may name."""


class UncoveredInput(TypedDict):
    """A resource without quota in the queue."""

    resource: str
    path: NotRequired[str]
    """The path of the request."""


class FlavorRefusalInput(TypedDict):
    flavor: str
    reason: str
    byTopology: NotRequired[bool]
    """Whether topology is the only reason."""
    level: NotRequired[str]
    """The level that its Topology lacks."""
    levels: NotRequired[list[str]]
    """The levels of its Topology."""
    held: NotRequired[int]
    """The most of the pods that its nodes could hold by topology, if this is too few."""
    unlabelled: NotRequired[str]
    taint: NotRequired[str]
    """A taint of its nodes that the pods do not tolerate."""
    """The level whose label some of its nodes lack, so that Kueue leaves these out."""


class UnmatchedPodsInput(TypedDict):
    """A pod set that no flavor of a resource group takes."""

    podSet: int
    """The index in `podSets`."""
    resources: list[str]
    flavors: list[FlavorRefusalInput]


class FlavorPartInput(TypedDict):
    """The demand of the pods of one pod set."""

    podSet: int
    pods: int
    each: Amount


class FlavorCapacityInput(TypedDict):
    """The most that the queue could give in a flavor."""

    flavor: str
    own: Amount
    borrowed: Amount
    most: Amount


class FlavorShortageInput(TypedDict):
    resource: str
    asked: Amount
    parts: list[FlavorPartInput]
    flavors: list[FlavorCapacityInput]
    fits: Amount
    """The most that these pods could ask for together, if all other pods stay as they are."""
    together: bool
    """Whether there is enough of each resource, but not of all of them in one flavor."""


class PodSetLimitInput(TypedDict):
    """The most pod sets that a version of Kueue accepts; the workload has more."""

    podSets: int
    most: int
    version: str


class KueueVerdictInput(TypedDict):
    outcome: str
    podSetLimit: NotRequired[PodSetLimitInput]
    uncovered: list[UncoveredInput]
    unmatched: list[UnmatchedPodsInput]
    shortages: list[FlavorShortageInput]
    unknowns: list[str]
    fitsIn: NotRequired[str]
    """Another LocalQueue of the namespace that could admit the workload."""


_OUTCOMES: Final = {Answer.NEVER: "never admissible", Answer.UNKNOWN: "unknown", Answer.COULD: "admissible"}


def verdict_input(found: Sequence[KueueVerdict], workload: model.Workload) -> KueueVerdictInput:
    """One verdict on the object, from the verdicts on all parts that Kueue admits separately."""
    uncovered = dict.fromkeys(name for verdict in found for name in verdict.uncovered)
    unmatched = [each for verdict in found for each in verdict.unmatched]
    shortages = [each for verdict in found for each in verdict.shortages]
    unknowns = dict.fromkeys(each for verdict in found for each in verdict.unknowns)
    limit = next((verdict.pod_set_limit for verdict in found if verdict.pod_set_limit is not None), None)
    result: KueueVerdictInput = {
        "outcome": _OUTCOMES[worst([Answer.COULD, *(verdict.answer for verdict in found)])],
        "uncovered": [_uncovered_input(name, workload) for name in islice(uncovered, MOST_LISTED)],
        "unmatched": [_unmatched_input(each, workload) for each in unmatched[:MOST_LISTED]],
        "shortages": [_shortage_input(each, workload) for each in shortages[:MOST_LISTED]],
        "unknowns": list(islice(unknowns, MOST_LISTED)),
    }
    if limit is not None:
        result["podSetLimit"] = {"podSets": limit.pod_sets, "most": limit.most, "version": limit.version}
    return result


def _uncovered_input(resource: str, workload: model.Workload) -> UncoveredInput:
    for pod_set in workload.pod_sets:
        for container in pod_set.containers:
            if resource in container.requests or resource in container.limits:
                return {"resource": resource, "path": container.first_path(resource)}
    return {"resource": resource}


def _unmatched_input(unmatched: UnmatchedPods, workload: model.Workload) -> UnmatchedPodsInput:
    return {
        "podSet": _index(unmatched.pods.pod_set, workload),
        "resources": list(unmatched.resources[:MOST_LISTED]),
        "flavors": [_refusal_input(refusal) for refusal in unmatched.refusals[:MOST_LISTED]],
    }


def _shortage_input(shortage: FlavorShortage, workload: model.Workload) -> FlavorShortageInput:
    resource = shortage.resource
    return {
        "resource": resource,
        "asked": _amount_input(resource, shortage.total),
        "parts": [
            {
                "podSet": _index(each.pod_set, workload),
                "pods": each.pods,
                "each": _amount_input(resource, each.total(resource) // each.pods),
            }
            for each in shortage.pods[:MOST_LISTED]
        ],
        "flavors": [_capacity_input(resource, each) for each in shortage.flavors[:MOST_LISTED]],
        "fits": _amount_input(resource, shortage.fits),
        "together": shortage.together,
    }


def _index(pod_set: model.PodSet, workload: model.Workload) -> int:
    return next(index for index, each in enumerate(workload.pod_sets) if each is pod_set)


def _capacity_input(resource: str, capacity: FlavorCapacity) -> FlavorCapacityInput:
    return {
        "flavor": capacity.flavor,
        "own": _amount_input(resource, min(capacity.own, capacity.most)),
        "borrowed": _amount_input(resource, max(capacity.most - capacity.own, 0)),
        "most": _amount_input(resource, capacity.most),
    }


def _refusal_input(refusal: FlavorRefusal) -> FlavorRefusalInput:
    result: FlavorRefusalInput = {"flavor": refusal.flavor, "reason": refusal.reason}
    result.update(paths.given(byTopology=refusal.by_topology, unlabelled=refusal.unlabelled, taint=refusal.taint))
    if refusal.held is not None:
        result["held"] = refusal.held
    if refusal.level:
        result["level"] = refusal.level
        result["levels"] = list(refusal.levels)
    return result


def _amount_input(resource: str, number: int) -> Amount:
    return amount_of(queues.quantity_of(resource, number))


class QueueStateInput(TypedDict):
    """The state of a queue. `exists` is absent where it is unknown; the other fields are absent where empty."""

    name: str
    exists: NotRequired[bool]
    stopPolicy: NotRequired[str]
    inactive: NotRequired[str]
    """Kueue's reason for not admitting workloads."""
    message: NotRequired[str]


class ClusterQueueInput(QueueStateInput):
    selectsNamespace: NotRequired[bool]
    selector: NotRequired[str]
    """The selector as JSON; `null` where it is missing."""
    withoutChecks: NotRequired[bool]
    """True where it has no AdmissionCheck, and so no MultiKueue; absent otherwise."""
    multiKueue: NotRequired[bool]
    """True where one of its AdmissionChecks is MultiKueue, which sends its workloads to other clusters; else absent."""
    notDispatched: NotRequired[str]
    """Why MultiKueue does not send the kind of the workload; absent where it does, or may."""
    verdict: NotRequired[KueueVerdictInput]


class LocalQueueInput(QueueStateInput):
    byDefault: bool
    """Whether the workload does not name a queue, and gets this queue because its name is `default`."""
    others: list[str]
    """The queues of the namespace; only where the named queue does not exist."""
    leadsThere: NotRequired[str]
    """The queue among `others` whose ClusterQueue has the name that the workload gives."""
    clusterQueue: NotRequired[ClusterQueueInput]


class ClaimedClassInput(TypedDict):
    """A device class whose devices a pod set claims by templates."""

    podSet: str
    """The path of its template."""
    name: str
    mapped: bool
    """Whether deviceClassMappings of Kueue's configuration names the class, so that Kueue counts its devices."""


class HeldInput(TypedDict):
    queues: list[str]
    """Some LocalQueues of the namespace."""


class KueueInput(TypedDict):
    configurationKnown: bool
    frameworks: NotRequired[list[str]]
    """The entries of integrations.frameworks; absent where they are unknown."""
    externalFrameworks: NotRequired[list[str]]
    """Kinds that other controllers register with Kueue, as Kind.version.group; absent without other kinds."""
    claimedClasses: NotRequired[list[ClaimedClassInput]]
    """The classes of readable claims; absent where the configuration is unreadable."""
    managesNamespace: NotRequired[bool]
    """Whether managedJobsNamespaceSelector matches the namespace; absent where it is unknown."""
    declaredQueueMissing: NotRequired[bool]
    """True if the workload names no queue, and the one of usher.yaml does not exist; absent otherwise."""
    heldWithoutQueue: NotRequired[HeldInput]
    """Present where Kueue holds back the workload, which has no queue and no default one."""
    queue: NotRequired[LocalQueueInput]


def input_slice(case: Case, known: Knowledge) -> KueueInput | None:
    """The answer of Kueue on a workload; None where Kueue is unknown, and for objects that a controller made."""
    workload = case.workload
    if workload.owner is not None:
        return None
    if workload.queue_label_path is None:
        external = list(judge.configuration(known.facts).external_frameworks)
        is_labelled = bool(workload.labels.get(QUEUE_LABEL))
        return {"configurationKnown": True, "externalFrameworks": external} if external and is_labelled else None
    facts = judge.for_namespace(workload.namespace, known)
    configuration = facts.configuration
    if facts.queues is None and not configuration.known:
        return None
    result: KueueInput = {"configurationKnown": configuration.known}
    if configuration.frameworks is not None:
        result["frameworks"] = list(configuration.frameworks)
    if external := list(configuration.external_frameworks):
        result["externalFrameworks"] = external
    readable = configuration.known and not configuration.problems
    if readable and (claimed := list(_claimed_classes(workload, configuration))):
        result["claimedClasses"] = claimed
    _add_queue(result, case, facts, known)
    return result


def _add_queue(result: KueueInput, case: Case, facts: KueueFacts, known: Knowledge) -> None:
    workload, managed = case.workload, facts.manages_namespace
    if managed is not None:
        result["managesNamespace"] = managed
    if _declared_is_missing(workload, facts, known):
        result["declaredQueueMissing"] = True
    name = facts.queue_of(workload)
    if name:
        result["queue"] = _Judged(workload, facts).local_queue(name)
        _add_multikueue(result["queue"], workload, facts, known)
    elif facts.configuration.queues_unlabelled and managed and facts.queues is not None:
        pods = registry.PODS.get((workload.group, workload.kind))
        # Kueue holds back the pods of Deployments, and not these.
        if workload.is_pod or (pods is not None and pods.kueue_unit is KueueUnit.WHOLE):
            result["heldWithoutQueue"] = {"queues": list(islice(facts.queues, MOST_LISTED))}


def _add_multikueue(local: LocalQueueInput, workload: model.Workload, facts: KueueFacts, known: Knowledge) -> None:
    result = local.get("clusterQueue")
    if result is not None and result["name"] in judge.sending_queues(known.facts):
        result["multiKueue"] = True
        if reason := _not_dispatched(workload, facts.configuration):
            result["notDispatched"] = reason


def sends_away(case: Case, known: Knowledge) -> str:
    """The ClusterQueue by which MultiKueue runs a workload in other clusters; empty where its pods run here, or may."""
    workload = case.workload
    if workload.queue_label_path is None or workload.owner is not None:
        return ""
    sending = judge.sending_queues(known.facts)
    if not sending:
        return ""
    facts = judge.for_namespace(workload.namespace, known)
    local = (facts.queues or {}).get(facts.queue_of(workload))
    if local is None or local.cluster_queue not in sending or _not_dispatched(workload, facts.configuration):
        return ""
    return local.cluster_queue


_DISPATCHED_SINCE: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("batch", "jobset.x-k8s.io", "kubeflow.org"), (0, 9)),
    "MPIJob.kubeflow.org": (0, 10),
    **dict.fromkeys(("", "ray.io", "workload.codeflare.dev"), (0, 11)),
    "JAXJob.kubeflow.org": (0, 12),
    "trainer.kubeflow.org": (0, 14),
    "StatefulSet.apps": (0, 16),
    **dict.fromkeys(("RayService.ray.io", "leaderworkerset.x-k8s.io"), (0, 17)),
}
"""The first release of Kueue whose MultiKueue sends a group, or one kind of it; pods one by one, too.

Source: `MultiKueueAdapter` in KQ:pkg/controller/jobs of the branches release-0.9 to release-0.19. A kind without one
is rejected (KQ:pkg/controller/admissionchecks/multikueue/workload.go Reconcile).
"""


def _not_dispatched(workload: model.Workload, configuration: Configuration) -> str:
    """Why MultiKueue rejects a workload; empty where it takes the workload, or may."""
    pods, version = registry.PODS.get((workload.group, workload.kind)), configuration.version
    if pods is None or pods.kueue_unit is KueueUnit.POD:
        return ""
    since = _DISPATCHED_SINCE.get(f"{workload.kind}.{workload.group}") or _DISPATCHED_SINCE.get(workload.group)
    if since is None:
        # Kueue's configuration can add kinds with this field.
        added = f"{workload.kind}.{workload.version}.{workload.group}" in configuration.dispatched
        may = added or (pods.lifecycle_places.managed_by and not configuration.known)
        return "" if may else f"MultiKueue has no adapter for a {workload.kind}"
    if version is None or version[:2] >= since:
        return ""
    here, there = (".".join(map(str, each[:2])) for each in (version, since))
    return f"MultiKueue has an adapter for a {workload.kind} only since Kueue {there}, and this is {here}"


def _declared_is_missing(workload: model.Workload, facts: KueueFacts, known: Knowledge) -> bool:
    if facts.queues is None or workload.queue_labels.get(QUEUE_LABEL):
        return False
    declared = selection.first_match(known.config.queues, selection.subject_of(workload))
    return declared is not None and declared.local_queue not in facts.queues


def _claimed_classes(workload: model.Workload, configuration: Configuration) -> Iterator[ClaimedClassInput]:
    for pod_set in workload.pod_sets:
        claimed = (each.name for each in pod_set.requests if each.route is model.Route.CLAIM and not each.claim)
        for name in dict.fromkeys(claimed):
            if not name.startswith(CLAIM_PREFIX):
                yield {"podSet": pod_set.path, "name": name, "mapped": name in configuration.mapped_classes}


class _Judged:
    """A workload and the queues of its namespace."""

    def __init__(self, workload: model.Workload, facts: KueueFacts) -> None:
        self._workload = workload
        self._facts = facts
        self._demands = kueue_demand.demands(workload, facts.configuration, facts.additions)

    def local_queue(self, name: str) -> LocalQueueInput:
        by_default = not self._workload.queue_labels.get(QUEUE_LABEL)
        result: LocalQueueInput = {"name": name, "byDefault": by_default, "others": []}
        queues = self._facts.queues
        if queues is None:
            return result
        queue = queues.get(name)
        result["exists"] = queue is not None
        if queue is None:
            result["others"] = list(islice(queues, MOST_LISTED))
            leading = next((each.name for each in queues.values() if each.cluster_queue == name), None)
            if leading is not None:
                result["leadsThere"] = leading
            return result
        _add_state(result, queue.state)
        if queue.problems and not queue.cluster_queue:
            unread = KueueVerdict(answer=Answer.UNKNOWN, unknowns=queue.problems)
            result["clusterQueue"] = {"name": "", "verdict": verdict_input([unread], self._workload)}
            return result
        result["clusterQueue"] = self._cluster_queue(queue.cluster_queue)
        return result

    def _cluster_queue(self, name: str) -> ClusterQueueInput:
        result: ClusterQueueInput = {"name": name}
        queues = self._facts.cluster.queues
        if queues is None:
            return result
        queue = queues.get(name)
        result["exists"] = queue is not None
        if queue is None:
            return result
        _add_state(result, queue.state)
        if queue.has_checks is False:
            result["withoutChecks"] = True
        selected = self._facts.selects(queue.namespace_selector)
        if selected is not None:
            result["selectsNamespace"] = selected
        if queue.namespace_selector is None:
            result["selector"] = "null"
        verdicts = self._verdicts(queue)
        result["verdict"] = verdict_input(verdicts, self._workload)
        if any(each.answer is Answer.NEVER for each in verdicts):
            other = self._admitting(besides=name)
            if other is not None:
                result["verdict"]["fitsIn"] = other
        return result

    def _verdicts(self, queue: ClusterQueue) -> list[KueueVerdict]:
        facts = self._facts
        return [judge.judge(demand, queue, facts.cluster, facts.configuration) for demand in self._demands]

    def _admitting(self, *, besides: str) -> str | None:
        """Another queue of the namespace that could admit the workload."""
        for local, queue in self._facts.other_queues(besides):
            if all(each.answer is Answer.COULD for each in self._verdicts(queue)):
                return local.name
        return None


def _add_state(result: QueueStateInput, state: State) -> None:
    result.update(paths.given(stopPolicy=state.stop_policy, inactive=state.inactive, message=state.message))
