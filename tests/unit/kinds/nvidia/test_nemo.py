"""NeMo services and NIMBuild (NVIDIA/k8s-nim-operator at f63f74d7)."""

import pytest

import builders
from unit.workloads.normalised import pod_set, totals, unknowns
from usher import model, paths
from usher.kinds.reading.values import Objects

API = "apps.nvidia.com/v1alpha1"
NEMO = ("NemoCustomizer", "NemoDatastore", "NemoEntitystore", "NemoEvaluator", "NemoGuardrail")


def service(kind: str = "NemoEvaluator", /, **spec: builders.JsonValue) -> paths.Object:
    return builders.custom(API, kind, spec, name="eval")


def build(profile: str | None = "fast", **spec: builders.JsonValue) -> paths.Object:
    cache = {"name": "llama", **({} if profile is None else {"profile": profile})}
    return builders.custom(API, "NIMBuild", {"nimCache": cache, **spec})


def cache(**config: str) -> Objects:
    value = builders.custom(API, "NIMCache", {"source": {"ngc": {}}}, name="llama")
    return Objects([{**value, "status": {"profiles": [{"name": "fast", "config": {**config}}]}}])


def gpus(number: int) -> builders.JsonValue:
    return {"limits": {builders.GPU: number}}


@pytest.mark.parametrize("kind", NEMO)
def test_the_container_gets_the_settings_of_the_spec(kind: str) -> None:
    value = service(kind, resources=gpus(1), replicas=2, tolerations=[{"key": "gpu"}], runtimeClass="nvidia")
    found = pod_set(value)

    assert totals(value) == {builders.GPU: ("2", "2")}
    assert [container.name for container in found.containers] == ["eval-ctr"]
    assert (found.tolerations, found.runtime_class_name) == (({"key": "gpu"},), "nvidia")
    assert found.pod_limits == {}
    assert not found.changeable


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, model.Count(minimum=1, maximum=1)),
        ({"scale": {"enabled": False, "hpa": {"maxReplicas": 4}}}, model.Count(minimum=1, maximum=1)),
        (
            {"scale": {"enabled": True, "hpa": {"maxReplicas": 4}}},
            model.Count(minimum=1, maximum=4, reason="autoscaling"),
        ),
        (
            {"scale": {"enabled": True, "hpa": {"minReplicas": 2}}},
            model.Count(minimum=2, maximum=None, reason="autoscaling without maxReplicas"),
        ),
    ],
)
def test_an_autoscaler_that_is_enabled_sets_the_replicas(
    spec: dict[str, builders.JsonValue], expected: model.Count
) -> None:
    assert pod_set(service(**spec)).count == expected


def test_a_build_asks_for_its_own_resources() -> None:
    value = build(resources=gpus(4))

    assert totals(value) == {builders.GPU: ("4", "4")}
    assert [container.name for container in pod_set(value).containers] == ["nim-build-ctr"]


@pytest.mark.parametrize("key", ["tensorParallelism", "tp"])
def test_a_build_that_asks_for_no_gpus_gets_those_of_its_profile(key: str) -> None:
    assert totals(build(), objects=cache(**{key: "8"})) == {builders.GPU: ("8", "8")}


@pytest.mark.parametrize("profile", ["fast", "other", None])
def test_what_a_profile_does_not_tell_is_unknown(profile: str | None) -> None:
    assert [path for path, _ in unknowns(build(profile), objects=cache())] == ["/spec/nimCache"]


def test_a_cache_that_is_not_known_is_unknown() -> None:
    assert unknowns(build()) == [
        (
            "/spec/nimCache/name",
            "NIMCache ml-research/llama is not known here: how many GPUs its pods get is not known",
        )
    ]
