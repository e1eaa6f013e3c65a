"""The Kueue part of the Rego input: the queue of a workload, and whether it could ever admit the workload."""

from collections.abc import Iterator
from itertools import islice
from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.accelerators.names import CLAIM_PREFIX
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge, read, slice_verdicts
from usher.authorities.kueue.configuration import Configuration
from usher.authorities.kueue.queues import ClusterQueue, State
from usher.authorities.kueue.read import QUEUE_LABEL, KueueFacts
from usher.authorities.kueue.verdict import KueueVerdict
from usher.authorities.verdict import Answer
from usher.config import selection


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
    verdict: NotRequired[slice_verdicts.KueueVerdictInput]


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
    queue: NotRequired[LocalQueueInput]


def of(case: Case, known: Knowledge) -> KueueInput | None:
    """The answer of Kueue on a workload; None where Kueue is unknown, and for objects that a controller made."""
    workload = case.workload
    if workload.owner is not None:
        return None
    if workload.queue_label_path is None:
        external = list(read.configuration(known.facts).external_frameworks)
        is_labelled = bool(workload.labels.get(QUEUE_LABEL))
        return {"configurationKnown": True, "externalFrameworks": external} if external and is_labelled else None
    facts = read.for_namespace(workload.namespace, known)
    configuration = facts.configuration
    if facts.queues is None and not configuration.known:
        return None
    result: KueueInput = {"configurationKnown": configuration.known}
    if configuration.frameworks is not None:
        result["frameworks"] = list(configuration.frameworks)
    if configuration.external_frameworks:
        result["externalFrameworks"] = list(configuration.external_frameworks)
    readable = configuration.known and not configuration.problems
    if readable and (claimed := list(_claimed(workload, configuration))):
        result["claimedClasses"] = claimed
    managed = facts.manages_namespace
    if managed is not None:
        result["managesNamespace"] = managed
    if _declared_is_missing(workload, facts, known):
        result["declaredQueueMissing"] = True
    name = facts.queue_of(workload)
    if name:
        result["queue"] = _Judged(workload, facts).local_queue(name)
    return result


def _declared_is_missing(workload: model.Workload, facts: KueueFacts, known: Knowledge) -> bool:
    if facts.queues is None or workload.queue_labels.get(QUEUE_LABEL):
        return False
    declared = selection.first_match(known.config.queues, selection.subject_of(workload))
    return declared is not None and declared.local_queue not in facts.queues


def _claimed(workload: model.Workload, configuration: Configuration) -> Iterator[ClaimedClassInput]:
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
        self._demands = kueue_demand.of(workload, facts.configuration, facts.additions)

    def local_queue(self, name: str) -> LocalQueueInput:
        by_default = not self._workload.queue_labels.get(QUEUE_LABEL)
        result: LocalQueueInput = {"name": name, "byDefault": by_default, "others": []}
        queues = self._facts.queues
        if queues is None:
            return result
        queue = queues.get(name)
        result["exists"] = queue is not None
        if queue is None:
            result["others"] = list(islice(queues, slice_verdicts.MOST))
            leading = next((each.name for each in queues.values() if each.cluster_queue == name), None)
            if leading is not None:
                result["leadsThere"] = leading
            return result
        _add_state(result, queue.state)
        if queue.problems and not queue.cluster_queue:
            unread = KueueVerdict(answer=Answer.UNKNOWN, unknowns=queue.problems)
            result["clusterQueue"] = {"name": "", "verdict": slice_verdicts.verdict_input([unread], self._workload)}
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
        result["verdict"] = slice_verdicts.verdict_input(verdicts, self._workload)
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
    if state.stop_policy:
        result["stopPolicy"] = state.stop_policy
    if state.inactive:
        result["inactive"] = state.inactive
    if state.message:
        result["message"] = state.message
