"""Label selectors of Kubernetes' own objects (k8s.io/apimachinery meta/v1, LabelSelectorAsSelector)."""

from typing import Final

from usher import paths
from usher.scheduling import requirements
from usher.scheduling.requirements import Labels

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def matches(selector: paths.Json, labels: Labels) -> bool | None:
    """Whether a selector takes labels. None (null) takes nothing, an empty one everything.

    Returns:
        None where the selector is none that the API server would take.
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
    found = [requirements.read(expression) for expression in expressions]
    readable = [each for each in found if each is not None and requirements.is_for_labels(each)]
    if len(readable) < len(found) or any(each.operator not in _OPERATORS for each in readable):
        return None
    return all(labels.get(key) == (value or "") for key, value in equal.items()) and all(
        requirements.labels_match(each, labels) for each in readable
    )
