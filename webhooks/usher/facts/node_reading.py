"""Reads the fields of a Node that the scheduler looks at; the object may be of any shape.

Temporary states are left out: cordons, and the taints of Kubernetes itself, of autoscalers and of starting agents. A
node with seven healthy GPUs of eight counts as a node with eight.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from usher import errors, paths, quantities
from usher.dataclass import dataclass
from usher.model.placement import GUARDING

Amounts = Mapping[str, int]
"""Amounts by resource, as the scheduler counts: thousandths of a cpu, whole units of the rest. Missing means 0."""

PODS: Final = "pods"
"""The resource that counts the pods of a node."""

_MOMENTARY_TAINT: Final = re.compile(
    # k8s.io/api core/v1 well_known_taints.go, k8s.io/cloud-provider api/well_known_taints.go
    r"node\.kubernetes\.io/|node\.cloudprovider\.kubernetes\.io/"
    # kubernetes/autoscaler cluster-autoscaler/utils/taints/taints.go
    r"|ToBeDeletedByClusterAutoscaler$|(?:startup|status|ignore)-taint\.cluster-autoscaler\.kubernetes\.io/"
    # kubernetes-sigs/karpenter pkg/apis/v1/taints.go
    r"|karpenter\.sh/(?:disrupted|disruption|unregistered)$"
    # Cilium and the CSI drivers of AWS remove theirs once they run on the node.
    r"|[^/]*/agent-not-ready$"
)


class Taint(NamedTuple):
    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    """The lasting taints that keep pods off, sorted."""
    amounts: Amounts
    """The most that pods can be given, DaemonSets included."""


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    pass


def amount(resource: str, quantity: quantities.Quantity) -> int:
    """A quantity as the scheduler counts it (k8s.io/kubernetes pkg/scheduler/framework types.go, Resource.Add)."""
    return quantity.milli if resource == "cpu" else quantity.value


def name_of(value: paths.Object) -> str:
    """The name of an object; empty where the name is missing."""
    return paths.text(paths.metadata(value).get("name"))


def read(value: paths.Object) -> Node | str:
    """The node, or the reason why it cannot be read; usher concludes nothing from an unreadable node."""
    try:
        metadata, spec, status = (_mapping(value.get(key), key) for key in ("metadata", "spec", "status"))
        return Node(
            name=name_of(value),
            labels=_labels(metadata.get("labels")),
            taints=_taints(spec.get("taints")),
            amounts=_amounts(status),
        )
    except _Unreadable as error:
        return str(error)


def _labels(value: paths.Json) -> dict[str, str]:
    found = _mapping(value, "metadata.labels")
    for key, text in found.items():
        if not isinstance(text, str):
            raise _Unreadable(f"its label {key} is not a text")
    return {key: text for key, text in found.items() if isinstance(text, str)}


def _taints(value: paths.Json) -> tuple[Taint, ...]:
    if not isinstance(value, list | None):
        raise _Unreadable("spec.taints is not a list")
    found = set()
    for item in value or ():
        taint = _mapping(item, "an entry of spec.taints")
        key, text, effect = (taint.get(field) for field in ("key", "value", "effect"))
        if not isinstance(key, str) or not isinstance(text, str | None) or not isinstance(effect, str):
            raise _Unreadable("an entry of spec.taints has fields that are not texts")
        if effect in GUARDING and not _MOMENTARY_TAINT.match(key):
            found.add(Taint(key, text or "", effect))
    return tuple(sorted(found))


def _amounts(status: Mapping[str, paths.Json]) -> dict[str, int]:
    allocatable = _quantities(status.get("allocatable"), "status.allocatable")
    if not allocatable:
        raise _Unreadable("it has no status.allocatable")
    capacity = _quantities(status.get("capacity"), "status.capacity")
    for name, most in capacity.items():
        # Unhealthy devices recover, and a device plugin offers no device for a moment while it restarts.
        if "/" in name:
            allocatable[name] = max(most, allocatable.get(name, 0))
    # Zero pods is kept, because it means that no pod fits. For all other resources, missing means 0.
    return {name: most for name, most in sorted(allocatable.items()) if most > 0 or name == PODS}


def _quantities(value: paths.Json, where: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, text in _mapping(value, where).items():
        try:
            found[name] = amount(name, quantities.parse(text))
        except errors.QuantityError as error:
            raise _Unreadable(f"{name} in {where}: {error}") from error
    return found


_EMPTY: Final[Mapping[str, paths.Json]] = MappingProxyType({})


def _mapping(value: paths.Json, where: str) -> Mapping[str, paths.Json]:
    if value is None:
        return _EMPTY
    if not isinstance(value, dict):
        raise _Unreadable(f"{where} is not an object")
    return value
