"""kubeflow.org: the six kinds of the training operator v1, MPIJob of the mpi-operator (v2beta1), Notebook.

Trainer v2 is another group with another shape: see kubeflow_trainer.py.

HyperPodPyTorchJob (sagemaker.amazonaws.com) is like a PyTorchJob. Its operator is closed, and its CRD is not published.
Source: the models that the CLI of AWS makes of it, hyperpod_pytorch_job_unified_config.py in
src/sagemaker/hyperpod/training/config of aws/sagemaker-hyperpod-cli at 011ca92.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import model, paths
from usher.kinds.kind import Code
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.templates import ONE, Place, Template, Traits
from usher.kinds.reading.values import Reading

STOPPED: Final = "kubeflow-resource-stopped"
"""The annotation of a stopped Notebook. The culler and the user interface set it; its value does not matter."""

_NOTEBOOK_TRAITS: Final = Traits(operator_environment=frozenset({"NB_PREFIX"}))
_STOPPED: Final = model.Count(minimum=0, maximum=1, reason="it is stopped, and may be started again")


def _notebook(notebook: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """One pod, which gets the labels and annotations of the Notebook itself: its template has no metadata.

    components/notebook-controller/controllers/notebook_controller.go of kubeflow/kubeflow, generateStatefulSet.
    """
    spec = reading.mapping(notebook.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    metadata = reading.mapping(notebook.get("metadata"), "/metadata")
    annotations = reading.strings(metadata.get("annotations"), "/metadata/annotations")
    yield Template(
        name="",
        path="/spec/template",
        spec=Place(template.get("spec"), "/spec/template/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_STOPPED if STOPPED in annotations else ONE,
        traits=_NOTEBOOK_TRAITS,
    )


_MANY = 10**9
"""More processes than any node runs; Python would refuse to write out a number of thousands of digits."""


def _text(value: object) -> object:
    return str(value) if type(value) is int and abs(value) < _MANY else value


# Container names: TR19:pkg/apis/kubeflow.org/v1/*_types.go. Variables: TR19:pkg/controller.v1/*/envvar.go, *.go.
_MPI: Final = Traits(operator_environment=frozenset({"OMPI_MCA_*", "I_MPI_*", "HYDRA_*"}))
_MPI_WORKER: Final = _MPI._replace(ranks_inherit_environment=False)
_MPI_V1: Final = _MPI._replace(trains="mpi")


def _replicas(replica: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count:
    count = reading.count(replica.get("replicas"), path + "/replicas", default=1)
    return model.Count(minimum=count, maximum=count)


def _mpi_job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The templates of an MPIJob. v2beta1 starts its ranks through sshd, which does not pass on the environment.

    Version v1 starts them with `kubectl exec`, which passes it on (MO:pkg/controller/, TR19:pkg/controller.v1/mpi).
    The launcher may be made when the workers are ready (MO:pkg/controller/mpi_job_controller.go syncHandler).
    """
    spec = reading.mapping(job.get("spec"), "/spec")
    created = reading.text(spec.get("launcherCreationPolicy"), "/spec/launcherCreationPolicy")
    through_ssh = job.get("apiVersion") != "kubeflow.org/v1"
    for path, name, replica in reading.entries(spec.get("mpiReplicaSpecs"), "/spec/mpiReplicaSpecs"):
        found = pod_template(
            Place(replica.get("template"), path + "/template"),
            reading,
            name=name,
            count=_replicas(replica, path, reading),
            traits=_MPI_V1 if not through_ssh else _MPI if name == "Launcher" else _MPI_WORKER,
        )
        yield replace(found, later=name == "Launcher" and created == "WaitForWorkersReady")


Object = Mapping[str, paths.Json]


def _job(job: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic = reading.mapping(spec.get("elasticPolicy"), "/spec/elasticPolicy")
    for path, replica in reading.items(spec.get("replicaSpecs"), "/spec/replicaSpecs"):
        yield pod_template(
            Place(replica.get("template"), path + "/template"),
            reading,
            name=reading.text(replica.get("name"), path + "/name"),
            count=_count(replica, path, elastic, reading),
        )


def _count(replica: Object, path: str, elastic: Object, reading: Reading) -> model.Count:
    """How many pods a replica group runs: elastic training runs between two bounds, and spares replace broken pods."""
    replicas = reading.count(replica.get("replicas"), path + "/replicas", default=0)
    spares = reading.count(replica.get("spares"), path + "/spares", default=0)
    lowest = reading.count(elastic.get("minReplicas"), "/spec/elasticPolicy/minReplicas", default=replicas)
    most = reading.count(elastic.get("maxReplicas"), "/spec/elasticPolicy/maxReplicas", default=replicas)
    most = reading.count(replica.get("maxReplicas"), path + "/maxReplicas", default=most)
    most = max(most, *_numbers(elastic, reading))
    lowest, most = min(lowest, replicas), max(most, replicas)
    reasons = ["elastic training"] if lowest != most else []
    reasons += [f"{spares} spares"] if spares else []
    return model.Count(minimum=lowest, maximum=most + spares, reason=", ".join(reasons))


def _numbers(elastic: Object, reading: Reading) -> Iterator[int]:
    """All numbers of replicas that elastic training may choose between, instead of steps; 0 is among them."""
    yield 0
    path = "/spec/elasticPolicy/replicaDiscreteValues"
    for index, number in enumerate(reading.sequence(elastic.get("replicaDiscreteValues"), path)):
        if number is None:
            reading.unknown(f"{path}/{index}", "expected a whole number, found null")
        yield reading.count(number, f"{path}/{index}", default=0)


CODE: Final[Mapping[str, Code]] = {
    "MPIJob.kubeflow.org": {"templates": _mpi_job},
    "Notebook.kubeflow.org": {"templates": _notebook},
    "HyperPodPyTorchJob.sagemaker.amazonaws.com": {"templates": _job},
}

SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "text": BeforeValidator(_text),
}
