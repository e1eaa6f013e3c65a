"""batch.volcano.sh: the Volcano Job."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.templates import Template

_ENVIRONMENT = frozenset({"VC_*", "VK_TASK_INDEX"})


def _job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    for path, task in reading.items(spec.get("tasks"), "/spec/tasks"):
        # A plain number in Volcano's API, which no default fills in: missing means none.
        replicas = reading.count(task.get("replicas"), path + "/replicas", default=0)
        yield Template(
            name=reading.text(task.get("name"), path + "/name"),
            value=task.get("template"),
            path=path + "/template",
            count=model.Count(minimum=replicas, maximum=replicas),
            operator_environment=_ENVIRONMENT,
        )


KINDS = [
    Kind(
        group="batch.volcano.sh",
        versions=("v1alpha1",),
        kind="Job",
        plural="jobs",
        templates=_job,
        role=model.Role.TRAINING,
        gang_native=True,
    ),
]
