"""Matches label selectors of webhook configurations with the labels of a namespace.

Source: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.33/#labelselector-v1-meta
"""

from collections.abc import Mapping

from usher import paths


def selects(selector: paths.Json, labels: Mapping[str, str]) -> bool | None:
    """Whether a selector selects these labels. An empty one selects all. None if usher cannot read the selector."""
    if selector is None:
        return True
    if not isinstance(selector, dict):
        return None
    match, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    if not isinstance(match, dict) or not isinstance(expressions, list):
        return None
    found = [labels.get(key) == value for key, value in match.items()]
    for expression in expressions:
        held = _holds(expression, labels)
        if held is None:
            return None
        found.append(held)
    return all(found)


def _holds(expression: paths.Json, labels: Mapping[str, str]) -> bool | None:
    if not isinstance(expression, dict):
        return None
    key, values = expression.get("key"), expression.get("values") or []
    if not isinstance(key, str) or not isinstance(values, list):
        return None
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return None
