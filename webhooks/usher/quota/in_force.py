"""Which quotas there are: those of the cluster, and those that usher.yaml declares."""

from collections.abc import Mapping
from typing import Final

from usher.config import models
from usher.facts import namespaces, priority_classes
from usher.facts.store import Store
from usher.quota import definitions, selection
from usher.quota.definitions import GROUP, KIND, Malformed, Quota
from usher.quota.selection import Labels, Undecided
from usher.reading.lookup import Absence

_SELECTED_BY: Final = ((GROUP, KIND), ("", "Namespace"))

_MOST: Final = 4096
"""Namespaces whose quota is remembered; names come from whoever asks."""


def of_namespace(namespace: str, facts: Store, config: models.Config) -> Quota | Undecided | None:
    """The quota of a namespace; None where none holds. Selected anew only after a quota or a namespace has changed."""
    kept: dict[str, _Selected] = facts.derived("quotas of namespaces", _SELECTED_BY, dict)
    known = kept.get(namespace)
    # Configurations cannot be compared cheaply, and there is one at a time.
    if known is not None and known[0] is config:
        return known[1]
    everything = quotas(facts, config)
    found = selection.of_namespace(everything, namespace, namespaces.labels(namespace, facts)) if everything else None
    if len(kept) < _MOST or known is not None:
        kept[namespace] = config, found
    return found


def quotas(facts: Store, config: models.Config) -> tuple[Quota | Malformed, ...]:
    """All quotas; those of usher.yaml last."""
    return (
        *facts.derived("quotas", [(GROUP, KIND)], lambda: _of_cluster(facts)),
        *map(definitions.of_entry, config.quotas),
    )


def labels_of_namespaces(facts: Store) -> Mapping[str, Labels | None] | None:
    """Of every namespace, None for those whose labels cannot be read; None where nobody gave any namespace."""
    found = facts.objects("", "Namespace")
    return None if isinstance(found, Absence) else {name: namespaces.labels(name, facts) for name in found}


_Selected = tuple[models.Config, Quota | Undecided | None]


def default_class(facts: Store, config: models.Config) -> str:
    """The PriorityClass of pods that name none; empty where there is none, and where nobody can say."""
    return priority_classes.default_name(facts, config.priorities.global_default) or ""


def _of_cluster(facts: Store) -> tuple[Quota | Malformed, ...]:
    found = facts.objects(GROUP, KIND)
    return () if isinstance(found, Absence) else tuple(definitions.of_object(found[name]) for name in sorted(found))
