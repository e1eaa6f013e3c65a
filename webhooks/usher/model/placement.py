"""Node selector requirements, taints and node affinity, as Kubernetes parses and applies them.

The rules are those of k8s.io/apimachinery pkg/labels (NewRequirement, Matches) and pkg/api/validate/content, and of
k8s.io/component-helpers scheduling/corev1/nodeaffinity (GetRequiredNodeAffinity). A term matches no node if one of its
requirements cannot be parsed. For nodes of a pool, usher knows only some labels: `pool_fit` matches those.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from usher import memo, model, paths

Labels = Mapping[str, str]

NAME_FIELD = "metadata.name"

_LABEL_NAME = memo.pattern(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_LABEL_PREFIX = memo.pattern(
    r"(?!.{254})[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*", re.ASCII
)

# The syntax of Go's ParseInt, with leading zeros, within the length of a label value.
_BOUND_INTEGER = memo.pattern(r"[+-]?[0-9]{1,63}", re.ASCII)
_INT64 = range(-(2**63), 2**63)


class Requirement(Struct, frozen=True, kw_only=True):
    key: str
    operator: str
    values: tuple[str, ...]


def read_requirement(expression: object) -> Requirement | None:
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
            return actual is not None and _label_compares(actual, values[0], operator)


def name_matches(requirement: Requirement, name: str) -> bool:
    """Whether a node with this name fulfils a requirement on fields. Every other field counts as empty."""
    actual = name if requirement.key == NAME_FIELD else ""
    return (actual == requirement.values[0]) is (requirement.operator == "In")


def is_label_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return _LABEL_NAME.fullmatch(name) is not None and (not slash or _LABEL_PREFIX.fullmatch(prefix) is not None)


def is_label_value(text: str) -> bool:
    return text == "" or _LABEL_NAME.fullmatch(text) is not None


def _label_compares(actual: str, bound: str, operator: str) -> bool:
    left, right = _integer(actual), _integer(bound)
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


def _integer(text: str) -> int | None:
    """The number that a text holds, if it fits into 64 bits."""
    if not _BOUND_INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def selector_matches(selector: paths.Json, labels: Labels) -> bool | None:
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
    found = [read_requirement(expression) for expression in expressions]
    readable = [each for each in found if each is not None and is_for_labels(each)]
    if len(readable) < len(found) or any(each.operator not in _OPERATORS for each in readable):
        return None
    return all(labels.get(key) == (value or "") for key, value in equal.items()) and all(
        labels_match(each, labels) for each in readable
    )


GUARDING = ("NoSchedule", "NoExecute")
"""Effects that keep pods off a node; PreferNoSchedule does not."""

# The syntax of numbers for Gt and Lt: no plus sign, no leading zeros (apimachinery content.IsDecimalInteger), 64 bits.
_TAINT_INTEGER = memo.pattern(r"0|-?[1-9][0-9]{0,18}", re.ASCII)


REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
"""The part of an affinity that binds the scheduler."""


class Taint(Protocol):
    """A taint of a declared pool or of a node."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


class NodeTaint(NamedTuple):
    """A taint of a node."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


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
        return _taint_compares(taint.value, str(value), operator)
    return False


def tolerates_key(toleration: Mapping[str, paths.Json], key: str) -> bool:
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


def _taint_compares(taint_value: str, toleration_value: str, operator: str) -> bool:
    if not (_TAINT_INTEGER.fullmatch(taint_value) and _TAINT_INTEGER.fullmatch(toleration_value)):
        return False
    left, right = int(taint_value), int(toleration_value)
    if left not in _INT64 or right not in _INT64:
        return False
    return left > right if operator == "Gt" else left < right


class Term(NamedTuple):
    """One term of required node affinity: a node must meet all of its requirements."""

    on_labels: list[Requirement]
    on_fields: list[Requirement]


def node_matches(pod_set: model.PodSet, *, labels: Labels, name: str) -> bool:
    """Whether node selector and required affinity allow the pods on a node with this name and exactly these labels.

    A term that is empty or that cannot be parsed matches no node.
    """
    if any(labels.get(key) != value for key, value in pod_set.node_selector.items()):
        return False
    if not pod_set.has_required_affinity:
        return True
    return any(term_matches(term, labels=labels, name=name) for term in pod_set.required_terms)


def parse_term(term: Mapping[str, paths.Json]) -> Term | None:
    """The requirements of a term; None if it matches no node, because it is empty or cannot be parsed."""
    on_labels = _parse_requirements(term.get("matchExpressions"), is_for_labels)
    on_fields = _parse_requirements(term.get("matchFields"), is_for_fields)
    if on_labels is None or on_fields is None or not (on_labels or on_fields):
        return None
    return Term(on_labels, on_fields)


def term_matches(term: Mapping[str, paths.Json], *, labels: Labels, name: str) -> bool:
    """Whether a node of this name with exactly these labels meets a term of required affinity."""
    found = parse_term(term)
    if found is None:
        return False
    # The code of Kubernetes skips fields for a node without a name.
    return all(labels_match(requirement, labels) for requirement in found.on_labels) and (
        not name or all(name_matches(requirement, name) for requirement in found.on_fields)
    )


def _parse_requirements(expressions: paths.Json, is_legal: Callable[[Requirement], bool]) -> list[Requirement] | None:
    """The requirements of one list; None if one of them cannot be parsed."""
    if not isinstance(expressions, list | None):
        return None
    found: list[Requirement] = []
    for expression in expressions or ():
        requirement = read_requirement(expression)
        if requirement is None or not is_legal(requirement):
            return None
        found.append(requirement)
    return found
