"""kubeflow.org: PyTorchJob (training operator v1) and MPIJob (mpi-operator v2beta1)."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.templates import Template

_PYTORCH_ENVIRONMENT = frozenset({"PYTHONUNBUFFERED", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_*"})
_MPI_ENVIRONMENT = frozenset({"OMPI_MCA_*", "I_MPI_*", "HYDRA_*"})


def _replica_types(
    job: Mapping[str, paths.Json], field: str, reading: Reading
) -> Iterator[tuple[str, str, Mapping[str, paths.Json]]]:
    spec = reading.mapping(job.get("spec"), "/spec")
    path = f"/spec/{field}"
    for name, value in reading.mapping(spec.get(field), path).items():
        replica_path = paths.join(path, name)
        yield name, replica_path, reading.mapping(value, replica_path)


def _replicas(replica: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count:
    count = reading.count(replica.get("replicas"), path + "/replicas", default=1)
    return model.Count(minimum=count, maximum=count)


def _pytorch_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """An elastic job's workers grow up to `elasticPolicy.maxReplicas`: the operator makes an autoscaler for it."""
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic_path = "/spec/elasticPolicy"
    elastic = reading.mapping(spec.get("elasticPolicy"), elastic_path)
    for name, path, replica in _replica_types(job, "pytorchReplicaSpecs", reading):
        count = _replicas(replica, path, reading)
        if name == "Worker" and elastic:
            maximum = reading.count(
                elastic.get("maxReplicas"), elastic_path + "/maxReplicas", default=count.maximum or 1
            )
            minimum = reading.count(elastic.get("minReplicas"), elastic_path + "/minReplicas", default=count.minimum)
            count = model.Count(
                minimum=min(minimum, count.minimum), maximum=max(maximum, count.minimum), reason="elasticPolicy"
            )
        yield Template(
            name=name,
            value=replica.get("template"),
            path=path + "/template",
            count=count,
            operator_environment=_PYTORCH_ENVIRONMENT,
        )


def _mpi_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    for name, path, replica in _replica_types(job, "mpiReplicaSpecs", reading):
        yield Template(
            name=name,
            value=replica.get("template"),
            path=path + "/template",
            count=_replicas(replica, path, reading),
            operator_environment=_MPI_ENVIRONMENT,
            # mpirun starts the ranks through sshd, which does not hand the container's environment on.
            ranks_inherit_environment=name == "Launcher",
        )


KINDS = [
    Kind(
        group="kubeflow.org",
        versions=("v1",),
        kind="PyTorchJob",
        plural="pytorchjobs",
        templates=_pytorch_job,
        role=model.Role.TRAINING,
        suspend_path="/spec/runPolicy/suspend",
        queue_label_path="/metadata",
        gang_policy_path="/spec/runPolicy/schedulingPolicy",
        scale=True,
    ),
    Kind(
        group="kubeflow.org",
        versions=("v2beta1",),
        kind="MPIJob",
        plural="mpijobs",
        templates=_mpi_job,
        role=model.Role.TRAINING,
        suspend_path="/spec/runPolicy/suspend",
        queue_label_path="/metadata",
        gang_policy_path="/spec/runPolicy/schedulingPolicy",
    ),
]
