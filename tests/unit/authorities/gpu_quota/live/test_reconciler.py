"""Charges follow the objects: settled when seen, released when deleted, adopted when they bypassed admission."""

from collections.abc import Iterator
from typing import Any

import pytest

import builders
from clocks import Clock
from unit.authorities.gpu_quota.live.memory_api import (
    MemoryApi,
    Replica,
    charges,
    gpu_quota,
    job,
    owned,
    refusal,
    reserved,
    unreachable,
)
from usher import paths

RESERVATION = 71


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000_000.0)


@pytest.fixture
def replica(api: MemoryApi, clock: Clock) -> Iterator[Replica]:
    made = Replica(api, clock=clock)
    made.watch()
    yield made
    made.close()


@pytest.fixture
def another(api: MemoryApi, clock: Clock) -> Iterator[Replica]:
    made = Replica(api, clock=clock)
    made.watch()
    yield made
    made.close()


def pod(gpus: int, *, name: str = "worker", namespace: str = "ml", phase: str = "Running") -> paths.Object:
    return {**builders.pod(builders.container(gpus=gpus), name=name, namespace=namespace), "status": {"phase": phase}}


def finished(value: paths.Object) -> paths.Object:
    return {**value, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}


def test_a_reservation_is_settled_when_its_object_is_seen(api: MemoryApi, replica: Replica) -> None:
    assert replica.ask(job(8)) is None
    assert reserved(api) == {"Job.batch/ml/train"}

    api.apply(job(8))
    replica.watch()
    replica.reconciler.reconcile()

    assert charges(api) == {"Job.batch/ml/train": 8}
    assert reserved(api) == set()


def test_an_unused_reservation_is_released_when_it_ends_and_not_before(
    api: MemoryApi, replica: Replica, clock: Clock
) -> None:
    replica.ask(job(8))
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 8}

    clock.now += RESERVATION
    replica.reconciler.reconcile()
    assert charges(api) == {}


def test_an_existing_object_is_not_released_before_a_watch_shows_it(
    api: MemoryApi, replica: Replica, clock: Clock
) -> None:
    replica.ask(job(8))
    replica.watch("GPUQuota")
    api.apply(job(8))
    clock.now += RESERVATION

    replica.reconciler.reconcile()

    assert charges(api) == {"Job.batch/ml/train": 8}
    assert reserved(api) == set()


def test_a_deleted_object_is_not_adopted_while_a_watch_lags_behind(api: MemoryApi, replica: Replica) -> None:
    api.apply(job(8))
    replica.watch()
    api.remove(job(8))

    replica.reconciler.reconcile()

    assert charges(api) == {}


def test_pods_of_a_deleted_job_stay_charged_while_no_watch_shows_the_deletion(
    api: MemoryApi, replica: Replica, clock: Clock
) -> None:
    first = api.apply(job(8))
    api.apply(owned(pod(8), first))
    replica.watch()
    replica.reconciler.reconcile()
    api.remove(first)
    replica.ask(job(4))
    api.apply(job(4))
    replica.watch("GPUQuota")
    clock.now += RESERVATION

    replica.reconciler.reconcile()

    assert charges(api) == {"Job.batch/ml/train": 12}


def test_an_object_and_ending_pods_of_its_name_are_charged_together(
    api: MemoryApi, replica: Replica, clock: Clock
) -> None:
    first = api.apply(job(8))
    ending = api.apply(owned(pod(8), first))
    replica.watch()
    replica.reconciler.reconcile()
    api.remove(first)
    replica.watch()
    assert replica.ask(job(4)) is None
    api.apply(job(4))
    replica.watch()

    replica.reconciler.reconcile()
    assert (charges(api), reserved(api)) == ({"Job.batch/ml/train": 12}, {"Job.batch/ml/train"})
    clock.now += RESERVATION
    replica.reconciler.reconcile()
    assert (charges(api), reserved(api)) == ({"Job.batch/ml/train": 12}, set())

    api.remove(ending)
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 4}


def test_two_replicas_adopt_an_uncharged_workload_once(api: MemoryApi, replica: Replica, another: Replica) -> None:
    api.apply(job(8, pods=4))
    for each in (replica, another):
        each.watch()

    assert [replica.reconciler.reconcile(), another.reconciler.reconcile()] == [1, 0]
    assert charges(api) == {"Job.batch/ml/train": 32}


def test_a_child_that_is_seen_before_its_owner_is_not_adopted(api: MemoryApi, replica: Replica) -> None:
    """Each kind has a watch of its own, and none waits for another."""
    replica.ask(builders.job_set(builders.replicated_job("a", builders.template(builders.container(gpus=8)))))
    made = api.apply(builders.job_set(builders.replicated_job("a", builders.template(builders.container(gpus=8)))))
    api.apply(owned(job(8, name="child", namespace=namespace_of(made)), made))
    replica.watch("Job", "GPUQuota")

    replica.reconciler.reconcile()

    assert list(charges(api)) == [f"JobSet.jobset.x-k8s.io/{namespace_of(made)}/{name_of(made)}"]


def test_a_charge_that_was_lowered_is_lowered_when_a_read_confirms_it(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8, pods=2))
    api.apply(job(8, pods=2))
    replica.watch()
    replica.reconciler.reconcile()
    api.apply(job(8))
    replica.watch()
    api.apply(job(8, pods=2))

    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 16}

    api.apply(job(8))
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 8}


def test_a_finished_workload_holds_what_its_running_pods_hold(api: MemoryApi, replica: Replica) -> None:
    """A PyTorchJob may leave its workers running (cleanPodPolicy: None)."""
    made = api.apply(finished(job(8, pods=2)))
    api.apply(owned(pod(8), made))
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 8}

    api.apply(owned(pod(8, phase="Succeeded"), made))
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {}


