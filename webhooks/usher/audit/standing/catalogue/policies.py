"""Findings about policy objects: exceptions, queues and quotas."""

from typing import Final

from usher.audit.standing.catalogue.entry import Entry

ENTRIES: Final = (
    Entry(
        code="USA010",
        name="exception-unused",
        title="An exception of usher.yaml covers no finding",
        severity="low",
        category="exceptions",
        why="The next object that gets a matching name gets the exception too, and it hides those that have a reason.",
        remedy="Remove the exception from usher.yaml.",
        source="docs/configuration.md",
    ),
    Entry(
        code="USA011",
        name="exception-expired",
        title="An exception of usher.yaml has expired",
        severity="medium",
        category="exceptions",
        why="It covers nothing any more: what it covered is denied or warned about again.",
        remedy="Mend what it covered and remove it, or agree on a new last day.",
        source="docs/configuration.md",
    ),
    Entry(
        code="USA012",
        name="exception-not-needed",
        title="Nothing needs an exception of usher.yaml any more",
        severity="low",
        category="exceptions",
        why="The objects that it was made for are mended, and it would let the same mistake in again.",
        remedy="Remove the exception from usher.yaml.",
        source="docs/configuration.md",
    ),
    Entry(
        code="USA020",
        name="queue-without-workloads",
        title="No workload uses a queue",
        severity="low",
        category="queues",
        why="Its quota may be lent or lost, and people look for their queue in a longer list.",
        remedy="Remove the queue, or tell the team that it exists.",
        source="https://kueue.sigs.k8s.io/docs/concepts/local_queue/",
    ),
    Entry(
        code="USA021",
        name="queue-quota-above-capacity",
        title="Queues promise more accelerators than their nodes have",
        severity="medium",
        category="queues",
        why="Kueue admits workloads whose pods then wait: it believes its quotas, not the nodes. KAI shares by quotas "
        "that can never be met.",
        remedy="Lower nominalQuota to the capacity of the nodes that match the flavor, or add nodes.",
        source="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/",
    ),
    Entry(
        code="USA022",
        name="quota-above-capacity",
        title="A quota is larger than the cluster",
        severity="low",
        category="quotas",
        why="It bounds nothing: its namespace can take every accelerator of the cluster.",
        remedy="Lower the quota below the capacity, or remove it if no bound is wanted.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
    Entry(
        code="USA023",
        name="quotas-together-above-capacity",
        title="All quotas together promise more accelerators than there are",
        severity="low",
        category="quotas",
        why="Teams plan with quotas that cannot all be used at once. Where a site overcommits on purpose, nothing "
        "is wrong.",
        remedy="Lower the quotas, add nodes, or note for your teams by how much quotas are overcommitted.",
        source="docs/quota.md",
    ),
    Entry(
        code="USA024",
        name="quota-without-workloads",
        title="A quota of accelerators has no workloads",
        severity="low",
        category="quotas",
        why="Accelerators are planned for a namespace that does not use any.",
        remedy="Ask the owner of the namespace, then lower or remove the quota.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
)
