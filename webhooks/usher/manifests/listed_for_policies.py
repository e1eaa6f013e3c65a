"""The rights of an audit for policies of a site: the resources of the kinds that constraints name.

A constraint names kinds, and RBAC names resources. As in the rules of webhooks, a group that usher does not know is
named as a whole. RBAC cannot exclude resources from a wildcard, so no rule has all groups, or all of the core group
with its Secrets.
"""

from collections.abc import Collection, Iterator
from typing import Final

from usher.dataclass import dataclass
from usher.gatekeeper.matched_kinds import ANY, MatchedKind
from usher.kinds import registry
from usher.manifests import site_policies

_SECRET: Final = MatchedKind(group="", kind="Secret")

_CORE: Final = frozenset(
    {kind.kind for kind in registry.KINDS if not kind.group and (kind.listed or kind.facts)}
    | {"Endpoints", "PersistentVolume", "PersistentVolumeClaim", "Service", "ServiceAccount"}
)
"""Kinds of the core group that are stored, without Secrets and Events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    resources: tuple[tuple[str, str], ...]
    """Groups and plurals; `*` for all of a group."""
    left_out: tuple[str, ...]
    """Kinds of the policies that no rule names, with the reason and the remedy."""


def of(kinds: Collection[MatchedKind]) -> Listed:
    """The resources to list for these kinds."""
    found = {resource for each in kinds for resource in _resources(each)}
    return Listed(resources=tuple(sorted(found)), left_out=tuple(_left_out(kinds)))


def _resources(each: MatchedKind) -> Iterator[tuple[str, str]]:
    if each == _SECRET:
        return
    if each.group == ANY:
        known = {MatchedKind(group=group, kind=kind) for group, kind in registry.BY_KEY}
        known |= {MatchedKind(group="", kind=kind) for kind in _CORE}
        for one in known:
            if each.includes(one.group, one.kind):
                yield one.group, site_policies.plural(one)
    elif each.kind == ANY and not each.group:
        for kind in _CORE:
            yield "", site_policies.plural(MatchedKind(group="", kind=kind))
    else:
        yield each.group, site_policies.plural(each) if site_policies.is_named(each) else ANY


def _left_out(kinds: Collection[MatchedKind]) -> Iterator[str]:
    if _SECRET in kinds:
        yield (
            "a policy is about Secrets: the role leaves them out, because an account that may list them may read them. "
            "Add a rule of your own if audits are to judge them"
        )
    for each in sorted(kinds):
        if each.group == ANY:
            what = "all kinds of all groups" if each.kind == ANY else f"the kind {each.kind} of all groups"
            yield (
                f"a policy is about {what}: the role names those that usher knows, because a rule for all would "
                "include Secrets. Name the groups in match.kinds, or add rules of your own"
            )
