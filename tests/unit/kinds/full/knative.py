"""Full objects of the kinds in kinds/served_models.py."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths

_SCALES: dict[str, paths.Json] = {
    "autoscaling.knative.dev/min-scale": "1",
    "autoscaling.knative.dev/maxScale": "4",
    "autoscaling.knative.dev/initial-scale": "2",
}


def _template() -> paths.Object:
    return builders.replaced(template(), "/metadata/annotations", _SCALES)


def _revision() -> paths.Object:
    revision = builders.custom("serving.knative.dev/v1", "Revision", _spec_of(_template()), **METADATA)
    return builders.replaced(revision, "/metadata/annotations", _SCALES)


def _spec_of(pod_template: paths.Object) -> paths.Object:
    spec = pod_template["spec"]
    assert isinstance(spec, dict)
    return spec


OBJECTS: dict[str, paths.Object] = {
    "Knative Service": builders.custom("serving.knative.dev/v1", "Service", {"template": _template()}, **METADATA),
    "Knative Configuration": builders.custom(
        "serving.knative.dev/v1", "Configuration", {"template": _template()}, **METADATA
    ),
    "Knative Revision": _revision(),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
