"""Accounts in parts: written as little as possible, read as a whole, and never half."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

import builders
from unit.authorities.gpu_quota.live.earlier_replica import EarlierReplica
from unit.authorities.gpu_quota.live.memory_api import NAMESPACE, QUOTAS, MemoryApi, refusal
from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import entries, ledger
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live.account_store import (
    UPGRADE,
    Account,
    AccountStore,
    ConfigMapStore,
    StatusStore,
    Stored,
)
from usher.authorities.gpu_quota.live.accounts import UnusedParts
from usher.cluster.api import Answer
from usher.config import pools

G = 10**9
HARD = 1000
MOST_CHANGES = 4


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MOST_CHANGES", MOST_CHANGES)
    monkeypatch.setattr(entries, "MOST_BYTES", 500)


@pytest.fixture
def api() -> MemoryApi:
    made = MemoryApi()
    made.apply(builders.gpu_quota(gpus=HARD, namespaces=["ml"]))
    return made


def declared() -> Quota:
    spec = {"name": "research", "namespaces": ["ml"], "limits": [{"hard": {"gpus": HARD}}]}
    return gpu_quota_definitions.of_entry(pools.Quota.model_validate(spec))


def in_status(api: MemoryApi, clock: Callable[[], float] = lambda: 0.0) -> AccountStore[Account]:
    return StatusStore(api, "research", namespace=NAMESPACE, clock=clock)


def in_config_map(api: MemoryApi, clock: Callable[[], float] = lambda: 0.0) -> AccountStore[Account]:
    return ConfigMapStore(api, declared, namespace=NAMESPACE, clock=clock)


STORES = pytest.mark.parametrize("store_of", [in_status, in_config_map])


def entry(number: int, gpus: int = 1) -> Entry:
    return Entry(
        group="batch", kind="Job", namespace="ml", name=f"job-{number:03}", amounts={("",): {"gpus": gpus * G}},
        reserved_until=None,
    )  # fmt: skip


def charged(store: AccountStore[Account], *numbers: int, stored: Stored[Account] | None = None) -> Stored[Account]:
    """The account after a write that charges some Jobs."""
    stored = stored or store.read()
    account = stored.state
    for number in numbers:
        granted = ledger.charge(account.ledger, entry(number), account.quota.limits)
        assert isinstance(granted, ledger.Granted)
        account = account.charged(granted.ledger)
    written = store.write(replace(stored, state=account))
    assert written is not None
    return written


def released(store: AccountStore[Account], *numbers: int) -> None:
    stored = store.read()
    account = stored.state
    for number in numbers:
        account = account.charged(ledger.release(account.ledger, entry(number).key))
    assert store.write(replace(stored, state=account)) is not None


def fill(store: AccountStore[Account], number: int) -> None:
    for each in range(number):
        charged(store, each)


def part_names(api: MemoryApi) -> list[str]:
    return sorted(name for _, plural, _, name in api.objects if plural == "configmaps" and "charges" in name)


def status(api: MemoryApi) -> Any:
    return api.get(f"{QUOTAS}/research").value["status"]


@STORES
@pytest.mark.parametrize("number", [4, 5, 6, 40])
def test_a_large_account_is_read_as_it_was_written(
    store_of: Callable[[MemoryApi], AccountStore[Account]], number: int, api: MemoryApi
) -> None:
    fill(store_of(api), number)
    released(store_of(api), 0, 3)

    found = store_of(api).read().state.ledger
    assert set(found.entries) == {entry(each).key for each in range(number) if each not in (0, 3)}
    assert ledger.used(found) == {("",): {"gpus": (number - 2) * G}}


def test_a_charge_writes_only_what_changed_since_the_last_part(api: MemoryApi) -> None:
    store = in_status(api)
    fill(store, 50)

    assert len(status(api)["charges"]) <= MOST_CHANGES
    assert status(api)["used"] == [{"gpus": 50}]
    assert status(api)["sums"] == {"amounts": {"gpus": 50}}
    assert len(status(api)["parts"]) < 20


def test_an_account_whose_charges_all_ended_has_no_part_left(api: MemoryApi) -> None:
    store = in_status(api)
    fill(store, 30)
    released(store, *range(30))
    for _ in range(1200):
        charged(store, 1)
        released(store, 1)
    UnusedParts(api, namespace=NAMESPACE).delete()

    assert len(part_names(api)) <= 1
    assert sum(each["changes"] for each in status(api).get("parts", [])) <= 40


def test_a_replica_that_ends_between_part_and_head_leaves_the_account_as_it_was(api: MemoryApi) -> None:
    fill(in_status(api), MOST_CHANGES)
    stored = in_status(api).read()

    api.trouble = lambda method, _path: refusal(500, "gone") if method == "PUT" else None
    with pytest.raises(errors.ClusterError, match="cannot be written: gone"):
        charged(in_status(api), 10, 11)
    api.trouble = lambda _method, _path: None

    assert len(part_names(api)) > 0
    assert in_status(api).read().state.ledger == stored.state.ledger


def test_only_parts_that_no_write_can_name_any_more_are_deleted(api: MemoryApi) -> None:
    fill(in_status(api), MOST_CHANGES)
    api.trouble = lambda method, _path: refusal(500, "gone") if method == "PUT" else None
    with pytest.raises(errors.ClusterError):
        charged(in_status(api), 10, 11)
    api.trouble = lambda _method, _path: None
    unused = UnusedParts(api, namespace=NAMESPACE)

    assert unused.delete() == 0, "the write may still be on its way"
    orphans = part_names(api)
    charged(in_status(api), 20)
    named = {each["name"] for each in status(api)["parts"]}
    assert unused.delete() == len(orphans)
    assert set(part_names(api)) == named


def test_parts_of_a_quota_that_was_deleted_go_as_well(api: MemoryApi) -> None:
    fill(in_status(api), 20)
    api.remove(api.get(f"{QUOTAS}/research").value)

    UnusedParts(api, namespace=NAMESPACE).delete()
    assert part_names(api) == []


def test_config_maps_of_others_stay(api: MemoryApi) -> None:
    labels: paths.Object = {"gpu-usher.io/account": "x"}
    for name in ("of-somebody", "gpu-usher-charges-without-owner"):
        metadata: paths.Object = {"name": name, "namespace": NAMESPACE, "labels": labels}
        api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})

    assert UnusedParts(api, namespace=NAMESPACE).delete() == 0


def test_an_account_without_one_of_its_parts_has_what_its_head_has_and_is_counted_again(api: MemoryApi) -> None:
    fill(in_status(api), 22)
    name = status(api)["parts"][0]["name"]
    api.remove(api.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{name}").value)
    in_head = {each["object"] for each in status(api)["charges"]}

    lost = in_status(api).read()

    assert lost.state.counting
    assert set(lost.state.ledger.entries) == in_head
    assert ledger.used(lost.state.ledger) == {("",): {"gpus": len(in_head) * G}}
    charged(in_status(api), 50)
    assert (status(api)["version"], status(api)["counting"]) == (1, True)


def test_a_reader_whose_part_was_just_replaced_reads_the_head_again(api: MemoryApi) -> None:
    fill(in_status(api), 20)
    old = status(api)["parts"][-1]["name"]

    def replaced(method: str, path: str) -> Answer | None:
        if method == "GET" and path.endswith(old):
            api.trouble = lambda _method, _path: None
            for each in range(20, 60):
                charged(in_status(api), each)
            UnusedParts(api, namespace=NAMESPACE).delete()
        return None

    api.trouble = replaced
    assert len(in_status(api).read().state.ledger.entries) == 60
    assert old not in part_names(api)


def test_without_the_right_to_write_parts_the_head_keeps_all_entries(api: MemoryApi) -> None:
    api.trouble = lambda method, _path: refusal(403, "no") if method == "POST" else None
    fill(in_status(api), 20)

    assert len(status(api)["charges"]) == 20
    assert status(api)["version"] == 1


def test_with_the_earlier_definition_which_drops_new_fields_all_entries_stay_in_the_status(api: MemoryApi) -> None:
    put = api.put

    def pruning(path: str, value: paths.Object) -> Answer:
        kept: Any = value["status"]
        return put(path, {**value, "status": {key: kept[key] for key in ("version", "used", "charges")}})

    api.put = pruning  # type: ignore[method-assign]  # the API server prunes
    fill(in_status(api), 20)

    assert len(in_status(api).read().state.ledger.entries) == 20
    assert len(status(api)["charges"]) == 20
    assert part_names(api) == []


def test_an_account_of_an_earlier_release_gets_parts_only_after_the_upgrade(api: MemoryApi) -> None:
    earlier = EarlierReplica(api, clock=lambda: 0.0)
    assert all(earlier.ask(f"old-{number}", 1) for number in range(10))

    fill(in_status(api), 10)
    assert earlier.ask("old-10", 1), "both releases read and write it"
    assert len(in_status(api).read().state.ledger.entries) == 21
    later = in_status(api, lambda: UPGRADE + 1.0)
    charged(later, 100)

    assert status(api)["version"] == 2
    assert len(later.read().state.ledger.entries) == 22
    assert ledger.used(later.read().state.ledger) == {("",): {"gpus": 22 * G}}


def test_an_earlier_release_neither_charges_nor_overwrites_an_account_with_parts(api: MemoryApi) -> None:
    fill(in_status(api), 20)
    before = status(api)

    assert not EarlierReplica(api, clock=lambda: 0.0).ask("old", 1)
    assert status(api) == before


def test_a_status_whose_parts_were_dropped_is_not_taken_for_an_empty_account(api: MemoryApi) -> None:
    fill(in_status(api), 20)
    value: Any = api.get(f"{QUOTAS}/research").value
    del value["status"]["parts"]
    api.apply(value)

    with pytest.raises(errors.ClusterError, match="parts is not a list"):
        in_status(api).read()
