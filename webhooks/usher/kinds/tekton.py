"""tekton.dev: TaskRun and PipelineRun, and Task and Pipeline, which they run.

A run of a task is one pod. Its containers are the steps, and their requests add up. Tasks are found by the names that
refer to them.

Sources: TK:pkg/apis/pipeline/v1/{pipeline,matrix,pipelinerun}_types.go and merge.go, TK:pkg/reconciler/pipelinerun/,
TK:pkg/pod/pod.go (Build, makeLabels), TK:pkg/internal/computeresources/tasklevel/tasklevel.go and
TK:pkg/reconciler/taskrun/resources/taskspec.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import pod_templates as layers
from usher.kinds.reading.counts import NEVER, ONCE, Times, nested_times
from usher.kinds.reading.templates import NOWHERE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import MAX_DEPTH, Reading, Reference

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

_TOO_LARGE_TASK: Final = "too many steps share too large a template: they are not judged"


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
        traits=Traits(changeable=changeable and task.is_own and stand_there, fully_known=task.is_known),
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
    of_task = next((place for place in of_run if reading.mapping(*place)), None)
    steps = list(reading.items(spec.get("steps"), path + "/steps"))
    environments = [*reversed(layers.field(run.pod_templates, "env"))]
    shared = [place.value for place in (defaults, *environments, *of_run)]
    specs = _by_name(layers.field((run.overrides,), run.version.step_specs), run.version, reading)
    if not budget.spend(*shared, times=len(steps) if task.is_known else len(specs)):
        reading.unknown(path, _TOO_LARGE_TASK)
        return
    if not task.is_known:
        yield from _resources_of_run(of_task, specs, "step", environments, reading)
    for index, (step_path, step) in enumerate(steps):
        name = reading.text(step.get("name"), step_path + "/name")
        own = Place(step.get(task.version.resources), f"{step_path}/{task.version.resources}")
        resources = (*specs.get(name, ()), own, *layers.field((defaults,), task.version.resources))
        requests, limits = _resources(resources, own.path, reading)
        if of_task is not None:
            requests, limits = _resources_of_task(requests, limits, of_task, len(steps), reading)
        yield ContainerPlace(
            value=_handed_on(step),
            path=step_path,
            name=f"step-{name or f'unnamed-{index}'}",
            requests=requests,
            limits=limits,
            environment=(
                *layers.field((defaults,), "env"),
                _environment(step, step_path, reading),
                *environments,
            ),
        )
    yield from _sidecars(task, run, reading)


def _resources_of_run(
    of_task: Place | None,
    specs: Mapping[str, tuple[Place]],
    prefix: str,
    environments: Sequence[Place],
    reading: Reading,
) -> Iterator[ContainerPlace]:
    """Containers for the requests that the run of an unknown task sets.

    They apply to the whole task, or else to named containers.
    """
    found = {"": (of_task,)} if of_task is not None else specs
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


def _parts_of_amounts(of_task: Place, steps: int, reading: Reading) -> paths.Object:
    return {
        name: str(quantity.value // steps) if name in _WHOLE else f"{quantity.milli // steps}m"
        for name, quantity in reading.resources(*of_task).items()
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


_WHEN: Final = "`when` decides whether a task runs"
_MATRIX: Final = "a matrix takes a parameter that is known only when the pipeline runs"
_TOO_LARGE: Final = "too many tasks share too large an object: not all of them are judged"
_UNKNOWN: Final = "the pipeline is not known"
_TOO_DEEP: Final = "a pipeline in a pipeline in a pipeline: its pods are not judged"
_WHOLE_LIST: Final = "[*]"

# The cost of reading even the smallest missing task, so that references to it cannot be too many.
_REFERENCED: Final = 50


class Pipeline(Struct, frozen=True, kw_only=True):
    """A PipelineSpec, and the settings that its run adds to the tasks."""

    spec: Place
    version: ApiVersion
    metadata: tuple[Place, ...]
    """Labels and annotations that the run hands on to its pods, the nearest first."""
    default_pod_template: Place
    run_version: ApiVersion
    task_runs: Mapping[str, tuple[Place, Place]]
    """For each task by name: the settings of its run, and the pod template in these settings."""
    is_own: bool = True
    """Whether it stands in the object itself."""
    times: Times = ONCE
    depth: int = 0


def templates_of_pipeline(pipeline: Pipeline, budget: layers.Budget, reading: Reading) -> Iterator[Template]:
    """The pods of one run of a pipeline."""
    spec = reading.mapping(*pipeline.spec)
    for field in ("tasks", "finally"):
        for path, task in reading.items(spec.get(field), f"{pipeline.spec.path}/{field}"):
            if budget.is_spent:
                # The budget has recorded this where it was spent.
                return
            yield from _templates_of_task(task, path, pipeline, budget, reading)


def templates_of_reference(
    ref: Place, pipeline: Pipeline, budget: layers.Budget, reading: Reading
) -> Iterator[Template]:
    """The pods of one run of the pipeline that a `pipelineRef` names.

    If the pipeline cannot be found, the run may still set the requests of some of its tasks.
    """
    found = referenced_object(ref, "Pipeline", consequence="its pods are not judged", reading=reading)
    if found is not None:
        (spec,), (metadata,) = layers.field((found,), "spec"), layers.field((found,), "metadata")
        version = version_of(reading.mapping(*found))
        handed_on = (*pipeline.metadata, metadata)
        known = replace(pipeline, spec=spec, version=version, metadata=handed_on, is_own=False)
        yield from templates_of_pipeline(known, budget, reading)
        return
    for name, (run_spec, _) in pipeline.task_runs.items():
        task = Task(spec=Place(None, run_spec.path), version=pipeline.run_version, is_own=False, is_known=False)
        times = Times(0, None, (_UNKNOWN,))
        yield from _templates_of_pods(task, pipeline, name=name, times=times, budget=budget, reading=reading)


def _templates_of_task(
    task: Mapping[str, paths.Json], path: str, pipeline: Pipeline, budget: layers.Budget, reading: Reading
) -> Iterator[Template]:
    name = reading.text(task.get("name"), path + "/name")
    times = nested_times(pipeline.times, _times(task, path, reading))
    spec = Place(task.get("pipelineSpec"), path + "/pipelineSpec")
    ref = Place(task.get("pipelineRef"), path + "/pipelineRef")
    if spec.value is None and ref.value is None:
        found = _task_of(task, path, pipeline, reading)
        if found is not None:
            yield from _templates_of_pods(found, pipeline, name=name, times=times, budget=budget, reading=reading)
        return
    # createChildPipelineRun does not hand on the run's settings for single tasks.
    child = replace(pipeline, spec=spec, task_runs={}, times=times, depth=pipeline.depth + 1)
    if not (budget.spend(spec.value) and budget.spend(times=_REFERENCED)):
        reading.unknown(path, _TOO_LARGE)
    elif child.depth >= MAX_DEPTH:
        reading.unknown(path, _TOO_DEEP)
    elif spec.value is not None:
        yield from templates_of_pipeline(child, budget, reading)
    else:
        yield from templates_of_reference(ref, child, budget, reading)


def _templates_of_pods(  # noqa: PLR0913 - a task of a pipeline, and how often it runs
    task: Task, pipeline: Pipeline, *, name: str, times: Times, budget: layers.Budget, reading: Reading
) -> Iterator[Template]:
    run_spec, pod_template = pipeline.task_runs.get(name, (NOWHERE, NOWHERE))
    pod_templates = tuple(place for place in (pod_template, pipeline.default_pod_template) if place != NOWHERE)
    metadata = [*layers.field((run_spec,), "metadata"), *pipeline.metadata, task.metadata]
    metadata = [place for place in metadata if place.value is not None]
    shared = [place.value for place in (run_spec, *pod_templates, *metadata)]
    if not task.is_own:
        shared.append(task.spec.value)
        budget.spend(times=_REFERENCED)
    if not budget.spend(*shared):
        reading.unknown(task.spec.path, _TOO_LARGE)
        return
    template = template_of_task(
        task,
        TaskRunSettings(pod_templates=pod_templates, version=pipeline.run_version, overrides=run_spec),
        name=name,
        metadata=Place(layers.metadata(metadata, reading), pipeline.metadata[0].path),
        # A change of the pod template of all tasks would also reach tasks that must not have it.
        changeable=pod_template.value is not None,
        budget=budget,
        reading=reading,
    )
    own = task.metadata.path if task.is_own and task.is_known else ""
    yield replace(template, count=times.of_pods(), own_metadata_path=own)


def _task_of(task: Mapping[str, paths.Json], path: str, pipeline: Pipeline, reading: Reading) -> Task | None:
    """The task that a task of a pipeline runs in a pod; None for a custom task, which Tekton does not run."""
    for field in ("taskRef", "taskSpec"):
        place = Place(task.get(field), f"{path}/{field}")
        value = reading.mapping(*place)
        if not isinstance(place.value, dict):
            continue
        kind = reading.text(value.get("kind"), place.path + "/kind")
        if reading.text(value.get("apiVersion"), place.path + "/apiVersion") and kind:
            return None
        if field == "taskRef":
            return task_of_reference(place, reading)
        metadata = Place(value.get("metadata"), place.path + "/metadata")
        return Task(spec=place, version=pipeline.version, is_own=pipeline.is_own, metadata=metadata)
    return None


def _times(task: Mapping[str, paths.Json], path: str, reading: Reading) -> Times:
    matrix = reading.mapping(task.get("matrix"), path + "/matrix")
    times = _matrix(matrix, path + "/matrix", reading)
    expressions = list(reading.items(task.get("when"), path + "/when"))
    return times.perhaps(_WHEN) if expressions else times


def _matrix(matrix: Mapping[str, paths.Json], path: str, reading: Reading) -> Times:
    """Every combination of the parameters, and every included combination that does not extend one of these."""
    params = list(reading.items(matrix.get("params"), path + "/params"))
    include = list(reading.items(matrix.get("include"), path + "/include"))
    if not params and not include:
        return ONCE
    if not params:
        return Times(len(include), len(include))
    product = ONCE
    known: dict[str, set[str]] = {}
    for param_path, param in params:
        name = reading.text(param.get("name"), param_path + "/name")
        values = _values(param.get("value"), param_path + "/value", reading)
        if values is None:
            product = nested_times(product, Times(0, None, (_MATRIX,)))
        else:
            product = nested_times(product, Times(len(values), len(values)))
            known[name] = set(values)
    if product.high in (0, None):
        return product if product.high is None else NEVER
    added = _added_combinations(include, known, reading)
    return product._replace(low=product.low + added, high=product.high + added)


def _values(value: object, path: str, reading: Reading) -> tuple[str, ...] | None:
    """The values of a parameter of a matrix; None if they are known only when it runs."""
    if isinstance(value, str) and PARAMETER in value:
        return None
    found = reading.texts(value, path)
    if not isinstance(value, list):
        return None
    return None if any(PARAMETER in text and _WHOLE_LIST in text for text in found) else found


def _added_combinations(
    include: list[tuple[str, Mapping[str, paths.Json]]], known: dict[str, set[str]], reading: Reading
) -> int:
    """How many included combinations are new: no combination has any of their values yet."""
    new = []
    for path, entry in include:
        pairs = {
            reading.text(param.get("name"), param_path + "/name"): reading.text(
                param.get("value"), param_path + "/value"
            )
            for param_path, param in reading.items(entry.get("params"), path + "/params")
        }
        if all(value in known[name] for name, value in pairs.items() if name in known):
            # It adds its other values to the combinations that it fits.
            for name, value in pairs.items():
                known.setdefault(name, set()).add(value)
        else:
            new.append(pairs)
    added = 0
    for pairs in new:
        if not any(value in known.get(name, ()) for name, value in pairs.items()):
            added += 1
            for name, value in pairs.items():
                known.setdefault(name, set()).add(value)
    return added


_METADATA: Final = "/metadata"


def _task(task: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Task, which has no fields for scheduling: its runs have them."""
    yield template_of_task(
        Task(spec=Place(task.get("spec"), "/spec"), version=version_of(task), is_own=True),
        TaskRunSettings(pod_templates=(Place(None, "/spec"),)),
        name="",
        metadata=Place(task.get("metadata"), _METADATA),
        changeable=False,
        budget=layers.Budget(),
        reading=reading,
    )


