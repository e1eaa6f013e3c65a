"""Findings about queues of Kueue and Volcano that no workload uses."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation
from usher.audit.standing.wanted import KUEUE_WORKLOAD, POD_GROUP
from usher.authorities.kueue import read as kueue_read
from usher.authorities.kueue.queues import GROUP, ClusterQueue, LocalQueue
from usher.authorities.volcano import read as volcano_read
from usher.authorities.volcano.read import DEFAULT_QUEUE
from usher.check.devices import WHOLE_GPUS

_KUEUE: Final = f"{GROUP}/v1beta2"
_VOLCANO: Final = "scheduling.volcano.sh/v1beta1"
_OWN: Final = (DEFAULT_QUEUE, "root")
"""Queues that Volcano makes itself."""


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """Unused queues with accelerators; empty if usher could not read all workloads."""
    if situation.estate.complete:
        yield from _of_kueue(situation)
        yield from _of_volcano(situation)


def _of_kueue(situation: Situation) -> Iterator[FindingEntry]:
    facts = situation.known.facts
    records = fields.listed(situation.estate, *KUEUE_WORKLOAD)
    queues = kueue_read.cluster(facts).queues
    if records is None or queues is None or not facts.knows(GROUP, "LocalQueue"):
        return
    used = {(fields.namespace(each), fields.text(each, "/spec/queueName")) for each in records}
    used |= {(each.identity.namespace, each.queue) for each in situation.estate.workloads}
    local = {
        namespace: kueue_read.local_queues(facts, namespace) or {}
        for namespace in sorted(facts.namespaces(GROUP, "LocalQueue"))
    }
    busy = {
        each.cluster_queue for space, found in local.items() for each in found.values() if (space, each.name) in used
    }
    busy |= {fields.text(each, "/status/admission/clusterQueue") for each in records}
    for name in sorted(queues):
        if name not in busy and _accelerators(queues[name], situation):
            yield _cluster_queue(queues[name], local, situation)
    for space, found in local.items():
        for each in found.values():
            behind = queues.get(each.cluster_queue)
            if (space, each.name) in used or behind is None or behind.name not in busy:
                continue
            if _accelerators(behind, situation):
                yield _local_queue(space, each, situation)


def _accelerators(queue: ClusterQueue, situation: Situation) -> Mapping[str, int]:
    """The nominal quota of each accelerator, summed over all flavors."""
    found: dict[str, int] = {}
    for (_, resource), quota in sorted(queue.quotas.by_flavor.items()):
        if situation.known.vocabulary_of_cluster.contains(resource):
            found[resource] = found.get(resource, 0) + quota.nominal
    return found


def _cluster_queue(
    queue: ClusterQueue, local: Mapping[str, Mapping[str, LocalQueue]], situation: Situation
) -> FindingEntry:
    leading = [f"{space}/{each.name}" for space, found in local.items() for each in found.values()
               if each.cluster_queue == queue.name]  # fmt: skip
    quotas = _accelerators(queue, situation)
    message = "no LocalQueue leads to it" if not leading else "no workload is in any of its LocalQueues"
    return entries.finding(
        "USA020",
        entries.named(_KUEUE, "ClusterQueue", queue.name),
        message,
        evidence=(
            *(f"nominal quota: {number:,} {resource}" for resource, number in quotas.items()),
            f"LocalQueues: {fields.listing(leading)}" if leading else "",
        ),
        gpus=float(sum(number for resource, number in quotas.items() if resource in WHOLE_GPUS)),
    )


def _local_queue(namespace: str, queue: LocalQueue, situation: Situation) -> FindingEntry:
    return entries.finding(
        "USA020",
        entries.named(_KUEUE, "LocalQueue", queue.name, namespace=namespace),
        "no workload is in it",
        evidence=(f"it leads to ClusterQueue {queue.cluster_queue}, which other queues use",),
        team=situation.team(namespace),
    )


def _of_volcano(situation: Situation) -> Iterator[FindingEntry]:
    groups = fields.listed(situation.estate, *POD_GROUP)
    queues = volcano_read.queues_of_cluster(situation.known.facts)
    if groups is None or queues is None:
        return
    used = {fields.text(each, "/spec/queue") or DEFAULT_QUEUE for each in groups}
    used |= {each.queue for each in situation.estate.workloads}
    for name, queue in sorted(queues.by_name.items()):
        if name in used or name in _OWN or name in queues.parents:
            continue
        bounds = {
            resource: quantity
            for resource, quantity in sorted(queue.capability.items())
            if situation.known.vocabulary_of_cluster.contains(resource)
        }
        yield entries.finding(
            "USA020",
            entries.named(_VOLCANO, "Queue", name),
            "no PodGroup is in it",
            evidence=[f"capability: {quantity} {resource}" for resource, quantity in bounds.items()],
        )
