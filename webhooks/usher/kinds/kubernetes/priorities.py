"""Classes of priority: of pods, and of Kueue's workloads."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.shapes import STRICT, Metadata


@with_config(STRICT)
class PriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    globalDefault: NotRequired[bool]
    preemptionPolicy: NotRequired[str]


@with_config(STRICT)
class MisplacedValue(TypedDict):
    value: NotRequired[int]


@with_config(STRICT)
class WorkloadPriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    spec: NotRequired[MisplacedValue]
    """No such field exists; people write the value there nevertheless."""


@with_config(STRICT)
class Objects(TypedDict):
    priorityClass: NotRequired[PriorityClass]
    workloadPriorityClass: NotRequired[WorkloadPriorityClass]


VIEWS = [
    View(
        group="scheduling.k8s.io",
        versions=("v1",),
        kind="PriorityClass",
        plural="priorityclasses",
        key="priorityClass",
        shape=TypeAdapter(PriorityClass),
        cluster_scoped=True,
    ),
    View(
        group="kueue.x-k8s.io",
        versions=("v1beta2", "v1beta1"),
        kind="WorkloadPriorityClass",
        plural="workloadpriorityclasses",
        key="workloadPriorityClass",
        shape=TypeAdapter(WorkloadPriorityClass),
        cluster_scoped=True,
    ),
]
