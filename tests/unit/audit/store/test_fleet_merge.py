"""A merge adds up: each number of a fleet is the sum that plain Python makes of the audits."""

from collections import Counter
from collections.abc import Sequence
from math import fsum
from pathlib import Path

import pytest

from builders import fleets
from unit.audit.store import written
from usher.audit.document import Audit, Usage, WorkloadEntry
from usher.audit.document.fleet_document import Fleet, FleetUsage
from usher.audit.store.fleet_merge import Limits

HOURS = ("gpus_now", "allocated", "measured", "used", "idle", "activity", "memory_share")


def near(value: float | None) -> object:
    return None if value is None else pytest.approx(value, abs=2e-6)


def assert_usage(found: FleetUsage, expected: Usage) -> None:
    for field in HOURS:
        assert getattr(found, field) == near(getattr(expected, field)), field


def assert_sums(fleet: Fleet, audits: Sequence[Audit]) -> None:
    """The whole document against the audits of whole clusters."""
    summary, workloads = fleet.summary, [each for audit in audits for each in audit.workloads]
    findings = [each for audit in audits for each in audit.findings]
    assert summary.clusters == len(audits)
    assert summary.gpus == fleets.GPUS * len(audits)
    assert summary.gpus_allocatable == fleets.ALLOCATABLE * len(audits)
    assert summary.gpus_allocated == near(fsum(each.summary.gpus_allocated or 0 for each in audits))
    assert summary.gpus_free == near(fsum(each.summary.gpus_free or 0 for each in audits))
    assert summary.gpus_waiting == near(fsum(each.summary.gpus_waiting or 0 for each in audits))
    assert summary.gpus_never == near(fsum(each.known_gpus for each in findings if each.never))
    assert summary.workloads == len(workloads)
    assert summary.workloads_never == sum(each.summary.workloads_never or 0 for each in audits)
    assert summary.objects == sum(each.completeness.objects for each in audits)
    assert summary.pods == sum(each.completeness.pods for each in audits)
    assert summary.exceptions_ending == 2 * len(audits)
    assert summary.findings == Counter(each.outcome for each in findings)
    assert summary.severities == Counter(each.severity.value for each in findings)
    assert_usage(summary.usage, fleets.summed(each.usage for each in workloads))
    savings = [each for audit in audits for each in audit.savings if each.adds_up]
    assert summary.savings.number == len(savings)
    assert summary.savings.gpu_hours == near(fsum(each.gpu_hours for each in savings))
    assert_accelerators(fleet, audits)
    assert_groups(fleet, audits)
    assert_codes(fleet, audits)


def assert_accelerators(fleet: Fleet, audits: Sequence[Audit]) -> None:
    [found] = fleet.other_accelerators
    parts = [entry for audit in audits for entry in audit.other_accelerators]
    assert (found.resource, found.clusters, found.nodes) == ("google.com/tpu", len(audits), 2 * len(audits))
    assert found.capacity == fleets.TPUS * len(audits)
    assert found.allocated == sum(each.allocated or 0 for each in parts)
    assert found.waiting == sum(each.waiting or 0 for each in parts)


def assert_groups(fleet: Fleet, audits: Sequence[Audit]) -> None:
    workloads = [each for audit in audits for each in audit.workloads]
    findings = Counter(each.team for audit in audits for each in audit.findings)
    for table in fleet.tables:
        assert {each.name for each in table.rows} == {group(each, table.by) for each in workloads}
        for row in table.rows:
            members = [each for each in workloads if group(each, table.by) == row.name]
            assert row.workloads == len(members)
            assert_usage(row.usage, fleets.summed(each.usage for each in members))
            if table.by == "team":
                assert row.findings == findings[row.name]


def group(workload: WorkloadEntry, by: str) -> str:
    return {"team": workload.team, "product": workload.products[0], "priority": workload.priority}[by]


def assert_codes(fleet: Fleet, audits: Sequence[Audit]) -> None:
    for row in fleet.findings:
        found = {audit.cluster.name: [each for each in audit.findings if each.code == row.code] for audit in audits}
        assert row.findings == sum(map(len, found.values()))
        assert row.clusters == sum(map(bool, found.values()))
        assert row.gpus == near(fsum(each.known_gpus for entries in found.values() for each in entries))
        assert dict(row.where).items() <= {name: len(entries) for name, entries in found.items()}.items()


