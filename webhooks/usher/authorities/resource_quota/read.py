"""Reads the ResourceQuotas of a namespace, and the facts that decide what they count."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from usher import paths
from usher.authorities import limit_range, priority, verdict
from usher.authorities.knowledge import Knowledge
from usher.authorities.limit_range import NO_RANGES, LimitRanges
from usher.authorities.verdict import Amounts, Unreadable
from usher.cluster.facts.store import Objects, Store
from usher.kinds.reading.values import Absence

_QUOTA: Final = ("", "ResourceQuota")


class Scope(Struct, frozen=True, kw_only=True):
    """One requirement of a quota. The quota counts only pods that meet all its requirements."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


UNREADABLE: Final = Scope(name="")
"""An unreadable requirement."""


class ResourceQuota(Struct, frozen=True, kw_only=True):
    name: str
    hard: Amounts
    used: Amounts | None
    """Current usage; None before the first count, as in files."""
    scopes: tuple[Scope, ...]


class ResourceQuotas(Struct, frozen=True, kw_only=True):
    all: tuple[ResourceQuota, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


class NamespaceLimits(Struct, frozen=True, kw_only=True):
    """The facts that decide whether pods of a namespace are within its ResourceQuotas."""

    quotas: ResourceQuotas | None
    """None where they are unknown."""
    ranges: LimitRanges | None = None
    """None where they are unknown."""
    default_class: str | None = None
    """The PriorityClass of pods without a class name; empty without a default class, None where it is unknown."""
    runtime_classes: Mapping[str, paths.Object] | Absence = Absence.NOT_KNOWN

    @property
    def known_ranges(self) -> LimitRanges:
        return self.ranges or NO_RANGES

    @property
    def defaults_known(self) -> bool:
        """Whether all LimitRanges are known and readable, so that containers cannot get other defaults."""
        return self.ranges is not None and not self.ranges.unreadable


def of_namespace(namespace: str, known: Knowledge) -> NamespaceLimits:
    """The limits of a namespace. The quotas and ranges stay the same values until one of them changes."""
    return NamespaceLimits(
        quotas=_quotas(known.facts, namespace),
        ranges=limit_range.ranges_of_namespace(namespace, known.facts),
        default_class=priority.default_class_name(known.facts, known.config.priorities.global_default),
        runtime_classes=known.facts.objects("node.k8s.io", "RuntimeClass"),
    )


def _quotas(facts: Store, namespace: str) -> ResourceQuotas | None:
    objects = facts.objects(*_QUOTA, namespace)
    if isinstance(objects, Absence):
        return None
    if not objects:
        return _NO_QUOTAS
    # Usage changes without a new revision, but each change replaces the objects of the namespace.
    kept: dict[str, tuple[Objects, ResourceQuotas]] = facts.derived("resource quotas", [_QUOTA], dict)
    last = kept.get(namespace)
    if last is None or last[0] is not objects:
        last = kept[namespace] = objects, read(objects)
    return last[1]


_NO_QUOTAS: Final = ResourceQuotas()


def read(objects: Mapping[str, paths.Object]) -> ResourceQuotas:
    """The quotas of one namespace, by name."""
    found = []
    known, unreadable = verdict.first_objects(objects, "ResourceQuota")
    for name, value in known.items():
        source = verdict.SourceObject(f"ResourceQuota {name}", value)
        scoping = verdict.SourceObject(source.of, value)
        # status.hard is not read: the controller copies spec.hard there, and may lag behind.
        found.append(
            ResourceQuota(
                name=name,
                hard=source.amounts("/spec/hard"),
                used=None if source.at("/status/used") is None else source.amounts("/status/used"),
                scopes=_scopes(scoping),
            )
        )
        unreadable += dict.fromkeys((*source.unreadable, *scoping.unreadable))
    return ResourceQuotas(all=tuple(found), unreadable=tuple(unreadable))


def _scopes(source: verdict.SourceObject) -> tuple[Scope, ...]:
    found = [Scope(name=name) for name in source.texts("/spec/scopes")]
    found += (
        Scope(
            name=source.text(f"{place}/scopeName"),
            operator=source.text(f"{place}/operator"),
            values=source.texts(f"{place}/values"),
        )
        for place in source.items("/spec/scopeSelector/matchExpressions")
    )
    # The readable part of a requirement may select other pods than the whole requirement.
    return (UNREADABLE,) if source.unreadable else tuple(found)
