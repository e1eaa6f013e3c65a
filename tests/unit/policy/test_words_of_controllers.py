"""The names that controllers give to reasons, and their conditions of a waiting workload."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

import builders
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities import authority
from usher.authorities.authority import Case, Holding, Section
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.policy import explaining

JOB = builders.pytorch_job(builders.template(builders.container(gpus=8)), name="bert", namespace="research")
OWNER = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "bert", "uid": "a", "controller": True}


def written(api_version: str, kind: str, status: Any, *owners: dict[str, Any], name: str = "one") -> paths.Object:
    metadata: dict[str, Any] = {"name": name, "namespace": "research", "ownerReferences": list(owners)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status}


def condition(of: str, status: str, reason: str, message: str = "why") -> dict[str, Any]:
    return {"type": of, "status": status, "reason": reason, "message": message}


def said(*values: paths.Object, sections: tuple[Section, ...] = ()) -> dict[str, tuple[str, ...]]:
    facts = Store.of(values)
    told = explaining.with_reported_reasons(sections, Case(workload=workload(JOB)), facts)
    return {each.authority: each.says for each in told}


@pytest.mark.parametrize(
    ("authority_name", "reason", "word"),
    [
        ("Kueue", "64 nvidia.com/gpu asked for; the queue can ever give 48 in flavor a100", "ExceedsMaxQuota"),
        ("Kueue", "64 nvidia.com/gpu asked for; free now: 8 in flavor a100", "WaitingForQuota"),
        ("Kueue", "no flavor takes Worker for cpu (a100: does not tolerate gpu)", "untolerated taint"),
        ("Kueue", "no flavor takes Worker for cpu (a100: other)", "doesn't match node affinity"),
        ("Kueue", "ClusterQueue one has no quota for amd.com/gpu", "unavailable in ClusterQueue"),
        ("Kueue", "ClusterQueue one is stopped (stopPolicy Hold)", "Suspended"),
        ("Kueue", "namespace research has no LocalQueue one", "Misconfigured"),
        ("Kueue", "there is no ClusterQueue one", "Misconfigured"),
        ("Kueue", "ClusterQueue one does not select namespace research", "doesn't match ClusterQueue selector"),
        ("Volcano", "32 nvidia.com/gpu needed to start, 16 is the capability of Queue gangs", "queue resource quota"),
        ("KAI-Scheduler", "one pod asks for 8 GPUs, 4 is the limit of Queue team", "reached the allowable limit"),
        ("KAI-Scheduler", "one pod asks for 8 GPUs, 4 is the quota of Queue team", "Non-preemptible workload is over"),
        ("ResourceQuota", "64 requests.nvidia.com/gpu needed, ResourceQuota gpus allows 8", "exceeded quota"),
        ("nodes", "8 pods must run at the same time, and the nodes hold 6", "Insufficient"),
    ],
)
def test_a_reason_is_named_by_the_word_of_its_controller(authority_name: str, reason: str, word: str) -> None:
    section = Section(authority=authority_name, answer=Answer.NEVER, reasons=(reason,))

    assert [word in each for each in section.called] == [True]
    assert Section(authority=authority_name, answer=Answer.FITS, reasons=(reason,)).called == ()


def test_what_the_nearest_node_lacks_is_named_by_the_words_of_the_scheduler() -> None:
    missing = ("16 nvidia.com/gpu asked for, one node has 8", "taint gpu is not tolerated", "zone In a is not met")
    holding = Holding(pod_set="", answer=Answer.NEVER, nodes=0, grows=(), missing=missing)
    section = Section(authority="nodes", answer=Answer.NEVER, holding=(holding,))

    words = ["Insufficient", "had untolerated taint", "didn't match Pod's node affinity/selector"]
    assert [word in called for word, called in zip(words, section.called, strict=True)] == [True] * 3


def test_what_nodes_lack_is_named_by_the_words_of_kai_where_it_places_the_pods() -> None:
    """KAI:pkg/scheduler/actions/common/allocate.go handleFailedTaskAllocation, api/common_info/errors.go."""
    missing = ("16 nvidia.com/gpu asked for, one node has 8", "taint gpu is not tolerated", "zone In a is not met")
    holding = Holding(pod_set="", answer=Answer.NEVER, nodes=0, grows=(), missing=missing)
    section = Section(authority="nodes", answer=Answer.NEVER, holding=(holding,), placed_by="KAI-Scheduler")
    gang = ("8 pods must run at the same time, and the nodes hold 6",)

    words = ["resources available in a single node", "had untolerated taint", "didn't match Pod's node affinity"]
    assert [word in called for word, called in zip(words, section.called, strict=True)] == [True] * 3
    assert all("PodSchedulingErrors" in each for each in section.called)
    assert section.who == "KAI-Scheduler"
    assert "required for gang scheduling" in replace(section, holding=(), reasons=gang).called[0]


@pytest.mark.parametrize(
    "reason",
    [
        "there is no Queue team",
        "the pods belong to the shard a, and Queue team to the shard b",
        "the pods belong to the shard a, and no SchedulingShard is for it",
    ],
)
def test_kai_writes_nothing_about_groups_that_its_schedulers_leave_out(reason: str) -> None:
    """KAI:pkg/scheduler/cache/cluster_info/cluster_info.go snapshotPodGroups."""
    section = Section(authority="KAI-Scheduler", answer=Answer.NEVER, reasons=(reason,))

    assert (section.called, "no event" in section.silence) == ((), True)
    assert Section(authority="Kueue", answer=Answer.NEVER, reasons=(reason,)).silence == ""


@pytest.mark.parametrize(
    "reason",
    [
        "there is no Queue org, which Queue team names as its parent",
        "Queue team has no queue above it, and KAI-Scheduler places no pods in it",
    ],
)
def test_kai_gives_no_reason_for_groups_that_it_never_tries(reason: str) -> None:
    """KAI:pkg/scheduler/framework/session.go: it writes of all groups of the session, also those without an error."""
    section = Section(authority="KAI-Scheduler", answer=Answer.NEVER, reasons=(reason,))

    assert section.called == ("PodGroup UnschedulableOnNodePool=True, Unschedulable: Unable to schedule podgroup",)
    assert section.silence == ""


def test_every_pattern_of_a_reason_is_one() -> None:
    assert all(re.compile(pattern) for _, pattern, _ in authority._CALLED)
    assert all(re.compile(pattern) for pattern, _ in authority._OF_NODES_BY_KAI)


def test_what_controllers_have_written_stands_beside_our_reasons() -> None:
    quota = condition("QuotaReserved", "False", "Pending", "couldn't assign flavors to pod set worker")
    gang = condition("Unschedulable", "True", "NotEnoughResources", "2/8 tasks in gang unschedulable")
    kai = {
        "type": "UnschedulableOnNodePool",
        "status": "True",
        "reasons": [{"reason": "OverLimit", "message": "too many"}],
        "message": "older",
    }
    gate = condition("PodScheduled", "False", "SchedulingGated")
    own = Section(authority="Kueue", answer=Answer.NEVER, reasons=("ours",))
    found = said(
        written("kueue.x-k8s.io/v1beta2", "Workload", {"conditions": [quota]}, OWNER),
        written("scheduling.volcano.sh/v1beta1", "PodGroup", {"conditions": [gang]}, OWNER),
        written("scheduling.run.ai/v2alpha2", "PodGroup", {"schedulingConditions": [kai]}, OWNER),
        written("v1", "Pod", {"conditions": [gate]}, OWNER),
        written("v1", "Pod", {"conditions": [gate]}, OWNER, name="two"),
        sections=(own,),
    )

    assert found == {
        "Kueue": ("QuotaReserved=False, Pending: couldn't assign flavors to pod set worker",),
        "Volcano": ("Unschedulable=True, NotEnoughResources: 2/8 tasks in gang unschedulable",),
        "KAI-Scheduler": ("UnschedulableOnNodePool=True, OverLimit: too many",),
        "nodes": ("2 times: PodScheduled=False, SchedulingGated: why",),
    }


def test_an_owner_between_the_workload_and_its_pods_is_followed() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "bert-worker", "uid": "b"}
    pod = written("v1", "Pod", {"conditions": [condition("PodScheduled", "False", "Unschedulable")]}, job)

    assert said(written("batch/v1", "Job", {}, OWNER, name="bert-worker"), pod) != {}
    assert said(pod) == {}


@pytest.mark.parametrize(
    "status",
    [
        {"conditions": [condition("QuotaReserved", "True", "QuotaReserved")]},
        {"conditions": [condition("Admitted", "False", "NoReservation")]},
        {"conditions": [{"type": "QuotaReserved", "status": "False"}]},
        {"conditions": ["junk", 7, None, {"type": 5, "status": []}]},
        {"conditions": "junk"},
        "junk",
        None,
    ],
)
def test_conditions_that_hold_nothing_back_and_junk_say_nothing(status: Any) -> None:
    assert said(written("kueue.x-k8s.io/v1beta2", "Workload", status, OWNER)) == {}


def test_objects_of_other_workloads_say_nothing() -> None:
    quota = {"conditions": [condition("QuotaReserved", "False", "Pending")]}
    other = {**OWNER, "name": "gpt"}

    assert said(written("kueue.x-k8s.io/v1beta2", "Workload", quota, other)) == {}
    assert said(written("kueue.x-k8s.io/v1beta2", "Workload", quota)) == {}
