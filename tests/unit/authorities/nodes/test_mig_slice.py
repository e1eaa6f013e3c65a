"""The policies see MIG from a manifest and usher.yaml."""

from typing import Any

import orjson
import pytest

from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models, sections
from usher.config import pools as config_pools
from usher.policy.input import document as input_document
from usher.workloads.normalise import normalise

A100_40 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}


def facts(
    limits: dict[str, int], *, selector: dict[str, str] | None = None, config: models.Config | None = None
) -> Any:
    """The facts about MIG in the document of a pod with one container."""
    config = config or models.Config()
    vocabulary = Vocabulary(config.accelerators)
    value: paths.Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "research-nlp"},
        "spec": {
            "nodeSelector": {**(selector or {})},
            "containers": [{"name": "main", "resources": {"limits": {**limits}}}],
        },
    }
    workload = normalise(value, vocabulary=vocabulary)
    assert workload is not None
    known = Knowledge(facts=Store(), config=config, vocabulary=vocabulary)
    (pod_set,) = orjson.loads(input_document.Documents(known).build(workload))["podSets"]
    return pod_set.get("mig")


def pools(*selectors: dict[str, str], resource: str) -> models.Config:
    return models.Config(
        pools=[
            config_pools.Pool(name=f"pool-{index}", node_selector=selector, resources=[resource])
            for index, selector in enumerate(selectors)
        ]
    )


def boards(limits: dict[str, int], **more: Any) -> dict[str, int]:
    return {board["name"]: board["gpus"] for board in facts(limits, **more)["boards"]}


def test_a_pod_without_mig_slices_has_no_mig_facts() -> None:
    assert facts({"nvidia.com/gpu": 1}) is None
    assert facts({"nvidia.com/mig-1g.10gb": 0}) is None


def test_a_profile_comes_with_the_boards_that_have_it() -> None:
    assert facts({"nvidia.com/mig-1g.5gb.me": 1}) == {
        "profiles": {
            "nvidia.com/mig-1g.5gb.me": {
                "name": "1g.5gb+me",
                "slices": 1,
                "shared": False,
                "boards": ["A100-40"],
                "known": True,
                "whole": False,
            }
        },
        "misspelt": {},
        "boards": [{"name": "A100-40", "gpus": 1, "exact": True}],
    }


def test_a_profile_that_is_all_of_a_board_is_whole() -> None:
    assert facts({"nvidia.com/mig-2g.32gb": 1})["profiles"]["nvidia.com/mig-2g.32gb"]["whole"]
    assert not facts({"nvidia.com/mig-3g.40gb": 1})["profiles"]["nvidia.com/mig-3g.40gb"]["whole"]


def test_a_profile_of_no_board_is_known_where_usher_yaml_names_it() -> None:
    name = "nvidia.com/mig-1g.8gb"
    said: list[models.Config] = [
        models.Config(accelerators=sections.Accelerators(names=[name])),
        models.Config(accelerators=sections.Accelerators(resources={name: sections.Resource(unit="partition")})),
        pools(A100_40, resource=name),
    ]
    assert not facts({name: 1})["profiles"][name]["known"]
    assert [facts({name: 1}, config=config)["profiles"][name]["known"] for config in said] == [True] * 3


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nvidia.com/mig-1g.10gb+me", "nvidia.com/mig-1g.10gb.me"),
        ("nvidia.com/mig-1G.10GB.shared", "nvidia.com/mig-1g.10gb.shared"),
        ("nvidia.com/mig-1c.3g.20gb", "nvidia.com/mig-3g.20gb"),
        ("nvidia.com/mig-small", ""),
    ],
)
def test_a_misspelt_name_comes_with_what_was_meant(name: str, meant: str) -> None:
    assert facts({name: 1}) == {"profiles": {}, "misspelt": {name: meant}}


def test_a_name_that_usher_yaml_describes_is_not_misspelt() -> None:
    config = models.Config(accelerators=sections.Accelerators(names=["nvidia.com/mig-small"]))
    assert facts({"nvidia.com/mig-small": 1}, config=config) == {"profiles": {}, "misspelt": {}}


