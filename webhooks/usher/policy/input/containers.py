"""The containers of the input document, as Rego sees them."""

from collections.abc import Sequence
from typing import NotRequired, cast

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.kinds.reading import shapes
from usher.kinds.reading.shapes import Amount, amount_of


class Resource(TypedDict):
    """Requests and limits of one resource of a container."""

    requests: NotRequired[Amount]
    limits: NotRequired[Amount]
    places: NotRequired[dict[str, str]]
    """Paths of these two, in kinds that keep them elsewhere than in `resources` of a container."""


class ConfigMapKey(TypedDict):
    """The ConfigMap that a value comes from, and its key."""

    name: str
    key: str


class Variable(TypedDict):
    """`value` is absent when it comes from elsewhere."""

    path: str
    value: NotRequired[str]
    configMap: NotRequired[ConfigMapKey]
    overrides: NotRequired[str]
    """Path of an earlier entry of that name in the same list."""


class Source(TypedDict):
    """One entry of `envFrom`."""

    path: str
    prefix: NotRequired[str]
    variables: NotRequired[dict[str, str]]
    """Variables of the families that rules read; absent if usher does not know the object that brings them."""


class Processes(TypedDict):
    """How many processes a launcher starts on one node, and where that is said."""

    number: int
    path: str


class ModelParallelism(TypedDict):
    """How a model server splits its model over GPUs, and where that is said; `gpus` is the product of the sizes."""

    server: str
    tensor: int
    pipeline: int
    data: int
    gpus: int
    spans: bool
    """Whether the server may span several pods."""
    path: str


class Container(shapes.Container):
    name: str
    path: str
    places: NotRequired[dict[str, str]]
    """Paths of fields that stand elsewhere than in the container, by their path below it."""
    type: str
    asksAccelerators: bool
    trains: NotRequired[bool]
    """Whether it does the work of its pod; absent if not."""
    usesClaims: NotRequired[bool]
    """Whether it uses any device claim of its pod, known or not; absent if not."""
    accelerators: dict[str, Resource]
    """Also accelerators with amount 0, or with requests and limits that contradict each other, so that it gets 0."""
    resources: NotRequired[dict[str, Resource]]
    """All other resources, of containers in pods that ask for accelerators."""
    lookalikes: NotRequired[dict[str, str]]
    """Paths of unknown resources that look like accelerators, by their names."""
    environment: dict[str, Variable]
    """By name; the last of several entries with one name, because Kubernetes uses that one."""
    environmentSources: NotRequired[list[Source]]
    """Sources of `envFrom`. `environment` wins over all of them, and a later source over an earlier one."""
    operatorVariables: NotRequired[dict[str, str]]
    """Paths of variables that the kind's operator sets as well, by their names; never their values."""
    passesOn: NotRequired[list[str]]
    """Names of variables that its command hands to the ranks that it starts (`mpirun -x`)."""
    processes: NotRequired[Processes]
    """Absent if the launcher computes the number itself, if it is unknown, and without accelerators."""
    parallelism: NotRequired[ModelParallelism]
    """Absent if it starts no model server that usher knows, or if the number of GPUs is unknown."""
    idleCommand: NotRequired[str]
    """Path of a command that does nothing but wait while the container holds accelerators."""


def container_document(container: model.Container, *, all_resources: bool) -> Container:
    """A container as Rego sees it.

    Args:
        container: the container.
        all_resources: whether rules also read resources that are not accelerators.
    """
    result: Container = {
        "name": container.name,
        "path": container.path,
        "type": container.type.value,
        "asksAccelerators": container.asks_accelerators,
        "accelerators": {name: _resource(container, name) for name in container.accelerators},
        "environment": {variable.name: _variable(variable) for variable in container.environment},
    }
    result.update(cast(Container, container.fields))
    if container.uses_claims:
        result["usesClaims"] = True
    if container.trains:
        result["trains"] = True
    if len(container.environment) > len(result["environment"]):
        _add_overrides(result["environment"], container.environment)
    _add_rare_fields(result, container)
    if all_resources:
        others = {*container.requests, *container.limits}.difference(container.accelerators)
        if others:
            result["resources"] = {name: _resource(container, name) for name in sorted(others)}
    if container.lookalikes:
        result["lookalikes"] = {name: container.first_path(name) for name in container.lookalikes}
    return result


def _add_rare_fields(result: Container, container: model.Container) -> None:
    """Adds the fields that few containers have."""
    if container.environment_sources:
        result["environmentSources"] = [_source(source) for source in container.environment_sources]
    if container.operator_variables:
        result["operatorVariables"] = dict(container.operator_variables)
    if container.passes_on:
        result["passesOn"] = list(container.passes_on)
    if container.processes is not None:
        result["processes"] = {"number": container.processes.number, "path": container.processes.path}
    if container.parallelism is not None:
        result["parallelism"] = _parallelism(container.parallelism)
    if container.idle_command:
        result["idleCommand"] = container.idle_command
    if container.field_places:
        result["places"] = dict(container.field_places)


def _parallelism(parallelism: model.ModelParallelism) -> ModelParallelism:
    return {
        "server": parallelism.server,
        "tensor": parallelism.tensor,
        "pipeline": parallelism.pipeline,
        "data": parallelism.data,
        "gpus": parallelism.gpus,
        "spans": parallelism.spans,
        "path": parallelism.path,
    }


def _resource(container: model.Container, name: str) -> Resource:
    result: Resource = {}
    if name in container.requests:
        result["requests"] = amount_of(container.requests[name])
    if name in container.limits:
        result["limits"] = amount_of(container.limits[name])
    if container.places:
        result["places"] = {
            name_of_list: container.resource_path(name_of_list, name) for name_of_list in container.places
        }
    return result


def _variable(variable: model.EnvironmentVariable) -> Variable:
    result: Variable = {"path": variable.path}
    if variable.value is not None:
        result["value"] = variable.value
    if variable.config_map is not None:
        name, key = variable.config_map
        result["configMap"] = {"name": name, "key": key}
    return result


def _source(source: model.EnvironmentSource) -> Source:
    result: Source = {"path": source.path}
    if source.prefix:
        result["prefix"] = source.prefix
    if source.variables is not None:
        result["variables"] = dict(source.variables)
    return result


def _add_overrides(told: dict[str, Variable], environment: Sequence[model.EnvironmentVariable]) -> None:
    """Marks entries that repeat a name in their own list. Separate lists are layers and may repeat names."""
    seen: dict[tuple[str, str], str] = {}
    for variable in environment:
        key = (variable.path.rpartition("/")[0], variable.name)
        if key in seen and told[variable.name]["path"] == variable.path:
            told[variable.name]["overrides"] = seen[key]
        seen[key] = variable.path
