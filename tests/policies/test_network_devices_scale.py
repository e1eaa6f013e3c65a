"""Network devices of a fabric scale with the GPUs of a pod.

Every part of a node gets one, and no part takes those of the others.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import builders
import generated_examples
from acceptance import evaluator
from usher import paths
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

PRODUCT = {"nvidia.com/gpu.product": "NVIDIA-H200"}
LIMITS = "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits"
DEVICE = "vpc.amazonaws.com/efa"

quickly = settings(deadline=None, max_examples=generated_examples.up_to(60))
cards = st.integers(min_value=1, max_value=64)
nodes = st.integers(min_value=1, max_value=16)


def site(cards: int, per_node: int) -> Evaluator:
    gpu: dict[str, Any] = {"board": "H200-141", "perNode": per_node}
    return evaluator(
        {
            "pools": [
                {
                    "name": "h200",
                    "nodeSelector": PRODUCT,
                    "fabric": "rails",
                    "gpu": gpu,
                    "resources": ["nvidia.com/gpu", "nvidia.com/mig-1g.18gb", "nvidia.com/gpu.shared"],
                }
            ],
            "fabrics": {"rails": {"resources": {DEVICE: cards}}},
        }
    )


def given_to(at: Evaluator, limits: dict[str, int], annotations: dict[str, paths.Json] | None = None) -> int:
    """The devices that the webhook gives each worker of a job."""
    template = builders.template(builders.container("pytorch", limits=limits), nodeSelector=PRODUCT)
    if annotations:
        template["metadata"] = {"annotations": annotations}
    request = Request(value=builders.pytorch_job(template, workers=2), namespace="research")
    mutated = paths.resolve(at.mutate(request).value, LIMITS)
    assert isinstance(mutated, dict)
    return int(str(mutated.get(DEVICE, 0)))


@quickly
@given(cards=cards, per_node=nodes, gpus=nodes)
def test_a_pod_gets_the_part_of_its_gpus_rounded_down_and_at_least_one(cards: int, per_node: int, gpus: int) -> None:
    found = given_to(site(cards, per_node), {"nvidia.com/gpu": gpus})

    assert found == (cards if gpus >= per_node else max(1, cards * gpus // per_node))


@quickly
@given(cards=cards, per_node=nodes, data=st.data())
def test_pods_that_fill_a_node_find_enough_devices_where_each_gpu_has_one(
    cards: int, per_node: int, data: st.DataObject
) -> None:
    cards = max(cards, per_node)
    here, free, taken = site(cards, per_node), per_node, 0
    while free:
        gpus = data.draw(st.integers(min_value=1, max_value=free))
        taken += given_to(here, {"nvidia.com/gpu": gpus})
        free -= gpus

    assert taken <= cards


def test_four_cards_on_eight_gpus_leave_no_part_without_a_card() -> None:
    here = site(4, 8)

    assert [given_to(here, {"nvidia.com/gpu": gpus}) for gpus in (1, 2, 4, 6, 8, 16)] == [1, 1, 2, 3, 4, 4]


@quickly
@given(cards=cards, per_node=nodes, slices=nodes)
def test_mig_instances_get_one_device(cards: int, per_node: int, slices: int) -> None:
    assert given_to(site(cards, per_node), {"nvidia.com/mig-1g.18gb": slices}) == 1


@quickly
@given(cards=cards, per_node=nodes, shares=nodes)
def test_pods_that_share_gpus_take_no_device_from_those_beside_them(cards: int, per_node: int, shares: int) -> None:
    here = site(cards, per_node)

    assert given_to(here, {"nvidia.com/gpu.shared": shares}) == 0
    assert given_to(here, {"nvidia.com/gpu": 1}, {"gpu-fraction": "0.5"}) == 0
