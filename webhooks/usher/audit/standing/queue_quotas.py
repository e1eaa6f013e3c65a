"""Findings about Kueue quotas above the capacity of the nodes of their flavors."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.estate import Node
from usher.audit.standing import capacity, entries
from usher.audit.standing.situation import Situation
from usher.authorities.kueue import read as kueue_read
from usher.authorities.kueue.flavors import Flavor
from usher.authorities.kueue.queues import GROUP, UNLIMITED
from usher.check.devices import WHOLE_GPUS


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each flavor and accelerator of which queues promise more than the nodes have.

    It adds up the nominal quotas of all queues and cohorts; they include what a queue may borrow. It skips flavors with
    unknown nodes or quotas, and flavors to which an autoscaler may add nodes.
    """
    known = kueue_read.cluster(situation.known.facts)
    if known.queues is None or known.flavors is None or situation.estate.nodes is None:
        return
    promised = _promised(situation)
    for name, flavor in sorted(known.flavors.items()):
        if flavor.problems:
            continue
        there = capacity.of(node for node in situation.estate.nodes if _matches(flavor, node))
        for resource, quotas in sorted(promised.get(name, {}).items()):
            total, has = sum(quotas.values()), there.get(resource, 0)
            if total > has and total < UNLIMITED and not capacity.grows(resource, situation):
                yield entries.finding(
                    "USA021",
                    entries.named(f"{GROUP}/v1beta2", "ResourceFlavor", name),
                    f"{entries.counted(len(quotas), 'queue')} with flavor {name} "
                    f"{'promises' if len(quotas) == 1 else 'promise'} {total:,} {resource}, and the "
                    f"nodes that match it have {has:,}",
                    part=resource,
                    evidence=[f"{queue}: {number:,}" for queue, number in quotas.items()][:20],
                    gpus=float(total - has) if resource in WHOLE_GPUS else 0,
                )


def _promised(situation: Situation) -> Mapping[str, Mapping[str, dict[str, int]]]:
    """The nominal quota of each queue that has one, by flavor and accelerator."""
    found: defaultdict[str, defaultdict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    known = kueue_read.cluster(situation.known.facts)
    for name, queue in sorted((known.queues or {}).items()):
        # A check may bring nodes (ProvisioningRequest) or send workloads to another cluster.
        if queue.has_checks is False and not queue.problems:
            for (flavor, resource), quota in sorted(queue.quotas.by_flavor.items()):
                if quota.nominal > 0 and situation.known.vocabulary_of_cluster.contains(resource):
                    found[flavor][resource][f"ClusterQueue {fields.excerpt(name)}"] = quota.nominal
    return found


def _matches(flavor: Flavor, node: Node) -> bool:
    return all(node.labels.get(key) == value for key, value in flavor.node_labels.items())
