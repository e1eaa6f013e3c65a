"""Findings, exceptions, savings, targets and readiness of the audit documents in `builders.audited_clusters`."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from builders.audit_documents import finding, subject
from usher.audit.document import (
    ExceptionEntry,
    FindingEntry,
    Prevented,
    ReadinessItem,
    Saving,
    Severity,
    Standing,
    Subject,
    Target,
)

_TAKEN: Final = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)


def numbered(number: int, about: Subject, **fields: Any) -> FindingEntry:
    """A finding; `number` makes its fingerprint."""
    values: dict[str, Any] = {
        "code": "USH101",
        "name": "whole-gpus-only",
        "title": "Containers ask for whole accelerators",
        "category": "resources",
        "outcome": "deny",
        "severity": Severity.HIGH,
        "message": "container worker asks for 0.5 nvidia.com/gpu, and the device plugin gives whole devices",
        "since": f"{_TAKEN - timedelta(days=number + 1):%Y-%m-%dT%H:%M:%SZ}",
    }
    fingerprint = f"{number:04x}c0ffee{number * 7919 % 65536:04x}"
    return finding(fingerprint, subject=about, **(values | fields))


def cordoned(name: str, *, gpus: float, **fields: Any) -> FindingEntry:
    """The finding about a node that is cordoned, whose GPUs no pod holds."""
    about = subject(name, kind="Node", namespace="")
    given: dict[str, Any] = {
        "code": "USA034",
        "name": "node-out-of-service",
        "title": "A GPU node is cordoned",
        "category": "cluster",
        "gpus": gpus,
        "gpus_lost": gpus,
        "team": "",
    }
    return numbered(4711, about, **given | fields)


_NEVER: Final[dict[str, Any]] = {
    "code": "USH435",
    "name": "queue-never-admissible",
    "title": "The queue has enough quota for the workload when it is empty",
    "category": "queueing",
    "severity": Severity.CRITICAL,
    "path": "spec.pytorchReplicaSpecs.Worker",
    "message": "asks for 64 nvidia.com/gpu; ClusterQueue foundation holds 48 with everything that it may borrow",
    "remedy": "Ask for at most 48 GPUs, use a queue that has enough quota, or have the quota raised",
    "held_by": "Kueue",
    "never": True,
}
_TAINT: Final[dict[str, Any]] = {
    "code": "USH301",
    "name": "gpu-toleration-present",
    "title": "Accelerator pods tolerate the taints of a node pool",
    "category": "placement",
    "path": "spec.template.spec.tolerations",
    "message": "does not tolerate any pool that offers nvidia.com/gpu (h100, l40s)",
    "remedy": "Add a toleration with operator Exists for nvidia.com/gpu",
    "held_by": "nodes",
    "never": True,
}
_CLUSTER: Final[dict[str, Any]] = {"category": "cluster", "outcome": "audit"}

FINDINGS: Final = (
    numbered(
        0,
        subject("llama-70b-pretrain", kind="PyTorchJob", namespace="foundation-models-dev"),
        team="foundation-models",
        gpus=64,
        evidence=("ClusterQueue foundation: nominalQuota 32", "cohort gpu lends 16"),
        **_NEVER,
    ),
    numbered(1, subject("asr-tune-2", kind="Job", namespace="speech-dev"), team="speech", gpus=8, **_TAINT),
    numbered(
        2,
        subject("grasp-sim", kind="RayCluster", namespace="robotics-dev"),
        team="robotics",
        gpus=16,
        **{**_NEVER, "message": "asks for 16 nvidia.com/gpu in flavor a100-spot, which no node of the cluster offers"},
    ),
    numbered(
        3,
        subject("sam-large", kind="PyTorchJob", namespace="vision-dev"),
        team="vision",
        gpus=32,
        code="AUD110",
        name="half-started-gang",
        title="A gang holds GPUs while its other pods wait",
        severity=Severity.HIGH,
        message="8 of 32 GPUs are held since 26 hours; 3 of 4 pods wait",
        held_by="scheduler",
        remedy="Queue the job with Kueue or Volcano, so that its pods start together",
        prevented_by="USH501",
        evidence=("worker-0 on gpu-017", "worker-1: 0/64 nodes are available: insufficient nvidia.com/gpu"),
        **_CLUSTER,
    ),
    numbered(
        4,
        subject("scratch-anna", kind="Notebook", namespace="research-dev"),
        team="research",
        gpus=4,
        code="USH1305",
        name="notebook-gpus",
        title="Notebooks ask for one GPU",
        outcome="warn",
        severity=Severity.MEDIUM,
        category="cost",
        path="spec.template.spec.containers[0].resources.limits",
        message="asks for 4 nvidia.com/gpu; notebooks of this namespace may ask for 1",
        remedy="Ask for 1 GPU",
    ),
    numbered(
        5,
        subject("ranker-v2", kind="Deployment", namespace="search-ranking-prod"),
        team="search-ranking",
        gpus=12,
        code="USH1003",
        name="startup-too-short",
        title="Startup probes give the model time to load",
        outcome="warn",
        severity=Severity.MEDIUM,
        category="serving",
        path="spec.template.spec.containers[0].startupProbe",
        message="the probe gives 60 s; a model of 140 GB needs about 420 s",
        exception="OPS-2217",
        remedy="Raise failureThreshold to 43",
    ),
    numbered(
        6,
        subject("debug-shell", kind="Pod", namespace="fraud-dev"),
        team="fraud",
        gpus=1,
        code="USH204",
        name="host-path-to-devices",
        title="Pods do not take devices by host path",
        category="isolation",
        path="spec.volumes[2].hostPath",
        message="mounts /dev/nvidia0 of its node",
        remedy="Remove the volume, and ask for the device in the limits of the container",
    ),
    numbered(
        7,
        subject("gpu", kind="ResourceQuota", namespace="sandbox-dev"),
        code="AUD201",
        name="quota-above-capacity",
        title="Quotas promise more GPUs than the cluster has",
        severity=Severity.LOW,
        message="all quotas together promise 640 GPUs; the nodes have 512",
        remedy="Lower the quotas or let them borrow",
        **_CLUSTER,
    ),
    numbered(
        8,
        subject("gpu-041", kind="Node", namespace=""),
        gpus=8,
        code="AUD230",
        name="gpu-node-without-taint",
        title="GPU nodes keep other pods away",
        severity=Severity.MEDIUM,
        message="has no taint; 14 pods without GPUs run on it",
        remedy="Taint it with nvidia.com/gpu:NoSchedule",
        **_CLUSTER,
    ),
    numbered(
        9,
        subject("unowned-batch", kind="Job", namespace=""),
        gpus=2,
        code="USH404",
        name="kind-that-kueue-ignores",
        title="The queue label is on a kind that Kueue reads",
        outcome="audit",
        severity=Severity.LOW,
        category="queueing",
        path="metadata.labels",
        message="Kueue ignores the label on this kind",
    ),
)

EXCEPTIONS: Final = tuple(
    ExceptionEntry(
        ticket=ticket,
        owner=owner,
        reason=reason,
        checks=(check,),
        namespaces=(namespace,),
        expires=(_TAKEN + timedelta(days=days)).date(),
        state=state,
        findings=findings,
        days_left=days,
    )
    for ticket, owner, reason, check, namespace, days, state, findings in (
        (
            "OPS-2217",
            "search-platform",
            "model moves to a smaller format",
            "USH1003",
            "search-ranking-prod",
            4,
            "used",
            1,
        ),
        ("OPS-2101", "vision", "legacy cluster", "USH301", "vision-*", 12, "unused", 0),
        ("OPS-1988", "fraud", "debugging", "USH204", "fraud-dev", -3, "expired", 1),
        ("OPS-2300", "speech", "waits for a driver", "USH101", "speech-dev", 90, "not needed", 0),
    )
)

TARGETS: Final = (
    Target(
        name="activity",
        title="Utilisation of the fleet",
        low=0.65,
        high=0.85,
        unit="share",
        actual=0.49,
        met=False,
        formula="used GPU-hours / capacity GPU-hours",
    ),
    Target(
        name="memory",
        title="Memory of allocated GPUs",
        low=0.8,
        high=1.0,
        unit="share",
        actual=0.61,
        met=False,
        formula="used memory / memory of allocated GPUs",
    ),
    Target(
        name="queue_wait_p95",
        title="Wait in queues, p95",
        high=3_600,
        unit="seconds",
        actual=5_400,
        met=False,
        formula="95th percentile of kueue_admission_wait_time_seconds",
    ),
)

SAVINGS: Final = (
    Saving(
        kind="idle workload",
        subject=subject("scratch-anna", kind="Notebook", namespace="research-dev", api_version="kubeflow.org/v1"),
        team="research",
        evidence=("activity stayed below 40 % for 161 of 168 hours",),
        change="Stop the notebook when it is idle for an hour",
        gpu_hours=644.0,
        cost=1803.2,
    ),
    Saving(
        kind="smaller MIG profile",
        subject=subject("ranker-v2", kind="Deployment", namespace="search-ranking-prod", api_version="apps/v1"),
        team="search-ranking",
        evidence=("at most 31 GB of 80 GB used",),
        change="Ask for nvidia.com/mig-3g.40gb instead of nvidia.com/gpu",
        gpu_hours=1008.0,
        cost=1915.2,
    ),
    Saving(
        kind="spot",
        subject=subject("asr-002", kind="Job", namespace="speech-dev", api_version="batch/v1"),
        team="speech",
        evidence=("restarts from checkpoints",),
        change="Run on spot nodes",
        gpu_hours=0.0,
        cost=1142.4,
    ),
    Saving(
        kind="fewer replicas at night",
        subject=subject("ranker-v2", kind="Deployment", namespace="search-ranking-prod", api_version="apps/v1"),
        team="search-ranking",
        evidence=("activity below 10 % from 22:00 to 05:00 UTC",),
        change="Scale to 2 replicas from 22:00 to 05:00",
        gpu_hours=490.0,
        cost=None,
        adds_up=False,
    ),
)

PREVENTED: Final = (
    Prevented(
        code="USH501",
        title="A gang waits for all of its accelerators",
        workloads=1,
        stuck=208.0,
        cost=582.4,
    ),
    Prevented(code="USH1305", title="Notebooks ask for one GPU", workloads=1, idle=644.0, cost=1803.2),
)

READINESS: Final = tuple(
    ReadinessItem(
        id=id_,
        area=area,
        title=title,
        standing=standing,
        evidence=(evidence,),
        remedy=remedy,
        reference="https://docs.nvidia.com/gpu-operator/" if area == "drivers" else "docs/domain/nodes.md",
        conformance=conformance,
    )
    for id_, area, title, standing, evidence, remedy, conformance in (
        (
            "driver-supported",
            "drivers",
            "The driver branch is supported",
            Standing.PASS,
            "580.95.05 on 64 nodes",
            "",
            "",
        ),
        (
            "toolkit-escape",
            "drivers",
            "The container toolkit has no known escape",
            Standing.FAIL,
            "1.16.1 on 12 nodes: CVE-2025-23266",
            "Upgrade to 1.19.1 or newer",
            "",
        ),
        (
            "dcgm-scraped",
            "monitoring",
            "DCGM is scraped on every GPU node",
            Standing.FAIL,
            "62 of 64 nodes",
            "Let the DaemonSet tolerate the taints of gpu-041 and gpu-042",
            "",
        ),
        ("gangs", "scheduling", "Gangs start together", Standing.PASS, "Kueue v0.14.2", "", "gang_scheduling"),
        (
            "secure-access",
            "isolation",
            "Devices are reached only through requests",
            Standing.NOT_KNOWN,
            "DaemonSets may not be listed",
            "",
            "secure_accelerator_access",
        ),
        ("mig", "capacity", "MIG layouts are used", Standing.NOT_APPLICABLE, "no board is partitioned", "", ""),
    )
)
