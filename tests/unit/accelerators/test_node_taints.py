"""Which taints mark nodes with accelerators, and which say for whom nodes are."""

import pytest

from usher.accelerators import names, vocabulary
from usher.accelerators.names import GIVING
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import pool_fit
from usher.config import pools, sections

PLAIN = Vocabulary(sections.Accelerators())
RESOURCES = [
    known.name for entries in names.VENDORS.values() for known in entries if known.name and known.unit in GIVING
]


@pytest.mark.parametrize("name", [*RESOURCES, "nvidia.com/mig-1g.10gb", "amd.com/cpx_nps4"])
def test_a_taint_with_the_name_of_an_accelerator_resource_marks_accelerators(name: str) -> None:
    assert PLAIN.marks_accelerators(name, "")
    assert PLAIN.marks_accelerators(name, "present")


def test_the_usual_taint_of_every_known_class_marks_accelerators() -> None:
    usual = {PLAIN.taint_key(name) for name in vocabulary.device_class_names()} - {None}

    assert usual
    assert all(PLAIN.marks_accelerators(str(key), "") for key in usual)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sku", "gpu"),
        ("gpu", "true"),
        ("mig-enabled", "true"),
        ("nvidia.com/gpu.product", "NVIDIA-L4"),
        ("cloud.google.com/gke-accelerator", "nvidia-h100-80gb"),
        ("cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"),
        ("karpenter.k8s.aws/instance-gpu-manufacturer", "nvidia"),
        ("kubernetes.azure.com/accelerator", "nvidia"),
    ],
)
def test_taints_of_clouds_and_guides_mark_accelerators(key: str, value: str) -> None:
    assert PLAIN.marks_accelerators(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dedicated", "training"),
        ("team", "vision"),
        ("sku", "premium"),
        ("sku", ""),
        ("gpus", "true"),
        ("nvidia.com/reserved-for", "team-a"),
        ("cloud.google.com/gke-spot", "true"),
        ("cloud.google.com/gke-queued", "true"),
        ("cloud.google.com/compute-class", "training"),
        ("kubernetes.azure.com/scalesetpriority", "spot"),
        ("karpenter.sh/disrupted", ""),
        ("node-role.kubernetes.io/control-plane", ""),
        ("rdma/ib", "true"),
    ],
)
def test_taints_that_say_for_whom_nodes_are_do_not(key: str, value: str) -> None:
    assert not PLAIN.marks_accelerators(key, value)


def test_usher_yaml_adds_taints_of_the_site() -> None:
    site = Vocabulary(
        sections.Accelerators.model_validate(
            {"names": ["example.com/npu"], "taints": {"nvidia.com/": "example.com/big"}}
        )
    )

    assert site.marks_accelerators("example.com/big", "yes")
    assert site.marks_accelerators("example.com/npu", "")
    assert not PLAIN.marks_accelerators("example.com/big", "yes")


def test_a_mutation_tolerates_other_taints_only_with_their_value_and_only_for_pods_of_the_pool() -> None:
    mark, other = pools.Taint(key="nvidia.com/gpu"), pools.Taint(key="dedicated", value="training")

    assert pool_fit.toleration_operator(mark, PLAIN) == "Exists"
    assert pool_fit.toleration_operator(mark, PLAIN, for_these_pods=True) == "Exists"
    assert pool_fit.toleration_operator(other, PLAIN) is None
    assert pool_fit.toleration_operator(other, PLAIN, for_these_pods=True) == "Equal"
