"""tekton.dev: TaskRun and PipelineRun, and Task and Pipeline, which they run.

A run of a task is one pod. Its containers are the steps, and their requests add up.

Sources: TK:pkg/apis/pipeline/v1/{pipeline,matrix,pipelinerun}_types.go, TK:pkg/reconciler/pipelinerun/pipelinerun.go,
TK:pkg/reconciler/pipelinerun/resources/pipelinerunresolution.go.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import paths
from usher.kinds import tekton_tasks
from usher.kinds.kind import Code
from usher.kinds.reading import layers
from usher.kinds.reading.counts import NEVER, ONCE, Times, nested_times
from usher.kinds.reading.templates import NOWHERE, Place, Template
from usher.kinds.reading.values import MAX_DEPTH, Reading
from usher.kinds.tekton_tasks import PARAMETER, V1BETA1, ApiVersion, Task, TaskRunSettings, version_of

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
    found = tekton_tasks.referenced_object(ref, "Pipeline", consequence="its pods are not judged", reading=reading)
    if found is not None:
        (spec,), (metadata,) = layers.field((found,), "spec"), layers.field((found,), "metadata")
        version = tekton_tasks.version_of(reading.mapping(*found))
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
    template = tekton_tasks.template_of_task(
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
            return tekton_tasks.task_of_reference(place, reading)
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
    yield tekton_tasks.template_of_task(
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
        task = tekton_tasks.task_of_reference(ref, reading)
        metadata = Place(layers.metadata((metadata, task.metadata), reading), _METADATA)
    yield tekton_tasks.template_of_task(
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
