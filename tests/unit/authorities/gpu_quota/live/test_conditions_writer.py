"""The condition of each GPUQuota: written where it has changed, and nowhere else."""

from typing import Any

import pytest

import builders
from unit.authorities.gpu_quota.live.memory_api import MemoryApi, Replica, gpu_quota, refusal
from usher.authorities.gpu_quota.live.service import ConditionsWriter


@pytest.fixture
def api() -> MemoryApi:
    """With one namespace, so that no other is where quotas meet."""
    made = MemoryApi()
    made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
    made.apply(gpu_quota())
    return made


def describing(replica: Replica) -> ConditionsWriter:
    return ConditionsWriter(replica.api, replica.accounts, replica.knowledge, clock=lambda: 1_000_000.0)


def ready(api: MemoryApi, quota: str = "research") -> tuple[str, str]:
    found: Any = api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", quota]
    (condition,) = found["status"]["conditions"]
    return condition["status"], condition["reason"]


def test_a_condition_is_written_once_by_all_replicas_together(api: MemoryApi, replica: Replica) -> None:
    another = Replica(api)
    another.watch()

    assert [describing(replica).write(), describing(another).write()] == [1, 0]
    assert ready(api) == ("True", "InForce")
    replica.watch()
    api.requests.clear()
    assert describing(replica).write() == 0
    assert api.requests == []
    another.close()


def test_quotas_that_overlap_both_say_so_until_they_do_not(api: MemoryApi, replica: Replica) -> None:
    second = api.apply(gpu_quota("second"))
    replica.watch()
    assert describing(replica).write() == 2
    assert ready(api) == ready(api, "second") == ("False", "Overlapping")

    api.remove(second)
    replica.watch()
    describing(replica).write()
    assert ready(api) == ("True", "InForce")


def test_a_quota_that_cannot_be_read_gets_a_condition(api: MemoryApi, replica: Replica) -> None:
    api.apply(gpu_quota(hard={"gpu": 8}))
    replica.watch()

    describing(replica).write()

    assert ready(api) == ("False", "Malformed")


def test_charges_and_conditions_leave_each_other_alone(api: MemoryApi, replica: Replica) -> None:
    job = builders.gpu_job(8, name="train", namespace="ml")
    replica.ask(job)
    replica.watch()
    describing(replica).write()
    replica.ask(builders.replaced(job, "/metadata/name", "second"))

    found: Any = api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", "research"]["status"]
    assert [each["object"] for each in found["charges"]] == ["Job.batch/ml/second", "Job.batch/ml/train"]
    assert ready(api) == ("True", "InForce")


def test_a_condition_that_cannot_be_written_does_not_stop_the_others(api: MemoryApi, replica: Replica) -> None:
    api.apply(gpu_quota("a", namespaces=["other"]))
    replica.watch()
    api.trouble = lambda method, path: refusal(403, "no") if method == "PUT" and "/a/" in path else None

    assert describing(replica).write() == 1
    assert ready(api) == ("True", "InForce")
