"""A workload keeps its identity when it has grown, and its pods are counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import builders
from unit.workloads.growing_objects import (
    growth_of,
    horizontal_pod_autoscaler,
    readable_growth,
    role_scaler,
    scaled_object,
)
from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.kinds.reading.counts import Growth
from usher.workloads import grown_workloads
from usher.workloads.normalise import normalise


def workload(value: paths.Object) -> model.Workload | None:
    return normalise(value, vocabulary=VOCABULARY)


def pods(value: paths.Object, *growths: Growth) -> tuple[int, int | None, str]:
    """Least and most pods, and why."""
    found = grown_workloads.grown(value, growths, normalise=workload)
    assert found is not None
    return found.pods.minimum, found.pods.maximum, found.pods.reason


def scaler(kind: str, api_version: str, *, minimum: int = 1, maximum: int = 10) -> Growth:
    return readable_growth(
        horizontal_pod_autoscaler(kind=kind, api_version=api_version, minimum=minimum, maximum=maximum, name="hpa")
    )


DEPLOYMENT_SCALER = scaler("Deployment", "apps/v1")


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_the_target_is_met_by_group_kind_namespace_and_name_in_any_version(version: str) -> None:
    assert grown_workloads.is_target(
        DEPLOYMENT_SCALER, builders.custom(f"apps/{version}", "Deployment", {}, name="vllm")
    )


@pytest.mark.parametrize(
    "value",
    [
        builders.custom("example.com/v1", "Deployment", {}, name="vllm"),
        builders.custom("v1", "Deployment", {}, name="vllm"),
        builders.stateful_set(name="vllm"),
        builders.deployment(name="llm"),
        builders.deployment(name="vllm", namespace="other"),
        builders.deployment(name="vllm", namespace=None),
        builders.deployment(generate_name="vllm"),
        {},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": ["vllm"]},
        {"apiVersion": ["apps/v1"], "kind": {}, "metadata": {"name": {}}},
    ],
)
def test_any_other_object_is_not_the_target(value: paths.Object) -> None:
    assert not grown_workloads.is_target(DEPLOYMENT_SCALER, value)


def test_objects_without_a_namespace_meet_in_the_one_assumed() -> None:
    value = builders.deployment(name="vllm", namespace=None)
    scaling = growth_of(horizontal_pod_autoscaler(namespace=None), namespace="staging")

    assert grown_workloads.is_target(scaling, value, namespace="staging")
    assert grown_workloads.is_target(growth_of(horizontal_pod_autoscaler(namespace=None)), value)
    assert not grown_workloads.is_target(scaling, value, namespace="other")


def test_a_growth_without_a_target_meets_nothing() -> None:
    unread = growth_of(builders.custom("autoscaling/v2", "HorizontalPodAutoscaler", {"maxReplicas": 1}))

    assert not grown_workloads.is_target(
        unread, {"apiVersion": "", "kind": "", "metadata": {"name": "", "namespace": ""}}
    )


def lws(replicas: int) -> paths.Object:
    template: paths.Object = {"size": 4, "workerTemplate": builders.template()}
    spec: paths.Object = {"replicas": replicas, "leaderWorkerTemplate": template}
    return builders.custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, name="vllm")


@pytest.mark.parametrize(
    ("small", "grown", "api_version"),
    [
        (builders.deployment(replicas=1), builders.deployment(replicas=9), "apps/v1"),
        (builders.deployment(), builders.deployment(replicas=9), "apps/v1"),
        (builders.stateful_set(replicas=1), builders.stateful_set(replicas=9), "apps/v1"),
        (builders.pytorch_job(workers=1), builders.pytorch_job(workers=9), "kubeflow.org/v1"),
        (lws(1), lws(9), "leaderworkerset.x-k8s.io/v1"),
    ],
    ids=["Deployment", "Deployment without replicas", "StatefulSet", "PyTorchJob", "LeaderWorkerSet"],
)
def test_the_grown_target_differs_in_nothing_but_its_number(
    small: paths.Object, grown: paths.Object, api_version: str
) -> None:
    before = builders.replaced(small, "/kind", small["kind"])

    assert grown_workloads.with_replicas(small, scaler(str(small["kind"]), api_version), replicas=9) == grown
    assert small == before


@pytest.mark.parametrize(
    ("value", "scaling"),
    [
        (builders.ray_cluster(), scaler("RayCluster", "ray.io/v1")),
        (builders.custom("apps/v1", "Deployment", {}) | {"spec": None}, DEPLOYMENT_SCALER),
        (builders.deployment(replicas=2), replace(DEPLOYMENT_SCALER, held=True)),
    ],
    ids=["a kind without a scale", "nothing to set it in", "held"],
)
def test_what_cannot_grow_stays_the_object_that_it_is(value: paths.Object, scaling: Growth) -> None:
    assert grown_workloads.with_replicas(value, scaling, replicas=9) is value


def test_without_any_growth_the_objects_own_pods_count() -> None:
    value = builders.deployment(replicas=8, name="vllm")

    assert pods(value) == (8, 10, "2 more during a rollout")
    assert pods(value, scaler("StatefulSet", "apps/v1", maximum=50)) == (8, 10, "2 more during a rollout")


def test_an_autoscaler_replaces_the_number_of_its_target_and_the_rollout_comes_on_top() -> None:
    value = builders.deployment(replicas=3, name="vllm")

    assert pods(value, scaler("Deployment", "apps/v1", minimum=4, maximum=10)) == (
        4,
        13,
        "HorizontalPodAutoscaler hpa allows 10 replicas; 3 more during a rollout",
    )


def test_the_workers_of_a_job_grow_beside_its_master() -> None:
    value = builders.pytorch_job(workers=3, master=builders.template(), name="vllm")

    assert pods(value, scaler("PyTorchJob", "kubeflow.org/v1", minimum=1, maximum=15)) == (
        2,
        16,
        "HorizontalPodAutoscaler hpa allows 15 replicas",
    )


def test_of_several_autoscalers_the_widest_counts() -> None:
    value = builders.stateful_set(replicas=1, name="vllm")
    narrow = scaler("StatefulSet", "apps/v1", minimum=1, maximum=5)
    wide = scaler("StatefulSet", "apps/v1", minimum=3, maximum=20)

    expected = (1, 20, "HorizontalPodAutoscaler hpa allows 20 replicas")
    assert pods(value, narrow, wide) == expected
    assert pods(value, wide, narrow) == expected


def test_a_maximum_that_could_not_be_read_bounds_nothing() -> None:
    value = builders.deployment(name="vllm")
    unread = growth_of(horizontal_pod_autoscaler(minimum=2, maximum=None, name="hpa"))

    reason = "HorizontalPodAutoscaler hpa: its maximum could not be read"
    assert pods(value, unread) == (2, None, f"{reason}; 1 more during a rollout")
    assert pods(value, DEPLOYMENT_SCALER, unread) == (1, None, f"{reason}; 1 more during a rollout")


def test_a_held_target_keeps_its_pods() -> None:
    value = builders.stateful_set(replicas=3, name="vllm")
    paused = readable_growth(
        scaled_object(target={"kind": "StatefulSet"}, annotations={"autoscaling.keda.sh/paused": "true"})
    )

    assert pods(value, paused) == (3, 3, "")


def test_an_autoscaler_of_a_kind_without_a_scale_changes_nothing() -> None:
    value = builders.ray_cluster(builders.ray_group(replicas=2), name="vllm")

    assert pods(value, scaler("RayCluster", "ray.io/v1", maximum=50))[:2] == (3, 3)


def disaggregated_set(*roles: paths.Object) -> paths.Object:
    return builders.custom("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"roles": list(roles)}, name="llm")


EXTERNAL: paths.Object = {"name": "decode", "scaling": {"mode": "External"}, "spec": {"replicas": 1}}
STATIC: paths.Object = {"name": "prefill", "spec": {"replicas": 2}}


def test_a_role_scaler_settles_the_number_of_its_role() -> None:
    value = disaggregated_set(STATIC, EXTERNAL)

    grown = grown_workloads.with_replicas(value, readable_growth(role_scaler(4)), replicas=4)

    assert grown == disaggregated_set(STATIC, {"name": "decode", "spec": {"replicas": 4}})
    assert value == disaggregated_set(STATIC, EXTERNAL)


@pytest.mark.parametrize("spec", [None, [], 3])
def test_a_role_with_an_invalid_spec_cannot_be_set(spec: paths.Json) -> None:
    value = disaggregated_set(EXTERNAL | {"spec": spec})

    assert grown_workloads.with_replicas(value, readable_growth(role_scaler(4)), replicas=4) is value


def test_a_role_without_a_spec_gets_one() -> None:
    value = disaggregated_set({"name": "decode", "scaling": {"mode": "External"}})

    assert grown_workloads.with_replicas(value, readable_growth(role_scaler(4)), replicas=4) == disaggregated_set(
        {"name": "decode", "spec": {"replicas": 4}}
    )


def test_a_role_without_external_scaling_has_no_scaler() -> None:
    value = disaggregated_set(STATIC, EXTERNAL)

    assert grown_workloads.with_replicas(value, readable_growth(role_scaler(4, role="prefill")), replicas=4) is value
    assert grown_workloads.with_replicas(value, readable_growth(role_scaler(4, role="other")), replicas=4) is value


def test_an_autoscaler_of_a_role_reaches_the_set_through_the_scaler() -> None:
    scaling = scaler("DisaggregatedSetRoleScaler", "disaggregatedset.x-k8s.io/v1", minimum=2, maximum=6)
    between = role_scaler(1, name="vllm")
    assert grown_workloads.is_target(scaling, between)

    through = grown_workloads.pass_on_growth(scaling, readable_growth(between))

    value = disaggregated_set(STATIC, EXTERNAL)
    assert grown_workloads.is_target(through, value)
    assert (through.source, through.minimum, through.maximum) == (scaling.source, 2, 6)
    assert grown_workloads.with_replicas(value, through, replicas=6) == disaggregated_set(
        STATIC, {"name": "decode", "spec": {"replicas": 6}}
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["decode", "External"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["spec", "roles", "name", "scaling", "mode", "replicas", "pytorchReplicaSpecs", "Worker"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
GROWTHS = [
    DEPLOYMENT_SCALER,
    scaler("PyTorchJob", "kubeflow.org/v1"),
    scaler("RayCluster", "ray.io/v1"),
    readable_growth(role_scaler(2)),
]


@given(st.sampled_from(GROWTHS), JSON, JSON, st.integers(0, 100))
def test_any_target_is_survived_and_never_changed(
    scaling: Growth, spec: paths.Json, metadata: paths.Json, replicas: int
) -> None:
    api_version = f"{scaling.target.group}/v1"
    value: paths.Object = {
        "apiVersion": api_version,
        "kind": scaling.target.kind,
        "metadata": metadata if replicas % 2 else {"name": scaling.target.name, "namespace": "ml-research"},
        "spec": spec,
    }
    before = repr(value)

    grown_workloads.is_target(scaling, value)
    grown_workloads.with_replicas(value, scaling, replicas=replicas)
    found = grown_workloads.grown(value, [scaling], normalise=workload)

    assert repr(value) == before
    assert found is None or found.pods.maximum is None or found.pods.minimum <= found.pods.maximum


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_more_replicas_never_make_fewer_pods(few: int, many: int) -> None:
    value = builders.deployment(name="vllm", max_surge="30%")
    few, many = sorted((few, many))

    def most(replicas: int) -> int:
        found = workload(grown_workloads.with_replicas(value, DEPLOYMENT_SCALER, replicas=replicas))
        assert found is not None
        assert found.pods.maximum is not None
        return found.pods.maximum

    assert most(few) <= most(many)


def test_every_growth_is_a_value() -> None:
    assert grown_workloads.growth_of(horizontal_pod_autoscaler()) == grown_workloads.growth_of(
        horizontal_pod_autoscaler()
    )
    assert len({DEPLOYMENT_SCALER, scaler("Deployment", "apps/v1")}) == 1
