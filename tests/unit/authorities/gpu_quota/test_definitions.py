"""A GPUQuota of the cluster and an entry of usher.yaml, read into the same value."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from usher import paths
from usher.accelerators import boards
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.definitions import Assumption, Limit, Malformed, Quota, Requirement
from usher.config import models
from usher.quantities import NANO

SPEC = """
namespaces: [research-*]
namespaceSelector:
  matchLabels: {tier: research}
  matchExpressions: [{key: frozen, operator: DoesNotExist}]
limits:
- hard: {gpus: 100, slices: "350500m", memoryGiB: "8000.5", profiles.1g.10gb+me: 14}
- hard: {gpus: 16}
  priorityClasses: [research-high]
assumes: {board: H100-80}
chargesSuspended: false
"""

NANOS_OF_SPEC = (
    Limit(
        hard={
            "gpus": 100 * NANO,
            "slices": 350_500 * 10**6,
            "memoryGiB": 8000 * NANO + NANO // 2,
            "profiles.1g.10gb+me": 14 * NANO,
        }
    ),
    Limit(hard={"gpus": 16 * NANO}, classes=("research-high",)),
)


def gpu_quota(spec: paths.Json) -> paths.Object:
    return {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "GPUQuota", "metadata": {"name": "research"}, "spec": spec}


def malformed(**changes: Any) -> Malformed:
    spec = {"namespaces": ["research-*"], "limits": [{"hard": {"gpus": 8}}], **changes}
    found = gpu_quota_definitions.of_object(gpu_quota(spec))
    assert isinstance(found, Malformed)
    return found


def test_all_that_a_quota_says_is_read() -> None:
    assert gpu_quota_definitions.of_object(gpu_quota(yaml.safe_load(SPEC))) == Quota(
        name="research",
        declared=False,
        namespaces=("research-*",),
        requirements=(
            Requirement(key="tier", operator="In", values=frozenset({"research"})),
            Requirement(key="frozen", operator="DoesNotExist", values=frozenset()),
        ),
        limits=NANOS_OF_SPEC,
        assumption=Assumption(board=boards.by_name("H100-80")),
        charges_suspended=False,
    )


def test_an_entry_of_usher_yaml_says_the_same_in_the_same_words() -> None:
    config = models.Config.model_validate({"quotas": [{"name": "research", **yaml.safe_load(SPEC)}]})
    in_cluster = gpu_quota_definitions.of_object(gpu_quota(yaml.safe_load(SPEC)))
    assert isinstance(in_cluster, Quota)

    (declared,) = map(gpu_quota_definitions.of_entry, config.quotas)

    assert declared == replace(in_cluster, declared=True)
    assert str(declared) == "quota research of usher.yaml"


def test_a_suspended_workload_is_charged_unless_the_quota_says_otherwise() -> None:
    found = gpu_quota_definitions.of_object(gpu_quota({"namespaces": ["x"], "limits": [{"hard": {"gpus": 0}}]}))

    assert isinstance(found, Quota)
    assert found.charges_suspended


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"limits": [{"hard": {"gpu": 8}}]}, "/spec/limits/0/hard/gpu"),
        ({"limits": [{"hard": {"profiles.1g.10gb.me": 8}}]}, "/spec/limits/0/hard/profiles.1g.10gb.me"),
        ({"limits": [{"hard": {"gpus": "many"}}]}, "/spec/limits/0/hard/gpus"),
        ({"limits": [{"hard": {"gpus": "8k"}}]}, "/spec/limits/0/hard/gpus"),
        ({"limits": [{"hard": {"gpus": 8.5}}]}, "/spec/limits/0/hard/gpus"),
        ({"limits": [{"hard": {"gpus": -1}}]}, "/spec/limits/0/hard/gpus"),
        ({"limits": [{"hard": {"gpus": True}}]}, "/spec/limits/0/hard/gpus"),
        ({"limits": [{"hard": {"gpus": 10**10}}]}, "/spec/limits/0/hard/gpus"),
        ({"limits": [{"hard": {}}]}, "/spec/limits/0/hard"),
        ({"limits": []}, "/spec/limits"),
        ({"limits": None}, "/spec/limits"),
        ({"limit": 8}, "/spec/limit"),
        ({"assumes": {"board": "A9000"}}, "/spec/assumes/board"),
        ({"assumes": {"board": "H100-80", "slices": 7}}, "/spec/assumes"),
        ({"assumes": {}}, "/spec/assumes"),
        ({"namespaceSelector": {"matchLables": {}}}, "/spec/namespaceSelector/matchLables"),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            "/spec/namespaceSelector/matchExpressions/0",
        ),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_place(changes: dict[str, Any], place: str) -> None:
    found = malformed(**changes)

    assert [pointer for pointer, _ in found.problems] == [place]
    assert found.namespaces == ("research-*",)


def test_the_reason_for_an_unknown_unit_lists_the_known_units() -> None:
    ((_, reason),) = malformed(limits=[{"hard": {"gpu": 8}}]).problems

    assert reason.startswith("'gpu' is not a unit of a quota; units are gpus, slices, memoryGiB, and profiles.")


def test_a_quota_for_no_namespaces_is_refused() -> None:
    found = gpu_quota_definitions.of_object(gpu_quota({"limits": [{"hard": {"gpus": 8}}]}))

    assert isinstance(found, Malformed)
    assert found.problems == (("/spec", "the quota is for no namespace; set namespaces or a namespaceSelector"),)
    assert found.namespaces is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["namespaces", "namespaceSelector", "limits", "assumes", "chargesSuspended", "other"]), JSON
    )
    | JSON
)
def test_a_hostile_object_is_malformed_and_never_an_exception(spec: Any) -> None:
    found = gpu_quota_definitions.of_object(gpu_quota(spec))

    assert isinstance(found, Quota) or found.problems


def test_assumptions_about_boards_without_mig_need_no_board_name() -> None:
    found = gpu_quota_definitions.of_object(
        gpu_quota({**yaml.safe_load(SPEC), "assumes": {"slices": 4, "memoryGiB": 16}})
    )

    assert isinstance(found, Quota)
    assert found.assumption.board is None


@pytest.mark.parametrize("metadata", [None, 7, {"name": 7}])
def test_a_quota_whose_metadata_cannot_be_read_has_no_name(metadata: Any) -> None:
    assert gpu_quota_definitions.of_object({**gpu_quota(yaml.safe_load(SPEC)), "metadata": metadata}).name == ""
