"""Does a node fit a pod? Written straight after the API documentation, apart from the code under test."""

from collections.abc import Mapping, Sequence

from usher import paths

Labels = Mapping[str, str]


def fits(spec: Mapping[str, paths.Json], labels: Labels) -> bool:
    """Whether the scheduler would let a pod of this spec onto a node with these labels, the fields of nodes aside."""
    selector = spec.get("nodeSelector") or {}
    assert isinstance(selector, dict)
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity: paths.Json = spec.get("affinity")
    for key in ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
        affinity = affinity.get(key) if isinstance(affinity, dict) else None
    if affinity is None:
        return True
    assert isinstance(affinity, dict)
    terms = affinity["nodeSelectorTerms"]
    assert isinstance(terms, list)
    return any(isinstance(term, dict) and _term_fits(term, labels) for term in terms)


def _term_fits(term: Mapping[str, paths.Json], labels: Labels) -> bool:
    expressions = term.get("matchExpressions") or []
    assert isinstance(expressions, list)
    if not expressions:
        return bool(term.get("matchFields"))
    return all(isinstance(expression, dict) and _expression_fits(expression, labels) for expression in expressions)


def _expression_fits(expression: Mapping[str, paths.Json], labels: Labels) -> bool:
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or []
    assert isinstance(values, list)
    present = key in labels
    actual = labels.get(str(key), "")
    match operator:
        case "In":
            return present and actual in values
        case "NotIn":
            return not present or actual not in values
        case "Exists":
            return present
        case "DoesNotExist":
            return not present
        case "Gt" | "Lt":
            return present and _compares(actual, values, str(operator))
    return False


def _compares(actual: str, values: Sequence[paths.Json], operator: str) -> bool:
    if len(values) != 1 or not actual.isdecimal():
        return False
    bound = int(str(values[0]))
    return int(actual) > bound if operator == "Gt" else int(actual) < bound