def test_clusters_add_up(tmp_path: Path) -> None:
    audits = [fleets.cluster(seed, workloads=30) for seed in range(1, 6)]
    for each in audits:
        written.part(tmp_path, each)

    fleet = written.merged(tmp_path)

    assert_sums(fleet, audits)
    assert fleet.complete
    assert fleet.problems == ()


@pytest.mark.parametrize("number", [2, pytest.param(10, marks=pytest.mark.thorough)])
def test_the_shards_of_a_cluster_add_up_to_the_whole(tmp_path: Path, number: int) -> None:
    """Nodes, and findings about what has no namespace, count once; each workload counts once."""
    whole = fleets.cluster(7, workloads=120, namespaces=30)
    written.shards(tmp_path, whole, number)

    fleet = written.merged(tmp_path)

    assert_sums(fleet, [whole])
    (row,) = fleet.clusters
    assert (row.shards, row.shards_missing, row.nodes, row.complete) == (number, 0, 8, True)
    assert [each.code for each in fleet.findings].count("USH901") == 1
    assert row.readiness_failed == 1


@pytest.mark.costly
def test_shards_and_clusters_add_up_together(tmp_path: Path) -> None:
    sharded, small = fleets.cluster(3, workloads=50), fleets.cluster(4)
    written.shards(tmp_path, sharded, 3)
    written.part(tmp_path, small)

    assert_sums(written.merged(tmp_path), [sharded, small])


@pytest.mark.costly
def test_what_no_cluster_measured_is_null_and_not_0(tmp_path: Path) -> None:
    for seed in (1, 2):
        written.part(tmp_path, fleets.cluster(seed, is_measured=False))

    fleet = written.merged(tmp_path)
    usage = fleet.summary.usage

    assert (usage.allocated, usage.measured, usage.used, usage.idle, usage.activity) == (None,) * 5
    assert usage.costs == ()
    (teams,) = fleet.tables
    assert teams.by == "team"
    assert fsum(each.usage.gpus_now for each in teams.rows) == near(fleet.summary.gpus_allocated)


@pytest.mark.costly
def test_money_of_two_currencies_is_never_added(tmp_path: Path) -> None:
    audits = {currency: fleets.cluster(seed, currency=currency) for seed, currency in enumerate(("EUR", "USD"))}
    for each in audits.values():
        written.part(tmp_path, each)

    fleet = written.merged(tmp_path)

    assert {each.currency for each in fleet.summary.usage.costs} == {"EUR", "USD"}
    for cost in fleet.summary.usage.costs:
        assert cost.allocated == near(audits[cost.currency].summary.cost_allocated)
        assert cost.idle == near(audits[cost.currency].summary.cost_idle)
    assert set(fleet.summary.savings.costs) == {"EUR", "USD"}


@pytest.mark.costly
def test_rows_after_the_largest_are_summed(tmp_path: Path) -> None:
    audits = [fleets.cluster(seed) for seed in range(1, 8)]
    for each in audits:
        written.part(tmp_path, each)

    whole = written.merged(tmp_path)
    bounded = written.merged(tmp_path, limits=Limits(clusters=2, groups=1, objects=3))

    assert bounded.summary == whole.summary
    assert len(bounded.clusters) == 2
    rest = bounded.clusters_rest
    assert rest is not None
    assert rest.name == "5 more"
    assert rest.gpus == fleets.GPUS * 5
    assert fsum(each.usage.idle or 0 for each in (*bounded.clusters, rest)) == near(whole.summary.usage.idle)
    for table in bounded.tables:
        assert table.rest is not None
        rows = (*table.rows, table.rest)
        assert fsum(each.usage.idle or 0 for each in rows) == near(whole.summary.usage.idle)
        assert sum(each.workloads for each in rows) == whole.summary.workloads
    assert len(bounded.idle_workloads) == len(bounded.savings) == 3
    idle = sorted((each.usage.idle or 0 for audit in audits for each in audit.workloads), reverse=True)
    assert [each.idle for each in bounded.idle_workloads] == [near(each) for each in idle[:3]]


@pytest.mark.costly
def test_the_same_parts_make_the_same_bytes(tmp_path: Path) -> None:
    for seed in (1, 2):
        written.shards(tmp_path, fleets.cluster(seed), 2)

    assert written.merged(tmp_path).model_dump_json() == written.merged(tmp_path).model_dump_json()
