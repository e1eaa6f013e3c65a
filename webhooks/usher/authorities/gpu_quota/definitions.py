"""Reads quotas, from GPUQuota objects and from usher.yaml, into the same value."""

from collections.abc import Mapping
from typing import Final

import pydantic
from msgspec import Struct

from usher import paths, quantities
from usher.accelerators import boards
from usher.authorities.gpu_quota.amounts import NOTHING_ASSUMED, Assumption, Limit, Limits
from usher.config import fields, pools

GROUP: Final = "gpu-usher.io"
VERSION: Final = "v1alpha1"
KIND: Final = "GPUQuota"

_PATTERNS: Final = pydantic.TypeAdapter(list[fields.Pattern], config=pydantic.ConfigDict(defer_build=True))


def namespace_of_accounts(own: str) -> str:
    """The namespace for accounts of the quotas of usher.yaml, from the namespace of the server.

    The server may write ConfigMaps there, and not beside its own configuration.
    """
    return f"{own}-quotas"


class Requirement(Struct, frozen=True, kw_only=True):
    """One expression of a namespaceSelector."""

    key: str
    operator: str
    values: frozenset[str]


class Quota(Struct, frozen=True, kw_only=True):
    """A quota: limits for the sum of all namespaces that it selects."""

    name: str
    declared: bool
    """Whether usher.yaml declares the quota; its account is then in a ConfigMap, not in the status of a GPUQuota."""
    namespaces: tuple[str, ...]
    """Patterns of names; empty where only labels decide."""
    requirements: tuple[Requirement, ...] | None
    """Requirements on namespace labels; None without a selector, empty for a selector that fits every namespace."""
    limits: Limits
    assumption: Assumption
    charges_suspended: bool

    def __str__(self) -> str:
        return f"quota {self.name} of usher.yaml" if self.declared else f"GPUQuota {self.name}"


class Malformed(Struct, frozen=True, kw_only=True):
    """A GPUQuota that cannot be read, with its problems: JSON Pointers into the object, and reasons."""

    name: str
    problems: tuple[tuple[str, str], ...]
    namespaces: tuple[str, ...] | None
    """Patterns of the namespaces that it may select; None where they are unreadable, so that it may select any."""

    def __str__(self) -> str:
        return f"GPUQuota {self.name}"


def of_object(value: paths.Object) -> Quota | Malformed:
    """The quota of a GPUQuota object, which may have any form."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    name = name if isinstance(name, str) else ""
    spec = value.get("spec")
    read = boards.read_quota_spec(spec)
    if not isinstance(read, pools.QuotaSpec):
        return Malformed(name=name, problems=read, namespaces=_meant_for(spec))
    return _quota(name, read, declared=False)


def of_entry(entry: pools.Quota) -> Quota:
    """The quota of an entry of usher.yaml; loading has refused unknown boards."""
    return _quota(entry.name, entry, declared=True)


def _quota(name: str, spec: pools.QuotaSpec, *, declared: bool) -> Quota:
    return Quota(
        name=name,
        declared=declared,
        namespaces=tuple(spec.namespaces),
        requirements=None if spec.namespace_selector is None else _requirements(spec.namespace_selector),
        limits=tuple(
            Limit(
                hard={unit: quantities.parse(amount).nanos for unit, amount in limit.hard.items()},
                classes=tuple(limit.priority_classes),
            )
            for limit in spec.limits
        ),
        assumption=NOTHING_ASSUMED if spec.assumes is None else _assumption(spec.assumes),
        charges_suspended=spec.charges_suspended,
    )


def _requirements(selector: pools.NamespaceSelector) -> tuple[Requirement, ...]:
    return (
        *(
            Requirement(key=key, operator="In", values=frozenset({value}))
            for key, value in selector.match_labels.items()
        ),
        *(
            Requirement(key=each.key, operator=each.operator, values=frozenset(each.values))
            for each in selector.match_expressions
        ),
    )


def _assumption(said: pools.Assumption) -> Assumption:
    board = None if said.board is None else boards.by_name(said.board)
    return Assumption(board=board, slices=said.slices, memory=said.memory_gib)


def _meant_for(spec: paths.Json) -> tuple[str, ...] | None:
    said = spec.get("namespaces") if isinstance(spec, dict) else None
    if not said:
        return None
    try:
        return tuple(_PATTERNS.validate_python(said))
    except pydantic.ValidationError:
        return None
