"""Workspaces of KAITO and services of OME; each case names the line that decides it.

K: kaito-project/kaito at 056b8280, O: pkg/controller/v1beta1/inferenceservice of sgl-project/ome at 17b77eda.
"""

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import paths
from usher.kinds.reading.values import Objects

MIG = "nvidia.com/mig-2g.24gb"
UNBOUNDED = "unbounded"


def unread(value: paths.Object) -> set[str]:
    return {path for path, _ in unknowns(value)}


def workspace(resource: paths.Json, version: str = "kaito.sh/v1beta1", **fields: paths.Json) -> paths.Object:
    metadata: paths.Object = {"name": "phi", "namespace": "ml"}
    return {"apiVersion": version, "kind": "Workspace", "metadata": metadata, "resource": resource, **fields}


def machine(name: str, **fields: paths.Json) -> paths.Object:
    return {"instanceType": name, **fields}


PRESET: paths.Json = {"preset": {"name": "phi-4"}}
OWN: paths.Json = {"template": builders.template(builders.container("engine", gpus=1))}

WORKSPACES = {
    # K:pkg/workspace/inference/preset_inferences.go getGPUConfig and K:pkg/sku/azure_sku_handler.go.
    "all GPUs of a machine": (workspace(machine("Standard_ND96isr_H200_v5"), inference=PRESET), ("8", UNBOUNDED)),
    "a machine of AWS": (workspace(machine("p5.48xlarge"), inference=PRESET), ("8", UNBOUNDED)),
    # K:pkg/workspace/estimator/nodesestimator/estimator.go EstimateNodeCount: the model decides, not the count.
    "several nodes": (workspace(machine("Standard_NC80adis_H100_v5", count=6), inference=PRESET), ("2", UNBOUNDED)),
    "nodes that KAITO computed": (
        workspace(machine("Standard_NC80adis_H100_v5"), inference=PRESET, status={"targetNodeCount": 6}),
        ("12", "12"),
    ),
    # The same: without a preset the count of the user, or 1.
    "a template": (workspace(machine("Standard_NC24ads_A100_v4", count=3), inference=OWN), ("3", "3")),
    # K:pkg/workspace/tuning/preset_tuning.go:148-209 and manifests.go GenerateTuningJobManifest: one pod.
    "tuning": (workspace(machine("Standard_NC96ads_A100_v4", count=3), tuning={"method": "lora"}), ("4", "4")),
    # K:pkg/workspace/inference/preset_inferences.go ScaleGPUConfigToCount.
    "some GPUs of a node": (
        workspace({"partition": {"mode": "accelerator", "count": 2}}, inference=PRESET),
        ("2", UNBOUNDED),
    ),
    "the older version": (
        workspace(machine("Standard_NC24ads_A100_v4"), "kaito.sh/v1alpha1", inference=PRESET),
        ("1", UNBOUNDED),
    ),
}


@pytest.mark.parametrize(("value", "expected"), WORKSPACES.values(), ids=WORKSPACES)
def test_workspaces_ask_for_the_gpus_of_their_machines(value: paths.Object, expected: tuple[str, str]) -> None:
    assert totals(value) == {builders.GPU: expected}


def test_a_partition_has_a_resource_of_its_own() -> None:
    """K:pkg/workspace/inference/preset_inferences.go GenerateInferencePodSpec, MIGResourceName."""
    value = workspace({"partition": {"mode": "mig", "profile": "2g.24gb"}}, inference=PRESET)
    (pods,) = readable_workload(value).pod_sets

    assert totals(value) == {MIG: ("1", UNBOUNDED)}
    assert [each["key"] for each in pods.tolerations] == [builders.GPU, "sku", MIG]


def test_pods_run_where_the_labels_of_the_workspace_select() -> None:
    """K:pkg/workspace/manifests/manifests.go GenerateManifestWithPodTemplate overwrites the affinity."""
    selector: paths.Json = {"matchLabels": {"apps": "phi"}}
    for inference in (PRESET, OWN):
        value = workspace(machine("Standard_NC24ads_A100_v4", labelSelector=selector), inference=inference)
        (pods,) = readable_workload(value).pod_sets
        assert pods.required_terms == ({"matchExpressions": [{"key": "apps", "operator": "In", "values": ["phi"]}]},)
        assert {"key": builders.GPU, "operator": "Exists", "effect": "NoSchedule"} in pods.tolerations


def test_pods_of_sets_run_where_the_labels_of_the_set_select() -> None:
    """K:pkg/inferenceset/inferenceset_controller.go and K:pkg/controllers/multiroleinference/controller.go."""
    selector: paths.Json = {"matchLabels": {"apps": "phi"}}
    resource: paths.Json = {"resource": machine("Standard_NC24ads_A100_v4"), "inference": PRESET}
    roles: paths.Json = [{"type": "prefill", **machine("Standard_NC24ads_A100_v4")}]
    for kind, spec in (("InferenceSet", {"template": resource}), ("MultiRoleInference", {"roles": roles})):
        whole: paths.Object = {"labelSelector": selector, **spec}
        (pods,) = readable_workload(builders.custom("kaito.sh/v1alpha1", kind, whole)).pod_sets
        assert pods.required_terms == ({"matchExpressions": [{"key": "apps", "operator": "In", "values": ["phi"]}]},)
        assert pods.places["nodeSelectorTerms"] == "/spec/labelSelector"


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        (machine("Standard_D4s_v5"), "/resource/instanceType"),
        ({"labelSelector": {}}, "/resource"),
        (None, "/resource"),
    ],
)
def test_machines_that_kaito_does_not_know_are_unknown(resource: paths.Json, path: str) -> None:
    assert unread(workspace(resource, inference=PRESET)) == {path}


