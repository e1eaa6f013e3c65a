"""sparkoperator.k8s.io: SparkApplication, ScheduledSparkApplication and SparkConnect."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.kinds import completion
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.spark import conf as spark_conf
from usher.kinds.spark import pods
from usher.kinds.spark.resources import Overhead
from usher.reading.embedded import times
from usher.reading.pod_templates import listed, pod_template
from usher.reading.templates import LISTS, ONE, ContainerPlace, Place, Template
from usher.reading.values import Reading

_GROUP: Final = "sparkoperator.k8s.io"

_NO_DRIVER: Final = model.Count(minimum=0, maximum=0, reason="in client mode the driver runs with the operator")
_BESIDE_JVM: Final = ("Python", "R")
_INSTANCES: Final = "spark.executor.instances"

_ONE_RUN: Final = model.Count(minimum=0, maximum=1)
_OVERLAPPING: Final = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")

_OF_CONNECT: Final = ("cores", "memory", "template")
"""Fields of an executor of SparkConnect; the API server drops all others."""


def _application(spec: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[Template]:
    """The driver and the executors of a SparkApplicationSpec."""
    conf = spark_conf.read(spec.get("sparkConf"), path + "/sparkConf", reading)
    application_type = reading.text(spec.get("type"), path + "/type")
    application = pods.Application(
        conf=conf,
        node_selector=Place(spec.get("nodeSelector"), path + "/nodeSelector"),
        batch_scheduler=Place(spec.get("batchScheduler"), path + "/batchScheduler"),
        memory=Overhead(
            factor=Place(spec.get("memoryOverheadFactor"), path + "/memoryOverheadFactor"),
            beside_jvm=application_type in _BESIDE_JVM,
        ),
    )
    driver, executor = (Place(spec.get(role), f"{path}/{role}") for role in ("driver", "executor"))
    in_client_mode = reading.text(spec.get("mode"), path + "/mode") == "client"
    yield pods.template(spark_conf.DRIVER, driver, application, reading, count=_NO_DRIVER if in_client_mode else ONE)
    # The operator's own default (SP:api/v1beta2/defaults.go); Spark has another.
    count = _executors(spec, path, conf, reading, unless_told=1)
    yield pods.template(spark_conf.EXECUTOR, executor, application, reading, count=count)


def _executors(
    spec: Mapping[str, paths.Json], path: str, conf: spark_conf.Conf, reading: Reading, *, unless_told: int
) -> model.Count:
    here = path + "/executor"
    executor = reading.mapping(spec.get("executor"), here)
    given = reading.count(executor.get("instances"), here + "/instances", default=-1)
    in_conf = spark_conf.pods(conf.place(_INSTANCES), reading)
    instances = given if given >= 0 else unless_told if in_conf is None else in_conf
    here = path + "/dynamicAllocation"
    dynamic = spark_conf.executors(conf, reading.mapping(spec.get("dynamicAllocation"), here), here, reading)
    return dynamic or model.Count(minimum=instances, maximum=instances)


def _spark_application(spark_application: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield from _application(reading.mapping(spark_application.get("spec"), "/spec"), "/spec", reading)


def _scheduled(scheduled: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of a schedule. Only Allow starts a run beside another one.

    Without a policy the operator starts no second run while it keeps the first one
    (SP:internal/controller/scheduledsparkapplication/controller.go).
    """
    spec = reading.mapping(scheduled.get("spec"), "/spec")
    policy = reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy")
    path = "/spec/template"
    for template in _application(reading.mapping(spec.get("template"), path), path, reading):
        yield times(template, _OVERLAPPING if policy == "Allow" else _ONE_RUN)


