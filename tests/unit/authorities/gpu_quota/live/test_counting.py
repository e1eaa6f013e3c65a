"""Existing objects are counted before a quota is enforced: for a new quota, and after charges were lost."""

from collections.abc import Iterator
from typing import Any

import pytest

import builders
from unit.authorities.gpu_quota.live.memory_api import (
    NAMESPACE,
    QUOTAS,
    MemoryApi,
    Replica,
    charges,
    gpu_quota,
    job,
    read_account,
)
from usher import errors
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import entries
from usher.authorities.gpu_quota.live import account_store, service
from usher.authorities.gpu_quota.live.service import ConditionsWriter
from usher.authorities.gpu_quota.status import find_condition

PODS = 409


@pytest.fixture
def api() -> MemoryApi:
    """A namespace with 409 pods of one GPU each, and a new quota of 410."""
    made = MemoryApi()
    made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
    for number in range(PODS):
        pod = builders.pod(builders.container(gpus=1), name=f"pod-{number:03}", namespace="ml")
        made.apply({**pod, "status": {"phase": "Running"}})
    made.apply(gpu_quota(hard={"gpus": PODS + 1}, status=None))
    return made


@pytest.fixture
def replica(api: MemoryApi) -> Iterator[Replica]:
    made = started(api)
    yield made
    made.close()


def started(api: MemoryApi) -> Replica:
    """A replica that lists the objects after it knows of the quota."""
    made = Replica(api)
    made.watch("Namespace", "GPUQuota")
    made.watch()
    return made


def reason(api: MemoryApi, replica: Replica) -> str:
    """The reason of the condition, after it was written."""
    ConditionsWriter(api, replica.accounts, replica.knowledge, clock=lambda: 0.0).write()
    replica.watch()
    found = find_condition(status(api))
    return "" if found is None else found.reason


def status(api: MemoryApi) -> Any:
    return api.get(f"{QUOTAS}/research").value.get("status")


def test_a_new_quota_says_that_it_counts_until_everything_is_charged(api: MemoryApi, replica: Replica) -> None:
    assert reason(api, replica) == "Counting"
    with pytest.raises(errors.CountingError, match="GPUQuota research: usher counts what exists"):
        replica.ask(job(1))
    assert reason(api, replica) == "Counting"

    assert replica.reconciler.reconcile() == PODS
    replica.watch()

    assert reason(api, replica) == "InForce"
    assert status(api)["used"] == [{"gpus": PODS}]
    assert replica.ask(job(1)) is None
    assert isinstance(replica.ask(job(1, name="other")), QuotaRefusal)


def test_a_quota_that_is_counted_in_several_writes_is_in_force_after_the_last(
    api: MemoryApi, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_MOST_SETTLED", 100)
    counting: list[tuple[int, bool]] = []

    def look(method: str, _path: str) -> None:
        if method == "PUT":
            account = read_account(api)
            counting.append((len(account.ledger.entries), account.counting))

    api.trouble = look

    replica.reconciler.reconcile()

    assert counting == [(0, True), (100, True), (200, True), (300, True), (400, True)]
    assert (len(charges(api)), read_account(api).counting) == (PODS, False)


def test_a_charge_that_does_not_fit_beside_those_so_far_is_refused(replica: Replica) -> None:
    with pytest.raises(errors.CountingError):
        replica.ask(job(1), dryRun=True)
    assert isinstance(replica.ask(job(PODS + 2)), QuotaRefusal)


def test_nothing_is_counted_before_all_objects_are_listed(api: MemoryApi, replica: Replica) -> None:
    replica.reconciler._observed = lambda _quota: False

    assert replica.reconciler.reconcile() == 0
    assert read_account(api).counting


def test_lost_parts_are_counted_again_from_what_exists(
    api: MemoryApi, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody removed the namespace of accounts, as an uninstallation does, and usher is installed again."""
    monkeypatch.setattr(entries, "MOST_CHANGES", 100)
    monkeypatch.setattr(account_store, "UPGRADE", 0)
    replica.reconciler.reconcile()
    assert replica.ask(job(1, name="before")) is None
    assert status(api)["parts"]
    remove_parts(api)
    second = started(api)

    assert reason(api, second) == "Counting"
    with pytest.raises(errors.CountingError):
        second.ask(job(1))
    second.reconciler.reconcile()
    second.watch()

    assert reason(api, second) == "InForce"
    assert len(charges(api)) == PODS
    assert second.ask(job(1)) is None
    assert isinstance(second.ask(job(1, name="other")), QuotaRefusal)
    second.close()


def test_while_parts_cannot_be_read_for_a_moment_the_condition_stays(
    api: MemoryApi, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MOST_CHANGES", 100)
    replica.reconciler.reconcile()
    replica.watch()
    assert reason(api, replica) == "InForce"
    second = started(api)
    api.trouble = lambda _method, path: (
        (_ for _ in ()).throw(errors.UnavailableError("busy")) if "charges" in path else None
    )

    assert reason(api, second) == "InForce"
    second.close()


def remove_parts(api: MemoryApi) -> None:
    for place in [place for place in api.objects if place[1] == "configmaps" and place[2] == NAMESPACE]:
        api.remove(api.objects[place])
