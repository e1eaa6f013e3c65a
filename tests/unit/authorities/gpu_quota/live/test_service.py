"""The service watches objects while a quota exists, and reads them again if their charge may change."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from unit.authorities.gpu_quota.live.memory_api import MemoryApi, Replica, charges, gpu_quota, job
from usher import paths
from usher.authorities.gpu_quota.live.service import ChargingService

pytestmark = pytest.mark.costly

JOBS = "/apis/batch/v1/jobs"
PODS = "/api/v1/pods"
BOUND = 20.0


@pytest.fixture
def api() -> MemoryApi:
    made = MemoryApi()
    made.apply(namespace("ml", team="a"))
    return made


@pytest.fixture
def replica(api: MemoryApi) -> Iterator[Replica]:
    made = Replica(api)
    made.facts.replace(("apiextensions.k8s.io", "CustomResourceDefinition"), [])
    made.watch()
    yield made
    made.close()


@pytest.fixture
def charging(api: MemoryApi, replica: Replica) -> Iterator[ChargingService]:
    made = ChargingService(api, lambda: api, replica.knowledge, namespace="gpu-usher")
    yield made
    made.stop()


def namespace(name: str, **labels: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {**labels}}}


def wait_until(true: Callable[[], Any]) -> None:
    until = time.monotonic() + BOUND
    while not true():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.01)


def test_without_a_quota_nothing_is_watched(api: MemoryApi, charging: ChargingService) -> None:
    charging.look()

    assert api.requests == []
    assert not charging.ready


def test_a_new_quota_is_charged_for_workloads_that_exist(
    api: MemoryApi, replica: Replica, charging: ChargingService
) -> None:
    api.apply(job(8))
    api.apply(gpu_quota())
    replica.watch()
    charging.look()
    wait_until(lambda: charging.ready)

    charging._reconciler.reconcile()

    assert charges(api) == {"Job.batch/ml/train": 8}


def test_kinds_are_watched_once_the_cluster_has_them(
    api: MemoryApi, replica: Replica, charging: ChargingService
) -> None:
    api.apply(gpu_quota())
    replica.watch()
    charging.look()
    wait_until(lambda: charging.ready)
    assert not any("pytorchjobs" in path for path in api.lists)
    jobs = api.lists[JOBS]

    replica.facts.put(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "pytorchjobs.kubeflow.org"},
        }
    )
    charging.look()

    wait_until(lambda: any("pytorchjobs" in path for path in api.lists))
    assert api.lists[JOBS] == jobs


def test_a_changed_quota_makes_all_objects_be_read_again_and_a_charge_does_not(
    api: MemoryApi, replica: Replica, charging: ChargingService
) -> None:
    api.apply(gpu_quota())
    replica.watch()
    charging.look()
    wait_until(lambda: charging.ready)
    replica.ask(job(8))
    replica.watch()
    charging.look()
    assert api.lists[JOBS] == 1

    api.apply(gpu_quota(hard={"slices": 100}))
    replica.watch()
    charging.look()
    wait_until(lambda: api.lists[JOBS] == 2)


def test_a_namespace_that_gets_another_quota_is_read_again(
    api: MemoryApi, replica: Replica, charging: ChargingService
) -> None:
    for team in ("a", "b"):
        selector = {"matchLabels": {"team": team}}
        api.apply(gpu_quota(team, namespaces=[], namespaceSelector=selector))
    api.apply(job(8))
    replica.watch()
    charging.look()
    wait_until(lambda: charging.ready)
    charging._reconciler.reconcile()
    assert charges(api, "a") == {"Job.batch/ml/train": 8}

    api.apply(namespace("empty", team="b"))
    replica.watch()
    charging.look()
    assert api.lists[JOBS] == 1

    api.apply(namespace("ml", team="b"))
    replica.watch()
    charging.look()
    wait_until(lambda: charging.ready and api.lists[JOBS] == 2)
    charging._reconciler.reconcile()
    assert charges(api, "a") == {}
    assert charges(api, "b") == {"Job.batch/ml/train": 8}


def test_with_the_last_quota_the_watches_end(api: MemoryApi, replica: Replica, charging: ChargingService) -> None:
    quota = api.apply(gpu_quota())
    replica.watch()
    charging.look()
    wait_until(lambda: charging.ready)

    api.remove(quota)
    replica.watch()
    charging.look()

    assert not charging.ready
    assert not charging._reconciler.reconcile()


def test_it_runs_and_stops_by_itself(api: MemoryApi, replica: Replica, charging: ChargingService) -> None:
    api.apply(job(8))
    api.apply(gpu_quota())
    replica.watch()
    charging.start()

    wait_until(lambda: charges(api) == {"Job.batch/ml/train": 8})

    wait_until(lambda: [each["reason"] for each in status(api).get("conditions", [])] == ["InForce"])
    began = time.monotonic()
    charging.stop()
    assert time.monotonic() - began < 5


def status(api: MemoryApi) -> Any:
    return api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", "research"]["status"]


def test_the_account_of_a_quota_is_deleted_after_its_declaration_has_gone(api: MemoryApi) -> None:
    now = [1_000_000.0]
    declaring = Replica(api, quotas=[{"name": "ci", "namespaces": ["*"], "limits": [{"hard": {"gpus": 8}}]}])
    declaring.reconciler.reconcile()
    assert declaring.ask(job(8)) is None
    replica = Replica(api)
    replica.watch()
    service = ChargingService(api, lambda: api, replica.knowledge, namespace="gpu-usher", clock=lambda: now[0])

    for _ in range(2):
        service.look()
        service.care()
        now[0] += 71

    assert [place for place in api.objects if place[1] == "configmaps"] == []
    service.stop()
    declaring.close()
