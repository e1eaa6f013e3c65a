"""Constraints: the objects that each is about (`spec.match`), its parameters, and what a violation means.

An empty criterion matches everything, and an object must meet all criteria. usher never guesses the labels of an
unknown Namespace: then it is unknown whether the constraint matches.

The schema is OpenAPI v3 as in a CustomResourceDefinition. A wrong schema refuses nothing: Gatekeeper and the API server
report it when the template is applied.

The actions are those of Gatekeeper (pkg/util/enforcement_action.go). A constraint with `scoped` has actions for each
enforcement point: the webhook, the audit, the command line.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec import Struct

from usher import model, paths
from usher.extensions.gatekeeper.constraint_templates import Fields, Written, group_and_kind, kind_in_words, top_fields
from usher.model import placement

_DEEPEST: Final = 64
"""Levels of a schema that usher reads; deeper ones are ignored."""

_TYPES: Final[Mapping[str, tuple[str, tuple[type, ...]]]] = {
    "object": ("a mapping", (dict,)),
    "array": ("a list", (list,)),
    "string": ("a text", (str,)),
    "boolean": ("true or false", (bool,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
}
"""The words for a type of a schema, and its types in Python."""


def parameter_problem(value: paths.Json, schema: paths.Json, *, path: str = "spec.parameters") -> str:
    """The first field that does not fit, with the reason; empty if all fit."""
    return next(_problems(value, schema, path, _DEEPEST), "")


def with_defaults(value: paths.Json, schema: paths.Json, *, depth: int = _DEEPEST) -> paths.Json:
    """A value with the defaults of the schema for missing fields, and for nulls that the schema does not allow.

    The API server and gator do the same (apiextensions-apiserver, pkg/apiserver/schema/defaulting).
    """
    if not isinstance(schema, dict) or depth == 0:
        return value
    if isinstance(value, list):
        items = schema.get("items")
        return [with_defaults(_or_default(item, items), items, depth=depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    known = properties if isinstance(properties, dict) else {}
    made = {name: _or_default(item, known.get(name, others)) for name, item in value.items()}
    for name, inner in known.items():
        if name not in made and isinstance(inner, dict) and inner.get("default") is not None:
            made[name] = inner["default"]
    return {name: with_defaults(item, known.get(name, others), depth=depth - 1) for name, item in made.items()}


def _or_default(value: paths.Json, schema: paths.Json) -> paths.Json:
    if value is None and isinstance(schema, dict) and schema.get("nullable") is not True:
        return schema.get("default")
    return value


def _problems(value: paths.Json, schema: paths.Json, path: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth == 0 or (value is None and schema.get("nullable") is True):
        return
    kind = paths.text(schema.get("type"))
    if schema.get("x-kubernetes-int-or-string") is True:
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield f"{path}: must be a whole number or a text, and is {kind_in_words(value)}"
        return
    if kind in _TYPES and not _is_of_type(value, kind):
        yield f"{path}: must be {_TYPES[kind][0]}, and is {kind_in_words(value)}"
        return
    yield from _limits(value, schema, path)
    yield from _combined(value, schema, path, depth)
    if isinstance(value, dict):
        yield from _field_problems(value, schema, path, depth)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, schema.get("items"), f"{path}[{index}]", depth - 1)


def _is_of_type(value: paths.Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind][1])


def _field_problems(value: paths.Object, schema: paths.Object, path: str, depth: int) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            yield f"{path}.{name}: is missing"
    for name, item in value.items():
        inner = known.get(name, schema.get("additionalProperties"))
        yield from _problems(item, inner, f"{path}.{name}", depth - 1)


def _limits(value: paths.Json, schema: paths.Object, path: str) -> Iterator[str]:
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        yield f"{path}: must be one of {', '.join(map(str, allowed))}"[:400]
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum"), schema.get("maximum")
        if isinstance(least, int | float) and (
            value < least or (value == least and schema.get("exclusiveMinimum") is True)
        ):
            yield f"{path}: must be {least} or more"
        if isinstance(most, int | float) and (
            value > most or (value == most and schema.get("exclusiveMaximum") is True)
        ):
            yield f"{path}: must be {most} or less"
    for sized, least_name, most_name, unit in (
        (str, "minLength", "maxLength", "characters"),
        (list, "minItems", "maxItems", "items"),
        (dict, "minProperties", "maxProperties", "fields"),
    ):
        if isinstance(value, sized):
            fewest, greatest = schema.get(least_name), schema.get(most_name)
            if isinstance(fewest, int) and len(value) < fewest:
                yield f"{path}: must have {fewest} {unit} or more"
            if isinstance(greatest, int) and len(value) > greatest:
                yield f"{path}: must have {greatest} {unit} or fewer"
    pattern = schema.get("pattern")
    if isinstance(value, str) and isinstance(pattern, str) and _misses(pattern, value):
        yield f"{path}: must match {pattern:.100}"


def _misses(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is None
    except re.error:
        return False  # Go's syntax, which the API server has checked


def _combined(value: paths.Json, schema: paths.Object, path: str, depth: int) -> Iterator[str]:
    def fitting(name: str) -> list[bool]:
        inner = schema.get(name)
        each = inner if isinstance(inner, list) else []
        return [not next(_problems(value, one, path, depth - 1), "") for one in each]

    if not all(fitting("allOf")):
        yield f"{path}: does not fit every schema of allOf"
    if (found := fitting("anyOf")) and not any(found):
        yield f"{path}: fits no schema of anyOf"
    if (found := fitting("oneOf")) and sum(found) != 1:
        yield f"{path}: must fit one schema of oneOf, and fits {sum(found)}"
    denied = schema.get("not")
    if isinstance(denied, dict) and not next(_problems(value, denied, path, depth - 1), ""):
        yield f"{path}: fits the schema of not"


SOURCES: Final = ("All", "Generated", "Original")

_FIELDS: Final = frozenset(
    {
        "source",
        "kinds",
        "scope",
        "namespaces",
        "excludedNamespaces",
        "labelSelector",
        "namespaceSelector",
        "name",
    }
)
_MOST_CRITERIA: Final = 10_000
_ANY: Final = "*"


class Kinds(Struct, frozen=True, kw_only=True):
    """Groups and kinds; an empty list and `*` mean all."""

    groups: tuple[str, ...]
    kinds: tuple[str, ...]


class Match(Struct, frozen=True, kw_only=True):
    """The criteria of a constraint; without criteria it matches every object."""

    kinds: tuple[Kinds, ...] = ()
    scope: str = ""
    namespaces: tuple[str, ...] = ()
    excluded_namespaces: tuple[str, ...] = ()
    label_selector: paths.Json = None
    namespace_selector: paths.Json = None
    name: str = ""
    source: str = ""

    @property
    def only_by_name(self) -> bool:
        """Whether the namespaceSelector selects only by names, which the API server sets as labels of Namespaces."""
        selector = self.namespace_selector
        if not isinstance(selector, dict):
            return False
        equal, expressions = selector.get("matchLabels"), selector.get("matchExpressions")
        keys = list(equal) if isinstance(equal, dict) else []
        each = expressions if isinstance(expressions, list) else []
        return {*keys, *(one.get("key") for one in each if isinstance(one, dict))} <= {paths.NAMESPACE_NAME_LABEL}


class Subject(Struct, frozen=True, kw_only=True):
    """An object, and its Namespace."""

    value: paths.Object
    namespace: paths.Object | None = None
    """The object of its Namespace; None for an object without one, and if it is unknown."""
    generated: bool = False
    """Whether it comes from a template of another object."""


def read_match(fields: Fields) -> Match:
    """The criteria in `spec.match`.

    Raises:
        InputError: a criterion has the wrong type, or usher does not know it.
    """
    for name in fields.values:
        if name not in _FIELDS:
            raise fields.wrong(name[:80], f"usher does not know this criterion; it knows {', '.join(sorted(_FIELDS))}")
    source = fields.text("source")
    if source and source not in SOURCES:
        raise fields.wrong("source", f"must be one of {', '.join(SOURCES)}")
    return Match(
        kinds=tuple(
            Kinds(groups=each.texts("apiGroups", most=_MOST_CRITERIA), kinds=each.texts("kinds", most=_MOST_CRITERIA))
            for each in fields.mappings("kinds", most=_MOST_CRITERIA)
        ),
        scope=fields.text("scope"),
        namespaces=fields.texts("namespaces", most=_MOST_CRITERIA),
        excluded_namespaces=fields.texts("excludedNamespaces", most=_MOST_CRITERIA),
        label_selector=_selector(fields, "labelSelector"),
        namespace_selector=_selector(fields, "namespaceSelector"),
        name=fields.text("name"),
        source=source,
    )


def _selector(fields: Fields, name: str) -> paths.Json:
    selector = fields.get(name)
    if selector is not None and placement.selector_matches(selector, {}) is None:
        raise fields.wrong(name, "is not a label selector; use matchLabels and matchExpressions")
    return selector


def matches(match: Match, subject: Subject) -> bool | None:
    """Whether a constraint matches an object; None if unknown labels of its Namespace decide."""
    value = subject.value
    certain = (
        _kinds(match, value)
        and _scope(match, subject)
        and _namespaces(match, subject)
        and (match.label_selector is None or bool(placement.selector_matches(match.label_selector, text_labels(value))))
        and _name(match.name, value)
        and match.source in ("", "All", "Generated" if subject.generated else "Original")
    )
    return _namespace_labels(match, subject) if certain else False


def _kinds(match: Match, value: paths.Object) -> bool:
    group, kind = group_and_kind(value)
    return not match.kinds or any(_listed(kind, each.kinds) and _listed(group, each.groups) for each in match.kinds)


def _listed(name: str, among: tuple[str, ...]) -> bool:
    return not among or _ANY in among or name in among


def _scope(match: Match, subject: Subject) -> bool:
    namespaced = not is_namespace(subject.value) and bool(_namespace(subject.value) or subject.namespace is not None)
    match match.scope:
        case "Cluster":
            return not namespaced
        case "Namespaced":
            return namespaced
    return True


def _namespaces(match: Match, subject: Subject) -> bool:
    """Whether the namespace lists match.

    Cluster-scoped objects other than Namespaces match every list, and no exclusion.
    """
    if is_namespace(subject.value):
        name = _metadata_text(subject.value, "name")
    elif subject.namespace is not None:
        name = _metadata_text(subject.namespace, "name")
    else:
        name = _namespace(subject.value)
        if not name:
            return True
    if match.namespaces and not any(fits_pattern(pattern, name) for pattern in match.namespaces):
        return False
    return not any(fits_pattern(pattern, name) for pattern in match.excluded_namespaces)


def _namespace_labels(match: Match, subject: Subject) -> bool | None:
    if match.namespace_selector is None:
        return True
    if is_namespace(subject.value):
        return _namespace_fits(match.namespace_selector, subject.value)
    if subject.namespace is not None:
        return _namespace_fits(match.namespace_selector, subject.namespace)
    name = _namespace(subject.value)
    if not name:
        return True
    labels = {paths.NAMESPACE_NAME_LABEL: name}
    return placement.selector_matches(match.namespace_selector, labels) if match.only_by_name else None


def _namespace_fits(selector: paths.Json, value: paths.Object) -> bool:
    labels = {**text_labels(value), paths.NAMESPACE_NAME_LABEL: _metadata_text(value, "name")}
    return bool(placement.selector_matches(selector, labels))


def _name(pattern: str, value: paths.Object) -> bool:
    if not pattern:
        return True
    prefix = _metadata_text(value, "generateName")
    return fits_pattern(pattern, _metadata_text(value, "name")) or (
        pattern.endswith(_ANY) and fits_pattern(pattern, prefix)
    )


def fits_pattern(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern: one asterisk at its start, at its end, or at both, matches any text."""
    if pattern.startswith(_ANY) and pattern.endswith(_ANY):
        return pattern.removeprefix(_ANY).removesuffix(_ANY) in name
    if pattern.startswith(_ANY):
        return name.endswith(pattern.removeprefix(_ANY))
    if pattern.endswith(_ANY):
        return name.startswith(pattern.removesuffix(_ANY))
    return name == pattern


