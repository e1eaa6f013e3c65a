"""Audit documents for tests of reports: `audit()` is the smallest one; `full()` has something in every part.

`builders.audited_clusters` makes large ones of the same parts.
"""

from datetime import date
from typing import Any, Final

from usher.audit.document import (
    AcceleratorEntry,
    Audit,
    Cluster,
    Completeness,
    Cost,
    Entry,
    ExceptionEntry,
    FindingEntry,
    Gap,
    Group,
    GroupTable,
    Measurement,
    NotEvaluatedEntry,
    Point,
    Prevented,
    ReadinessItem,
    Saving,
    Severity,
    Standing,
    Subject,
    Summary,
    Target,
    Trend,
    Usage,
    WorkloadEntry,
    WorkloadState,
)

TAKEN: Final = "2026-11-23T06:00:00Z"
WEEK_BEFORE: Final = "2026-11-16T06:00:00Z"


def audit(**fields: Any) -> Audit:
    """A complete audit of an empty cluster, where the fields say nothing else."""
    given: dict[str, Any] = {
        "version": "0.9.0",
        "taken": TAKEN,
        "cluster": Cluster(name="prod-eu", server="v1.34.2", nodes=2),
        "configuration": "usher.yaml",
        "preset": "standard",
        "completeness": Completeness(complete=True, objects=120, workloads=3, pods=40, finished=2),
        "summary": Summary(),
        "measurement": Measurement(source="none"),
    }
    return Audit(**given | fields)


def incomplete(*gaps: tuple[str, str]) -> Completeness:
    """A completeness with these sources and reasons as gaps."""
    return Completeness(complete=False, gaps=tuple(Gap(source=source, reason=reason) for source, reason in gaps))


def subject(name: str = "bert", *, kind: str = "Job", namespace: str = "ml-research", api_version: str = "") -> Subject:
    versions = {"Job": "batch/v1", "PyTorchJob": "kubeflow.org/v1", "Deployment": "apps/v1"}
    return Subject(api_version=api_version or versions.get(kind, "v1"), kind=kind, namespace=namespace, name=name)


def finding(fingerprint: str = "f1", **fields: Any) -> FindingEntry:
    """A high finding that admission would deny."""
    given: dict[str, Any] = {
        "fingerprint": fingerprint,
        "code": "USH103",
        "name": "gpu-requests-equal-limits",
        "title": "GPU requests differ from limits",
        "category": "resources",
        "outcome": "deny",
        "severity": Severity.HIGH,
        "subject": subject(),
        "message": "the request is 8 and the limit 4",
    }
    return FindingEntry(**given | fields)


def growing() -> Audit:
    """Two workloads that can never run; one asks for 2 GPUs, and at times for 3."""
    grows = finding("g1", code="USA001", never=True, gpus=3.0, gpus_least=2.0)
    stays = finding("g2", code="USA001", never=True, gpus=8.0, subject=subject("llama"))
    return audit(findings=(grows, stays), summary=Summary(gpus_never=11.0, workloads_never=2, workloads=2))


def workload(name: str = "bert", **fields: Any) -> WorkloadEntry:
    """A running workload with 8 GPUs, which nothing measured."""
    given: dict[str, Any] = {
        "subject": subject(name),
        "team": "nlp",
        "queue": "research",
        "role": "training",
        "state": WorkloadState.RUNNING,
        "accelerators": {"nvidia.com/gpu": 8.0},
        "gpus": 8.0,
        "pods_wanted": 1,
        "pods_running": 1,
        "outcome": "deny",
        "usage": Usage(gpus_now=8.0),
    }
    return WorkloadEntry(**given | fields)


def readiness(item: str = "dcgm", **fields: Any) -> ReadinessItem:
    given: dict[str, Any] = {
        "id": item,
        "area": "Monitoring",
        "title": "DCGM metrics are scraped",
        "standing": Standing.FAIL,
        "evidence": ("no ServiceMonitor selects dcgm-exporter",),
        "remedy": "Deploy a ServiceMonitor for dcgm-exporter.",
    }
    return ReadinessItem(**given | fields)


USED: Final = Usage(
    gpus_now=8.0,
    allocated=1344.0,
    measured=1300.0,
    used=260.5,
    idle=900.25,
    activity=0.200385,
    memory_share=0.31,
    memory_peak=24 * 2**30,
    cost=Cost(currency="USD", allocated=3360.0, used=651.25, idle=2250.625, idle_memory=2318.4),
    not_priced=0.0,
    cost_per_hour=20.0,
)


def _summary() -> Summary:
    """The numbers of the first screen."""
    return Summary(
        gpus=16,
        gpus_allocatable=16,
        gpus_allocated=8,
        gpus_free=8,
        gpus_waiting=64,
        gpus_never=64,
        accelerators={"nvidia.com/gpu": 8},
        workloads=2,
        workloads_never=1,
        findings={"deny": 1, "audit": 1},
        allocated=1344.0,
        measured=1300.0,
        used=260.5,
        idle=900.25,
        activity=0.200385,
        memory_share=0.31,
        currency="USD",
        capacity=2688.0,
        free=1200.0,
        out_of_use=144.0,
        cost_allocated=3360.0,
        cost_idle=2250.625,
        cost_free=3000.0,
        cost_out_of_use=360.0,
        not_priced=0.0,
        savings_gpu_hours=900.25,
        savings_cost=2250.625,
        savings_cost_saved=2000.0,
        savings_cost_freed=250.625,
        queue_wait_p95_seconds=5400,
        exceptions_ending=1,
        readiness={"fail": 1, "not known": 1},
    )


