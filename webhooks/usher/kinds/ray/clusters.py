"""The pods of a RayClusterSpec, which occurs in several kinds of ray.io.

`resources` of a group and its `rayStartParams` limit what Ray may hand out. They do not change the pods
(KR:ray-operator/controllers/ray/common/pod.go). The pod that cleans Redis up comes after the cluster is gone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.reading.pod_templates import listed, pod_template
from usher.reading.templates import DEFAULT_SCHEDULER, FIRST, LISTS, ONE, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

TRAITS: Final = Traits(trains=FIRST, operator_environment=frozenset({"RAY_*", "FQ_RAY_IP"}))

# The CRDs fill this in for a missing maxReplicas: every group on a cluster has a bound, but authors did not set it.
_NO_MAXIMUM: Final = 2**31 - 1

# KR:ray-operator/controllers/ray/batchscheduler/: the labels of a Ray object that one of the schedulers reads.
_SCHEDULER_LABELS: Final[Mapping[str, str]] = {
    "volcano.sh/queue-name": "Volcano",
    "volcano.sh/network-topology-mode": "Volcano",
    "ray.io/priority-class-name": "Volcano",
    "kai.scheduler/queue": "KAI-Scheduler",
    "yunikorn.apache.org/app-id": "YuniKorn",
    "yunikorn.apache.org/queue": "YuniKorn",
    "ray.io/gang-scheduling-enabled": "YuniKorn or the coscheduling plugin",
}

_AUTOSCALER: Final = ({"cpu": "500m", "memory": "512Mi"}, {"cpu": "500m", "memory": "512Mi"})
_COLLECTOR: Final = ({"cpu": "50m", "memory": "64Mi"}, {"cpu": "200m", "memory": "256Mi"})
_SUBMITTER: Final = ({"cpu": "500m", "memory": "200Mi"}, {"cpu": "1", "memory": "1Gi"})
"""Requests and limits of the submitter that KubeRay adds, by default (common/pod.go, common/job.go)."""


def traits(ray_object: Mapping[str, paths.Json], reading: Reading) -> Traits:
    """The traits of all pods of a Ray object.

    One setting decides for all objects whether KubeRay hands them to a batch scheduler; objects do not show it. The
    labels of an object may show for which scheduler it was written.
    """
    metadata = reading.mapping(ray_object.get("metadata"), "/metadata")
    labels = reading.strings(metadata.get("labels"), "/metadata/labels")
    for label, scheduler in _SCHEDULER_LABELS.items():
        if label in labels:
            reason = (
                f"{DEFAULT_SCHEDULER.reason}; its label {label} is for {scheduler}, which places the pods where KubeRay"
                " is configured with it"
            )
            return TRAITS._replace(scheduler=replace(DEFAULT_SCHEDULER, reason=reason))
    return TRAITS


def templates(
    cluster: Mapping[str, paths.Json], path: str, reading: Reading, *, traits: Traits = TRAITS
) -> Iterator[Template]:
    """The head and every worker group of a RayClusterSpec at `path`."""
    autoscaling = reading.flag(cluster.get("enableInTreeAutoscaling"), path + "/enableInTreeAutoscaling")
    of_all = list(_collector(cluster, path, reading))
    of_head = [*(_autoscaler(cluster, path, reading) if autoscaling else ()), *of_all]
    head_path = path + "/headGroupSpec"
    head = reading.mapping(cluster.get("headGroupSpec"), head_path)
    place = Place(head.get("template"), head_path + "/template")
    yield _with(of_head, pod_template(place, reading, name="head", traits=traits), reading)
    for group_path, group in reading.items(cluster.get("workerGroupSpecs"), path + "/workerGroupSpecs"):
        template = pod_template(
            Place(group.get("template"), group_path + "/template"),
            reading,
            name=reading.text(group.get("groupName"), group_path + "/groupName"),
            count=_group_count(group, group_path, reading, autoscaling=autoscaling),
            traits=traits,
        )
        yield _with(of_all, template, reading)


def _group_count(group: Mapping[str, paths.Json], path: str, reading: Reading, *, autoscaling: bool) -> model.Count:
    """The pods of a worker group.

    KubeRay keeps replicas between the bounds, skips suspended groups and makes numOfHosts pods of each replica.
    """
    if reading.flag(group.get("suspend"), path + "/suspend"):
        return model.Count(minimum=0, maximum=0, reason="the group is suspended")
    hosts = reading.count(group.get("numOfHosts"), path + "/numOfHosts", default=1)
    lowest = reading.count(group.get("minReplicas"), path + "/minReplicas", default=0)
    replicas = max(reading.count(group.get("replicas"), path + "/replicas", default=lowest), lowest)
    highest = None
    if group.get("maxReplicas") not in (None, _NO_MAXIMUM):
        highest = reading.count(group.get("maxReplicas"), path + "/maxReplicas", default=replicas)
        lowest, replicas = min(lowest, highest), min(replicas, highest)
    if not autoscaling:
        return model.Count(minimum=replicas * hosts, maximum=replicas * hosts)
    if highest is None:
        return model.Count(minimum=lowest * hosts, maximum=None, reason="in-tree autoscaling without maxReplicas")
    return model.Count(minimum=lowest * hosts, maximum=highest * hosts, reason="in-tree autoscaling")


def _autoscaler(cluster: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[ContainerPlace]:
    """The autoscaler beside the head, as far as the cluster describes it."""
    here = path + "/autoscalerOptions"
    options = reading.mapping(cluster.get("autoscalerOptions"), here)
    if options:
        yield _added("autoscaler", options, here, unless_told=_AUTOSCALER)


def _collector(cluster: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[ContainerPlace]:
    """The collector for the history server, in every pod if KubeRay's feature gate for it is on."""
    path += "/historyServerOptions"
    history = reading.mapping(cluster.get("historyServerOptions"), path)
    path += "/collectorOptions"
    options = reading.mapping(history.get("collectorOptions"), path)
    if options:
        yield _added("ray-history-collector", options, path, unless_told=_COLLECTOR)


