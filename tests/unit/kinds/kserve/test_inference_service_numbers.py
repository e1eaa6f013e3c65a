"""How many pods an InferenceService has: modes, bounds, rollouts, canaries (docs/domain/kinds.md#kserve)."""

import pytest

import builders
from unit.kinds.kserve.inference_services import (
    MODE,
    SCALER,
    STANDARD,
    Spec,
    count,
    custom,
    predictor_of,
    runtime,
    served,
    service,
)
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher.kinds.reading.values import Objects


@pytest.mark.parametrize("annotations", [None, {MODE: "Knative"}, {MODE: "Serverless"}, {MODE: "something"}])
def test_nothing_bounds_a_component_in_knative_mode_without_max_replicas(annotations: dict[str, str] | None) -> None:
    found = predictor_of(service(custom(minReplicas=0), annotations=annotations)).count

    assert (found.minimum, found.maximum) == (0, None)
    assert "maxReplicas" in found.reason


def test_a_service_without_a_mode_names_knative_as_the_default() -> None:
    assert "KServe's default mode" in predictor_of(service()).count.reason
    assert "default" not in predictor_of(service(annotations={MODE: "Knative"})).count.reason


@pytest.mark.parametrize(
    ("lowest", "highest", "pods"),
    [(None, 3, (1, 3)), (2, 2, (2, 2)), (0, 4, (0, 4)), (5, 3, (3, 3)), (2, 0, (2, None))],
)
def test_knative_scales_between_the_bounds(lowest: int | None, highest: int, pods: tuple[int, int | None]) -> None:
    assert count(service(custom(minReplicas=lowest, maxReplicas=highest))) == pods


@pytest.mark.parametrize(("percent", "most"), [(None, 4), (100, 4), (10, 8), (0, 8)])
def test_the_revision_before_keeps_running_beside_a_canary_in_knative_mode(percent: int | None, most: int) -> None:
    assert count(service(custom(minReplicas=2, maxReplicas=4, canaryTrafficPercent=percent))) == (2, most)


@pytest.mark.parametrize("mode", ["Standard", "RawDeployment"])
@pytest.mark.parametrize(
    ("lowest", "highest", "pods"),
    [(None, None, (1, 2)), (0, None, (1, 2)), (3, None, (3, 4)), (2, 8, (2, 10)), (4, 2, (4, 5))],
)
def test_in_standard_mode_there_is_a_deployment_that_surges(
    mode: str, lowest: int | None, highest: int | None, pods: tuple[int, int]
) -> None:
    assert count(service(custom(minReplicas=lowest, maxReplicas=highest), annotations={MODE: mode})) == pods


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        ({"type": "Recreate"}, 4),
        ({"type": "RollingUpdate"}, 5),
        ({"rollingUpdate": {"maxSurge": 0}}, 4),
        ({"rollingUpdate": {"maxSurge": 3}}, 7),
        ({"rollingUpdate": {"maxSurge": "30%"}}, 6),
    ],
)
def test_the_deployment_strategy_says_how_far_it_surges(strategy: Spec, most: int) -> None:
    predictor = custom(minReplicas=4, deploymentStrategy=strategy)

    assert count(service(predictor, annotations=STANDARD)) == (4, most)


@pytest.mark.parametrize(
    ("scaler", "pods"), [("hpa", (1, 5)), ("keda", (0, 5)), ("none", (0, 0)), ("external", (0, None))]
)
def test_the_autoscaler_decides_what_the_bounds_mean(scaler: str, pods: tuple[int, int | None]) -> None:
    predictor = custom(minReplicas=0, maxReplicas=4)

    assert count(service(predictor, annotations={**STANDARD, SCALER: scaler})) == pods


def test_an_autoscaler_that_kserve_does_not_have_is_unknown() -> None:
    assert unknowns(service(annotations={**STANDARD, SCALER: "vpa"})) == [
        (
            "/metadata/annotations/serving.kserve.io~1autoscalerClass",
            "KServe has no autoscaler with this name; it has hpa, keda, external, none",
        )
    ]


def test_the_mode_in_which_it_runs_counts_before_the_one_that_it_asks_for() -> None:
    value = builders.replaced(service(annotations=STANDARD), "/status", {"deploymentMode": "Serverless"})

    assert count(value) == (1, None)


def test_model_mesh_serves_the_predictor_in_pods_of_its_own() -> None:
    value = service(served(None), annotations={MODE: "ModelMesh"}, transformer=custom(maxReplicas=2))

    assert counts(value) == [("predictor", "/spec/predictor", 0, 0), ("transformer", "/spec/transformer", 1, 2)]


@pytest.mark.parametrize(("text", "pods"), [("true", (0, 0)), ("True", (0, 0)), ("false", (1, None)), ("", (1, None))])
def test_a_stopped_service_has_no_pods(text: str, pods: tuple[int, int | None]) -> None:
    assert count(service(annotations={"serving.kserve.io/stop": text})) == pods


# Canaries


def test_canaries_have_their_share_of_the_pods_and_take_what_they_do_not_say() -> None:
    stable = served(model_fields={"resources": {"limits": {builders.GPU: 4}}}, minReplicas=4, nodeSelector={"a": "b"})
    canary: Spec = {"trafficPercent": 30, "predictor": {"name": "next", "model": {"storageUri": "hf://next"}}}
    value = service(stable, annotations=STANDARD, canary=[canary])
    found = readable_workload(value, objects=Objects([runtime()]))

    assert [(each.name, each.path, each.count.minimum, each.count.maximum) for each in found.pod_sets] == [
        ("predictor", "/spec/predictor", 2, 5),
        ("next", "/spec/canary/0/predictor", 2, 3),
    ]
    assert str(found.pod_sets[1].accelerators[builders.GPU]) == "4"
    assert found.pod_sets[1].node_selector == {"a": "b"}


def test_a_canary_may_say_how_many_pods_it_has() -> None:
    canary: Spec = {"trafficPercent": 1, "predictor": {"name": "next", "minReplicas": 3}}
    value = service(custom(minReplicas=4), annotations=STANDARD, canary=[canary])

    assert [each.count.minimum for each in readable_workload(value).pod_sets] == [1, 3]


def test_canaries_are_for_standard_mode() -> None:
    value = service(custom(), canary=[{"trafficPercent": 10, "predictor": custom(name="next")}])

    assert [name for name, *_ in counts(value)] == ["predictor"]


def test_there_is_an_end_to_canaries() -> None:
    canary: Spec = {"trafficPercent": 0, "predictor": custom(name="next")}
    found = workload(service(custom(), annotations=STANDARD, canary=[canary] * 100))

    assert len(found.pod_sets) < 20
    assert "/spec/canary" in [unknown.path for unknown in found.unknowns]