def _workloads() -> tuple[WorkloadEntry, ...]:
    """One that runs and is measured, and one that waits."""
    return (
        workload(usage=USED, products=("NVIDIA-H100-80GB-HBM3",), capacity_types=("on-demand",), findings=1),
        workload(
            "llama",
            subject=subject("llama", kind="PyTorchJob"),
            team="",
            state=WorkloadState.PENDING,
            gpus=64.0,
            pods_wanted=None,
            pods_running=0,
            pods_waiting=8,
            waiting_since="2026-11-20T06:00:00Z",
            outcome="clean",
            usage=Usage(),
        ),
    )


def _findings() -> tuple[FindingEntry, ...]:
    """One about a workload, and one about what can never run."""
    return (
        finding("f1", team="nlp", gpus=8.0, since="2026-11-01T06:00:00Z", remedy="Set the limit to 8."),
        finding(
            "f2",
            code="USH901",
            name="never-runs",
            title="Can never run",
            category="cluster",
            outcome="audit",
            severity=Severity.CRITICAL,
            subject=subject("llama", kind="PyTorchJob"),
            path="",
            message="wants 64 GPUs; the nodes have 16",
            evidence=("16 GPUs in 2 nodes", "64 GPUs wanted"),
            held_by="nodes",
            never=True,
            gpus=64.0,
        ),
    )


def _usage() -> tuple[GroupTable, ...]:
    """By team, namespace and product."""
    return (
        GroupTable(
            by="team", rows=(Group(name="nlp", workloads=1, usage=USED), Group(name="", workloads=1, usage=Usage()))
        ),
        GroupTable(by="namespace", rows=(Group(name="ml-research", workloads=2, usage=USED),)),
        GroupTable(
            by="product",
            rows=(
                Group(
                    name="NVIDIA-H100-80GB-HBM3",
                    workloads=1,
                    usage=USED,
                    gpus_free=8.0,
                    gpus_out_of_use=0.0,
                    free=1200.0,
                    out_of_use=144.0,
                    cost_free=3000.0,
                    cost_out_of_use=360.0,
                ),
            ),
        ),
    )


def _targets() -> tuple[Target, ...]:
    """One that is missed, and one that is not known."""
    return (
        Target(
            name="activity",
            title="Activity of all GPUs",
            low=0.65,
            high=0.85,
            unit="share",
            actual=0.2,
            met=False,
            formula="used / capacity",
        ),
        Target(name="memory", title="Memory used", low=0.8, unit="share", formula="used / allocated"),
    )


def _prevented() -> tuple[Prevented, ...]:
    """By a check that denies, by one without an amount, and by one that does not deny."""
    return (
        Prevented(
            code="USH502",
            title="The pods of distributed training start together",
            workloads=1,
            idle=900.25,
            stuck=208.5,
            cost=2250.625,
        ),
        Prevented(code="USH301", title="Accelerator pods tolerate the taints of a node pool", workloads=2),
        Prevented(
            code="USH502",
            title="The pods of distributed training start together",
            denies=False,
            workloads=1,
            gpus=8,
        ),
    )


def _trend() -> Trend:
    """A week in which one finding came and one went."""
    return Trend(
        previous=WEEK_BEFORE,
        new=("f2",),
        fixed=(
            Entry(
                fingerprint="f0",
                code="USH201",
                title="No toleration",
                subject="Job ml-research/old",
                first_seen="2026-11-02T06:00:00Z",
                last_seen=WEEK_BEFORE,
            ),
        ),
        first_seen={"f1": "2026-11-02T06:00:00Z", "f2": TAKEN},
        points=(
            Point(taken=WEEK_BEFORE, complete=True, gpus=16, gpus_allocated=8, findings=2, never=0),
            Point(taken=TAKEN, complete=False, gpus=16, gpus_allocated=8, idle=900.25, findings=2, never=1),
        ),
    )


def full() -> Audit:
    """Something in every part."""
    return audit(
        completeness=Completeness(
            complete=False,
            gaps=(Gap(source="rayjobs.ray.io", reason="usher may not list them", read=0),),
            left_out=(Gap(source="namespace kube-system", reason="exempt"),),
            objects=120,
            workloads=3,
            pods=40,
            finished=2,
        ),
        summary=_summary(),
        measurement=Measurement(
            source="prometheus",
            start="2026-11-16T06:00:00Z",
            end=TAKEN,
            step_seconds=300,
            problems=("no data for 2 h",),
        ),
        other_accelerators=(
            AcceleratorEntry(
                resource="google.com/tpu",
                nodes=3,
                capacity=12,
                usable=8,
                allocated=4,
                free=4,
                out_of_use=4,
                waiting=8,
                asked=12,
            ),
            AcceleratorEntry(resource="volcano.sh/vgpu-number", allocated=2, waiting=0, asked=2),
        ),
        workloads=_workloads(),
        findings=_findings(),
        not_evaluated=(
            NotEvaluatedEntry(code="USH310", name="queue-exists", reason="no facts about queues", workloads=2),
        ),
        exceptions=(
            ExceptionEntry(
                ticket="OPS-7",
                owner="nlp",
                checks=("USH103",),
                namespaces=("ml-research",),
                expires=date(2026, 12, 1),
                state="used",
                findings=1,
                days_left=8,
            ),
        ),
        usage=_usage(),
        targets=_targets(),
        savings=(
            Saving(
                kind="idle workload",
                subject=subject(),
                team="nlp",
                evidence=("idle for 112 h",),
                change="Delete it, or let it end when it is done.",
                gpu_hours=900.25,
                cost=2250.625,
            ),
        ),
        prevented=_prevented(),
        readiness=(
            readiness(),
            readiness("mig", area="Capacity", title="MIG layouts", standing=Standing.NOT_KNOWN, evidence=("no nodes",)),
        ),
        trend=_trend(),
    )
