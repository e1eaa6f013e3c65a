"""Objects that make no pods themselves but say how many replicas another object may have. Pure, never raises.

Sources: k8s.io/api/autoscaling, pkg/apis/autoscaling and pkg/controller/podautoscaler of Kubernetes 1.36;
apis/keda/v1alpha1 and controllers/keda of KEDA at 8b4f083c; api/disaggregatedset/v1 of LWS 0.10.

A VerticalPodAutoscaler is none of them: it changes what pods ask of CPU and memory, never their number. KEDA makes a
HorizontalPodAutoscaler for every ScaledObject; of the two the wider one counts, and nothing counts twice. How fast an
autoscaler works, and that it may only shrink (`behavior`, `paused-scale-out`), is not looked at: its bounds stay.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from usher import paths
from usher.kinds.autoscaling import bounds
from usher.reading import growth as reading_growth
from usher.reading import lookup
from usher.reading.growth import Growth, ReadGrowth
from usher.reading.values import Reading

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"
SET_LABEL = "disaggregatedset.x-k8s.io/name"
ROLE_LABEL = "disaggregatedset.x-k8s.io/role"

_ANNOTATIONS = "/metadata/annotations"
_LABELS = "/metadata/labels"

# What strconv.ParseBool takes for false; KEDA takes all that it cannot parse for true.
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)


def of(value: paths.Object, *, namespace: str = "") -> Growth | None:
    """The growth that an object allows; None for a kind that lets nothing grow.

    Args:
        value: the object as JSON, with `apiVersion` and `kind`.
        namespace: the namespace to assume where the object names none.
    """
    group, version = _group_version(value.get("apiVersion"))
    kind = value.get("kind")
    if not isinstance(kind, str) or (group, kind) not in _KINDS:
        return None
    known = _KINDS[group, kind]
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    growth = Growth(
        source=lookup.Reference(group=group, kind=kind, name=name or (prefix and f"{prefix}*"), namespace=within),
        version=version,
        target=lookup.Reference(group="", kind="", name="", namespace=within),
        minimum=0,
        maximum=None,
        reason="its maximum could not be read",
    )
    if version in known.versions:
        growth = known.read(value, growth, reading)
    else:
        here = f"in {version}" if version else "without a version"
        reading.unknown("/apiVersion", f"{kind} is known in {' and '.join(known.versions)}, not {here}: not judged")
    return replace(growth, unknowns=reading.found())


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
    """A minimum of 0 is taken as it is, though only clusters with the feature gate HPAScaleToZero allow it."""
    return bounds.of_autoscaler(value, growth, reading, _HORIZONTAL_POD_AUTOSCALER)


def _scaled_object(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """With `idleReplicaCount` the target has that number while nothing triggers."""
    growth = bounds.of_autoscaler(value, growth, reading, _SCALED_OBJECT)
    idle = reading_growth.object_in(value, "spec").get("idleReplicaCount")
    if idle is not None:
        least = reading.count(idle, "/spec/idleReplicaCount", default=0)
        growth = replace(growth, minimum=min(least, growth.minimum))
    return _paused(value, growth, reading)


def _paused(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """A pause takes the autoscaler away, and the target is set to the number of the annotation if there is one.

    No bound holds for that number, and it wins over the other annotation (scaledobject_controller.go).
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
    """Whether a pause is asked for, of a ScaledObject or of a ScaledJob."""
    return PAUSED in annotations and annotations[PAUSED] not in _FALSE


def _scale(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """A Scale has the name and the namespace of its target."""
    target = lookup.Reference(group="", kind="", name=growth.source.name, namespace=growth.source.namespace)
    growth = replace(growth, target=target, target_path=reading_growth.nearest(value, "/metadata/name"))
    return reading_growth.of_number(value, growth, reading)


def _role_scaler(value: paths.Object, growth: Growth, reading: Reading) -> Growth:
    """What autoscalers of one role of a DisaggregatedSet write to; its controller makes and labels it."""
    labels = reading.strings(reading_growth.object_in(value, "metadata").get("labels"), _LABELS)
    name, role = labels.get(SET_LABEL, ""), labels.get(ROLE_LABEL, "")
    if not (name and role):
        reading.unknown(
            reading_growth.nearest(value, _LABELS), f"{SET_LABEL} and {ROLE_LABEL} must tell what it scales"
        )
        name = role = ""
    target = lookup.Reference(
        group=growth.source.group, kind="DisaggregatedSet", name=name, namespace=growth.source.namespace
    )
    path = reading_growth.nearest(value, paths.join(_LABELS, SET_LABEL))
    return reading_growth.of_number(value, replace(growth, target=target, target_path=path, role=role), reading)


class _Known(NamedTuple):
    versions: tuple[str, ...]
    read: ReadGrowth


_KINDS: Mapping[tuple[str, str], _Known] = {
    ("autoscaling", "HorizontalPodAutoscaler"): _Known(("v1", "v2", "v2beta1", "v2beta2"), _horizontal_pod_autoscaler),
    ("autoscaling", "Scale"): _Known(("v1",), _scale),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSetRoleScaler"): _Known(("v1",), _role_scaler),
    ("keda.sh", "ScaledObject"): _Known(("v1alpha1",), _scaled_object),
}


def _group_version(api_version: object) -> tuple[str, str]:
    group, _, version = (api_version if isinstance(api_version, str) else "").rpartition("/")
    return group, version
