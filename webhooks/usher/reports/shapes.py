"""The shape of the JSON report, and so part of the interface: fields may be added, none is renamed or removed within
v1alpha1. Lines and columns count from 1 and are absent where there is no text.
"""

from typing import NotRequired

from typing_extensions import TypedDict

from usher import paths
from usher.mutation.editing import Operation


class Amount(TypedDict):
    """`unbounded`: at least so many, and nothing says how many more."""

    number: int | float
    unbounded: bool


class Pods(TypedDict):
    minimum: int
    maximum: int | None
    reason: NotRequired[str]


class Finding(TypedDict):
    check: str
    code: str
    name: str
    outcome: str
    path: str
    field: str
    message: str
    remedy: NotRequired[str]
    because: NotRequired[str]
    podSet: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]
    excerpt: NotRequired[str]


class Unknown(TypedDict):
    """Without `check`: a part of the object that could not be read."""

    check: NotRequired[str]
    path: str
    reason: str
    line: NotRequired[int]
    column: NotRequired[int]


class Intent(TypedDict):
    mutation: str
    at: str
    field: str
    value: paths.Json
    reason: str


class Skipped(Intent):
    skippedBecause: str
    warned: bool
    """Whether the webhook warns of it."""


class MutationWarning(TypedDict):
    mutation: str
    at: str
    reason: str


class Mutation(TypedDict):
    """`operations` is the JSON Patch that the webhook would answer with."""

    operations: list[Operation]
    applied: list[Intent]
    skipped: list[Skipped]
    conflicts: list[list[Intent]]
    warnings: list[MutationWarning]


class Identity(TypedDict):
    source: str
    line: NotRequired[int]
    apiVersion: str
    kind: str
    namespace: str
    name: str


class Workload(Identity):
    """`outcome` is the worst of the findings, or `unknown` where a part was not judged, or `clean`, or `exempt`."""

    role: str
    pods: Pods
    accelerators: dict[str, Amount]
    outcome: str
    findings: list[Finding]
    unknowns: list[Unknown]
    exemption: NotRequired[str]
    mutation: NotRequired[Mutation]


class Failure(Identity):
    reason: str


class Problem(TypedDict):
    source: str
    reason: str
    line: NotRequired[int]
    column: NotRequired[int]


class NotEvaluated(TypedDict):
    check: str
    code: str
    name: str
    reason: str
    workloads: int


class Summary(TypedDict):
    files: int
    objects: int
    workloads: int
    pods: Amount
    gpus: Amount
    gpusInWorkloadsWithErrors: Amount
    accelerators: dict[str, Amount]
    acceleratorsInWorkloadsWithErrors: dict[str, Amount]
    findings: dict[str, int]
    exempt: int
    owned: int
    finished: int
    ignored: int


class ExceptionUse(TypedDict):
    """An exception of usher.yaml; `state` is used, unused or expired."""

    checks: list[str]
    namespaces: list[str]
    ticket: str
    owner: str
    expires: str
    state: str
    findings: int


class Document(TypedDict):
    """`complete` is false when an input could not be read or an object not be judged: then no error proves nothing."""

    apiVersion: str
    kind: str
    command: str
    version: str
    origin: str
    configuration: dict[str, str]
    admitted: bool
    complete: bool
    summary: Summary
    workloads: list[Workload]
    notEvaluated: list[NotEvaluated]
    checksWithoutFacts: int
    """Checks that compare with a cluster, of which nothing was known."""
    exceptions: list[ExceptionUse]
    failures: list[Failure]
    problems: list[Problem]
    notes: list[dict[str, str]]
