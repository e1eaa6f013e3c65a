"""ray.io: RayCluster, RayJob, RayService and RayCronJob, with the shapes that rules read of them."""

from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds import completion
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.ray import clusters
from usher.reading.embedded import times
from usher.reading.shapes import STRICT
from usher.reading.templates import Template, Traits
from usher.reading.values import Reading

_SHAPE_VERSIONS = ("v1", "v1alpha1")


# `num-gpus` is not a valid name in Python. usher reads no other parameter: one of them may hold a password.
StartParams = TypedDict("StartParams", {"num-gpus": NotRequired[str]})
with_config(STRICT)(StartParams)


@with_config(STRICT)
class Group(TypedDict):
    """The head, or what a group of workers has in common with it."""

    rayStartParams: NotRequired[StartParams]
    resources: NotRequired[dict[str, str]]
    """Resources that Ray may hand out; they win over the start parameters."""


@with_config(STRICT)
class WorkerGroup(Group):
    groupName: NotRequired[str]


@with_config(STRICT)
class RayClusterSpec(TypedDict):
    enableInTreeAutoscaling: NotRequired[bool]
    headGroupSpec: NotRequired[Group]
    workerGroupSpecs: NotRequired[list[WorkerGroup]]


@with_config(STRICT)
class RayCluster(TypedDict):
    spec: NotRequired[RayClusterSpec]


@with_config(STRICT)
class RayJobSpec(TypedDict):
    clusterSelector: NotRequired[dict[str, str]]
    shutdownAfterJobFinishes: NotRequired[bool]
    activeDeadlineSeconds: NotRequired[int]
    rayClusterSpec: NotRequired[RayClusterSpec]


@with_config(STRICT)
class RayJob(TypedDict):
    spec: NotRequired[RayJobSpec]


@with_config(STRICT)
class RayServiceSpec(TypedDict):
    rayClusterConfig: NotRequired[RayClusterSpec]


@with_config(STRICT)
class RayService(TypedDict):
    spec: NotRequired[RayServiceSpec]


_VERSIONS: Final = ("v1", "v1alpha1")

_UPGRADE: Final = model.Count(minimum=1, maximum=2, reason="an upgrade without downtime runs two clusters")
_TWO_CLUSTERS: Final = ("", "NewCluster", "NewClusterWithIncrementalUpgrade")

_RUNS: Final = model.Count(minimum=0, maximum=None, reason="nothing keeps the runs of a RayCronJob from overlapping")


