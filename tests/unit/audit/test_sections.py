"""GPU-hours that usher's own rules would have prevented: those of the workloads that each rule denies."""

from datetime import UTC, datetime, timedelta
from typing import Any

from usher.audit.document import Cost, FindingEntry, Prevented, Severity, Subject, Usage, WorkloadEntry, WorkloadState
from usher.audit.sections import prevented

NOW = datetime(2026, 3, 9, tzinfo=UTC)
WEEK = timedelta(days=7)


def subject(name: str) -> Subject:
    return Subject(api_version="batch/v1", kind="Job", namespace="red", name=name)


def finding(code: str, name: str, **fields: Any) -> FindingEntry:
    given = {
        "outcome": "deny",
        "category": "scheduling",
        "severity": Severity.HIGH,
        "title": f"Title of {code}",
        **fields,
    }
    return FindingEntry(fingerprint=f"{code}{name}", code=code, name=code, subject=subject(name), message="", **given)


def workload(name: str, *, idle: float | None, gpus: float = 0, price: float | None = None) -> WorkloadEntry:
    cost = None if price is None or idle is None else Cost(currency="USD", allocated=0, idle=idle * price)
    usage = Usage(gpus_now=gpus, idle=idle, cost=cost, cost_per_hour=None if price is None else gpus * price)
    return WorkloadEntry(
        subject=subject(name),
        role="training",
        state=WorkloadState.RUNNING,
        accelerators={},
        outcome="deny",
        usage=usage,
    )


def rows(*found: FindingEntry, workloads: list[WorkloadEntry]) -> list[Prevented]:
    return list(prevented(found, workloads, window=WEEK, now=NOW))


def test_the_idle_hours_of_a_rule_are_those_of_the_workloads_that_it_denies() -> None:
    found = rows(
        finding("USH100", "a"),
        finding("USH100", "a", path="spec"),
        finding("USH100", "b"),
        finding("USH200", "b"),
        workloads=[workload("a", idle=10, price=2), workload("b", idle=5), workload("c", idle=99)],
    )

    assert found == [
        Prevented(code="USH100", title="Title of USH100", workloads=2, idle=15, cost=20),
        Prevented(code="USH200", title="Title of USH200", workloads=1, idle=5),
    ]


def test_a_rule_that_does_not_deny_prevents_nothing() -> None:
    found = rows(
        finding("USH100", "a", outcome="warn"),
        finding("USH200", "a", outcome="audit"),
        finding("USH300", "a", category="cluster"),
        finding("USH400", "a", exception="OPS-1"),
        finding("USH500", "unknown"),
        workloads=[workload("a", idle=10)],
    )

    assert found == []


def test_a_mistake_that_admission_mends_prevents_nothing() -> None:
    assert rows(finding("USH301", "a", mended_by="gpu-toleration"), workloads=[workload("a", idle=10)]) == []


def test_a_rule_that_only_warns_has_a_row_of_its_own_after_those_that_deny() -> None:
    found = rows(
        finding("AUD010", "a", category="cluster", outcome="audit", preventable_by="USH100", held_by="scheduler"),
        finding("USH100", "a", outcome="warn"),
        finding("AUD010", "b", category="cluster", outcome="audit", prevented_by="USH100", held_by="nodes"),
        finding("USH100", "b"),
        workloads=[workload("a", idle=99, gpus=4), workload("b", idle=None)],
    )

    assert [(each.code, each.denies, each.workloads, each.gpus, each.idle) for each in found] == [
        ("USH100", True, 1, 0, None),
        ("USH100", False, 1, 4, 99),
    ]


def test_a_workload_counts_once_with_the_gpus_that_it_asks_for_while_it_waits() -> None:
    waits = workload("waits", idle=None).model_copy(update={"gpus": 16.0})
    never = {"category": "cluster", "outcome": "audit", "prevented_by": "USH330", "held_by": "nodes"}

    (row,) = rows(
        finding("USA001", "waits", **never),
        finding("USH330", "waits"),
        finding("USH330", "holds"),
        workloads=[waits, workload("holds", idle=1, gpus=2)],
    )

    assert (row.workloads, row.gpus) == (2, 18)


def test_hours_that_a_half_started_gang_holds_count_for_the_rule_that_would_have_refused_it() -> None:
    stuck = {"category": "cluster", "outcome": "audit", "prevented_by": "USH100", "held_by": "scheduler"}
    found = rows(
        finding("AUD010", "a", since="2026-03-08T00:00:00Z", **stuck),
        finding("AUD010", "b", since="2026-01-01T00:00:00Z", **stuck),
        finding("AUD010", "c", since="not a time", **stuck),
        workloads=[
            workload("a", idle=None, gpus=4, price=2),
            workload("b", idle=None, gpus=1),
            workload("c", idle=None),
        ],
    )

    assert found == [
        Prevented(code="USH100", title="Title of AUD010", workloads=3, gpus=5, stuck=4 * 24 + 7 * 24, cost=4 * 24 * 2)
    ]


def test_a_workload_that_runs_is_not_stuck_and_one_that_is_stuck_is_idle() -> None:
    denied = {"prevented_by": "USH100", "since": "2026-03-08T00:00:00Z"}
    stuck = {**denied, "category": "cluster", "outcome": "audit", "held_by": "Kueue"}

    (runs,) = rows(finding("USH100", "a", **denied), workloads=[workload("a", idle=30, gpus=2, price=2)])
    (waits,) = rows(finding("AUD010", "a", **stuck), workloads=[workload("a", idle=30, gpus=2, price=2)])

    assert (runs.idle, runs.stuck, runs.cost) == (30, 0, 60)
    assert (waits.idle, waits.stuck, waits.cost) == (30, 48, 96)


def test_rules_whose_workloads_waste_nothing_have_no_row() -> None:
    assert rows(finding("USH100", "a"), workloads=[workload("a", idle=0)]) == []
