"""Matches tolerations with taints (k8s.io/api core/v1 types.go, Toleration; docs/domain/nodes.md#tolerations)."""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from usher import paths

GUARDING = ("NoSchedule", "NoExecute")
"""Effects that keep pods off a node; PreferNoSchedule does not."""

# The syntax of numbers for Gt and Lt: no plus sign, no leading zeros (apimachinery content.IsDecimalInteger), 64 bits.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_INT64 = range(-(2**63), 2**63)


class Taint(Protocol):
    """A taint of a declared pool or of a node."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


_Taint = TypeVar("_Taint", bound=Taint)


def tolerates(toleration: Mapping[str, paths.Json], taint: Taint) -> bool:
    """Whether one toleration covers one taint.

    A missing effect covers every effect, a missing key (only legal with Exists) every key. Without an operator the
    values must be equal; a missing value is the empty one. Gt and Lt compare whole numbers, as the scheduler does with
    the feature gate TaintTolerationComparisonOperators; without it, the API server rejects the pod. A toleration that
    the API server would reject covers nothing: it has a field of a wrong type, or no key without Exists.
    """
    if not all(isinstance(toleration.get(field), str | None) for field in ("key", "operator", "value", "effect")):
        return False
    if toleration.get("effect") not in (None, "", taint.effect):
        return False
    key = toleration.get("key") or ""
    operator = toleration.get("operator") or "Equal"
    if key not in ("", taint.key):
        return False
    if operator == "Exists":
        return True
    if key == "":
        return False
    value = toleration.get("value") or ""
    if operator == "Equal":
        return value == taint.value
    if operator in ("Gt", "Lt"):
        return _compares(taint.value, str(value), operator)
    return False


def names_key(toleration: Mapping[str, paths.Json], key: str) -> bool:
    """Whether a toleration is for a taint, if only the key of the taint is known."""
    toleration_key = toleration.get("key")
    return toleration_key == key or (toleration_key in (None, "") and toleration.get("operator") == "Exists")


def untolerated(tolerations: Iterable[Mapping[str, paths.Json]], taints: Iterable[_Taint]) -> list[_Taint]:
    """The taints that keep a pod off; PreferNoSchedule does not."""
    tolerations = list(tolerations)
    return [
        taint
        for taint in taints
        if taint.effect in GUARDING and not any(tolerates(toleration, taint) for toleration in tolerations)
    ]


def _compares(taint_value: str, toleration_value: str, operator: str) -> bool:
    if not (_INTEGER.fullmatch(taint_value) and _INTEGER.fullmatch(toleration_value)):
        return False
    left, right = int(taint_value), int(toleration_value)
    if left not in _INT64 or right not in _INT64:
        return False
    return left > right if operator == "Gt" else left < right
