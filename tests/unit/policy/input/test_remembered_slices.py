"""Slices of the cluster are remembered by the likeness of pods, and are those that each pod would get by itself."""

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
from builders import GPU
from unit.authorities.knowing import knowing
from unit.mutation import generated
from unit.workloads.normalised import VOCABULARY, workload
from usher import paths
from usher.authorities.authority import Case
from usher.facts.store import Store
from usher.policy.input.cluster import Cluster, Slices
from usher.workloads import fingerprints
from usher.workloads.normalise import normalise


def quota(used: int, *, hard: int = 32, namespace: str = "research") -> paths.Object:
    amounts: paths.Object = {f"requests.{GPU}": hard, "requests.cpu": "64"}
    value = builders.custom("v1", "ResourceQuota", {"hard": amounts}, name="quota", namespace=namespace)
    return {**value, "status": {"hard": amounts, "used": {f"requests.{GPU}": str(used)}}}


def limit_range(largest: int) -> paths.Object:
    limits: paths.Json = [{"type": "Container", "default": {"cpu": "1"}, "max": {GPU: largest}}]
    return builders.custom("v1", "LimitRange", {"limits": limits}, name="range", namespace="research")


def priority_class(value: int) -> paths.Object:
    made: paths.Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value}
    return {**made, "metadata": {"name": "high"}, "globalDefault": True}


def gpu_quota(gpus: int) -> paths.Object:
    spec: paths.Object = {"namespaces": ["research"], "limits": [{"hard": {"gpus": gpus}}]}
    return {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "GPUQuota", "metadata": {"name": "all"}, "spec": spec}


def everything() -> Store:
    return Store.of(
        [quota(0), limit_range(16), priority_class(7), gpu_quota(100), builders.node("a", gpus=8), builders.node("b")]
    )


CHANGES: list[Callable[[Store], None]] = [
    lambda store: store.put(quota(0)),
    lambda store: store.put(quota(31)),
    lambda store: store.put(quota(32)),
    lambda store: store.put(quota(0, hard=1)),
    lambda store: store.put(limit_range(16)),
    lambda store: store.put(limit_range(1)),
    lambda store: store.put(priority_class(1)),
    lambda store: store.put(gpu_quota(100)),
    lambda store: store.put(gpu_quota(1)),
    lambda store: store.put(builders.node("a", gpus=1)),
    lambda store: store.put(builders.node("a", gpus=8)),
    lambda store: store.remove(builders.node("a", gpus=8)),
    lambda store: store.put(builders.custom("v1", "Namespace", {}, name="research", namespace=None)),
]


def remembered(all_slices: Slices, value: paths.Object, facts: Store) -> Cluster | None:
    found = workload(value)
    return all_slices.of(Case(workload=found), knowing(facts), likeness=fingerprints.of_pod(value, found))


def pod(name: str = "a", **labels: str) -> paths.Object:
    return builders.pod(builders.container(gpus=8), name=name, namespace="research", labels=labels)


def test_pods_of_one_job_have_one_slice() -> None:
    all_slices, facts = Slices(), everything()
    ranked = {"training.kubeflow.org/replica-index": "7"}

    first = remembered(all_slices, pod("worker-0"), facts)

    assert first is not None
    assert remembered(all_slices, pod("worker-7", **ranked), facts) is first


def test_variables_tell_no_pods_apart_but_by_what_they_get_by_them() -> None:
    def having(name: str, value: str) -> paths.Object:
        return builders.replaced(pod(), "/spec/containers/0/env", [{"name": name, "value": value}])

    def key(value: paths.Object) -> bytes | None:
        return fingerprints.of_pod(value, workload(value))

    assert key(having("RANK", "0")) == key(having("RANK", "1")) == key(pod())


def test_a_pod_with_device_claims_is_not_remembered() -> None:
    claiming = builders.replaced(pod(), "/spec/resourceClaims", [{"name": "gpu", "resourceClaimName": "a"}])

    assert fingerprints.of_pod(claiming, workload(claiming)) is None


def test_a_pod_that_no_json_of_ours_can_hold_is_not_remembered() -> None:
    for odd in ("\ud800", 2**70):
        value = builders.replaced(pod(), "/spec/hostname", odd)
        assert fingerprints.of_pod(value, workload(value)) is None


def test_what_is_used_is_looked_at_anew_for_every_pod() -> None:
    """The quota controller writes it with every pod that starts, and no revision of the facts tells of it."""
    all_slices, facts = Slices(), everything()

    def verdicts() -> list[str]:
        found = (remembered(all_slices, pod(), facts) or {}).get("resourceQuotas", {})
        return [each["verdict"] for each in found.get("shortages", [])]

    assert verdicts() == []
    facts.put(quota(25))
    assert verdicts() == ["not now"]
    facts.put(quota(24))
    assert verdicts() == []


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    values=st.lists(
        generated.pods(gpus=st.sampled_from([0, 1, 8, "8", "x"]), garbage=True) | st.just(pod()), min_size=1, max_size=3
    ),
    steps=st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 2)), max_size=12),
)
def test_a_slice_is_that_of_the_pod_itself(
    values: list[paths.Object], steps: list[tuple[Callable[[Store], None], int]]
) -> None:
    """Whatever was asked before, and whatever has changed in the cluster since."""
    all_slices, facts = Slices(), everything()
    for change, index in steps:
        change(facts)
        value = values[index % len(values)]
        found = normalise(value, vocabulary=VOCABULARY, namespace="research")
        if found is None:
            continue
        expected = Slices().of(Case(workload=found), knowing(facts))
        for _ in range(2):
            assert (
                all_slices.of(Case(workload=found), knowing(facts), likeness=fingerprints.of_pod(value, found))
                == expected
            )