def is_namespace(value: paths.Object) -> bool:
    return group_and_kind(value) == ("", "Namespace")


def text_labels(value: paths.Object) -> Mapping[str, str]:
    """The labels of an object that are texts."""
    found = paths.metadata(value).get("labels")
    return {key: text for key, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def _namespace(value: paths.Object) -> str:
    return _metadata_text(value, "namespace")


def _metadata_text(value: paths.Object, name: str) -> str:
    return paths.text(paths.metadata(value).get(name))


GROUP: Final = "constraints.gatekeeper.sh"

WEBHOOK: Final = "validation.gatekeeper.sh"
AUDIT: Final = "audit.gatekeeper.sh"
COMMAND: Final = "gator.gatekeeper.sh"
_POINTS: Final = (WEBHOOK, AUDIT, COMMAND, "vap.k8s.io", "*")

_OUTCOMES: Final = {"deny": model.Outcome.DENY, "warn": model.Outcome.WARN, "dryrun": model.Outcome.AUDIT}
_SCOPED: Final = "scoped"
_MOST_ACTIONS: Final = 1000


class Constraint(Struct, frozen=True, kw_only=True):
    kind: str
    """The kind of the constraint, which its template defines."""
    name: str
    match: Match
    parameters: paths.Object
    has_parameters: bool = True
    """Whether the constraint has the field; the schema of a template applies only to the field."""
    actions: tuple[tuple[str, model.Outcome], ...]
    """Enforcement points and the outcome of a violation there; `*` means every point."""
    place: str = ""
    value: paths.Object
    """The object, as written."""

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.name}"

    def outcome(self, points: Collection[str]) -> model.Outcome | None:
        """The worst outcome of a violation at any of these points; None if the constraint does not apply there."""
        found = {outcome for point, outcome in self.actions if point == "*" or point in points}
        return next((outcome for outcome in model.Outcome if outcome in found), None)


