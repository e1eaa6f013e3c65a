"""Existing workloads are counted before a quota is enforced: for a new quota, and after its parts were removed."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import builders
from e2e import accounts, quota_site
from e2e.balancer import Endpoints, balancing
from e2e.cluster import ApiError, Cluster, wait_until
from e2e.processes import LOOPBACK
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.live.account_store import Account, StatusStore
from usher.authorities.gpu_quota.live.accounts import AccountWriter
from usher.cluster import connection
from usher.quantities import NANO

PODS = 409
ROOM = 2


@pytest.fixture
def account(cluster: Cluster) -> Iterator[Path]:
    with quota_site.account(cluster) as kubeconfig:
        yield kubeconfig


def create(cluster: Cluster, namespace: str, name: str) -> str:
    """Creates a pod with a GPU, which no scheduler looks at; returns why it was refused, or nothing."""
    pod = builders.pod(builders.container(gpus=1), name=name, namespace=namespace, schedulerName="absent")
    try:
        cluster.create(pod)
    except ApiError as error:
        return error.message
    return ""


def reason(cluster: Cluster, quota: str) -> str:
    conditions = quota_site.status(cluster, quota).get("conditions", [])
    return "".join(str(each["reason"]) for each in conditions)


def seen_until_in_force(cluster: Cluster, quota: str) -> list[tuple[str, int]]:
    """The reasons of the condition with the used GPUs, until the quota is in force."""
    seen: list[tuple[str, int]] = []
    end = time.monotonic() + 60
    while not seen or seen[-1][0] != "InForce":
        assert time.monotonic() < end, seen
        value = quota_site.status(cluster, quota)
        said = "".join(str(each["reason"]) for each in value.get("conditions", []))
        seen.append((said, int(value.get("used", [{}])[0].get("gpus", 0))))
        time.sleep(0.05)
    return seen


def test_existing_pods_are_counted_first_and_again_when_the_parts_are_gone(
    cluster: Cluster, namespace: str, account: Path, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda number: create(cluster, namespace, f"pod-{number:03}"), range(PODS)))
    assert set(made) == {""}
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    limit = {"hard": {"gpus": PODS + ROOM}}
    with quota_site.quota(cluster, namespace, limit) as quota:
        with quota_site.replica(tmp_path / "first", 0, account) as server, quota_site.asked(cluster, [server]):
            seen = seen_until_in_force(cluster, quota)
            assert seen[-1] == ("InForce", PODS), "it is not in force with less"
            assert {said for said, _ in seen} <= {"", "Counting", "InForce"}
            assert create(cluster, namespace, "one-more") == ""
            wait_until(lambda: quota_site.status(cluster, quota).get("parts"), description="the account has parts")

        cluster.delete_namespace(accounts.OF_QUOTAS)
        cluster.wait_until_gone("Namespace", accounts.OF_QUOTAS)
        cluster.ensure_namespace(accounts.OF_QUOTAS)
        accounts.granted(cluster, "base/quota-role.yaml")

        with quota_site.replica(tmp_path / "second", 0, account) as server, quota_site.asked(cluster, [server]):
            quota_site.wait_until_known([server])
            assert create(cluster, namespace, "the-last") == "", "it waits until everything is counted"
            assert f"{PODS + ROOM} used" in create(cluster, namespace, "too-much")
            wait_until(lambda: reason(cluster, quota) == "InForce", description="the quota is in force")
            assert quota_site.used(cluster, quota) == PODS + ROOM
            assert server.log("quota_counted")


def test_forty_charges_survive_an_api_server_that_flaps(cluster: Cluster, namespace: str, account: Path) -> None:
    """For half a second every connection is closed as soon as it is opened."""
    (port,) = [each for each in [urlsplit(cluster.server).port] if each is not None]
    endpoints = Endpoints()
    limit = {"hard": {"gpus": 40}}
    with quota_site.quota(cluster, namespace, limit) as quota, balancing(endpoints) as flapping:
        content = yaml.safe_load(account.read_text())
        content["clusters"][0]["cluster"]["server"] = f"https://{LOOPBACK}:{flapping}"
        kubeconfig = account.with_name("flapping.kubeconfig")
        kubeconfig.write_text(yaml.safe_dump(content))
        api = connection.connect(kubeconfig=kubeconfig, hurried=True)
        writer = AccountWriter(StatusStore(api, quota, namespace=accounts.OF_QUOTAS))

        began = time.monotonic()
        asked = [writer.change(charge(f"job-{number}"), within=20) for number in range(40)]
        time.sleep(0.5)
        endpoints.add(port)

        assert [each.result() for each in asked] == 40 * [True]
        assert time.monotonic() - began < 20
        assert quota_site.used(cluster, quota) == 40


def charge(name: str) -> Callable[[Account], tuple[Account, bool]]:
    entry = Entry(
        group="batch", kind="Job", namespace="ml", name=name, amounts={("",): {"gpus": NANO}}, reserved_until=None
    )

    def change(state: Account) -> tuple[Account, bool]:
        found = ledger.charge(state.ledger, entry, state.quota.limits)
        return (state.charged(found.ledger), True) if isinstance(found, ledger.Granted) else (state, False)

    return change
