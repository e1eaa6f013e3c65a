"""The pod of a Tekton task: its steps are containers of one pod. Finds tasks by the names that refer to them.

Sources: TK:pkg/pod/pod.go (Build, makeLabels), TK:pkg/apis/pipeline/v1/merge.go,
TK:pkg/internal/computeresources/tasklevel/tasklevel.go, TK:pkg/reconciler/taskrun/resources/taskspec.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from usher import model, paths
from usher.kinds.reading import layers
from usher.kinds.reading.templates import NOWHERE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

GROUP: Final = "tekton.dev"

PARAMETER: Final = "$("
"""The start of a text that is known only when a run starts."""


class ApiVersion(Struct, frozen=True, kw_only=True):
    """How a version of the API names the fields that differ."""

    resources: str
    step_specs: str
    sidecar_specs: str


V1: Final = ApiVersion(resources="computeResources", step_specs="stepSpecs", sidecar_specs="sidecarSpecs")
V1BETA1: Final = ApiVersion(resources="resources", step_specs="stepOverrides", sidecar_specs="sidecarOverrides")


def version_of(value: Mapping[str, paths.Json]) -> ApiVersion:
    """The version of a whole object."""
    return V1BETA1 if value.get("apiVersion") == f"{GROUP}/v1beta1" else V1


class Task(Struct, frozen=True, kw_only=True):
    """A TaskSpec, from the object or from a reference."""

    spec: Place
    version: ApiVersion
    is_own: bool
    """Whether it stands in the object itself."""
    is_known: bool = True
    """False for a reference to a task that cannot be found."""
    metadata: Place = NOWHERE


def referenced_object(
    ref: Place, kind: str, *, consequence: str, reading: Reading, namespace: str | None = None
) -> Place | None:
    """The object that a reference names, with paths below the name; None if it cannot be found.

    Args:
        ref: an object with `name`, or with `resolver` or `bundle`, which say where on the network to look.
        kind: of the object.
        consequence: the facts that are unknown without it, for the message.
        namespace: of the object; None for the namespace of the referring object.
    """
    value, path = reading.mapping(*ref), ref.path
    name = reading.text(value.get("name"), path + "/name")
    for field in ("resolver", "bundle"):
        if reading.text(value.get(field), f"{path}/{field}"):
            reading.unknown(f"{path}/{field}", f"the {kind} is fetched only when it runs: {consequence}")
            return None
    if not name:
        return None
    if PARAMETER in name:
        reading.unknown(path + "/name", f"which {kind} it is, is known only when it runs: {consequence}")
        return None
    within = reading.context.namespace if namespace is None else namespace
    reference = Reference(group=GROUP, kind=kind, name=name, namespace=within)
    found = reading.look_up(reference, path + "/name", consequence=consequence)
    if found is None:
        return None
    reading.record_reference(path + "/name", reference)
    return Place(found, path + "/name")


def task_of_reference(ref: Place, reading: Reading) -> Task:
    """The task that a `taskRef` names."""
    value = reading.mapping(*ref)
    kind = reading.text(value.get("kind"), ref.path + "/kind") or "Task"
    namespace = "" if kind == "ClusterTask" else None
    found = referenced_object(ref, kind, consequence="its steps are not judged", reading=reading, namespace=namespace)
    if found is None:
        return Task(spec=Place(None, ref.path), version=V1, is_own=False, is_known=False)
    (spec,), (metadata,) = layers.field((found,), "spec"), layers.field((found,), "metadata")
    return Task(spec=spec, version=version_of(reading.mapping(*found)), is_own=False, metadata=metadata)


_POD_FIELDS: Final = (
    "nodeSelector",
    "tolerations",
    "affinity",
    "schedulerName",
    "priorityClassName",
    "runtimeClassName",
)
_CONTAINER_FIELDS: Final = ("envFrom", "securityContext", "volumeDevices", "volumeMounts")
"""Container fields that Tekton hands on unchanged; it changes commands, variables and resources."""
_WHOLE: Final = frozenset({"memory", "ephemeral-storage"})
"""Resources that Tekton counts in whole numbers."""

_TOO_LARGE: Final = "too many steps share too large a template: they are not judged"


class TaskRunSettings(Struct, frozen=True, kw_only=True):
    """The settings that the run of a task adds to it."""

    pod_templates: tuple[Place, ...]
    """Pod templates, the nearest first; a mutation would write a missing field into the nearest."""
    version: ApiVersion = V1
    overrides: Place = NOWHERE
    """The object with the resources of the run and of its steps and sidecars."""


def template_of_task(  # noqa: PLR0913 - a task, its run, and facts about its pods
    task: Task,
    run: TaskRunSettings,
    *,
    name: str,
    metadata: Place,
    changeable: bool,
    budget: layers.Budget,
    reading: Reading,
) -> Template:
    """The pod that one run of a task makes."""
    pod_path = run.pod_templates[0].path
    for place in run.pod_templates:
        reading.mapping(*place)
    fields = {}
    for each in _POD_FIELDS:
        found = _nearest(layers.field(run.pod_templates, each))
        fields[each] = Place(None, f"{pod_path}/{each}") if found.value is None else found
    # A field in the nearest pod template would replace the same field from elsewhere.
    stand_there = all(place.path == f"{pod_path}/{each}" for each, place in fields.items())
    fields["volumes"] = Place(reading.mapping(*task.spec).get("volumes"), task.spec.path + "/volumes")
    return Template(
        name=name,
        path=task.spec.path,
        spec=Place({}, pod_path),
        metadata=metadata,
        traits=Traits(changeable=changeable and task.is_own and stand_there, whole=task.is_known),
        containers=tuple(_containers(task, run, budget, reading)),
        fields=fields,
    )


def _nearest(places: Sequence[Place]) -> Place:
    """The first place with a value, even if that is empty (TK:pkg/apis/pipeline/pod/template.go)."""
    return next((place for place in places if place.value is not None), places[0] if places else NOWHERE)


def _containers(task: Task, run: TaskRunSettings, budget: layers.Budget, reading: Reading) -> Iterator[ContainerPlace]:
    spec, path = reading.mapping(*task.spec), task.spec.path
    defaults = Place(spec.get("stepTemplate"), path + "/stepTemplate")
    reading.mapping(*defaults)
    of_run = layers.field((run.overrides,), "computeResources")
    whole = next((place for place in of_run if reading.mapping(*place)), None)
    steps = list(reading.items(spec.get("steps"), path + "/steps"))
    environments = [*reversed(layers.field(run.pod_templates, "env"))]
    shared = [place.value for place in (defaults, *environments, *of_run)]
    specs = _by_name(layers.field((run.overrides,), run.version.step_specs), run.version, reading)
    if not budget.spend(*shared, times=len(steps) if task.is_known else len(specs)):
        reading.unknown(path, _TOO_LARGE)
        return
    if not task.is_known:
        yield from _resources_of_run(whole, specs, "step", environments, reading)
    for index, (step_path, step) in enumerate(steps):
        name = reading.text(step.get("name"), step_path + "/name")
        own = Place(step.get(task.version.resources), f"{step_path}/{task.version.resources}")
        resources = (*specs.get(name, ()), own, *layers.field((defaults,), task.version.resources))
        requests, limits = _resources(resources, own.path, reading)
        if whole is not None:
            requests, limits = _resources_of_task(requests, limits, whole, len(steps), reading)
        yield ContainerPlace(
            value=_handed_on(step),
            path=step_path,
            name=f"step-{name or f'unnamed-{index}'}",
            requests=requests,
            limits=limits,
            environment=(*layers.field((defaults,), "env"), _environment(step, step_path, reading), *environments),
        )
    yield from _sidecars(task, run, reading)


def _resources_of_run(
    whole: Place | None,
    specs: Mapping[str, tuple[Place]],
    prefix: str,
    environments: Sequence[Place],
    reading: Reading,
) -> Iterator[ContainerPlace]:
    """Containers for the requests that the run of an unknown task sets.

    They apply to the whole task, or else to named containers.
    """
    found = {"": (whole,)} if whole is not None else specs
    for name, (resources,) in found.items():
        requests, limits = _resources((resources,), resources.path, reading)
        yield ContainerPlace(
            value={},
            path=resources.path if name == "" else resources.path.rpartition("/")[0],
            type=model.ContainerType.SIDECAR if prefix == "sidecar" else model.ContainerType.APP,
            name=f"{prefix}-{name}".rstrip("-"),
            requests=requests,
            limits=limits,
            environment=tuple(environments),
        )


def _handed_on(container: Mapping[str, paths.Json]) -> Mapping[str, paths.Json]:
    return {field: container[field] for field in _CONTAINER_FIELDS if field in container}


def _sidecars(task: Task, run: TaskRunSettings, reading: Reading) -> Iterator[ContainerPlace]:
    spec = reading.mapping(*task.spec)
    specs = _by_name(layers.field((run.overrides,), run.version.sidecar_specs), run.version, reading)
    if not task.is_known:
        yield from _resources_of_run(None, specs, "sidecar", (), reading)
    for path, sidecar in reading.items(spec.get("sidecars"), task.spec.path + "/sidecars"):
        name = reading.text(sidecar.get("name"), path + "/name")
        own = Place(sidecar.get(task.version.resources), f"{path}/{task.version.resources}")
        requests, limits = _resources((*specs.get(name, ()), own), own.path, reading)
        yield ContainerPlace(
            value=_handed_on(sidecar),
            path=path,
            type=model.ContainerType.SIDECAR,
            name=f"sidecar-{name}",
            requests=requests,
            limits=limits,
            environment=(Place(sidecar.get("env"), path + "/env"),),
        )


def _by_name(overrides: Sequence[Place], version: ApiVersion, reading: Reading) -> dict[str, tuple[Place]]:
    """Resources of steps or sidecars by name; the last entry of a name counts."""
    return {
        reading.text(entry.get("name"), path + "/name"): (
            Place(entry.get(version.resources), f"{path}/{version.resources}"),
        )
        for place in overrides
        for path, entry in reading.items(*place)
    }


def _resources(found: Sequence[Place], own_path: str, reading: Reading) -> tuple[Place, Place]:
    for place in found:
        reading.mapping(*place)
    requests = layers.resources(layers.field(found, "requests"), reading)
    limits = layers.resources(layers.field(found, "limits"), reading)
    return (
        requests if requests.path else Place(None, own_path + "/requests"),
        limits if limits.path else Place(None, own_path + "/limits"),
    )


def _resources_of_task(
    requests: Place, limits: Place, of_run: Place, steps: int, reading: Reading
) -> tuple[Place, Place]:
    """Resources of the task as a whole: every step gets its part of the requests, and the full limits."""
    reading.mapping(*of_run)
    (asked,) = layers.field((of_run,), "requests") or (NOWHERE,)
    (limited,) = layers.field((of_run,), "limits") or (NOWHERE,)
    if asked.value is None and limited.value is None:
        return requests, limits
    divided = limited if asked.value is None and requests.value is None else asked
    return Place(_parts_of_amounts(divided, steps, reading), divided.path), limited


def _parts_of_amounts(whole: Place, steps: int, reading: Reading) -> paths.Object:
    return {
        name: str(quantity.value // steps) if name in _WHOLE else f"{quantity.milli // steps}m"
        for name, quantity in reading.resources(*whole).items()
    }


def _environment(step: Mapping[str, paths.Json], path: str, reading: Reading) -> Place:
    """The variables of a step, or of the StepAction that the step takes its container from."""
    own = Place(step.get("env"), path + "/env")
    ref = Place(step.get("ref"), path + "/ref")
    action = referenced_object(ref, "StepAction", consequence="its variables are not judged", reading=reading)
    if action is None:
        return own
    (spec,) = layers.field((action,), "spec")
    reading.mapping(*spec)
    env = layers.nearest(layers.field((spec,), "env"))
    return own if env.value is None else env
