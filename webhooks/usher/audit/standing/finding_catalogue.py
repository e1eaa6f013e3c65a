"""The findings that an audit can make about a cluster as a whole, beside the checks on single objects."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from typing_extensions import TypedDict

_Severity = Literal["critical", "high", "medium", "low"]


class CatalogueEntry(Struct, frozen=True, kw_only=True):
    """One kind of finding about a cluster. Codes and names are an interface: their meaning never changes."""

    code: str
    name: str
    title: str
    severity: _Severity
    category: str
    """`waiting`, `admission`, `exceptions`, `queues`, `quotas`, `nodes` or `coverage`."""
    why: str
    """The reason why it matters, in one sentence."""
    remedy: str
    """The remedy if the finding itself has no better one."""
    source: str
    """A page of this repository, or of the project behind the subject."""


class _Names(TypedDict):
    code: str
    name: str
    severity: _Severity
    category: str


def _names(code: str, name: str, severity: _Severity, category: str) -> _Names:
    return _Names(code=code, name=name, severity=severity, category=category)


_ABOUT_WORKLOADS: Final = (
    CatalogueEntry(
        **_names("USA001", "never-runs", "high", "waiting"),
        title="A workload waits that can never run",
        why="It waits for ever, and its owner may not know: no other workload that ends makes room for it.",
        remedy="Change the workload as the evidence says, or give its queue, quota or nodes what it needs. `usher "
        "queue FILE` tries changes.",
        source="docs/queue.md",
    ),
    CatalogueEntry(
        **_names("USA002", "half-started-gang", "high", "waiting"),
        title="A gang holds accelerators while its other pods wait",
        why="The pods that run wait for the others, so their accelerators do nothing; two half gangs can block each "
        "other for ever.",
        remedy="Let a gang scheduler (Kueue, Volcano, KAI) start all its pods together, or give the missing pods room.",
        source="docs/domain/volcano.md#the-schedulers-name-alone",
    ),
    CatalogueEntry(
        **_names("USA003", "pending-too-long", "medium", "waiting"),
        title="A workload waits longer than audit.pending",
        why="Its owner waits for GPUs, and the cluster may have room that it cannot use.",
        remedy="Ask the authority that holds it; the message and the evidence have its words.",
        source="docs/queue.md",
    ),
    CatalogueEntry(
        **_names("USA004", "fewer-pods-than-wanted", "medium", "waiting"),
        title="A workload has fewer pods than it wants",
        why="Something refuses its pods, most often a quota or a webhook; the workload shows it only in its events.",
        remedy="Read the events of the workload and of its controllers: kubectl describe. A quota that is too small "
        "needs its owner.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
    CatalogueEntry(
        **_names("USA040", "from-before-the-policy", "medium", "admission"),
        title="A workload from before the policy would be denied today",
        why="Its next change or restart may be refused, at a time that its owner did not choose.",
        remedy="Mend the workload, or agree on an exception with an owner and a last day.",
        source="docs/operations.md",
    ),
    CatalogueEntry(
        **_names("USA041", "runs-although-denied", "high", "admission"),
        title="A workload runs that admission would deny today",
        why="It came in while usher was away, or before a rule was stricter; the rule does not hold for it.",
        remedy="Mend the workload, or agree on an exception with an owner and a last day.",
        source="docs/operations.md",
    ),
    CatalogueEntry(
        **_names("USA042", "changed-by-admission-today", "low", "admission"),
        title="Admission would change a workload today",
        why="It lacks what new workloads get: tolerations, affinity, queue or fabric settings.",
        remedy="Let its controller create it again at the next change.",
        source="docs/mutations.md",
    ),
)

_ABOUT_POLICIES: Final = (
    CatalogueEntry(
        **_names("USA010", "exception-unused", "low", "exceptions"),
        title="An exception of usher.yaml covers no finding",
        why="The next object that gets a matching name gets the exception too, and it hides those that have a reason.",
        remedy="Remove the exception from usher.yaml.",
        source="docs/configuration.md",
    ),
    CatalogueEntry(
        **_names("USA011", "exception-expired", "medium", "exceptions"),
        title="An exception of usher.yaml has expired",
        why="It covers nothing any more: what it covered is denied or warned about again.",
        remedy="Mend what it covered and remove it, or agree on a new last day.",
        source="docs/configuration.md",
    ),
    CatalogueEntry(
        **_names("USA012", "exception-not-needed", "low", "exceptions"),
        title="Nothing needs an exception of usher.yaml any more",
        why="The objects that it was made for are mended, and it would let the same mistake in again.",
        remedy="Remove the exception from usher.yaml.",
        source="docs/configuration.md",
    ),
    CatalogueEntry(
        **_names("USA020", "queue-without-workloads", "low", "queues"),
        title="No workload uses a queue",
        why="Its quota may be lent or lost, and people look for their queue in a longer list.",
        remedy="Remove the queue, or tell the team that it exists.",
        source="https://kueue.sigs.k8s.io/docs/concepts/local_queue/",
    ),
    CatalogueEntry(
        **_names("USA021", "queue-quota-above-capacity", "medium", "queues"),
        title="Queues promise more accelerators than their nodes have",
        why="Kueue admits workloads whose pods then wait: it believes its quotas, not the nodes. KAI shares by quotas "
        "that can never be met.",
        remedy="Lower nominalQuota to the capacity of the nodes that match the flavor, or add nodes.",
        source="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/",
    ),
    CatalogueEntry(
        **_names("USA022", "quota-above-capacity", "low", "quotas"),
        title="A quota is larger than the cluster",
        why="It bounds nothing: its namespace can take every accelerator of the cluster.",
        remedy="Lower the quota below the capacity, or remove it if no bound is wanted.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
    CatalogueEntry(
        **_names("USA023", "quotas-together-above-capacity", "low", "quotas"),
        title="All quotas together promise more accelerators than there are",
        why="Teams plan with quotas that cannot all be used at once. Where a site overcommits on purpose, nothing "
        "is wrong.",
        remedy="Lower the quotas, add nodes, or note for your teams by how much quotas are overcommitted.",
        source="docs/quota.md",
    ),
    CatalogueEntry(
        **_names("USA024", "quota-without-workloads", "low", "quotas"),
        title="A quota of accelerators has no workloads",
        why="Accelerators are planned for a namespace that does not use any.",
        remedy="Ask the owner of the namespace, then lower or remove the quota.",
        source="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
)

_ABOUT_NODES: Final = (
    CatalogueEntry(
        **_names("USA030", "nodes-without-taint", "medium", "nodes"),
        title="GPU nodes have no taint",
        why="Pods without accelerators fill cpu and memory of the nodes, and GPUs stay free that no pod can reach.",
        remedy="Taint the nodes with nvidia.com/gpu=present:NoSchedule, in their node pool so that new nodes get it "
        "too.",
        source="docs/domain/nodes.md#taints",
    ),
    CatalogueEntry(
        **_names("USA031", "taint-that-daemons-do-not-tolerate", "high", "nodes"),
        title="A DaemonSet of the GPU stack does not tolerate a taint of GPU nodes",
        why="Without driver, device plugin or exporter a node offers no GPU, or no metrics of it.",
        remedy="Add the taint to daemonsets.tolerations of the GPU operator, or to the tolerations of the DaemonSet.",
        source="docs/domain/nodes.md#taints",
    ),
    CatalogueEntry(
        **_names("USA032", "mig-profile-unused", "medium", "nodes"),
        title="No workload asks for a MIG profile that nodes offer",
        why="The slices take parts of GPUs that other profiles, or whole GPUs, could use.",
        remedy="Divide the nodes by the profiles that workloads ask for (label nvidia.com/mig.config), or tell teams "
        "of the profile.",
        source="docs/domain/mig.md",
    ),
    CatalogueEntry(
        **_names("USA033", "mig-configuration-failed", "high", "nodes"),
        title="A node is not divided as its MIG configuration says",
        why="The node offers other slices than its configuration wants, or no slice at all.",
        remedy="Read the log of the MIG manager on the node. It starts again when the label nvidia.com/mig.config "
        "changes.",
        source="docs/domain/mig.md",
    ),
    CatalogueEntry(
        **_names("USA034", "node-out-of-service", "high", "nodes"),
        title="A GPU node is cordoned or not ready",
        why="Its GPUs cost money, and pods cannot get them.",
        remedy="Repair the node and uncordon it, or return it.",
        source="https://kubernetes.io/docs/concepts/architecture/nodes/",
    ),
    CatalogueEntry(
        **_names("USA035", "unhealthy-devices", "high", "nodes"),
        title="A node offers fewer accelerators than it has",
        why="The device plugin found devices unhealthy, and pods cannot get them.",
        remedy="Look in the logs of the kernel (for NVIDIA, Xid errors) and of the device plugin; drain the node, and "
        "reset or replace the device.",
        source="https://docs.nvidia.com/deploy/xid-errors/",
    ),
    CatalogueEntry(
        **_names("USA036", "node-offers-no-gpu", "high", "nodes"),
        title="A node with GPUs offers no accelerator",
        why="Its driver or its device plugin does not run, so its GPUs are lost.",
        remedy="Look at the pods of the GPU operator on this node: the driver first, then the toolkit, then the "
        "device plugin.",
        source="docs/domain/nodes.md#labels",
    ),
    CatalogueEntry(
        code="USA037",
        name="gpus-offered-twice",
        title="A node offers the same GPUs as resources and for claims",
        severity="high",
        category="nodes",
        why="The scheduler gives a GPU to one pod by its resource and to another by a claim, and neither knows.",
        remedy="Let one of them offer the GPUs of a node: leave the device plugin off nodes with the DRA driver (the "
        "label nvidia.com/gpu.deploy.device-plugin=false), or switch GPUs off in the driver "
        "(resources.gpus.enabled=false).",
        source="https://github.com/NVIDIA/k8s-dra-driver-gpu",
    ),
)

_ABOUT_WEBHOOKS: Final = (
    CatalogueEntry(
        **_names("USA050", "webhooks-missing", "high", "coverage"),
        title="usher judges nothing in this cluster",
        why="No webhook of usher is registered, so every workload comes in unjudged.",
        remedy="Once a server answers: usher manifests webhooks | kubectl apply -f -",
        source="docs/operations.md",
    ),
    CatalogueEntry(
        **_names("USA051", "kind-not-covered", "high", "coverage"),
        title="No webhook rule of usher covers a kind that makes pods",
        why="Workloads of this kind come in unjudged; only their pods may be judged later.",
        remedy="Print the webhooks again with this version: usher manifests webhooks",
        source="docs/workloads.md",
    ),
    CatalogueEntry(
        **_names("USA052", "namespace-not-covered", "high", "coverage"),
        title="usher's webhooks leave out a namespace with accelerators",
        why="Workloads of the namespace come in unjudged.",
        remedy="Change the namespaceSelector of the webhook, or the labels of the namespace.",
        source="docs/domain/webhooks.md#configuration",
    ),
    CatalogueEntry(
        **_names("USA053", "exempt-namespace", "medium", "coverage"),
        title="An exempt namespace has accelerators",
        why="No rule holds for its workloads.",
        remedy="Remove the label of the namespace, or its entry in exemptNamespaces of usher.yaml, where no operator "
        "needs it; judgedNamespaces gives up a namespace that usher exempts by default.",
        source="docs/operations.md#exempt-a-namespace",
    ),
    CatalogueEntry(
        **_names("USA054", "webhook-timeouts", "medium", "coverage"),
        title="Webhooks together may take longer than a request",
        why="If they do not answer, the API server gives up the request before it calls the last of them.",
        remedy="Shorten their timeoutSeconds, the longest first, or narrow their rules.",
        source="docs/domain/webhooks.md#failures",
    ),
    CatalogueEntry(
        **_names("USA055", "webhook-blocks-recovery", "high", "coverage"),
        title="A webhook fails closed on what it needs to come back",
        why="After a failure of its own server, or of nodes, the cluster cannot heal without a person.",
        remedy="Let it fail open there, or exclude these objects by its selectors.",
        source="docs/domain/webhooks.md#failures",
    ),
)

ENTRIES: Final[tuple[CatalogueEntry, ...]] = tuple(
    sorted((*_ABOUT_WORKLOADS, *_ABOUT_POLICIES, *_ABOUT_NODES, *_ABOUT_WEBHOOKS), key=lambda entry: entry.code)
)
"""All entries, by code."""

BY_CODE: Final[Mapping[str, CatalogueEntry]] = {entry.code: entry for entry in ENTRIES}
