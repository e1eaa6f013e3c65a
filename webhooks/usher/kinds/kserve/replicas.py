"""How many pods KServe makes of a component, and how it spreads accelerators over several nodes.

KServe runs an InferenceService as Knative Services, as Deployments (`Standard`, once `RawDeployment`), or through
ModelMesh. An annotation decides, or else KServe's configuration, whose default is Knative.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from usher import memo, model, paths
from usher.kinds.kserve.runtimes import Layers, field_layers, first_field
from usher.kinds.reading.values import Reading

Object = Mapping[str, paths.Json]

STOP: Final = "serving.kserve.io/stop"
STOPPED: Final = model.Count(minimum=0, maximum=0, reason=f"stopped by the annotation {STOP}")

_MODE: Final = "serving.kserve.io/deploymentMode"
_AUTOSCALER: Final = "serving.kserve.io/autoscalerClass"
_AUTOSCALERS: Final = ("hpa", "keda", "external", "none")

_EXTERNAL: Final = "an autoscaler that KServe knows nothing of sets the replicas"

_PERCENTAGE: Final = memo.pattern(r"([0-9]{1,4})%", re.ASCII)
_DEFAULT_SURGE: Final = "25%"


class Mode(StrEnum):
    KNATIVE = "Knative"
    STANDARD = "Standard"
    MODEL_MESH = "ModelMesh"


_MODES: Final[Mapping[str, Mode]] = {
    **{mode.value: mode for mode in Mode},
    "Serverless": Mode.KNATIVE,
    "RawDeployment": Mode.STANDARD,
}
"""Modes by name, old names included (KS:pkg/constants/constants.go)."""


class Running(NamedTuple):
    """How an InferenceService is run."""

    mode: Mode
    declared: bool
    """Whether the object sets the mode itself; if not, KServe's configuration sets it."""
    autoscaler: str
    stopped: bool


def running(service: Object, annotations: Mapping[str, str], reading: Reading, *, several_nodes: bool) -> Running:
    """How KServe runs an InferenceService. The status wins over the annotation.

    KS:pkg/controller/v1beta1/inferenceservice/utils/utils.go.

    Args:
        several_nodes: whether its predictor has workers, which only Deployments support.
    """
    status = reading.mapping(service.get("status"), "/status")
    named = reading.text(status.get("deploymentMode"), "/status/deploymentMode") or annotations.get(_MODE, "")
    autoscaler = annotations.get(_AUTOSCALER) or "hpa"
    if autoscaler not in _AUTOSCALERS:
        known = ", ".join(_AUTOSCALERS)
        reason = f"KServe has no autoscaler with this name; it has {known}"
        reading.unknown(paths.join("/metadata/annotations", _AUTOSCALER), reason)
    mode = _MODES.get(named)
    return Running(
        mode=mode or (Mode.STANDARD if several_nodes else Mode.KNATIVE),
        declared=mode is not None,
        autoscaler="none" if several_nodes else autoscaler,
        stopped=is_stopped(annotations),
    )


def is_stopped(annotations: Mapping[str, str]) -> bool:
    return annotations.get(STOP, "").lower() == "true"


def component(value: Object, path: str, how: Running, reading: Reading) -> model.Count:
    """The pods of a predictor, a transformer or an explainer.

    KS:pkg/controller/v1beta1/inferenceservice/reconcilers/{hpa,keda,knative,deployment}/, KS:pkg/controller/v1alpha1/
    utils/utils.go.
    """
    lowest = reading.count(value.get("minReplicas"), path + "/minReplicas", default=1)
    highest = reading.count(value.get("maxReplicas"), path + "/maxReplicas", default=0)
    if how.stopped:
        return STOPPED
    if how.mode is not Mode.STANDARD:
        percent = reading.count(value.get("canaryTrafficPercent"), path + "/canaryTrafficPercent", default=100)
        return _knative(lowest, highest, how, canary=percent < 100)
    if how.autoscaler == "external":
        return model.Count(minimum=0, maximum=None, reason=_EXTERNAL)
    if how.autoscaler == "none":
        highest = lowest
    elif how.autoscaler != "keda":
        lowest = max(lowest, 1)
    highest = max(lowest, highest)
    strategy = reading.mapping(value.get("deploymentStrategy"), path + "/deploymentStrategy")
    return rolling(lowest, highest, surge(strategy, path + "/deploymentStrategy", highest, reading))


def _knative(lowest: int, highest: int, how: Running, *, canary: bool) -> model.Count:
    """The pods of a Knative Service. Bounds hold for each revision, and a canary is a second revision."""
    if not highest:
        default = "" if how.declared else ", KServe's default mode,"
        reason = f"in Knative mode{default} nothing bounds the replicas where maxReplicas is not set"
        return model.Count(minimum=lowest, maximum=None, reason=reason)
    lowest = min(lowest, highest)
    reasons = ["Knative scales between minReplicas and maxReplicas"] if lowest != highest else []
    if canary:
        reasons.append("the revision before keeps running beside the canary")
    return model.Count(minimum=lowest, maximum=highest * (2 if canary else 1), reason=", ".join(reasons))