def test_sets_roles_and_engines_of_kaito() -> None:
    """K:api/v1beta1/inferenceset_types.go, K:api/v1alpha1/multiroleinference_types.go, K:pkg/ragengine/controllers."""
    template = {"resource": machine("Standard_NC80adis_H100_v5"), "inference": PRESET}
    several = builders.custom("kaito.sh/v1beta1", "InferenceSet", {"replicas": 3, "template": template})
    roles: builders.JsonValue = [
        {"type": "prefill", **machine("Standard_NC24ads_A100_v4")},
        {"type": "decode", "replicas": 2, **machine("Standard_NC80adis_H100_v5")},
    ]
    engine = {"compute": machine("Standard_NC24ads_A100_v4")}

    assert totals(several) == {builders.GPU: ("6", UNBOUNDED)}
    assert totals(builders.custom("kaito.sh/v1alpha1", "MultiRoleInference", {"roles": roles})) == {
        builders.GPU: ("5", UNBOUNDED)
    }
    assert totals(builders.custom("kaito.sh/v1beta1", "RAGEngine", {**engine, "embedding": {"local": {}}})) == {
        builders.GPU: ("1", "1")
    }
    assert not totals(builders.custom("kaito.sh/v1beta1", "RAGEngine", {**engine, "embedding": {"remote": {}}}))


def runner(gpus: int) -> builders.JsonValue:
    return builders.container("ome-container", gpus=gpus)


def service(**spec: builders.JsonValue) -> paths.Object:
    return builders.custom("ome.io/v1beta1", "InferenceService", {"model": {"name": "deepseek"}, **spec})


def runtime(**spec: builders.JsonValue) -> paths.Object:
    return builders.custom("ome.io/v1beta1", "ClusterServingRuntime", spec, name="sglang", namespace="")


NAMED: builders.JsonValue = {"name": "sglang"}
NODES: builders.JsonValue = {"leader": {"runner": runner(8)}, "worker": {"size": 3, "runner": runner(8)}}

SERVICES = {
    # O:utils/merging.go MergeEngineSpec: the runtime has the pods, the service the numbers.
    "the engine of a runtime": (
        service(runtime=NAMED, engine={"minReplicas": 2, "maxReplicas": 4}),
        [("engine", "/spec/engine", 2, 5)],
        ("16", "40"),
    ),
    # The same: a component that the service lacks is not made.
    "a router alone": (service(runtime=NAMED, router={}), [("router", "/spec/router", 1, 2)], None),
    # O:utils/deployment.go DetermineEngineDeploymentMode, O:reconcilers/lws/lws_reconciler.go:70-97.
    "several nodes": (
        service(runtime=NAMED, decoder={"minReplicas": 2}),
        [("decoder-leader", "/spec/decoder/leader", 2, 3), ("decoder-worker", "/spec/decoder/worker", 6, 9)],
        ("64", "96"),
    ),
    # O:utils/merging.go mergeSpec: a strategic merge patch.
    "other GPUs than the runtime": (
        service(runtime=NAMED, engine={"runner": {"resources": {"limits": {builders.GPU: 4}}}}),
        [("engine", "/spec/engine", 1, 2)],
        ("4", "8"),
    ),
    "a runner of its own": (service(engine={"runner": runner(2)}), [("engine", "/spec/engine", 1, 2)], ("2", "4")),
}


@pytest.mark.parametrize(("value", "pods", "gpus"), SERVICES.values(), ids=SERVICES)
def test_services_of_ome_make_what_their_runtime_says(
    value: paths.Object, pods: list[tuple[str, str, int, int | None]], gpus: tuple[str, str] | None
) -> None:
    of_runtime = runtime(engineConfig={"runner": runner(8)}, decoderConfig=NODES, routerConfig={"runner": {}})
    known = Objects([of_runtime])

    assert counts(value, objects=known) == pods
    assert totals(value, objects=known) == ({} if gpus is None else {builders.GPU: gpus})


def test_a_runtime_that_only_the_operator_chooses_is_unknown_and_no_pass() -> None:
    assert unread(service(engine={"minReplicas": 1})) == {"/spec/engine"}
    assert unread(service(runtime=NAMED, engine={})) == {"/spec/runtime/name", "/spec/engine"}
    chosen = service(engine={"runner": runner(8)}, acceleratorSelector={"acceleratorClass": "h100"})
    assert unread(chosen) == {"/spec/acceleratorSelector"}


def test_runtimes_are_judged_for_one_use_and_benchmarks_as_one_pod() -> None:
    found = workload(runtime(engineConfig=NODES))
    benchmark = builders.custom("ome.io/v1beta1", "BenchmarkJob", {"podOverride": runner(1)})

    assert found.is_template
    assert totals(runtime(engineConfig=NODES)) == {builders.GPU: ("32", "64")}
    assert counts(benchmark) == [("", "/spec/podOverride", 1, 1)]