def _spark_connect(spark_connect: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The server, whose pod is its template whatever the properties say, and the executors that it starts.

    The operator sets no number of executors (SP:api/v1alpha1/defaults.go), so Spark's default counts
    (core/scheduler/cluster/SchedulerBackendUtils.scala of apache/spark).
    """
    spec = reading.mapping(spark_connect.get("spec"), "/spec")
    yield _server(Place(spec.get("server"), "/spec/server"), reading)
    conf = spark_conf.read(spec.get("sparkConf"), "/spec/sparkConf", reading)
    executor = spec.get("executor")
    own: object = executor
    if isinstance(executor, dict):
        own = {field: executor[field] for field in _OF_CONNECT if field in executor}
    yield pods.template(
        spark_conf.EXECUTOR,
        Place(own, "/spec/executor"),
        pods.Application(conf=conf, memory=Overhead()),
        reading,
        count=_executors(spec, "/spec", conf, reading, unless_told=2),
    )


def _server(server: Place, reading: Reading) -> Template:
    """The pod template. If it has no containers, Spark adds its own."""
    place = Place(reading.mapping(*server).get("template"), server.path + "/template")
    template = pod_template(place, reading, name="server")
    value, path = template.spec
    spec = value if isinstance(value, dict) else {}
    containers = list(listed({name: Place(spec.get(name), f"{path}/{name}") for name, _ in LISTS}, reading))
    traits = pods.traits(spark_conf.DRIVER, containers, changeable=place.value is not None)
    if isinstance(server.value, dict) and not spec.get("containers"):
        containers.append(ContainerPlace(value={}, path=server.path, name=traits.trains))
    return replace(template, traits=traits, containers=tuple(containers))


_COUNTED: Final = (
    "1 driver (0 in client mode), and `executor.instances` ({} if missing), or as `dynamicAllocation` has them; "
    "`sparkConf` counts where fields are missing"
)
_CHANGES: Final = (
    "pod templates, where no field of the operator decides instead: these fields do not form a pod spec, and the "
    "operator would drop all others"
)


def _places(spec: str) -> model.GangPlaces:
    """Gang fields of a SparkApplicationSpec. The operator hands its pods to the scheduler that it names."""
    return model.GangPlaces(
        queue=spec + "/batchSchedulerOptions/queue",
        priority_class=spec + "/batchSchedulerOptions/priorityClassName",
        scheduler=spec + "/batchScheduler",
    )


KINDS = [
    Kind(
        group=_GROUP,
        kind="SparkApplication",
        versions=("v1beta2",),
        plural="sparkapplications",
        owned_by=(("sparkoperator.k8s.io", "ScheduledSparkApplication"),),
        finished=completion.by_field("/applicationState/state", "COMPLETED", "FAILED"),
        pods=Pods(
            templates=_spark_application,
            template_paths=("spec.driver, spec.executor", "spec.driver.template, spec.executor.template"),
            counted=_COUNTED.format(1),
            source="SP:api/v1beta2/sparkapplication_types.go; SP:internal/controller/sparkapplication/submission.go",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            suspend_path="/spec/suspend",
            kueue=Kueue.OPTION,
            queue_label_path="/metadata",
            volcano="`spec.batchScheduler: volcano`; its PodGroup asks for one pod, and for the resources of all",
            gang_places=_places("/spec"),
            lifecycle_places=model.LifecyclePlaces(ttl="/spec/timeToLiveSeconds"),
            changes=_CHANGES,
        ),
    ),
    Kind(
        group=_GROUP,
        kind="ScheduledSparkApplication",
        versions=("v1beta2",),
        plural="scheduledsparkapplications",
        pods=Pods(
            templates=_scheduled,
            template_paths=("spec.template, as the spec of a SparkApplication",),
            counted="as a SparkApplication for each run; without bound under `concurrencyPolicy: Allow`",
            source="SP:internal/controller/scheduledsparkapplication/controller.go",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            suspend_path="/spec/suspend",
            kueue=Kueue.CHILDREN,
            # The SparkApplications get its labels.
            queue_label_path="/metadata",
            volcano="`spec.template.batchScheduler: volcano`, as for a SparkApplication",
            gang_places=_places("/spec/template"),
            changes=_CHANGES,
        ),
    ),
    Kind(
        group=_GROUP,
        kind="SparkConnect",
        versions=("v1alpha1",),
        plural="sparkconnects",
        pods=Pods(
            templates=_spark_connect,
            template_paths=("spec.server.template", "spec.executor, spec.executor.template"),
            counted="1 server, and `executor.instances` (2 if missing), or as `dynamicAllocation` has them",
            source="SP:internal/controller/sparkconnect/",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            changes=_CHANGES,
        ),
    ),
]
