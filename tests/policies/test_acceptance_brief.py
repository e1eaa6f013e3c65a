"""The PyTorchJob of the brief (acceptance fixtures of gpu-domain 8.4)."""

import pytest

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


def test_the_job_of_the_brief_is_told_what_its_manifest_shows() -> None:
    decision = decided(BRIEF)

    assert found(decision) == FOUND_IN_BRIEF
    assert unknown(decision) == {AFFINITY_UNKNOWN}
    assert totals(decision) == {GPU: ("64", "64")}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("queue-name-as-annotation", 'the annotation kueue.x-k8s.io/queue-name "research-queue"'),
        ("gpu-toleration-present", "does not tolerate the taint nvidia.com/gpu"),
        ("cpu-and-memory-requested", "for no cpu and no memory"),
        ("nccl-debug-left-on", 'NCCL_DEBUG "INFO"'),
        ("variable-of-the-operator", "sets MASTER_ADDR, but the operator sets it as well, and its value wins"),
        ("gang-missing", "its 8 pods with accelerators are placed one by one"),
    ],
)
def test_the_job_of_the_brief_is_told_in_so_many_words(name: str, part: str) -> None:
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
        (["batch/job"], {"deny USH405 integration-not-enabled"}, set()),
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
