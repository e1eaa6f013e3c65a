"""The charge of pods is computed once for all pods of one workload, and equals the charge of each pod alone."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
import generated_examples
from unit.policy import alike_pods
from unit.policy.mutation import generated
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota.live import holdings
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


def job(name: str, *, gpus: int = 8, active: int = 0) -> paths.Object:
    """A Job as the API server stores it, with its uid in its selector and in the labels of its pods."""
    labels = {"batch.kubernetes.io/controller-uid": f"uid-of-{name}", "job-name": name}
    template = builders.template(builders.container(gpus=gpus), restartPolicy="Never", labels=labels)
    made = builders.job(template, parallelism=2, completions=2, name=name, namespace="ml")
    spec, metadata = made["spec"], made["metadata"]
    assert isinstance(spec, dict)
    assert isinstance(metadata, dict)
    identity: paths.Object = {"uid": f"uid-of-{name}", "resourceVersion": str(active), "generation": active}
    selector: paths.Object = {"matchLabels": {"batch.kubernetes.io/controller-uid": f"uid-of-{name}"}}
    status: paths.Object = {"active": active, "startTime": f"2026-01-01T00:00:0{active}Z"}
    return {**made, "metadata": {**metadata, **identity}, "spec": {**spec, "selector": selector}, "status": status}


def test_jobs_that_differ_in_identity_and_status_share_a_charge_from_the_second_on() -> None:
    charges = RememberedCharges(ObjectCharges(known=knowledge(GPU_QUOTA)))

    first, second = charges.of(job("a")), charges.of(job("b", active=2))

    assert first == second == {("",): {"gpus": 16 * 10**9}}
    assert charges.of(job("c", active=1)) is second
    assert charges.of(job("c", gpus=4)) == {("",): {"gpus": 8 * 10**9}}


@pytest.mark.parametrize(
    "value",
    [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": "x", "spec": {}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": []},
        builders.replaced(job("a"), "/spec/template/spec/resourceClaims", [{"name": "gpu"}]),
        builders.replaced(job("a"), "/spec/template/spec/hostname", "\ud800"),
        builders.replaced(job("a"), "/spec/template/spec/hostname", "x" * 10_000),
    ],
)
def test_other_objects_are_read_each_time(value: paths.Object) -> None:
    assert holdings._workload_digest(value) is None


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


@settings(deadline=None, max_examples=generated_examples.up_to(200), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_jobs_that_differ_in_any_field_share_no_wrong_charge(data: st.DataObject) -> None:
    alone = ObjectCharges(known=knowledge(GPU_QUOTA))
    remembering, base = RememberedCharges(alone), job("a")

    for value in (base, base, data.draw(alike_pods.changed(base)), data.draw(alike_pods.changed(base)), base):
        assert [remembering.of(value) for _ in range(3)] == [alone.of(value)] * 3