def _task_run(task_run: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a TaskRun.

    Its labels and annotations replace those of the task (TK:pkg/reconciler/taskrun/taskrun.go).
    """
    spec = reading.mapping(task_run.get("spec"), "/spec")
    version = version_of(task_run)
    own = Place(spec.get("taskSpec"), "/spec/taskSpec")
    ref = Place(spec.get("taskRef"), "/spec/taskRef")
    task = Task(spec=own, version=version, is_own=True)
    metadata = Place(task_run.get("metadata"), _METADATA)
    if own.value is None:
        if not reading.mapping(*ref):
            return
        task = task_of_reference(ref, reading)
        metadata = Place(layers.metadata((metadata, task.metadata), reading), _METADATA)
    yield template_of_task(
        task,
        TaskRunSettings(
            pod_templates=(Place(spec.get("podTemplate"), "/spec/podTemplate"),),
            version=version,
            overrides=Place(spec, "/spec"),
        ),
        name="",
        metadata=metadata,
        changeable=True,
        budget=layers.Budget(),
        reading=reading,
    )


def _pipeline(pipeline: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    version = version_of(pipeline)
    run = Pipeline(
        spec=Place(pipeline.get("spec"), "/spec"),
        version=version,
        metadata=(Place(pipeline.get("metadata"), _METADATA),),
        default_pod_template=Place(None, "/spec"),
        run_version=version,
        task_runs={},
    )
    yield from templates_of_pipeline(run, layers.Budget(), reading)


def _pipeline_run(pipeline_run: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(pipeline_run.get("spec"), "/spec")
    version = version_of(pipeline_run)
    holder, path = spec, "/spec"
    if version is not V1BETA1:
        path = "/spec/taskRunTemplate"
        holder = reading.mapping(spec.get("taskRunTemplate"), path)
    field = "taskPodTemplate" if version is V1BETA1 else "podTemplate"
    run = Pipeline(
        spec=Place(spec.get("pipelineSpec"), "/spec/pipelineSpec"),
        version=version,
        metadata=(Place(pipeline_run.get("metadata"), _METADATA),),
        default_pod_template=Place(holder.get("podTemplate"), path + "/podTemplate"),
        run_version=version,
        task_runs={
            reading.text(task.get("pipelineTaskName"), task_path + "/pipelineTaskName"): (
                Place(task, task_path),
                Place(task.get(field), f"{task_path}/{field}"),
            )
            for task_path, task in reading.items(spec.get("taskRunSpecs"), "/spec/taskRunSpecs")
        },
    )
    if run.spec.value is not None:
        yield from templates_of_pipeline(run, layers.Budget(), reading)
    else:
        ref = Place(spec.get("pipelineRef"), "/spec/pipelineRef")
        yield from templates_of_reference(ref, run, layers.Budget(), reading)


CODE: Final[Mapping[str, Code]] = {
    "TaskRun.tekton.dev": {"templates": _task_run},
    "PipelineRun.tekton.dev": {"templates": _pipeline_run},
    "Task.tekton.dev": {"templates": _task},
    "Pipeline.tekton.dev": {"templates": _pipeline},
}
