"""Jobs and CronJobs, beside their pods."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.shapes import STRICT
from usher.views.kinds import View


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


@with_config(STRICT)
class Objects(TypedDict):
    job: NotRequired[Job]
    cronJob: NotRequired[CronJob]


VIEWS = [
    View(
        group="batch",
        versions=("v1",),
        kind="Job",
        plural="jobs",
        key="job",
        shape=TypeAdapter(Job),
    ),
    View(
        group="batch",
        versions=("v1",),
        kind="CronJob",
        plural="cronjobs",
        key="cronJob",
        shape=TypeAdapter(CronJob),
    ),
]
