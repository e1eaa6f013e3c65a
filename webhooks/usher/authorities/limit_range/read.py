"""Reads the LimitRanges of a namespace: their defaults and their bounds.

LimitRanges in files lack the defaults that the API server sets (k8s.io/kubernetes pkg/apis/core/v1/defaults.go), so
this module sets them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from usher import paths, quantities
from usher.authorities import resource_lists
from usher.authorities.resource_lists import Amounts, Unreadable
from usher.cluster.facts.store import Store
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence

LIMIT_RANGE: Final = ("", "LimitRange")


class Rule(StrEnum):
    MINIMUM = "min"
    MAXIMUM = "max"
    RATIO = "maxLimitRequestRatio"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    of: str
    """The name of the LimitRange."""
    of_pod: bool
    """Whether the bound is for the whole pod; else for each container."""
    rule: Rule
    resource: str
    amount: quantities.Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRanges:
    """All LimitRanges of a namespace."""

    default_requests: Amounts
    default_limits: Amounts
    ambiguous: frozenset[str]
    """Resources for which several LimitRanges set different defaults: their order decides which one counts."""
    bounds: tuple[Bound, ...]
    unreadable: tuple[Unreadable, ...]


NO_RANGES: Final = LimitRanges(default_requests={}, default_limits={}, ambiguous=frozenset(), bounds=(), unreadable=())


def of_namespace(namespace: str, facts: Store) -> LimitRanges | None:
    """The LimitRanges of a namespace; None where they are unknown.

    Returns the same value until a LimitRange changes.
    """
    objects = facts.objects(*LIMIT_RANGE, namespace)
    if isinstance(objects, Absence):
        return None
    kept: dict[str, LimitRanges] = facts.derived("limit ranges", [LIMIT_RANGE], dict)
    found = kept.get(namespace)
    if found is None:
        found = read(objects)
        if objects:
            kept[namespace] = found
    return found


def read(objects: Mapping[str, paths.Object]) -> LimitRanges:
    """The LimitRanges of one namespace, by name."""
    if not objects:
        return NO_RANGES
    defaults: tuple[dict[str, quantities.Quantity], dict[str, quantities.Quantity]] = {}, {}
    ambiguous: set[str] = set()
    bounds: list[Bound] = []
    known, unreadable = resource_lists.first(objects, "LimitRange")
    for name, value in known.items():
        source = resource_lists.Source(f"LimitRange {name}", value)
        for kind, own in zip(defaults, _read_one(source, name, bounds), strict=True):
            ambiguous.update(each for each, amount in own.items() if kind.get(each, amount) != amount)
            kind.update(own)
        unreadable += source.unreadable
    if len(bounds) > resource_lists.MOST:
        reason = f"sets bounds beyond the first {resource_lists.MOST} of its namespace; usher reads only these"
        unreadable.append(
            Unreadable(of=f"LimitRange {bounds[resource_lists.MOST].of}", field="spec.limits", reason=reason)
        )
    return LimitRanges(
        default_requests=defaults[0],
        default_limits=defaults[1],
        ambiguous=frozenset(ambiguous),
        bounds=tuple(bounds[: resource_lists.MOST]),
        unreadable=tuple(unreadable),
    )


def _read_one(source: resource_lists.Source, name: str, bounds: list[Bound]) -> tuple[Amounts, Amounts]:
    """Adds the bounds of one LimitRange, and gives its default requests and limits."""
    default_requests: Amounts = {}
    default_limits: Amounts = {}
    for place in source.items("/spec/limits"):
        kind = source.text(f"{place}/type")
        if kind not in {"Container", "Pod"}:
            continue
        found = {rule: source.amounts(f"{place}/{rule.value}") for rule in Rule}
        bounds += [
            Bound(of=name, of_pod=kind == "Pod", rule=rule, resource=resource, amount=amount)
            for rule, amounts in found.items()
            for resource, amount in sorted(amounts.items())
        ]
        if kind == "Container":
            limits = {**found[Rule.MAXIMUM], **source.amounts(f"{place}/default")}
            default_limits = {**default_limits, **limits}
            requests = {**found[Rule.MINIMUM], **limits, **source.amounts(f"{place}/defaultRequest")}
            default_requests = {**default_requests, **requests}
    return default_requests, default_limits
