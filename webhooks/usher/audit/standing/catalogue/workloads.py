"""Findings about workloads: those that wait, and those that admission would refuse or change today."""

from typing import Final

from usher.audit.standing.catalogue.entry import Entry

ENTRIES: Final = (
    Entry(
        code="USA001",
        name="never-runs",
        title="A workload waits that can never run",
        severity="high",
        category="waiting",
        why="It waits for ever, and its owner may not know: no other workload that ends makes room for it.",
        remedy="Change the workload as the evidence says, or give its queue, quota or nodes what it needs. `usher "
        "queue FILE` tries changes.",
        source="docs/queue.md",
    ),
    Entry(
        code="USA002",
        name="half-started-gang",
        title="A gang holds accelerators while its other pods wait",
        severity="high",
        category="waiting",
        why="The pods that run wait for the others, so their accelerators do nothing; two half gangs can block each "
        "other for ever.",
        remedy="Let a gang scheduler (Kueue, Volcano, KAI) start all its pods together, or give the missing pods room.",
        source="docs/domain/volcano.md#the-schedulers-name-alone",
    ),
    Entry(
        code="USA003",
        name="pending-too-long",
        title="A workload waits longer than audit.pending",
        severity="medium",
        category="waiting",
        why="Its owner waits for GPUs, and the cluster may have room that it cannot use.",
        remedy="Ask the authority that holds it; the message and the evidence have its words.",
        source="docs/queue.md",
    ),
    Entry(
        code="USA004",
        name="fewer-pods-than-wanted",
        title="A workload has fewer pods than it wants",
        severity="medium",
        category="waiting",
        why="Something refuses its pods, most often a quota or a webhook; the workload shows it only in its events.",
        remedy="Read the events of the workload and of its controllers: kubectl describe. A quota that is too small "
        "needs its owner.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
    Entry(
        code="USA040",
        name="from-before-the-policy",
        title="A workload from before the policy would be denied today",
        severity="medium",
        category="admission",
        why="Its next change or restart may be refused, at a time that its owner did not choose.",
        remedy="Mend the workload, or agree on an exception with an owner and a last day.",
        source="docs/operations.md",
    ),
    Entry(
        code="USA041",
        name="runs-although-denied",
        title="A workload runs that admission would deny today",
        severity="high",
        category="admission",
        why="It came in while usher was away, or before a rule was stricter; the rule does not hold for it.",
        remedy="Mend the workload, or agree on an exception with an owner and a last day.",
        source="docs/operations.md",
    ),
    Entry(
        code="USA042",
        name="changed-by-admission-today",
        title="Admission would change a workload today",
        severity="low",
        category="admission",
        why="It lacks what new workloads get: tolerations, affinity, queue or fabric settings.",
        remedy="Let its controller create it again at the next change.",
        source="docs/mutations.md",
    ),
)
