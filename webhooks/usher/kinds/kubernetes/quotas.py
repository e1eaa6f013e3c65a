"""ResourceQuotas."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.shapes import STRICT, Quantity


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


@with_config(STRICT)
class Objects(TypedDict):
    resourceQuota: NotRequired[ResourceQuota]


VIEWS = [
    View(
        group="",
        versions=("v1",),
        kind="ResourceQuota",
        plural="resourcequotas",
        key="resourceQuota",
        shape=TypeAdapter(ResourceQuota),
    ),
]
