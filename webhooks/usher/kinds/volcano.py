"""batch.volcano.sh and scheduling.volcano.sh: jobs, queues and pod groups."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds import kind
from usher.kinds.kind import Facts, Kind, Kueue, KueueUnit, Pods, Starts, api, keeping, scheduled
from usher.kinds.reading.pod_templates import pod_template, template_times
from usher.kinds.reading.shapes import Present, Quantity
from usher.kinds.reading.templates import Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

_MPI_WORKER_OPTION: Final = "--worker="

_BY_HAND: Final = frozenset({"ssh", "svc"})
"""The plugins with which a Job runs MPI without the plugin mpi: keys for sshd, and names for the host file."""

_FRAMEWORKS: Final = frozenset({"mpi", "pytorch", "ray", "tensorflow"})

_LAUNCHERS: Final = re.compile(r"\b(?:torchrun|torch\.distributed|accelerate\s+launch)\b")
"""Start ranks in their own container; people often add ssh and svc to these Jobs as well."""

_LONGEST: Final = 4096


def ranks_see_environment(template: Template, plugins: Mapping[str, paths.Json], path: str, reading: Reading) -> bool:
    """Whether the ranks of a task see the variables of their container.

    Args:
        plugins: the plugins of the Job.
    """
    if "mpi" in plugins:
        options = reading.texts(plugins["mpi"], path + "/mpi")
        named = [option.removeprefix(_MPI_WORKER_OPTION) for option in options if option.startswith(_MPI_WORKER_OPTION)]
        return template.name != (named[-1] if named else "worker")
    by_hand = plugins.keys() >= _BY_HAND and plugins.keys().isdisjoint(_FRAMEWORKS)
    return not by_hand or _launches_ranks(template)


def _launches_ranks(template: Template) -> bool:
    spec = template.spec.value
    containers = spec.get("containers") if isinstance(spec, dict) else None
    for container in containers if isinstance(containers, list) else ():
        if isinstance(container, dict):
            parts = [container.get("command"), container.get("args")]
            words = [word for part in parts if isinstance(part, list) for word in part if isinstance(word, str)]
            if _LAUNCHERS.search(" ".join(words)[:_LONGEST]):
                return True
    return False


class Guarantee(TypedDict):
    resource: NotRequired[dict[str, Quantity]]


class QueueSpec(TypedDict):
    capability: NotRequired[dict[str, Quantity]]
    deserved: NotRequired[dict[str, Quantity]]
    guarantee: NotRequired[Guarantee]
    preemptable: NotRequired[bool]
    """Volcano has neither this field nor the next one, but users write them."""
    preemptionPolicy: NotRequired[str]


class QueueStatus(TypedDict):
    allocated: NotRequired[dict[str, Quantity]]


class Queue(TypedDict):
    spec: NotRequired[QueueSpec]
    status: NotRequired[QueueStatus]


class NetworkTopology(TypedDict):
    highestTierAllowed: NotRequired[int]
    highestTierName: NotRequired[str]


class SubGroupPolicy(TypedDict):
    networkTopology: NotRequired[NetworkTopology]


class PodGroupSpec(TypedDict):
    minMember: NotRequired[int]
    priorityClassName: NotRequired[str]
    minTaskMember: NotRequired[dict[str, int]]
    minResources: NotRequired[dict[str, Quantity]]
    queue: NotRequired[str]
    networkTopology: NotRequired[NetworkTopology]
    subGroupPolicy: NotRequired[list[SubGroupPolicy]]


class OwnedMetadata(TypedDict):
    ownerReferences: NotRequired[list[Present]]


class PodGroup(TypedDict):
    metadata: NotRequired[OwnedMetadata]
    spec: NotRequired[PodGroupSpec]


class DependsOn(TypedDict):
    name: NotRequired[list[str]]


class PartitionPolicy(TypedDict):
    minPartitions: NotRequired[int]
    partitionSize: NotRequired[int]
    networkTopology: NotRequired[NetworkTopology]


class Task(TypedDict):
    name: NotRequired[str]
    replicas: NotRequired[int]
    minAvailable: NotRequired[int]
    dependsOn: NotRequired[DependsOn]
    partitionPolicy: NotRequired[PartitionPolicy]


class JobSpec(TypedDict):
    minAvailable: NotRequired[int]
    schedulerName: NotRequired[str]
    queue: NotRequired[str]
    priorityClassName: NotRequired[str]
    networkTopology: NotRequired[NetworkTopology]
    tasks: NotRequired[list[Task]]


class Job(TypedDict):
    """A Job, or a JobTemplate that a JobFlow makes Jobs from."""

    spec: NotRequired[JobSpec]


class CronJobSpec(TypedDict):
    jobTemplate: NotRequired[Job]


class CronJob(TypedDict):
    spec: NotRequired[CronJobSpec]


_BATCH: Final = "batch.volcano.sh"
_FLOW: Final = "flow.volcano.sh"

_DEFAULT_SCHEDULER: Final = model.Scheduler(name="volcano", reason="Volcano's own default for its Jobs")

# Variables of the plugins env and svc, which other plugins bring along
# (VC:pkg/controllers/job/plugins/{env,svc}/const.go).
_VARIABLES: Final = frozenset({"VC_*", "VK_TASK_INDEX"})

# VC:pkg/controllers/job/plugins/distributed-framework/; the plugins ray, ssh and hcclrank set no variables.
_VARIABLES_OF_PLUGINS: Final[Mapping[str, frozenset[str]]] = {
    "pytorch": frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}),
    "tensorflow": frozenset({"TF_CONFIG"}),
    "mpi": frozenset({"MPI_HOST"}),
}
_MOST_FLOWS: Final = 1_000
"""usher looks up and reads each one; more are a mistake."""

_ONE_RUN: Final = model.Count(minimum=0, maximum=1)
_OVERLAPPING: Final = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")


def _tasks(spec: Mapping[str, paths.Json], path: str, reading: Reading) -> Iterator[Template]:
    """One template for every task of a JobSpec.

    Pods take the scheduler and the priority class of the Job if their template does not name one
    (VC:pkg/controllers/job/job_controller_util.go). Volcano makes all replicas at once. `minAvailable` is only the
    number that it must place together.
    """
    named = reading.text(spec.get("schedulerName"), path + "/schedulerName")
    scheduler = model.Scheduler(name=named, reason="schedulerName of the Job") if named else _DEFAULT_SCHEDULER
    priority = Place(spec.get("priorityClassName"), path + "/priorityClassName")
    plugins = reading.mapping(spec.get("plugins"), path + "/plugins")
    variables = _VARIABLES.union(*(_VARIABLES_OF_PLUGINS.get(plugin, ()) for plugin in plugins))
    for task_path, task in reading.items(spec.get("tasks"), path + "/tasks"):
        # A plain number without a default in Volcano's API: a missing value means 0.
        replicas = reading.count(task.get("replicas"), task_path + "/replicas", default=0)
        name = reading.text(task.get("name"), task_path + "/name")
        template = pod_template(
            Place(task.get("template"), task_path + "/template"),
            reading,
            name=name,
            count=model.Count(minimum=replicas, maximum=replicas),
            traits=Traits(operator_environment=variables, scheduler=scheduler),
        )
        if not ranks_see_environment(template, plugins, path + "/plugins", reading):
            template = replace(template, traits=template.traits._replace(ranks_inherit_environment=False))
        counts = priority.value is not None and _has_no_priority(template)
        yield replace(template, fields={"priorityClassName": priority}) if counts else template


def _has_no_priority(template: Template) -> bool:
    spec = template.spec.value
    return not isinstance(spec, dict) or spec.get("priorityClassName") in (None, "")


def _job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    yield from _tasks(reading.mapping(job.get("spec"), "/spec"), "/spec", reading)


def _cron_job(cron_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(cron_job.get("spec"), "/spec")
    job_template = reading.mapping(spec.get("jobTemplate"), "/spec/jobTemplate")
    policy = reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy")
    runs = _ONE_RUN if policy in ("Forbid", "Replace") else _OVERLAPPING
    path = "/spec/jobTemplate/spec"
    for template in _tasks(reading.mapping(job_template.get("spec"), path), path, reading):
        yield template_times(template, runs)


def _job_flow(job_flow: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The tasks of one Job for each flow, made from the JobTemplate of its name.

    A flow waits until its targets have completed. Of two flows of one name only the first makes a Job, and no
    controller reads `patch` (VC:pkg/controllers/jobflow/jobflow_controller_action.go).
    """
    spec = reading.mapping(job_flow.get("spec"), "/spec")
    seen: set[str] = set()
    for path, flow in reading.items(spec.get("flows"), "/spec/flows"):
        name = reading.text(flow.get("name"), path + "/name")
        depends_on = reading.mapping(flow.get("dependsOn"), path + "/dependsOn")
        waits = bool(reading.texts(depends_on.get("targets"), path + "/dependsOn/targets"))
        if name and name not in seen:
            if len(seen) == _MOST_FLOWS:
                reading.unknown("/spec/flows", f"it has more than {_MOST_FLOWS} flows: the others are not judged")
                return
            seen.add(name)
            yield from _of_job_template(name, path + "/name", waits=waits, reading=reading)


