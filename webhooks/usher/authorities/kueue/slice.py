"""The queue that a workload waits in, and whether it could ever be admitted there."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.accelerators.names import CLAIM_PREFIX
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge, read, slice_verdicts
from usher.authorities.kueue.configuration import Configuration
from usher.authorities.kueue.demand import Demand
from usher.authorities.kueue.judge import Outcome
from usher.authorities.kueue.queues import LocalQueue, State
from usher.authorities.kueue.read import Cluster
from usher.facts import namespaces
from usher.facts.store import Store
from usher.scheduling import requirements
from usher.scheduling.requirements import Labels

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"

_DEFAULT: Final = "default"
"""The LocalQueue into which Kueue puts what names none."""


class QueueState(TypedDict):
    """`exists` is absent where nobody knows it, and the others where there is nothing to say."""

    name: str
    exists: NotRequired[bool]
    stopPolicy: NotRequired[str]
    inactive: NotRequired[str]
    """The reason that Kueue gives for not admitting anything."""
    message: NotRequired[str]


class ClusterQueue(QueueState):
    selectsNamespace: NotRequired[bool]
    selector: NotRequired[str]
    """`null` where it has none."""
    verdict: NotRequired[slice_verdicts.Verdict]


class LocalQueueState(QueueState):
    byDefault: bool
    """Whether the workload names no queue, and gets this one because of its name."""
    others: list[str]
    """Of the queues of the namespace; only where this one is not there."""
    leadsThere: NotRequired[str]
    """Of these the one of the ClusterQueue that has the name."""
    clusterQueue: NotRequired[ClusterQueue]


class ClaimedClass(TypedDict):
    """A device class of which a pod set claims devices by templates."""

    podSet: str
    """The path of its template."""
    name: str
    mapped: bool
    """Whether deviceClassMappings of Kueue's configuration names it, so that Kueue counts the devices."""


class Kueue(TypedDict):
    configurationKnown: bool
    frameworks: NotRequired[list[str]]
    """What integrations.frameworks lists, where that is known."""
    externalFrameworks: NotRequired[list[str]]
    """Kinds that other controllers bring to Kueue, as Kind.version.group; only where there are any."""
    claimedClasses: NotRequired[list[ClaimedClass]]
    """Where the configuration can be read, and as far as it is known what the claims are for."""
    managesNamespace: NotRequired[bool]
    """Whether managedJobsNamespaceSelector takes the namespace, where that is known."""
    queue: NotRequired[LocalQueueState]


def of(workload: model.Workload, facts: Store) -> Kueue | None:
    """What Kueue makes of a workload; None where nothing is known of it, and of what a controller made."""
    if workload.owner is not None:
        return None
    configuration = read.configuration(facts)
    if workload.queue_label_path is None:
        external = list(configuration.external_frameworks)
        is_labelled = bool(workload.labels.get(QUEUE_LABEL))
        return {"configurationKnown": True, "externalFrameworks": external} if external and is_labelled else None
    queues = read.local_queues(facts, workload.namespace)
    if queues is None and not configuration.known:
        return None
    result: Kueue = {"configurationKnown": configuration.known}
    labels = namespaces.labels(workload.namespace, facts)
    if configuration.frameworks is not None:
        result["frameworks"] = list(configuration.frameworks)
    if configuration.external_frameworks:
        result["externalFrameworks"] = list(configuration.external_frameworks)
    readable = configuration.known and not configuration.problems
    if readable and (claimed := list(_claimed(workload, configuration))):
        result["claimedClasses"] = claimed
    managed = selects(configuration.namespace_selector, labels) if configuration.known else None
    if managed is not None:
        result["managesNamespace"] = managed
    name = queue_of(workload, queues, managed=managed)
    if name:
        judged = _Judged(workload, queues, labels, read.of(facts), configuration)
        result["queue"] = judged.local_queue(name, by_default=not workload.queue_labels.get(QUEUE_LABEL))
    return result


def _claimed(workload: model.Workload, configuration: Configuration) -> Iterator[ClaimedClass]:
    for pod_set in workload.pod_sets:
        claimed = (each.name for each in pod_set.requests if each.route is model.Route.CLAIM and not each.claim)
        for name in dict.fromkeys(claimed):
            if not name.startswith(CLAIM_PREFIX):
                yield {"podSet": pod_set.path, "name": name, "mapped": name in configuration.mapped_classes}


