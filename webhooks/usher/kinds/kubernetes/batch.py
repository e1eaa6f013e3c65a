"""The batch group: Job and CronJob, with the shapes that rules read of them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds.kind import MINIMUM_OF_OWNER, Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.kubernetes import indexed_jobs
from usher.reading.counts import concurrent_pods, in_turns
from usher.reading.pod_templates import pod_template
from usher.reading.shapes import STRICT
from usher.reading.templates import Place, Template
from usher.reading.values import Reading


@with_config(STRICT)
class JobSpec(TypedDict):
    activeDeadlineSeconds: NotRequired[int]


@with_config(STRICT)
class Job(TypedDict):
    """A Job, or the template of one."""

    spec: NotRequired[JobSpec]


@with_config(STRICT)
class CronJobSpec(TypedDict):
    concurrencyPolicy: NotRequired[str]
    jobTemplate: NotRequired[Job]


@with_config(STRICT)
class CronJob(TypedDict):
    spec: NotRequired[CronJobSpec]


OF_VOLCANO: Final = model.GangPlaces(
    queue="/spec/template/metadata/annotations/scheduling.volcano.sh~1queue-name",
    minimum="/metadata/annotations/scheduling.volcano.sh~1group-min-member",
    on_templates=True,
    counted_by_operator=False,
)
"""Volcano's controller makes the PodGroup: it reads the number from the pods' owner, and the queue from the pods."""


def _job(job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    pods = concurrent_pods(spec, "/spec", reading)
    found = pod_template(
        Place(spec.get("template"), "/spec/template"), reading, count=model.Count(minimum=pods, maximum=pods)
    )
    yield _with_gang(found, spec, pods)


def _cron_job(cron_job: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(cron_job.get("spec"), "/spec")
    job_template = reading.mapping(spec.get("jobTemplate"), "/spec/jobTemplate")
    job_path = "/spec/jobTemplate/spec"
    job_spec = reading.mapping(job_template.get("spec"), job_path)
    pods = concurrent_pods(job_spec, job_path, reading)
    if reading.text(spec.get("concurrencyPolicy"), "/spec/concurrencyPolicy") in ("Forbid", "Replace"):
        count = model.Count(minimum=0, maximum=pods)
    else:
        count = model.Count(minimum=0, maximum=None, reason="concurrencyPolicy Allow lets runs overlap")
    found = pod_template(Place(job_spec.get("template"), job_path + "/template"), reading, count=count)
    yield _with_gang(found, job_spec, pods)


def _with_gang(found: Template, spec: Mapping[str, paths.Json], pods: int) -> Template:
    """The template, marked as a gang if the JobSpec shows that its pods wait for each other."""
    return replace(found, waits=indexed_jobs.wait_for_each_other(spec, pods), in_turns=in_turns(spec))


KINDS = [
    Kind(
        group="batch",
        kind="Job",
        versions=("v1",),
        plural="jobs",
        key="job",
        shape=Job,
        owned_by=(
            ("batch", "CronJob"),
            ("jobset.x-k8s.io", "JobSet"),
            ("ray.io", "RayJob"),
            ("keda.sh", "ScaledJob"),
            ("apps.nvidia.com", "NIMCache"),
            ("kubeflow.org", "MPIJob"),
        ),
        pods=Pods(
            templates=_job,
            template_paths=("spec.template",),
            counted="the smaller of `parallelism` (1 if missing) and `completions`",
            source="API:batch/v1/types.go; KQ:pkg/controller/jobs/job/job_controller.go",
            kueue_unit=KueueUnit.WHOLE,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from=MINIMUM_OF_OWNER,
            role=model.Role.BATCH,
            runs_any_program=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            volcano="annotation `scheduling.volcano.sh/group-min-member` on the Job",
            gang_places=OF_VOLCANO,
            lifecycle_places=model.LifecyclePlaces(
                ttl="/spec/ttlSecondsAfterFinished",
                deadline="/spec/activeDeadlineSeconds",
                managed_by="/spec/managedBy",
            ),
        ),
    ),
    Kind(
        group="batch",
        kind="CronJob",
        versions=("v1",),
        plural="cronjobs",
        key="cronJob",
        shape=CronJob,
        pods=Pods(
            templates=_cron_job,
            template_paths=("spec.jobTemplate.spec.template",),
            counted="as a Job for each run; without bound under `concurrencyPolicy: Allow`, which is the default",
            source="API:batch/v1/types.go",
            kueue_unit=KueueUnit.RUN,
            starts=Starts.TOGETHER,
            shrinks=False,
            minimum_from="",
            role=model.Role.BATCH,
            runs_any_program=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.CHILDREN,
            # Kueue does not know CronJobs, but the Jobs that a CronJob makes carry the metadata of the job template.
            queue_label_path="/spec/jobTemplate/metadata",
            # The history limits of the CronJob delete its Jobs.
            lifecycle_places=model.LifecyclePlaces(deadline="/spec/jobTemplate/spec/activeDeadlineSeconds"),
        ),
    ),
]
