"""Argo's and Tekton's kinds, beside their pods."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT, IntOrString


@with_config(STRICT)
class Backoff(TypedDict):
    maxDuration: NotRequired[str]


@with_config(STRICT)
class RetryStrategy(TypedDict):
    limit: NotRequired[IntOrString]
    expression: NotRequired[str]
    backoff: NotRequired[Backoff]


@with_config(STRICT)
class Step(TypedDict):
    """A step, or a task of a dag."""

    withParam: NotRequired[str]


@with_config(STRICT)
class Dag(TypedDict):
    tasks: NotRequired[list[Step]]


@with_config(STRICT)
class Template(TypedDict):
    retryStrategy: NotRequired[RetryStrategy]
    steps: NotRequired[list[list[Step]]]
    dag: NotRequired[Dag]


@with_config(STRICT)
class TemplateDefaults(TypedDict):
    retryStrategy: NotRequired[RetryStrategy]


@with_config(STRICT)
class WorkflowSpec(TypedDict):
    activeDeadlineSeconds: NotRequired[int]
    templateDefaults: NotRequired[TemplateDefaults]
    templates: NotRequired[list[Template]]


@with_config(STRICT)
class Workflow(TypedDict):
    """A Workflow, or a template of which others are made."""

    spec: NotRequired[WorkflowSpec]


@with_config(STRICT)
class CronWorkflowSpec(TypedDict):
    concurrencyPolicy: NotRequired[str]
    workflowSpec: NotRequired[WorkflowSpec]


@with_config(STRICT)
class CronWorkflow(TypedDict):
    spec: NotRequired[CronWorkflowSpec]


@with_config(STRICT)
class TektonContainer(TypedDict):
    """A step, a sidecar or the template of all steps. Which of the two fields it has depends on the version."""

    resources: NotRequired[Present]
    computeResources: NotRequired[Present]


@with_config(STRICT)
class SchedulingInTekton(TypedDict):
    """Nothing of Tekton has such fields but pod templates; people write them elsewhere nevertheless."""

    tolerations: NotRequired[list[Present]]
    nodeSelector: NotRequired[Present]
    affinity: NotRequired[Present]


@with_config(STRICT)
class TektonTaskSpec(SchedulingInTekton):
    steps: NotRequired[list[TektonContainer]]
    sidecars: NotRequired[list[TektonContainer]]
    stepTemplate: NotRequired[TektonContainer]


@with_config(STRICT)
class TektonTask(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TektonTaskSpec]


@with_config(STRICT)
class TektonTaskRunSpec(SchedulingInTekton):
    taskSpec: NotRequired[TektonTaskSpec]


@with_config(STRICT)
class TektonTaskRun(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TektonTaskRunSpec]


@with_config(STRICT)
class TektonPipelineTask(SchedulingInTekton):
    taskSpec: NotRequired[TektonTaskSpec]


TektonPipelineSpec = TypedDict(
    "TektonPipelineSpec",
    {
        "tasks": NotRequired[list[TektonPipelineTask]],
        "finally": NotRequired[list[TektonPipelineTask]],
        "tolerations": NotRequired[list[Present]],
        "nodeSelector": NotRequired[Present],
        "affinity": NotRequired[Present],
    },
)
with_config(STRICT)(TektonPipelineSpec)


@with_config(STRICT)
class TektonPipeline(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TektonPipelineSpec]


@with_config(STRICT)
class TektonPipelineRunSpec(SchedulingInTekton):
    pipelineSpec: NotRequired[TektonPipelineSpec]


@with_config(STRICT)
class TektonPipelineRun(TypedDict):
    apiVersion: NotRequired[str]
    spec: NotRequired[TektonPipelineRunSpec]


@with_config(STRICT)
class Objects(TypedDict):
    workflow: NotRequired[Workflow]
    cronWorkflow: NotRequired[CronWorkflow]
    workflowTemplate: NotRequired[Workflow]
    clusterWorkflowTemplate: NotRequired[Workflow]
    tektonTask: NotRequired[TektonTask]
    tektonTaskRun: NotRequired[TektonTaskRun]
    tektonPipeline: NotRequired[TektonPipeline]
    tektonPipelineRun: NotRequired[TektonPipelineRun]


VIEWS = [
    View(
        group="argoproj.io",
        versions=("v1alpha1",),
        kind="Workflow",
        plural="workflows",
        key="workflow",
        shape=TypeAdapter(Workflow),
    ),
    View(
        group="argoproj.io",
        versions=("v1alpha1",),
        kind="CronWorkflow",
        plural="cronworkflows",
        key="cronWorkflow",
        shape=TypeAdapter(CronWorkflow),
    ),
    View(
        group="argoproj.io",
        versions=("v1alpha1",),
        kind="WorkflowTemplate",
        plural="workflowtemplates",
        key="workflowTemplate",
        shape=TypeAdapter(Workflow),
    ),
    View(
        group="argoproj.io",
        versions=("v1alpha1",),
        kind="ClusterWorkflowTemplate",
        plural="clusterworkflowtemplates",
        key="clusterWorkflowTemplate",
        shape=TypeAdapter(Workflow),
        cluster_scoped=True,
    ),
    View(
        group="tekton.dev",
        versions=("v1", "v1beta1"),
        kind="Task",
        plural="tasks",
        key="tektonTask",
        shape=TypeAdapter(TektonTask),
    ),
    View(
        group="tekton.dev",
        versions=("v1", "v1beta1"),
        kind="TaskRun",
        plural="taskruns",
        key="tektonTaskRun",
        shape=TypeAdapter(TektonTaskRun),
    ),
    View(
        group="tekton.dev",
        versions=("v1", "v1beta1"),
        kind="Pipeline",
        plural="pipelines",
        key="tektonPipeline",
        shape=TypeAdapter(TektonPipeline),
    ),
    View(
        group="tekton.dev",
        versions=("v1", "v1beta1"),
        kind="PipelineRun",
        plural="pipelineruns",
        key="tektonPipelineRun",
        shape=TypeAdapter(TektonPipelineRun),
    ),
]
