"""Accounts of quotas that usher.yaml no longer declares are deleted, and no others."""

from collections.abc import Iterator
from typing import Any

import pytest

import builders
from clocks import Clock
from unit.authorities.gpu_quota.live.memory_api import MemoryApi, Replica, refusal
from usher import paths
from usher.authorities.gpu_quota.live.accounts import UndeclaredAccounts

RESERVATION = 70
"""Seconds, as the default of usher.yaml."""

DECLARED = [{"name": "ci", "namespaces": ["ml"], "limits": [{"hard": {"gpus": 8}}]}]


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000_000.0)


@pytest.fixture
def charged(clock: Clock) -> Iterator[MemoryApi]:
    """An API server with the account of quota `ci`."""
    api = MemoryApi()
    replica = Replica(api, clock=clock, quotas=DECLARED)
    replica.reconciler.reconcile()
    assert replica.ask(builders.pod(builders.container(gpus=2), name="a", namespace="ml")) is None
    yield api
    replica.close()


@pytest.fixture
def replica(charged: MemoryApi, clock: Clock) -> Iterator[Replica]:
    """A replica whose usher.yaml does not declare the quota."""
    made = Replica(charged, clock=clock)
    made.watch()
    yield made
    made.close()


def accounts(api: MemoryApi) -> list[str]:
    return [name for _, plural, _, name in api.objects if plural == "configmaps"]


def config_map(name: str, *, namespace: str = "gpu-usher", **data: str) -> paths.Object:
    metadata: paths.Object = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {**data}}


def test_an_account_is_deleted_once_no_replica_has_written_it_for_a_reservation(
    charged: MemoryApi, replica: Replica, clock: Clock
) -> None:
    assert replica.undeclared.delete() == 0
    clock.now += RESERVATION
    assert replica.undeclared.delete() == 0
    assert accounts(charged) == ["gpu-usher-quota-ci"]

    clock.now += 1
    assert replica.undeclared.delete() == 1
    assert accounts(charged) == []


def test_an_account_that_another_replica_still_writes_stays(charged: MemoryApi, replica: Replica, clock: Clock) -> None:
    replica.undeclared.delete()
    clock.now += RESERVATION + 1
    charging = Replica(charged, clock=clock, quotas=DECLARED)
    charging.ask(builders.pod(builders.container(gpus=2), name="b", namespace="ml"))

    assert replica.undeclared.delete() == 0
    assert accounts(charged) == ["gpu-usher-quota-ci"]
    charging.close()


def test_an_account_that_is_written_at_the_last_moment_stays(
    charged: MemoryApi, replica: Replica, clock: Clock
) -> None:
    replica.undeclared.delete()
    clock.now += RESERVATION + 1
    stored = charged.objects["/api/v1", "configmaps", "gpu-usher", "gpu-usher-quota-ci"]

    def writes_first(method: str, _path: str) -> None:
        if method == "DELETE":
            charged.apply(stored)

    charged.trouble = writes_first
    assert replica.undeclared.delete() == 0
    assert accounts(charged) == ["gpu-usher-quota-ci"]


def test_an_account_that_is_declared_again_stays(charged: MemoryApi, replica: Replica, clock: Clock) -> None:
    replica.undeclared.delete()
    clock.now += RESERVATION + 1
    again = Replica(charged, clock=clock, quotas=DECLARED)
    again.watch()

    assert again.undeclared.delete() == 0
    again.close()


@pytest.mark.parametrize(
    "other",
    [
        config_map("gpu-usher-quota-notes", text="of a user"),
        config_map("gpu-usher-config", **{"account.json": "{}"}),
        config_map("gpu-usher-quota-ci", namespace="ml", **{"account.json": "{}"}),
    ],
    ids=["no account", "another name", "another namespace"],
)
def test_other_config_maps_stay(other: paths.Object, clock: Clock) -> None:
    api = MemoryApi()
    api.apply(other)
    replica = Replica(api, clock=clock)
    replica.watch()

    for _ in range(2):
        assert replica.undeclared.delete() == 0
        clock.now += RESERVATION + 1
    assert len(accounts(api)) == 1
    replica.close()


@pytest.mark.parametrize("answer", [refusal(403, "forbidden"), refusal(500, "etcd is away")])
def test_an_account_that_cannot_be_deleted_is_tried_again(
    charged: MemoryApi, replica: Replica, clock: Clock, answer: Any
) -> None:
    replica.undeclared.delete()
    clock.now += RESERVATION + 1
    charged.trouble = lambda method, _path: answer if method == "DELETE" else None
    assert replica.undeclared.delete() == 0

    charged.trouble = lambda _method, _path: None
    assert replica.undeclared.delete() == 1


@pytest.fixture
def without_facts(charged: MemoryApi, clock: Clock) -> UndeclaredAccounts:
    """A server that may list only the ConfigMaps of its own accounts."""
    known = Replica(charged, clock=clock).knowledge()
    known.facts.lacks(("", "ConfigMap"))
    return UndeclaredAccounts(charged, lambda: known, namespace="gpu-usher", clock=clock)


def test_a_server_without_the_names_of_all_config_maps_lists_those_of_its_accounts(
    charged: MemoryApi, without_facts: UndeclaredAccounts, clock: Clock
) -> None:
    assert without_facts.delete() == 0
    clock.now += RESERVATION + 1

    assert without_facts.delete() == 1
    assert accounts(charged) == []


def test_the_list_is_asked_for_once_in_some_seconds(
    charged: MemoryApi, without_facts: UndeclaredAccounts, clock: Clock
) -> None:
    for _ in range(20):
        without_facts.delete()
        clock.now += 1

    assert charged.lists["/api/v1/namespaces/gpu-usher/configmaps"] == 2


def test_where_they_cannot_be_listed_nothing_is_deleted_and_nothing_forgotten(
    charged: MemoryApi, without_facts: UndeclaredAccounts, clock: Clock
) -> None:
    without_facts.delete()
    clock.now += RESERVATION + 1
    charged.trouble = lambda _method, path: refusal(403, "forbidden") if path.endswith("configmaps") else None
    assert without_facts.delete() == 0

    charged.trouble = lambda _method, _path: None
    assert without_facts.delete() == 1
