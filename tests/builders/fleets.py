"""Audits of clusters whose numbers follow from a seed, and the audits of their shards."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import Any, Final

from builders import audit_documents
from usher.audit.document import (
    AcceleratorEntry,
    Audit,
    Cluster,
    Completeness,
    Cost,
    FindingEntry,
    Gap,
    Group,
    GroupTable,
    Measurement,
    ReadinessItem,
    Saving,
    Severity,
    Standing,
    Subject,
    Summary,
    Usage,
    WorkloadEntry,
    WorkloadState,
)
from usher.audit.store import audit_parts
from usher.audit.store.shards import Shard

TAKEN: Final = audit_documents.TAKEN
VERSION: Final = "0.1.0"
_PRODUCTS: Final = ("NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S")
_TEAMS: Final = ("speech", "vision", "search", "robotics", "")
_PRICE: Final = 2.5
GPUS: Final = 1_064
ALLOCATABLE: Final = 1_060
USABLE: Final = 1_052
"""The GPUs of nodes that are ready and not cordoned."""
TPUS: Final = 64
_CODES: Final = (("USH103", "gpu-request", Severity.HIGH), ("USH201", "privileged", Severity.CRITICAL))


def cluster(
    seed: int = 1,
    workloads: int = 40,
    namespaces: int = 12,
    *,
    name: str = "",
    taken: str = TAKEN,
    is_measured: bool = True,
    currency: str = "USD",
    gaps: tuple[Gap, ...] = (),
) -> Audit:
    """A cluster of `GPUS`; the same seed makes the same one."""
    chance = random.Random(seed)
    found = tuple(_workload(chance, number, namespaces, is_measured, currency) for number in range(workloads))
    findings = tuple(_findings(chance, found))
    return of(
        found,
        findings,
        cluster=Cluster(name=name or f"cluster-{seed}", server="v1.36.1", nodes=8),
        taken=taken,
        completeness=Completeness(complete=not gaps, gaps=gaps, objects=workloads * 10, workloads=workloads, pods=99),
        measurement=Measurement(source="prometheus" if is_measured else "none"),
        currency=currency if is_measured else "",
        other_accelerators=_accelerators(found),
    )


def _accelerators(workloads: Sequence[WorkloadEntry]) -> tuple[AcceleratorEntry, ...]:
    """Each workload holds a TPU beside its GPUs, or waits for two."""
    waits = sum(each.state is WorkloadState.PENDING for each in workloads)
    held = len(workloads) - waits
    numbers = {"allocated": held, "free": TPUS - held, "out_of_use": 0, "waiting": 2 * waits, "asked": held + 2 * waits}
    return (AcceleratorEntry(resource="google.com/tpu", nodes=2, capacity=TPUS, usable=TPUS, **numbers),)


def of(
    workloads: tuple[WorkloadEntry, ...], findings: tuple[FindingEntry, ...], *, currency: str, **fields: Any
) -> Audit:
    """The audit of workloads and findings: each number is their sum."""
    usage = summed(each.usage for each in workloads)
    savings = tuple(_saving(each) for each in workloads if each.usage.idle)
    summary = Summary(
        gpus=GPUS,
        gpus_allocatable=ALLOCATABLE,
        gpus_usable=USABLE,
        gpus_allocated=usage.gpus_now,
        gpus_free=USABLE - usage.gpus_now,
        gpus_waiting=fsum(each.known_gpus for each in workloads if each.state is WorkloadState.PENDING),
        gpus_never=fsum(each.known_gpus for each in findings if each.never),
        workloads=len(workloads),
        workloads_never=len({each.subject.name for each in findings if each.never}),
        findings=dict(Counter(each.outcome for each in findings)),
        allocated=usage.allocated,
        measured=usage.measured,
        used=usage.used,
        idle=usage.idle,
        memory_share=usage.memory_share,
        currency=currency,
        cost_allocated=usage.cost.allocated if usage.cost else None,
        cost_idle=usage.cost.idle if usage.cost else None,
        exceptions_ending=2,
    )
    groups = [_group(by, workloads) for by in ("team", "product", "priority")] if usage.measured is not None else []
    return Audit(
        version=VERSION,
        configuration="usher.yaml",
        preset="recommended",
        summary=summary,
        workloads=workloads,
        findings=findings,
        usage=tuple(groups),
        savings=savings,
        readiness=_readiness(),
        **fields,
    )


def shares(whole: Audit, number: int) -> Sequence[tuple[Shard, Audit]]:
    """Audits of the shards of a cluster: each has its own namespaces, with the facts of all."""
    return [(shard, _share(whole, shard)) for shard in (Shard(index=each, of=number) for each in range(number))]


def _share(whole: Audit, shard: Shard) -> Audit:
    workloads = tuple(each for each in whole.workloads if shard.has(each.subject.namespace))
    namespaced = [each for each in whole.findings if each.subject.namespace]
    names = {each.subject.name for each in workloads}
    findings = [each for each in namespaced if each.subject.name in names]
    findings += [each for each in whole.findings if not each.subject.namespace]
    objects = len(workloads) * 10
    part = of(
        workloads,
        tuple(findings),
        cluster=whole.cluster,
        taken=whole.taken,
        completeness=whole.completeness.model_copy(update={"objects": objects, "pods": 99 if shard.has_nodes else 0}),
        measurement=whole.measurement,
        currency=whole.summary.currency,
        other_accelerators=_accelerators(workloads),
    )
    return audit_parts.reduced_to_shard(part, shard)


def summed(usages: Iterable[Usage]) -> Usage:
    """The sum of usages; None where all are None."""
    found = list(usages)

    def total(values: Iterable[float | None]) -> float | None:
        known = [each for each in values if each is not None]
        return fsum(known) if known else None

    costs = [each.cost for each in found if each.cost is not None]
    measured = total(each.measured for each in found)
    used = total(each.used for each in found)
    weights = [(each.memory_share, each.measured) for each in found if each.memory_share is not None and each.measured]
    weight = fsum(each for _, each in weights)
    return Usage(
        gpus_now=fsum(each.gpus_now for each in found),
        allocated=total(each.allocated for each in found),
        measured=measured,
        used=used,
        idle=total(each.idle for each in found),
        activity=used / measured if measured and used is not None else None,
        memory_share=fsum(share * each for share, each in weights) / weight if weight else None,
        cost=Cost(
            currency=costs[0].currency,
            allocated=fsum(each.allocated for each in costs),
            used=total(each.used for each in costs),
            idle=total(each.idle for each in costs),
            idle_memory=total(each.idle_memory for each in costs),
        )
        if costs
        else None,
        not_priced=total(each.not_priced for each in found),
        cost_per_hour=total(each.cost_per_hour for each in found),
    )


def _workload(chance: random.Random, number: int, namespaces: int, is_measured: bool, currency: str) -> WorkloadEntry:
    gpus = float(chance.choice((0.5, 1, 2, 8)))
    state = chance.choice((WorkloadState.RUNNING, WorkloadState.RUNNING, WorkloadState.PENDING))
    now = gpus if state is WorkloadState.RUNNING else 0
    namespace = f"ns-{chance.randrange(namespaces)}"
    return WorkloadEntry(
        subject=Subject(api_version="batch/v1", kind="Job", namespace=namespace, name=f"job-{number}"),
        team=chance.choice(_TEAMS),
        priority=chance.choice(("high", "low", "")),
        role="training",
        state=state,
        products=(chance.choice(_PRODUCTS),),
        accelerators={"nvidia.com/gpu": gpus},
        gpus=gpus,
        outcome="clean",
        usage=_usage(chance, now, currency) if is_measured else Usage(gpus_now=now),
    )


def _usage(chance: random.Random, now: float, currency: str) -> Usage:
    allocated = now * 168
    measured = allocated * chance.random()
    used = measured * chance.random()
    idle = (measured - used) * chance.random()
    cost = Cost(currency=currency, allocated=allocated * _PRICE, used=used * _PRICE, idle=idle * _PRICE)
    share = chance.random() if measured else None
    return Usage(
        gpus_now=now, allocated=allocated, measured=measured, used=used, idle=idle, memory_share=share, cost=cost
    )


def _findings(chance: random.Random, workloads: Iterable[WorkloadEntry]) -> Iterable[FindingEntry]:
    for each in workloads:
        for code, name, severity in _CODES:
            if chance.random() < 0.3:
                yield finding(code, each.subject, name=name, severity=severity, team=each.team, gpus=each.gpus)
    node = Subject(api_version="v1", kind="Node", name="gpu-1")
    yield finding("USH901", node, name="node-taint", severity=Severity.MEDIUM)


def finding(code: str, subject: Subject, **fields: Any) -> FindingEntry:
    """A low finding, whose fingerprint follows from its code and subject."""
    given: dict[str, Any] = {
        "code": code,
        "name": "check",
        "title": f"The title of {code}",
        "category": "requests",
        "severity": Severity.LOW,
        "subject": subject,
        "message": "something is wrong",
        "never": code == "USH103",
    }
    return audit_documents.finding(f"{code} {subject.kind} {subject.namespace} {subject.name}", **given | fields)


def _saving(workload: WorkloadEntry) -> Saving:
    usage = workload.usage
    return Saving(
        kind="idle workload",
        subject=workload.subject,
        team=workload.team,
        evidence=("idle",),
        change="stop it",
        gpu_hours=usage.idle or 0,
        cost=usage.cost.idle if usage.cost else None,
        adds_up=workload.known_gpus > 0.5,
    )


def _group(by: str, workloads: Iterable[WorkloadEntry]) -> GroupTable:
    found = defaultdict[str, list[WorkloadEntry]](list)
    for each in workloads:
        found[{"team": each.team, "product": each.products[0], "priority": each.priority}[by]].append(each)
    rows = [
        Group(name=name, workloads=len(members), usage=summed(each.usage for each in members))
        for name, members in sorted(found.items())
    ]
    return GroupTable(by=by, rows=tuple(rows))


def _readiness() -> tuple[ReadinessItem, ...]:
    return (
        ReadinessItem(id="taints", area="isolation", title="Taints", standing=Standing.FAIL, evidence=("no taint",)),
        ReadinessItem(id="dcgm", area="monitoring", title="DCGM", standing=Standing.PASS, evidence=("scraped",)),
    )
