"""Full objects of the kinds in kinds/job_groups.py."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths


def _job_spec() -> paths.Object:
    return {
        "minAvailable": 2,
        "schedulerName": "volcano",
        "priorityClassName": "high",
        "plugins": {"mpi": ["--worker=worker"]},
        "tasks": [
            builders.volcano_task("worker", builders.replaced(template(), "/spec/priorityClassName", ""), replicas=2)
        ],
    }


_CRON_JOB_SPEC: paths.Object = {
    "schedule": "0 3 * * *",
    "concurrencyPolicy": "Forbid",
    "suspend": False,
    "jobTemplate": {"spec": _job_spec()},
}

OBJECTS: dict[str, paths.Object] = {
    "Volcano Job with all fields": builders.custom("batch.volcano.sh/v1alpha1", "Job", _job_spec(), **METADATA),
    "Volcano CronJob": builders.custom("batch.volcano.sh/v1alpha1", "CronJob", _CRON_JOB_SPEC, **METADATA),
    "JobTemplate": builders.custom("flow.volcano.sh/v1alpha1", "JobTemplate", _job_spec(), **METADATA),
    "JobFlow": builders.custom(
        "flow.volcano.sh/v1alpha1",
        "JobFlow",
        {"flows": [{"name": "prepare"}, {"name": "train", "dependsOn": {"targets": ["prepare"]}}]},
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = [
    builders.custom("flow.volcano.sh/v1alpha1", "JobTemplate", _job_spec(), name=name)
    # Also the value of a name when the tests put anything there.
    for name in ("prepare", "train", "junk")
]
"""Objects that the templates refer to by name."""