def is_constraint(value: paths.Object) -> bool:
    return group_and_kind(value)[0] == GROUP


def read_constraint(written: Written) -> Constraint:
    """The constraint in an object.

    Raises:
        InputError: Gatekeeper would refuse it, or it has a criterion or an action that usher does not know.
    """
    fields = top_fields(written)
    spec = fields.mapping("spec")
    parameters = spec.get("parameters")
    return Constraint(
        kind=fields.required("kind"),
        name=fields.mapping("metadata").required("name"),
        match=read_match(spec.mapping("match")),
        has_parameters=parameters is not None,
        parameters=parameters if isinstance(parameters, dict) else dict(spec.mapping("parameters").values),
        actions=_actions(spec),
        place=written.place,
        value=written.value,
    )


def _actions(spec: Fields) -> tuple[tuple[str, model.Outcome], ...]:
    action = spec.text("enforcementAction", "deny") or "deny"
    if action != _SCOPED:
        return (("*", _outcome(spec, "enforcementAction", action, also=(_SCOPED,))),)
    scoped = spec.mappings("scopedEnforcementActions", most=_MOST_ACTIONS)
    if not scoped:
        raise spec.wrong("scopedEnforcementActions", "is missing; enforcementAction: scoped needs it")
    found = []
    for each in scoped:
        outcome = _outcome(each, "action", each.required("action"))
        for point in each.mappings("enforcementPoints", most=_MOST_ACTIONS):
            name = point.required("name")
            if name not in _POINTS:
                raise point.wrong("name", f"must be one of {', '.join(_POINTS)}")
            found.append((name, outcome))
    return tuple(found)


def _outcome(fields: Fields, name: str, action: str, *, also: tuple[str, ...] = ()) -> model.Outcome:
    if action not in _OUTCOMES:
        raise fields.wrong(name, f"{action!r:.40} is no action of Gatekeeper; use {', '.join((*_OUTCOMES, *also))}")
    return _OUTCOMES[action]
