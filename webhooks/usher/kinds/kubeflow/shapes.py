"""What Kubeflow's jobs and the runtimes of its Trainer say of their gang, beside their pods."""

from typing import Annotated, NotRequired

from pydantic import BeforeValidator, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT

_MANY = 10**9
"""More processes than any node runs; Python would not even write out a number of thousands of digits."""


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
    """What the kinds of kubeflow.org have in common."""

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
    """A TrainingRuntime or ClusterTrainingRuntime, of which TrainJobs are made."""

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
    """A number or, in the first versions, a word such as `auto`."""
    env: NotRequired[list[TrainJobVariable]]


@with_config(STRICT)
class TrainJobSpec(TypedDict):
    activeDeadlineSeconds: NotRequired[int]
    trainer: NotRequired[JobTrainer]


@with_config(STRICT)
class TrainJob(TypedDict):
    spec: NotRequired[TrainJobSpec]


@with_config(STRICT)
class Objects(TypedDict):
    pytorchJob: NotRequired[Job]
    tfJob: NotRequired[Job]
    xgboostJob: NotRequired[Job]
    paddleJob: NotRequired[Job]
    jaxJob: NotRequired[Job]
    mpiJob: NotRequired[Job]
    trainingRuntime: NotRequired[Runtime]
    clusterTrainingRuntime: NotRequired[Runtime]
    trainJob: NotRequired[TrainJob]


def _job(kind: str, *, key: str, versions: tuple[str, ...] = ("v1",)) -> View:
    return View(
        group="kubeflow.org",
        versions=versions,
        kind=kind,
        plural=f"{kind.lower()}s",
        key=key,
        shape=TypeAdapter(Job),
    )


VIEWS = [
    View(
        group="trainer.kubeflow.org",
        versions=("v1alpha1",),
        kind="TrainJob",
        plural="trainjobs",
        key="trainJob",
        shape=TypeAdapter(TrainJob),
    ),
    _job("PyTorchJob", key="pytorchJob"),
    _job("TFJob", key="tfJob"),
    _job("XGBoostJob", key="xgboostJob"),
    _job("PaddleJob", key="paddleJob"),
    _job("JAXJob", key="jaxJob"),
    _job("MPIJob", key="mpiJob", versions=("v2beta1", "v1")),
    View(
        group="trainer.kubeflow.org",
        versions=("v1alpha1",),
        kind="TrainingRuntime",
        plural="trainingruntimes",
        key="trainingRuntime",
        shape=TypeAdapter(Runtime),
    ),
    View(
        group="trainer.kubeflow.org",
        versions=("v1alpha1",),
        kind="ClusterTrainingRuntime",
        plural="clustertrainingruntimes",
        key="clusterTrainingRuntime",
        shape=TypeAdapter(Runtime),
        cluster_scoped=True,
    ),
]
