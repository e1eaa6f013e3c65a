"""Full objects of the kinds in kinds/kubernetes/ but for the Pod."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths


def _pod_template() -> paths.Object:
    value = builders.custom("v1", "PodTemplate", {}, **METADATA)
    del value["spec"]
    return {**value, "template": template()}


OBJECTS: dict[str, paths.Object] = {
    "ReplicationController": builders.custom(
        "v1", "ReplicationController", {"replicas": 3, "template": template()}, **METADATA
    ),
    "PodTemplate": _pod_template(),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
