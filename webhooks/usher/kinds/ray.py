"""ray.io: clusters, jobs, services and cron jobs.

`resources` of a group and its `rayStartParams` limit what Ray may hand out. They do not change the pods
(KR:ray-operator/controllers/ray/common/pod.go). The pod that cleans Redis up comes after the cluster is gone.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import errors, memo, model, paths
from usher.documents import reader
from usher.kinds.kind import Code
from usher.kinds.reading import known_keys, value_forms
from usher.kinds.reading.environment import misread
from usher.kinds.reading.pod_templates import listed_containers, pod_template, template_times
from usher.kinds.reading.templates import DEFAULT_SCHEDULER, FIRST, LISTS, ONE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Absence, Objects, Reading, Reference

RAY_TRAITS: Final = Traits(trains=FIRST, operator_environment=frozenset({"RAY_*", "FQ_RAY_IP"}))

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


def traits_of_pods(ray_object: Mapping[str, paths.Json], reading: Reading) -> Traits:
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
            return RAY_TRAITS._replace(scheduler=replace(DEFAULT_SCHEDULER, reason=reason))
    return RAY_TRAITS


def cluster_templates(
    cluster: Mapping[str, paths.Json], path: str, reading: Reading, *, traits: Traits = RAY_TRAITS
) -> Iterator[Template]:
    """The head and every worker group of a RayClusterSpec at `path`."""
    autoscaling = reading.flag(cluster.get("enableInTreeAutoscaling"), path + "/enableInTreeAutoscaling")
    of_all = list(_collector(cluster, path, reading))
    of_head = [*(_autoscaler(cluster, path, reading) if autoscaling else ()), *of_all]
    head_path = path + "/headGroupSpec"
    head = reading.mapping(cluster.get("headGroupSpec"), head_path)
    place = Place(head.get("template"), head_path + "/template")
    yield _with_containers(of_head, pod_template(place, reading, name="head", traits=traits), reading)
    for group_path, group in reading.items(cluster.get("workerGroupSpecs"), path + "/workerGroupSpecs"):
        template = pod_template(
            Place(group.get("template"), group_path + "/template"),
            reading,
            name=reading.text(group.get("groupName"), group_path + "/groupName"),
            count=_group_count(group, group_path, reading, autoscaling=autoscaling),
            traits=traits,
        )
        yield _with_containers(of_all, template, reading)


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
    most = highest * hosts
    return model.Count(minimum=lowest * hosts, maximum=most, reason="in-tree autoscaling", grown=most)


def _autoscaler(cluster: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[ContainerPlace]:
    """The autoscaler beside the head, as far as the cluster describes it."""
    here = path + "/autoscalerOptions"
    options = reading.mapping(cluster.get("autoscalerOptions"), here)
    if options:
        yield _added_container("autoscaler", options, here, unless_told=_AUTOSCALER)


def _collector(cluster: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[ContainerPlace]:
    """The collector for the history server, in every pod if KubeRay's feature gate for it is on."""
    path += "/historyServerOptions"
    history = reading.mapping(cluster.get("historyServerOptions"), path)
    path += "/collectorOptions"
    options = reading.mapping(history.get("collectorOptions"), path)
    if options:
        yield _added_container("ray-history-collector", options, path, unless_told=_COLLECTOR)


def _added_container(
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


def _with_containers(sidecars: list[ContainerPlace], template: Template, reading: Reading) -> Template:
    """The template with the containers that KubeRay adds. The first of its own containers still does the work."""
    if not sidecars:
        return template
    spec = template.spec.value
    fields = spec if isinstance(spec, dict) else {}
    own = listed_containers(
        {name: Place(fields.get(name), f"{template.spec.path}/{name}") for name, _ in LISTS}, reading
    )
    containers = tuple(own)
    first = next((each for each in containers if each.type is model.ContainerType.APP), None)
    name = first.value.get("name") if first is not None else None
    trains = name if isinstance(name, str) and name else "ray"
    return replace(template, containers=(*containers, *sidecars), traits=template.traits._replace(trains=trains))


def submitter_templates(
    job: Mapping[str, paths.Json], path: str, reading: Reading, *, traits: Traits
) -> Iterator[Template]:
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
        containers=(_added_container("ray-job-submitter", {}, path, unless_told=_SUBMITTER),) if job else (),
    )


