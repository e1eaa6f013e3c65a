"""Reads a container of a manifest into the form that rules use."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.reading import pod_shapes
from usher.reading import shapes as reading_shapes
from usher.reading.environment import of_operator, sources, variables
from usher.reading.templates import ALL_REQUESTING, FIRST, ContainerPlace, Place, Template
from usher.reading.values import Reading
from usher.workloads import launching, passed_variables

_PLAIN: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
"""Resources that nearly every container requests and that are not accelerators."""


_NOTHING: Final[Mapping[str, paths.Json]] = MappingProxyType({})


def read(
    place: ContainerPlace,
    template: Template,
    *,
    reading: Reading,
    vocabulary: Vocabulary,
    giving: Mapping[str, frozenset[str]],
) -> model.Container:
    """The container at a place.

    Args:
        place: the container, and the places of its parts.
        template: the template of the container.
        reading: records unreadable parts.
        vocabulary: which resources are accelerators.
        giving: the claims of the pod that give accelerators, with the names of the requests that do.
    """
    value, path = place.value, place.path
    resources, resources_path = value.get("resources"), path + "/resources"
    stated = _NOTHING if resources is None else reading.mapping(resources, resources_path)
    requests = _quantities("requests", place.requests, stated, resources_path, reading)
    limits = _quantities("limits", place.limits, stated, resources_path, reading)
    names = [name for name in {**requests, **limits} if name not in _PLAIN]
    accelerators = tuple(filter(vocabulary.contains, names))
    asks = any(requests[name] if name in requests else limits[name] for name in accelerators)
    asks = asks or _asks_unreadable(place, stated, {**requests, **limits}, vocabulary)
    if stated.get("claims") is not None:
        asks = _claims(stated["claims"], resources_path + "/claims", reading, giving) or asks
    name = place.name or reading.text(value.get("name"), path + "/name")
    environment = _environment(place, reading)
    launch = launching.read(value, path, environment, reading) if asks else launching.NOTHING
    command = _command(value)
    return model.Container(
        name=name,
        path=path,
        type=place.type,
        requests=requests,
        limits=limits,
        environment=environment,
        environment_sources=_sources(value.get("envFrom"), path, reading),
        operator_variables=_of_operator(place, template) if template.traits.operator_environment else None,
        accelerators=accelerators,
        lookalikes=tuple(filter(vocabulary.looks_like, names)),
        asks_accelerators=asks,
        uses_claims=bool(stated.get("claims")),
        trains=_trains(place.type, name, path, template=template, asks=asks),
        image=image if isinstance(image := value.get("image"), str) else "",
        command=command,
        passes_on=passed_variables.read(command) if command else (),
        processes=launch.processes,
        parallelism=launch.parallelism or _started_by_operator(value, template, asks=asks),
        idle_command=launch.idle_command,
        fields=_NOTHING
        if pod_shapes.CONTAINER_FIELDS.isdisjoint(value)
        else reading_shapes.read(pod_shapes.CONTAINER, value, path, reading.unknown),
        places=_places(place),
        field_places=place.field_places,
        environment_path=place.environment_path,
        environment_elsewhere=_names(place.environment) if place.environment_path else frozenset(),
        reserved_environment=place.reserved_environment,
        resources_path=place.resources_path,
        inherited_resources=place.inherited_resources,
    )


def _started_by_operator(
    container: Mapping[str, paths.Json], template: Template, *, asks: bool
) -> model.ModelParallelism | None:
    """The server that the operator starts in the container; a command or arguments may start it in another way."""
    if not asks or container.get("command") or container.get("args"):
        return None
    return template.traits.parallelism


def _command(container: Mapping[str, paths.Json]) -> tuple[str, ...]:
    """The words that start the container; empty if they cannot be read, which the launch has reported."""
    lists = [value for field in ("command", "args") if isinstance(value := container.get(field), list)]
    words = [word for value in lists for word in value]
    return tuple(word for word in words if isinstance(word, str)) if words else ()


def _quantities(
    name: str, elsewhere: Place | None, resources: Mapping[str, paths.Json], path: str, reading: Reading
) -> model.Resources:
    if elsewhere is not None:
        return reading.resources(*elsewhere)
    value = resources.get(name)
    return {} if value is None else reading.resources(value, f"{path}/{name}")


def _asks_unreadable(
    place: ContainerPlace, resources: Mapping[str, paths.Json], read: model.Resources, vocabulary: Vocabulary
) -> bool:
    """Whether it names an accelerator with an unreadable amount, as in a template that is not rendered."""
    lists = (
        resources.get("requests") if place.requests is None else place.requests.value,
        resources.get("limits") if place.limits is None else place.limits.value,
    )
    return any(
        name not in read and vocabulary.contains(name) for each in lists if isinstance(each, dict) for name in each
    )


def _claims(value: object, path: str, reading: Reading, giving: Mapping[str, frozenset[str]]) -> bool:
    """Whether a claim that the container uses gives it accelerators."""
    gives = False
    for claim_path, claim in reading.items(value, path):
        name = reading.text(claim.get("name"), claim_path + "/name")
        request = reading.text(claim.get("request"), claim_path + "/request")
        gives = gives or request in giving.get(name, ())
    return gives


def giving_to(
    containers: tuple[model.Container, ...], names: frozenset[str], template: Template, *, first: bool
) -> Iterator[model.Container]:
    """All containers. Those with these names, or the first, get accelerators by a route that they do not name."""
    first_app = next((found for found in containers if found.type is model.ContainerType.APP), None)
    for found in containers:
        gets = found.name in names or (first and found is first_app)
        if not gets:
            yield found
            continue
        trains = _trains(found.type, found.name, found.path, template=template, asks=True)
        yield replace(found, asks_accelerators=True, trains=trains)


def _trains(kind: model.ContainerType, name: str, path: str, *, template: Template, asks: bool) -> bool:
    """Whether a container is the one that does the work."""
    wanted = template.traits.trains
    if wanted == ALL_REQUESTING:
        return asks
    if kind is not model.ContainerType.APP:
        return False
    if wanted == FIRST:
        # In a pod spec, the first of the list; the path contains its index.
        return template.containers is not None or path.endswith("/containers/0")
    return name == wanted


def _environment(place: ContainerPlace, reading: Reading) -> tuple[model.EnvironmentVariable, ...]:
    if place.environment is not None:
        return tuple(variable for environment in place.environment for variable in variables(*environment, reading))
    value = place.value.get("env")
    return () if value is None else tuple(variables(value, place.path + "/env", reading))


def _sources(value: object, path: str, reading: Reading) -> tuple[model.EnvironmentSource, ...]:
    return () if value is None else tuple(sources(value, path + "/envFrom", reading))


def _names(lists: tuple[Place, ...] | None) -> frozenset[str]:
    """The names of all variables. Only the values stay in the manifest."""
    entries = (entry for each in lists or () for entry in (each.value if isinstance(each.value, list) else ()))
    names = (entry.get("name") for entry in entries if isinstance(entry, dict))
    return frozenset(name for name in names if isinstance(name, str))


def _of_operator(place: ContainerPlace, template: Template) -> Mapping[str, str] | None:
    lists = place.environment
    if lists is None:
        lists = (Place(place.value.get("env"), place.path + "/env"),)
    names = template.traits.operator_environment
    return dict(found for each in lists for found in of_operator(*each, names)) or None


def _places(place: ContainerPlace) -> Mapping[str, str] | None:
    if place.requests is None and place.limits is None:
        return None
    both = (("requests", place.requests), ("limits", place.limits))
    return {name: elsewhere.path for name, elsewhere in both if elsewhere is not None}
