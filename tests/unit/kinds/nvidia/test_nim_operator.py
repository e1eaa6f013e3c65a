"""NIMService, NIMPipeline and NIMCache (NVIDIA/k8s-nim-operator at f63f74d7)."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns
from usher import model, paths
from usher.kinds.reading.values import Objects

API = "apps.nvidia.com/v1alpha1"
CLAIM = builders.custom(
    "resource.k8s.io/v1",
    "ResourceClaim",
    {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
    name="gpus",
)


def service(**spec: builders.JsonValue) -> paths.Object:
    return builders.custom(API, "NIMService", spec, name="llama")


def gpus(number: int) -> builders.JsonValue:
    return {"limits": {builders.GPU: number}}


def test_the_container_gets_the_settings_of_the_spec() -> None:
    value = service(resources=gpus(2), env=[{"name": "NCCL_DEBUG", "value": "INFO"}], replicas=3)
    found = pod_set(value)

    assert totals(value) == {builders.GPU: ("6", "6")}
    assert [(container.name, container.path) for container in found.containers] == [("llama-ctr", "/spec")]
    assert found.requests[0].path == "/spec/resources/limits/nvidia.com~1gpu"
    assert found.containers[0].environment[0].path == "/spec/env/0"
    assert found.pod_limits == {}


def test_fields_of_the_pod_stand_at_the_top_too() -> None:
    found = pod_set(
        service(
            nodeSelector={"pool": "h100"},
            tolerations=[{"key": "gpu"}],
            affinity=builders.node_affinity(builders.term()),
            schedulerName="volcano",
            labels={"team": "a"},
            annotations={"note": "x"},
        )
    )

    assert (found.node_selector, found.tolerations) == ({"pool": "h100"}, ({"key": "gpu"},))
    assert found.has_required_affinity
    assert (found.scheduler.name, found.labels, found.annotations) == ("volcano", {"team": "a"}, {"note": "x"})
    assert not found.changeable


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, model.Count(minimum=1, maximum=1)),
        ({"replicas": 4}, model.Count(minimum=4, maximum=4)),
        ({"scale": {"enabled": False, "hpa": {"maxReplicas": 8}}}, model.Count(minimum=1, maximum=1)),
        (
            {"scale": {"enabled": True, "hpa": {"minReplicas": 2, "maxReplicas": 8}}},
            model.Count(minimum=2, maximum=8, reason="autoscaling"),
        ),
        (
            {"scale": {"enabled": True}},
            model.Count(minimum=1, maximum=None, reason="autoscaling without maxReplicas"),
        ),
    ],
)
def test_replicas_are_fixed_or_scaled(spec: dict[str, builders.JsonValue], expected: model.Count) -> None:
    assert pod_set(service(**spec)).count == expected


def test_several_nodes_serve_together_without_the_affinity() -> None:
    value = service(
        replicas=2,
        resources=gpus(8),
        multiNode={"parallelism": {"pipeline": 4, "tensor": 8}},
        affinity=builders.node_affinity(builders.term()),
    )
    found = pod_set(value)

    assert found.count == model.Count(minimum=8, maximum=8)
    assert found.operator_environment == {"LWS_*"}
    assert totals(value) == {builders.GPU: ("64", "64")}
    assert not found.has_required_affinity


def test_other_containers_have_a_name_and_no_requests() -> None:
    found = pod_set(service(initContainers=[{"name": "fetch"}], sidecarContainers=[{"name": "proxy"}]))

    assert [(container.name, container.type.value) for container in found.containers] == [
        ("fetch", "init container"),
        ("llama-ctr", "container"),
        ("proxy", "container"),
    ]


def test_claims_that_are_there_give_devices_to_the_container() -> None:
    value = service(draResources=[{"resourceClaimName": "gpus", "requests": ["gpu"]}])
    found = pod_set(value, objects=Objects([CLAIM]))

    assert totals(value, objects=Objects([CLAIM])) == {"gpu.nvidia.com": ("1", "1")}
    assert found.containers[0].asks_accelerators
    assert found.requests[0].path.startswith("/spec/draResources/0")


def test_claims_that_the_operator_makes_count_for_every_pod() -> None:
    devices: builders.JsonValue = [{"name": "a", "count": 2}, {"name": "b", "count": 0}]
    value = service(replicas=3, draResources=[{"claimCreationSpec": {"devices": devices}}])

    assert totals(value) == {"gpu.nvidia.com": ("6", "6")}
    assert pod_set(value).containers[0].asks_accelerators


def test_a_claim_that_is_not_known_is_unknown() -> None:
    ((path, _),) = unknowns(service(draResources=[{"resourceClaimTemplateName": "gpus"}]))

    assert path == "/spec/draResources/0/resourceClaimTemplateName"


def test_claims_among_the_resources_are_not_taken() -> None:
    assert totals(service(resources={"claims": [{"name": "gpu"}]})) == {}


def cache(profiles: list[paths.Json], *, source: dict[str, builders.JsonValue] | None = None) -> paths.Object:
    value = builders.custom(API, "NIMCache", {"source": {"ngc": {}} if source is None else source}, name="llama")
    return {**value, "status": {"profiles": profiles}}


CACHED: builders.JsonValue = {"nimCache": {"name": "llama", "profile": "fast"}}
PROFILES: list[paths.Json] = [{"name": "slow", "config": {}}, {"name": "fast", "config": {"tp": "4"}}]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ("4", "4")),
        ({"multiNode": {"parallelism": {"pipeline": 2, "tensor": 8}}}, ("16", "16")),
        ({"resources": gpus(2)}, ("2", "2")),
        ({"resources": {"requests": {builders.GPU: 2}}}, ("2", "2")),
        ({"draResources": [{"claimCreationSpec": {"devices": [{}]}}]}, None),
        ({"storage": {"nimCache": {"name": "llama", "profile": "slow"}}}, ("1", "1")),
        ({"storage": {"nimCache": {"name": "llama"}}}, None),
    ],
)
def test_the_operator_adds_the_gpus_of_a_named_profile_if_the_service_asks_for_no_gpu(
    spec: dict[str, builders.JsonValue], expected: tuple[str, str] | None
) -> None:
    value = service(**{"storage": CACHED, **spec})

    assert totals(value, objects=Objects([cache(PROFILES)])).get(builders.GPU) == expected


def test_added_gpus_stand_beside_the_requests_of_the_service() -> None:
    value = service(storage=CACHED, resources={"limits": {"cpu": "8"}})
    (container,) = pod_set(value, objects=Objects([cache(PROFILES)])).containers

    assert {name: str(quantity) for name, quantity in container.limits.items()} == {"cpu": "8", builders.GPU: "4"}
    assert container.places == {"requests": "/spec/storage/nimCache", "limits": "/spec/resources/limits"}


@pytest.mark.parametrize("source", [{"hf": {}}, {"ngc": {"modelEndpoint": "https://example.com"}}])
def test_the_operator_adds_no_gpus_for_models_that_run_on_any_gpu(source: dict[str, builders.JsonValue]) -> None:
    assert totals(service(storage=CACHED), objects=Objects([cache(PROFILES, source=source)])) == {}


def test_without_the_cache_or_its_profile_the_number_is_not_known() -> None:
    reference = "NIMCache ml-research/llama"

    assert unknowns(service(storage=CACHED)) == [
        ("/spec/storage/nimCache/name", f"{reference} is not known here: how many GPUs its pods get is not known")
    ]
    assert unknowns(service(storage=CACHED), objects=Objects([cache([])])) == [
        (
            "/spec/storage/nimCache/profile",
            f"{reference} does not tell of this profile: how many GPUs its pods get is not known",
        )
    ]


def test_on_kserve_nothing_bounds_the_pods_but_in_the_mode_of_deployments() -> None:
    def count(mode: str | None) -> model.Count:
        annotations = {} if mode is None else {"serving.kserve.io/deploymentMode": mode}
        spread: builders.JsonValue = {"parallelism": {"pipeline": 4}}
        return pod_set(service(inferencePlatform="kserve", replicas=3, multiNode=spread, annotations=annotations)).count

    assert count("Standard") == count("RawDeployment") == model.Count(minimum=3, maximum=3)
    assert (count(None).minimum, count(None).maximum) == (1, None)


def test_the_endpoint_picker_is_one_pod_more() -> None:
    value = service(replicas=2, expose={"router": {"eppConfig": {"containerSpec": {"name": "epp"}}}})

    assert counts(value) == [("", "/spec", 2, 2), ("epp", "/spec/expose/router/eppConfig", 1, 1)]


def test_labels_of_the_pods_are_what_kueue_reads() -> None:
    found = readable_workload(service(labels={"kueue.x-k8s.io/queue-name": "research"}))

    assert (found.role, found.queue_label_path) == (model.Role.INFERENCE, "/spec")
    assert found.queue_labels == {"kueue.x-k8s.io/queue-name": "research"}


def test_a_pipeline_is_the_services_in_it_that_are_enabled() -> None:
    services: builders.JsonValue = [
        {"name": "llm", "enabled": True, "spec": {"replicas": 2, "resources": gpus(4)}},
        {"name": "embedding", "enabled": False, "spec": {"resources": gpus(1)}},
        {"name": "reranking", "spec": {"resources": gpus(1)}},
    ]
    value = builders.custom(API, "NIMPipeline", {"services": services})

    assert counts(value) == [("llm", "/spec/services/0/spec", 2, 2)]
    assert totals(value) == {builders.GPU: ("8", "8")}


def test_a_cache_is_filled_by_one_pod_without_gpus() -> None:
    value = builders.custom(
        API, "NIMCache", {"resources": {"cpu": "2", "memory": "8Gi"}, "tolerations": [{"key": "gpu"}]}
    )
    found = pod_set(value)

    assert (found.path, found.count) == ("/spec", model.Count(minimum=1, maximum=1))
    assert str(found.containers[0].limits["memory"]) == str(8 * 2**30)
    assert found.containers[0].requests == found.containers[0].limits
    assert found.tolerations == ({"key": "gpu"},)
    assert totals(value) == {}


def test_a_cache_that_names_no_nodes_is_filled_on_those_with_devices_of_nvidia() -> None:
    assert pod_set(builders.custom(API, "NIMCache", {})).node_selector == {
        "feature.node.kubernetes.io/pci-10de.present": "true"
    }
    assert pod_set(builders.custom(API, "NIMCache", {"nodeSelector": {"zone": "a"}})).node_selector == {"zone": "a"}
