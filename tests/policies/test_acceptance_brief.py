"""The PyTorchJob of the brief (docs/domain/acceptance-cases.md#the-brief)."""

import pytest

import acceptance
import builders
from acceptance import (
    ABOVE_CEILING,
    AFFINITY_UNKNOWN,
    GPU,
    MAY_NOT_BE_TOLERATED,
    NOT_SELECTED,
    NOT_TOLERATED,
    POOLS,
    ceiling,
    decided,
    found,
    manifest,
    message,
    parameter,
    totals,
    unknown,
    with_queue,
)
from builders.queues import cluster_queue, cohort, configuration, flavor, gpu_group, local_queue
from usher import model, paths
from usher.cluster.facts.store import Store
from usher.policy.decision import Request

BRIEF = manifest("brief_pytorchjob")
FOUND_IN_BRIEF = {
    "warn USH105 cpu-and-memory-requested",
    "warn USH301 gpu-toleration-present",
    "warn USH402 queue-name-as-annotation",
    "warn USH502 gang-missing",
    "warn USH903 variable-of-the-operator",
    "warn USH909 shared-memory-missing",
    "audit USH602 class-missing",
    "audit USH901 nccl-debug-left-on",
    "audit USH1305 job-without-deadline",
    "audit USH1307 training-not-protected-from-disruption",
}


def test_the_job_of_the_brief_gets_the_findings_that_its_manifest_shows() -> None:
    decision = decided(BRIEF)

    assert found(decision) == FOUND_IN_BRIEF
    assert unknown(decision) == {AFFINITY_UNKNOWN}
    assert totals(decision) == {GPU: ("64", "64")}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("queue-name-as-annotation", 'the annotation kueue.x-k8s.io/queue-name "research-queue"'),
        ("gpu-toleration-present", "does not tolerate the taint nvidia.com/gpu"),
        ("cpu-and-memory-requested", "not for cpu or memory"),
        ("nccl-debug-left-on", 'NCCL_DEBUG "INFO"'),
        ("variable-of-the-operator", "sets MASTER_ADDR, but the operator sets it as well, and its value wins"),
        ("gang-missing", "the scheduler places the 8 pods with accelerators one by one"),
    ],
)
def test_the_messages_for_the_job_of_the_brief_name_the_problem(name: str, part: str) -> None:
    assert part in message(decided(BRIEF), name)


def test_with_declared_pools_the_job_of_the_brief_is_denied_and_lacks_an_affinity() -> None:
    decision = decided(BRIEF, POOLS)

    assert found(decision) == FOUND_IN_BRIEF - {MAY_NOT_BE_TOLERATED} | {NOT_TOLERATED, NOT_SELECTED}
    assert unknown(decision) == set()


def test_where_its_namespace_has_a_queue_the_job_of_the_brief_is_not_in_it() -> None:
    site = {"queues": [{"namespaces": ["ml-training"], "localQueue": "research-local"}]}

    assert found(decided(BRIEF, site)) == FOUND_IN_BRIEF - {"warn USH502 gang-missing"} | {
        "deny USH401 queue-label-missing"
    }


def test_the_job_of_the_brief_is_above_a_ceiling_of_48_gpus() -> None:
    assert found(decided(BRIEF, ceiling(48))) == FOUND_IN_BRIEF | {ABOVE_CEILING}
    assert found(decided(BRIEF, ceiling(64))) == FOUND_IN_BRIEF


@pytest.mark.parametrize(
    ("frameworks", "finds", "not_evaluated"),
    [
        ([], set(), {"queueing/integration_not_enabled"}),
        # What Kueue leaves out is not placed by Kueue.
        (["batch/job"], {"deny USH405 integration-not-enabled"}, {"placement/gpu_node_affinity_present"}),
        (["kubeflow.org/pytorchjob"], set(), set()),
    ],
)
def test_with_its_label_the_job_of_the_brief_still_depends_on_the_integration(
    frameworks: list[str], finds: set[str], not_evaluated: set[str]
) -> None:
    labelled = with_queue(BRIEF, "research-local")

    decision = decided(labelled, parameter("integration-not-enabled", "frameworks", frameworks))

    mended = {"warn USH402 queue-name-as-annotation", "warn USH502 gang-missing"}
    assert found(decision) == FOUND_IN_BRIEF - mended | finds
    assert unknown(decision) == not_evaluated


# In the cluster of the brief.


IN_RESEARCH = local_queue("research-local", "research-queue", namespace="ml-research")
IN_TRAINING = local_queue("research-local", "research-queue", namespace="ml-training")
FLAVOR = flavor("a100")
COHORT = cohort("shared")
NAMESPACE: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml-training"}}

QUEUES = (
    cluster_queue("research-queue", gpu_group(16, borrowing=32), cohort="shared"),
    cluster_queue("production-queue", gpu_group(64), cohort="shared"),
    FLAVOR,
    COHORT,
    NAMESPACE,
)
"""Quota 16 and at most 32 borrowed: 48, whatever the cohort has."""

CLUSTER = (*QUEUES, IN_RESEARCH, configuration("integrations: {frameworks: [batch/job, kubeflow.org/pytorchjob]}"))

NO_QUEUE = "warn USH430 queue-not-there"
NEVER_ADMISSIBLE = "deny USH435 queue-never-admissible"
LEFT_OUT = "deny USH405 integration-not-enabled"


def decided_in(value: paths.Object, *cluster: paths.Object) -> model.Decision:
    return acceptance.evaluator().decide(Request(value=value, facts=Store.of(cluster)))


def test_the_namespace_of_the_brief_has_no_local_queue() -> None:
    """The annotation names a ClusterQueue; made a label, it is no LocalQueue of the namespace either."""
    decision = decided_in(with_queue(BRIEF, "research-queue"), *CLUSTER)

    assert NO_QUEUE in found(decision)
    assert 'LocalQueue "research-queue" does not exist in namespace ml-training' in message(decision, "queue-not-there")


def test_the_job_of_the_brief_asks_for_64_of_48_gpus() -> None:
    decision = decided_in(with_queue(BRIEF, "research-local"), *CLUSTER, IN_TRAINING)

    assert NEVER_ADMISSIBLE in found(decision)
    assert NO_QUEUE not in found(decision)
    assert message(decision, "queue-never-admissible") == (
        "this PyTorchJob asks for 64 nvidia.com/gpu (1 pod of Master x 8 + 7 pods of Worker x 8); "
        "ClusterQueue research-queue can never give more than 48 of flavor a100 (16 own + 32 borrowed)"
    )


def test_the_real_configuration_of_kueue_leaves_the_kind_of_the_brief_out() -> None:
    queues = (*QUEUES, IN_TRAINING, configuration("integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}"))

    decision = decided_in(with_queue(BRIEF, "research-local"), *queues)

    assert LEFT_OUT in found(decision)
    assert "does not enable kubeflow.org/pytorchjob" in message(decision, "integration-not-enabled")
    assert NEVER_ADMISSIBLE not in found(decision)


def test_a_job_that_the_queue_of_the_brief_could_admit_gets_no_queue_finding() -> None:
    smaller = builders.replaced(BRIEF, "/spec/pytorchReplicaSpecs/Worker/replicas", 5)

    decision = decided_in(with_queue(smaller, "research-local"), *CLUSTER, IN_TRAINING)

    assert found(decision).isdisjoint({NO_QUEUE, NEVER_ADMISSIBLE, LEFT_OUT})
