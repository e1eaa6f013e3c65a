"""Audit documents for tests of reports: a cluster of 512 GPUs with every section filled, and unusual ones.

Every number follows from the workloads, so that sums agree. The same call makes the same document.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from builders import audit_documents as documents
from builders import fleets
from builders.audited_sections import EXCEPTIONS, FINDINGS, PREVENTED, READINESS, SAVINGS, TARGETS, numbered
from usher.audit.document import (
    Audit,
    Cluster,
    Completeness,
    Cost,
    Entry,
    Gap,
    Group,
    GroupTable,
    Measurement,
    NotEvaluatedEntry,
    Point,
    Subject,
    Summary,
    Trend,
    Usage,
    WorkloadEntry,
    WorkloadState,
)

TAKEN: Final = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)
HOURS: Final = 168
"""The window of the measurement."""
CAPACITY: Final = 512
ALLOCATABLE: Final = 504

_PRICES: Final = {"on-demand": 2.8, "spot": 1.1, "reserved": 1.9}
_TEAMS: Final = ("foundation-models", "search-ranking", "speech", "vision", "robotics", "fraud", "research", "")
_PRODUCTS: Final = ("NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S")
_KINDS: Final = (
    ("kubeflow.org/v1", "PyTorchJob", "training"),
    ("apps/v1", "Deployment", "inference"),
    ("ray.io/v1", "RayCluster", "training"),
    ("kubeflow.org/v1", "Notebook", "notebook"),
    ("batch/v1", "Job", "batch"),
)


def audit(**changes: Any) -> Audit:
    """A measured cluster with 60 workloads, findings of every severity, savings, readiness and a trend."""
    return _of(tuple(_workloads(60))).model_copy(update=changes)


def _of(workloads: tuple[WorkloadEntry, ...]) -> Audit:
    return documents.audit(
        cluster=Cluster(name="prod-eu-1", server="v1.36.1", nodes=64),
        completeness=Completeness(
            complete=False,
            gaps=(Gap(source="volcano.sh/v1beta1 podgroups", reason="the API server answers 403 Forbidden"),),
            left_out=(Gap(source="namespace kube-system", reason="exempt in usher.yaml"),),
            objects=18_204,
            workloads=len(workloads),
            pods=3_127,
            finished=412,
        ),
        summary=_summary(workloads),
        measurement=Measurement(
            source="prometheus",
            url="https://prometheus.example.com",
            start=_text(TAKEN - timedelta(hours=HOURS)),
            end=_text(TAKEN),
            step_seconds=300,
            problems=("2 of 64 nodes report no series of DCGM: gpu-041, gpu-042",),
        ),
        workloads=workloads,
        findings=FINDINGS,
        not_evaluated=(
            NotEvaluatedEntry(
                code="USH512", name="pod-group-never-fits", reason="podgroups may not be listed", workloads=4
            ),
        ),
        exceptions=EXCEPTIONS,
        usage=tuple(tables(workloads)),
        targets=TARGETS,
        savings=SAVINGS,
        prevented=PREVENTED,
        readiness=READINESS,
        trend=_trend(),
    )


def not_measured() -> Audit:
    """The same cluster without Prometheus, without prices and without an earlier audit."""
    full = audit()
    nothing = {"allocated", "measured", "used", "idle", "activity", "memory_share", "cost_allocated", "cost_idle"}
    nothing |= {"not_priced", "savings_gpu_hours", "savings_cost", "queue_wait_p95_seconds"}
    now = [each.model_copy(update={"usage": Usage(gpus_now=each.usage.gpus_now)}) for each in full.workloads]
    return full.model_copy(
        update={
            "summary": full.summary.model_copy(update={**dict.fromkeys(nothing), "currency": ""}),
            "measurement": Measurement(source="none"),
            "workloads": tuple(now),
            "usage": tuple(tables(now)),
            "targets": tuple(each.model_copy(update={"actual": None, "met": None}) for each in full.targets),
            "savings": (),
            "prevented": (),
            "trend": Trend(),
        }
    )


def small() -> Audit:
    """A few rows in each table, and enough workloads for filters."""
    return _of(tuple(_workloads(9)))


def namesakes() -> Audit:
    """Two workloads, one of them named like the begin of the other; their findings mention both."""
    first, second = _workloads(2)
    one, other = (
        documents.subject("asr-tune", namespace="speech-dev"),
        documents.subject("asr-tune-2", namespace="speech-dev"),
    )
    found = [
        numbered(0, one, message="Job speech-dev/asr-tune-2 waits for it"),
        numbered(1, one, code="USA002", category="cluster", outcome="audit"),
        numbered(2, other, message="waits for Job speech-dev/asr-tune"),
    ]
    found += [each for each in FINDINGS if "asr-tune" not in each.subject.name]
    return audit(
        workloads=(first.model_copy(update={"subject": one}), second.model_copy(update={"subject": other})),
        findings=tuple(found),
    )


def empty() -> Audit:
    """A cluster without accelerators."""
    return documents.audit(
        cluster=Cluster(name="empty", nodes=0),
        completeness=Completeness(complete=True),
        summary=Summary(gpus=0, gpus_allocatable=0, gpus_free=0),
    )


HOSTILE: Final = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\u202eexe.gnp\u202c",
    "\x1b[31mred\x1b[0m",
    "]]><!--",
    "=HYPERLINK(1)",
    "' onmouseover='alert(1)",
    '"><svg onload=alert(1)>',
    "\u2028line\u2029",
    "\ud800",
    "x" * 10_000,
)
"""Names that try to leave their place in a report. Half of a surrogate pair is what JSON of an API server may hold."""


def _named(text: str) -> Subject:
    return documents.subject(text, kind=text, namespace=text, api_version=text)


def hostile() -> Audit:
    """An audit whose names and texts are all of HOSTILE."""
    findings = tuple(
        numbered(
            number,
            _named(text),
            team=text,
            title=text,
            message=text,
            remedy=text,
            path=text,
            evidence=(text,),
            held_by=text,
            exception=text,
        )
        for number, text in enumerate(HOSTILE)
    )
    workloads = tuple(
        next(_workloads(1)).model_copy(
            update={
                "subject": _named(text),
                "team": text,
                "queue": text,
            }
        )
        for text in HOSTILE
    )
    return audit(
        cluster=Cluster(name=HOSTILE[1], server=HOSTILE[0]),
        findings=findings,
        workloads=workloads,
        usage=tuple(tables(workloads)),
    )


def large(findings: int = 10_000, workloads: int = 3_000) -> Audit:
    """As many findings and workloads, with the texts of real ones."""
    generator = random.Random(17)
    made = tuple(_workloads(workloads))
    listed = []
    for number in range(findings):
        like, about = FINDINGS[number % len(FINDINGS)], generator.choice(made)
        listed.append(
            like.model_copy(
                update={
                    "fingerprint": f"{number:016x}",
                    "subject": about.subject,
                    "team": about.team,
                    "message": f"{like.message} (container worker-{number})",
                    "since": about.created,
                }
            )
        )
    return audit(workloads=made, findings=tuple(listed), usage=tuple(tables(made)), summary=_summary(made))


def tables(workloads: Sequence[WorkloadEntry]) -> Iterator[GroupTable]:
    """Usage by every property, most idle hours first."""
    keys: dict[str, Callable[[WorkloadEntry], str]] = {
        "team": lambda each: each.team,
        "namespace": lambda each: each.subject.namespace,
        "queue": lambda each: each.queue,
        "priority": lambda each: each.priority,
        "product": lambda each: each.products[0] if each.products else "",
        "capacityType": lambda each: each.capacity_types[0] if each.capacity_types else "",
    }
    for by, key in keys.items():
        rows = [
            Group(name=name, workloads=len(members), usage=_sum(each.usage for each in members))
            for name in sorted({key(each) for each in workloads})
            if (members := [each for each in workloads if key(each) == name])
        ]
        yield GroupTable(by=by, rows=tuple(sorted(rows, key=lambda row: (-(row.usage.idle or 0), row.name))))


def _workloads(number: int) -> Iterator[WorkloadEntry]:
    generator = random.Random(4)
    for index in range(number):
        api_version, kind, role = _KINDS[index % len(_KINDS)]
        team = _TEAMS[index % len(_TEAMS)]
        name = f"{('llama-70b', 'ranker', 'asr', 'sam', 'grasp', 'graph', 'scratch')[index % 7]}-{index:03d}"
        state = (*[WorkloadState.RUNNING] * 9, WorkloadState.PENDING, WorkloadState.PARTLY, WorkloadState.SUSPENDED)
        now = state[index % len(state)]
        gpus = float((8, 1, 16, 1, 4)[index % 5])
        running = {WorkloadState.RUNNING: gpus, WorkloadState.PARTLY: gpus / 2}.get(now, 0.0)
        capacity_type = ("on-demand", "reserved", "spot")[index % 3]
        yield WorkloadEntry(
            subject=documents.subject(
                name,
                kind=kind,
                namespace=f"{team or 'sandbox'}-{'prod' if role == 'inference' else 'dev'}",
                api_version=api_version,
            ),
            team=team,
            queue=f"{team}-queue" if team else "",
            priority=("production", "training", "")[index % 3],
            role=role,
            state=now,
            products=(_PRODUCTS[index % 3],) if running else (),
            capacity_types=(capacity_type,) if running else (),
            accelerators={"nvidia.com/gpu": gpus},
            gpus=gpus,
            pods_wanted=max(1, int(gpus) // 8),
            pods_running=int(running > 0),
            pods_waiting=int(now in {WorkloadState.PENDING, WorkloadState.PARTLY}),
            created=_text(TAKEN - timedelta(hours=generator.randint(3, 2_000))),
            waiting_since=_text(TAKEN - timedelta(hours=generator.randint(1, 60)))
            if now in {WorkloadState.PENDING, WorkloadState.PARTLY}
            else "",
            outcome=("clean", "warn", "deny", "clean", "audit")[index % 5],
            findings=(0, 2, 3, 0, 1)[index % 5],
            usage=_usage(running, generator.random(), _PRICES[capacity_type]) if running else Usage(),
        )


def _usage(gpus: float, activity: float, price: float) -> Usage:
    allocated = gpus * HOURS
    measured = round(allocated * 0.97, 6)
    idle = round(measured * (1 - activity) * 0.8, 6)
    return Usage(
        gpus_now=gpus,
        allocated=allocated,
        measured=measured,
        used=round(measured * activity, 6),
        idle=idle,
        activity=round(activity, 6),
        memory_share=round(0.3 + activity * 0.6, 6),
        memory_peak=int(80e9 * (0.35 + activity * 0.6)),
        cost=Cost(
            currency="USD",
            allocated=round(allocated * price, 6),
            used=round(measured * activity * price, 6),
            idle=round(idle * price, 6),
            idle_memory=round(allocated * (0.7 - activity * 0.6) * price, 6),
        ),
        not_priced=0.0,
        cost_per_hour=round(gpus * price, 6),
    )


def _sum(parts: Iterable[Usage]) -> Usage:
    """The sum as a document has it, with six digits."""
    whole = fleets.summed(parts)
    numbers = {name: round(value, 6) for name, value in whole if isinstance(value, float)}
    if whole.cost is None:
        return whole.model_copy(update=numbers)
    cost = {name: round(value, 6) for name, value in whole.cost if isinstance(value, float)}
    return whole.model_copy(update={**numbers, "cost": whole.cost.model_copy(update=cost)})


def _summary(workloads: Sequence[WorkloadEntry]) -> Summary:
    usage = _sum(each.usage for each in workloads)
    waiting = sum(each.known_gpus - each.usage.gpus_now for each in workloads)
    adding = [each for each in SAVINGS if each.adds_up]
    cost = usage.cost or Cost(currency="USD", allocated=0.0)
    return Summary(
        gpus=CAPACITY,
        gpus_allocatable=ALLOCATABLE,
        gpus_allocated=usage.gpus_now,
        gpus_free=max(0.0, ALLOCATABLE - usage.gpus_now),
        gpus_waiting=waiting,
        gpus_never=sum(each.known_gpus for each in FINDINGS if each.never),
        gpus_half_started=8,
        accelerators={"nvidia.com/gpu": usage.gpus_now},
        workloads=len(workloads),
        workloads_never=sum(each.never for each in FINDINGS),
        findings=dict(sorted(Counter(each.outcome for each in FINDINGS).items())),
        allocated=usage.allocated,
        measured=usage.measured,
        used=usage.used,
        idle=usage.idle,
        activity=usage.activity,
        memory_share=usage.memory_share,
        currency="USD",
        cost_allocated=cost.allocated,
        cost_idle=cost.idle,
        not_priced=0.0,
        savings_gpu_hours=round(sum(each.gpu_hours for each in adding), 6),
        savings_cost=round(sum(each.cost or 0 for each in adding), 6),
        queue_wait_p95_seconds=5_400,
        exceptions_ending=sum(0 <= each.days_left <= 14 for each in EXCEPTIONS),
        readiness=dict(sorted(Counter(each.standing.value for each in READINESS).items())),
    )


def _trend() -> Trend:
    points = [
        Point(
            taken=_text(TAKEN - timedelta(weeks=7 - week)),
            complete=week != 3,
            gpus=CAPACITY,
            gpus_allocated=250.0 + 12 * week,
            idle=None if week == 3 else 23_000.0 - 900 * week,
            idle_cost=None if week == 3 else 46_000.0 - 2_000 * week,
            activity=None if week == 3 else round(0.35 + 0.02 * week, 6),
            findings=58 - 3 * week,
            never=9 - week,
            readiness_failed=6 - week // 2,
        )
        for week in range(8)
    ]
    gone = Entry(
        fingerprint="f0",
        code="USH301",
        title="Accelerator pods tolerate the taints of a node pool",
        subject="Job speech-dev/asr-tune",
        first_seen=_text(TAKEN - timedelta(weeks=5)),
        last_seen=points[-2].taken,
    )
    return Trend(
        previous=points[-2].taken,
        new=tuple(each.fingerprint for each in FINDINGS[:5]),
        fixed=(gone,),
        first_seen={each.fingerprint: _text(TAKEN - timedelta(weeks=3)) for each in FINDINGS[5:]},
        points=tuple(points),
    )


def _text(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
