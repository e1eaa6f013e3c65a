"""Rules see the namespaces of a GPUQuota, and the other quotas for them."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import workload
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case
from usher.authorities.gpu_quota import present as gpu_quota_present
from usher.authorities.gpu_quota.present import QuotaObject
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models

LIMITS: paths.Json = [{"hard": {"gpus": 8}}]


def gpu_quota(name: str = "mine", **spec: Any) -> paths.Object:
    return builders.gpu_quota(name, 8, **{"namespaces": None, **spec})


def namespace(name: str, **labels: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels)}}


def seen(value: paths.Object, *facts: paths.Object, config: models.Config | None = None) -> QuotaObject | None:
    config = config or models.Config()
    known = Knowledge(facts=Store.of(facts), config=config, vocabulary=Vocabulary(config.accelerators))
    return gpu_quota_present.quota_object_slice(Case(workload=workload(value)), known)


def test_a_quota_with_namespaces_of_its_own() -> None:
    other = gpu_quota("other", namespaces=["web"])

    assert seen(gpu_quota(namespaces=["ml-*"]), other, namespace("ml-a"), namespace("web")) == {
        "holds": True,
        "rivals": [],
    }


def test_quotas_that_hold_for_the_same_namespaces_are_named_with_some_of_these() -> None:
    by_label = gpu_quota("gold", namespaceSelector={"matchLabels": {"tier": "gold"}})
    there = [namespace(f"ml-{number}", tier="gold") for number in range(8)]

    found = seen(gpu_quota(namespaces=["ml-*"]), by_label, namespace("ml-x"), *there)

    assert found is not None
    assert found["rivals"] == [{"name": "GPUQuota gold", "namespaces": [f"ml-{number}" for number in range(5)]}]


def test_a_quota_does_not_rival_itself_but_rivals_an_entry_of_usher_yaml_with_its_name() -> None:
    declared = {"quotas": [{"name": "mine", "namespaces": ["*"], "limits": LIMITS}]}
    mine = gpu_quota(namespaces=["ml-*"])

    assert seen(mine, mine, namespace("ml-a")) == {"holds": True, "rivals": []}
    found = seen(mine, mine, namespace("ml-a"), config=models.Config.model_validate(declared))
    assert found == {"holds": True, "rivals": [{"name": "quota mine of usher.yaml", "namespaces": ["ml-a"]}]}


def test_a_quota_whose_patterns_and_labels_match_no_namespace_does_not_hold() -> None:
    quota = gpu_quota(namespaces=["ml-*"], namespaceSelector={"matchLabels": {"tier": "gold"}})

    found = seen(quota, namespace("ml-a"), namespace("web", tier="gold"))

    assert found is not None
    assert found["holds"] is False


def test_kinds_that_the_facts_lack_are_not_guessed() -> None:
    mine = gpu_quota(namespaces=["ml-*"])

    assert seen(mine, gpu_quota("other", namespaces=["ml-*"])) == {}
    assert seen(mine, namespace("ml-a")) == {"holds": True}


def test_another_quota_that_cannot_be_read_is_not_a_rival() -> None:
    odd = gpu_quota("odd", namespaces=["ml-*"], limits="many")

    assert seen(gpu_quota(namespaces=["ml-*"]), odd, namespace("ml-a")) == {"holds": True, "rivals": []}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"namespaces": "ml-*"},
        {"namespaces": ["ml-*", 7]},
        {"namespaces": ["ml-*"], "namespaceSelector": "all"},
        {"namespaces": ["ml-*"], "namespaceSelector": {"matchLabels": {"tier": 1}}},
        {"namespaces": ["ml-*"], "namespaceSelector": {"matchExpressions": [{"key": "tier", "operator": "Like"}]}},
    ],
)
def test_a_quota_that_cannot_be_read_has_no_slice(spec: dict[str, paths.Json]) -> None:
    value = builders.replaced(gpu_quota(), "/spec", {"limits": LIMITS, **spec})

    assert seen(value, namespace("ml-a")) is None


def test_other_objects_have_no_slice() -> None:
    assert seen(builders.pod(), namespace("ml-a")) is None
