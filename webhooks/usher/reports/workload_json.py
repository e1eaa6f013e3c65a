"""The workloads of `usher workload show` for programs.

Paths are JSON Pointers into the object. A field is absent where it does not apply: `maximum` where nothing bounds the
number, `reason` where the maximum is the minimum.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TextIO

import orjson
from pydantic import BeforeValidator, ValidationInfo

from usher.accelerators.vocabulary import Vocabulary
from usher.reports import amounts, json_shape
from usher.reports.json_shape import (
    API_VERSION,
    IF_ANY,
    IF_KNOWN,
    Bounded,
    BoundedIfKnown,
    Exact,
    ExactIfKnown,
    IntegerIfAny,
    IntegerIfKnown,
    Readable,
    Shape,
    TextIfAny,
    attribute,
)
from usher.scan.shown_workloads import ShownWorkload


def write(shown: Iterable[ShownWorkload], stream: TextIO, /, *, vocabulary: Vocabulary) -> None:
    """Writes the workloads as one JSON document."""
    json_shape.write(WorkloadList.model_validate({"workloads": list(shown)}, context=vocabulary), stream)


def _unit(resource: str, info: ValidationInfo[Vocabulary]) -> str:
    return amounts.unit(resource, info.context)


class Pods(Shape):
    minimum: Bounded
    maximum: BoundedIfKnown
    reason: TextIfAny


class Total(Shape):
    """All pods together request this; `unit` is `MiB` or a similar unit if the name counts memory."""

    name: str
    route: str
    unit: Annotated[str, BeforeValidator(_unit), IF_ANY] = attribute("name")
    minimum: Exact
    maximum: ExactIfKnown
    reason: TextIfAny


class Request(Total):
    """One pod requests this; pods that name the same `claim` share it."""

    path: str
    claim: TextIfAny


class Owner(Shape):
    group: str
    kind: str
    name: str


class Gang(Shape):
    """Whether the pods have to start together, the reason, and how many must exist."""

    wanted: bool
    formed_by: TextIfAny
    minimum: IntegerIfKnown


class Scheduler(Shape):
    """The scheduler of the pods; `reason` if the template does not name it."""

    name: str
    reason: TextIfAny


class Container(Shape):
    """A container. `trains`: it does the pod's work, and gets the variables and devices that training needs.

    `lookalikes` are resources that look like accelerators but are unknown to usher and usher.yaml.
    """

    name: str
    type: str
    path: str
    requests: dict[str, Exact]
    limits: dict[str, Exact]
    asks_accelerators: bool
    trains: bool
    lookalikes: Annotated[list[str], IF_ANY]


class PodSet(Shape):
    """One pod template. `changeable` is false if a change of it would not reach the pods.

    `operatorEnvironment` are the variables that the kind's operator sets itself; names that end in `*` are prefixes.
    """

    name: str
    path: str
    pods: Pods = attribute("count")
    requests: list[Request]
    scheduler: Scheduler
    scheduling_gates: list[str]
    containers: list[Container]
    operator_environment: Annotated[list[str], BeforeValidator(sorted)]
    changeable: bool


class Unknown(Shape):
    path: str
    field: Readable = attribute("path")
    reason: str


class Scaler(Shape):
    """Another object of the file that sets how many replicas this one may have, as this one counts them.

    `effective` is false if it has no effect: while it is paused, or if the kind has no number that it sets. The paths
    of its unknowns lead into it.
    """

    api_version: str
    kind: str = attribute("growth", "source", "kind")
    namespace: str = attribute("growth", "source", "namespace")
    name: str = attribute("growth", "source", "name")
    effective: bool
    minimum: int = attribute("growth", "minimum")
    maximum: IntegerIfKnown = attribute("growth", "maximum")
    reason: TextIfAny = attribute("growth", "reason")
    unknowns: list[Unknown] = attribute("growth", "unknowns")


class Pool(Shape):
    """Whether a pool of usher.yaml fits the pods, and why."""

    pool: str
    fits: bool
    reason: str


class Workload(Shape):
    """A workload. The scalers determine `pods`, `totals` and the `pods` of pod sets; `input` is the input of the
    policies.

    `template` is true for an object that makes pods only when another object refers to it: its numbers count one use.
    `line` is the first of the object's document.
    """

    source: str
    line: IntegerIfAny
    api_version: str = attribute("workload", "api_version")
    kind: str = attribute("workload", "kind")
    namespace: str = attribute("workload", "namespace")
    name: str = attribute("workload", "name")
    role: str = attribute("workload", "role")
    role_reason: TextIfAny = attribute("workload", "role_reason")
    owner: Annotated[Owner | None, IF_KNOWN] = attribute("workload", "owner")
    template: bool = attribute("workload", "is_template")
    suspended: bool = attribute("workload", "suspended")
    deleting: bool = attribute("workload", "deleting")
    gang: Gang = attribute("workload", "gang")
    pods: Pods = attribute("workload", "pods")
    totals: list[Total] = attribute("workload", "totals")
    scaled_by: list[Scaler] = attribute("scalers")
    pod_sets: list[PodSet] = attribute("workload", "pod_sets")
    pools: Annotated[dict[str, list[Pool]], IF_ANY]
    unknowns: list[Unknown] = attribute("workload", "unknowns")
    input: Annotated[Any, BeforeValidator(orjson.loads)]


class WorkloadList(Shape):
    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["WorkloadList"] = "WorkloadList"
    workloads: list[Workload]
