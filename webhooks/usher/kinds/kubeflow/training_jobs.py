"""kubeflow.org: the six kinds of the training operator v1, and MPIJob of the mpi-operator (v2beta1).

Trainer v2 is another group with another shape: see train_jobs.py. Notebooks are in notebooks.py.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.kubeflow import shapes
from usher.reading.pod_templates import pod_template
from usher.reading.templates import Place, Template, Traits
from usher.reading.values import Reading

_RENDEZVOUS: Final = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}

# Container names: TR19:pkg/apis/kubeflow.org/v1/*_types.go. Variables: TR19:pkg/controller.v1/*/envvar.go, *.go.
_PYTORCH: Final = Traits(trains="pytorch", operator_environment=frozenset({*_RENDEZVOUS, "PYTHONUNBUFFERED", "PET_*"}))
_TENSORFLOW: Final = Traits(trains="tensorflow", operator_environment=frozenset({"TF_CONFIG"}))
_XGBOOST: Final = Traits(
    trains="xgboost",
    operator_environment=frozenset({*_RENDEZVOUS, "PYTHONUNBUFFERED", "WORKER_PORT", "WORKER_ADDRS"}),
)
_PADDLE: Final = Traits(trains="paddle", operator_environment=frozenset({"PADDLE_*", "PYTHONUNBUFFERED"}))
_JAX: Final = Traits(
    trains="jax",
    operator_environment=frozenset(
        {"PYTHONUNBUFFERED", "COORDINATOR_PORT", "COORDINATOR_ADDRESS", "NUM_PROCESSES", "PROCESS_ID"}
    ),
)
_MPI: Final = Traits(operator_environment=frozenset({"OMPI_MCA_*", "I_MPI_*", "HYDRA_*"}))
_MPI_WORKER: Final = _MPI._replace(ranks_inherit_environment=False)
_MPI_V1: Final = _MPI._replace(trains="mpi")


_SCHEDULING_POLICY: Final = model.GangPlaces(
    queue="/spec/runPolicy/schedulingPolicy/queue",
    minimum="/spec/runPolicy/schedulingPolicy/minAvailable",
    priority_class="/spec/runPolicy/schedulingPolicy/priorityClass",
    on_templates=True,
)


_LIFECYCLE: Final = model.LifecyclePlaces(
    ttl="/spec/runPolicy/ttlSecondsAfterFinished",
    deadline="/spec/runPolicy/activeDeadlineSeconds",
    managed_by="/spec/runPolicy/managedBy",
)


def _replicas(replica: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count:
    count = reading.count(replica.get("replicas"), path + "/replicas", default=1)
    return model.Count(minimum=count, maximum=count)


def _replica_specs(
    job: Mapping[str, paths.Json], reading: Reading, *, field: str, traits: Traits
) -> Iterator[Template]:
    """One template for every type of replica; the operator takes the names of types in any case."""
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic = reading.mapping(spec.get("elasticPolicy"), "/spec/elasticPolicy")
    for path, name, replica in reading.entries(spec.get(field), f"/spec/{field}"):
        count = _replicas(replica, path, reading)
        if name.lower() == "worker" and elastic:
            count = _elastic(elastic, "/spec/elasticPolicy", count.minimum, reading)
        yield pod_template(
            Place(replica.get("template"), path + "/template"), reading, name=name, count=count, traits=traits
        )


def _elastic(elastic: Mapping[str, paths.Json], path: str, replicas: int, reading: Reading) -> model.Count:
    """The number of workers, which an autoscaler keeps between the bounds of the policy.

    The operator makes an autoscaler only for a policy with metrics. Without metrics the bounds are for torchrun alone,
    and there are as many pods as replicas. A missing bound takes the value of the other one (training operator 1.9,
    pytorch/hpa.go and pytorch_defaults.go).
    """
    highest = reading.count(elastic.get("maxReplicas"), path + "/maxReplicas", default=replicas)
    lowest = reading.count(elastic.get("minReplicas"), path + "/minReplicas", default=highest)
    if elastic.get("maxReplicas") is None:
        highest = lowest
    if elastic.get("metrics") is None:
        return model.Count(minimum=replicas, maximum=replicas)
    return model.Count(minimum=min(lowest, replicas), maximum=max(highest, replicas), reason="elasticPolicy")


def _mpi_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of an MPIJob. v2beta1 starts its ranks through sshd, which does not pass on the environment.

    Version v1 starts them with `kubectl exec`, which passes it on (MO:pkg/controller/, TR19:pkg/controller.v1/mpi).
    """
    spec = reading.mapping(job.get("spec"), "/spec")
    through_ssh = job.get("apiVersion") != "kubeflow.org/v1"
    for path, name, replica in reading.entries(spec.get("mpiReplicaSpecs"), "/spec/mpiReplicaSpecs"):
        yield pod_template(
            Place(replica.get("template"), path + "/template"),
            reading,
            name=name,
            count=_replicas(replica, path, reading),
            traits=_MPI_V1 if not through_ssh else _MPI if name == "Launcher" else _MPI_WORKER,
        )


