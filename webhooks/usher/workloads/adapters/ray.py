"""ray.io: RayCluster and RayJob."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.templates import ONE, Template

_ENVIRONMENT = frozenset({"RAY_*", "FQ_RAY_IP"})
_VERSIONS = ("v1", "v1alpha1")

# What the CRDs fill in for a missing maxReplicas: on a cluster every group has a bound, but not every bound is meant.
_NO_MAXIMUM = 2**31 - 1


def cluster_templates(cluster: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[Template]:
    """The head and every worker group of a RayClusterSpec at `path`."""
    head_path = path + "/headGroupSpec"
    head = reading.mapping(cluster.get("headGroupSpec"), head_path)
    yield Template(
        name="head", value=head.get("template"), path=head_path + "/template", operator_environment=_ENVIRONMENT
    )
    autoscaling = reading.flag(cluster.get("enableInTreeAutoscaling"), path + "/enableInTreeAutoscaling")
    for group_path, group in reading.items(cluster.get("workerGroupSpecs"), path + "/workerGroupSpecs"):
        yield Template(
            name=reading.text(group.get("groupName"), group_path + "/groupName"),
            value=group.get("template"),
            path=group_path + "/template",
            count=_group_count(group, group_path, autoscaling, reading),
            operator_environment=_ENVIRONMENT,
        )


def _group_count(group: Mapping[str, paths.Json], path: str, autoscaling: bool, reading: Reading) -> model.Count:  # noqa: FBT001 - named at the one call
    """KubeRay keeps replicas between the bounds, skips suspended groups, and makes numOfHosts pods of each replica."""
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


def _ray_cluster(ray_cluster: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield from cluster_templates(reading.mapping(ray_cluster.get("spec"), "/spec"), "/spec", reading)


def _ray_job(ray_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """With a clusterSelector the job runs on a cluster that is there already and makes no pods but its submitter."""
    spec = reading.mapping(ray_job.get("spec"), "/spec")
    if not reading.mapping(spec.get("clusterSelector"), "/spec/clusterSelector"):
        path = "/spec/rayClusterSpec"
        yield from cluster_templates(reading.mapping(spec.get("rayClusterSpec"), path), path, reading)
    mode = reading.text(spec.get("submissionMode"), "/spec/submissionMode") or "K8sJobMode"
    if spec.get("submitterPodTemplate") is not None and mode == "K8sJobMode":
        yield Template(
            name="submitter",
            value=spec.get("submitterPodTemplate"),
            path="/spec/submitterPodTemplate",
            count=ONE,
            operator_environment=_ENVIRONMENT,
        )


KINDS = [
    Kind(
        group="ray.io",
        versions=_VERSIONS,
        kind="RayCluster",
        plural="rayclusters",
        templates=_ray_cluster,
        role=model.Role.BATCH,
        suspend_path="/spec/suspend",
        queue_label_path="/metadata",
    ),
    Kind(
        group="ray.io",
        versions=_VERSIONS,
        kind="RayJob",
        plural="rayjobs",
        templates=_ray_job,
        role=model.Role.TRAINING,
        suspend_path="/spec/suspend",
        queue_label_path="/metadata",
    ),
]
