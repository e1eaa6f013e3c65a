"""The charge of pods is computed once for all pods of one workload, and equals the charge of each pod alone."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
import generated_examples
from unit.policy.mutation import generated
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota.live.holdings import ObjectCharges, RememberedCharges
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models

GPU_QUOTA = builders.gpu_quota("all", 100)


def knowledge(*facts: paths.Object) -> Knowledge:
    return Knowledge(facts=Store.of(facts), config=models.Config(), vocabulary=Vocabulary(models.Config().accelerators))


def pod(name: str, *, gpus: int = 8, node: str = "") -> paths.Object:
    made = builders.pod(builders.container(gpus=gpus), name=name, namespace="ml", labels={"index": name})
    return builders.replaced(made, "/spec/nodeName", node) if node else made


def test_pods_that_differ_in_name_labels_and_node_share_a_charge_from_the_second_on() -> None:
    charges = RememberedCharges(ObjectCharges(known=knowledge(GPU_QUOTA)))

    first, second = charges.of(pod("a", node="gpu-0")), charges.of(pod("b", node="gpu-1"))

    assert first == second == {("",): {"gpus": 8 * 10**9}}
    assert charges.of(pod("c", node="gpu-2")) is second
    assert charges.of(pod("b", gpus=4)) == {("",): {"gpus": 4 * 10**9}}


def test_remembered_charges_follow_the_quotas() -> None:
    known = knowledge(GPU_QUOTA)
    charges = RememberedCharges(ObjectCharges(known=known))

    assert charges.of(pod("a"))
    known.facts.remove(GPU_QUOTA)
    assert charges.of(pod("a")) == {}


@pytest.mark.costly
@settings(deadline=None, max_examples=generated_examples.up_to(100), suppress_health_check=[HealthCheck.too_slow])
@given(values=st.lists(generated.any_manifests(), max_size=4))
def test_a_remembered_charge_equals_the_charge_of_the_object(values: list[paths.Object]) -> None:
    alone = ObjectCharges(known=knowledge(GPU_QUOTA))
    remembering = RememberedCharges(alone)

    for value in [*values, *values, *values]:
        assert remembering.of(value) == alone.of(value)