def _training_operator(  # noqa: PLR0913 - in what the kinds of the training operator differ
    kind: str, *, key: str, field: str, traits: Traits, elastic: bool = False, has_scale: bool = False
) -> Kind:
    return Kind(
        group="kubeflow.org",
        kind=kind,
        versions=("v1",),
        plural=f"{kind.lower()}s",
        key=key,
        shape=shapes.Job,
        scale=f"/spec/{field}/Worker/replicas" if has_scale else "",
        pods=Pods(
            templates=partial(_replica_specs, field=field, traits=traits),
            template_paths=(f"spec.{field}.<type>.template",),
            counted="the sum of `replicas` (1 if missing) over the types"
            + ("; workers up to `elasticPolicy.maxReplicas` where it has metrics" if elastic else ""),
            source="TR19:pkg/apis/kubeflow.org/v1/, TR19:pkg/controller.v1/pytorch/hpa.go",
            role=model.Role.TRAINING,
            runs_any_program=True,
            suspend_path="/spec/runPolicy/suspend",
            kueue=Kueue.OPTION,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            volcano=_VOLCANO,
            gang_places=_SCHEDULING_POLICY,
            lifecycle_places=_LIFECYCLE,
            needs_gang=True,
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
        ),
    )


_VOLCANO: Final = "the operator's PodGroup, when it runs with `--gang-scheduler-name=volcano`"

KINDS = [
    _training_operator(
        "PyTorchJob", key="pytorchJob", field="pytorchReplicaSpecs", traits=_PYTORCH, elastic=True, has_scale=True
    ),
    _training_operator("TFJob", key="tfJob", field="tfReplicaSpecs", traits=_TENSORFLOW),
    _training_operator("XGBoostJob", key="xgboostJob", field="xgbReplicaSpecs", traits=_XGBOOST),
    _training_operator(
        "PaddleJob", key="paddleJob", field="paddleReplicaSpecs", traits=_PADDLE, elastic=True, has_scale=True
    ),
    _training_operator("JAXJob", key="jaxJob", field="jaxReplicaSpecs", traits=_JAX, has_scale=True),
    Kind(
        group="kubeflow.org",
        kind="MPIJob",
        versions=("v2beta1", "v1"),
        plural="mpijobs",
        key="mpiJob",
        shape=shapes.Job,
        pods=Pods(
            templates=_mpi_job,
            template_paths=("spec.mpiReplicaSpecs.{Launcher,Worker}.template",),
            counted="the sum of `replicas` (1 if missing) of launcher and workers",
            source="MO:pkg/apis/kubeflow/v2beta1/types.go; KQ:pkg/controller/jobs/mpijob/mpijob_controller.go",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.TRAINING,
            runs_any_program=True,
            suspend_path="/spec/runPolicy/suspend",
            kueue=Kueue.DEFAULT,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            volcano="the operator's PodGroup, when it runs with `--gang-scheduling=volcano`",
            gang_places=_SCHEDULING_POLICY,
            lifecycle_places=_LIFECYCLE,
            needs_gang=True,
        ),
    ),
]
