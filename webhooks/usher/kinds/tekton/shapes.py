"""The fields of Tekton's kinds that rules read, beside their pods."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT


@with_config(STRICT)
class TektonContainer(TypedDict):
    """A step, a sidecar or the template of all steps. Which of the two fields it has depends on the version."""

    resources: NotRequired[Present]
    computeResources: NotRequired[Present]


@with_config(STRICT)
class SchedulingInTekton(TypedDict):
    """Tekton has these fields only in pod templates, but people write them elsewhere."""

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
