"""A large account in a real API server: its parts, with the rights of the server alone, and what becomes of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e import accounts, quota_site
from e2e.cluster import ApiError, Cluster, Object, wait_until
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live.account_store import Account, StatusStore
from usher.authorities.gpu_quota.live.accounts import AccountWriter, UnusedParts
from usher.cluster import connection
from usher.cluster.connection import Api
from usher.quantities import NANO

ENTRIES = 1_000
WITHIN = 60.0


@pytest.fixture
def api(cluster: Cluster) -> Iterator[Api]:
    """The API server, with the rights of the server's account."""
    with quota_site.account(cluster) as kubeconfig:
        yield connection.connect(kubeconfig=Path(kubeconfig))


def charge(name: str, most: int) -> Callable[[Account], tuple[Account, bool]]:
    entry = Entry(
        group="batch", kind="Job", namespace="ml", name=name, amounts={("",): {"gpus": NANO}}, reserved_until=None
    )

    def change(account: Account) -> tuple[Account, bool]:
        assert ledger.used(account.ledger).get(("",), {}).get("gpus", 0) <= most * NANO
        outcome = ledger.charge(account.ledger, entry, account.quota.limits)
        if isinstance(outcome, ledger.Granted):
            return account.charged(outcome.ledger), True
        return account, False

    return change


def parts(cluster: Cluster) -> list[Object]:
    found = cluster.objects("ConfigMap", namespace=accounts.OF_QUOTAS)
    return [each for each in found if each["metadata"]["name"].startswith("gpu-usher-charges-")]


def test_three_writers_fill_a_large_account_exactly_and_it_leaves_nothing_behind(
    cluster: Cluster, namespace: str, api: Api
) -> None:
    with quota_site.quota(cluster, namespace, {"hard": {"gpus": ENTRIES}}) as name:
        writers = [AccountWriter(StatusStore(api, name, namespace=accounts.OF_QUOTAS)) for _ in range(3)]
        asked = [
            writers[number % 3].change(charge(f"job-{number:05}", ENTRIES), within=WITHIN)
            for number in range(ENTRIES + 200)
        ]
        granted = sum(future.result() for future in asked)

        assert granted == ENTRIES
        assert quota_site.used(cluster, name) == ENTRIES
        status = quota_site.status(cluster, name)
        assert len(status["charges"]) < ENTRIES
        found = StatusStore(api, name, namespace=accounts.OF_QUOTAS).read().state.ledger
        assert len(found.entries) == ENTRIES

        UnusedParts(api, namespace=accounts.OF_QUOTAS).delete()
        named = {each["name"] for each in status["parts"]}
        assert named <= {each["metadata"]["name"] for each in parts(cluster)}
        with pytest.raises(ApiError, match="immutable"):
            cluster.replace({"apiVersion": "v1", "kind": "ConfigMap", **parts(cluster)[0], "data": {}})
    wait_until(lambda: not parts(cluster), description="the parts go with the quota", timeout=60)
