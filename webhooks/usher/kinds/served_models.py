"""Models and services that an operator serves: KAITO, OME, Knative (serving.knative.dev) and VLLMRuntimes.

KAITO makes its pods from a machine type: each asks for all GPUs of one machine. Sources: pkg/sku, pkg/workspace and
pkg/ragengine of kaito-project/kaito at 056b8280. The pods of an InferenceService of OME come from a runtime. Sources:
pkg/controller/v1beta1/inferenceservice of sgl-project/ome at 17b77eda. A Service of Knative makes a Configuration. The
Configuration makes a Revision for every change of its template, and the Revision makes a Deployment.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from usher import memo, model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import pod_templates as layers
from usher.kinds.reading.counts import DEFAULT_SURGE, share_of_replicas
from usher.kinds.reading.pod_templates import listed_containers, pod_spec, pod_template, template_times
from usher.kinds.reading.templates import LISTS, ONE, TERMS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

_GPU: Final = "nvidia.com/gpu"

_GPUS_OF_MACHINES: Final[Mapping[str, int]] = {
    name: gpus
    for gpus, names in {
        1: "Standard_NV36ads_A10_v5 Standard_NC24ads_A100_v4 Standard_NC40ads_H100_v5 Standard_NCC40ads_H100_v5 "
        "Standard_NG32ads_V620_v1 Standard_NG32adms_V620_v1 Standard_NC4_A2 Standard_NC8_A2 Standard_NC4_A16 "
        "Standard_NC8_A16 g6.xlarge g6.2xlarge g6.4xlarge g6.8xlarge g6.16xlarge gr6.4xlarge g5.xlarge g5.2xlarge "
        "g5.4xlarge g5.8xlarge g5.16xlarge g4ad.xlarge g4ad.2xlarge g4ad.4xlarge trn1.2xlarge inf2.xlarge inf2.8xlarge",
        2: "Standard_NV72ads_A10_v5 Standard_NC48ads_A100_v4 Standard_NC80adis_H100_v5 Standard_NC16_A2 "
        "Standard_NC32_A2 Standard_NC16_A16 Standard_NC32_A16 g4ad.8xlarge",
        4: "Standard_NC96ads_A100_v4 g6.12xlarge g6.24xlarge g5.12xlarge g5.24xlarge g4ad.16xlarge",
        6: "inf2.24xlarge",
        8: "Standard_ND96asr_A100_v4 Standard_ND96amsr_A100_v4 Standard_ND96isr_H100_v5 Standard_ND96isr_H200_v5 "
        "p4d.24xlarge p4de.24xlarge p5.48xlarge p5e.48xlarge p5en.48xlarge g6.48xlarge g5.48xlarge",
        12: "inf2.48xlarge",
        16: "trn1.32xlarge trn1n.32xlarge",
    }.items()
    for name in names.split()
}
"""GPUs of the machine types that KAITO knows (pkg/sku); it asks for as many nvidia.com/gpu, whatever their vendor."""

_KAITO_TOLERATES: Final[list[paths.Json]] = [
    {"key": _GPU, "operator": "Exists", "effect": "NoSchedule"},
    {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
]
_KAITO_TRAITS: Final = Traits(changeable=False)
_BY_MODEL: Final = "KAITO computes the number of nodes from the size of the model"


def _workspace(workspace: Object, reading: Reading) -> Iterator[Template]:
    status = reading.mapping(workspace.get("status"), "/status")
    nodes = reading.count(status.get("targetNodeCount"), "/status/targetNodeCount", default=0, of="nodes")
    yield from _of_workspace(workspace, "", nodes, reading)


def _of_workspace(
    holder: Object, path: str, nodes: int, reading: Reading, *, selector: Place | None = None
) -> Iterator[Template]:
    """The pods of a workspace: one for each node, or one that tunes a model.

    Args:
        nodes: `status.targetNodeCount`, which KAITO sets once; 0 until then.
        selector: the selector of the set that makes it, in place of its own.
    """
    resource = Place(holder.get("resource"), path + "/resource")
    asked = reading.mapping(*resource)
    selected = selector or Place(asked.get("labelSelector"), resource.path + "/labelSelector")
    reading.text(asked.get("instanceType"), resource.path + "/instanceType")
    inference = reading.mapping(holder.get("inference"), path + "/inference")
    if holder.get("tuning") is not None:
        yield _placed(_kaito_pod(resource, "tuning", ONE, reading), selected, reading)
        return
    count = reading.count(asked.get("count"), resource.path + "/count", default=1, of="nodes")
    if nodes:
        pods = model.Count(minimum=nodes, maximum=nodes)
    elif inference.get("template") is None:
        pods = model.Count(minimum=1, maximum=None, reason=_BY_MODEL)
    else:
        pods = model.Count(minimum=count, maximum=count)
    if inference.get("template") is None:
        yield _placed(_kaito_pod(resource, "inference", pods, reading), selected, reading)
        return
    place = Place(inference["template"], path + "/inference/template")
    found = pod_template(place, reading, count=pods)
    spec = reading.mapping(found.spec.value, found.spec.path)
    tolerations = [*reading.sequence(spec.get("tolerations"), found.spec.path + "/tolerations"), *_KAITO_TOLERATES]
    kept = {key: each for key, each in spec.items() if key not in ("affinity", "tolerations")}
    fields = {"tolerations": Place(tolerations, found.spec.path + "/tolerations")}
    yield _placed(replace(found, spec=Place(kept, found.spec.path), fields=fields), selected, reading)


def _kaito_pod(resource: Place, container: str, count: model.Count, reading: Reading, *, gpus: bool = True) -> Template:
    """A pod that KAITO writes whole."""
    asked = _of_machine(resource, reading) if gpus else {}
    place = Place(asked, resource.path)
    asks = resource.value if isinstance(resource.value, dict) else {}
    field = next((each for each in ("partition", "instanceType") if each in asks), "")
    value: dict[str, paths.Json] = {"volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}  # noqa: S108
    volumes: paths.Json = [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]
    tolerations = [
        *_KAITO_TOLERATES,
        *({"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in asked if name != _GPU),
    ]
    return Template(
        name="",
        path=resource.path,
        spec=Place(None, resource.path),
        count=count,
        traits=_KAITO_TRAITS,
        containers=(ContainerPlace(value=value, path=resource.path, name=container, requests=place, limits=place),),
        fields={
            "tolerations": Place(tolerations, resource.path),
            "volumes": Place(volumes, resource.path),
        },
        written={paths.join(resource.path, name): paths.join(resource.path, field) for name in asked if field},
        waits=count.minimum > 1,
    )


def _placed(pods: Template, selector: Place, reading: Reading) -> Template:
    """The pods with required node affinity for the labels of a selector."""
    labels = reading.strings(reading.mapping(*selector).get("matchLabels"), selector.path + "/matchLabels")
    if not labels:
        return pods
    terms = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return replace(pods, fields={TERMS: Place([{"matchExpressions": terms}], selector.path), **pods.fields})


def _of_machine(resource: Place, reading: Reading) -> dict[str, paths.Json]:
    """The request of one pod: all GPUs of the machine type, one partition, or some GPUs of a node that exists."""
    value, path = reading.mapping(*resource), resource.path
    at = path + "/partition"
    machine = reading.text(value.get("instanceType"), path + "/instanceType")
    partition = reading.mapping(value.get("partition"), at)
    profile = reading.text(partition.get("profile"), at + "/profile")
    mode = reading.text(partition.get("mode"), at + "/mode")
    if mode == "mig" and profile:
        return {f"nvidia.com/mig-{profile.replace('+', '.')}": "1"}
    if mode == "accelerator" and partition.get("count") is not None:
        return {_GPU: str(reading.count(partition["count"], at + "/count", default=1, of="GPUs"))}
    if machine in _GPUS_OF_MACHINES:
        return {_GPU: str(_GPUS_OF_MACHINES[machine])}
    if machine:
        reading.unknown(path + "/instanceType", f"KAITO does not know the machine type {machine}")
    elif value.get("instanceType") is None and (resource.value is None or value):
        reason = "without an instanceType the GPUs are those of the nodes that labelSelector selects"
        reading.unknown(path + "/instanceType" if value else path, reason)
    return {}


def _inference_set(inference_set: Object, reading: Reading) -> Iterator[Template]:
    """The workspaces of a set, which get its selector (pkg/inferenceset/inferenceset_controller.go)."""
    spec = reading.mapping(inference_set.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    template = reading.mapping(spec.get("template"), "/spec/template")
    selector = Place(spec.get("labelSelector"), "/spec/labelSelector")
    for each in _of_workspace(template, "/spec/template", 0, reading, selector=selector):
        yield template_times(each, model.Count(minimum=replicas, maximum=replicas))


def _multi_role(inference: Object, reading: Reading) -> Iterator[Template]:
    """The prefill and decode pods: each role is an InferenceSet with the labels of the whole, and two of its own
    (pkg/controllers/multiroleinference/controller.go).
    """
    spec = reading.mapping(inference.get("spec"), "/spec")
    selector = Place(spec.get("labelSelector"), "/spec/labelSelector")
    for path, role in reading.items(spec.get("roles"), "/spec/roles"):
        replicas = reading.count(role.get("replicas"), path + "/replicas", default=1)
        made = model.Count(minimum=replicas, maximum=None, reason=_BY_MODEL)
        found = _placed(_kaito_pod(Place(role, path), "inference", made, reading), selector, reading)
        yield replace(found, name=reading.text(role.get("type"), path + "/type"))


def _rag_engine(engine: Object, reading: Reading) -> Iterator[Template]:
    """The one pod of an engine: it has GPUs only to embed texts itself."""
    spec = reading.mapping(engine.get("spec"), "/spec")
    compute = Place(spec.get("compute"), "/spec/compute")
    embedding = reading.mapping(spec.get("embedding"), "/spec/embedding")
    machine = reading.text(reading.mapping(*compute).get("instanceType"), "/spec/compute/instanceType")
    known = embedding.get("local") is not None and machine in _GPUS_OF_MACHINES
    selector = Place(reading.mapping(*compute).get("labelSelector"), "/spec/compute/labelSelector")
    yield _placed(_kaito_pod(compute, "ragengine", ONE, reading, gpus=known), selector, reading)


_COMPONENTS: Final = ("engine", "decoder", "router")
_WORK: Final = {"engine": "prefill", "decoder": "decode", "router": "router"}
"""The work of components beside a decoder (pkg/apis/ome/v1beta1/inference_service.go)."""
_OME: Final = "ome.io"
_RUNTIMES: Final = ("ServingRuntime", "ClusterServingRuntime")


def _ome_service(service: Object, reading: Reading) -> Iterator[Template]:
    """The pods of the components that a service has: each completes the same component of its runtime."""
    spec = reading.mapping(service.get("spec"), "/spec")
    runtime = _runtime(service, spec, reading)
    if spec.get("acceleratorSelector") is not None:
        reading.unknown("/spec/acceleratorSelector", "an AcceleratorClass decides the accelerators of its pods")
    for name in _COMPONENTS:
        if spec.get(name) is None:
            continue
        path = f"/spec/{name}"
        own = reading.mapping(spec[name], path)
        if runtime is None and not {"runner", "leader", "containers"} & own.keys():
            reading.unknown(path, "OME chooses a runtime by the model, and usher does not: its pods are not judged")
            continue
        below = None if runtime is None else runtime.get(f"{name}Config")
        merged = own if below is None else layers.patched(below, Place(own, path), reading, typed=True)
        written = {} if below is None else dict.fromkeys(_of_runtime(merged, own, path), "/spec/runtime/name")
        for each in _component(name, Place(merged, path), is_own=below is None, reading=reading):
            work = _WORK[name] if spec.get("decoder") is not None else each.serves_as
            yield replace(each, serves_as=work, written=written)


def _runtime(service: Object, spec: Object, reading: Reading) -> Object | None:
    """The spec of the runtime that a service names; None where it has no name or usher does not find it."""
    path = "/spec/runtime"
    named = reading.mapping(spec.get("runtime"), path)
    name = reading.text(named.get("name"), path + "/name")
    if not name:
        return None
    metadata = reading.mapping(service.get("metadata"), "/metadata")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or reading.context.namespace
    kinds = (named["kind"],) if named.get("kind") in _RUNTIMES else _RUNTIMES
    for kind in kinds:
        reference = Reference(group=_OME, kind=str(kind), name=name, namespace=within if kind == _RUNTIMES[0] else "")
        found = reading.context.objects.find(reference)
        if isinstance(found, dict):
            return reading.mapping(found.get("spec"), path + "/name")
    reading.unknown(path + "/name", f"runtime {name} is not known: its pods are not judged")
    return None


def _of_runtime(merged: Object, own: Object, path: str) -> Iterator[str]:
    """The paths of what only the runtime has, outermost first."""
    for key, value in merged.items():
        here, mine = paths.join(path, key), own.get(key)
        if key not in own:
            yield here
        elif isinstance(value, dict) and isinstance(mine, dict):
            yield from _of_runtime(value, mine, here)
        elif isinstance(value, list) and isinstance(mine, list):
            yield from (f"{here}/{index}" for index in range(len(mine), len(value)))


def _ome_runtime(runtime: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(runtime.get("spec"), "/spec")
    for name in _COMPONENTS:
        path = f"/spec/{name}Config"
        if spec.get(name + "Config") is not None:
            for each in _component(name, Place(spec[name + "Config"], path), is_own=True, reading=reading):
                yield replace(each, serves_as=_WORK[name] if spec.get("decoderConfig") is not None else each.serves_as)


def _component(name: str, component: Place, *, is_own: bool, reading: Reading) -> Iterator[Template]:
    """The pods of one component: a Deployment, or a LeaderWorkerSet with a leader or workers (utils/deployment.go)."""
    value = reading.mapping(*component)
    least = reading.count(value.get("minReplicas"), component.path + "/minReplicas", default=1)
    if value.get("leader") is None and value.get("worker") is None:
        most = max(reading.count(value.get("maxReplicas"), component.path + "/maxReplicas", default=0), least)
        more = share_of_replicas(most, DEFAULT_SURGE, component.path, reading)
        reason = f"{more} more during a rollout" if more else ""
        grown = most if most > least else 0
        count = model.Count(minimum=least, maximum=most + more, reason=reason, grown=grown)
        yield _ome_pod(component, name, count, is_own=is_own, reading=reading)
        return
    groups = model.Count(minimum=least, maximum=least + 1, reason="1 more group during a rollout")
    workers = reading.mapping(value.get("worker"), component.path + "/worker")
    size = reading.count(workers.get("size"), component.path + "/worker/size", default=0)
    for part, number in (("leader", 1), ("worker", size)):
        if value.get(part) is None or not number:
            continue
        each = Place(value[part], f"{component.path}/{part}")
        count = model.Count(minimum=number, maximum=number)
        found = _ome_pod(each, f"{name}-{part}", count, is_own=is_own, reading=reading)
        unit = model.Unit(name, size + 1)
        yield replace(template_times(found, groups), waits=size > 0, groups=max(least, 1), unit=unit)


def _ome_pod(holder: Place, name: str, count: model.Count, *, is_own: bool, reading: Reading) -> Template:
    value = reading.mapping(*holder)
    lists = {each: Place(value.get(each), f"{holder.path}/{each}") for each, _ in LISTS}
    containers = list(listed_containers(lists, reading))
    if value.get("runner") is not None:
        runner = reading.mapping(value["runner"], holder.path + "/runner")
        containers.append(ContainerPlace(value=runner, path=holder.path + "/runner"))
    return Template(
        name=name,
        path=holder.path,
        spec=holder,
        metadata=holder,
        count=count,
        traits=Traits(changeable=is_own, operator_environment=frozenset({"MODEL_PATH", "PARALLELISM_SIZE", "LWS_*"})),
        containers=tuple(containers),
    )


def _benchmark(benchmark: Object, reading: Reading) -> Iterator[Template]:
    """The one pod that measures a service, with what `podOverride` changes (pkg/controller/v1beta1/benchmark)."""
    path = "/spec/podOverride"
    override = reading.mapping(reading.mapping(benchmark.get("spec"), "/spec").get("podOverride"), path)
    container = ContainerPlace(value=override, path=path, name="benchmark")
    yield Template(name="", path=path, spec=Place(override, path), traits=_KAITO_TRAITS, containers=(container,))


_KNATIVE: Final = "autoscaling.knative.dev"

# Of two spellings the first counts: KN:pkg/apis/autoscaling/register.go.
_MIN_SCALE: Final = (f"{_KNATIVE}/min-scale", f"{_KNATIVE}/minScale")
_MAX_SCALE: Final = (f"{_KNATIVE}/max-scale", f"{_KNATIVE}/maxScale")
_INITIAL_SCALE: Final = (f"{_KNATIVE}/initial-scale", f"{_KNATIVE}/initialScale")

_NUMBER: Final = memo.pattern(r"\+?[0-9]{1,10}", re.ASCII)

# KN:pkg/reconciler/revision/resources/env_var.go
_TRAITS_OF_KNATIVE: Final = Traits(operator_environment=frozenset({"PORT", "K_*"}), changeable=False)


def _template(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(value.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    count = _count(template.get("metadata"), "/spec/template/metadata", reading)
    yield pod_template(Place(template, "/spec/template"), reading, count=count, traits=_TRAITS_OF_KNATIVE)


def _revision(revision: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Revision: its spec is a pod spec with a few fields of Knative's own."""
    metadata = revision.get("metadata")
    yield pod_spec(
        Place(revision.get("spec"), "/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_count(metadata, "/metadata", reading),
        traits=_TRAITS_OF_KNATIVE,
    )


def _count(metadata: object, path: str, reading: Reading) -> model.Count:
    """The number of pods, between the two bounds. 0, or a missing bound, means the cluster's default: no bound.

    The Deployment starts with the initial scale, whatever the bounds are (KN:pkg/reconciler/revision/resources/
    deploy.go). The cluster's defaults: KN:config/core/configmaps/autoscaler.yaml.
    """
    annotations_path = path + "/annotations"
    annotations = reading.strings(reading.mapping(metadata, path).get("annotations"), annotations_path)
    lowest = _scale(annotations, annotations_path, _MIN_SCALE, reading) or 0
    highest = _scale(annotations, annotations_path, _MAX_SCALE, reading)
    initial = _scale(annotations, annotations_path, _INITIAL_SCALE, reading) or 0
    if not highest:
        reason = "no autoscaling.knative.dev/max-scale bounds what Knative makes"
        return model.Count(minimum=lowest, maximum=None, reason=reason)
    highest = max(lowest, highest, initial)
    if lowest == highest:
        return model.Count(minimum=lowest, maximum=highest)
    reason = "Knative scales it between its bounds"
    return model.Count(minimum=lowest, maximum=highest, reason=reason, grown=highest)


def _scale(annotations: Mapping[str, str], path: str, keys: tuple[str, ...], reading: Reading) -> int | None:
    key = next((key for key in keys if annotations.get(key)), None)
    if key is None:
        return None
    here = paths.join(path, key)
    text = annotations[key]
    if not _NUMBER.fullmatch(text):
        reading.unknown(here, "expected a whole number of pods")
        return None
    return reading.count(int(text), here, default=0)


_DEPLOYMENT: Final = "/spec/deploymentConfig"
_DEFAULT_GPU: Final = "nvidia.com/gpu"
_DEFAULT_RUNTIME_CLASS: Final = "nvidia"

# The fields differ from those of a pod: the API server would refuse or drop fields of a pod.
_VLLM_TRAITS: Final = Traits(trains="vllm", changeable=False)


def _vllm_runtime(runtime: Object, reading: Reading) -> Iterator[Template]:
    """The template of one Deployment, read from fields with other names.

    operator/internal/controller/vllmruntime_controller.go of vllm-project/production-stack, deploymentForVLLMRuntime.
    """
    spec = reading.mapping(runtime.get("spec"), "/spec")
    deployment = reading.mapping(spec.get("deploymentConfig"), _DEPLOYMENT)
    runtime_class = deployment.get("runtimeClass")
    fields = {
        "tolerations": Place(deployment.get("toleration"), _DEPLOYMENT + "/toleration"),
        "runtimeClassName": Place(
            _DEFAULT_RUNTIME_CLASS if runtime_class is None else runtime_class, _DEPLOYMENT + "/runtimeClass"
        ),
    }
    if deployment.get(TERMS) is not None:
        fields[TERMS] = Place(deployment[TERMS], f"{_DEPLOYMENT}/{TERMS}")
    yield Template(
        name="",
        path=_DEPLOYMENT,
        spec=Place(None, _DEPLOYMENT),
        metadata=_metadata(runtime, deployment, reading),
        count=_vllm_count(spec, deployment, reading),
        traits=_VLLM_TRAITS,
        containers=tuple(_containers(spec, deployment, reading)) if deployment else (),
        fields=fields,
    )


def _metadata(runtime: Object, deployment: Object, reading: Reading) -> Place:
    """Labels and annotations of the pods: labels come from the object, annotations from another place."""
    metadata = reading.mapping(runtime.get("metadata"), "/metadata")
    labels = reading.strings(metadata.get("labels"), "/metadata/labels")
    annotations = reading.strings(deployment.get("podAnnotations"), _DEPLOYMENT + "/podAnnotations")
    return Place({"labels": dict(labels), "annotations": dict(annotations)}, _DEPLOYMENT)


def _containers(spec: Object, deployment: Object, reading: Reading) -> Iterator[ContainerPlace]:
    vllm = reading.mapping(spec.get("vllmConfig"), "/spec/vllmConfig")
    asked = _resources(deployment, _DEPLOYMENT, reading)
    yield ContainerPlace(
        value={},
        path=_DEPLOYMENT,
        name="vllm",
        requests=asked,
        limits=asked,
        environment=(Place(vllm.get("env"), "/spec/vllmConfig/env"),),
    )
    path = _DEPLOYMENT + "/sidecarConfig"
    sidecar = reading.mapping(deployment.get("sidecarConfig"), path)
    if reading.flag(sidecar.get("enabled"), path + "/enabled"):
        asked = _resources(sidecar, path, reading, cpu="0.5", memory="128Mi")
        yield ContainerPlace(
            value={},
            path=path,
            name=reading.text(sidecar.get("name"), path + "/name") or "sidecar",
            requests=asked,
            limits=asked,
            environment=(Place(sidecar.get("env"), path + "/env"),),
        )


def _resources(holder: Object, path: str, reading: Reading, **defaults: str) -> Place:
    """The requests, which are also the limits; the name of the GPU resource is a value."""
    path += "/resources"
    resources = reading.mapping(holder.get("resources"), path)
    # The operator takes an empty text for a missing one.
    given = {name: resources.get(name) for name in ("cpu", "memory", "gpu") if resources.get(name) not in (None, "")}
    found = {**defaults, **{name: str(quantity) for name, quantity in reading.resources(given, path).items()}}
    gpu = found.pop("gpu", None)
    gpu_type = resources.get("gpuType")
    name = reading.text(gpu_type, path + "/gpuType") or ("" if gpu_type else _DEFAULT_GPU)
    if gpu is not None and name:
        found[name] = gpu
    return Place(found, path)


def _vllm_count(spec: Object, deployment: Object, reading: Reading) -> model.Count:
    """The replicas of the Deployment or of its autoscaler; a rollout makes more of them, but not with Recreate."""
    path = "/spec/autoscalingConfig"
    autoscaling = reading.mapping(spec.get("autoscalingConfig"), path)
    replicas = reading.count(deployment.get("replicas"), _DEPLOYMENT + "/replicas", default=1)
    lowest, most = replicas, replicas
    reasons = []
    if reading.flag(autoscaling.get("enabled"), path + "/enabled"):
        lowest = min(reading.count(autoscaling.get("minReplicas"), path + "/minReplicas", default=1), replicas)
        most = max(reading.count(autoscaling.get("maxReplicas"), path + "/maxReplicas", default=replicas), replicas)
        if autoscaling.get("maxReplicas") is None:
            return model.Count(minimum=lowest, maximum=None, reason="autoscaling without maxReplicas")
        reasons.append("autoscaling")
    strategy = reading.text(deployment.get("deploymentStrategy"), _DEPLOYMENT + "/deploymentStrategy")
    surge = 0 if strategy == "Recreate" else share_of_replicas(most, DEFAULT_SURGE, _DEPLOYMENT, reading)
    if surge:
        reasons.append(f"{surge} more during a rollout")
    grown = most if most > replicas else 0
    return model.Count(minimum=lowest, maximum=most + surge, reason=", ".join(reasons), grown=grown)


CODE: Final[Mapping[str, Code]] = {
    "VLLMRuntime.production-stack.vllm.ai": {"templates": _vllm_runtime},
    "Service.serving.knative.dev": {"templates": _template},
    "Configuration.serving.knative.dev": {"templates": _template},
    "Revision.serving.knative.dev": {"templates": _revision},
    "Workspace.kaito.sh": {"templates": _workspace},
    "InferenceSet.kaito.sh": {"templates": _inference_set},
    "MultiRoleInference.kaito.sh": {"templates": _multi_role},
    "RAGEngine.kaito.sh": {"templates": _rag_engine},
    "InferenceService.ome.io": {"templates": _ome_service},
    "ServingRuntime.ome.io": {"templates": _ome_runtime},
    "ClusterServingRuntime.ome.io": {"templates": _ome_runtime},
    "BenchmarkJob.ome.io": {"templates": _benchmark},
}