def _added(
    name: str, options: Mapping[str, paths.Json], path: str, *, unless_told: tuple[dict[str, str], dict[str, str]]
) -> ContainerPlace:
    if options.get("resources") is not None:
        return ContainerPlace(value=options, path=path, name=name)
    requests, limits = unless_told
    return ContainerPlace(
        value=options,
        path=path,
        name=name,
        requests=Place(requests, path),
        limits=Place(limits, path),
    )


def _with(sidecars: list[ContainerPlace], template: Template, reading: Reading) -> Template:
    """The template with the containers that KubeRay adds. The first of its own containers still does the work."""
    if not sidecars:
        return template
    spec = template.spec.value
    fields = spec if isinstance(spec, dict) else {}
    own = listed({name: Place(fields.get(name), f"{template.spec.path}/{name}") for name, _ in LISTS}, reading)
    containers = tuple(own)
    first = next((each for each in containers if each.type is model.ContainerType.APP), None)
    name = first.value.get("name") if first is not None else None
    trains = name if isinstance(name, str) and name else "ray"
    return replace(template, containers=(*containers, *sidecars), traits=template.traits._replace(trains=trains))


def submitter(job: Mapping[str, paths.Json], path: str, reading: Reading, *, traits: Traits) -> Iterator[Template]:
    """The pod that submits the job of a RayJobSpec at `path`. Only K8sJobMode makes one.

    Without a template of its own it has one container, which requests no accelerators
    (KR:ray-operator/controllers/ray/common/job.go). usher adds no template: it would replace this container.
    """
    if (reading.text(job.get("submissionMode"), path + "/submissionMode") or "K8sJobMode") != "K8sJobMode":
        return
    place = Place(job.get("submitterPodTemplate"), path + "/submitterPodTemplate")
    if place.value is not None:
        yield pod_template(place, reading, name="submitter", traits=traits)
        return
    nothing = Place(None, place.path)
    yield Template(
        name="submitter",
        path=place.path,
        spec=nothing,
        metadata=nothing,
        count=ONE,
        traits=traits._replace(changeable=False),
        containers=(_added("ray-job-submitter", {}, path, unless_told=_SUBMITTER),) if job else (),
    )
