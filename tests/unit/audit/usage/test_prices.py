"""The price of a GPU by the rules of usher.yaml."""

from typing import Any

import pytest

from builders import usage as build
from usher.audit.gather import gpus
from usher.audit.gather.estate import CapacityType
from usher.audit.gather.gpus import NodeType
from usher.config.models import Prices


def rules(*each: dict[str, Any], **fields: Any) -> Prices:
    return Prices.model_validate({"rules": list(each), **fields})


H100 = NodeType(product=build.H100, capacity_type=CapacityType.SPOT, instance_type="p5.48xlarge", gpus=8)


@pytest.mark.parametrize(
    ("rule", "price"),
    [
        ({"perGpuHour": 2.5}, 2.5),
        ({"product": "nvidia-h100-*", "perGpuHour": 2.5}, 2.5),
        ({"product": "NVIDIA-H200-*", "perGpuHour": 2.5}, None),
        ({"instanceType": "p5.*", "perGpuHour": 2.5}, 2.5),
        ({"instanceType": "p4d.*", "perGpuHour": 2.5}, None),
        ({"capacityType": "spot", "perGpuHour": 2.5}, 2.5),
        ({"capacityType": "on-demand", "perGpuHour": 2.5}, None),
        ({"perNodeHour": 40}, 40 * 0.95 / 8),
    ],
)
def test_a_rule_prices_what_it_matches(rule: dict[str, Any], price: float | None) -> None:
    assert gpus.price_per_hour(rules(rule), H100) == (None if price is None else pytest.approx(price))


def test_the_first_rule_that_matches_decides() -> None:
    found = rules(
        {"product": "NVIDIA-A100-*", "perGpuHour": 1}, {"product": "*-H100-*", "perGpuHour": 2}, {"perGpuHour": 3}
    )

    assert gpus.price_per_hour(found, H100) == 2


def test_a_price_of_a_node_is_shared_by_its_gpus() -> None:
    found = rules({"perNodeHour": 100}, gpuShare=0.9)
    divided = build.node("n", product=build.A100, capacity={"nvidia.com/mig-3g.40gb": 16})

    assert gpus.price_per_hour(found, gpus.node_type_of(build.node("n", gpus=4))) == pytest.approx(22.5)
    # Two devices of 4/8 are a GPU.
    assert gpus.price_per_hour(found, gpus.node_type_of(divided)) == pytest.approx(90 / 8)
    # MIG may leave a part of a GPU unused, which the node costs all the same.
    left = build.node("n", product=build.A100, capacity={"nvidia.com/mig-3g.40gb": 15})
    assert gpus.price_per_hour(found, gpus.node_type_of(left)) == pytest.approx(90 / 8)
    # The GPUs of a node that is gone are not known.
    assert gpus.price_per_hour(found, NodeType(product=build.H100)) is None


def test_rules_that_match_nothing_and_boards_without_price_are_said() -> None:
    found = rules({"product": "NVIDIA-H800-*", "perGpuHour": 1}, {"product": "NVIDIA-A100-*", "perGpuHour": 2})
    seen = [H100, NodeType(product=build.A100), NodeType(product="")]

    unmatched, unpriced = gpus.price_problems(found, seen)

    assert unmatched == (
        "audit.prices.rules[0] matches no node (product NVIDIA-H800-*, instance type *, capacity type *). The GPUs "
        "are NVIDIA-A100-SXM4-80GB, NVIDIA-H100-80GB-HBM3"
    )
    assert unpriced == (
        "audit.prices has no price for GPUs of unknown product (unknown), NVIDIA-H100-80GB-HBM3 (spot): these "
        "GPU-hours count as not priced"
    )


def test_one_sentence_says_that_a_site_has_no_prices() -> None:
    assert list(gpus.price_problems(Prices(), [H100])) == [
        "audit.prices of usher.yaml has no rules, so GPU-hours are not priced"
    ]
    assert list(gpus.price_problems(Prices(), [])) == []
