"""Objects that make no pods themselves but say how many replicas another object may have. Pure, never raises.

Sources: k8s.io/api/autoscaling, pkg/apis/autoscaling and pkg/controller/podautoscaler of Kubernetes 1.36;
apis/keda/v1alpha1 and controllers/keda of KEDA at 8b4f083c; api/disaggregatedset/v1 of LWS 0.10.

A VerticalPodAutoscaler is not here: it changes what pods ask of CPU and memory, never their number. KEDA makes a
HorizontalPodAutoscaler for every ScaledObject; of the two the wider one counts, and nothing counts twice. How fast an
autoscaler works, and that it may only shrink (`behavior`, `paused-scale-out`), is not looked at: its bounds stay.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from usher import paths
from usher.kinds.autoscaling import bounds, shapes
from usher.kinds.kind import Kind
from usher.reading import growth as reading_growth
from usher.reading import lookup
from usher.reading.growth import Growth
from usher.reading.values import Reading

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"

_ANNOTATIONS = "/metadata/annotations"

# strconv.ParseBool takes these for false; KEDA takes all that it cannot parse for true.
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)


_HORIZONTAL_POD_AUTOSCALER = bounds.Fields(
    minimum="minReplicas", maximum="maxReplicas", default_minimum=1, default_maximum=None
)
# gvkr.go and scaledobject_types.go.
_SCALED_OBJECT = bounds.Fields(
    minimum="minReplicaCount",
    maximum="maxReplicaCount",
    default_minimum=0,
    default_maximum=100,
    default_api_version="apps/v1",
    default_kind="Deployment",
)


def _horizontal_pod_autoscaler(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a HorizontalPodAutoscaler.

    A minimum of 0 counts, though it needs the feature gate HPAScaleToZero.
    """
    return bounds.of_autoscaler(value, growth, reading, _HORIZONTAL_POD_AUTOSCALER)


def _scaled_object(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a ScaledObject. With `idleReplicaCount` the target has that number while no trigger is active."""
    growth = bounds.of_autoscaler(value, growth, reading, _SCALED_OBJECT)
    idle = reading_growth.object_in(value, "spec").get("idleReplicaCount")
    if idle is not None:
        least = reading.count(idle, "/spec/idleReplicaCount", default=0)
        growth = replace(growth, minimum=min(least, growth.minimum))
    return _paused(value, growth, reading)


def _paused(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth during a pause: the autoscaler is removed, and the target gets the number of the annotation, if any.

    Bounds do not limit that number, and it wins over the other annotation (scaledobject_controller.go).
    """
    annotations = reading.strings(reading_growth.object_in(value, "metadata").get("annotations"), _ANNOTATIONS)
    text = annotations.get(PAUSED_REPLICAS)
    if text is None:
        return replace(growth, held=is_paused(annotations))
    path = paths.join(_ANNOTATIONS, PAUSED_REPLICAS)
    if not _WHOLE_NUMBER.fullmatch(text):
        reading.unknown(path, "expected a whole number")
        return replace(growth, held=True)
    number = reading.count(int(text), path, default=reading_growth.UNUSABLE)
    if number == reading_growth.UNUSABLE:
        return replace(growth, held=True)
    return replace(growth, minimum=number, maximum=number, reason="it is paused there", maximum_path=path)


def is_paused(annotations: Mapping[str, str]) -> bool:
    """Whether the annotations of a ScaledObject or of a ScaledJob ask for a pause."""
    return PAUSED in annotations and annotations[PAUSED] not in _FALSE


def _scale(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """The growth of a Scale, which has the name and the namespace of its target."""
    target = lookup.Reference(group="", kind="", name=growth.source.name, namespace=growth.source.namespace)
    growth = replace(growth, target=target, target_path=reading_growth.nearest(value, "/metadata/name"))
    return reading_growth.of_number(value, growth, reading)


KINDS = [
    Kind(
        group="autoscaling",
        kind="HorizontalPodAutoscaler",
        versions=("v1", "v2", "v2beta1", "v2beta2"),
        plural="horizontalpodautoscalers",
        key="horizontalPodAutoscaler",
        shape=shapes.HorizontalPodAutoscaler,
        autoscaler=_horizontal_pod_autoscaler,
    ),
    Kind(
        group="keda.sh",
        kind="ScaledObject",
        versions=("v1alpha1",),
        plural="scaledobjects",
        key="scaledObject",
        shape=shapes.ScaledObject,
        autoscaler=_scaled_object,
    ),
    Kind(group="autoscaling", kind="Scale", versions=("v1",), autoscaler=_scale),
]
