"""The pods of an LLMInferenceService, and the devices that its annotations claim (docs/domain/kinds.md#kserve)."""

import pytest

import builders
from builders import JsonValue
from unit.kinds.kserve.llm_services import config, first_of, pod_spec
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import model, paths

DRA = "serving.kserve.io/exp-dra-"


def service(
    *, annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None, **spec: JsonValue
) -> paths.Object:
    metadata = builders.Metadata(annotations=annotations or {}, labels=labels or {})
    return builders.custom(
        "serving.kserve.io/v1alpha2", "LLMInferenceService", {"model": {"uri": "hf://a/b"}, **spec}, **metadata
    )


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_a_service_on_one_node_is_a_deployment_that_surges(version: str) -> None:
    value = service(replicas=3, template=pod_spec(gpus=2))

    assert counts(builders.replaced(value, "/apiVersion", f"serving.kserve.io/{version}")) == [
        ("", "/spec/template", 3, 4)
    ]
    assert totals(value) == {builders.GPU: ("6", "8")}


def test_a_service_that_holds_no_pod_spec_has_the_pods_of_kserves_preset() -> None:
    assert counts(service()) == [("", "/spec/template", 1, 2)]


@pytest.mark.parametrize(
    ("strategy", "most"),
    [({}, 5), ({"maxUnavailable": 1}, 5), ({"maxSurge": 0}, 4), ({"maxSurge": 2}, 6), ({"maxSurge": "100%"}, 8)],
)
def test_the_rollout_strategy_says_how_far_it_surges(strategy: dict[str, JsonValue], most: int) -> None:
    assert counts(service(replicas=4, template=pod_spec(), rolloutStrategy=strategy)) == [
        ("", "/spec/template", 4, most)
    ]


@pytest.mark.parametrize(
    ("scaling", "pods"),
    [
        ({"maxReplicas": 4, "wva": {"hpa": {}}}, (1, 5)),
        ({"minReplicas": 2, "maxReplicas": 8, "keda": {}}, (2, 10)),
        ({"minReplicas": 2, "maxReplicas": 8, "keda": {"idleReplicaCount": 0}}, (0, 10)),
        ({"minReplicas": 2, "maxReplicas": 8, "wva": {"keda": {"idleReplicaCount": 1}}}, (1, 10)),
        ({"minReplicas": 2}, (2, None)),
    ],
)
def test_a_scaled_service_has_its_bounds(scaling: dict[str, JsonValue], pods: tuple[int, int | None]) -> None:
    found = first_of(service(replicas=7, scaling=scaling, template=pod_spec())).count

    assert (found.minimum, found.maximum) == pods
    assert found.reason


@pytest.mark.parametrize(
    ("parallelism", "size"),
    [
        ({"data": 16, "dataLocal": 8}, 2),
        ({"data": 32, "dataLocal": 8, "tensor": 4}, 4),
        ({"data": 9, "dataLocal": 8}, 1),
        ({"dataLocal": 8}, 1),
        ({"pipeline": 3}, 3),
        ({"tensor": 8}, 1),
    ],
)
def test_the_parallelism_is_the_size_of_a_group_with_a_leader(parallelism: dict[str, JsonValue], size: int) -> None:
    value = service(replicas=2, template=pod_spec(gpus=8), worker=pod_spec(gpus=8), parallelism=parallelism)

    assert counts(value) == [
        ("leader", "/spec/template", 2, 2),
        ("worker", "/spec/worker", 2 * (size - 1), 2 * (size - 1)),
    ]


def test_groups_surge_only_with_a_rollout_strategy() -> None:
    value = service(
        template=pod_spec(), worker=pod_spec(), parallelism={"pipeline": 4}, rolloutStrategy={"maxSurge": 1}
    )

    assert counts(value) == [("leader", "/spec/template", 1, 2), ("worker", "/spec/worker", 3, 6)]


def test_without_a_template_the_preset_leads_groups_that_data_divide_and_workers_lead_themselves() -> None:
    by_data = service(worker=pod_spec(gpus=8), parallelism={"data": 16, "dataLocal": 8})
    piped = service(worker=pod_spec(gpus=8), parallelism={"pipeline": 2})

    assert counts(by_data) == [("leader", "/spec/template", 1, 1), ("worker", "/spec/worker", 1, 1)]
    assert counts(piped) == [("worker", "/spec/worker", 2, 2)]


