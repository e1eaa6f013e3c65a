"""Volcano's queues and PodGroups, and the gang fields of its Jobs."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT, Quantity


@with_config(STRICT)
class Guarantee(TypedDict):
    resource: NotRequired[dict[str, Quantity]]


@with_config(STRICT)
class QueueSpec(TypedDict):
    capability: NotRequired[dict[str, Quantity]]
    deserved: NotRequired[dict[str, Quantity]]
    guarantee: NotRequired[Guarantee]
    preemptable: NotRequired[bool]
    """Volcano has neither this field nor the next one, but users write them."""
    preemptionPolicy: NotRequired[str]


@with_config(STRICT)
class Queue(TypedDict):
    spec: NotRequired[QueueSpec]


@with_config(STRICT)
class NetworkTopology(TypedDict):
    highestTierAllowed: NotRequired[int]
    highestTierName: NotRequired[str]


@with_config(STRICT)
class SubGroupPolicy(TypedDict):
    networkTopology: NotRequired[NetworkTopology]


@with_config(STRICT)
class PodGroupSpec(TypedDict):
    minMember: NotRequired[int]
    minTaskMember: NotRequired[dict[str, int]]
    minResources: NotRequired[dict[str, Quantity]]
    queue: NotRequired[str]
    networkTopology: NotRequired[NetworkTopology]
    subGroupPolicy: NotRequired[list[SubGroupPolicy]]


@with_config(STRICT)
class OwnedMetadata(TypedDict):
    ownerReferences: NotRequired[list[Present]]


@with_config(STRICT)
class PodGroup(TypedDict):
    metadata: NotRequired[OwnedMetadata]
    spec: NotRequired[PodGroupSpec]


@with_config(STRICT)
class DependsOn(TypedDict):
    name: NotRequired[list[str]]


@with_config(STRICT)
class PartitionPolicy(TypedDict):
    minPartitions: NotRequired[int]
    partitionSize: NotRequired[int]
    networkTopology: NotRequired[NetworkTopology]


@with_config(STRICT)
class Task(TypedDict):
    name: NotRequired[str]
    replicas: NotRequired[int]
    minAvailable: NotRequired[int]
    dependsOn: NotRequired[DependsOn]
    partitionPolicy: NotRequired[PartitionPolicy]


@with_config(STRICT)
class JobSpec(TypedDict):
    minAvailable: NotRequired[int]
    schedulerName: NotRequired[str]
    queue: NotRequired[str]
    priorityClassName: NotRequired[str]
    networkTopology: NotRequired[NetworkTopology]
    tasks: NotRequired[list[Task]]


@with_config(STRICT)
class Job(TypedDict):
    """A Job, or a JobTemplate that a JobFlow makes Jobs from."""

    spec: NotRequired[JobSpec]


@with_config(STRICT)
class CronJobSpec(TypedDict):
    jobTemplate: NotRequired[Job]


@with_config(STRICT)
class CronJob(TypedDict):
    spec: NotRequired[CronJobSpec]
