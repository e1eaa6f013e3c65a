"""The shape of `usher queue --format json`, and so part of the interface: fields may be added, none is renamed or
removed within v1alpha1.

Amounts are texts of decimal digits, exact and without a suffix: `"64"`, `"0.5"`; of memory in bytes, of cpu in cores.
What does not apply or is not known is absent. An `answer` is `never`, `unknown`, `not now`, `could` or `fits now`.
"""

from typing import NotRequired

from typing_extensions import TypedDict


class PodSet(TypedDict):
    """`requests` are the accelerators of one pod."""

    name: str
    minimum: int
    maximum: NotRequired[int]
    requests: dict[str, str]


class Total(TypedDict):
    """What all pods together ask for; what nothing bounds has no `maximum`."""

    minimum: str
    maximum: NotRequired[str]


class Rank(TypedDict):
    """A priority class; `podSets` is absent where it is that of all."""

    kind: str
    name: str
    value: NotRequired[int]
    podSets: NotRequired[list[str]]
    byDefault: bool
    missing: bool
    given: bool


class Balance(TypedDict):
    """One resource of one giver: `most` could ever be given, of which `own` is not borrowed."""

    of: str
    resource: str
    asks: str
    most: NotRequired[str]
    own: NotRequired[str]
    reserved: NotRequired[str]
    free: NotRequired[str]


class Taken(TypedDict):
    podSet: str
    resources: list[str]
    flavor: str
    now: bool


class Elsewhere(TypedDict):
    queue: str
    clusterQueue: NotRequired[str]
    answer: str


class Holding(TypedDict):
    """Nodes that could hold one pod of a pod set, if they were empty; `grows` are pools of an autoscaler."""

    podSet: str
    answer: str
    nodes: int
    grows: list[str]
    nearest: NotRequired[str]
    missing: list[str]


class Section(TypedDict):
    """What one authority says. `given`: gpu-usher names the first of `way`, and the file does not."""

    authority: str
    answer: str
    way: list[str]
    given: bool
    reasons: list[str]
    balances: list[Balance]
    flavors: list[Taken]
    elsewhere: list[Elsewhere]
    nodes: list[Holding]


class Workload(TypedDict):
    place: str
    apiVersion: str
    kind: str
    namespace: str
    name: str
    answer: str
    podSets: list[PodSet]
    totals: dict[str, Total]
    given: list[str]
    priorities: list[Rank]
    authorities: list[Section]
    remedies: list[str]


class Document(TypedDict):
    apiVersion: str
    kind: str
    asWritten: bool
    workloads: list[Workload]
