"""Findings about nodes and their devices."""

from typing import Final

from usher.audit.standing.catalogue.entry import Entry

ENTRIES: Final = (
    Entry(
        code="USA030",
        name="nodes-without-taint",
        title="GPU nodes have no taint",
        severity="medium",
        category="nodes",
        why="Pods without accelerators fill cpu and memory of the nodes, and GPUs stay free that no pod can reach.",
        remedy="Taint the nodes with nvidia.com/gpu=present:NoSchedule, in their node pool so that new nodes get it "
        "too.",
        source="docs/domain/nodes.md#taints",
    ),
    Entry(
        code="USA031",
        name="taint-that-daemons-do-not-tolerate",
        title="A DaemonSet of the GPU stack does not tolerate a taint of GPU nodes",
        severity="high",
        category="nodes",
        why="Without driver, device plugin or exporter a node offers no GPU, or no metrics of it.",
        remedy="Add the taint to daemonsets.tolerations of the GPU operator, or to the tolerations of the DaemonSet.",
        source="docs/domain/nodes.md#taints",
    ),
    Entry(
        code="USA032",
        name="mig-profile-unused",
        title="No workload asks for a MIG profile that nodes offer",
        severity="medium",
        category="nodes",
        why="The slices take parts of GPUs that other profiles, or whole GPUs, could use.",
        remedy="Divide the nodes by the profiles that workloads ask for (label nvidia.com/mig.config), or tell teams "
        "of the profile.",
        source="docs/domain/mig.md",
    ),
    Entry(
        code="USA033",
        name="mig-configuration-failed",
        title="A node is not divided as its MIG configuration says",
        severity="high",
        category="nodes",
        why="The node offers other slices than its configuration wants, or no slice at all.",
        remedy="Read the log of the MIG manager on the node. It starts again when the label nvidia.com/mig.config "
        "changes.",
        source="docs/domain/mig.md",
    ),
    Entry(
        code="USA034",
        name="node-out-of-service",
        title="A GPU node is cordoned or not ready",
        severity="high",
        category="nodes",
        why="Its GPUs cost money, and pods cannot get them.",
        remedy="Repair the node and uncordon it, or return it.",
        source="https://kubernetes.io/docs/concepts/architecture/nodes/",
    ),
    Entry(
        code="USA035",
        name="unhealthy-devices",
        title="A node offers fewer accelerators than it has",
        severity="high",
        category="nodes",
        why="The device plugin found devices unhealthy, and pods cannot get them.",
        remedy="Look in the logs of the kernel (for NVIDIA, Xid errors) and of the device plugin; drain the node, and "
        "reset or replace the device.",
        source="https://docs.nvidia.com/deploy/xid-errors/",
    ),
    Entry(
        code="USA036",
        name="node-offers-no-gpu",
        title="A node with GPUs offers no accelerator",
        severity="high",
        category="nodes",
        why="Its driver or its device plugin does not run, so its GPUs are lost.",
        remedy="Look at the pods of the GPU operator on this node: the driver first, then the toolkit, then the "
        "device plugin.",
        source="docs/domain/nodes.md#labels",
    ),
)
