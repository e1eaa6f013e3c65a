"""tekton.dev: TaskRun and PipelineRun, and Task and Pipeline, which they run.

A run of a task is one pod. Its containers are the steps, and their requests add up.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds import completion
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.tekton import pipelines, references, shapes, tasks
from usher.kinds.tekton.pipelines import Pipeline
from usher.kinds.tekton.references import GROUP, V1BETA1, Task, version_of
from usher.kinds.tekton.tasks import Run
from usher.reading import layers
from usher.reading.templates import Place, Template
from usher.reading.values import Reading

_METADATA: Final = "/metadata"


def _task(task: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Task, which has no fields for scheduling: its runs have them."""
    yield tasks.template(
        Task(spec=Place(task.get("spec"), "/spec"), version=version_of(task), is_own=True),
        Run(pod_templates=(Place(None, "/spec"),)),
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
        task = references.task_of_reference(ref, reading)
        metadata = Place(layers.metadata((metadata, task.metadata), reading), _METADATA)
    yield tasks.template(
        task,
        Run(
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
    yield from pipelines.templates(run, layers.Budget(), reading)


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
        yield from pipelines.templates(run, layers.Budget(), reading)
    else:
        ref = Place(spec.get("pipelineRef"), "/spec/pipelineRef")
        yield from pipelines.of_reference(ref, run, layers.Budget(), reading)


_ONE_POD: Final = "1 pod with a container for each step"
_TASKS: Final = (
    "1 pod for each of `tasks` and `finally`, perhaps 0 under `when`; times the combinations of a `matrix`, without "
    "bound where that takes a parameter; 0 for custom tasks"
)
_TASK_SOURCE: Final = "TK:pkg/pod/pod.go, TK:pkg/apis/pipeline/v1/merge.go"
_PIPELINE_SOURCE: Final = "TK:pkg/apis/pipeline/v1/matrix_types.go, TK:pkg/reconciler/pipelinerun/pipelinerun.go"
_VERSIONS: Final = ("v1", "v1beta1")
_NOT_OF_ALL: Final = (
    "unless the change would replace values from elsewhere or reach other tasks; never objects that a reference names"
)

KINDS = [
    Kind(
        group=GROUP,
        kind="TaskRun",
        versions=_VERSIONS,
        plural="taskruns",
        key="tektonTaskRun",
        shape=shapes.TektonTaskRun,
        owned_by=(("tekton.dev", "PipelineRun"),),
        finished=completion.by_false_condition("Succeeded"),
        pods=Pods(
            templates=_task_run,
            template_paths=(
                "spec.taskSpec",
                "the task that `spec.taskRef` names",
                "`spec.podTemplate`, for scheduling",
            ),
            counted=_ONE_POD,
            source=_TASK_SOURCE,
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            kueue=Kueue.CHILDREN,
            # Kueue does not know TaskRuns, but the pod of a TaskRun carries its labels.
            queue_label_path=_METADATA,
            changes=f"its podTemplate, and the steps of its taskSpec, {_NOT_OF_ALL}",
        ),
    ),
    Kind(
        group=GROUP,
        kind="PipelineRun",
        versions=_VERSIONS,
        plural="pipelineruns",
        key="tektonPipelineRun",
        shape=shapes.TektonPipelineRun,
        finished=completion.by_false_condition("Succeeded"),
        pods=Pods(
            templates=_pipeline_run,
            template_paths=(
                "spec.pipelineSpec.{tasks,finally}[].taskSpec",
                "what `spec.pipelineRef` and `taskRef` name",
                "`spec.taskRunSpecs[].podTemplate` and `spec.taskRunTemplate.podTemplate`, for scheduling",
                "the same in v1beta1: `spec.taskRunSpecs[].taskPodTemplate` and `spec.podTemplate`",
            ),
            counted=_TASKS,
            source=_PIPELINE_SOURCE,
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            kueue=Kueue.CHILDREN,
            queue_label_path=_METADATA,
            changes=f"the podTemplate of a task in taskRunSpecs, and its steps, {_NOT_OF_ALL}",
        ),
    ),
    Kind(
        group=GROUP,
        kind="Task",
        versions=_VERSIONS,
        plural="tasks",
        key="tektonTask",
        shape=shapes.TektonTask,
        pods=Pods(
            templates=_task,
            template_paths=("spec",),
            counted=_ONE_POD + ", of one run",
            source=_TASK_SOURCE,
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            is_template=True,
            changes="nothing: it has no fields for scheduling",
        ),
    ),
    Kind(
        group=GROUP,
        kind="Pipeline",
        versions=_VERSIONS,
        plural="pipelines",
        key="tektonPipeline",
        shape=shapes.TektonPipeline,
        pods=Pods(
            templates=_pipeline,
            template_paths=(
                "spec.{tasks,finally}[].taskSpec",
                "the task that `taskRef` names",
            ),
            counted=_TASKS + "; of one run",
            source=_PIPELINE_SOURCE,
            kueue_unit=KueueUnit.POD,
            starts=Starts.IN_STEPS,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            is_template=True,
            changes="nothing: it has no fields for scheduling",
        ),
    ),
]