def test_prefill_is_a_second_workload_with_its_own_numbers() -> None:
    value = service(
        replicas=1,
        template=pod_spec(gpus=1),
        prefill={
            "replicas": 2,
            "template": pod_spec(gpus=8),
            "worker": pod_spec(gpus=8),
            "parallelism": {"data": 16, "dataLocal": 8},
        },
    )

    assert counts(value) == [
        ("decode", "/spec/template", 1, 2),
        ("prefill leader", "/spec/prefill/template", 2, 2),
        ("prefill worker", "/spec/prefill/worker", 2, 2),
    ]
    assert totals(value) == {builders.GPU: ("33", "34")}


def test_a_scheduler_is_one_pod_of_kserves_preset() -> None:
    value = service(template=pod_spec(gpus=1), router={"scheduler": {}, "route": {}})

    assert counts(value)[1:] == [("scheduler", "/spec/router/scheduler/template", 1, 1)]
    assert totals(value) == {builders.GPU: ("1", "2")}


def test_a_scheduler_may_have_a_pod_spec_of_its_own_and_replicas() -> None:
    scheduler: dict[str, JsonValue] = {"replicas": 2, "template": pod_spec(gpus=1), "labels": {"app": "picker"}}
    found = readable_workload(service(router={"scheduler": scheduler})).pod_sets[1]

    assert (found.count.minimum, found.count.maximum, found.labels) == (2, 2, {"app": "picker"})
    assert str(found.accelerators[builders.GPU]) == "1"


def test_a_service_with_an_existing_pool_makes_no_scheduler() -> None:
    value = service(template=pod_spec(), router={"scheduler": {"pool": {"ref": {"name": "shared"}}}})

    assert [name for name, *_ in counts(value)] == [""]


@pytest.mark.parametrize(
    "scheduler",
    [
        {"tokenizer": {}},
        {"config": {"inline": {"plugins": [{"type": "queue-scorer"}, {"type": "token-producer"}]}}},
        {"config": {"inline": {"plugins": [7, {"type": "precise-prefix-cache-scorer"}]}}},
    ],
)
def test_plugins_that_need_tokens_have_a_pod_that_makes_them(scheduler: dict[str, JsonValue]) -> None:
    value = service(template=pod_spec(), router={"scheduler": scheduler})

    assert counts(value)[-1] == ("tokenizer", "/spec/router/scheduler/tokenizer/template", 1, 2)


@pytest.mark.parametrize("inline", ["plugins: []", {"plugins": [{"type": "queue-scorer"}]}, {"plugins": 7}, None])
def test_other_scheduler_configurations_have_no_tokenizer_pod(inline: JsonValue) -> None:
    value = service(template=pod_spec(), router={"scheduler": {"config": {"inline": inline}}})

    assert [name for name, *_ in counts(value)] == ["", "scheduler"]


def test_a_stopped_service_has_no_pods() -> None:
    value = service(
        annotations={"serving.kserve.io/stop": "true"},
        template=pod_spec(gpus=8),
        worker=pod_spec(),
        parallelism={"pipeline": 2},
        scaling={},
        router={"scheduler": {"tokenizer": {}}},
    )

    assert {(low, high) for _, _, low, high in counts(value)} == {(0, 0)}
    assert totals(value) == {}


def test_labels_and_annotations_of_a_workload_reach_its_pods_and_those_of_kueue_from_the_object() -> None:
    value = service(
        labels={"kueue.x-k8s.io/queue-name": "gpus", "team": "a"},
        annotations={"k8s.v1.cni.cncf.io/networks": "roce", "note": "x"},
        template=pod_spec(),
    )
    value = builders.replaced(builders.replaced(value, "/spec/labels", {"app": "llm"}), "/spec/annotations", {"a": "b"})
    found = first_of(value)

    assert found.labels == {"app": "llm", "kueue.x-k8s.io/queue-name": "gpus"}
    assert found.annotations == {"a": "b", "k8s.v1.cni.cncf.io/networks": "roce"}
    assert found.metadata_path == "/spec"


# Devices that annotations claim


def test_an_annotation_claims_devices_for_every_pod_though_no_resource_is_named() -> None:
    value = service(
        annotations={DRA + "device-class": "gpu.nvidia.com", DRA + "device-count": " 2 "},
        replicas=3,
        router={"scheduler": {}},
    )
    found = readable_workload(value)

    assert totals(value) == {"gpu.nvidia.com": ("6", "8")}
    assert [(request.route, request.path) for request in found.pod_sets[0].requests] == [
        (model.Route.CLAIM, "/metadata/annotations/serving.kserve.io~1exp-dra-device-class")
    ]
    assert found.pod_sets[1].requests == ()


