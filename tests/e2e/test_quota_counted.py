"""What exists is counted before a quota is enforced: for a new quota, and after its parts were removed."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import builders
from e2e import accounts, quota_site
from e2e.cluster import ApiError, Cluster, wait_until

PODS = 409
ROOM = 2


@pytest.fixture
def account(cluster: Cluster) -> Iterator[Path]:
    with quota_site.account(cluster) as kubeconfig:
        yield kubeconfig


def create(cluster: Cluster, namespace: str, name: str) -> str:
    """Creates a pod with a GPU; returns why it was refused, or nothing."""
    try:
        cluster.create(builders.pod(builders.container(gpus=1), name=name, namespace=namespace))
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
