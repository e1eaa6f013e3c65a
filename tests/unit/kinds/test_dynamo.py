"""DynamoGraphDeployment and DynamoComponentDeployment in both versions, and what upstream says of its own examples."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
import shared_files
from shared_files import needs_shared
from unit.kinds.full.parts import places
from unit.workloads.normalised import readable_workload, totals, workload
from usher import model, paths
from usher.kinds import registry
from usher.kinds.reading.values import Objects

ALPHA = "nvidia.com/v1alpha1"
GPUS: builders.JsonValue = {"limits": {"gpu": "4", "cpu": "8"}}


def beta(*components: dict[str, builders.JsonValue], **spec: builders.JsonValue) -> paths.Object:
    return builders.custom("nvidia.com/v1beta1", "DynamoGraphDeployment", {"components": list(components), **spec})


def component(name: str, *, gpus: int = 4, **fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    main = builders.container("main", gpus=gpus) if gpus else builders.container("main")
    return {"name": name, "podTemplate": {"spec": builders.pod_spec(main)}, **fields}


def alpha(kind: str = "DynamoGraphDeployment", **service: builders.JsonValue) -> paths.Object:
    spec = {"services": {"Worker": service}} if kind == "DynamoGraphDeployment" else service
    return builders.custom(ALPHA, kind, spec)


def test_every_replica_has_a_pod_on_each_of_its_nodes() -> None:
    found = beta(component("decode", replicas=2, multinode={"nodeCount": 3}), component("frontend", gpus=0))

    assert [(each.name, each.count.minimum) for each in readable_workload(found).pod_sets] == [
        ("decode", 6),
        ("frontend", 1),
    ]
    assert totals(found) == {builders.GPU: ("24", "24")}
    decode = workload(found).pod_sets[0]
    assert (decode.unit, decode.groups) == (model.Unit("decode", 3), 2)


def test_several_nodes_are_two_unless_the_component_says_how_many() -> None:
    assert workload(beta(component("decode", multinode={}))).pods.minimum == 2


def test_resources_of_v1alpha1_have_names_of_their_own() -> None:
    own: builders.JsonValue = {"limits": {"gpu": "2", "gpuType": "gpu.intel.com/xe", "custom": {"rdma/ib": "1"}}}
    found = workload(alpha(resources=own)).pod_sets[0]

    assert {name: str(amount) for name, amount in found.accelerators.items()} == {"gpu.intel.com/xe": "2"}
    assert "rdma/ib" in found.containers[0].limits
    assert totals(alpha(resources=GPUS, replicas=3)) == {builders.GPU: ("12", "12")}


def test_the_main_container_of_v1alpha1_wins_over_fields_of_the_service() -> None:
    main: builders.JsonValue = {
        "image": "dynamo",
        "command": ["python3", "-m", "dynamo.vllm"],
        "args": ["--tensor-parallel-size", "8"],
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        "resources": {"limits": {builders.GPU: "8"}},
    }
    envs: builders.JsonValue = [{"name": "NCCL_DEBUG", "value": "WARN"}, {"name": "NCCL_IB_HCA", "value": "mlx5"}]
    (found,) = workload(alpha(resources=GPUS, envs=envs, extraPodSpec={"mainContainer": main})).pod_sets[0].containers

    assert str(found.limits[builders.GPU]) == "8"
    assert {each.name: each.value for each in found.environment} == {"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"}
    assert found.parallelism is not None
    assert found.parallelism["gpus"] == 8


def sizes(value: paths.Object) -> list[int]:
    volumes = workload(value).pod_sets[0].fields.get("volumes", [])
    return [each["emptyDir"]["sizeLimit"]["value"] >> 30 for each in volumes]


def test_a_component_has_shared_memory_unless_it_is_off() -> None:
    assert sizes(beta(component("a"))) == [8]
    assert sizes(beta(component("a", sharedMemorySize="80Gi"))) == [80]
    assert sizes(beta(component("a", sharedMemorySize="0"))) == []
    assert sizes(alpha(resources=GPUS, sharedMemory={"size": "16Gi"})) == [16]
    assert sizes(alpha(resources=GPUS, sharedMemory={"disabled": True})) == []


def test_a_scaling_adapter_lets_autoscalers_set_the_replicas() -> None:
    assert workload(beta(component("a", replicas=2, scalingAdapter={}))).pods == model.Count(
        minimum=2, maximum=None, reason="a scaling adapter lets autoscalers set its replicas"
    )
    ignored = {"enabled": True, "maxReplicas": 9}
    assert workload(alpha(resources=GPUS, autoscaling=ignored, scalingAdapter={})).pods.maximum == 1
    assert workload(alpha(resources=GPUS, scalingAdapter={"enabled": True})).pods.maximum is None


@pytest.mark.parametrize(
    ("checkpoint", "most"),
    [
        ({"enabled": True}, 2),
        ({"enabled": True, "mode": "Auto"}, 2),
        ({"enabled": True, "mode": "Manual"}, 1),
        ({"enabled": True, "checkpointRef": "own"}, 1),
        ({"enabled": False}, 1),
    ],
)
def test_a_job_that_writes_a_checkpoint_is_one_pod_more(checkpoint: builders.JsonValue, most: int) -> None:
    """The description of `checkpoint` in deploy/operator/config/crd/bases/nvidia.com_dynamographdeployments.yaml."""
    of_alpha = alpha(checkpoint=checkpoint)
    of_beta = beta(component("w", experimental={"checkpoint": checkpoint}))

    for value in (of_alpha, of_beta):
        (pods,) = workload(value).pod_sets
        assert (pods.count.minimum, pods.count.maximum) == (1, most)


def test_the_memory_service_takes_the_gpus_by_a_claim() -> None:
    inside = beta(component("a", replicas=2, experimental={"gpuMemoryService": {}}))
    between = {"gpuMemoryService": {"mode": "InterPod"}, "failover": {"mode": "InterPod"}}
    apart = beta(component("a", replicas=2, experimental=between))

    assert totals(inside) == totals(apart) == {"gpu.nvidia.com": ("8", "8")}
    assert workload(inside).pods.minimum == 2
    assert [(each.name, each.count.minimum) for each in workload(apart).pod_sets] == [("a", 2), ("a-gms", 4)]
    enabled: builders.JsonValue = {"enabled": True, "deviceClassName": "mig.nvidia.com"}
    assert totals(alpha(resources=GPUS, gpuMemoryService=enabled)) == {"mig.nvidia.com": ("4", "4")}
    assert totals(alpha(resources=GPUS, gpuMemoryService={"enabled": False})) == {builders.GPU: ("4", "4")}


def test_labels_of_the_graph_and_of_the_component_reach_the_pods() -> None:
    own = component("a")
    own["podTemplate"] = {**own["podTemplate"], "metadata": {"labels": {"team": "b"}}}  # type: ignore[dict-item]
    found = workload(beta(own, labels={"team": "a", "app": "chat"}, env=[{"name": "NCCL_DEBUG", "value": "WARN"}]))

    assert found.pod_sets[0].labels == {"team": "b", "app": "chat"}
    assert [each.name for each in found.pod_sets[0].containers[0].environment] == ["NCCL_DEBUG"]
    service = alpha(resources=GPUS, labels={"team": "a"}, extraPodMetadata={"labels": {"app": "chat"}})
    assert workload(service).pod_sets[0].labels == {"team": "a", "app": "chat"}


def test_pods_of_several_nodes_are_a_gang_that_the_operator_makes_if_it_is_configured_to() -> None:
    assert workload(beta(component("a", multinode={"nodeCount": 2}))).gang.formed_by == model.GANG_IF_CONFIGURED
    assert not workload(beta(component("a", replicas=2))).gang.wanted


def test_a_component_deployment_is_read_like_a_component() -> None:
    assert totals(alpha("DynamoComponentDeployment", resources=GPUS, replicas=2)) == {builders.GPU: ("8", "8")}
    found = builders.custom(
        "nvidia.com/v1beta1", "DynamoComponentDeployment", component("a", multinode={"nodeCount": 2})
    )
    assert totals(found) == {builders.GPU: ("8", "8")}


def test_no_value_of_v1alpha1_makes_the_reading_fail() -> None:
    whole = alpha(
        replicas=2,
        multinode={"nodeCount": 2},
        resources={"requests": {"gpu": "1", "custom": {"a/b": "1"}}, "claims": [{"name": "x"}]},
        envs=[{"name": "A", "value": "b"}],
        labels={"a": "b"},
        sharedMemory={"size": "1Gi", "disabled": False},
        scalingAdapter={"enabled": True},
        gpuMemoryService={"enabled": True, "mode": "interPod"},
        failover={"enabled": True, "numShadows": 1},
        extraPodMetadata={"labels": {"a": "b"}},
        extraPodSpec={"volumes": [], "containers": [], "mainContainer": {"volumeMounts": [], "args": ["a"]}},
    )
    for pointer, _ in places(whole):
        for junk in _JUNK:
            if pointer.startswith("/spec"):
                assert workload(builders.replaced(whole, pointer, junk)).kind == "DynamoGraphDeployment"


_JUNK: list[paths.Json] = [None, True, 7, "junk", [7], {"junk": 7}]

_EXAMPLES = "ai-dynamo+dynamo/examples/backends/vllm/deploy"
_UPSTREAM = [
    # Four pods of two components on two nodes and a frontend: "Total GPUs used is nodeCount * container GPU request".
    (f"{_EXAMPLES}/disagg-multinode.yaml", 5, {"nvidia.com/gpu": 4}),
    # "2 agg replicas (each 2-node TP8)", "per node; 2 nodes x 4 = 8 GPUs in the TP group".
    ("ai-dynamo+dynamo/recipes/kimi-k3/vllm/agg-gb300-agentic/deploy.yaml", 5, {"nvidia.com/gpu": 16}),
    # A prefill worker of 4 GPUs, a decode worker of 8 nodes with tensor_parallel_size 32 in its configuration.
    ("ai-dynamo+dynamo/recipes/deepseek-r1/trtllm/disagg/wide_ep/gb200/deploy.yaml", 10, {"nvidia.com/gpu": 36}),
    # GPUs by a claim of the memory service: one claim of a pod (internal/dynamo/gms.go).
    (f"{_EXAMPLES}/agg_gms.yaml", 2, {"gpu.nvidia.com": 1}),
    (f"{_EXAMPLES}/xpu/disagg_xpu_dra.yaml", 3, {"gpu.intel.com": 2}),
    # docs/user-guide/01_core-concepts of Grove: 2 x (1 + 4) prefill pods and 1 + 2 decode pods.
    ("ai-dynamo+grove/operator/samples/user-guide/01_core-concepts/multi-node-disaggregated.yaml", 13, {}),
    ("ai-dynamo+grove/operator/samples/user-guide/01_core-concepts/complete-inference-pipeline.yaml", 11, {}),
    ("ai-dynamo+grove/operator/samples/simple/simple2-explicit-startup-order.yaml", 9, {}),
    # Scaling group of 2 replicas, with 2 pods of each of 2 cliques.
    ("ai-dynamo+grove/operator/e2e/yaml/tas-hierarchy.yaml", 8, {}),
    ("ai-dynamo+grove/operator/e2e/yaml/auto-mnnvl/mnnvl-gpu-default.yaml", 1, {"nvidia.com/gpu": 1}),
]  # fmt: skip


@needs_shared("published manifests")
@pytest.mark.parametrize(("file", "pods", "devices"), _UPSTREAM, ids=[Path(file).stem for file, _, _ in _UPSTREAM])
def test_pods_and_devices_are_those_that_upstream_says(file: str, pods: int, devices: dict[str, int]) -> None:
    values = list(yaml.load_all((shared_files.FOLDER / "corpus" / file).read_bytes(), yaml.CSafeLoader))
    (served,) = [each for each in values if each["kind"] in ("DynamoGraphDeployment", "PodCliqueSet")]
    found = readable_workload(served, objects=Objects(values))

    assert found.pods.minimum == pods
    assert {each.name: int(str(each.minimum)) for each in found.totals} == devices


def test_a_checkpoint_is_one_pod_with_the_memory_that_its_operator_mounts() -> None:
    job: builders.JsonValue = {"podTemplateSpec": {"spec": builders.pod_spec(builders.container("main", gpus=4))}}
    checkpoint = builders.custom(ALPHA, "DynamoCheckpoint", {"job": job})
    found = readable_workload(checkpoint).pod_sets[0]

    assert (found.count.minimum, found.count.maximum, found.changeable) == (1, 1, False)
    assert sizes(checkpoint) == [8]
    assert totals(checkpoint) == {builders.GPU: ("4", "4")}
    assert registry.is_finished(builders.replaced(checkpoint, "/status", {"phase": "Ready"}))
    assert not registry.is_finished(checkpoint)


@pytest.mark.parametrize(
    ("service", "made", "written"),
    [
        ({"resources": GPUS}, "/resources/limits/nvidia.com~1gpu", "/resources/limits/gpu"),
        (
            {"resources": {"limits": {"custom": {"rdma/ib": "1"}}}},
            "/resources/limits/rdma~1ib",
            "/resources/limits/custom/rdma~1ib",
        ),
        ({"resources": GPUS}, "/extraPodSpec/volumes/0", "/sharedMemory"),
    ],
)
def test_fields_of_v1alpha1_are_known_by_what_becomes_of_them(service: Any, made: str, written: str) -> None:
    (found,) = workload(alpha(**service)).pod_sets
    of = "/spec/services/Worker"

    assert found.written[of + made] == of + written
    paths.resolve(alpha(**service), f"{of}{written}".rpartition("/")[0])
