"""What an InferenceService takes from its runtime, and the runtimes themselves (docs/domain/kinds.md#kserve)."""

import pytest

import builders
from unit.kinds.kserve.inference_services import Spec, predictor_of, runtime, served, service
from unit.workloads.normalised import counts, readable_workload, unknowns
from usher.kinds.reading.values import Objects


def test_without_a_runtime_kserve_chooses_one_and_what_it_adds_is_unknown() -> None:
    ((path, reason),) = unknowns(service(served(None)))

    assert path == "/spec/predictor/model"
    assert "it names no runtime" in reason


def test_a_runtime_that_is_not_known_is_unknown_at_its_name() -> None:
    assert unknowns(service(served())) == [
        (
            "/spec/predictor/model/runtime",
            "runtime vllm is not known here, neither of the namespace nor the cluster: what it adds is not judged",
        )
    ]


@pytest.mark.parametrize("kind", ["ServingRuntime", "ClusterServingRuntime"])
def test_the_gpus_of_the_runtime_count_if_the_service_asks_for_no_gpu(kind: str) -> None:
    found = predictor_of(service(served()), runtime(builders.container("kserve-container", gpus=4), kind=kind))

    assert {name: str(quantity) for name, quantity in found.accelerators.items()} == {builders.GPU: "4"}
    assert [each.name for each in found.containers] == ["kserve-container"]


def test_a_runtime_of_the_namespace_comes_before_one_of_the_cluster() -> None:
    known = [
        runtime(builders.container("kserve-container", gpus=gpus), kind=kind)
        for kind, gpus in (("ClusterServingRuntime", 8), ("ServingRuntime", 2))
    ]

    assert str(predictor_of(service(served()), *known).accelerators[builders.GPU]) == "2"


def test_resources_of_the_service_override_those_of_the_runtime_one_by_one() -> None:
    own: Spec = {"resources": {"requests": {"cpu": "8"}, "limits": {builders.GPU: 2}}}
    container = builders.container(
        "kserve-container", requests={"cpu": "1", "memory": "4Gi"}, limits={builders.GPU: 1, "memory": "8Gi"}
    )
    (found,) = predictor_of(service(served(model_fields=own)), runtime(container)).containers

    assert {name: str(quantity) for name, quantity in found.requests.items()} == {"cpu": "8", "memory": "4294967296"}
    assert {name: str(quantity) for name, quantity in found.limits.items()} == {
        builders.GPU: "2",
        "memory": "8589934592",
    }
    assert found.resource_path("limits", builders.GPU) == "/spec/predictor/model/resources/limits/nvidia.com~1gpu"


def test_variables_of_the_service_override_those_of_the_runtime_by_name() -> None:
    own: Spec = {"env": [{"name": "NCCL_DEBUG", "value": "WARN"}]}
    container = builders.container("kserve-container", env={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"})
    (found,) = predictor_of(service(served(model_fields=own)), runtime(container)).containers
    last = {variable.name: variable.value for variable in found.environment}

    assert last == {"NCCL_DEBUG": "WARN", "NCCL_IB_HCA": "mlx5"}


def test_devices_that_the_runtime_claims_are_claimed_for_the_container_that_serves() -> None:
    claim = builders.custom(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]}},
        name="gpus",
    )
    known = runtime(
        builders.container("kserve-container", claims=["gpu"]),
        resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}],
    )
    own: Spec = {"resources": {"limits": {"cpu": 4}}}
    found = predictor_of(service(served(model_fields=own)), known, claim)

    assert [(request.name, str(request.maximum)) for request in found.requests] == [("gpu.nvidia.com", "2")]
    assert found.containers[0].asks_accelerators


def test_other_containers_of_the_runtime_are_in_the_pods_too() -> None:
    known = runtime(
        builders.container("kserve-container"),
        builders.container("agent", gpus=1),
        builders.container("transformer-container", gpus=1),
    )
    predictor = served(containers=[builders.container("transformer-container", limits={"cpu": 1})])
    found = predictor_of(service(predictor), known)

    assert [each.name for each in found.containers] == ["kserve-container", "transformer-container", "agent"]
    assert str(found.accelerators[builders.GPU]) == "2"
    assert found.containers[1].path == "/spec/predictor/containers/0"


