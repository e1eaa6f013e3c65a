"""Full objects of the kinds in kinds/job_groups.py."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths

OBJECTS: dict[str, paths.Object] = {
    "HyperPodPyTorchJob": builders.custom(
        "sagemaker.amazonaws.com/v1",
        "HyperPodPyTorchJob",
        {
            "runPolicy": {"suspend": False},
            "elasticPolicy": {"minReplicas": 1, "maxReplicas": 4, "replicaDiscreteValues": [1, 2, 4]},
            "replicaSpecs": [
                {"name": "pods", "replicas": 2, "maxReplicas": 4, "spares": 1, "template": template()},
            ],
        },
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
