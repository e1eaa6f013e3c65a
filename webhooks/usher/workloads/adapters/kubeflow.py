"""kubeflow.org: PyTorchJob (training operator v1) and MPIJob (mpi-operator v2beta1)."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.templates import Template

_PYTORCH_ENVIRONMENT = frozenset({"PYTHONUNBUFFERED", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_*"})
_MPI_ENVIRONMENT = frozenset({"OMPI_MCA_*", "I_MPI_*", "HYDRA_*"})


def _replicas(replica: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count:
    count = reading.count(replica.get("replicas"), path + "/replicas", default=1)
    return model.Count(minimum=count, maximum=count)


def _pytorch_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The operator takes the names of replica types in any case."""
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic = reading.mapping(spec.get("elasticPolicy"), "/spec/elasticPolicy")
    for path, name, replica in reading.entries(spec.get("pytorchReplicaSpecs"), "/spec/pytorchReplicaSpecs"):
        count = _replicas(replica, path, reading)
        if name.lower() == "worker" and elastic:
            count = _elastic(elastic, "/spec/elasticPolicy", count.minimum, reading)
        yield Template(
            name=name,
            value=replica.get("template"),
            path=path + "/template",
            count=count,
            operator_environment=_PYTORCH_ENVIRONMENT,
        )


def _elastic(elastic: Mapping[str, paths.Json], path: str, replicas: int, reading: Reading) -> model.Count:
    """From the fewest workers that the job starts with to the most that its autoscaler makes.

    The operator makes an autoscaler only for a policy with metrics. Of two bounds, a missing one takes the value of
    the other (training operator 1.9, pytorch/hpa.go and pytorch_defaults.go).
    """
    highest = reading.count(elastic.get("maxReplicas"), path + "/maxReplicas", default=replicas)
    lowest = reading.count(elastic.get("minReplicas"), path + "/minReplicas", default=highest)
    if elastic.get("maxReplicas") is None:
        highest = lowest
    if elastic.get("metrics") is None:
        highest = replicas
    return model.Count(minimum=min(lowest, replicas), maximum=max(highest, replicas), reason="elasticPolicy")


def _mpi_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    for path, name, replica in reading.entries(spec.get("mpiReplicaSpecs"), "/spec/mpiReplicaSpecs"):
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
