"""VLLMRuntime of the vLLM production stack (its CRD, and operator/internal/controller)."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths

DEPLOYMENT = "/spec/deploymentConfig"


def runtime(
    *,
    labels: dict[str, str] | None = None,
    vllm: dict[str, builders.JsonValue] | None = None,
    autoscaling: dict[str, builders.JsonValue] | None = None,
    **deployment: builders.JsonValue,
) -> paths.Object:
    spec: dict[str, builders.JsonValue] = {
        "deploymentConfig": {"deploymentStrategy": "Recreate", **deployment},
        "vllmConfig": vllm,
        "autoscalingConfig": autoscaling,
    }
    return builders.custom("production-stack.vllm.ai/v1alpha1", "VLLMRuntime", spec, labels=labels or {})


def test_the_name_of_the_resource_is_a_value_and_its_amount_is_another() -> None:
    value = runtime(resources={"gpu": "2", "gpuType": "nvidia.com/mig-1g.10gb"}, replicas=3)

    assert totals(value) == {"nvidia.com/mig-1g.10gb": ("6", "6")}
    assert pod_set(value).containers[0].places == {
        "requests": f"{DEPLOYMENT}/resources",
        "limits": f"{DEPLOYMENT}/resources",
    }


@pytest.mark.parametrize("gpu_type", [None, ""])
def test_without_a_name_the_gpus_are_those_of_nvidia(gpu_type: str | None) -> None:
    assert totals(runtime(resources={"gpu": "2", "gpuType": gpu_type})) == {builders.GPU: ("2", "2")}


def test_without_an_amount_a_runtime_asks_for_no_gpu() -> None:
    assert totals(runtime(resources={"gpuType": "nvidia.com/gpu", "gpu": ""})) == {}


def test_requests_and_limits_are_the_same() -> None:
    (container,) = pod_set(runtime(resources={"cpu": "8", "memory": "64Gi", "gpu": "1"})).containers

    assert {name: str(quantity) for name, quantity in container.requests.items()} == {
        "cpu": "8",
        "memory": str(64 * 2**30),
        "nvidia.com/gpu": "1",
    }
    assert container.limits == container.requests


def test_an_invalid_amount_is_unknown_at_its_place() -> None:
    assert unknowns(runtime(resources={"gpu": "two"})) == [
        (f"{DEPLOYMENT}/resources/gpu", "'two' is not a quantity; write a number, for example 1, 500m or 16Gi")
    ]
    assert workload(runtime(resources={"gpu": "1", "gpuType": 7})).totals == ()


def test_the_sidecar_has_resources_of_its_own() -> None:
    value = runtime(resources={"gpu": "1"}, sidecarConfig={"enabled": True, "resources": {"gpu": "1", "cpu": "2"}})
    main, sidecar = pod_set(value).containers

    assert (main.name, main.trains) == ("vllm", True)
    assert (sidecar.name, sidecar.trains, str(sidecar.requests["memory"])) == ("sidecar", False, str(128 * 2**20))
    assert totals(value) == {builders.GPU: ("2", "2")}
    assert len(pod_set(runtime(sidecarConfig={"enabled": False})).containers) == 1


def test_fields_of_the_pod_stand_under_other_names() -> None:
    terms: builders.JsonValue = [builders.term(builders.expression("pool", "In", "h100"))]
    value = runtime(
        labels={"kueue.x-k8s.io/queue-name": "research"},
        vllm={"env": [{"name": "NCCL_DEBUG", "value": "INFO"}]},
        toleration=[{"key": "gpu"}],
        nodeSelectorTerms=terms,
        podAnnotations={"note": "x"},
    )
    found = pod_set(value)

    assert found.tolerations == ({"key": "gpu"},)
    assert found.has_required_affinity
    assert len(found.required_terms) == 1
    assert (found.labels, found.annotations) == ({"kueue.x-k8s.io/queue-name": "research"}, {"note": "x"})
    assert [variable.path for variable in found.containers[0].environment] == ["/spec/vllmConfig/env/0"]
    assert not found.changeable
    assert not pod_set(runtime()).has_required_affinity


def test_the_runtime_class_is_that_of_nvidia_unless_another_is_named() -> None:
    assert pod_set(runtime()).runtime_class_name == "nvidia"
    assert pod_set(runtime(runtimeClass="other")).runtime_class_name == "other"


@pytest.mark.parametrize(
    ("replicas", "strategy", "expected"),
    [(None, "Recreate", 1), (4, "Recreate", 4), (4, "RollingUpdate", 5), (4, None, 5), (5, None, 7), (0, None, 0)],
)
def test_a_rollout_makes_a_quarter_more_unless_it_takes_the_old_pods_away_first(
    replicas: int | None, strategy: str | None, expected: int
) -> None:
    assert counts(runtime(replicas=replicas, deploymentStrategy=strategy)) == [
        ("", DEPLOYMENT, 1 if replicas is None else replicas, expected)
    ]


@pytest.mark.parametrize(
    ("autoscaling", "expected"),
    [
        ({"enabled": False, "maxReplicas": 10}, model.Count(minimum=2, maximum=2)),
        ({"enabled": True, "maxReplicas": 10}, model.Count(minimum=1, maximum=10, reason="autoscaling", grown=10)),
        (
            {"enabled": True, "minReplicas": 0, "maxReplicas": 1},
            model.Count(minimum=0, maximum=2, reason="autoscaling"),
        ),
        ({"enabled": True}, model.Count(minimum=1, maximum=None, reason="autoscaling without maxReplicas")),
    ],
)
def test_autoscaling_sets_the_bounds(autoscaling: dict[str, builders.JsonValue], expected: model.Count) -> None:
    assert pod_set(runtime(replicas=2, autoscaling=autoscaling)).count == expected


def test_it_serves_and_its_pods_carry_its_labels() -> None:
    found = readable_workload(runtime())

    assert (found.role, found.queue_label_path) == (model.Role.INFERENCE, "/metadata")
