"""sparkoperator.k8s.io: SparkApplication, ScheduledSparkApplication and SparkConnect.

Spark makes a pod from the pod template and the properties. The operator's webhook then writes its own fields into the
pod (SP:internal/webhook/sparkpod_defaulter.go). These fields win, and lists are appended.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import memo, model, paths
from usher.kinds import spark_resources
from usher.kinds.kind import Code
from usher.kinds.reading import environment
from usher.kinds.reading.environment import is_read
from usher.kinds.reading.pod_templates import listed_containers, pod_template, template_times
from usher.kinds.reading.templates import LISTS, NOWHERE, ONE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading
from usher.kinds.spark_resources import Conf, Overhead

_CONTAINERS: Final[Mapping[str, str]] = {
    spark_resources.DRIVER: "spark-kubernetes-driver",
    spark_resources.EXECUTOR: "spark-kubernetes-executor",
}
_VARIABLES: Final = frozenset({"SPARK_*"})
_BESIDE_A_TEMPLATE: Final = ("affinity", "nodeSelector", "priorityClassName", "schedulerName", "tolerations")
_TOLERATION: Final = ("key", "operator", "value", "effect")
_BEFORE_THE_OTHERS: Final = (model.ContainerType.INIT, model.ContainerType.SIDECAR)


class Application(Struct, frozen=True, kw_only=True):
    """The settings that driver and executors share."""

    conf: Conf
    node_selector: Place = NOWHERE
    batch_scheduler: Place = NOWHERE
    memory: spark_resources.Overhead


class _Fields(NamedTuple):
    values: Mapping[str, paths.Json]
    path: str

    def place(self, field: str) -> Place:
        return Place(self.values.get(field), f"{self.path}/{field}")


def template_of_role(
    role: str, place: Place, application: Application, reading: Reading, *, count: model.Count
) -> Template:
    """The template of a role, whose own fields and pod template stand at a place."""
    own = _Fields(reading.mapping(*place), place.path)
    pod = _Fields(reading.mapping(*own.place("template")), own.path + "/template")
    spec = _Fields(reading.mapping(*pod.place("spec")), pod.path + "/spec")
    has_template = own.values.get("template") is not None
    conf = application.conf
    spark_resources.record_unjudged_properties(conf, role, reading, has_template=has_template)
    metadata, requests = _metadata(own, pod, reading)
    containers = list(_containers(role, own, spec, application, reading, missing=not isinstance(place.value, dict)))
    return Template(
        name=role,
        path=own.path,
        spec=Place(spec.values, spec.path) if has_template else Place(None, own.path),
        metadata=metadata,
        count=count,
        traits=traits_of_role(
            role, containers, changeable=has_template and not any(map(own.values.get, _BESIDE_A_TEMPLATE))
        ),
        containers=tuple(containers),
        fields={
            "affinity": _either(own, spec, "affinity"),
            "nodeSelector": _node_selector(role, own, spec, application, reading),
            "priorityClassName": _first_text(
                (own.place("priorityClassName"), spec.place("priorityClassName")),
                reading,
                otherwise=_either(own, spec, "priorityClassName"),
            ),
            "schedulerName": _first_text(
                (
                    application.batch_scheduler,
                    own.place("schedulerName"),
                    conf.place(f"spark.kubernetes.{role}.scheduler.name"),
                    conf.place("spark.kubernetes.scheduler.name"),
                    spec.place("schedulerName"),
                ),
                reading,
                otherwise=_either(own, spec, "schedulerName"),
            ),
            "tolerations": _tolerations(own, spec, reading),
        },
        requests=requests,
    )


def traits_of_role(role: str, containers: list[ContainerPlace], *, changeable: bool) -> Traits:
    """The traits of a pod. Spark's container is the one of its name, or else the first.

    Source: KubernetesUtils.selectSparkContainer of apache/spark.
    """
    spark = _container_of_spark(role, containers)
    return Traits(
        trains=(spark and _container_name(spark)) or _CONTAINERS[role],
        operator_environment=_VARIABLES,
        changeable=changeable,
    )


def _container_of_spark(role: str, containers: list[ContainerPlace]) -> ContainerPlace | None:
    own = [each for each in containers if each.type is model.ContainerType.APP]
    named = [each for each in own if _container_name(each) == _CONTAINERS[role]]
    return next(iter(named or own), None)


def _container_name(container: ContainerPlace) -> str:
    name = container.name or container.value.get("name")
    return name if isinstance(name, str) else ""


def _containers(  # noqa: PLR0913 - a container is made from all of these
    role: str, own: _Fields, spec: _Fields, application: Application, reading: Reading, *, missing: bool
) -> Iterator[ContainerPlace]:
    """All containers of a pod, init containers first. If the role is missing, usher adds no container of Spark."""
    of_template = list(listed_containers({name: spec.place(name) for name, _ in LISTS}, reading))
    beside = listed_containers(
        {"initContainers": own.place("initContainers"), "containers": own.place("sidecars")}, reading
    )
    spark = _container_of_spark(role, of_template)
    if spark is None and not missing:
        spark = ContainerPlace(value={}, path=own.path, name=_CONTAINERS[role])
        of_template.append(spark)
    found = [
        _complete_container(role, each, own, application, reading) if each is spark else each
        for each in (*of_template, *beside)
    ]
    yield from sorted(found, key=lambda each: each.type not in _BEFORE_THE_OTHERS)


def _complete_container(
    role: str, container: ContainerPlace, own: _Fields, application: Application, reading: Reading
) -> ContainerPlace:
    """The container of Spark, completed with the settings outside its template."""
    resources = _Fields(
        reading.mapping(container.value.get("resources"), container.path + "/resources"), container.path + "/resources"
    )
    amounts = spark_resources.amounts_of_role(role, own.place, application.conf, application.memory, reading)
    given = (Place(container.value.get("env"), container.path + "/env"),) if container.path != own.path else ()
    return container._replace(
        name=_container_name(container) or ("" if container.value.get("name") else _CONTAINERS[role]),
        requests=spark_resources.write_amounts_over(
            resources.place("requests"), amounts.requests, reading, path=own.path
        ),
        limits=spark_resources.write_amounts_over(
            resources.place("limits"), amounts.limits, reading, path=amounts.path or own.path
        ),
        environment=(
            *given,
            *spark_resources.conf_environment(application.conf, role),
            *_variables(own.place("envVars"), reading),
            own.place("env"),
        ),
    )


def _variables(place: Place, reading: Reading) -> Iterator[Place]:
    for name, value in reading.strings(*place).items():
        if is_read(name):
            yield Place([{"name": name, "value": value}], paths.join(place.path, name))


def _either(own: _Fields, spec: _Fields, field: str) -> Place:
    return (own if own.values.get(field) is not None or not spec.values else spec).place(field)


def _first_text(places: tuple[Place, ...], reading: Reading, *, otherwise: Place) -> Place:
    """The first place with a text; `otherwise` is the place where usher would write one."""
    texts = [reading.text(*place) for place in places if place.path]
    places = tuple(place for place in places if place.path)
    return next((place for place, text in zip(places, texts, strict=True) if text), Place(None, otherwise.path))


def _node_selector(role: str, own: _Fields, spec: _Fields, application: Application, reading: Reading) -> Place:
    merged = {
        **reading.strings(*spec.place("nodeSelector")),
        **spark_resources.conf_node_selector(application.conf, "spark.kubernetes"),
        **reading.strings(*application.node_selector),
        **spark_resources.conf_node_selector(application.conf, f"spark.kubernetes.{role}"),
        **reading.strings(*own.place("nodeSelector")),
    }
    return Place(merged, _either(own, spec, "nodeSelector").path)


def _tolerations(own: _Fields, spec: _Fields, reading: Reading) -> Place:
    """The tolerations of both fields, each read at its own path. If both are missing, usher writes to a pod template.

    The operator's own field would count as well. But not every kind has it, and usher changes no template beside it.
    """
    given = [place for place in (spec.place("tolerations"), own.place("tolerations")) if place.value is not None]
    if len(given) < len(("template", "own")):
        return given[0] if given else (own if own.values.get("template") is None else spec).place("tolerations")
    readable: list[paths.Json] = [
        {field: reading.text(toleration.get(field), f"{path}/{field}") for field in _TOLERATION if field in toleration}
        for place in given
        for path, toleration in reading.items(*place)
    ]
    return Place(readable, given[-1].path)


def _metadata(own: _Fields, pod: _Fields, reading: Reading) -> tuple[Place, tuple[model.AcceleratorRequest, ...]]:
    """The merged labels and annotations, and the accelerators that annotations of the pod template request."""
    metadata = _Fields(reading.mapping(*pod.place("metadata")), pod.path + "/metadata")
    if not pod.values or not (own.values.get("labels") or own.values.get("annotations")):
        holder = metadata if pod.values else own
        return Place({field: holder.values.get(field) for field in ("labels", "annotations")}, holder.path), ()
    winning = reading.strings(*own.place("annotations"))
    annotations = {
        key: value for key, value in reading.strings(*metadata.place("annotations")).items() if key not in winning
    }
    asking = environment.of_pod(annotations, metadata.path + "/annotations", reading)
    quiet = {} if asking.requests else annotations
    labels = {**reading.strings(*metadata.place("labels")), **reading.strings(*own.place("labels"))}
    return Place({"labels": {**labels}, "annotations": {**quiet, **winning}}, own.path), asking.requests


_NO_DRIVER: Final = model.Count(minimum=0, maximum=0, reason="in client mode the driver runs with the operator")
_BESIDE_JVM: Final = ("Python", "R")
_INSTANCES: Final = "spark.executor.instances"

_ONE_RUN: Final = model.Count(minimum=0, maximum=1)
_OVERLAPPING: Final = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")

_OF_CONNECT: Final = ("cores", "memory", "template")
"""Fields of an executor of SparkConnect; the API server drops all others."""


def _application(spec: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[Template]:
    """The driver and the executors of a SparkApplicationSpec."""
    conf = spark_resources.read_conf(spec.get("sparkConf"), path + "/sparkConf", reading)
    application_type = reading.text(spec.get("type"), path + "/type")
    application = Application(
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
    yield template_of_role(
        spark_resources.DRIVER, driver, application, reading, count=_NO_DRIVER if in_client_mode else ONE
    )
    # The operator's own default (SP:api/v1beta2/defaults.go); Spark has another.
    count = _executors(spec, path, conf, reading, unless_told=1)
    yield template_of_role(spark_resources.EXECUTOR, executor, application, reading, count=count)


def _executors(
    spec: Mapping[str, paths.Json], path: str, conf: spark_resources.Conf, reading: Reading, *, unless_told: int
) -> model.Count:
    here = path + "/executor"
    executor = reading.mapping(spec.get("executor"), here)
    given = reading.count(executor.get("instances"), here + "/instances", default=-1)
    in_conf = spark_resources.number_of_pods(conf.place(_INSTANCES), reading)
    instances = given if given >= 0 else unless_told if in_conf is None else in_conf
    here = path + "/dynamicAllocation"
    dynamic = spark_resources.dynamic_executors(
        conf, reading.mapping(spec.get("dynamicAllocation"), here), here, reading
    )
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
        yield template_times(template, _OVERLAPPING if policy == "Allow" else _ONE_RUN)


def _spark_connect(spark_connect: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The server, whose pod is its template whatever the properties say, and the executors that it starts.

    The operator sets no number of executors (SP:api/v1alpha1/defaults.go), so Spark's default counts
    (core/scheduler/cluster/SchedulerBackendUtils.scala of apache/spark).
    """
    spec = reading.mapping(spark_connect.get("spec"), "/spec")
    yield _server(Place(spec.get("server"), "/spec/server"), reading)
    conf = spark_resources.read_conf(spec.get("sparkConf"), "/spec/sparkConf", reading)
    executor = spec.get("executor")
    own: object = executor
    if isinstance(executor, dict):
        own = {field: executor[field] for field in _OF_CONNECT if field in executor}
    yield template_of_role(
        spark_resources.EXECUTOR,
        Place(own, "/spec/executor"),
        Application(conf=conf, memory=Overhead()),
        reading,
        count=_executors(spec, "/spec", conf, reading, unless_told=2),
    )


