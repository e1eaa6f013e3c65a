"""Which objects a constraint matches: `spec.match`, by the rules of Gatekeeper (pkg/mutation/match, pkg/wildcard).

An empty criterion matches everything, and an object must meet all criteria. usher never guesses the labels of an
unknown Namespace: then it is unknown whether the constraint matches.
"""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.gatekeeper.fields import Fields, group_and_kind
from usher.model import placement

SOURCES: Final = ("All", "Generated", "Original")

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label that the API server sets on every Namespace to its name."""

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
_MOST: Final = 10_000
_ANY: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Groups and kinds; an empty list and `*` mean all."""

    groups: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
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
        return {*keys, *(one.get("key") for one in each if isinstance(one, dict))} <= {NAME_LABEL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An object, and its Namespace."""

    value: paths.Object
    namespace: paths.Object | None = None
    """The object of its Namespace; None for an object without one, and if it is unknown."""
    generated: bool = False
    """Whether it comes from a template of another object."""


def read(fields: Fields) -> Match:
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
            Kinds(groups=each.texts("apiGroups", most=_MOST), kinds=each.texts("kinds", most=_MOST))
            for each in fields.mappings("kinds", most=_MOST)
        ),
        scope=fields.text("scope"),
        namespaces=fields.texts("namespaces", most=_MOST),
        excluded_namespaces=fields.texts("excludedNamespaces", most=_MOST),
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
        and _labels(match.label_selector, value)
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
    if match.namespaces and not any(fits(pattern, name) for pattern in match.namespaces):
        return False
    return not any(fits(pattern, name) for pattern in match.excluded_namespaces)


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
    return placement.selector_matches(match.namespace_selector, {NAME_LABEL: name}) if match.only_by_name else None


def _namespace_fits(selector: paths.Json, value: paths.Object) -> bool:
    return bool(placement.selector_matches(selector, {**labels(value), NAME_LABEL: _metadata_text(value, "name")}))


def _labels(selector: paths.Json, value: paths.Object) -> bool:
    return selector is None or bool(placement.selector_matches(selector, labels(value)))


def _name(pattern: str, value: paths.Object) -> bool:
    if not pattern:
        return True
    prefix = _metadata_text(value, "generateName")
    return fits(pattern, _metadata_text(value, "name")) or (pattern.endswith(_ANY) and fits(pattern, prefix))


def fits(pattern: str, name: str) -> bool:
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


def labels(value: paths.Object) -> Mapping[str, str]:
    """The labels of an object that are texts."""
    found = paths.metadata(value).get("labels")
    return {key: text for key, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def _namespace(value: paths.Object) -> str:
    return _metadata_text(value, "namespace")


def _metadata_text(value: paths.Object, name: str) -> str:
    return paths.text(paths.metadata(value).get(name))
