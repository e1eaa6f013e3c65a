"""A container that names an accelerator asks for one, also while a template has a placeholder for its amount."""

import pytest

import builders
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

AMOUNT = "/spec/containers/0/resources/limits/nvidia.com~1gpu"
ON_GPU_NODES: dict[str, paths.Json] = {
    "nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"},
    "runtimeClassName": "nvidia",
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
}


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return assembly.embedded(models.Config())


def pod(amount: str) -> paths.Object:
    value = builders.replaced(builders.pod(builders.container(gpus=1)), AMOUNT, amount)
    for field, each in ON_GPU_NODES.items():
        value = builders.replaced(value, f"/spec/{field}", each)
    return value


def codes(evaluator: Evaluator, value: paths.Object) -> set[str]:
    return {each.code for each in evaluator.decide(Request(value=value, place="check")).judgements}


def test_its_pod_belongs_on_accelerator_nodes(evaluator: Evaluator) -> None:
    assert codes(evaluator, pod("0")) >= {"USH202", "USH308"}
    assert not codes(evaluator, pod("${GPUS}")) & {"USH202", "USH308"}


def test_the_webhook_hides_no_device_from_it(evaluator: Evaluator) -> None:
    def changes(amount: str) -> list[str]:
        return [each["path"] for each in evaluator.patch(Request(value=pod(amount))).operations]

    assert "/spec/containers/0/env" in changes("0")
    assert "/spec/containers/0/env" not in changes("${GPUS}")
