"""Whether a mutated workload would wait forever in its queue, by facts of the cluster.

Mutations may add the queue itself, a topology, or network devices for which the queue has no quota.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from usher import model
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue import slice as kueue_slice
from usher.authorities.kueue.read import QUEUE_LABEL
from usher.authorities.kueue.slice_verdicts import KueueVerdictInput
from usher.mutation.merge import MutationRefusal

Refusal = Callable[[model.Intent], MutationRefusal | None]

_Refused = tuple[str, Callable[[model.Intent], bool]]
"""A reason, and a function that says whether it concerns an intent."""

FIELDS: Final = frozenset({"kueueLabel", "ownLabel", "annotation", "managedBy", "resource"})
"""The fields of intents that give a queue, its controller, a topology or a device."""

_LABELS: Final = frozenset({"kueueLabel", "ownLabel"})
_TOPOLOGY: Final = "kueue.x-k8s.io/podset-"
_WITH_DEVICES: Final = frozenset({"resource", "capability"})
"""Fields that belong to a device: without the device the capability has no use."""


def refusal(workload: model.Workload, applied: Collection[model.Intent], known: Knowledge) -> Refusal | None:
    """Refuses the intents that the ClusterQueue can never fulfil; None if usher knows no reason.

    Args:
        workload: the mutated object, normalised.
        applied: the intents that were applied to it; read more than once.
        known: the facts of the cluster.
    """
    added = {_device(intent) for intent in applied if intent.field == "resource"}
    if not added and not any(_is_queue(intent) or _is_topology(intent) or _hands_over(intent) for intent in applied):
        return None
    found = kueue_slice.of(Case(workload=workload), known)
    queue = found.get("queue") if found is not None else None
    cluster_queue = queue.get("clusterQueue") if queue is not None else None
    verdict = cluster_queue.get("verdict") if cluster_queue is not None else None
    if cluster_queue is None or verdict is None:
        return None
    name = cluster_queue["name"]
    missing = {each["resource"] for each in verdict["uncovered"]}
    devices, others = sorted(added & missing), sorted(missing - added)
    refused: list[_Refused] = []
    if devices:
        reason = f"ClusterQueue {name} has no quota for {devices[0]}, and would never admit pods with this device"
        refused.append((reason, lambda intent: _goes_with(intent, devices)))
    if others and any(_is_queue(intent) for intent in applied):
        reason = f"ClusterQueue {name} has no quota for {others[0]}, so it never admits the workload"
        refused.append((reason, lambda intent: intent.field in _LABELS or _is_topology(intent)))
    elif cluster_queue.get("withoutChecks") and any(_hands_over(intent) for intent in applied):
        reason = f"ClusterQueue {name} has no AdmissionCheck, so MultiKueue never takes the workload"
        refused.append((reason, _hands_over))
    elif level := _missing_level(verdict):
        refused.append((level, _is_topology))
    return _refusing(refused) if refused else None


def _missing_level(verdict: KueueVerdictInput) -> str:
    for unmatched in verdict["unmatched"]:
        for flavor in unmatched["flavors"]:
            if "level" in flavor:
                return f"the Topology of flavor {flavor['flavor']} has no level {flavor['level']}"
    return ""


def _device(intent: model.Intent) -> str:
    name = intent.value.get("name") if isinstance(intent.value, dict) else None
    return name if isinstance(name, str) else ""


def _goes_with(intent: model.Intent, devices: Collection[str]) -> bool:
    return intent.field in _WITH_DEVICES and (intent.field != "resource" or _device(intent) in devices)


def _refusing(refused: Sequence[_Refused]) -> Refusal:
    def why(intent: model.Intent) -> MutationRefusal | None:
        reasons = (reason for reason, concerned in refused if concerned(intent))
        reason = next(reasons, None)
        return None if reason is None else MutationRefusal(reason=reason, told=True)

    return why


def _key(intent: model.Intent) -> str:
    key = intent.value.get("key") if isinstance(intent.value, dict) else None
    return key if isinstance(key, str) else ""


def _is_queue(intent: model.Intent) -> bool:
    return intent.field in _LABELS and _key(intent) == QUEUE_LABEL


def _is_topology(intent: model.Intent) -> bool:
    return intent.field == "annotation" and _key(intent).startswith(_TOPOLOGY)


def _hands_over(intent: model.Intent) -> bool:
    return intent.field == "managedBy" or (isinstance(intent.value, dict) and "managedBy" in intent.value)