_QUOTED: Final = memo.pattern(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_JOINED: Final = memo.pattern(r"&&|\|\||;|\n")
_MOST_OF_ENTRYPOINT: Final = 4096


def _joined_by(value: object) -> object:
    """The operator between the first command of an entry point and the second; empty for one command.

    Rules need no more, and the command may hold a secret.
    """
    if not isinstance(value, str):
        return value
    found = _JOINED.search(_QUOTED.sub("", value[:_MOST_OF_ENTRYPOINT]).strip(" \t\n;"))
    return "" if found is None else found[0].replace("\n", "a line break")


_MOST_OF_TEXT: Final = 64 * 1024
_WHOLE: Final = 1000


def _served_gpus(text: object) -> object:
    """The deployments in a `serveConfigV2` that ask for GPUs; empty for a text that usher cannot read.

    Sources: the schemas of serve and of its LLM configurations in github.com/ray-project/ray; the latter ask for a
    bundle of one GPU for each rank.
    """
    if not isinstance(text, str) or len(text) > _MOST_OF_TEXT or not re.search("num_gpus|GPU|llm_configs", text):
        return []
    try:
        found = reader.parse(text, source="text")
    except errors.ManifestError:
        return []
    config = found[0].value if len(found) == 1 else None
    return [
        each
        for application in _objects(paths.mapping(config).get("applications"))
        for each in (*_deployments(application), *_models(application))
        if each["onOneNode"]
    ]


def _deployments(application: paths.Object) -> Iterator[dict[str, str | int]]:
    for deployment in _objects(application.get("deployments")):
        gpus = _number(paths.mapping(deployment.get("ray_actor_options")).get("num_gpus"))
        bundles = [_number(each.get("GPU")) for each in _objects(deployment.get("placement_group_bundles"))]
        packed = deployment.get("placement_group_strategy") == "STRICT_PACK"
        largest = (sum(bundles) if packed else max(bundles)) if bundles else gpus
        replicas = _replicas(deployment)
        name = paths.text(deployment.get("name"))
        cpus = 0 if bundles else _number(paths.mapping(deployment.get("ray_actor_options")).get("num_cpus"))
        together = replicas * (sum(bundles) or gpus)
        sizes: list[int] = [
            int(str(each))
            for part in (application, paths.mapping(deployment.get("ray_actor_options")))
            for name, each in paths.mapping(paths.mapping(part.get("runtime_env")).get("env_vars")).items()
            if re.search("(TENSOR|PIPELINE)_PARALLEL", name) and re.fullmatch(r"[1-9]\d{0,2}", str(each), re.ASCII)
        ]
        ranks = math.prod(sizes)
        # vLLM asks Ray for its ranks beside the GPUs of the replica.
        if ranks > 1 and not bundles and ranks * _WHOLE > gpus > 0:
            together += replicas * ranks * _WHOLE
        yield {"name": name, "onOneNode": largest, "together": together, "cpus": cpus}


def _models(application: paths.Object) -> Iterator[dict[str, str | int]]:
    """The models of an application of ray.serve.llm. Its default strategy PACK may spread the ranks over nodes."""
    for model_config in _objects(paths.mapping(application.get("args")).get("llm_configs")):
        engine = paths.mapping(model_config.get("engine_kwargs"))
        tensor, pipeline = (engine.get(f"{each}_parallel_size", 1) for each in ("tensor", "pipeline"))
        if isinstance(tensor, int) and isinstance(pipeline, int) and not model_config.get("placement_group_config"):
            replicas = _replicas(paths.mapping(model_config.get("deployment_config")))
            name = paths.text(paths.mapping(model_config.get("model_loading_config")).get("model_id"))
            yield {"name": name, "onOneNode": _WHOLE, "together": replicas * tensor * pipeline * _WHOLE, "cpus": 0}


def _replicas(deployment: paths.Object) -> int:
    """The replicas that always run."""
    given = deployment.get("num_replicas", 1)
    least = paths.mapping(deployment.get("autoscaling_config")).get("min_replicas", 1)
    number = least if deployment.get("autoscaling_config") or given == "auto" else given
    return number if isinstance(number, int) else 0


def _objects(value: paths.Json) -> list[paths.Object]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _number(value: paths.Json) -> int:
    return round(value * _WHOLE) if isinstance(value, int | float) and 0 < value < _WHOLE else 0


_UPGRADE: Final = model.Count(minimum=1, maximum=2, reason="an upgrade without downtime runs two clusters")
_TWO_CLUSTERS: Final = ("", "NewCluster", "NewClusterWithIncrementalUpgrade")

_RUNS: Final = model.Count(minimum=0, maximum=None, reason="nothing keeps the runs of a RayCronJob from overlapping")


def _ray_cluster(ray_cluster: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(ray_cluster.get("spec"), "/spec")
    yield from cluster_templates(spec, "/spec", reading, traits=traits_of_pods(ray_cluster, reading))


def _ray_job(ray_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(ray_job.get("spec"), "/spec")
    yield from _templates_of_job(spec, "/spec", reading, traits=traits_of_pods(ray_job, reading))


def _templates_of_job(
    spec: Mapping[str, paths.Json], path: str, reading: Reading, *, traits: Traits
) -> Iterator[Template]:
    """The templates of a job. With a clusterSelector it runs on an existing cluster and makes only its submitter.

    Each of the `backoffLimit` retries gets a new cluster, when the one before it is gone
    (KR:ray-operator/controllers/ray/rayjob_controller.go).
    """
    if not reading.mapping(spec.get("clusterSelector"), path + "/clusterSelector"):
        here = path + "/rayClusterSpec"
        yield from cluster_templates(reading.mapping(spec.get("rayClusterSpec"), here), here, reading, traits=traits)
    yield from submitter_templates(spec, path, reading, traits=traits)


def _ray_service(ray_service: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of a RayService.

    An upgrade makes a second cluster, unless the strategy is None or unknown to KubeRay.

    An incremental upgrade grows it step by step to its full size, before KubeRay removes the first one
    (KR:ray-operator/controllers/ray/rayservice_controller.go, isZeroDowntimeUpgradeEnabled).
    """
    spec = reading.mapping(ray_service.get("spec"), "/spec")
    strategy = reading.mapping(spec.get("upgradeStrategy"), "/spec/upgradeStrategy")
    upgrade = reading.text(strategy.get("type"), "/spec/upgradeStrategy/type")
    path = "/spec/rayClusterConfig"
    cluster = reading.mapping(spec.get("rayClusterConfig"), path)
    traits = traits_of_pods(ray_service, reading)
    for template in cluster_templates(cluster, path, reading, traits=traits):
        yield template_times(template, _UPGRADE) if upgrade in _TWO_CLUSTERS else template


def _ray_cron_job(ray_cron_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of a RayCronJob. Its RayJobs do not get its labels, so its labels cannot name a queue.

    Source: raycronjob_controller.go.
    """
    spec = reading.mapping(ray_cron_job.get("spec"), "/spec")
    path = "/spec/jobTemplate"
    job = reading.mapping(spec.get("jobTemplate"), path)
    for template in _templates_of_job(job, path, reading, traits=RAY_TRAITS):
        yield template_times(template, _RUNS)


_KUEUE: Final = "kueue.x-k8s.io"


def _elsewhere(value: paths.Object, objects: Objects) -> Iterator[model.UnreadKey]:
    """A cluster that scales itself in a queue of MultiKueue (KQ:pkg/controller/jobs/raycluster/raycluster_webhook.go).

    Kueue refuses it from kubernetes-sigs/kueue#13244 on, and deleted it after its admission before.
    """
    spec, metadata = paths.mapping(value.get("spec")), paths.metadata(value)
    name = paths.text(paths.mapping(metadata.get("labels")).get(f"{_KUEUE}/queue-name"))
    if spec.get("enableInTreeAutoscaling") is not True or not name:
        return
    namespace = paths.text(metadata.get("namespace"))
    local = objects.find(Reference(group=_KUEUE, kind="LocalQueue", name=name, namespace=namespace))
    of_local = {} if isinstance(local, Absence) else paths.mapping(local.get("spec"))
    queue = objects.known(_KUEUE, "ClusterQueue").get(paths.text(of_local.get("clusterQueue")), {})
    checks = objects.known(_KUEUE, "AdmissionCheck")
    for _, check, _ in known_keys.checks_of(paths.mapping(queue.get("spec"))):
        controller = paths.mapping(checks.get(check, {}).get("spec")).get("controllerName")
        if controller == known_keys.MULTIKUEUE:
            text = (
                f"scales itself in a queue whose AdmissionCheck {check[:80]} sends it to other clusters, and "
                "MultiKueue takes no cluster of Ray that does"
            )
            remedy = "turn enableInTreeAutoscaling off, or use a queue of this cluster"
            yield misread("/spec/enableInTreeAutoscaling", text, remedy, "controller")
            return


def _idle_workers(value: paths.Object, _known: Objects) -> Iterator[model.UnreadKey]:
    """Workers that a RayService always has, with more GPUs than all deployments of its configuration ever use."""
    config = known_keys.parsed(known_keys.part_at(value, "/spec").get("serveConfigV2"))
    used = [_most_gpus(each) for each in _objects(paths.mapping(config).get("applications"))]
    cluster = known_keys.part_at(value, "/spec/rayClusterConfig")
    kept = [_kept_gpus(each, cluster) for each in _objects(cluster.get("workerGroupSpecs"))]
    if not used or not kept or None in used or None in kept:
        return
    most, least = math.ceil(sum(filter(None, used)) / _WHOLE), sum(filter(None, kept))
    if 0 < most < least:
        text = f"keeps {least} GPUs in its workers, and the deployments of serveConfigV2 use at most {most} of them"
        remedy = "lower minReplicas and replicas of the workers, or raise num_replicas of the deployments"
        yield misread("/spec/rayClusterConfig/workerGroupSpecs", text, remedy, "controller")


def _of_service(value: paths.Object, known: Objects) -> Iterator[model.UnreadKey]:
    yield from _idle_workers(value, known)
    config = known_keys.parsed(known_keys.part_at(value, "/spec").get("serveConfigV2"))
    applications = _objects(paths.mapping(config).get("applications"))
    for field, default in (("route_prefix", "/"), ("name", "default")):
        given = [each.get(field, default) for each in applications]
        twice = next((each for each in given if isinstance(each, str) and given.count(each) > 1), "")
        if twice:
            text = f"has two applications with the {field} {twice[:60]} in serveConfigV2, and Ray Serve refuses that"
            yield misread("/spec/serveConfigV2", text, f"give each application a {field} of its own", "controller")


def _kept_gpus(group: paths.Object, cluster: Mapping[str, Any]) -> int | None:
    """The GPUs of the workers that a group always has; None if usher cannot say."""
    field = "minReplicas" if cluster.get("enableInTreeAutoscaling") else "replicas"
    given = (group.get(field, 0), group.get("minReplicas", 0), group.get("numOfHosts", 1))
    numbers = [each for each in given if isinstance(each, int)]
    limits = value_forms.values_at(group, "template.spec.containers[].resources.limits")
    own = paths.mapping(group.get("rayStartParams"))
    if len(numbers) < len(given) or {"num-gpus", "resources"} & own.keys():
        return None
    return (
        max(numbers[:2])
        * numbers[2]
        * sum(known_keys.integer(paths.mapping(each).get("nvidia.com/gpu")) for each in limits)
    )


def _most_gpus(application: paths.Object) -> int | None:
    """The thousandths of GPUs of all replicas of an application; None if its code or Ray decides some of them."""
    deployments, whole = _objects(application.get("deployments")), 0
    if paths.mapping(application.get("args")).get("llm_configs") or not deployments:
        return None
    for each in deployments:
        scaled = paths.mapping(each.get("autoscaling_config"))
        number = scaled.get("max_replicas") if scaled else each.get("num_replicas", 1)
        if not isinstance(number, int) or not ({"ray_actor_options", "placement_group_bundles"} & each.keys()):
            return None
        plain = {key: given for key, given in each.items() if key != "autoscaling_config"}
        (found,) = _deployments({**application, "deployments": [{**plain, "num_replicas": number}]})
        whole += int(found["together"])
    return whole


CODE: Final[Mapping[str, Code]] = {
    "RayCluster.ray.io": {"templates": _ray_cluster, "unmet": _elsewhere},
    "RayJob.ray.io": {"templates": _ray_job},
    "RayService.ray.io": {"templates": _ray_service, "unmet": _of_service},
    "RayCronJob.ray.io": {"templates": _ray_cron_job},
}

SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "joined_by": BeforeValidator(_joined_by),
    "served_gpus": BeforeValidator(_served_gpus),
}
