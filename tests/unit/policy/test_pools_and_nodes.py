"""Declared pools and the nodes of a cluster give a pod few findings together, and no pool too many."""

from typing import Any

import pytest

import builders
from usher import paths
from usher.cluster.facts.store import Store
from usher.config import models, pools
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

PRODUCT = "nvidia.com/gpu.product"
DECLARED = models.Config(
    pools=[
        pools.Pool(
            name="h100",
            node_selector={"pool": "h100"},
            taints=[pools.Taint(key="nvidia.com/gpu", value="present")],
        )
    ]
)
L4 = builders.node("l4-0", gpus=4, labels={PRODUCT: "NVIDIA-L4"}, taints=["nvidia.com/gpu=l4:NoSchedule"])
CPU = builders.node("cpu-0")


def evaluator(config: models.Config, *nodes: paths.Object) -> Evaluator:
    return assembly.embedded(config, facts=Store.of(nodes))


def pod(gpus: int = 1, **spec: Any) -> paths.Object:
    return builders.pod(builders.container(gpus=gpus), **spec)


def placement(made: Evaluator, value: paths.Object) -> dict[str, str]:
    """The findings about placement, with their outcomes."""
    decision = made.decide(Request(value=value))
    return {
        each.finding.check.rpartition("/")[2]: each.outcome.value
        for each in decision.judgements
        if each.finding.check.startswith("placement/")
    }


def mutated(made: Evaluator, value: paths.Object) -> paths.Object:
    spec = made.mutate(Request(value=value)).value["spec"]
    assert isinstance(spec, dict)
    return spec


@pytest.fixture(scope="module")
def in_ci() -> Evaluator:
    """Without facts."""
    return evaluator(DECLARED)


def test_a_model_of_no_declared_pool_is_one_finding_and_no_affinity(in_ci: Evaluator) -> None:
    selecting = pod(nodeSelector={PRODUCT: "NVIDIA-L4"})

    assert placement(in_ci, selecting) == {"no_pool_fits": "warn"}
    assert "affinity" not in mutated(in_ci, selecting)


def test_a_pod_that_selects_no_model_is_bound_to_the_declared_pool(in_ci: Evaluator) -> None:
    assert set(placement(in_ci, pod())) == {"gpu_toleration_present", "gpu_node_affinity_present"}
    assert "affinity" in mutated(in_ci, pod())


def test_nodes_show_a_model_that_no_pool_declares() -> None:
    selecting = pod(nodeSelector={PRODUCT: "NVIDIA-L4"})
    made = evaluator(DECLARED, L4, CPU)
    changed = mutated(made, selecting)

    assert changed["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert "affinity" not in changed
    assert placement(made, {**selecting, "spec": changed}) == {}


def test_without_declared_pools_a_pod_is_clean_on_existing_nodes() -> None:
    made = evaluator(models.Config(), L4, CPU)

    assert placement(made, pod()) == {"gpu_toleration_present": "warn"}
    assert placement(made, {**pod(), "spec": mutated(made, pod())}) == {}
    assert not any("node pool" in each.reason for each in made.decide(Request(value=pod())).unknowns)


def test_what_no_node_has_now_may_come_with_an_autoscaler() -> None:
    made = evaluator(models.Config(), L4, CPU)

    assert placement(made, pod(8)) == {"gpu_toleration_present": "warn", "no_node_ever_fits": "warn"}
    assert mutated(made, pod(8))["tolerations"]