def _of_job_template(name: str, path: str, *, waits: bool, reading: Reading) -> Iterator[Template]:
    reference = Reference(group=_FLOW, kind="JobTemplate", name=name, namespace=reading.context.namespace)
    found = reading.look_up(reference, path, consequence="the pods of this flow are not judged")
    if found is None:
        return
    reading.record_reference(path, reference)
    for template in _tasks(reading.mapping(found.get("spec"), path + "/spec"), path + "/spec", reading):
        count = template.count
        if waits:
            count = replace(count, minimum=0, reason="the flow waits for others to complete")
        traits = template.traits._replace(changeable=False)
        yield replace(template, name=f"{name}/{template.name}", count=count, traits=traits)


def _places(spec: str) -> model.GangPlaces:
    """Gang fields of a JobSpec. Pods take the scheduler of the Job if their template does not name one."""
    return model.GangPlaces(
        queue=spec + "/queue",
        minimum=spec + "/minAvailable",
        priority_class=spec + "/priorityClassName",
        scheduler=spec + "/schedulerName",
    )


_FINISHED: Final = kind.finished_by_field("/state/phase", "Completed", "Succeed", "Failed", "Terminated")
"""Volcano JobPhase and JobFlow Phase; an Aborted job may be resumed."""

_COUNTED: Final = "the sum of `tasks[].replicas` (0 if missing)"
_SOURCE: Final = "VC:staging/src/volcano.sh/apis/pkg/apis/batch/v1alpha1/job.go"

