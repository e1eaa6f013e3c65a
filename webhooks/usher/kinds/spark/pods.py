"""The pods of a driver or of executors, put together from the operator's own fields, a pod template and `sparkConf`.

Spark makes a pod from the pod template and the properties. The operator's webhook then writes its own fields into the
pod (SP:internal/webhook/sparkpod_defaulter.go). These fields win, and lists are appended.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from usher import model, paths
from usher.dataclass import dataclass
from usher.kinds.spark import conf as spark_conf
from usher.kinds.spark import resources as spark_resources
from usher.kinds.spark.conf import Conf
from usher.reading import annotated_requests
from usher.reading.environment import READ_VARIABLES
from usher.reading.pod_templates import listed
from usher.reading.templates import LISTS, NOWHERE, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

_CONTAINERS: Final[Mapping[str, str]] = {
    spark_conf.DRIVER: "spark-kubernetes-driver",
    spark_conf.EXECUTOR: "spark-kubernetes-executor",
}
_VARIABLES: Final = frozenset({"SPARK_*"})
_BESIDE_A_TEMPLATE: Final = ("affinity", "nodeSelector", "priorityClassName", "schedulerName", "tolerations")
_TOLERATION: Final = ("key", "operator", "value", "effect")
_BEFORE_THE_OTHERS: Final = (model.ContainerType.INIT, model.ContainerType.SIDECAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
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


def template(role: str, place: Place, application: Application, reading: Reading, *, count: model.Count) -> Template:
    """The template of a role, whose own fields and pod template stand at a place."""
    own = _Fields(reading.mapping(*place), place.path)
    pod = _Fields(reading.mapping(*own.place("template")), own.path + "/template")
    spec = _Fields(reading.mapping(*pod.place("spec")), pod.path + "/spec")
    has_template = own.values.get("template") is not None
    conf = application.conf
    spark_conf.tell_what_is_not_judged(conf, role, reading, has_template=has_template)
    metadata, requests = _metadata(own, pod, reading)
    containers = list(_containers(role, own, spec, application, reading, missing=not isinstance(place.value, dict)))
    return Template(
        name=role,
        path=own.path,
        spec=Place(spec.values, spec.path) if has_template else Place(None, own.path),
        metadata=metadata,
        count=count,
        traits=traits(role, containers, changeable=has_template and not any(map(own.values.get, _BESIDE_A_TEMPLATE))),
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


def traits(role: str, containers: list[ContainerPlace], *, changeable: bool) -> Traits:
    """The traits of a pod. Spark's container is the one of its name, or else the first.

    Source: KubernetesUtils.selectSparkContainer of apache/spark.
    """
    spark = _of_spark(role, containers)
    return Traits(
        trains=(spark and _name(spark)) or _CONTAINERS[role], operator_environment=_VARIABLES, changeable=changeable
    )


def _of_spark(role: str, containers: list[ContainerPlace]) -> ContainerPlace | None:
    own = [each for each in containers if each.type is model.ContainerType.APP]
    named = [each for each in own if _name(each) == _CONTAINERS[role]]
    return next(iter(named or own), None)


def _name(container: ContainerPlace) -> str:
    name = container.name or container.value.get("name")
    return name if isinstance(name, str) else ""


def _containers(  # noqa: PLR0913 - a container is made from all of these
    role: str, own: _Fields, spec: _Fields, application: Application, reading: Reading, *, missing: bool
) -> Iterator[ContainerPlace]:
    """All containers of a pod, init containers first. If the role is missing, usher adds no container of Spark."""
    of_template = list(listed({name: spec.place(name) for name, _ in LISTS}, reading))
    beside = listed({"initContainers": own.place("initContainers"), "containers": own.place("sidecars")}, reading)
    spark = _of_spark(role, of_template)
    if spark is None and not missing:
        spark = ContainerPlace(value={}, path=own.path, name=_CONTAINERS[role])
        of_template.append(spark)
    found = [
        _completed(role, each, own, application, reading) if each is spark else each for each in (*of_template, *beside)
    ]
    yield from sorted(found, key=lambda each: each.type not in _BEFORE_THE_OTHERS)


def _completed(
    role: str, container: ContainerPlace, own: _Fields, application: Application, reading: Reading
) -> ContainerPlace:
    """The container of Spark, completed with the settings outside its template."""
    resources = _Fields(
        reading.mapping(container.value.get("resources"), container.path + "/resources"), container.path + "/resources"
    )
    amounts = spark_resources.of_role(role, own.place, application.conf, application.memory, reading)
    given = (Place(container.value.get("env"), container.path + "/env"),) if container.path != own.path else ()
    return container._replace(
        name=_name(container) or ("" if container.value.get("name") else _CONTAINERS[role]),
        requests=spark_resources.over(resources.place("requests"), amounts.requests, reading, path=own.path),
        limits=spark_resources.over(resources.place("limits"), amounts.limits, reading, path=amounts.path or own.path),
        environment=(
            *given,
            *spark_conf.environment(application.conf, role),
            *_variables(own.place("envVars"), reading),
            own.place("env"),
        ),
    )


def _variables(place: Place, reading: Reading) -> Iterator[Place]:
    for name, value in reading.strings(*place).items():
        if name.startswith(READ_VARIABLES):
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
        **spark_conf.node_selector(application.conf, "spark.kubernetes"),
        **reading.strings(*application.node_selector),
        **spark_conf.node_selector(application.conf, f"spark.kubernetes.{role}"),
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
    asking = annotated_requests.of_pod(annotations, metadata.path + "/annotations", reading)
    quiet = {} if asking.requests else annotations
    labels = {**reading.strings(*metadata.place("labels")), **reading.strings(*own.place("labels"))}
    return Place({"labels": {**labels}, "annotations": {**quiet, **winning}}, own.path), asking.requests
