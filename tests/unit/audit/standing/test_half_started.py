"""Gangs that hold GPUs while their other pods wait."""

from typing import Any

import pytest
from msgspec.structs import replace

from builders.estates import H100, entry, estate, gpu_node, running, waiting
from builders.standings import found, judged, judgement, result
from usher import model
from usher.audit.gather.estate import Estate, Pod, Workload
from usher.config import models

CODES = ("USA002",)


def half(kind: str = "PyTorchJob", **fields: Any) -> Estate:
    """A job with three pods on nodes and one that waits."""
    pods = [running(f"worker-{number}", node=f"node-{number}") for number in range(3)]
    return estate(workloads=[entry(kind, pods=[*pods, waiting("worker-3", hours=2, why="Insufficient gpu")], **fields)])


def test_usher_reports_the_gpus_that_it_holds_and_since_when() -> None:
    (finding,) = found(half(), codes=CODES)

    assert finding.message == "3 pods of its gang hold 24 nvidia.com/gpu, and 1 pod waited for 2 hours"
    assert (finding.gpus, finding.since, finding.held_by, finding.team) == (
        24,
        "2026-11-23T10:00:00Z",
        "scheduler",
        "nlp",
    )
    assert finding.evidence == ("on nodes: node-0, node-1, node-2", "scheduler: Insufficient gpu")
    assert finding.prevented_by == ""


def test_the_gpus_that_it_holds_are_lost_at_the_prices_of_their_nodes() -> None:
    rules = [{"product": H100, "perGpuHour": 2.0}, {"product": "NVIDIA-A100", "perGpuHour": 1.0}]
    priced = models.Config.model_validate({"audit": {"prices": {"rules": rules}}})
    some = models.Config.model_validate({"audit": {"prices": {"rules": rules[:1]}}})
    nodes = [gpu_node("node-0"), gpu_node("node-1"), gpu_node("node-2", product="NVIDIA-A100")]
    seen = replace(half(), nodes=tuple(nodes))

    def lost(config: models.Config) -> list[tuple[float | None, float | None]]:
        return [(each.gpus_lost, each.cost_per_hour) for each in found(seen, config=config, codes=CODES)]

    assert lost(priced) == [(24, 40)]
    assert lost(some) == [(24, None)]


@pytest.mark.parametrize("code", ["USH502", "USH501"])
def test_the_check_whose_denial_prevents_it_is_named(code: str) -> None:
    seen, of = judged(half(), result(entry(), judgement("USH301"), judgement(code)))

    assert [each.prevented_by for each in found(seen, of=of, codes=CODES)] == [code]


@pytest.mark.parametrize("outcome", [model.Outcome.WARN, model.Outcome.AUDIT])
def test_a_check_that_does_not_deny_would_have_prevented_it_if_it_did(outcome: model.Outcome) -> None:
    seen, of = judged(half(), result(entry(), judgement("USH502", outcome)))

    (finding,) = found(seen, of=of, codes=CODES)
    assert (finding.prevented_by, finding.preventable_by) == ("", "USH502")


def test_a_check_that_denies_comes_before_one_that_warns() -> None:
    seen, of = judged(half(), result(entry(), judgement("USH502"), judgement("USH501", model.Outcome.WARN)))

    (finding,) = found(seen, of=of, codes=CODES)
    assert (finding.prevented_by, finding.preventable_by) == ("USH502", "")


@pytest.mark.parametrize("kind", ["Deployment", "LeaderWorkerSet", "Notebook", "SomethingElse"])
def test_pods_that_do_not_wait_for_each_other_make_no_gang(kind: str) -> None:
    assert found(half(kind, role=model.Role.INFERENCE), codes=CODES) == []


def test_a_job_is_a_gang_where_its_pods_need_each_other() -> None:
    assert len(found(half("Job", gang=True), codes=CODES)) == 1
    assert found(half("Job"), codes=CODES) == []


@pytest.mark.parametrize(
    "pods",
    [
        [running("a"), running("b")],
        [waiting("a"), waiting("b")],
        [running("a"), waiting("b", hours=0.2)],
        [running("a"), waiting("b", terminating=True)],
    ],
    ids=["all run", "all wait", "within the grace", "one is being deleted"],
)
def test_others_are_not_half_started(pods: Any) -> None:
    assert found(estate(workloads=[entry("PyTorchJob", pods=pods)]), codes=CODES) == []


def test_an_elastic_job_with_its_minimum_of_pods_runs() -> None:
    pods = [running("a"), running("b"), waiting("c")]

    assert found(estate(workloads=[entry("PyTorchJob", pods=pods, wanted=2)]), codes=CODES) == []
    assert found(estate(workloads=[entry("PyTorchJob", pods=pods, gang_minimum=2)]), codes=CODES) == []
    assert len(found(estate(workloads=[entry("PyTorchJob", pods=pods, gang_minimum=3)]), codes=CODES)) == 1


def test_a_half_started_gang_does_not_count_as_waiting_too() -> None:
    assert [each.code for each in found(half(), codes=("USA002", "USA003"))] == ["USA002"]
    assert [each.code for each in found(half("Job"), codes=("USA002", "USA003"))] == ["USA003"]


def group(name: str, *, waits: bool, **fields: Any) -> list[Pod]:
    """Two pods of one group of a LeaderWorkerSet; one of them may wait."""
    second = waiting(f"{name}-1", group=name, **fields) if waits else running(f"{name}-1", group=name, **fields)
    return [running(f"{name}-0", group=name, **fields), second]


def leader_workers(*pods: Pod, size: int | None = 2) -> Workload:
    return entry("LeaderWorkerSet", pods=pods, gang_minimum=size)


def test_each_group_of_a_leader_worker_set_is_a_gang_of_its_own() -> None:
    whole, half = group("a", waits=False), group("b", waits=True)

    (finding,) = found(estate(workloads=[leader_workers(*whole, *half)]), codes=CODES)
    assert (finding.gpus, finding.message) == (
        8,
        "1 pod of its gang holds 8 nvidia.com/gpu, and 1 pod waited for 5 hours",
    )


@pytest.mark.parametrize(
    "workload",
    [
        leader_workers(*group("a", waits=False), *[waiting(f"b-{index}", group="b") for index in range(2)]),
        leader_workers(*group("a", waits=True), size=1),
        leader_workers(*group("a", waits=True), size=None),
        leader_workers(running("a"), waiting("b")),
    ],
    ids=["one group runs and one waits", "one pod is enough", "the size is not known", "groups are not known"],
)
def test_whole_groups_that_wait_are_not_half_started(workload: Workload) -> None:
    assert found(estate(workloads=[workload]), codes=CODES) == []
