"""An InferenceService takes fields from its runtime; runtimes are read as well (docs/domain/kinds.md#kserve)."""

from typing import cast

import pytest

import builders
from builders import JsonValue
from unit.kinds.kserve.inference_services import Spec, predictor_of, runtime, served, service
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher import paths
from usher.kinds.reading.values import Objects


def test_without_a_runtime_kserve_chooses_one_and_what_it_adds_is_unknown() -> None:
    ((path, reason),) = unknowns(service(served(None)))

    assert path == "/spec/predictor/model"
    assert "it names no runtime" in reason
    assert "Name a runtime, or give the runtimes in the files or by --facts" in reason


def serving(
    title: str, gpus: int, *, made: str = "", kind: str = "ClusterServingRuntime", **fields: JsonValue
) -> paths.Object:
    """A runtime of huggingface, with other fields of the format, or of the runtime."""
    whole = ("protocolVersions", "disabled", "multiModel", "workerSpec")
    supported = {"name": "huggingface", "autoSelect": True, **{key: fields[key] for key in fields if key not in whole}}
    found = runtime(
        builders.container("kserve-container", gpus=gpus),
        name=title,
        kind=kind,
        supportedModelFormats=[supported],
        **{key: fields[key] for key in fields if key in whole},
    )
    return {**found, "metadata": {**paths.metadata(found), **({"creationTimestamp": made} if made else {})}}


EARLIER, LATER = "2026-01-02T03:04:05Z", "2026-02-02T03:04:05Z"
WORKERS: JsonValue = {"containers": [builders.container("worker-container")]}
CHOICES: dict[str, tuple[list[paths.Object], int | None]] = {
    # P = KS:pkg/apis/serving/v1beta1/predictor_model.go. P: sortSupportedRuntimeByPriority.
    "the only one": ([serving("a", 1)], 1),
    "the higher priority": ([serving("a", 1, priority=1), serving("b", 2, priority=2)], 2),
    "a priority before none": ([serving("a", 1), serving("b", 2, priority=1)], 2),
    # P: sortServingRuntimeList.
    "the older protocol": (
        [
            serving("a", 1, protocolVersions=["v1", "grpc-v2"]),
            serving("b", 2),
            serving("c", 4, protocolVersions=["grpc-v2"]),
        ],
        1,
    ),
    "the newer one": ([serving("a", 1, made=EARLIER), serving("b", 2, made=LATER)], 2),
    "the first name of two of one age": ([serving("b", 2, made=LATER), serving("a", 1, made=LATER)], 1),
    "two without an age": ([serving("a", 1), serving("b", 2)], None),
    # P: GetSupportingRuntimes.
    "of the namespace": ([serving("a", 1, priority=9), serving("b", 2, kind="ServingRuntime")], 2),
    "disabled": ([serving("a", 1, disabled=True), serving("b", 2)], 2),
    "of ModelMesh": ([serving("a", 1, multiModel=True), serving("b", 2)], 2),
    "with workers": ([serving("a", 1, workerSpec=WORKERS), serving("b", 2)], 2),
    "another protocol": ([serving("a", 1, protocolVersions=["v2"]), serving("b", 2)], 2),
    "another format": ([serving("a", 1, name="sklearn"), serving("b", 2)], 2),
    "not chosen by itself": ([serving("a", 1, autoSelect=False), serving("b", 2)], 2),
    "no runtime that supports it": ([serving("a", 1, name="sklearn")], None),
    "none by itself": ([serving("a", 1, autoSelect=False)], None),
}


@pytest.mark.parametrize(("runtimes", "gpus"), CHOICES.values(), ids=CHOICES)
def test_kserve_chooses_a_runtime_by_the_format_of_the_model(runtimes: list[paths.Object], gpus: int | None) -> None:
    if gpus is None:
        ((path, reason),) = unknowns(service(served(None)), objects=Objects(runtimes))
        assert path == "/spec/predictor/model"
        said = (
            "the newest of a, b",
            "no known runtime supports huggingface",
            "a supports huggingface without autoSelect",
        )
        assert any(each in reason for each in said)
    else:
        found = predictor_of(service(served(None)), *runtimes)
        assert str(found.accelerators[builders.GPU]) == str(gpus)


def test_a_version_of_the_format_must_be_that_of_the_runtime() -> None:
    model: Spec = {"modelFormat": {"name": "huggingface", "version": "2"}}
    runtimes = [serving("a", 1), serving("b", 2, version="2"), serving("c", 4, version="3", priority=9)]

    assert str(predictor_of(service(served(None, model_fields=model)), *runtimes).accelerators[builders.GPU]) == "2"


def test_a_framework_has_its_own_format_and_protocol() -> None:
    """KS:pkg/apis/serving/v1beta1/inference_service_defaults.go assignHuggingFaceRuntime, assignSKLearnRuntime."""
    older, newer = serving("a", 1, protocolVersions=["v1"]), serving("b", 2, protocolVersions=["v2"])
    learned = serving("c", 4, name="sklearn", protocolVersions=["v1"])
    known = (older, newer, learned)

    assert str(predictor_of(service({"huggingface": {}}), *known).accelerators[builders.GPU]) == "2"
    assert str(predictor_of(service({"sklearn": {}}), *known).accelerators[builders.GPU]) == "4"
    asked: Spec = {"huggingface": {"protocolVersion": "v1"}}
    assert str(predictor_of(service(asked), *known).accelerators[builders.GPU]) == "1"


@pytest.mark.parametrize("value", [None, 7, "text", [], [7], {}, {"name": 7}], ids=repr)
def test_damaged_runtimes_are_not_chosen_and_never_a_fault(value: JsonValue) -> None:
    for field in ("supportedModelFormats", "protocolVersions", "workerSpec", "containers"):
        damaged = serving("a", 1)
        damaged["spec"] = {**paths.mapping(damaged["spec"]), **cast("paths.Object", {field: value})}
        for model in (
            value,
            {"modelFormat": value},
            {"modelFormat": {"name": "huggingface"}, "protocolVersion": value},
        ):
            workload(service({"model": model}), objects=Objects([damaged]))


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
