"""`for` of pools and the section `gangs`: which pods a pool can be for."""

from typing import Any

import pydantic
import pytest

from usher.config import models, pools


def pool(use: dict[str, Any], **fields: Any) -> pools.Pool:
    return pools.Pool.model_validate({"name": "a", "nodeSelector": {"pool": "a"}, "for": use, **fields})


def test_a_pool_is_for_all_pods_unless_it_says_for_whom() -> None:
    assert pools.Pool(name="a", node_selector={"pool": "a"}).serves is None
    found = pool({"roles": ["training"], "minAcceleratorsPerPod": 8}).serves
    assert found == pools.PoolUse(roles=["training"], min_accelerators_per_pod=8)


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ({}, "the pool is for all pods; set roles, namespaces or a number of accelerators, or no for"),
        ({"minAcceleratorsPerPod": 8, "maxAcceleratorsPerPod": 4}, "swap minAcceleratorsPerPod"),
        ({"roles": ["trainer"]}, "Input should be"),
        ({"minAcceleratorsPerPod": -1}, "greater than or equal to 0"),
        ({"namespaces": ["ML"]}, "should match pattern"),
    ],
)
def test_a_use_that_no_pod_has_is_refused(use: dict[str, Any], reason: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=reason):
        pool(use)


def test_pods_larger_than_a_node_belong_on_no_pool() -> None:
    with pytest.raises(pydantic.ValidationError, match="at least 16 accelerators, but a node has 8; lower for"):
        pool({"minAcceleratorsPerPod": 16}, gpu={"perNode": 8})
    sliced = pool({"minAcceleratorsPerPod": 14}, gpu={"perNode": 8, "board": "A100-80", "migStrategy": "mixed"})
    assert sliced.serves is not None


def test_gangs_are_warned_of_different_boards_unless_the_site_narrows_them() -> None:
    assert models.Config().gangs.different_boards == "warn"
    assert models.Config.model_validate({"gangs": {"differentBoards": "narrow"}}).gangs.different_boards == "narrow"


def test_every_field_has_a_description() -> None:
    definitions = models.Config.model_json_schema(by_alias=True)["$defs"]

    assert definitions["Pool"]["properties"]["for"]["description"]
    for name in ("PoolUse", "Gangs"):
        assert all(field.get("description") for field in definitions[name]["properties"].values())
