"""What changes the number of pods."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT

_MISSPELT_GROUP = "autoscaling.keda.sh"
"""No such API exists: annotations of KEDA begin so, which is why people write it in manifests nevertheless."""


@with_config(STRICT)
class Owned(TypedDict):
    ownerReferences: NotRequired[list[Present]]
    """Operators make autoscalers too: KEDA one for every ScaledObject."""


@with_config(STRICT)
class Target(TypedDict):
    apiVersion: NotRequired[str]
    kind: NotRequired[str]
    name: NotRequired[str]


@with_config(STRICT)
class HorizontalPodAutoscalerSpec(TypedDict):
    scaleTargetRef: NotRequired[Target]
    minReplicas: NotRequired[int]
    maxReplicas: NotRequired[int]


@with_config(STRICT)
class HorizontalPodAutoscaler(TypedDict):
    metadata: NotRequired[Owned]
    spec: NotRequired[HorizontalPodAutoscalerSpec]


@with_config(STRICT)
class ScaledObjectSpec(TypedDict):
    scaleTargetRef: NotRequired[Target]
    idleReplicaCount: NotRequired[int]
    minReplicaCount: NotRequired[int]
    maxReplicaCount: NotRequired[int]


@with_config(STRICT)
class ScaledObject(TypedDict):
    metadata: NotRequired[Owned]
    spec: NotRequired[ScaledObjectSpec]


@with_config(STRICT)
class ScaledJobSpec(TypedDict):
    maxReplicaCount: NotRequired[int]


@with_config(STRICT)
class ScaledJob(TypedDict):
    spec: NotRequired[ScaledJobSpec]


@with_config(STRICT)
class Misspelt(TypedDict):
    """An object of an API that does not exist."""

    apiVersion: NotRequired[str]


@with_config(STRICT)
class Objects(TypedDict):
    horizontalPodAutoscaler: NotRequired[HorizontalPodAutoscaler]
    scaledObject: NotRequired[ScaledObject]
    scaledJob: NotRequired[ScaledJob]
    misspeltScaledObject: NotRequired[Misspelt]
    misspeltScaledJob: NotRequired[Misspelt]
    misspeltTriggerAuthentication: NotRequired[Misspelt]


VIEWS = [
    View(
        group="autoscaling",
        versions=("v1", "v2", "v2beta1", "v2beta2"),
        kind="HorizontalPodAutoscaler",
        plural="horizontalpodautoscalers",
        key="horizontalPodAutoscaler",
        shape=TypeAdapter(HorizontalPodAutoscaler),
    ),
    View(
        group="keda.sh",
        versions=("v1alpha1",),
        kind="ScaledObject",
        plural="scaledobjects",
        key="scaledObject",
        shape=TypeAdapter(ScaledObject),
    ),
    View(
        group="keda.sh",
        versions=("v1alpha1",),
        kind="ScaledJob",
        plural="scaledjobs",
        key="scaledJob",
        shape=TypeAdapter(ScaledJob),
    ),
    View(
        group=_MISSPELT_GROUP,
        versions=("v1alpha1", "v1"),
        kind="ScaledObject",
        plural="",
        key="misspeltScaledObject",
        shape=TypeAdapter(Misspelt),
    ),
    View(
        group=_MISSPELT_GROUP,
        versions=("v1alpha1", "v1"),
        kind="ScaledJob",
        plural="",
        key="misspeltScaledJob",
        shape=TypeAdapter(Misspelt),
    ),
    View(
        group=_MISSPELT_GROUP,
        versions=("v1alpha1", "v1"),
        kind="TriggerAuthentication",
        plural="",
        key="misspeltTriggerAuthentication",
        shape=TypeAdapter(Misspelt),
    ),
]
