"""The shapes of the kinds that change the number of pods."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT


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
