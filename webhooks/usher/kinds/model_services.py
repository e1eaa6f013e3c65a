"""Services that answer requests: those of Knative (serving.knative.dev), and VLLMRuntimes (production-stack.vllm.ai).

A Service of Knative makes a Configuration. The Configuration makes a Revision for every change of its template, and the
Revision makes a Deployment.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading.counts import DEFAULT_SURGE, share_of_replicas
from usher.kinds.reading.pod_templates import pod_spec, pod_template
from usher.kinds.reading.templates import TERMS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading

_GROUP: Final = "autoscaling.knative.dev"

# Of two spellings the first counts: KN:pkg/apis/autoscaling/register.go.
_MIN_SCALE: Final = (f"{_GROUP}/min-scale", f"{_GROUP}/minScale")
_MAX_SCALE: Final = (f"{_GROUP}/max-scale", f"{_GROUP}/maxScale")
_INITIAL_SCALE: Final = (f"{_GROUP}/initial-scale", f"{_GROUP}/initialScale")

_NUMBER: Final = re.compile(r"\+?[0-9]{1,10}", re.ASCII)

# KN:pkg/reconciler/revision/resources/env_var.go
_TRAITS: Final = Traits(operator_environment=frozenset({"PORT", "K_*"}), changeable=False)


def _template(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(value.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    count = _count(template.get("metadata"), "/spec/template/metadata", reading)
    yield pod_template(Place(template, "/spec/template"), reading, count=count, traits=_TRAITS)


def _revision(revision: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Revision: its spec is a pod spec with a few fields of Knative's own."""
    metadata = revision.get("metadata")
    yield pod_spec(
        Place(revision.get("spec"), "/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_count(metadata, "/metadata", reading),
        traits=_TRAITS,
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


Object = Mapping[str, paths.Json]

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
}
