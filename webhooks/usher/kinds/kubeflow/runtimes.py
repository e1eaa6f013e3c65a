"""The runtimes of the Kubeflow Trainer: their jobs, and how many pods each has before a TrainJob changes it.

Source: TR:pkg/runtime/core/trainingruntime.go, of version 2.3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.reading.pod_templates import pod_template
from usher.reading.templates import Place, Template, Traits
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

# TR:pkg/constants/constants.go
_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
TRAINER: Final = "trainer"
_INITIALISERS: Final = frozenset({"dataset-initializer", "model-initializer"})
LIFECYCLE: Final = model.LifecyclePlaces(
    deadline="/spec/activeDeadlineSeconds",
    managed_by="/spec/managedBy",
    managed_by_default="trainer.kubeflow.org/trainjob-controller",
)
"""The lifecycle fields of a TrainJob; it has no time to live."""
NODE: Final = "node"
"""Name of the container that trains, and of the job of MPI's nodes."""

# docs/domain/kinds.md#variables-of-operators; JAX_*: TR:pkg/runtime/framework/plugins/jax/jax.go.
_VARIABLES: Final[Mapping[str, frozenset[str]]] = {
    "torch": frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}),
    "jax": frozenset({"JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"}),
    "xgboost": frozenset({"DMLC_*"}),
    "mpi": frozenset({"OMPI_MCA_*"}),
}

VARIABLES_OF_ALL: Final = frozenset().union(*_VARIABLES.values())
"""Variables of an unknown runtime, which may serve any framework."""

_POD_GROUPS: Final = ("volcano", "coscheduling")
"""Schedulers for which a runtime can request a PodGroup: TR:pkg/apis/trainer/v1alpha1/trainingruntime_types.go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a runtime for machine learning and its gang: `mlPolicy` and `podGroupPolicy`."""

    nodes: int
    framework: str
    """The framework whose policy the runtime sets; empty if it sets no policy."""
    launcher_is_node: bool
    pod_group: str
    """The scheduler for which the Trainer makes a PodGroup of all pods; empty if it makes no PodGroup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One replicated job of a runtime."""

    name: str
    step: str
    """`trainer`, one of the initialisers, or empty."""
    replicas: int
    pods: int
    """Pods in each replica, before a TrainJob changes the number."""
    template: Template

    def counting(self, pods: int) -> Template:
        number = self.replicas * pods
        return replace(self.template, count=model.Count(minimum=number, maximum=number))


def policy_of(runtime: Object, path: str, reading: Reading) -> Policy:
    groups = reading.mapping(runtime.get("podGroupPolicy"), path + "/podGroupPolicy")
    path += "/mlPolicy"
    policy = reading.mapping(runtime.get("mlPolicy"), path)
    mpi = reading.mapping(policy.get("mpi"), path + "/mpi")
    return Policy(
        nodes=reading.count(policy.get("numNodes"), path + "/numNodes", default=1),
        framework=next((name for name in _VARIABLES if policy.get(name) is not None), ""),
        launcher_is_node=reading.flag(mpi.get("runLauncherAsNode"), path + "/mpi/runLauncherAsNode"),
        pod_group=next((name for name in _POD_GROUPS if groups.get(name) is not None), ""),
    )


def jobs_of(runtime: Object, path: str, policy: Policy, reading: Reading) -> Iterator[Job]:
    """The replicated jobs of a TrainingRuntimeSpec; the operator runs one replica of each that is a step."""
    path += "/template"
    template = reading.mapping(runtime.get("template"), path)
    job_set = reading.mapping(template.get("spec"), path + "/spec")
    for job_path, job in reading.items(job_set.get("replicatedJobs"), path + "/spec/replicatedJobs"):
        job_template = reading.mapping(job.get("template"), job_path + "/template")
        metadata_path, spec_path = job_path + "/template/metadata", job_path + "/template/spec"
        metadata = reading.mapping(job_template.get("metadata"), metadata_path)
        labels = reading.strings(metadata.get("labels"), metadata_path + "/labels")
        spec = reading.mapping(job_template.get("spec"), spec_path)
        name = reading.text(job.get("name"), job_path + "/name")
        step = labels.get(_STEP, "")
        pods = reading.count(spec.get("parallelism"), spec_path + "/parallelism", default=1)
        replicas = reading.count(job.get("replicas"), job_path + "/replicas", default=1)
        if step == TRAINER and runtime.get("mlPolicy") is not None:
            pods = policy.nodes
        yield Job(
            name=name,
            step=step,
            replicas=1 if step == TRAINER or step in _INITIALISERS else replicas,
            pods=max(pods, 1),
            template=pod_template(
                Place(spec.get("template"), spec_path + "/template"), reading, name=name, traits=_traits(policy, step)
            ),
        )


def _traits(policy: Policy, step: str) -> Traits:
    """The traits of a job.

    MPI starts its ranks through sshd, except on the launcher (TR:pkg/runtime/framework/plugins/mpi).
    """
    return Traits(
        trains=NODE,
        operator_environment=_VARIABLES.get(policy.framework, frozenset()),
        ranks_inherit_environment=policy.framework != "mpi" or step == TRAINER,
        pod_group=policy.pod_group,
    )
