"""The definition of GPUQuota, taken by a real API server, which refuses what our reader refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.cluster import ApiError, Cluster, wait_until
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Limit, Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Full, Ledger
from usher.quantities import NANO

DEFINITION = Path(__file__).parents[2] / "manifests" / "crds" / "gpu-quota-crd.yaml"
API_VERSION = "gpu-usher.io/v1alpha1"

Spec = dict[str, Any]

GOOD: Spec = {
    "namespaces": ["research-*"],
    "namespaceSelector": {
        "matchLabels": {"tier": "research"},
        "matchExpressions": [
            {"key": "frozen", "operator": "DoesNotExist"},
            {"key": "a/b", "operator": "In", "values": ["c"]},
        ],
    },
    "limits": [
        {
            "hard": {
                "gpus": 100,
                "slices": "350500m",
                "memoryGiB": "8000.5",
                "profiles.1g.10gb+me": 14,
                "profiles.1g.6gb-me": 0,
            }
        },
        {"hard": {"gpus": 16}, "priorityClasses": ["research-high"]},
    ],
    "assumes": {"board": "H100-80"},
    "chargesSuspended": False,
}


def changed(**changes: Any) -> Spec:
    return {key: value for key, value in {**GOOD, **changes}.items() if value is not None}


def limited(**hard: Any) -> Spec:
    return changed(limits=[{"hard": {key.replace("_", "."): value for key, value in hard.items()}}])


BAD: dict[str, Spec] = {
    "unknown-unit": limited(gpu=8),
    "unknown-profile": limited(profiles_1g_10gb_me=8),
    "no-unit": limited(),
    "no-limit": changed(limits=[]),
    "negative": limited(gpus=-1),
    "too-large": limited(gpus=10**10),
    "no-number": limited(gpus="many"),
    "suffix": limited(gpus="8k"),
    "boolean": limited(gpus=True),
    "no-namespace": changed(namespaces=None, namespaceSelector=None),
    "empty-list-of-namespaces": changed(namespaces=[], namespaceSelector=None),
    "wildcard": changed(namespaces=["research-?"]),
    "no-values": changed(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
    "values": changed(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}),
    "operator": changed(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
    "label": changed(namespaceSelector={"matchLabels": {"a": "b c"}}),
    "assumes-nothing": changed(assumes={}),
    "assumes-twice": changed(assumes={"board": "H100-80", "slices": 7}),
    "class": changed(limits=[{"hard": {"gpus": 8}, "priorityClasses": ["High Priority"]}]),
}


def gpu_quota(name: str, spec: Spec) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": "GPUQuota", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with our definition."""
    definition = yaml.safe_load(DEFINITION.read_text())
    cluster.create(definition)

    wait_until(lambda: cluster.create(gpu_quota("first", GOOD), dry_run=True), description="GPUQuotas to be served")
    yield cluster
    cluster.kubectl("delete", f"--filename={DEFINITION}", "--timeout=60s")


def test_a_good_quota_is_stored_as_it_is_and_read(site: Cluster) -> None:
    stored = site.create(gpu_quota("good", GOOD), strict=True)

    assert stored["spec"] == GOOD
    assert isinstance(gpu_quota_definitions.of_object(stored), Quota)


@pytest.mark.parametrize("name", BAD)
def test_what_our_reader_refuses_the_api_server_refuses_as_well(site: Cluster, name: str) -> None:
    assert isinstance(gpu_quota_definitions.of_object(gpu_quota(name, BAD[name])), gpu_quota_definitions.Malformed)

    with pytest.raises(ApiError) as refused:
        site.create(gpu_quota(name, BAD[name]))

    assert refused.value.status == 422


def test_a_suspended_workload_is_charged_by_default(site: Cluster) -> None:
    stored = site.create(gpu_quota("defaulted", changed(chargesSuspended=None)))

    assert stored["spec"]["chargesSuspended"] is True


def test_an_object_holds_as_many_charges_as_a_ledger_and_shows_the_used_amount(site: Cluster) -> None:
    quota = gpu_quota_definitions.of_object(site.create(gpu_quota("full", GOOD)))
    assert isinstance(quota, Quota)
    made = full_ledger()

    value = site.get("GPUQuota", "full", api_version=API_VERSION)
    value["status"] = gpu_quota_status.encode(made, quota.limits)
    path = f"/apis/{API_VERSION}/gpuquotas/full/status"
    stored = site.request("PUT", path, body=value).body

    assert gpu_quota_status.decode(stored["status"]) == gpu_quota_status.Decoded(ledger=made)
    assert len(made.entries) > 5000
    columns = site.kubectl("get", "gpuquotas", "full").splitlines()
    assert columns[0].split() == ["NAME", "HARD", "USED", "READY", "AGE"]
    assert f'"gpus":{len(made.entries) * 16}' in columns[1]


def full_ledger() -> Ledger:
    """As many workloads as there is room for, with names of usual length."""
    entries: dict[str, Entry] = {}
    size = 0
    for number in range(20_000):
        entry = Entry(
            group="kubeflow.org",
            kind="PyTorchJob",
            namespace="research-language",
            name=f"pretraining-large-{number:05}",
            amounts={("",): {"gpus": 16 * NANO, "memoryGiB": 1280 * NANO, "slices": 112 * NANO}},
            reserved_until=None,
        )
        size += ledger.entry_bytes(entry)
        if size > ledger.MOST_BYTES:
            made = ledger.of_entries(entries)
            assert isinstance(ledger.charge(made, entry, (Limit(hard={"gpus": 10**9 * NANO}),)), Full)
            return made
        entries[entry.key] = entry
    raise AssertionError("a ledger has no bound")