def queue_of(workload: model.Workload, queues: Mapping[str, LocalQueue] | None, *, managed: bool | None) -> str:
    """The LocalQueue that a workload names, or that it gets because of its name; empty where it waits in none.

    Args:
        workload: the object.
        queues: those of its namespace; None where nothing is known of them.
        managed: whether managedJobsNamespaceSelector takes the namespace; None where that is not known.
    """
    named = workload.queue_labels.get(QUEUE_LABEL, "")
    return named or (_DEFAULT if _DEFAULT in (queues or {}) and managed is not False else "")


class _Judged:
    """A workload against the queues of its namespace."""

    def __init__(
        self,
        workload: model.Workload,
        queues: Mapping[str, LocalQueue] | None,
        labels: Labels | None,
        cluster: Cluster,
        configuration: Configuration,
    ) -> None:
        self._workload = workload
        self._queues = queues
        self._labels = labels
        self._cluster = cluster
        self._configuration = configuration
        self._demands = kueue_demand.of(workload, configuration)

    def local_queue(self, name: str, *, by_default: bool) -> LocalQueueState:
        result: LocalQueueState = {"name": name, "byDefault": by_default, "others": []}
        if self._queues is None:
            return result
        queue = self._queues.get(name)
        result["exists"] = queue is not None
        if queue is None:
            result["others"] = list(islice(self._queues, slice_verdicts.MOST))
            leading = next((each.name for each in self._queues.values() if each.cluster_queue == name), None)
            if leading is not None:
                result["leadsThere"] = leading
            return result
        _add_state(result, queue.state)
        if queue.problems and not queue.cluster_queue:
            unread = judge.Verdict(outcome=Outcome.UNKNOWN, unknowns=queue.problems)
            result["clusterQueue"] = {"name": "", "verdict": slice_verdicts.document([unread], self._workload)}
            return result
        result["clusterQueue"] = self._cluster_queue(queue.cluster_queue)
        verdict = result["clusterQueue"].get("verdict")
        if verdict is not None and verdict["outcome"] == Outcome.NEVER.value:
            other = self._fitting(besides=queue)
            if other is not None:
                verdict["fitsIn"] = other
        return result

    def _cluster_queue(self, name: str) -> ClusterQueue:
        result: ClusterQueue = {"name": name}
        queues = self._cluster.queues
        if queues is None:
            return result
        queue = queues.get(name)
        result["exists"] = queue is not None
        if queue is None:
            return result
        _add_state(result, queue.state)
        selected = selects(queue.namespace_selector, self._labels)
        if selected is not None:
            result["selectsNamespace"] = selected
        if queue.namespace_selector is None:
            result["selector"] = "null"
        result["verdict"] = slice_verdicts.document(
            [self._judge(demand, name) for demand in self._demands], self._workload
        )
        return result

    def _judge(self, demand: Demand, name: str) -> judge.Verdict:
        queue = (self._cluster.queues or {})[name]
        return judge.judge(demand, queue, self._cluster, self._configuration)

    def _fitting(self, *, besides: LocalQueue) -> str | None:
        """Another queue of the namespace that could admit the workload, and is not held back."""
        known = self._cluster.queues or {}
        for each in islice((self._queues or {}).values(), 2 * slice_verdicts.MOST):
            queue = known.get(each.cluster_queue)
            if (
                queue is not None
                and each.cluster_queue != besides.cluster_queue
                and each.state == queue.state == State()
                and selects(queue.namespace_selector, self._labels)
                and all(self._judge(demand, queue.name).outcome is Outcome.ADMISSIBLE for demand in self._demands)
            ):
                return each.name
        return None


def _add_state(result: QueueState, state: State) -> None:
    if state.stop_policy:
        result["stopPolicy"] = state.stop_policy
    if state.inactive:
        result["inactive"] = state.inactive
    if state.message:
        result["message"] = state.message


def selects(selector: paths.Json, labels: Labels | None) -> bool | None:
    """Whether a selector takes a namespace; None where that cannot be told."""
    if labels is not None or selector is None or selector == {}:
        return requirements.matches(selector, labels or {})
    return None
