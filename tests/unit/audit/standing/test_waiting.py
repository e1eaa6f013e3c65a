"""Workloads that wait: which authority holds them, and whether they can ever run."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from builders import GPU, container, gpu_job, job, node, queues, resource_quota, stateful_set, template
from builders.estates import ago, entry, estate, running, waiting
from builders.standings import found, judged, judgement, namespaces, result
from usher import paths
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.gather.estate import Estate, Missing, Phase, Reported
from usher.audit.gather.needed_inputs import KUEUE_WORKLOAD, POD_GROUP
from usher.authorities import registry
from usher.authorities.authority import Case, Section
from usher.authorities.knowledge import Knowledge
from usher.check.devices import Amount
from usher.config import models

SPACE = "ml-research"
CODES = ("USA001", "USA003", "USA004")
QUEUED = {"kueue.x-k8s.io/queue-name": "research"}


def kueue(*, gpus: int) -> list[paths.Object]:
    """A queue with so many GPUs, for all namespaces."""
    return [
        queues.cluster_queue("research", queues.gpu_group(gpus)),
        queues.local_queue("research", namespace=SPACE),
        queues.flavor("a100"),
        *namespaces(SPACE),
    ]


def alone(value: paths.Object, **fields: Any) -> Estate:
    """A Job whose pods do not exist yet, with its manifest."""
    return estate(workloads=[entry(wanted=2, suspended=True, **fields)], manifests={"uid-of-train": value})


def test_a_job_above_the_quota_of_its_queue_can_never_run() -> None:
    value = gpu_job(8, pods=2, name="train", labels=QUEUED)
    seen, of = judged(alone(value, queue="research"), result(entry(), judgement("USH435")))

    way = "LocalQueue research of ClusterQueue research"
    why = f"Kueue ({way}): 16 nvidia.com/gpu asked for; the queue can ever give 8 in flavor a100"
    assert found(seen, kueue(gpus=8), of=of, codes=CODES) == [
        FindingEntry(
            fingerprint="3155eb350d4ed3bd6277a49f9de0b298",
            code="USA001",
            name="never-runs",
            title="A workload waits that can never run",
            category="cluster",
            outcome="audit",
            severity=Severity.HIGH,
            subject=Subject(api_version="batch/v1", kind="Job", namespace=SPACE, name="train"),
            message=f"it can never run; {why}",
            remedy="Kueue: raise the nominalQuota of ClusterQueue research in flavor a100 by 8 nvidia.com/gpu",
            team="nlp",
            gpus=16,
            since="2026-11-23T06:00:00Z",
            evidence=(why,),
            held_by="Kueue",
            never=True,
            prevented_by="USH435",
            found_by=("USH435",),
        )
    ]


def test_a_job_that_its_queue_can_hold_is_not_one_of_them() -> None:
    value = gpu_job(8, pods=2, name="train", labels=QUEUED)

    assert [each.code for each in found(alone(value, queue="research"), kueue(gpus=16), codes=CODES)] == ["USA003"]


def test_no_node_that_is_large_enough_is_a_reason_of_the_nodes() -> None:
    value = gpu_job(16, name="train")
    (finding,) = found(alone(value), [node(gpus=8)], codes=CODES)

    assert (finding.held_by, finding.never, finding.evidence) == (
        "the nodes",
        True,
        ("the nodes: 16 nvidia.com/gpu asked for, one node has 8 (nearest: nodes like node-0)",),
    )


def test_a_fix_that_changes_nodes_alone_is_one_of_the_platform_team() -> None:
    slices = job(template(container(limits={"nvidia.com/mig-2g.20gb": 1})), name="train")
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "8"}
    boards = node(gpus=8, labels=labels)
    (divided,) = found(alone(slices), [boards], codes=CODES)
    (smaller,) = found(alone(gpu_job(16, name="train")), [boards], codes=CODES)

    assert divided.remedy.startswith("the nodes: divide 1 of 8 GPUs")
    assert (divided.fixed_by_platform, smaller.fixed_by_platform) == (True, False)


@pytest.mark.parametrize(("extra", "least"), [(8, 8), (0, None)], ids=["it grows at times", "it stays as it is"])
def test_a_workload_that_grows_at_times_has_the_gpus_that_it_asks_for_always(extra: int, least: float | None) -> None:
    asks = {GPU: Amount(number=16, extra=extra)}
    (finding,) = found(alone(gpu_job(16, name="train"), asks=asks), [node(gpus=8)], codes=CODES)

    assert (finding.gpus, finding.gpus_least) == (16, least)


def test_a_pod_that_is_deleted_before_it_ran_does_not_wait() -> None:
    starting = replace(running(), phase=Phase.PENDING)
    leaving = replace(starting, terminating=True)

    assert [each.code for each in found(estate(workloads=[entry(pods=[starting])]), codes=CODES)] == ["USA003"]
    assert found(estate(workloads=[entry(pods=[leaving])]), codes=CODES) == []


def test_a_pod_that_waits_shorter_than_the_threshold_makes_no_finding() -> None:
    workload = entry(pods=[waiting(hours=0.5)])

    assert found(estate(workloads=[workload]), codes=CODES) == []


def test_the_threshold_is_that_of_usher_yaml() -> None:
    config = models.Config.model_validate({"audit": {"pending": "10m"}})
    workload = entry(pods=[waiting(hours=0.5)])

    assert [each.code for each in found(estate(workloads=[workload]), config=config, codes=CODES)] == ["USA003"]


def test_the_words_of_the_scheduler_are_the_evidence() -> None:
    words = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."
    workload = entry(pods=[waiting("a", hours=3, why=words), waiting("b", hours=2, why=words)])

    (finding,) = found(estate(workloads=[workload]), codes=CODES)
    assert (finding.held_by, finding.evidence, finding.gpus, finding.since) == (
        "scheduler",
        (f"scheduler: {words}",),
        16,
        "2026-11-23T09:00:00Z",
    )
    assert finding.message == (
        "2 pods have waited for 3 hours, held back by the scheduler: "
        "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."
    )


def kueue_workload(**condition: Any) -> paths.Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "job-train", "namespace": SPACE, "ownerReferences": [{"uid": "uid-of-train"}]},
        "spec": {"queueName": "research"},
        "status": {
            "conditions": [
                {
                    "type": "QuotaReserved",
                    "status": "False",
                    "reason": "Pending",
                    "message": "couldn't assign flavors to pod set main",
                    "lastTransitionTime": "2026-11-23T08:00:00Z",
                    **condition,
                }
            ],
            "admissionChecks": [{"name": "provisioning", "state": "Retry", "message": "no capacity"}],
        },
    }


def test_the_words_of_kueue_are_the_evidence_for_a_job_that_it_suspends() -> None:
    seen = estate(workloads=[entry(wanted=2, suspended=True, queue="research")], objects=[kueue_workload()])

    (finding,) = found(seen, codes=CODES)
    assert (finding.held_by, finding.since) == ("Kueue", "2026-11-23T08:00:00Z")
    assert finding.evidence == (
        "Kueue, condition QuotaReserved: couldn't assign flavors to pod set main",
        "Kueue, admission check provisioning is Retry: no capacity",
    )


def test_a_workload_that_kueue_has_admitted_is_held_by_the_scheduler() -> None:
    value = kueue_workload(type="Admitted", status="True")
    seen = estate(workloads=[entry(pods=[waiting()], queue="research")], objects=[value])

    assert [each.held_by for each in found(seen, codes=CODES)] == ["scheduler"]


def pod_group(phase: str) -> paths.Object:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "train-1", "namespace": SPACE, "ownerReferences": [{"uid": "uid-of-train"}]},
        "spec": {"queue": "default"},
        "status": {
            "phase": phase,
            "conditions": [{"type": "Unschedulable", "status": "True", "message": "2/8 tasks in gang unschedulable"}],
        },
    }


def test_a_pod_group_that_waits_in_its_queue_is_held_by_volcano() -> None:
    seen = estate(workloads=[entry(pods=[waiting()], scheduler="volcano")], objects=[pod_group("Pending")])

    (finding,) = found(seen, codes=CODES)
    assert (finding.held_by, finding.evidence) == (
        "Volcano",
        ("Volcano: PodGroup train-1 is Pending", "Volcano: 2/8 tasks in gang unschedulable"),
    )


def test_the_default_scheduler_needs_no_name() -> None:
    seen = estate(workloads=[entry(pods=[waiting()], scheduler="default-scheduler")])

    assert [each.held_by for each in found(seen, codes=CODES)] == ["scheduler"]


def test_a_pod_group_that_volcano_has_let_in_is_held_by_its_scheduler() -> None:
    seen = estate(workloads=[entry(pods=[waiting()], scheduler="volcano")], objects=[pod_group("Inqueue")])

    assert [each.held_by for each in found(seen, codes=CODES)] == ["scheduler volcano"]


@pytest.mark.parametrize(
    ("gate", "authority"),
    [
        ("kueue.x-k8s.io/admission", "Kueue"),
        ("kueue.x-k8s.io/topology", "Kueue"),
        ("scheduling.volcano.sh/queue-allocation-gate", "Volcano"),
        ("example.com/data-loaded", "another controller"),
    ],
)
def test_a_scheduling_gate_names_the_authority(gate: str, authority: str) -> None:
    seen = estate(workloads=[entry(pods=[waiting(gates=(gate,))])])

    (finding,) = found(seen, codes=CODES)
    assert (finding.held_by, finding.evidence) == (authority, (f"scheduling gates: {gate}",))


def test_a_job_that_its_author_has_suspended_is_held_by_its_author() -> None:
    (finding,) = found(estate(workloads=[entry(wanted=1, suspended=True)]), codes=CODES)

    assert (finding.held_by, finding.evidence) == ("its author", ("it is suspended, and has no queue",))


def test_a_pod_that_has_a_node_and_does_not_run_is_reported_as_it_is_seen() -> None:
    seen = estate(workloads=[entry(pods=[waiting(node="gpu-1", scheduled=ago(4))])])

    (finding,) = found(seen, codes=CODES)
    assert (finding.held_by, finding.evidence, finding.since) == (
        "node",
        ("the pods have a node and do not run: gpu-1",),
        "2026-11-23T08:00:00Z",
    )


def test_the_kubelet_says_why_a_pod_on_a_node_does_not_run() -> None:
    pods = [waiting(name, node="gpu-1", scheduled=ago(4), starting="container main: ErrImagePull") for name in "ab"]

    (finding,) = found(estate(workloads=[entry(pods=pods)]), codes=CODES)
    assert finding.evidence[0] == "kubelet, container main: ErrImagePull"
    assert finding.message.endswith("held back by the node: ErrImagePull")
    assert finding.remedy.startswith("Read the events of the pods (kubectl describe pod)")


def test_a_suspended_job_waits_since_it_was_suspended_and_its_author_can_resume_it() -> None:
    job_of_old = entry(wanted=1, suspended=True, created=ago(900), reported=Reported(suspended_since=ago(3)))

    (finding,) = found(estate(workloads=[job_of_old]), codes=CODES)
    assert (finding.since, finding.message) == (
        "2026-11-23T09:00:00Z",
        "the workload has waited for 3 hours, held back by its author: it is suspended, and has no queue",
    )
    assert finding.remedy == "Ask its owner; then resume it (suspend: false), put it into a queue, or delete it."


def test_pods_that_a_controller_was_refused_are_missing_since_then_in_its_words() -> None:
    reported = Reported(refused=True, refusal="exceeded quota: gpus", refused_since=ago(2))
    (finding,) = found(estate(workloads=[entry("Deployment", wanted=2, reported=reported)]), codes=CODES)

    assert (finding.code, finding.since, finding.evidence) == (
        "USA004",
        "2026-11-23T10:00:00Z",
        ("controller: exceeded quota: gpus",),
    )


def test_a_job_whose_pods_volcano_does_not_make_yet_is_held_by_volcano() -> None:
    volcano_job = entry(api_version="batch.volcano.sh/v1alpha1", wanted=2, gang=True)

    (finding,) = found(estate(workloads=[volcano_job], objects=[pod_group("Pending")]), codes=CODES)
    assert (finding.code, finding.held_by) == ("USA003", "Volcano")


def test_pods_that_a_quota_refuses_are_missing_and_the_quota_is_named() -> None:
    value = stateful_set(template(container(gpus=8)), replicas=2, name="train")
    full = resource_quota({f"requests.{GPU}": 8}, used={f"requests.{GPU}": 8}, name="gpus")
    seen = estate(workloads=[entry("StatefulSet", wanted=2)], manifests={"uid-of-train": value})

    (finding,) = found(seen, [full, *namespaces(SPACE)], without=[("", "LimitRange")], codes=CODES)
    why = "16 requests.nvidia.com/gpu needed for all pods, ResourceQuota gpus allows 8"
    assert (finding.code, finding.held_by, finding.message) == (
        "USA004",
        "ResourceQuota",
        f"it wants 2 pods and has 0: {why}",
    )
    assert finding.evidence == (f"ResourceQuota gpus: {why}",)


@pytest.mark.parametrize(
    "workload",
    [
        entry("CronJob", wanted=4),
        entry("CronJob", wanted=4, suspended=True),
        entry(wanted=8, pods=[running()]),
        entry("PyTorchJob", wanted=2, is_template=True),
        entry("Notebook", wanted=1),
        entry("Deployment", wanted=2, pods=[running("a"), running("b")]),
        entry("Deployment", wanted=2, pods=[running("a")], reported=Reported(refused=False)),
        entry("Deployment", wanted=2, pods=[running("a")], deleting=True),
    ],
    ids=[
        "between runs",
        "a suspended schedule",
        "after its first pods have ended",
        "a template",
        "stopped",
        "complete",
        "their controller was refused none",
        "being deleted",
    ],
)
def test_pods_that_may_have_ended_are_not_missing(workload: Any) -> None:
    assert found(estate(workloads=[workload]), codes=CODES) == []


def test_pods_are_not_missing_where_they_could_not_be_read() -> None:
    unread = [Missing(source="pods", reason="forbidden")]

    assert found(estate(workloads=[entry("Deployment", wanted=2)], missing=unread), codes=CODES) == []
    assert len(found(estate(workloads=[entry("Deployment", wanted=2)]), codes=CODES)) == 1


def test_the_kinds_that_kueue_and_volcano_write_may_be_unknown() -> None:
    seen = estate(workloads=[entry(pods=[waiting()])], unknown=[KUEUE_WORKLOAD.key, POD_GROUP.key])

    assert [each.held_by for each in found(seen, codes=CODES)] == ["scheduler"]


def test_workloads_that_differ_by_their_names_alone_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_ones = []
    real = registry.sections

    def counting(case: Case, known: Knowledge) -> Iterator[Section]:
        judged_ones.append(case.workload.name)
        return real(case, known)

    monkeypatch.setattr(registry, "sections", counting)
    numbered = {"controller-uid": "1", "job-name": "a"}
    pod = template(container(gpus=16), labels={**numbered, "app": "x"})
    same: paths.Object = {**job(template(container(gpus=16), labels={"app": "x"}), name="b"), "status": {"active": 1}}
    other = job(template(container(gpus=32)), name="c")
    odd: paths.Object = {**job(template(container(gpus=16)), name="d"), "half a character": "\ud800"}
    values: dict[str, paths.Object] = {"a": job(pod, name="a"), "b": same, "c": other, "d": odd, "e": odd}
    workloads = [entry(name=name, uid=name, wanted=1, suspended=True) for name in values]

    entries = found(estate(workloads=workloads, manifests=values), [node(gpus=8)], codes=CODES)
    assert {each.subject.name for each in entries if each.never} == set(values)
    assert judged_ones == ["a", "c", "d", "d"]