JOBS = [
    Kind(
        **api(_BATCH, "Job", "jobs", "v1alpha1"),
        key="volcanoJob",
        shape=Job,
        owned_by=(
            ("batch.volcano.sh", "CronJob"),
            ("flow.volcano.sh", "JobFlow"),
        ),
        finished=_FINISHED,
        pods=Pods(
            templates=_job,
            template_paths=("spec.tasks[].template",),
            counted=_COUNTED,
            source=_SOURCE,
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.TRAINING,
            runs_any_program=True,
            volcano="always: it is Volcano's own kind",
            gang_places=_places("/spec"),
            lifecycle_places=model.LifecyclePlaces(ttl="/spec/ttlSecondsAfterFinished"),
            gang_native=True,
            # VC:pkg/webhooks/admission/jobs/validate/admit_job.go
            changes="the pod templates, when it is created: Volcano refuses later changes",
        ),
    ),
    Kind(
        **api(_BATCH, "CronJob", "cronjobs", "v1alpha1"),
        key="volcanoCronJob",
        shape=CronJob,
        pods=Pods(
            templates=_cron_job,
            template_paths=("spec.jobTemplate.spec.tasks[].template",),
            counted="as a Job for each run; without bound under `concurrencyPolicy: Allow`, which is the default",
            source="VC:staging/src/volcano.sh/apis/pkg/apis/batch/v1alpha1/job.go",
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=False, minimum_from=""),
            role=model.Role.TRAINING,
            runs_any_program=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.NEVER,
            volcano="always: it makes Volcano's own Jobs",
            gang_places=_places("/spec/jobTemplate/spec"),
            gang_native=True,
        ),
    ),
    Kind(
        **api(_FLOW, "JobTemplate", "jobtemplates", "v1alpha1"),
        key="volcanoJobTemplate",
        shape=Job,
        pods=Pods(
            templates=_job,
            template_paths=("spec.tasks[].template",),
            counted=f"of one Job made from it: {_COUNTED}",
            source="VC:staging/src/volcano.sh/apis/pkg/apis/flow/v1alpha1/jobtemplate_types.go",
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.TRAINING,
            runs_any_program=True,
            is_template=True,
            volcano="always: Volcano's own Jobs are made from it",
            gang_places=_places("/spec"),
            gang_native=True,
        ),
    ),
    Kind(
        **api(_FLOW, "JobFlow", "jobflows", "v1alpha1"),
        finished=_FINISHED,
        pods=Pods(
            templates=_job_flow,
            template_paths=("those of the JobTemplates that spec.flows[].name refer to",),
            counted="the Jobs of all flows together; those of flows that wait for others may not be there yet",
            source="VC:staging/src/volcano.sh/apis/pkg/apis/flow/v1alpha1/jobflow_types.go; "
            "VC:pkg/controllers/jobflow/",
            **scheduled(KueueUnit.POD, Starts.MAY_WAIT, shrinks=True, minimum_from=""),
            role=model.Role.TRAINING,
            runs_any_program=True,
            volcano="always: each flow is a Job of Volcano's own kind",
            gang_native=True,
            changes="nothing: its pod templates stand in JobTemplates",
        ),
    ),
]

QUEUES = [
    Kind(
        **api("scheduling.volcano.sh", "Queue", "queues", "v1beta1"),
        cluster_scoped=True,
        key="volcanoQueue",
        shape=Queue,
        facts=Facts(keep=keeping("/spec", "/status/state", "/status/allocated"), momentary=frozenset({"allocated"})),
    ),
    Kind(
        **api("scheduling.volcano.sh", "PodGroup", "podgroups", "v1beta1"),
        key="volcanoPodGroup",
        shape=PodGroup,
        facts=Facts(
            keep=keeping("/metadata/ownerReferences", "/spec", "/status/phase", "/status/conditions"),
            changes_often=True,
        ),
    ),
]

KINDS = (*JOBS, *QUEUES)
