"""Queues, growth, operators and deletion (docs/domain/acceptance-cases.md, 9 to 11 and 13)."""

import pytest

import builders
from acceptance import (
    ABOVE_CEILING,
    ALL_DEVICES,
    GPU,
    WITH_FABRIC,
    WITHOUT_CLASS,
    WITHOUT_CPU,
    ceiling,
    decided,
    found,
    gpus_of_one_pod,
    manifest,
    message,
    mutated,
    totals,
    updated,
)
from usher import paths

# Kueue's queues


def cluster_queue(
    limits: dict[str, paths.Json] | None = None, *, version: str = "v1beta2", **fields: paths.Json
) -> paths.Object:
    """The queue of 16 GPUs, with limits beside that quota and with more fields in its spec."""
    value = builders.replaced(manifest("cluster_queue"), "/apiVersion", f"kueue.x-k8s.io/{version}")
    for name, field in fields.items():
        value = builders.replaced(value, f"/spec/{name}", field)
    for name, limit in (limits or {}).items():
        value = builders.replaced(value, f"/spec/resourceGroups/0/flavors/0/resources/2/{name}", limit)
    return value


def test_a_queue_lends_no_more_than_it_has() -> None:
    assert found(decided(cluster_queue({"lendingLimit": 16}, cohortName="all"))) == set()
    assert found(decided(cluster_queue({"lendingLimit": 17}, cohortName="all"))) == {
        "deny USH1414 lending-limit-above-quota"
    }


@pytest.mark.parametrize("limit", ["borrowingLimit", "lendingLimit"])
def test_borrowing_limits_need_a_cohort_and_null_means_unlimited(limit: str) -> None:
    assert found(decided(cluster_queue({limit: 8}, cohortName="all"))) == set()
    assert found(decided(cluster_queue({limit: 8}))) == {"deny USH1406 borrowing-without-cohort"}
    assert found(decided(cluster_queue({limit: None}))) == set()


def test_a_queue_on_hold_is_a_queue_like_any_other() -> None:
    assert found(decided(cluster_queue(stopPolicy="Hold"))) == set()


def test_a_queue_of_v1beta1_names_its_cohort_in_the_field_of_that_version() -> None:
    of_another_version = {"deny USH1412 cluster-queue-field-of-another-version"}

    assert found(decided(cluster_queue({"borrowingLimit": 32}, version="v1beta1", cohort="all"))) == set()
    assert found(decided(cluster_queue(version="v1beta1", cohortName="all"))) == of_another_version
    assert found(decided(cluster_queue(cohort="all"))) == of_another_version


# What grows


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("deployment", 8, 10), ("ray_cluster", 2, 16), ("ray_service", 6, 12), ("leader_worker_set", 16, 24)],
)
def test_what_grows_is_counted_at_its_largest(name: str, least: int, most: int) -> None:
    """Surges of a rollout, the autoscaling of Ray, the two clusters of an upgrade."""
    within, beyond = decided(manifest(name), ceiling(most)), decided(manifest(name), ceiling(most - 1))

    assert totals(within) == {GPU: (str(least), str(most))}
    assert found(beyond) - found(within) == {ABOVE_CEILING}
    assert within.allowed


@pytest.mark.parametrize(
    ("old_value", "value"),
    [
        (builders.job(gpus_of_one_pod(8), suspend=True), builders.job(gpus_of_one_pod(16), suspend=True)),
        (builders.pytorch_job(gpus_of_one_pod(1), workers=8), builders.pytorch_job(gpus_of_one_pod(1), workers=16)),
    ],
    ids=["GPUs of a suspended Job", "workers of a PyTorchJob"],
)
def test_a_maximum_that_an_update_raises_is_judged_again(old_value: paths.Object, value: paths.Object) -> None:
    unchanged, raised = updated(old_value, old_value, ceiling(8)), updated(value, old_value, ceiling(8))

    assert unchanged.allowed
    assert ABOVE_CEILING in found(raised)


# Variables and patches of operators


def test_mpi_workers_get_no_variables_and_a_warning_says_why_their_own_have_no_effect() -> None:
    bare = builders.mpi_job(gpus_of_one_pod(8), workers=2)
    by_hand = builders.mpi_job(builders.template(builders.container(gpus=8, env={"NCCL_IB_HCA": "=mlx5_0"})), workers=2)
    pytorch = builders.pytorch_job(builders.template(builders.container("pytorch", gpus=8)), workers=2)

    assert "fabric/nccl_environment" in {intent.mutation for intent in mutated(pytorch, WITH_FABRIC).applied}
    assert "fabric/nccl_environment" not in {intent.mutation for intent in mutated(bare, WITH_FABRIC).applied}
    assert found(decided(by_hand)) - found(decided(bare)) == {"warn USH905 variables-that-do-not-reach-the-ranks"}
    assert "do not reach its ranks, because sshd starts the ranks without them: NCCL_IB_HCA" in message(
        decided(by_hand), "variables-that-do-not-reach-the-ranks"
    )


def test_a_train_job_that_sets_pet_nnodes_gets_a_warning_because_the_trainer_refuses_it() -> None:
    job = manifest("train_job")
    by_hand = builders.replaced(job, "/spec/trainer/env", [{"name": "PET_NNODES", "value": "4"}])

    assert found(decided(by_hand)) - found(decided(job)) == {"warn USH904 variable-that-the-trainer-refuses"}


def test_usher_reads_the_patch_of_kueue_in_a_train_job_and_keeps_it() -> None:
    job, runtime = manifest("train_job"), manifest("torch_runtime")
    usual = {
        WITHOUT_CPU,
        WITHOUT_CLASS,
        "audit USH1305 job-without-deadline",
        "audit USH1307 training-not-protected-from-disruption",
    }

    given = mutated(job, WITH_FABRIC, runtime)
    assert {intent.mutation for intent in given.applied} == {"fabric/nccl_environment"}
    assert {operation["path"] for operation in given.operations} == {"/spec/trainer/env", "/metadata/annotations"}
    assert found(decided(job, WITH_FABRIC, runtime)) == usual


def test_a_train_job_without_a_patch_of_kueue_gets_a_patch_of_usher_over_its_runtime() -> None:
    runtime = manifest("torch_runtime")
    unpatched = builders.replaced(manifest("train_job"), "/spec/runtimePatches", [])

    given = mutated(unpatched, WITH_FABRIC, runtime).value

    assert paths.resolve(given, "/spec/runtimePatches/0/manager") == "gpu-usher.io/usher"
    assert mutated(given, WITH_FABRIC, runtime).operations == ()


# Deletion


def test_the_last_finalizer_goes_however_wrong_the_object_is() -> None:
    wrong = builders.pod(builders.container(gpus="0.5", env=ALL_DEVICES))
    assert not decided(wrong).allowed
    deleting = builders.replaced(wrong, "/metadata/deletionTimestamp", "2026-01-01T00:00:00Z")
    held = builders.replaced(deleting, "/metadata/finalizers", ["example.com/cleanup"])
    released = builders.replaced(deleting, "/metadata/finalizers", [])

    decision = updated(released, held)

    assert decision.allowed
    assert decision.judgements == ()
    assert decision.exemption == "the object is being deleted"
