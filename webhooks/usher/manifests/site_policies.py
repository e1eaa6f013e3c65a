"""The webhook for objects that only policies of Gatekeeper match: its rules and match conditions.

A constraint names kinds, and a rule names resources. usher knows the resources of Kubernetes and of its own kinds. For
other groups a rule names all resources, and a condition selects the kinds of constraints, so usher needs no cluster for
this. The API server asks once about an object, so resources of usher's other webhooks are left out.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from usher import paths
from usher.gatekeeper.matched_kinds import ANY, MatchedKind
from usher.kinds import registry
from usher.manifests import asking, rules
from usher.scan import scopes

NAME: Final = "policies"
"""The start of the webhook's name."""

_OPERATIONS: Final = ("CREATE", "UPDATE")

_NAMED_ALONE: Final = (
    ("", "secrets", "Secret"),
    ("", "events", "Event"),
    ("events.k8s.io", "events", "Event"),
    ("coordination.k8s.io", "leases", "Lease"),
)
"""Kinds that match only constraints that name them, and not those about all kinds: secrets, and frequent heartbeats."""

_ASKING: Final = ("authentication.k8s.io", "authorization.k8s.io")
"""API groups of requests that the API server answers but does not store."""


def of(kinds: Collection[MatchedKind], judging: Iterable[paths.Object]) -> tuple[list[paths.Json], list[paths.Object]]:
    """The rules of the webhook and its match conditions; no rules where other webhooks name all kinds.

    Args:
        kinds: those that constraints are about.
        judging: the other webhooks of usher that ask for the same verdicts.
    """
    covered = _covered(judging)
    named = [each for each in kinds if is_named(each)]
    made = _named_rules(named, covered)
    others = [each for each in kinds if each not in named]
    groups = sorted({each.group for each in others})
    if groups:
        made.append(_rule(ANY if ANY in groups else groups, [ANY]))
    if not made:
        return [], []
    conditions = [_condition("kinds-of-constraints", _about(kinds))] if _about(kinds) else []
    if others:
        conditions.append(_condition("not-judged-already", f"!({_among(covered)})"))
    if any(each.group == each.kind == ANY for each in kinds):
        conditions.append(_condition("not-for-all-kinds", f"!({_left_out(kinds)})"))
    return made, conditions


def helm_values(configurations: Iterable[paths.Object]) -> paths.Object:
    """The webhook among configurations, as values of the Helm chart."""
    found = [
        each
        for configuration in configurations
        for each in (configuration["webhooks"] if isinstance(configuration["webhooks"], list) else ())
        if isinstance(each, dict) and each["name"] == f"{NAME}.gpu-usher.io"
    ]
    return {"policies": {"webhooks": [*found]}}


def _covered(webhooks: Iterable[paths.Object]) -> dict[str, list[str]]:
    """The resources that other webhooks name, by group."""
    found: dict[str, set[str]] = {}
    for webhook in webhooks:
        listed = webhook["rules"]
        for rule in listed if isinstance(listed, list) else ():
            if not isinstance(rule, dict):
                continue
            group, resources = _texts(rule["apiGroups"])[0], _texts(rule["resources"])
            if set(_OPERATIONS) <= set(_texts(rule["operations"])):
                found.setdefault(group, set()).update(each for each in resources if "/" not in each)
    return {group: sorted(found[group]) for group in sorted(found)}


def is_named(each: MatchedKind) -> bool:
    """Whether usher knows the resource of a kind."""
    key = each.group, each.kind
    return ANY not in key and (key in registry.BY_KEY or scopes.is_of_kubernetes(each.group))


def _named_rules(kinds: Iterable[MatchedKind], covered: dict[str, list[str]]) -> list[paths.Json]:
    resources: dict[str, set[str]] = {}
    for each in kinds:
        name = plural(each)
        if name not in covered.get(each.group, ()):
            resources.setdefault(each.group, set()).add(name)
    return [_rule([group], sorted(resources[group])) for group in sorted(resources)]


def plural(each: MatchedKind) -> str:
    """The resource of a kind of usher, or of Kubernetes, whose plurals follow one rule (apimachinery, meta)."""
    known = registry.BY_KEY.get((each.group, each.kind))
    if known is not None and known.plural:
        return known.plural
    name = each.kind.lower()
    if name.endswith("endpoints"):
        return name
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"


def _rule(groups: str | Sequence[str], resources: Sequence[str]) -> paths.Object:
    made = rules.rule("", [ANY], resources, operations=_OPERATIONS, scope="*")
    return {**made, "apiGroups": [groups] if isinstance(groups, str) else [*groups]}


def _condition(name: str, expression: str) -> paths.Object:
    return {"name": name, "expression": expression}


def _about(kinds: Collection[MatchedKind]) -> str:
    """An expression that is true for objects of these kinds; empty if it is true for all objects."""
    by_group: dict[str, set[str]] = {}
    for each in kinds:
        by_group.setdefault(each.group, set()).add(each.kind)
    if ANY in by_group.get(ANY, ()):
        return ""
    parts = []
    for group, names in sorted(by_group.items()):
        of_group = [] if group == ANY else [f"request.kind.group == {asking.text(group)}"]
        of_kind = [] if ANY in names else [f"request.kind.kind in {asking.texts(sorted(names))}"]
        parts.append(" && ".join([*of_group, *of_kind]))
    return " || ".join(parts)


def _among(resources: dict[str, list[str]]) -> str:
    return " || ".join(
        f"request.resource.group == {asking.text(group)} && request.resource.resource in {asking.texts(names)}"
        for group, names in resources.items()
    )


def _left_out(kinds: Collection[MatchedKind]) -> str:
    left_out: dict[str, list[str]] = {}
    for group, resource, kind in _NAMED_ALONE:
        if MatchedKind(group=group, kind=kind) not in kinds:
            left_out.setdefault(group, []).append(resource)
    return " || ".join(filter(None, (f"request.resource.group in {asking.texts(_ASKING)}", _among(left_out))))


def _texts(value: paths.Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