def test_shares_of_slices_place_nothing() -> None:
    found = facts({"nvidia.com/mig-1g.10gb.shared": 8})
    assert found["profiles"]["nvidia.com/mig-1g.10gb.shared"]["shared"]
    assert "boards" not in found


def test_the_gpus_are_counted_on_every_board_that_has_all_profiles() -> None:
    together = {"nvidia.com/mig-3g.40gb": 1, "nvidia.com/mig-1g.10gb": 4}
    assert boards(together) == {"A100-80": 1, "H100-80": 1}
    assert boards({"nvidia.com/mig-3g.40gb": 2, "nvidia.com/mig-1g.10gb": 1}) == {"A100-80": 2, "H100-80": 2}
    assert boards({"nvidia.com/mig-1g.5gb": 1, "nvidia.com/mig-1g.6gb": 1}) == {}


def test_a_mix_that_is_too_large_to_search_gets_a_bound() -> None:
    found = facts({"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-2g.20gb": 9})
    assert {board["exact"] for board in found["boards"]} == {False}


def test_the_node_selector_tells_the_board() -> None:
    assert boards({"nvidia.com/mig-1g.10gb": 5}) == {"A100-40": 2, "A100-80": 1, "H100-80": 1}
    assert boards({"nvidia.com/mig-1g.10gb": 5}, selector=A100_40) == {"A100-40": 2}


def test_a_selected_board_without_the_profile_tells_nothing_of_where_it_fits() -> None:
    found = facts({"nvidia.com/mig-1g.5gb": 1}, selector=H100)
    assert found["selectedBoard"] == "H100-80"
    assert found["boards"] == [{"name": "A100-40", "gpus": 1, "exact": True}]


def test_nodes_whose_gpus_are_slices_tell_the_profile() -> None:
    found = facts({"nvidia.com/gpu": 1}, selector={"nvidia.com/gpu.product": "NVIDIA-A30-MIG-1g.6gb-SHARED"})
    assert found == {
        "profiles": {},
        "misspelt": {},
        "selectedBoard": "A30-24",
        "selectedProfile": {
            "name": "1g.6gb",
            "slices": 1,
            "shared": True,
            "boards": ["A30-24"],
            "known": True,
            "whole": False,
        },
    }


def test_nodes_that_are_not_divided_alike_tell_no_profile() -> None:
    found = facts({"nvidia.com/gpu": 1}, selector={"nvidia.com/gpu.product": "NVIDIA-A30-MIG-INVALID"})
    assert found == {"profiles": {}, "misspelt": {}, "selectedBoard": "A30-24"}


def test_pools_tell_the_boards_where_each_of_them_tells_its_own() -> None:
    name = "nvidia.com/mig-1g.10gb"
    both = pools(A100_40, {**A100_40, "zone": "b"}, resource=name)
    one_untold = pools(A100_40, {"zone": "b"}, resource=name)
    one_unknown = pools(A100_40, {"nvidia.com/gpu.product": "NVIDIA-R100"}, resource=name)
    assert boards({name: 1}, config=both) == {"A100-40": 1}
    assert boards({name: 1}, config=one_untold).keys() == {"A100-40", "A100-80", "H100-80"}
    assert boards({name: 1}, config=one_unknown).keys() == {"A100-40", "A100-80", "H100-80"}


def test_the_offered_slices_are_listed_if_any_pool_offers_slices() -> None:
    name = "nvidia.com/mig-1g.10gb"
    assert facts({name: 1}, config=pools(A100_40, {"zone": "b"}, resource=name))["offered"] == [name]
    assert "offered" not in facts({name: 1}, config=pools(A100_40, resource="nvidia.com/gpu"))


def test_names_too_long_to_be_remembered_are_answered_all_the_same() -> None:
    limits = {f"nvidia.com/mig-1g.{size}gb": 1 for size in range(1000, 1200)}
    assert len(facts(limits)["profiles"]) == 200