def test_a_runtime_without_the_container_that_serves_makes_no_pods() -> None:
    known = Objects([runtime(builders.container("other"))])

    assert [path for path, _ in unknowns(service(served()), objects=known)] == ["/spec/predictor/model/runtime"]


def test_scheduling_fields_of_the_runtime_stand_in_for_those_of_the_service() -> None:
    known = runtime(
        tolerations=[builders.toleration("gpu")],
        nodeSelector={"pool": "h100", "zone": "a"},
        affinity=builders.node_affinity(builders.term(builders.expression("pool", "In", "h100"))),
        schedulerName="kai-scheduler",
    )
    bare = predictor_of(service(served()), known)
    own = predictor_of(
        service(served(tolerations=[builders.toleration("mine")], nodeSelector={"zone": "b"}, schedulerName="volcano")),
        known,
    )

    assert [each["key"] for each in bare.tolerations] == ["gpu"]
    assert (bare.node_selector, bare.scheduler_name) == ({"pool": "h100", "zone": "a"}, "kai-scheduler")
    assert len(bare.required_terms) == 1
    assert [each["key"] for each in own.tolerations] == ["mine"]
    assert (own.node_selector, own.scheduler_name) == ({"pool": "h100", "zone": "b"}, "volcano")


def test_what_a_runtime_says_that_never_reaches_a_pod_is_not_read() -> None:
    known = runtime(initContainers=[builders.container("fetch", gpus=8)], priorityClassName="high")
    found = predictor_of(service(served()), known)

    assert (found.priority_class_name, dict(found.accelerators)) == ("", {})


def test_an_error_in_a_runtime_is_reported_at_its_name() -> None:
    known = runtime(builders.container("kserve-container", limits={builders.GPU: "many"}), tolerations="all")

    found = unknowns(service(served()), objects=Objects([known]))

    assert {path for path, _ in found} == {"/spec/predictor/model/runtime"}
    assert any("spec.tolerations: expected a list" in reason for _, reason in found)
    assert any("spec.containers[0].resources.limits" in reason for _, reason in found)


def test_labels_and_annotations_of_all_three_reach_the_pods_and_the_component_wins() -> None:
    value = builders.custom(
        "serving.kserve.io/v1beta1",
        "InferenceService",
        {"predictor": served(labels={"a": "predictor"}, annotations={"x": "predictor"})},
        labels={"a": "service", "b": "service"},
        annotations={"x": "service", "gpu-fraction": "0.5"},
    )
    known = runtime(labels={"a": "runtime", "b": "runtime", "c": "runtime"}, annotations={"y": "runtime"})
    found = predictor_of(value, known)

    assert found.labels == {"a": "predictor", "b": "service", "c": "runtime"}
    assert found.annotations == {"x": "predictor", "gpu-fraction": "0.5", "y": "runtime"}
    assert [(request.name, str(request.maximum)) for request in found.requests] == [("gpu-fraction", "500m")]


def test_an_unreadable_inherited_annotation_is_reported_at_its_place() -> None:
    assert unknowns(service(annotations={"gpu-fraction": "half"}))[0][0] == "/metadata/annotations/gpu-fraction"


# The runtimes themselves


@pytest.mark.parametrize("kind", ["ServingRuntime", "ClusterServingRuntime"])
def test_one_use_of_a_runtime_is_one_pod(kind: str) -> None:
    value = runtime(
        builders.container("kserve-container", gpus=2),
        kind=kind,
        tolerations=[builders.toleration("gpu")],
        labels={"app": "vllm"},
    )
    found = readable_workload(value)

    assert found.is_template
    assert counts(value) == [("", "/spec", 1, 1)]
    assert (found.pod_sets[0].labels, len(found.pod_sets[0].tolerations)) == ({"app": "vllm"}, 1)
    assert not found.pod_sets[0].changeable
