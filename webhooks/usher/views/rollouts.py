"""Deployments and their like, beside their pods."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT, IntOrString
from usher.views.kinds import View


@with_config(STRICT)
class Container(TypedDict):
    ports: NotRequired[list[Present]]
    """What tells a server from a job that never ends."""


@with_config(STRICT)
class PodSpec(TypedDict):
    containers: NotRequired[list[Container]]


@with_config(STRICT)
class PodTemplate(TypedDict):
    spec: NotRequired[PodSpec]


@with_config(STRICT)
class RollingUpdate(TypedDict):
    maxUnavailable: NotRequired[IntOrString]


@with_config(STRICT)
class Strategy(TypedDict):
    type: NotRequired[str]
    rollingUpdate: NotRequired[RollingUpdate]


@with_config(STRICT)
class DeploymentSpec(TypedDict):
    strategy: NotRequired[Strategy]
    template: NotRequired[PodTemplate]


@with_config(STRICT)
class Deployment(TypedDict):
    spec: NotRequired[DeploymentSpec]


@with_config(STRICT)
class StatefulSetSpec(TypedDict):
    podManagementPolicy: NotRequired[str]
    template: NotRequired[PodTemplate]


@with_config(STRICT)
class StatefulSet(TypedDict):
    spec: NotRequired[StatefulSetSpec]


@with_config(STRICT)
class Objects(TypedDict):
    deployment: NotRequired[Deployment]
    statefulSet: NotRequired[StatefulSet]


VIEWS = [
    View(
        group="apps",
        versions=("v1",),
        kind="Deployment",
        plural="deployments",
        key="deployment",
        shape=TypeAdapter(Deployment),
    ),
    View(
        group="apps",
        versions=("v1",),
        kind="StatefulSet",
        plural="statefulsets",
        key="statefulSet",
        shape=TypeAdapter(StatefulSet),
    ),
]
