"""Kinds of Kubernetes that limit pods: quotas, priority classes, namespaces, disruption budgets."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kind import KEEP_SPEC, Facts, Kind, keeping
from usher.kinds.reading.shapes import STRICT, IntOrString, Metadata, Quantity


@with_config(STRICT)
class ScopeRequirement(TypedDict):
    scopeName: NotRequired[str]


@with_config(STRICT)
class ScopeSelector(TypedDict):
    matchExpressions: NotRequired[list[ScopeRequirement]]


@with_config(STRICT)
class ResourceQuotaSpec(TypedDict):
    hard: NotRequired[dict[str, Quantity]]
    scopes: NotRequired[list[str]]
    scopeSelector: NotRequired[ScopeSelector]


@with_config(STRICT)
class ResourceQuota(TypedDict):
    spec: NotRequired[ResourceQuotaSpec]


QUOTAS = [
    Kind(
        group="",
        kind="ResourceQuota",
        versions=("v1",),
        plural="resourcequotas",
        key="resourceQuota",
        shape=ResourceQuota,
        facts=Facts(
            keep=keeping("/spec", "/status/hard", "/status/used"), momentary=frozenset({"used"}), changes_often=True
        ),
    ),
    Kind(
        group="",
        kind="LimitRange",
        versions=("v1",),
        plural="limitranges",
        facts=Facts(keep=KEEP_SPEC, changes_often=True),
    ),
]


@with_config(STRICT)
class PriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    globalDefault: NotRequired[bool]
    preemptionPolicy: NotRequired[str]


PRIORITY_CLASSES = [
    Kind(
        group="scheduling.k8s.io",
        kind="PriorityClass",
        versions=("v1",),
        plural="priorityclasses",
        cluster_scoped=True,
        key="priorityClass",
        shape=PriorityClass,
        facts=Facts(keep=keeping("/value", "/globalDefault", "/preemptionPolicy")),
    ),
]


@with_config(STRICT)
class NamespaceMetadata(TypedDict):
    name: NotRequired[str]


@with_config(STRICT)
class Namespace(TypedDict):
    metadata: NotRequired[NamespaceMetadata]


NAMESPACES = [
    Kind(
        group="",
        kind="Namespace",
        versions=("v1",),
        plural="namespaces",
        cluster_scoped=True,
        own_webhook=True,
        key="namespace",
        shape=Namespace,
        facts=Facts(keep=keeping()),
    ),
]


@with_config(STRICT)
class DisruptionBudgetSpec(TypedDict):
    minAvailable: NotRequired[IntOrString]
    maxUnavailable: NotRequired[IntOrString]


@with_config(STRICT)
class DisruptionBudgetStatus(TypedDict):
    desiredHealthy: NotRequired[int]
    expectedPods: NotRequired[int]


@with_config(STRICT)
class DisruptionBudget(TypedDict):
    spec: NotRequired[DisruptionBudgetSpec]
    status: NotRequired[DisruptionBudgetStatus]


DISRUPTION_BUDGETS = [
    Kind(
        group="policy",
        kind="PodDisruptionBudget",
        versions=("v1",),
        plural="poddisruptionbudgets",
        key="disruptionBudget",
        shape=DisruptionBudget,
    ),
]


DEFINITIONS = [
    Kind(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        versions=("v1",),
        plural="customresourcedefinitions",
        cluster_scoped=True,
        facts=Facts(keep=keeping(), presence_only=True),
    ),
]
