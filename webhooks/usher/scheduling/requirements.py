"""Node selector requirements: one entry of matchExpressions or matchFields, as Kubernetes parses and applies it.

The rules are those of k8s.io/apimachinery pkg/labels (NewRequirement, Matches) and pkg/api/validate/content, and of
k8s.io/component-helpers scheduling/corev1/nodeaffinity. A term matches no node if one of its requirements cannot be
parsed.
"""

import re
from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.dataclass import dataclass

Labels = Mapping[str, str]

NAME_FIELD = "metadata.name"

_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_LABEL_PREFIX = re.compile(r"(?!.{254})[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*", re.ASCII)

# The syntax of Go's ParseInt, with leading zeros, within the length of a label value.
_INTEGER = re.compile(r"[+-]?[0-9]{1,63}", re.ASCII)
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    key: str
    operator: str
    values: tuple[str, ...]


def read(expression: object) -> Requirement | None:
    """A requirement of a manifest, in which null means empty; None if a type is wrong."""
    if expression is None:
        return Requirement(key="", operator="", values=())
    if not isinstance(expression, dict):
        return None
    key, operator, values = (expression.get(field) for field in ("key", "operator", "values"))
    if not isinstance(key, str | None) or not isinstance(operator, str | None) or not isinstance(values, list | None):
        return None
    texts = tuple("" if value is None else value for value in values or () if isinstance(value, str | None))
    if len(texts) != len(values or ()):
        return None
    return Requirement(key=key or "", operator=operator or "", values=texts)


def is_for_labels(requirement: Requirement) -> bool:
    """Whether it can be parsed as a requirement on labels."""
    values = requirement.values
    match requirement.operator:
        case "In" | "NotIn":
            fitting = bool(values)
        case "Exists" | "DoesNotExist":
            fitting = not values
        case "Gt" | "Lt":
            fitting = len(values) == 1 and _integer(values[0]) is not None
        case _:
            fitting = False
    return fitting and is_label_key(requirement.key) and all(map(is_label_value, values))


def is_for_fields(requirement: Requirement) -> bool:
    """Whether it can be parsed as a requirement on fields."""
    return requirement.operator in ("In", "NotIn") and len(requirement.values) == 1


def labels_match(requirement: Requirement, labels: Labels) -> bool:
    """Whether a node with exactly these labels fulfils a requirement that can be parsed."""
    actual, values = labels.get(requirement.key), requirement.values
    match requirement.operator:
        case "In":
            return actual in values
        case "NotIn":
            return actual not in values
        case "Exists":
            return actual is not None
        case "DoesNotExist":
            return actual is None
        case operator:
            return actual is not None and _compares(actual, values[0], operator)


def name_matches(requirement: Requirement, name: str) -> bool:
    """Whether a node with this name fulfils a requirement on fields. Every other field counts as empty."""
    actual = name if requirement.key == NAME_FIELD else ""
    return (actual == requirement.values[0]) is (requirement.operator == "In")


def is_label_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return _LABEL_NAME.fullmatch(name) is not None and (not slash or _LABEL_PREFIX.fullmatch(prefix) is not None)


def is_label_value(text: str) -> bool:
    return text == "" or _LABEL_NAME.fullmatch(text) is not None


def _compares(actual: str, bound: str, operator: str) -> bool:
    left, right = _integer(actual), _integer(bound)
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


def _integer(text: str) -> int | None:
    """The number that a text holds, if it fits into 64 bits."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def matches(selector: paths.Json, labels: Labels) -> bool | None:
    """Whether a selector matches labels. None (null) matches nothing, an empty one everything.

    Returns:
        None if the API server would reject the selector.
    """
    if selector is None:
        return False
    if not isinstance(selector, dict):
        return None
    equal, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    if not isinstance(equal, dict) or not isinstance(expressions, list):
        return None
    if not all(isinstance(value, str | None) for value in equal.values()):
        return None
    found = [read(expression) for expression in expressions]
    readable = [each for each in found if each is not None and is_for_labels(each)]
    if len(readable) < len(found) or any(each.operator not in _OPERATORS for each in readable):
        return None
    return all(labels.get(key) == (value or "") for key, value in equal.items()) and all(
        labels_match(each, labels) for each in readable
    )
