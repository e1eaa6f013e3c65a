"""A full object of the kind in kinds/job_groups.py."""

import builders
from unit.kinds.full.parts import METADATA, container, pod_spec_fields
from usher import paths

_SIDECAR = builders.container("munge", env={"A": "b"})

OBJECTS: dict[str, paths.Object] = {
    "NodeSet": builders.custom(
        "slinky.slurm.net/v1beta1",
        "NodeSet",
        {
            "scalingMode": "StatefulSet",
            "replicas": 2,
            "slurmd": {field: each for field, each in container().items() if field != "name"},
            "logfile": {"env": [{"name": "NCCL_DEBUG", "value": "WARN"}]},
            "template": {
                "metadata": {"labels": {"app": "slurm"}, "annotations": {"note": "x"}},
                "spec": {**builders.pod_spec(_SIDECAR), **pod_spec_fields()},
            },
        },
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
