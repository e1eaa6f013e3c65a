"""Reads the part of a device that a claim requests: a MIG profile by its selectors, or memory by its capacity.

The capacity of a request only selects devices with that much, unless a device allows several allocations. Then the
request takes that much of it, rounded up by its driver's rules (k8s.io/api resource/v1 `CapacityRequirements`).
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple

from usher import paths
from usher.reading.values import Reading
from usher.workloads import class_selectors

# DeviceSelectorsMaxSize and CELSelectorExpressionMaxLength of k8s.io/api resource/v1/types.go.
_MAX_SELECTORS: Final = 32
_MAX_EXPRESSION: Final = 10_240


class Part(NamedTuple):
    """The part of each device that a request asks for."""

    selects: str = ""
    """The resource of the MIG profile that its selectors choose; empty if they do not name one."""
    memory: int | None = None
    """Bytes of device memory; None if the request does not give them."""


WHOLE: Final = Part()


def expressions(value: paths.Json, path: str, inner: Reading) -> list[str]:
    """The CEL expressions of a list of selectors, without those that are too long for Kubernetes."""
    found: list[str] = []
    for selector_path, selector in islice(inner.items(value, path), _MAX_SELECTORS):
        cel = inner.mapping(selector.get("cel"), selector_path + "/cel")
        found.append(inner.text(cel.get("expression"), selector_path + "/cel/expression")[:_MAX_EXPRESSION])
    return found


def of_request(request: Mapping[str, paths.Json], path: str, inner: Reading) -> Part:
    """The part that one request, or one of its alternatives, asks for."""
    texts = filter(class_selectors.is_plain, expressions(request.get("selectors"), path + "/selectors", inner))
    like = class_selectors.selected([*texts]).like
    capacity = inner.mapping(request.get("capacity"), path + "/capacity")
    amounts = inner.resources(capacity.get("requests"), path + "/capacity/requests")
    # A name without a domain has the domain of the driver.
    memory = [amount.value for name, amount in amounts.items() if name.rpartition("/")[2] == "memory"]
    return Part(like if "/" in like else "", max(memory, default=None))


def worst(parts: Iterable[Part]) -> Part:
    """The part that covers all alternatives of one device class; the whole device if they differ too much."""
    several = list(parts)
    memory = [part.memory for part in several if part.memory is not None]
    profiles = {part.selects for part in several}
    return Part(
        selects=profiles.pop() if len(profiles) == 1 else "",
        memory=max(memory, default=None) if len(memory) == len(several) else None,
    )
