"""Full objects of the kinds in kinds/autoscaling.py."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths

_JOB = builders.job(template(), parallelism=2, completions=4)

OBJECTS: dict[str, paths.Object] = {
    "AppWrapper": builders.custom(
        "workload.codeflare.dev/v1beta2",
        "AppWrapper",
        {
            "suspend": False,
            "components": [
                {
                    "podSets": [{"replicas": 3, "path": "template.spec.template"}],
                    "template": {"apiVersion": "batch/v1", "kind": "Job", "spec": _JOB["spec"]},
                },
            ],
        },
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