def fixed(number: int, how: Running) -> model.Count:
    """The pods of a canary. It does not scale, but an HPA keeps at least one pod."""
    if how.autoscaler == "external":
        return model.Count(minimum=0, maximum=None, reason=_EXTERNAL)
    number = max(number, 1) if how.autoscaler == "hpa" else number
    return rolling(number, number, -(-number // 4))


def rolling(lowest: int, highest: int, surging: int) -> model.Count:
    """A Deployment that is autoscaled between two bounds and replaces its pods one after another."""
    reasons = ["autoscaled between its bounds"] if lowest != highest else []
    if surging:
        reasons.append(f"{surging} more during a rollout")
    return model.Count(minimum=lowest, maximum=highest + surging, reason=", ".join(reasons))


def surge(strategy: Object, path: str, replicas: int, reading: Reading) -> int:
    """Extra pods during a rollout of a Deployment: 0 with Recreate, or without old pods.

    KServe's configuration may have another default than Kubernetes; usher does not know it.
    """
    rolling_path = path + "/rollingUpdate"
    update = reading.mapping(strategy.get("rollingUpdate"), rolling_path)
    found = share(update.get("maxSurge"), rolling_path + "/maxSurge", replicas, reading, default=_DEFAULT_SURGE)
    return 0 if reading.text(strategy.get("type"), path + "/type") == "Recreate" else found


def share(value: object, path: str, replicas: int, reading: Reading, *, default: int | str = _DEFAULT_SURGE) -> int:
    """A number of pods, or a percentage of the replicas, rounded up."""
    if value is None:
        value = default
    if not isinstance(value, str):
        return reading.count(value, path, default=0) if replicas else 0
    percentage = _PERCENTAGE.fullmatch(value)
    if percentage is None:
        reading.unknown(path, "expected a whole number or a percentage, for example 25%")
        return 0
    return -(-replicas * int(percentage[1]) // 100)


class Nodes(NamedTuple):
    """Nodes that share one model: a head and its workers, with the accelerators of each."""

    number: int
    head: int
    worker: int


def on_ray(total: int, *, head: int, worker: int) -> Nodes | None:
    """Spreads accelerators over the nodes of a Ray cluster. None if they are too few, which KServe refuses.

    KS:pkg/controller/v1beta1/inferenceservice/components/predictor.go, computeRayNodeAndGPUs.

    Args:
        total: accelerators that the model needs.
        head: accelerators that the container of the head requests.
        worker: accelerators that the container of each worker requests.
    """
    if worker:
        number = -(-total // worker)
        if number == 1 or total <= head:
            return Nodes(number=1, head=total, worker=0)
        nodes = Nodes(number=number, head=head or total - worker * (number - 1), worker=worker)
    elif head:
        nodes = Nodes(number=max(total - head, 0) + 1, head=head, worker=1)
    else:
        nodes = Nodes(number=total, head=1, worker=1)
    return None if total > nodes.head + nodes.worker * (nodes.number - 1) else nodes


def size(workload: Layers, reading: Reading) -> tuple[int | None, bool]:
    """The number of pods in a group, and whether data parallelism sets it.

    The number is None without parallelism: the service that uses the configuration sets it.
    KS:pkg/apis/serving/v1alpha2/llm_inference_service_types_func.go, GetSize.
    """
    parallelism = field_layers(workload, "parallelism", reading)
    if not parallelism:
        return None, False
    data, local, pipeline = (
        reading.count(*first_field(parallelism, name), default=0) for name in ("data", "dataLocal", "pipeline")
    )
    if data or local:
        return max(max(data, 1) // max(local, 1), 1), True
    return max(pipeline, 1), False


def preset_parallelism(workload: Layers, reading: Reading, *, in_groups: bool) -> model.ModelParallelism | None:
    """The sizes of the server in each pod, as the presets start it.

    None where the service gives no tensor size: the additional arguments of the preset may hold it. The preset for one
    pod has only the tensor size, since kserve/kserve#5782; before, it ignored the parallelism.
    KS:config/llmisvcconfig/config-llm-{template,worker-data-parallel,worker-pipeline-parallel}.yaml.

    Args:
        in_groups: whether several pods share a model.
    """
    parallelism = field_layers(workload, "parallelism", reading)
    place = first_field(parallelism, "tensor")
    tensor = reading.count(*place, default=0, of="GPUs")
    _, by_data = size(workload, reading)
    local = reading.count(*first_field(parallelism, "dataLocal"), default=0, of="servers") if by_data else 1
    if not tensor:
        return None
    if not in_groups and (by_data or first_field(parallelism, "pipeline").value is not None):
        return None
    if not in_groups:
        return model.parallelism("KServe's preset for one pod", (tensor, 1, 1), path=place.path)
    return model.parallelism("KServe's preset of vLLM", (tensor, 1, max(local, 1)), path=place.path)


def replicas(workload: Layers, reading: Reading, *, stopped: bool, surge: int | str) -> model.Count:
    """The number of replicas, or of groups of pods, with the extra ones of a rollout.

    KEDA may keep fewer than `minReplicas` while there are no requests (KS:pkg/controller/v1alpha2/llmisvc/scaling.go).

    Args:
        workload: the spec of a service, or its `prefill`.
        stopped: whether the service is stopped.
        surge: the default of `maxSurge`.
    """
    scaling = field_layers(workload, "scaling", reading)
    rollout = first_field(field_layers(workload, "rolloutStrategy", reading), "maxSurge")
    if scaling:
        lowest = reading.count(*first_field(scaling, "minReplicas"), default=1)
        most = first_field(scaling, "maxReplicas")
        keda = (
            *field_layers(scaling, "keda", reading),
            *field_layers(field_layers(scaling, "wva", reading), "keda", reading),
        )
        idle = reading.count(*first_field(keda, "idleReplicaCount"), default=lowest)
        highest = max(reading.count(*most, default=lowest), lowest)
        lowest = min(lowest, idle)
        if most.value is None and not stopped:
            reason = "nothing bounds the replicas: its scaling has no maxReplicas"
            return model.Count(minimum=lowest, maximum=None, reason=reason)
    else:
        lowest = highest = reading.count(*first_field(workload, "replicas"), default=1)
    surging = share(*rollout, highest, reading, default=surge)
    return STOPPED if stopped else rolling(lowest, highest, surging)
