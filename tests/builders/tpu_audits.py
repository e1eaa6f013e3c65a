"""The document of a cluster without GPUs."""

from builders.audit_documents import audit, finding, subject, workload
from usher.audit.document import AcceleratorEntry, Audit, Measurement, Severity, Summary, Usage, WorkloadState


def without_gpus() -> Audit:
    """A cluster of TPUs: no node has GPUs, and no workload wants one."""
    tpus = {"google.com/tpu": 256.0}
    return audit(
        summary=Summary(
            gpus=0,
            gpus_allocatable=0,
            gpus_free=0,
            gpus_asked=0,
            gpus_asked_least=0,
            accelerators={"google.com/tpu": 128.0},
            other_asked={"google.com/tpu": 384.0},
            workloads=2,
            workloads_never=1,
            findings={"audit": 1},
        ),
        measurement=Measurement(source="none"),
        other_accelerators=(
            AcceleratorEntry(
                resource="google.com/tpu",
                nodes=64,
                capacity=256,
                usable=252,
                allocated=128,
                free=124,
                out_of_use=4,
                waiting=256,
                never=256,
                asked=384,
            ),
        ),
        workloads=(
            workload(
                "gemma",
                usage=Usage(),
                gpus=0.0,
                accelerators={"google.com/tpu": 128.0},
                other_accelerators={"google.com/tpu": 128.0},
            ),
            workload(
                "large",
                usage=Usage(),
                gpus=0.0,
                accelerators=tpus,
                other_accelerators=tpus,
                state=WorkloadState.PENDING,
                pods_running=0,
                pods_waiting=64,
            ),
        ),
        findings=(
            finding(
                "f1",
                code="USA001",
                name="never-runs",
                title="A workload waits that can never run",
                category="cluster",
                outcome="audit",
                severity=Severity.CRITICAL,
                subject=subject("large"),
                path="",
                message="it can never run; the nodes: 256 google.com/tpu asked for, 252 can be had",
                never=True,
                gpus=0.0,
                other_accelerators=tpus,
            ),
        ),
    )
