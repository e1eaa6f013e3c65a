"""ResourceQuotas and LimitRanges."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kept_fields import SPEC, keeping
from usher.kinds.kind import Facts, Kind
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


KINDS = [
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
        group="", kind="LimitRange", versions=("v1",), plural="limitranges", facts=Facts(keep=SPEC, changes_often=True)
    ),
]