@pytest.mark.parametrize(("name", "getting"), [(None, ["sidecar"]), ("main", ["main"]), ("other", [])])
def test_the_devices_are_for_the_container_that_is_named_or_the_first(name: str | None, getting: list[str]) -> None:
    annotations = {DRA + "device-class": "gpu.nvidia.com", **({DRA + "container-name": name} if name else {})}
    template = dict(builders.pod_spec(builders.container("sidecar"), builders.container("main")))
    found = first_of(service(annotations=annotations, template=template))

    assert [each.name for each in found.containers if each.asks_accelerators] == getting
    assert len(found.requests) == 1


def test_prefill_and_workers_get_devices_of_their_own() -> None:
    value = service(
        annotations={DRA + "device-class": "gpu.nvidia.com"},
        template=pod_spec(),
        worker=pod_spec(),
        parallelism={"pipeline": 4},
        prefill={},
    )

    assert totals(value) == {"gpu.nvidia.com": ("5", "6")}


def test_an_existing_claim_of_the_same_name_is_kept() -> None:
    claim: dict[str, JsonValue] = {"name": "managed-device", "resourceClaimName": "mine"}
    value = service(annotations={DRA + "device-class": "gpu.nvidia.com"}, template=pod_spec(resourceClaims=[claim]))

    assert [path for path, _ in unknowns(value)] == ["/spec/template/resourceClaims/0/resourceClaimName"]
    assert workload(value).pod_sets[0].requests == ()


def test_other_devices_do_not_count_and_unknown_classes_are_unknown() -> None:
    known = service(annotations={DRA + "device-class": "compute-domain-default-channel.nvidia.com"})
    strange = service(annotations={DRA + "device-class": "strange.example.com"})

    assert totals(known) == {}
    assert [path for path, _ in unknowns(strange)] == ["/metadata/annotations/serving.kserve.io~1exp-dra-device-class"]


@pytest.mark.parametrize("text", ["two", "0", "-1", "1.5"])
def test_an_invalid_number_of_devices_is_unknown(text: str) -> None:
    value = service(annotations={DRA + "device-class": "gpu.nvidia.com", DRA + "device-count": text})

    assert unknowns(value) == [
        ("/metadata/annotations/serving.kserve.io~1exp-dra-device-count", "expected a whole number of devices")
    ]


def test_both_are_for_inference() -> None:
    found = readable_workload(service())

    assert found.role is readable_workload(config()).role is model.Role.INFERENCE
    assert found.queue_label_path == "/metadata"
    assert readable_workload(config()).queue_label_path is None


@pytest.mark.parametrize("spec", [None, 7, []])
def test_a_service_without_a_spec_has_no_pods(spec: paths.Json) -> None:
    assert workload(builders.replaced(service(), "/spec", spec)).pod_sets == ()


def sizes(parallelism: JsonValue, **main: JsonValue) -> list[tuple[int, int, str] | None]:
    """Tensor and data size of the server in each pod set, with the place of the tensor size."""
    spec: JsonValue = {"containers": [{**builders.container("main", gpus=8), **main}]}
    found = workload(service(parallelism=parallelism, template=spec, worker=spec))
    servers = [pod_set.containers[0].parallelism for pod_set in found.pod_sets]
    return [None if each is None else (each["tensor"], each["data"], each["path"]) for each in servers]


def test_the_presets_for_several_pods_start_servers_with_the_parallelism() -> None:
    place = "/spec/parallelism/tensor"

    assert sizes({"data": 16, "dataLocal": 8, "tensor": 1}) == [(1, 8, place)] * 2
    assert sizes({"data": 2, "tensor": 8}) == [(8, 1, place)] * 2
    assert sizes({"pipeline": 2, "tensor": 8}) == [(8, 1, place)] * 2


@pytest.mark.parametrize(
    ("parallelism", "main"),
    [
        ({"data": 16, "dataLocal": 8}, {}),
        ({"data": 16, "tensor": 8}, {"command": ["./serve"]}),
        ({"data": 16, "tensor": 8}, {"args": ["--tensor-parallel-size", "4"]}),
        ({"data": 16, "tensor": "8"}, {}),
    ],
)
def test_a_server_that_may_start_otherwise_has_no_known_sizes(
    parallelism: JsonValue, main: dict[str, JsonValue]
) -> None:
    assert sizes(parallelism, **main) == [None, None]


def test_the_preset_for_one_pod_has_the_tensor_size_alone() -> None:
    found = workload(service(parallelism={"tensor": 8}, template=pod_spec(gpus=2)))
    of_pipeline = workload(service(parallelism={"tensor": 8, "pipeline": 2}, template=pod_spec(gpus=2)))

    parallelism = found.pod_sets[0].containers[0].parallelism
    assert parallelism is not None
    assert (parallelism["server"], parallelism["gpus"]) == ("KServe's preset for one pod", 8)
    assert of_pipeline.pod_sets[0].containers[0].parallelism is None
