"""Workspaces of KAITO and services of OME; each case names the line that decides it.

K: kaito-project/kaito at 056b8280, O: pkg/controller/v1beta1/inferenceservice of sgl-project/ome at 17b77eda.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import builders
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import paths
from usher.kinds import ome
from usher.kinds.reading.values import Objects

MIG = "nvidia.com/mig-2g.24gb"
UNBOUNDED = "unbounded"


DATA = Path(__file__).parents[2] / "data"


def unread(value: paths.Object, objects: Objects | None = None) -> set[str]:
    return {path for path, _ in unknowns(value, objects=objects or Objects(()))}


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


def of_ome(kind: str, name: str, spec: Mapping[str, builders.JsonValue], namespace: str | None = None) -> paths.Object:
    return builders.custom("ome.io/v1beta1", kind, spec, name=name, namespace=namespace)


LLAMA: dict[str, builders.JsonValue] = {
    "modelArchitecture": "LlamaForCausalLM",
    "modelFormat": {"name": "safetensors", "version": "1.0.0"},
    "modelFramework": {"name": "transformers", "version": "4.47.0"},
}
"""A model's description of itself, and a runtime's of the models that it supports."""


def llama(**fields: builders.JsonValue) -> paths.Object:
    return of_ome("ClusterBaseModel", "deepseek", {**LLAMA, "modelParameterSize": "8B", **fields})


def supporting(name: str, gpus: int, namespace: str | None = None, **fields: builders.JsonValue) -> paths.Object:
    """A runtime that supports models of Llama, with other fields of the format, or of the runtime."""
    whole = ("modelSizeRange", "disabled", "acceleratorRequirements", "nodeSelector", "containers", "decoderConfig")
    spec = {key: value for key, value in fields.items() if key in whole}
    supported = {**LLAMA, "autoSelect": True, **{key: value for key, value in fields.items() if key not in whole}}
    spec = {"supportedModelFormats": [supported], "engineConfig": {"runner": runner(gpus)}, **spec}
    return of_ome("ServingRuntime" if namespace else "ClusterServingRuntime", name, spec, namespace)


def of_sizes(least: str, most: str) -> builders.JsonValue:
    return {"min": least, "max": most}


NEWER: builders.JsonValue = {"name": "transformers", "version": "4.43.0", "operator": "GreaterThanOrEqual"}
OLDER: builders.JsonValue = {"name": "transformers", "version": "4.50.0", "operator": "GreaterThanOrEqual"}
CHOICES: dict[str, tuple[list[paths.Object], int | None]] = {
    # S = pkg/runtimeselector of the same commit. S:scorer.go CompareRuntimes.
    "the first name of two alike": ([supporting("b", 2), supporting("a", 1)], 1),
    "the higher priority": ([supporting("a", 1, priority=1), supporting("b", 2, priority=3)], 2),
    "the higher weight": (
        [supporting("a", 1), supporting("b", 2, modelFormat={"name": "safetensors", "version": "1.0.0", "weight": 20})],
        2,
    ),
    "the nearest range of sizes": (
        [
            supporting("a", 1, modelSizeRange=of_sizes("1B", "80B")),
            supporting("b", 2, modelSizeRange=of_sizes("7B", "9B")),
        ],
        2,
    ),
    # S:selector.go GetCompatibleRuntimes: the namespace before the cluster.
    "of the namespace": ([supporting("a", 1, priority=9), supporting("b", 2, "ml-research")], 2),
    "of another namespace": ([supporting("a", 1), supporting("b", 2, "other")], 1),
    # S:matcher.go checkModelSize, compareSupportedModelFormats.
    "another size": ([supporting("a", 1, modelSizeRange=of_sizes("60B", "75B")), supporting("b", 2)], 2),
    "another architecture": ([supporting("a", 1, modelArchitecture="Qwen2ForCausalLM"), supporting("b", 2)], 2),
    "another quantisation": ([supporting("a", 1, quantization="fp8"), supporting("b", 2)], 2),
    "another format": ([supporting("a", 1, modelFormat={"name": "onnx", "version": "1.0.0"}), supporting("b", 2)], 2),
    "a pipeline of diffusion": ([supporting("a", 1, diffusionPipeline={"className": "Flux"}), supporting("b", 2)], 2),
    # S:matcher.go compareModelFrameworkVersions: the runtime's version is compared with that of the model.
    "a version that is not greater": ([supporting("a", 1, modelFramework=NEWER), supporting("b", 2)], 2),
    "a greater version": ([supporting("a", 1, modelFramework=OLDER), supporting("b", 2)], 1),
    # S:selector.go evaluateRuntime.
    "not chosen by itself": ([supporting("a", 1, autoSelect=False), supporting("b", 2)], 2),
    "disabled": ([supporting("a", 1, disabled=True), supporting("b", 2)], 2),
    "no runtime that supports it": ([supporting("a", 1, modelArchitecture="Qwen2ForCausalLM")], None),
    "no runtime": ([], None),
}


@pytest.mark.parametrize(("runtimes", "gpus"), CHOICES.values(), ids=CHOICES)
def test_ome_chooses_a_runtime_by_the_model(runtimes: list[paths.Object], gpus: int | None) -> None:
    value = service(engine={"maxReplicas": 1})
    known = Objects([llama(), *runtimes])

    if gpus is None:
        assert unread(value, known) == {"/spec/engine"}
    else:
        assert totals(value, objects=known) == {builders.GPU: (str(gpus), str(2 * gpus))}


def test_a_model_that_leaves_out_a_field_may_get_any_runtime_that_its_files_allow() -> None:
    """pkg/modelagent/config_parser.go updateModelSpec writes the missing fields, unless an annotation forbids it."""
    value = service(engine={"maxReplicas": 1})
    runtimes = [supporting("small", 1, modelSizeRange=of_sizes("1B", "9B")), supporting("any", 2)]
    kept = llama(modelParameterSize=None)
    kept["metadata"] = {"name": "deepseek", "annotations": {"ome.oracle.com/skip-config-parsing": "true"}}

    ((path, reason),) = unknowns(value, objects=Objects([llama(modelParameterSize=None), *runtimes]))
    assert path == "/spec/engine"
    assert (
        "OME reads modelParameterSize of model deepseek from its files, and may choose the runtime any, small" in reason
    )
    assert "Name a runtime" in reason
    assert totals(value, objects=Objects([kept, *runtimes])) == {builders.GPU: ("2", "4")}
    assert totals(value, objects=Objects([llama(modelParameterSize=None), runtimes[0]])) == {builders.GPU: ("1", "2")}


def test_a_class_of_accelerators_gives_the_pods_its_devices_and_nodes() -> None:
    """pkg/acceleratorclassselector and components/base.go MergeEngineResources, UpdatePodSpecNodeSelector."""
    requires: builders.JsonValue = {"acceleratorClasses": ["h100"]}
    known = Objects(
        [
            llama(),
            supporting("a", 1),
            supporting("b", 2, acceleratorRequirements=requires, nodeSelector={"pool": "b", "zone": "1"}),
            of_ome(
                "AcceleratorClass",
                "h100",
                {
                    "discovery": {"nodeSelector": {"pool": "h100"}},
                    "resources": [{"name": builders.GPU, "quantity": "8"}],
                },
            ),
        ]
    )
    chosen: builders.JsonValue = {"acceleratorClass": "h100"}
    selected = service(engine={"maxReplicas": 1}, acceleratorSelector=chosen)
    own = service(
        engine={"maxReplicas": 1, "runner": runner(4), "nodeSelector": {"zone": "2"}}, acceleratorSelector=chosen
    )

    assert totals(selected, objects=known) == {builders.GPU: ("8", "16")}
    assert totals(own, objects=known) == {builders.GPU: ("4", "8")}
    (pods,) = readable_workload(own, objects=known).pod_sets
    assert pods.node_selector == {"pool": "h100", "zone": "2"}
    assert totals(service(engine={"acceleratorOverride": chosen, "maxReplicas": 1}), objects=known) == {
        builders.GPU: ("8", "16")
    }
    assert unread(service(engine={}, acceleratorSelector={"acceleratorClass": "a100"}), known) == {
        "/spec/acceleratorSelector",
        "/spec/engine",
    }


def configured(**config: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {"acceleratorConfig": {"h100": config}}


def test_arguments_and_variables_follow_the_class_of_accelerators() -> None:
    """components/base.go UpdateEnvVariables, MergeRuntimeArgumentsOverride; selector.go GetSupportedModelFormat."""
    of_h100 = configured(
        runtimeArgsOverride=["--dp-size=1"],
        tensorParallelismOverride={"tensorParallelSize": 8},
        environmentOverride={"NCCL_DEBUG": "INFO", "NCCL_ALGO": "Ring"},
    )
    own = {
        **builders.container("ome-container", image="lmsysorg/sglang:v0.4.6", gpus=8),
        "command": ["python3", "-m", "sglang.launch_server"],
        "args": ["--tp-size=2"],
        "env": [{"name": "NCCL_ALGO", "value": "Tree"}],
    }
    value = service(runtime={"name": "srt"}, engine={"runner": own}, acceleratorSelector={"acceleratorClass": "h100"})
    spec: dict[str, builders.JsonValue] = {
        "supportedModelFormats": [{"modelFormat": {"name": "onnx"}}, {**LLAMA, **of_h100}],
        "acceleratorRequirements": {"acceleratorClasses": ["h100"]},
        "engineConfig": {"runner": runner(8)},
    }
    known = [of_ome("ClusterServingRuntime", "srt", spec), of_ome("AcceleratorClass", "h100", {"resources": []})]

    (pods,) = readable_workload(value, objects=Objects([*known, llama()])).pod_sets
    (container,) = pods.containers

    assert container.command[-2:] == ("--tp-size=8", "--dp-size=1")
    assert container.parallelism is not None
    assert container.parallelism["tensor"] == 8
    assert {each.name: each.value for each in container.environment} == {"NCCL_ALGO": "Ring", "NCCL_DEBUG": "INFO"}
    ((path, reason),) = unknowns(value, objects=Objects(known))
    assert path == "/spec/model/name"
    assert "AcceleratorClass h100" in reason
    assert "model deepseek is not known here" in reason


def test_arguments_are_merged_as_ome_itself_merged_them() -> None:
    """The answers are those of utils/merging.go, built and run on these lists."""
    cases = json.loads((DATA / "arguments_that_ome_merged.json").read_text())
    assert len(cases) >= 60
    for case in cases:
        given = {"args": case["args"], "command": case["command"]}
        assert {**given, **ome.arguments(given, case["config"])} == case["merged"], case


@pytest.mark.parametrize(
    ("predictor", "expected"),
    [
        ({"model": {"baseModel": "llama"}}, {"/spec/predictor"}),
        ({"minReplicas": 2}, {"/spec/predictor"}),
        ({"containers": [runner(1)]}, {"/spec/predictor"}),
        ({}, set()),
    ],
)
def test_a_predictor_never_passes_silently(predictor: builders.JsonValue, expected: set[str]) -> None:
    """utils/migration_util.go MigratePredictorToNewArchitecture."""
    value = of_ome("InferenceService", "old", {"predictor": predictor}, "ml-research")

    assert unread(value) == expected
    assert unread(of_ome("InferenceService", "new", {"predictor": predictor, "engine": {"runner": runner(1)}})) == set()


def test_usher_chooses_as_ome_itself_did() -> None:
    """The answers are those of pkg/runtimeselector and pkg/acceleratorclassselector, built and run on these objects."""
    cases = json.loads((DATA / "runtimes_that_ome_chose.json").read_text())
    assert len(cases) >= 60
    for case in cases:
        known = Objects(case["objects"])
        if case["gpus"] is None:
            assert unread(case["service"], known), case["service"]
        else:
            assert totals(case["service"], objects=known).get(builders.GPU, ("0",))[0] == str(case["gpus"]), case


DAMAGED: list[builders.JsonValue] = [
    None,
    7,
    "text",
    [],
    [7],
    {},
    {"name": 7},
    {"name": {}},
    {"min": [], "max": 7},
    1e300,
]


@pytest.mark.parametrize("value", DAMAGED, ids=repr)
@pytest.mark.parametrize("kind", ["model", "format", "runtime", "class", "service"])
def test_damaged_objects_of_ome_are_unknown_and_never_a_fault(kind: str, value: builders.JsonValue) -> None:
    about = {**LLAMA, "modelParameterSize": "8B"}
    for key in (*about, "quantization", "diffusionPipeline", "autoSelect", "priority"):
        model_spec = {**about, key: value} if kind == "model" else about
        supported = {"autoSelect": True, **LLAMA, **({key: value} if kind == "format" else {})}
        spec: dict[str, builders.JsonValue] = {
            "supportedModelFormats": [supported],
            "modelSizeRange": of_sizes("1B", "9B"),
            "acceleratorRequirements": {"acceleratorClasses": ["h100"]},
            "engineConfig": {"runner": runner(1)},
        }
        for field in spec if kind == "runtime" else ("nodeSelector",):
            known = Objects(
                [
                    of_ome("ClusterBaseModel", "deepseek", model_spec),
                    of_ome("ClusterServingRuntime", "a", {**spec, field: value} if kind == "runtime" else spec),
                    of_ome(
                        "AcceleratorClass",
                        "h100",
                        {"discovery": value, "resources": [value]} if kind == "class" else {},
                    ),
                ]
            )
            asked = {"engine": {}, "acceleratorSelector": value if kind == "service" else {"acceleratorClass": "h100"}}
            workload(service(**asked), objects=known)


def test_a_runtime_that_nothing_names_or_knows_is_unknown_and_no_pass() -> None:
    ((path, reason),) = unknowns(service(engine={"minReplicas": 1}))
    assert path == "/spec/engine"
    assert "model deepseek is not known here" in reason
    assert "--facts" in reason
    assert unread(service(runtime=NAMED, engine={})) == {"/spec/runtime/name", "/spec/engine"}
    chosen = service(engine={"runner": runner(8)}, acceleratorSelector={"acceleratorClass": "h100"})
    assert unread(chosen) == {"/spec/acceleratorSelector"}


def test_runtimes_are_judged_for_one_use_and_benchmarks_as_one_pod() -> None:
    found = workload(runtime(engineConfig=NODES))
    benchmark = builders.custom("ome.io/v1beta1", "BenchmarkJob", {"podOverride": runner(1)})

    assert found.is_template
    assert totals(runtime(engineConfig=NODES)) == {builders.GPU: ("32", "64")}
    assert counts(benchmark) == [("", "/spec/podOverride", 1, 1)]