def _ray_cluster(ray_cluster: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(ray_cluster.get("spec"), "/spec")
    yield from clusters.templates(spec, "/spec", reading, traits=clusters.traits(ray_cluster, reading))


def _ray_job(ray_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(ray_job.get("spec"), "/spec")
    yield from _job(spec, "/spec", reading, traits=clusters.traits(ray_job, reading))


def _job(spec: Mapping[str, paths.Json], path: str, reading: Reading, *, traits: Traits) -> Iterator[Template]:
    """The templates of a job. With a clusterSelector it runs on an existing cluster and makes only its submitter.

    Each of the `backoffLimit` retries gets a new cluster, when the one before it is gone
    (KR:ray-operator/controllers/ray/rayjob_controller.go).
    """
    if not reading.mapping(spec.get("clusterSelector"), path + "/clusterSelector"):
        here = path + "/rayClusterSpec"
        yield from clusters.templates(reading.mapping(spec.get("rayClusterSpec"), here), here, reading, traits=traits)
    yield from clusters.submitter(spec, path, reading, traits=traits)


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
    traits = clusters.traits(ray_service, reading)
    for template in clusters.templates(cluster, path, reading, traits=traits):
        yield times(template, _UPGRADE) if upgrade in _TWO_CLUSTERS else template


def _ray_cron_job(ray_cron_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of a RayCronJob. Its RayJobs do not get its labels, so its labels cannot name a queue.

    Source: raycronjob_controller.go.
    """
    spec = reading.mapping(ray_cron_job.get("spec"), "/spec")
    path = "/spec/jobTemplate"
    job = reading.mapping(spec.get("jobTemplate"), path)
    for template in _job(job, path, reading, traits=clusters.TRAITS):
        yield times(template, _RUNS)


_COUNTED: Final = (
    "1 head, and for every group that is not suspended `replicas` within their bounds times `numOfHosts`; "
    "up to `maxReplicas` with in-tree autoscaling"
)
_SOURCE: Final = "KR:ray-operator/controllers/ray/utils/util.go"
_PLACES: Final = model.GangPlaces(
    queue="/metadata/labels/volcano.sh~1queue-name", priority_class="/metadata/labels/ray.io~1priority-class-name"
)
"""KR:ray-operator/controllers/ray/batchscheduler/volcano/volcano_scheduler.go; KubeRay names the scheduler itself."""

_OF_CLUSTER: Final = model.LifecyclePlaces(managed_by="/spec/managedBy")
_SHUTDOWN: Final = "/spec/shutdownAfterJobFinishes"
_OF_JOB: Final = model.LifecyclePlaces(
    ttl="/spec/ttlSecondsAfterFinished",
    ttl_switch=_SHUTDOWN,
    # Shutdown alone removes the cluster at once: a time to live would only hold its GPUs longer.
    ttl_rivals=(_SHUTDOWN, "/spec/deletionStrategy", "/spec/clusterSelector"),
    deadline="/spec/activeDeadlineSeconds",
    managed_by="/spec/managedBy",
)

_VOLCANO: Final = "KubeRay's own, when it is configured with `batchScheduler: volcano`"

KINDS = [
    Kind(
        group="ray.io",
        kind="RayCluster",
        versions=_VERSIONS,
        plural="rayclusters",
        key="rayCluster",
        shape=RayCluster,
        owned_by=(
            ("ray.io", "RayJob"),
            ("ray.io", "RayService"),
        ),
        pods=Pods(
            templates=_ray_cluster,
            template_paths=("spec.headGroupSpec.template", "spec.workerGroupSpecs[].template"),
            counted=_COUNTED,
            source=_SOURCE,
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            runs_any_program=True,
            joins_its_pods=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            volcano=_VOLCANO,
            gang_places=_PLACES,
            lifecycle_places=_OF_CLUSTER,
        ),
    ),
    Kind(
        group="ray.io",
        kind="RayJob",
        versions=_VERSIONS,
        plural="rayjobs",
        key="rayJob",
        shape=RayJob,
        owned_by=(("ray.io", "RayCronJob"),),
        finished=completion.by_field("/jobDeploymentStatus", "Complete", "Failed"),
        pods=Pods(
            templates=_ray_job,
            template_paths=("spec.rayClusterSpec, as in a RayCluster", "spec.submitterPodTemplate"),
            counted="as its RayCluster, or 0 where `clusterSelector` chooses one; and 1 submitter in K8sJobMode",
            source=_SOURCE
            + "; KR:ray-operator/apis/ray/v1/rayjob_types.go; KR:ray-operator/controllers/ray/common/job.go",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.TRAINING,
            runs_any_program=True,
            joins_its_pods=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            volcano=_VOLCANO,
            gang_places=_PLACES,
            lifecycle_places=_OF_JOB,
        ),
    ),
    Kind(
        group="ray.io",
        kind="RayService",
        versions=_VERSIONS,
        plural="rayservices",
        key="rayService",
        shape=RayService,
        pods=Pods(
            templates=_ray_service,
            template_paths=("spec.rayClusterConfig, as in a RayCluster",),
            counted="as its RayCluster, and twice as many while an upgrade runs; not with `upgradeStrategy.type: None`",
            source=_SOURCE + "; KR:ray-operator/controllers/ray/rayservice_controller.go",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.INFERENCE,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            lifecycle_places=_OF_CLUSTER,
            volcano="KubeRay's own for its RayClusters, when it is configured with `batchScheduler: volcano`",
        ),
    ),
    Kind(
        group="ray.io",
        kind="RayCronJob",
        versions=("v1",),
        plural="raycronjobs",
        pods=Pods(
            templates=_ray_cron_job,
            template_paths=("spec.jobTemplate, as the spec of a RayJob",),
            counted="as a RayJob for each run; nothing keeps runs from overlapping",
            source="KR:ray-operator/controllers/ray/raycronjob_controller.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.TRAINING,
            runs_any_program=True,
            joins_its_pods=True,
            suspend_path="/spec/suspend",
            volcano="KubeRay's own for its RayJobs, when it is configured with `batchScheduler: volcano`",
        ),
    ),
]
