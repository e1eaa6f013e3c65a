"""Kubernetes' own kinds: Pod, Job and CronJob, and those without pods, from nodes and claims to ConfigMaps.

Each pod of an Indexed Job has a number, and a host name if the template has a `subdomain` (a headless Service). Pods
that only divide work among them need the number alone. Pods that address each other, or all address the first, compute
together. Sources: kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication; the variables are those of
torch.distributed (environment variable initialization, torchrun), jax.distributed.initialize, TPU multi-host of GKE.

A Rollout of Argo stands here because it is written as a Deployment. A canary without traffic routing has as many pods
as a Deployment with its `maxSurge`. With traffic routing the old pods stay until the new ones get all requests, so
there are twice as many; so are there with blue-green from the promotion on, and its preview may have more. Sources:
utils/replicaset/canary.go, rollout/bluegreen.go, rollout/experiment.go and docs/features/specification.md of
argoproj/argo-rollouts.

Version v1beta1 of claims has the fields of a request in the request itself; later versions have them in `exactly`.
NetworkAttachmentDefinitions of Multus are networks for pods: usher reads only their names.

A Service of Knative (serving.knative.dev) makes a Configuration. The Configuration makes a Revision for every change of
its template, and the Revision makes a Deployment.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from msgspec.structs import replace
from pydantic import AfterValidator, BeforeValidator

from usher import memo, model, paths
from usher.accelerators import boards, names, vocabulary
from usher.kinds.kind import Code, keeping
from usher.kinds.reading import known_keys
from usher.kinds.reading.counts import concurrent_pods, in_turns, share_of_replicas
from usher.kinds.reading.pod_templates import pod_spec, pod_template
from usher.kinds.reading.shapes import HostPath, with_place
from usher.kinds.reading.templates import JOB_CONTROLLER, PLAIN, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

_CANARY: Final = "/spec/strategy/canary"

_ELSEWHERE: Final = Traits(changeable=False)


def _rollout(rollout: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Rollout, or of the object that its `workloadRef` names."""
    spec = reading.mapping(rollout.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    surge, reason = _pods_during_a_rollout(reading.mapping(spec.get("strategy"), "/spec/strategy"), replicas, reading)
    count = model.Count(minimum=replicas, maximum=replicas + surge, reason=reason if surge else "")
    place, traits = Place(spec.get("template"), "/spec/template"), PLAIN
    if spec.get("template") is None and spec.get("workloadRef") is not None:
        found = _referenced(reading.mapping(spec["workloadRef"], "/spec/workloadRef"), rollout, reading)
        if found is None:
            return
        place, traits = Place(found, "/spec/workloadRef"), _ELSEWHERE
    yield pod_template(place, reading, count=count, traits=traits)


def _pods_during_a_rollout(strategy: Mapping[str, paths.Json], replicas: int, reading: Reading) -> tuple[int, str]:
    """How many pods a rollout runs beside the replicas, and why."""
    if strategy.get("blueGreen") is not None:
        blue_green = reading.mapping(strategy["blueGreen"], "/spec/strategy/blueGreen")
        path = "/spec/strategy/blueGreen/previewReplicaCount"
        most = max(replicas, reading.count(blue_green.get("previewReplicaCount"), path, default=0))
        return most, f"{most} more during a rollout, by blueGreen"
    canary = reading.mapping(strategy.get("canary"), _CANARY)
    experiments, most = _pods_of_steps(canary, replicas, reading)
    beside = " and its experiments" if experiments else ""
    if canary.get("trafficRouting") is not None:
        surge = most + experiments
        return surge, f"{surge} more during a rollout, by canary with trafficRouting{beside}"
    surge = share_of_replicas(replicas, canary.get("maxSurge"), f"{_CANARY}/maxSurge", reading) if replicas else 0
    return surge + experiments, f"{surge + experiments} more during a rollout{beside and ', by canary' + beside}"


def _pods_of_steps(canary: Mapping[str, paths.Json], replicas: int, reading: Reading) -> tuple[int, int]:
    """The pods of all experiments among the steps, and the most pods of the canary by `setCanaryScale`.

    The pods of an experiment stay for 30 seconds after it by default, so those of several are there together
    (experiments/replicaset.go). A Rollout without replicas runs its experiments too.
    """
    experiments, most = 0, replicas
    for path, step in reading.items(canary.get("steps"), _CANARY + "/steps"):
        scale = reading.mapping(step.get("setCanaryScale"), path + "/setCanaryScale")
        most = max(most, reading.count(scale.get("replicas"), path + "/setCanaryScale/replicas", default=0))
        experiment = reading.mapping(step.get("experiment"), path + "/experiment")
        for at, each in reading.items(experiment.get("templates"), path + "/experiment/templates"):
            experiments += reading.count(each.get("replicas"), at + "/replicas", default=1)
    return experiments, most


def _referenced(
    reference: Mapping[str, paths.Json], rollout: Mapping[str, paths.Json], reading: Reading
) -> paths.Json | None:
    """The pod template of the object that a Rollout names; None, and recorded as unknown, if it cannot be found."""
    path = "/spec/workloadRef"
    metadata = reading.mapping(rollout.get("metadata"), "/metadata")
    named = Reference(
        group=reading.text(reference.get("apiVersion"), path + "/apiVersion").rpartition("/")[0],
        kind=reading.text(reference.get("kind"), path + "/kind"),
        name=reading.text(reference.get("name"), path + "/name"),
        namespace=reading.text(metadata.get("namespace"), "/metadata/namespace") or reading.context.namespace,
    )
    found = reading.look_up(named, path, consequence="its pods are not judged")
    if found is None:
        return None
    holder = found if named.kind == "PodTemplate" else reading.mapping(found.get("spec"), path)
    return holder.get("template")


def _pod(pod: Mapping[str, paths.Json], _reading: Reading) -> Iterator[Template]:
    status = pod.get("status")
    yield Template(
        name="",
        path=paths.ROOT,
        spec=Place(pod.get("spec"), "/spec"),
        metadata=Place(pod.get("metadata"), "/metadata"),
        # Pods of a cluster have conditions; on CREATE the API server drops whatever a user writes here.
        placed=isinstance(status, dict) and bool(status.get("conditions")),
    )


_OF_COORDINATORS: Final = frozenset({
    "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "MASTER_ADDR", "MEGASCALE_COORDINATOR_ADDRESS",
    "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "TPU_WORKER_HOSTNAMES",
})  # fmt: skip
"""Variables by which every process finds the first one, or all of them."""


def wait_for_each_other(spec: Mapping[str, paths.Json], pods: int) -> bool:
    """Whether all pods of a JobSpec run at once and know each other.

    Args:
        spec: the JobSpec. Values of wrong types are recorded elsewhere.
        pods: how many pods run at one time.
    """
    if pods < 2 or spec.get("completionMode") != "Indexed" or spec.get("completions") != pods:
        return False
    pod = paths.mapping(paths.mapping(spec.get("template")).get("spec"))
    subdomain = pod.get("subdomain")
    return (isinstance(subdomain, str) and bool(subdomain)) or not _OF_COORDINATORS.isdisjoint(_variables(pod))


def _variables(pod: Mapping[str, paths.Json]) -> Iterator[str]:
    for container in _items(pod.get("containers")):
        for variable in _items(container.get("env")):
            name = variable.get("name")
            if isinstance(name, str):
                yield name


def _items(value: paths.Json) -> Iterator[Mapping[str, paths.Json]]:
    return (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


def _job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    pods = concurrent_pods(spec, "/spec", reading)
    found = pod_template(
        Place(spec.get("template"), "/spec/template"), reading, count=model.Count(minimum=pods, maximum=pods)
    )
    yield _with_gang(found, Place(spec, "/spec"), pods, reading)


def _cron_job(cron_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(cron_job.get("spec"), "/spec")
    job_template = reading.mapping(spec.get("jobTemplate"), "/spec/jobTemplate")
    job_path = "/spec/jobTemplate/spec"
    job_spec = reading.mapping(job_template.get("spec"), job_path)
    pods = concurrent_pods(job_spec, job_path, reading)
    if reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy") in ("Forbid", "Replace"):
        count = model.Count(minimum=0, maximum=pods)
    else:
        count = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")
    found = pod_template(Place(job_spec.get("template"), job_path + "/template"), reading, count=count)
    yield _with_gang(found, Place(job_spec, job_path), pods, reading)


def _with_gang(found: Template, job: Place, pods: int, reading: Reading) -> Template:
    """The template, marked as a gang if the JobSpec shows that its pods wait for each other, or asks for a gang."""
    spec = reading.mapping(job.value, job.path)
    if "scheduling" in spec:
        at = f"{job.path}/scheduling"
        scheduling = reading.mapping(spec.get("scheduling"), at)
        if reading.mapping(scheduling.get("schedulingPolicy"), at + "/schedulingPolicy").get("gang") is not None:
            found = replace(found, traits=found.traits._replace(pod_group=JOB_CONTROLLER))
    return replace(found, waits=wait_for_each_other(spec, pods), in_turns=in_turns(spec))


_LABELS: Final = ("nvidia.com/", "amd.com/", "dcm.amd.com/", "gpu.intel.com/")
"""Prefixes of the labels in which operators describe the accelerators of a node."""


def _accelerator_labels(labels: object) -> object:
    if not isinstance(labels, dict):
        return labels
    return {key: value for key, value in labels.items() if isinstance(key, str) and key.startswith(_LABELS)}


def _accelerators(resources: object) -> object:
    if not isinstance(resources, dict):
        return resources
    return {name: amount for name, amount in resources.items() if isinstance(name, str) and _is_accelerator(name)}


def _is_accelerator(name: str) -> bool:
    meaning = names.meaning_of(name)
    return meaning is not None and meaning.unit in names.GIVING


def _with_layout(metadata: dict[str, Any]) -> dict[str, Any]:
    metadata.pop("layout", None)
    labels = metadata.get("labels", {})
    found = boards.problem_of_name(labels.get(boards.CONFIG_LABEL, ""), labels)
    if found is not None:
        metadata["layout"] = {"text": found[0], "remedy": found[1]}
    return metadata


_KEEP_OFFER: Final = keeping("/spec/taints", "/spec/unschedulable", "/status/allocatable", "/status/capacity")


def _keep_node(value: paths.Object) -> paths.Object:
    """The resources and the taints of a node, and the annotations in which HAMi registers its devices."""
    result = _KEEP_OFFER(value)
    annotations = paths.mapping(paths.metadata(value).get("annotations"))
    if found := {key: text for key, text in annotations.items() if names.REGISTER.match(key)}:
        result["metadata"] = {**paths.metadata(result), "annotations": {**found}}
    return result


def _with_accelerator(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("accelerator", None)
    known = vocabulary.meaning_of_class(value.get("deviceClassName", "")).accelerator
    if known is not None:
        value["accelerator"] = known
    return value


def _sharing_by_nvidia(configuration: object) -> list[dict[str, int | str]]:
    """The ways of sharing in opaque parameters, which may be anything."""
    found = list[dict[str, int | str]]()
    for index, entry in enumerate(configuration if isinstance(configuration, list) else ()):
        opaque = paths.mapping(paths.mapping(entry).get("opaque"))
        sharing = paths.mapping(paths.mapping(opaque.get("parameters")).get("sharing"))
        strategy = sharing.get("strategy")
        if opaque.get("driver") == "gpu.nvidia.com" and isinstance(strategy, str):
            found.append({"index": index, "strategy": strategy})
            percentage = paths.mapping(sharing.get("mpsConfig")).get("defaultActiveThreadPercentage")
            if isinstance(percentage, int) and not isinstance(percentage, bool):
                found[-1]["percentage"] = percentage
    return found


def _paths_of_options(options: object) -> object:
    """The paths among the options of a driver. Other values are left out, because they may be secrets."""
    if not isinstance(options, dict):
        return {}
    return {
        key: with_place({"path": value})
        for key, value in options.items()
        if isinstance(key, str) and isinstance(value, str) and value.startswith("/")
    }


DriverOptions = Annotated[dict[str, HostPath], BeforeValidator(_paths_of_options)]
"""The paths that the options of a volume driver name."""


_KNATIVE: Final = "autoscaling.knative.dev"

# Of two spellings the first counts: KN:pkg/apis/autoscaling/register.go.
_MIN_SCALE: Final = (f"{_KNATIVE}/min-scale", f"{_KNATIVE}/minScale")
_MAX_SCALE: Final = (f"{_KNATIVE}/max-scale", f"{_KNATIVE}/maxScale")
_INITIAL_SCALE: Final = (f"{_KNATIVE}/initial-scale", f"{_KNATIVE}/initialScale")

_NUMBER: Final = memo.pattern(r"\+?[0-9]{1,10}", re.ASCII)

# KN:pkg/reconciler/revision/resources/env_var.go
_TRAITS_OF_KNATIVE: Final = Traits(operator_environment=frozenset({"PORT", "K_*"}), changeable=False)


def _service_of_knative(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(value.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    count = _scaled_count(template.get("metadata"), "/spec/template/metadata", reading)
    yield pod_template(Place(template, "/spec/template"), reading, count=count, traits=_TRAITS_OF_KNATIVE)


def _revision(revision: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Revision: its spec is a pod spec with a few fields of Knative's own."""
    metadata = revision.get("metadata")
    yield pod_spec(
        Place(revision.get("spec"), "/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_scaled_count(metadata, "/metadata", reading),
        traits=_TRAITS_OF_KNATIVE,
    )


def _scaled_count(metadata: object, path: str, reading: Reading) -> model.Count:
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


CODE: Final[Mapping[str, Code]] = {
    "Node": {"keep": _keep_node},
    "Pod": {"templates": _pod},
    "Job.batch": {"templates": _job},
    "CronJob.batch": {"templates": _cron_job},
    "Rollout.argoproj.io": {"templates": _rollout},
    "Service.serving.knative.dev": {"templates": _service_of_knative},
    "Configuration.serving.knative.dev": {"templates": _service_of_knative},
    "Revision.serving.knative.dev": {"templates": _revision},
}


SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "accelerator_labels": BeforeValidator(_accelerator_labels),
    "Reason": boards.Reason,
    "accelerators": BeforeValidator(_accelerators),
    "with_layout": AfterValidator(_with_layout),
    "with_accelerator": AfterValidator(_with_accelerator),
    "sharing_by_nvidia": BeforeValidator(_sharing_by_nvidia),
    "DriverOptions": DriverOptions,
    "ConfigurationTexts": known_keys.ConfigurationTexts,
}