def test_a_deleted_workload_is_charged_for_its_pods_until_they_are_gone(api: MemoryApi, replica: Replica) -> None:
    made = api.apply(job(8, pods=2))
    worker = api.apply(owned(pod(8), made))
    replica.watch()
    replica.reconciler.reconcile()
    api.remove(made)
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 8}

    api.remove(worker)
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {}


def test_orphans_are_charged_once(api: MemoryApi, replica: Replica) -> None:
    """`kubectl delete --cascade=orphan` takes the owner out of pods and leaves them."""
    made = api.apply(job(8))
    api.apply(owned(pod(8), made))
    replica.watch()
    replica.reconciler.reconcile()
    api.apply(pod(8))
    api.remove(made)
    replica.watch()

    for _ in range(2):
        replica.reconciler.reconcile()
        replica.watch()

    assert charges(api) == {"Pod/ml/worker": 8}


def test_charges_follow_a_namespace_to_another_quota(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8))
    api.apply(job(8))
    replica.watch()
    replica.reconciler.reconcile()
    api.apply(gpu_quota(namespaces=["other"]))
    api.apply(gpu_quota("team", namespaces=["ml"]))
    replica.watch("GPUQuota")
    replica.restart()

    replica.reconciler.reconcile()

    assert charges(api) == {}
    assert charges(api, "team") == {"Job.batch/ml/train": 8}


def test_nothing_is_released_while_it_is_undecided_which_quota_holds(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8))
    api.apply(job(8))
    replica.watch()
    replica.reconciler.reconcile()
    second = api.apply(gpu_quota("second"))
    replica.watch()
    replica.restart()

    replica.reconciler.reconcile()
    assert charges(api) == {"Job.batch/ml/train": 8}

    api.remove(job(8))
    replica.watch()
    replica.reconciler.reconcile()
    assert charges(api) == {}
    assert charges(api, str(second["metadata"]["name"])) == {}  # type: ignore[call-overload, index]  # as made


@pytest.mark.parametrize("trouble", [refusal(403, "forbidden"), refusal(500, "etcd"), refusal(404, "no such kind")])
def test_an_entry_whose_object_cannot_be_read_stays_and_stops_no_other(
    api: MemoryApi, replica: Replica, trouble: Any
) -> None:
    for value in (job(8), pod(4)):
        replica.ask(value)
        api.apply(value)
    replica.watch()
    replica.reconciler.reconcile()
    for value in (job(8), pod(4)):
        api.remove(value)
    replica.watch()
    api.trouble = lambda _method, path: trouble if path.endswith("/jobs") else None

    replica.reconciler.reconcile()

    assert charges(api) == {"Job.batch/ml/train": 8}


def test_a_quota_that_cannot_be_written_does_not_stop_the_others(api: MemoryApi, replica: Replica) -> None:
    api.apply(gpu_quota(namespaces=["other"]))
    api.apply(gpu_quota("a", namespaces=["ml"]))
    api.apply(job(8))
    api.apply(job(4, namespace="other"))
    replica.watch()
    api.trouble = lambda method, path: refusal(403, "no") if (method, path.count("/a/")) == ("PUT", 1) else None

    replica.reconciler.reconcile()

    assert charges(api) == {"Job.batch/other/train": 4}
    assert charges(api, "a") == {}


def test_while_the_api_server_is_away_nothing_changes(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8))
    replica.watch()
    api.trouble = unreachable

    assert replica.reconciler.reconcile() == 0


def test_a_failing_action_does_not_stop_the_others(api: MemoryApi, replica: Replica) -> None:
    """Kinds that a later gpu-usher knew are not ours to release."""
    quota = gpu_quota()
    entries: Any = [{"object": f"New.example.com/ml/n-{n:04}", "amounts": {"gpus": 1}} for n in range(400)]
    quota["status"] = {"version": 1, "charges": [*entries, {"object": "Pod/ml/z", "amounts": {"gpus": 8}}]}
    api.apply(quota)
    replica.watch()

    for _ in range(60):
        replica.reconciler.reconcile()

    assert "Pod/ml/z" not in charges(api)
    assert len(charges(api)) == 400


def test_entries_that_cannot_be_read_stay(api: MemoryApi, replica: Replica) -> None:
    quota = gpu_quota()
    strange: Any = {"object": "Job.batch/ml/strange", "amounts": {"bananas": 3}}
    quota["status"] = {"version": 1, "charges": [strange]}
    api.apply(quota)
    replica.watch()

    replica.ask(job(8))

    found: Any = api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", "research"]["status"]
    assert [each["object"] for each in found["charges"]] == ["Job.batch/ml/train", "Job.batch/ml/strange"]


def test_a_pod_that_is_charged_beyond_its_workload_is_charged_once(
    api: MemoryApi, replica: Replica, clock: Clock
) -> None:
    made = api.apply(job(8))
    replica.watch()
    replica.reconciler.reconcile()
    first = api.apply(owned(pod(8, name="a"), made))
    replica.watch()
    extra = owned(pod(8, name="b"), made)
    assert replica.ask(extra) is None
    api.apply(extra)
    clock.now += RESERVATION
    settle(replica)
    assert charges(api) == {"Job.batch/ml/train": 8, "Pod/ml/b": 8}

    api.remove(first)
    settle(replica)
    assert charges(api) == {"Job.batch/ml/train": 8}


def settle(replica: Replica) -> None:
    for _ in range(3):
        replica.watch()
        replica.reconciler.reconcile()


def namespace_of(value: paths.Object) -> str:
    metadata: Any = value["metadata"]
    return str(metadata["namespace"])


def name_of(value: paths.Object) -> str:
    metadata: Any = value["metadata"]
    return str(metadata["name"])
