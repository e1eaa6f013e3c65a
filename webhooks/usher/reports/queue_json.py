"""The outlooks of `usher queue` for programs.

A field is absent where it does not apply or is not known. An `answer` is `never`, `unknown`, `not now`, `could` or
`fits now`.
"""

from collections.abc import Iterable
from typing import Annotated, Literal, TextIO

from pydantic import BeforeValidator

from usher import model, quantities
from usher.reports import json_shape
from usher.reports.json_shape import (
    API_VERSION,
    IF_ANY,
    Bounded,
    BoundedIfKnown,
    Exact,
    ExactIfKnown,
    Shape,
    TextIfAny,
    attribute,
)
from usher.reports.queue_text import ShownOutlook


def write(shown: Iterable[ShownOutlook], stream: TextIO, /, *, as_written: bool) -> None:
    """Writes the outlooks as one JSON document."""
    found = {"as_written": as_written, "workloads": list(shown)}
    json_shape.write(QueueOutlook.model_validate(found), stream)


def _amounts(requests: Iterable[model.AcceleratorRequest]) -> dict[str, quantities.Quantity]:
    return {request.name: request.minimum for request in requests}


def _by_name(totals: Iterable[model.Total]) -> dict[str, model.Total]:
    return {total.name: total for total in totals}


class PodSet(Shape):
    """`requests` are the accelerators of one pod."""

    name: str
    minimum: Bounded = attribute("count", "minimum")
    maximum: BoundedIfKnown = attribute("count", "maximum")
    requests: Annotated[dict[str, Exact], BeforeValidator(_amounts)]


class Total(Shape):
    """What all pods together ask for; without `maximum` where nothing bounds it."""

    minimum: Exact
    maximum: ExactIfKnown


class Rank(Shape):
    """A priority class; without `podSets` it is the one of all pod sets."""

    kind: str
    name: str
    value: BoundedIfKnown
    pod_sets: Annotated[list[str], IF_ANY] = attribute("of")
    by_default: bool
    missing: bool
    given: bool


class Balance(Shape):
    """One resource of one flavor or quota: `most` is what it could ever give, `own` what of it is not borrowed."""

    of: str
    resource: str
    asks: Exact
    most: ExactIfKnown
    own: ExactIfKnown
    reserved: ExactIfKnown = attribute("used")
    free: ExactIfKnown


class Flavor(Shape):
    """The flavor that pods would get; `now` where it has room now."""

    pod_set: str
    resources: list[str]
    flavor: str
    now: bool


class Elsewhere(Shape):
    """Another queue that the workload could use."""

    queue: str
    cluster_queue: TextIfAny = attribute("behind")
    answer: str


class Nodes(Shape):
    """Nodes that could hold one pod of a pod set, if they were empty; `grows` are pools of an autoscaler."""

    pod_set: str
    answer: str
    nodes: int
    grows: list[str]
    nearest: TextIfAny
    missing: list[str]


class Section(Shape):
    """What one authority says; `given` where gpu-usher names the first queue of `way`, and the file does not."""

    authority: str
    answer: str
    way: list[str]
    given: bool
    reasons: list[str]
    balances: list[Balance]
    flavors: list[Flavor] = attribute("taken")
    elsewhere: list[Elsewhere]
    nodes: list[Nodes] = attribute("holding")


class Workload(Shape):
    place: str
    api_version: str = attribute("outlook", "workload", "api_version")
    kind: str = attribute("outlook", "workload", "kind")
    namespace: str = attribute("outlook", "workload", "namespace")
    name: str = attribute("outlook", "workload", "name")
    answer: str = attribute("outlook", "answer")
    pod_sets: list[PodSet] = attribute("outlook", "workload", "pod_sets")
    totals: Annotated[dict[str, Total], BeforeValidator(_by_name)] = attribute("outlook", "workload", "totals")
    given: list[str] = attribute("outlook", "given")
    priorities: list[Rank] = attribute("outlook", "ranks")
    authorities: list[Section] = attribute("outlook", "sections")
    remedies: list[str] = attribute("outlook", "remedies")


class QueueOutlook(Shape):
    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["QueueOutlook"] = "QueueOutlook"
    as_written: bool
    workloads: list[Workload]