def _server(server: Place, reading: Reading) -> Template:
    """The pod template. If it has no containers, Spark adds its own."""
    place = Place(reading.mapping(*server).get("template"), server.path + "/template")
    template = pod_template(place, reading, name="server")
    value, path = template.spec
    spec = value if isinstance(value, dict) else {}
    containers = list(listed_containers({name: Place(spec.get(name), f"{path}/{name}") for name, _ in LISTS}, reading))
    traits = traits_of_role(spark_resources.DRIVER, containers, changeable=place.value is not None)
    if isinstance(server.value, dict) and not spec.get("containers"):
        containers.append(ContainerPlace(value={}, path=server.path, name=traits.trains))
    return replace(template, traits=traits, containers=tuple(containers))


_RESOURCE: Final = memo.pattern(r"(spark\.(?:driver|executor)\.resource\.[^.]{1,60})\.amount")


def _without_vendor(value: object) -> object:
    """The resources that the properties ask for without a vendor. Rules need no other property."""
    if not isinstance(value, dict):
        return value
    found = (match[1] for key in value if (match := _RESOURCE.fullmatch(str(key))) and str(value[key]) != "0")
    return sorted(name for name in found if not value.get(f"{name}.vendor"))


CODE: Final[Mapping[str, Code]] = {
    "SparkApplication.sparkoperator.k8s.io": {"templates": _spark_application},
    "ScheduledSparkApplication.sparkoperator.k8s.io": {"templates": _scheduled},
    "SparkConnect.sparkoperator.k8s.io": {"templates": _spark_connect},
}

SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "without_vendor": BeforeValidator(_without_vendor),
}
