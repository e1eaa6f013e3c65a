"""Full objects of the kinds of KEDA."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths

OBJECTS: dict[str, paths.Object] = {
    "ScaledJob": builders.custom(
        "keda.sh/v1alpha1",
        "ScaledJob",
        {
            "minReplicaCount": 1,
            "maxReplicaCount": 10,
            "scalingStrategy": {
                "strategy": "custom",
                "customScalingRunningJobPercentage": "1",
                "customScalingQueueLengthDeduction": 1,
            },
            "jobTargetRef": builders.job_spec(template(), parallelism=2, completions=4, suspend=False),
        },
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
