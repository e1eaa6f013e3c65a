"""The gang fields of Kubeflow's jobs and of the runtimes of its Trainer, beside their pods."""

from typing import Annotated, NotRequired

from pydantic import BeforeValidator, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT

_MANY = 10**9
"""More processes than any node runs; Python would refuse to write out a number of thousands of digits."""


@with_config(STRICT)
class SchedulingPolicy(TypedDict):
    queue: NotRequired[str]
    priorityClass: NotRequired[str]


@with_config(STRICT)
class RunPolicy(TypedDict):
    activeDeadlineSeconds: NotRequired[int]
    schedulingPolicy: NotRequired[SchedulingPolicy]


@with_config(STRICT)
class ElasticPolicy(TypedDict):
    minReplicas: NotRequired[int]
    maxReplicas: NotRequired[int]


@with_config(STRICT)
class JobSpec(TypedDict):
    runPolicy: NotRequired[RunPolicy]
    nprocPerNode: NotRequired[str]
    slotsPerWorker: NotRequired[int]
    elasticPolicy: NotRequired[ElasticPolicy]


@with_config(STRICT)
class Job(TypedDict):
    """The fields that all kinds of kubeflow.org share."""

    spec: NotRequired[JobSpec]


@with_config(STRICT)
class PodGroupPolicy(TypedDict):
    volcano: NotRequired[Present]
    coscheduling: NotRequired[Present]


@with_config(STRICT)
class ReplicatedJob(TypedDict):
    name: NotRequired[str]
    dependsOn: NotRequired[list[Present]]


@with_config(STRICT)
class JobSetSpec(TypedDict):
    replicatedJobs: NotRequired[list[ReplicatedJob]]


@with_config(STRICT)
class JobSetTemplate(TypedDict):
    spec: NotRequired[JobSetSpec]


@with_config(STRICT)
class RuntimeSpec(TypedDict):
    podGroupPolicy: NotRequired[PodGroupPolicy]
    template: NotRequired[JobSetTemplate]


@with_config(STRICT)
class Runtime(TypedDict):
    """A TrainingRuntime or ClusterTrainingRuntime: the template that TrainJobs name."""

    spec: NotRequired[RuntimeSpec]


@with_config(STRICT)
class TrainJobVariable(TypedDict):
    """Only the name leaves the manifest."""

    name: NotRequired[str]


def _text(value: object) -> object:
    return str(value) if type(value) is int and abs(value) < _MANY else value


@with_config(STRICT)
class JobTrainer(TypedDict):
    numProcPerNode: NotRequired[Annotated[str, BeforeValidator(_text)]]
    """A number or, in the first versions, a word, for example `auto`."""
    env: NotRequired[list[TrainJobVariable]]


@with_config(STRICT)
class TrainJobSpec(TypedDict):
    activeDeadlineSeconds: NotRequired[int]
    trainer: NotRequired[JobTrainer]


@with_config(STRICT)
class TrainJob(TypedDict):
    spec: NotRequired[TrainJobSpec]
