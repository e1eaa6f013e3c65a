"""Full objects of the kinds in kinds/job_groups.py."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths


def _spec(**rolling: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {
        "replicas": 2,
        "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": "50%", **rolling}},
        "leaderWorkerTemplate": {"size": 4, "leaderTemplate": template(), "workerTemplate": template()},
    }


OBJECTS: dict[str, paths.Object] = {
    "LeaderWorkerSet": builders.custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", _spec(), **METADATA),
    "DisaggregatedSet": builders.custom(
        "disaggregatedset.x-k8s.io/v1",
        "DisaggregatedSet",
        {
            "slices": 2,
            "roles": [{"name": "prefill", "scaling": {"mode": "External"}, "spec": _spec(maxUnavailable="50%")}],
        },
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
