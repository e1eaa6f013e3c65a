"""Findings about MIG profiles that nodes offer and no workload requests."""

from collections import defaultdict
from collections.abc import Iterator

from usher.accelerators.mig import MIG_RESOURCE_PREFIX
from usher.audit import fields, gpus
from usher.audit.document import FindingEntry
from usher.audit.estate import Node
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each MIG profile that workloads neither use nor wait for.

    It finds nothing if the nodes are unknown, or if usher could not read all workloads.
    """
    if situation.estate.nodes is None or not situation.complete:
        return
    asked = {resource for workload in situation.estate.workloads for resource in workload.asks}
    asked |= {resource for workload in situation.estate.workloads for pod in workload.pods for resource in pod.devices}
    offering: defaultdict[str, list[Node]] = defaultdict(list)
    for node in situation.estate.nodes:
        if node.partition:
            # Pods request its slices by the name of whole GPUs.
            continue
        for resource, amount in node.capacity.items():
            if resource.startswith(MIG_RESOURCE_PREFIX) and amount.number > 0 and resource not in asked:
                offering[resource].append(node)
    for resource, nodes in sorted(offering.items()):
        number = sum(node.capacity[resource].number for node in nodes)
        yield entries.finding(
            "USA032",
            entries.of_cluster(resource),
            f"{entries.counted(len(nodes), 'node')} {'offers' if len(nodes) == 1 else 'offer'} {number:,} {resource}, "
            "and no workload asks for it",
            gpus=sum(gpus.of_devices({resource: node.capacity[resource]}, node) for node in nodes),
            evidence=(
                f"nodes: {fields.listing([node.name for node in nodes])}",
                *sorted({f"configuration: {node.labels['nvidia.com/mig.config']}"
                         for node in nodes if node.labels.get("nvidia.com/mig.config")})[:3],
            ),
        )  # fmt: skip
