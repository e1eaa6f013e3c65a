"""The audit document: its headline numbers follow from nodes, pods and findings, recomputed here from the objects."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

import builders
from builders import audit_documents as documents
from builders import estates, standings
from builders.estates import NOW, entry, estate, gpu_node
from unit.check.formats import made
from usher import model
from usher.audit import document_assembly
from usher.audit.document import Audit, FindingEntry, Saving, Severity, Subject, Usage, WorkloadState
from usher.audit.gather.estate import Estate, Missing, OneNamespace
from usher.audit.sections import Sections
from usher.audit.usage.usage_amounts import Measured
from usher.check import findings
from usher.check.devices import Amount
from usher.check.findings import ExceptionState
from usher.config.models import Config
from usher.policy.mutation.merge import Merged


def document(found: Estate, report: findings.Report | None = None, **fields: Any) -> Audit:
    given = made.made(command=findings.Command.AUDIT) if report is None else report
    config = fields.pop("config", Config())
    return document_assembly.document(report=given, estate=found, config=config, cluster="prod", now=NOW, **fields)


def running(name: str, gpus: int = 8, **fields: Any) -> Any:
    return estates.running(name, gpus, **fields)


HALF = entry("PyTorchJob", "half", pods=[running("half-0"), estates.waiting("half-1")], gang=True)
WAITING = entry("Job", "waits", pods=[estates.waiting("waits-0", 4)])
SUSPENDED = entry("Job", "held-back", wanted=2, suspended=True)
SERVING = entry("Deployment", "serves", pods=[running("serves-0", 2, node="node-1"), running("s-1", 2, node="node-1")])
ENDING = entry("Job", "ends", pods=[estates.waiting("ends-0", 8, terminating=True)])
CLUSTER = estate(
    nodes=[
        gpu_node("node-0"),
        gpu_node("node-1", allocatable=7),
        gpu_node("node-2", cordoned=True),
        gpu_node("node-3", ready=False),
    ],
    workloads=[HALF, WAITING, SUSPENDED, SERVING, ENDING],
)


def test_capacity_counts_all_devices_and_free_only_those_that_new_pods_may_get() -> None:
    summary = document(CLUSTER).summary

    assert (summary.gpus, summary.gpus_allocatable, summary.gpus_allocated) == (32, 31, 12)
    assert summary.gpus_free == (8 - 8) + (7 - 4)
    # One device of node-1 is not healthy, node-2 is cordoned, and node-3 is not ready.
    assert summary.gpus_out_of_use == 1 + 8 + 8


def test_a_node_that_holds_more_than_it_offers_takes_no_free_gpus_from_others() -> None:
    crowded = entry("Job", "crowded", pods=[running("crowded-0", 8)])
    cluster = estate(nodes=[gpu_node("node-0", allocatable=6), gpu_node("node-1")], workloads=[crowded])

    assert document(cluster).summary.gpus_free == 8


def test_a_suspended_workload_waits_for_what_it_does_not_hold_yet() -> None:
    ending = entry("Job", "train", pods=[running("train-0")], wanted=3, suspended=True)

    assert document(estate(workloads=[ending])).summary.gpus_waiting == 16


def test_waiting_counts_pods_without_a_node_and_what_suspended_workloads_do_not_hold() -> None:
    assert document(CLUSTER).summary.gpus_waiting == 8 + 4 + 16


def test_half_started_counts_what_the_findings_about_half_started_gangs_count() -> None:
    slices = [running("slice-0", 1, node="node-4"), estates.waiting("slice-1", 1)]
    late = entry("PyTorchJob", "late", pods=[running("late-0"), estates.waiting("late-1", hours=0.1)])
    cluster = replace(
        CLUSTER,
        nodes=(*(CLUSTER.nodes or ()), gpu_node("node-4", 2, shared_by=4)),
        workloads=(*CLUSTER.workloads, entry("PyTorchJob", "shared", pods=slices), late),
    )
    standing = standings.found(cluster)
    audit = document(cluster, sections=Sections(standing=tuple(standing)))

    assert audit.summary.gpus_half_started == 8 + 0.25
    assert audit.summary.gpus_half_started == sum(each.known_gpus for each in audit.findings if each.code == "USA002")


def test_an_exception_that_nothing_needs_says_so_in_its_state() -> None:
    rules = [
        {"checks": ["gpu-toleration-present"], "owner": "a", "reason": "r", "ticket": ticket, "expires": "2026-12-01"}
        for ticket in ("T-1", "T-2")
    ]
    config = Config.model_validate({"enforcement": {"exceptions": rules}})
    used = standings.exception(ExceptionState.USED, findings=1, needed_findings=1)
    report = standings.report(exceptions=[used, standings.exception(ExceptionState.UNUSED, objects=1)], origin="prod")
    standing = standings.found(estate(), of=report)

    audit = document(estate(), report, config=config, sections=Sections(standing=tuple(standing)))
    assert [each.state for each in audit.exceptions] == ["used", "not needed"]


def test_accelerators_are_those_that_pods_hold_now() -> None:
    assert document(CLUSTER).summary.accelerators == {builders.GPU: 12}


def test_capacity_is_null_where_nodes_are_not_known() -> None:
    summary = document(estate(nodes=None, workloads=[SERVING])).summary

    assert (summary.gpus, summary.gpus_allocatable, summary.gpus_free) == (None, None, None)
    assert summary.gpus_allocated == 4


def test_an_audit_of_one_namespace_does_not_know_which_gpus_no_pod_holds() -> None:
    summary = document(replace(CLUSTER, scope=OneNamespace(name="team-a"))).summary

    assert (summary.gpus, summary.gpus_allocated) == (None, 12)
    assert (summary.gpus_free, summary.gpus_out_of_use, summary.cost_per_hour_free) == (None, None, None)


def test_a_shared_gpu_is_allocated_by_the_part_that_its_pods_hold() -> None:
    node = gpu_node("node-0", 2, shared_by=4)
    pods = [running(f"slice-{number}", 1) for number in range(3)]
    summary = document(estate(nodes=[node], workloads=[entry("Deployment", pods=pods)])).summary

    assert (summary.gpus, summary.gpus_allocated, summary.gpus_free) == (2, 0.75, 1.25)


def test_mig_devices_are_allocated_by_their_share() -> None:
    mig = {"nvidia.com/mig-1g.10gb": Amount(number=7), "nvidia.com/mig-3g.40gb": Amount(number=2)}
    pod = running("slice", devices={"nvidia.com/mig-3g.40gb": Amount(number=1)})
    summary = document(
        estate(nodes=[gpu_node(capacity=mig, allocatable_devices=mig)], workloads=[entry(pods=[pod])])
    ).summary

    assert (summary.gpus, summary.gpus_allocated, summary.gpus_free) == (2, 0.5, 1.5)


def test_nothing_that_was_not_measured_is_zero() -> None:
    summary = document(CLUSTER).summary

    assert {summary.allocated, summary.used, summary.idle, summary.cost_idle, summary.savings_cost} == {None}


@pytest.mark.parametrize(
    ("workload", "state"),
    [
        (SERVING, WorkloadState.RUNNING),
        (HALF, WorkloadState.PARTLY),
        (WAITING, WorkloadState.PENDING),
        (SUSPENDED, WorkloadState.SUSPENDED),
        (ENDING, WorkloadState.EMPTY),
        (entry("Job", wanted=2), WorkloadState.EMPTY),
    ],
    ids=lambda value: str(getattr(value, "identity", value)),
)
def test_the_state_of_a_workload_follows_from_its_pods(workload: Any, state: WorkloadState) -> None:
    (found,) = document(estate(workloads=[workload])).workloads

    assert found.state is state


def test_a_workload_says_how_much_it_holds_and_since_when_it_waits() -> None:
    pods = [running("a", hours=9), estates.waiting("b", hours=3), estates.waiting("c", hours=7)]
    (found,) = document(estate(nodes=[gpu_node()], workloads=[entry("Job", pods=pods, queue="research")])).workloads

    assert (found.usage.gpus_now, found.gpus, found.queue, found.team) == (8, 24, "research", "nlp")
    assert (found.pods_wanted, found.pods_running, found.pods_waiting) == (3, 1, 2)
    assert found.waiting_since == "2026-11-23T05:00:00Z"
    assert (found.products, found.capacity_types) == ((estates.H100,), ("on-demand",))


def test_usage_comes_from_its_section_and_gpus_held_now_from_the_pods() -> None:
    sections = Sections(measured=Measured(workloads={SERVING.identity: Usage(idle=3.5)}))
    (found,) = document(estate(workloads=[SERVING]), sections=sections).workloads

    assert (found.usage.idle, found.usage.gpus_now) == (3.5, 4)


def judged(workload: Any, *found: findings.Finding, **fields: Any) -> findings.Report:
    identity = workload.identity
    return made.made(
        made.result(*found, kind=identity.kind, namespace=identity.namespace, name=identity.name, **fields),
        command=findings.Command.AUDIT,
    )


def placed(workload: Any, place: int = 0) -> Estate:
    return estate(workloads=[entry("PyTorchJob", workload.identity.name, pods=workload.pods, index=place)])


def test_a_finding_names_team_gpus_and_age_of_its_workload() -> None:
    (found,) = document(placed(HALF), judged(HALF, made.finding())).findings

    assert (found.team, found.gpus, found.since) == ("nlp", 8, "2026-11-23T06:00:00Z")
    assert found.outcome == "deny"
    # A finding does not prevent itself.
    assert (found.prevented_by, found.mended_by) == ("", "")


def test_a_finding_names_the_mutation_that_mends_it_at_admission() -> None:
    seen = made.finding()
    mended = {seen.judgement.finding.check: "gpu-toleration"}
    change = findings.Change(before={}, merged=Merged(value={}), names={}, places={}, mends=mended)

    (found,) = document(placed(HALF), judged(HALF, seen, change=change)).findings

    assert (found.outcome, found.mended_by) == ("deny", "gpu-toleration")


def test_all_findings_of_a_workload_have_its_gpus_on_shared_nodes_too() -> None:
    shared = gpu_node("node-0", 2, shared_by=4)
    slices = entry("Deployment", "slices", pods=[running("slice-0", 1), running("slice-1", 1)], index=0)

    (found,) = document(estate(nodes=[shared], workloads=[slices]), judged(slices, made.finding())).findings

    assert found.gpus == 0.5


def test_a_saving_of_half_a_gang_leads_to_its_finding() -> None:
    def about(name: str) -> dict[str, Any]:
        return {"subject": Subject(api_version="kubeflow.org/v1", kind="PyTorchJob", namespace="red", name=name)}

    fields: dict[str, Any] = {"name": "n", "title": "t", "category": "cluster", "outcome": "audit", "message": "m"}
    standing = (
        FindingEntry(fingerprint="half", code="USA002", severity=Severity.HIGH, **fields, **about("half")),
        FindingEntry(fingerprint="other", code="USA042", severity=Severity.LOW, **fields, **about("whole")),
    )
    savings = tuple(
        Saving(kind="idle workload", evidence=(), change="stop it", gpu_hours=1, **about(name))
        for name in ("half", "whole")
    )

    found = document(estate(), sections=Sections(standing=standing, measured=Measured(savings=savings))).savings

    assert [(each.subject.name, each.finding) for each in found] == [("half", "half"), ("whole", "")]


def test_the_fewest_gpus_leave_out_the_extra_pods_of_a_rollout() -> None:
    rolling = replace(SERVING, asks={builders.GPU: Amount(number=6, extra=2)})

    (surging,), (fixed,) = (document(estate(workloads=[each])).workloads for each in (rolling, SERVING))

    assert (surging.gpus, surging.gpus_least) == (6, 4)
    assert fixed.gpus_least == fixed.gpus


def test_fingerprints_do_not_depend_on_messages_numbers_or_order() -> None:
    one, other = made.finding("2 of 4 are wrong"), made.finding("all 7 are wrong")

    first = document(placed(HALF), judged(HALF, one)).findings
    second = document(placed(HALF), judged(HALF, other)).findings

    assert first[0].fingerprint == second[0].fingerprint


def test_fingerprints_do_not_depend_on_the_version_of_an_api() -> None:
    def fingerprint(version: str) -> str:
        result = replace(
            made.result(made.finding()), identity=replace(identity, api_version=f"kueue.x-k8s.io/{version}")
        )
        report = made.made(result, command=findings.Command.AUDIT)
        return document(estate(), report).findings[0].fingerprint

    identity = made.result().identity

    assert fingerprint("v1beta1") == fingerprint("v1beta2")


def test_two_findings_at_one_place_have_two_fingerprints() -> None:
    found = document(placed(HALF), judged(HALF, made.finding("a"), made.finding("b"))).findings

    assert len({each.fingerprint for each in found}) == 2


def test_workloads_that_can_never_run_count_once_each_and_come_first() -> None:
    def never(path: str) -> FindingEntry:
        return FindingEntry(
            fingerprint=path,
            code="USH2001",
            name="never-runs",
            title="It can never run",
            category="cluster",
            outcome="audit",
            severity=Severity.CRITICAL,
            subject=Subject(api_version="batch/v1", kind="Job", name="waits"),
            path=path,
            message="no node has 4 GPUs",
            gpus=4,
            never=True,
        )

    audit = document(placed(HALF), judged(HALF, made.finding()), sections=Sections(standing=(never("a"), never("b"))))

    assert (audit.summary.gpus_never, audit.summary.workloads_never) == (4, 1)
    assert [each.never for each in audit.findings] == [True, True, False]
    assert audit.summary.findings == {"deny": 1, "audit": 2}


def test_exceptions_say_how_many_days_are_left() -> None:
    rule = {"checks": ["gpu-toleration-present"], "owner": "a", "reason": "r", "ticket": "T-1", "expires": "2026-12-01"}
    config = Config.model_validate({"enforcement": {"exceptions": [rule]}})
    use = replace(made.excused(ExceptionState.USED, ticket="T-1"), expires=date(2026, 12, 1))
    audit = document(estate(), made.made(command=findings.Command.AUDIT, exceptions=[use]), config=config)

    (found,) = audit.exceptions
    assert (found.days_left, found.reason, audit.summary.exceptions_ending) == (8, "r", 1)


@pytest.mark.parametrize(("days", "ending"), [(-1, 0), (0, 1), (14, 1), (15, 0)])
def test_an_exception_is_about_to_end_in_its_last_two_weeks(days: int, ending: int) -> None:
    expires = NOW.date() + timedelta(days=days)
    rule = {"checks": ["gpu-toleration-present"], "owner": "a", "reason": "r", "ticket": "T-1", "expires": str(expires)}
    config = Config.model_validate({"enforcement": {"exceptions": [rule]}})
    use = replace(made.excused(ExceptionState.USED, ticket="T-1"), expires=expires)
    audit = document(estate(), made.made(command=findings.Command.AUDIT, exceptions=[use]), config=config)

    assert audit.summary.exceptions_ending == ending


def test_what_could_not_be_read_makes_an_audit_incomplete() -> None:
    problem = findings.Problem(source="pods", reason="the list ended after 500 objects: gone")
    report = made.made(command=findings.Command.AUDIT, problems=[problem])
    missing = Missing(source="nodes", reason="gone", read=3)
    found = document(estate(missing=[missing]), report).completeness

    assert not found.complete
    assert [(gap.source, gap.read) for gap in found.gaps] == [("nodes", 3), ("pods", 0)]


def test_kinds_that_may_not_be_listed_are_left_out_and_the_audit_stays_complete() -> None:
    note = findings.Note(source="jobs.batch", reason="may not be listed")
    found = document(estate(), made.made(command=findings.Command.AUDIT, notes=[note])).completeness

    assert found.complete
    assert [gap.source for gap in found.left_out] == ["jobs.batch"]


def test_one_cluster_makes_the_same_bytes() -> None:
    report = judged(HALF, made.finding())

    assert document(CLUSTER, report).model_dump_json() == document(CLUSTER, report).model_dump_json()


def test_times_are_written_in_utc_with_whole_seconds() -> None:
    audit = document(estate())

    assert audit.taken == "2026-11-23T12:00:00Z"
    assert datetime.fromisoformat(audit.taken) == NOW.astimezone(UTC)


def test_findings_about_a_workload_say_which_other_accelerators_it_asks_for() -> None:
    tpus = entry("Job", "tpus", pods=[estates.waiting("tpus-0")], asks={"google.com/tpu": Amount(number=4)})
    cluster = estate(nodes=[], workloads=[tpus])
    standing = standings.found(cluster, codes=["USA003"])
    [finding] = document(cluster, sections=Sections(standing=tuple(standing))).findings

    assert finding.other_accelerators == {"google.com/tpu": 4}


def test_a_rule_that_finds_why_a_workload_waits_is_a_part_of_that_finding() -> None:
    """The workload stands in the report once, with the answer of admission and the words of the rule."""
    report = judged(HALF, made.finding("first reason"), made.finding("second reason", outcome=model.Outcome.WARN))
    waits = documents.finding(
        "a", code="USA001", category="cluster", outcome="audit", never=True, found_by=("USH103",), evidence=("too few",)
    )
    about = Subject(api_version=HALF.identity.api_version, kind="PyTorchJob", namespace="ml-research", name="half")
    here, elsewhere = (
        waits.model_copy(update={"subject": each}) for each in (about, about.model_copy(update={"name": "other"}))
    )
    found, other = document(placed(HALF), report, sections=Sections(standing=(here, elsewhere))).findings

    assert (found.code, found.outcome) == ("USA001", "deny")
    assert [line.rpartition(": ")[2] for line in found.evidence] == ["too few", "first reason", "second reason"]
    assert (other.outcome, other.evidence) == ("audit", ("too few",))
