"""Ray's kinds, beside their pods."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.shapes import STRICT
from usher.views.kinds import View

_VERSIONS = ("v1", "v1alpha1")


# One of its fields is no name in Python. All others stay in the manifest: a password may be among them.
StartParams = TypedDict("StartParams", {"num-gpus": NotRequired[str]})
with_config(STRICT)(StartParams)


@with_config(STRICT)
class Group(TypedDict):
    """The head, or what a group of workers has in common with it."""

    rayStartParams: NotRequired[StartParams]
    resources: NotRequired[dict[str, str]]
    """What Ray may hand out, which counts before the start parameters."""


@with_config(STRICT)
class WorkerGroup(Group):
    groupName: NotRequired[str]


@with_config(STRICT)
class RayClusterSpec(TypedDict):
    enableInTreeAutoscaling: NotRequired[bool]
    headGroupSpec: NotRequired[Group]
    workerGroupSpecs: NotRequired[list[WorkerGroup]]


@with_config(STRICT)
class RayCluster(TypedDict):
    spec: NotRequired[RayClusterSpec]


@with_config(STRICT)
class RayJobSpec(TypedDict):
    clusterSelector: NotRequired[dict[str, str]]
    shutdownAfterJobFinishes: NotRequired[bool]
    activeDeadlineSeconds: NotRequired[int]
    rayClusterSpec: NotRequired[RayClusterSpec]


@with_config(STRICT)
class RayJob(TypedDict):
    spec: NotRequired[RayJobSpec]


@with_config(STRICT)
class RayServiceSpec(TypedDict):
    rayClusterConfig: NotRequired[RayClusterSpec]


@with_config(STRICT)
class RayService(TypedDict):
    spec: NotRequired[RayServiceSpec]


@with_config(STRICT)
class Objects(TypedDict):
    rayCluster: NotRequired[RayCluster]
    rayJob: NotRequired[RayJob]
    rayService: NotRequired[RayService]


VIEWS = [
    View(
        group="ray.io",
        versions=_VERSIONS,
        kind="RayCluster",
        plural="rayclusters",
        key="rayCluster",
        shape=TypeAdapter(RayCluster),
    ),
    View(
        group="ray.io",
        versions=_VERSIONS,
        kind="RayJob",
        plural="rayjobs",
        key="rayJob",
        shape=TypeAdapter(RayJob),
    ),
    View(
        group="ray.io",
        versions=_VERSIONS,
        kind="RayService",
        plural="rayservices",
        key="rayService",
        shape=TypeAdapter(RayService),
    ),
]
