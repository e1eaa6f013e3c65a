"""The store of the quotas' accounts, which loses no write."""

from typing import Any

import pytest
from msgspec.structs import replace

import builders
from unit.authorities.gpu_quota.live.memory_api import MemoryApi
from usher import errors, paths
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live import account_store
from usher.authorities.gpu_quota.live.account_store import Account, AccountStore, ConfigMapStore, StatusStore, Stored
from usher.config import pools
from usher.kinds import registry

G = 10**9
NAMESPACE = "gpu-usher"


def declared() -> Quota:
    spec = {"name": "research", "namespaces": ["ml"], "limits": [{"hard": {"gpus": 8}}]}
    return gpu_quota_definitions.of_entry(pools.Quota.model_validate(spec))


def with_object(api: MemoryApi) -> StatusStore:
    api.apply(builders.gpu_quota(gpus=8, namespaces=["ml"], status={"conditions": []}))
    return StatusStore(api, "research", namespace=NAMESPACE)


def with_config_map(api: MemoryApi) -> ConfigMapStore:
    return ConfigMapStore(api, declared, namespace=NAMESPACE)


STORES = pytest.mark.parametrize("store_of", [with_object, with_config_map])


def charged(stored: Stored[Account], name: str, gpus: int) -> Stored[Account]:
    entry = Entry(
        group="batch",
        kind="Job",
        namespace="ml",
        name=name,
        amounts={("",): {"gpus": gpus * G}},
        reserved_until=100,
    )
    granted = ledger.charge(stored.state.ledger, entry, stored.state.quota.limits)
    assert isinstance(granted, ledger.Granted)
    return Stored(state=replace(stored.state, ledger=granted.ledger), version=stored.version)


@pytest.mark.parametrize(
    ("ours", "theirs", "later"),
    [
        ("10", "9", True),
        ("9", "10", False),
        ("9", "9", False),
        ("b", "a", False),
        ("", "1", False),
        ("9" * 5000, "1", True),
    ],
)
def test_a_version_is_later_if_its_number_is_greater(ours: str, theirs: str, later: bool) -> None:
    one: paths.Object = {"metadata": {"resourceVersion": ours}}
    other: paths.Object = {"metadata": {"resourceVersion": theirs}}

    assert account_store.is_later(one, other) == later


@pytest.mark.parametrize("metadata", [None, [], {}, {"resourceVersion": 7}])
def test_an_object_without_a_version_is_never_later(metadata: Any) -> None:
    assert not account_store.is_later({"metadata": metadata}, {"metadata": {"resourceVersion": "1"}})


def test_an_account_that_a_watch_has_shown_can_be_written() -> None:
    """Facts keep less than the object, but its name and its version."""
    api = MemoryApi()
    store = with_object(api)
    store.write(charged(store.read(), "a", 3))
    kept = registry.FACTS["gpu-usher.io", "GPUQuota"].keep(store.read().version)

    assert store.write(charged(store.watched(kept), "b", 2)) is not None
    assert {each.name for each in store.read().state.ledger.entries.values()} == {"a", "b"}
    assert store.write(charged(store.watched(kept), "c", 1)) is None


@STORES
def test_a_written_account_can_be_read(store_of: Any) -> None:
    store: AccountStore[Account] = store_of(MemoryApi())
    first = store.read()
    assert first.state.ledger == ledger.EMPTY

    written = store.write(charged(first, "a", 3))
    assert written is not None
    assert store.read().state.ledger.entries == written.state.ledger.entries
    assert ledger.used(store.read().state.ledger) == {("",): {"gpus": 3 * G}}


@STORES
def test_the_second_writer_of_a_version_writes_nothing(store_of: Any) -> None:
    """Also where both would be the first to write at all."""
    api = MemoryApi()
    ours: AccountStore[Account] = store_of(api)
    both = ours.read(), ours.read()

    assert ours.write(charged(both[0], "a", 3)) is not None
    assert ours.write(charged(both[1], "b", 3)) is None
    again = ours.write(charged(ours.read(), "b", 3))
    assert again is not None
    assert ledger.used(again.state.ledger) == {("",): {"gpus": 6 * G}}


@STORES
def test_what_a_later_version_wrote_is_neither_read_nor_written_over(store_of: Any) -> None:
    api = MemoryApi()
    store: AccountStore[Account] = store_of(api)
    store.write(charged(store.read(), "a", 3))
    stored: Any = next(iter(api.objects.values()))
    if "data" in stored:
        stored["data"]["account.json"] = '{"version": 99, "charges": []}'
    else:
        stored["status"]["version"] = 99

    with pytest.raises(errors.ClusterError, match="version 99"):
        store.read()


def test_an_account_that_was_deleted_meanwhile_is_created_again() -> None:
    api = MemoryApi()
    store = with_config_map(api)
    written = store.write(charged(store.read(), "a", 3))
    assert written is not None
    api.objects.clear()

    assert store.write(charged(written, "b", 3)) is None
    assert store.write(charged(store.read(), "b", 3)) is not None


def test_other_fields_of_a_status_stay() -> None:
    api = MemoryApi()
    store = with_object(api)
    store.write(charged(store.read(), "a", 3))

    (stored,) = api.objects.values()
    assert paths.resolve(stored, "/status/conditions") == []


def test_a_quota_that_does_not_exist_is_not_charged() -> None:
    with pytest.raises(errors.ClusterError, match="cannot be read: not found"):
        StatusStore(MemoryApi(), "research", namespace=NAMESPACE).read()


def test_an_account_that_is_not_json_is_named() -> None:
    api = MemoryApi()
    name = "gpu-usher-quota-research"
    metadata: paths.Object = {"name": name, "namespace": NAMESPACE}
    api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"account.json": "{"}})
    with pytest.raises(errors.ClusterError, match=r"gpu-usher-quota-research: account\.json is not JSON"):
        with_config_map(api).read()
