"""The shape of `usher workload show -o json`, and so part of the interface: fields may be added, none is renamed or
removed within v1alpha1.

Quantities are texts of decimal digits, exact and without a suffix: `"64"`, `"0.5"`. Paths are JSON Pointers into the
object. What has no bound has no `maximum`; a `reason` says why a maximum is missing or other than the minimum. What
does not apply is absent.
"""

from typing import NotRequired

from typing_extensions import TypedDict

from usher import paths


class Pods(TypedDict):
    minimum: int
    maximum: NotRequired[int]
    reason: NotRequired[str]


class Total(TypedDict):
    """What all pods together ask for; `unit` is `MiB` or the like where the name counts memory."""

    name: str
    route: str
    unit: NotRequired[str]
    minimum: str
    maximum: NotRequired[str]
    reason: NotRequired[str]


class Request(Total):
    """What one pod asks for; pods that name one `claim` share it."""

    path: str
    claim: NotRequired[str]


class Owner(TypedDict):
    group: str
    kind: str
    name: str


class Gang(TypedDict):
    """Whether the pods have to start together, what makes them, and how many have to be there."""

    wanted: bool
    formedBy: NotRequired[str]
    minimum: NotRequired[int]


class Scheduler(TypedDict):
    """Who places the pods; `reason` where the template does not name it."""

    name: str
    reason: NotRequired[str]


class Container(TypedDict):
    """`trains`: it does the pod's work, and gets what is injected for training."""

    name: str
    type: str
    path: str
    requests: dict[str, str]
    limits: dict[str, str]
    asksAccelerators: bool
    trains: bool
    lookalikes: NotRequired[list[str]]
    """Resources that nobody has called accelerators, but which look like some."""


class PodSet(TypedDict):
    """One pod template. `changeable` is false where a change of it would not reach the pods."""

    name: str
    path: str
    pods: Pods
    requests: list[Request]
    scheduler: Scheduler
    schedulingGates: list[str]
    containers: list[Container]
    operatorEnvironment: list[str]
    """Variables that the kind's operator sets itself; names ending in `*` are prefixes."""
    changeable: bool


class Unknown(TypedDict):
    path: str
    field: str
    reason: str


class Scaler(TypedDict):
    """Another object of the file that says how many replicas this one may have, as this one counts them.

    `effective` is false where it changes nothing: while it is paused, or where the kind has no number that it sets.
    The paths of its unknowns lead into it.
    """

    apiVersion: str
    kind: str
    namespace: str
    name: str
    effective: bool
    minimum: int
    maximum: NotRequired[int]
    reason: NotRequired[str]
    unknowns: list[Unknown]


class Workload(TypedDict):
    """`pods`, `totals` and the `pods` of pod sets are those that the scalers allow; `input` is what the policies see.

    `template` is true for what makes pods only when something else refers to it: its numbers are those of one use.
    `line` is the first of the object's document.
    """

    source: str
    line: NotRequired[int]
    apiVersion: str
    kind: str
    namespace: str
    name: str
    role: str
    owner: NotRequired[Owner]
    template: bool
    suspended: bool
    deleting: bool
    gang: Gang
    pods: Pods
    totals: list[Total]
    scaledBy: list[Scaler]
    podSets: list[PodSet]
    unknowns: list[Unknown]
    input: paths.Json


class Document(TypedDict):
    apiVersion: str
    kind: str
    workloads: list[Workload]
