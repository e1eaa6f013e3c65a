"""Whether the queue and the topology of mutations would keep a workload waiting for ever, by facts of the cluster."""

from collections.abc import Callable, Iterable
from typing import Final

from usher import model
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.kueue.read import QUEUE_LABEL
from usher.authorities.kueue.slice_verdicts import KueueVerdictInput
from usher.mutation.merge import MutationRefusal

Refusal = Callable[[model.Intent], MutationRefusal | None]

FIELDS: Final = frozenset({"kueueLabel", "ownLabel", "annotation", "managedBy"})
"""The fields of intents that give a queue, its controller or a topology."""

_LABELS: Final = frozenset({"kueueLabel", "ownLabel"})
_TOPOLOGY: Final = "kueue.x-k8s.io/podset-"


def refusal(workload: model.Workload, applied: Iterable[model.Intent], known: Knowledge) -> Refusal | None:
    """Refuses the intents that the ClusterQueue can never fulfil; None if usher knows no reason.

    Args:
        workload: the mutated object, normalised.
        applied: the intents that were applied to it.
        known: the facts of the cluster.
    """
    if not any(_is_queue(intent) or _is_topology(intent) or _hands_over(intent) for intent in applied):
        return None
    found = kueue_slice.of(Case(workload=workload), known)
    queue = found.get("queue") if found is not None else None
    cluster_queue = queue.get("clusterQueue") if queue is not None else None
    verdict = cluster_queue.get("verdict") if cluster_queue is not None else None
    if cluster_queue is None or verdict is None:
        return None
    missing = [each["resource"] for each in verdict["uncovered"]]
    if missing and any(_is_queue(intent) for intent in applied):
        reason = f"ClusterQueue {cluster_queue['name']} has no quota for {missing[0]}, so it never admits the workload"
        return _refusing(reason, lambda intent: intent.field in _LABELS or _is_topology(intent))
    if cluster_queue.get("withoutChecks") and any(_hands_over(intent) for intent in applied):
        reason = f"ClusterQueue {cluster_queue['name']} has no AdmissionCheck, so MultiKueue never takes the workload"
        return _refusing(reason, _hands_over)
    reason = _missing_level(verdict)
    return _refusing(reason, _is_topology) if reason else None


def _missing_level(verdict: KueueVerdictInput) -> str:
    for unmatched in verdict["unmatched"]:
        for flavor in unmatched["flavors"]:
            if "level" in flavor:
                return f"the Topology of flavor {flavor['flavor']} has no level {flavor['level']}"
    return ""


def _refusing(reason: str, concerned: Callable[[model.Intent], bool]) -> Refusal:
    refused = MutationRefusal(reason=reason, told=True)
    return lambda intent: refused if concerned(intent) else None


def _key(intent: model.Intent) -> str:
    key = intent.value.get("key") if isinstance(intent.value, dict) else None
    return key if isinstance(key, str) else ""


def _is_queue(intent: model.Intent) -> bool:
    return intent.field in _LABELS and _key(intent) == QUEUE_LABEL


def _is_topology(intent: model.Intent) -> bool:
    return intent.field == "annotation" and _key(intent).startswith(_TOPOLOGY)


def _hands_over(intent: model.Intent) -> bool:
    return intent.field == "managedBy" or (isinstance(intent.value, dict) and "managedBy" in intent.value)
