"""Extended resources that devices of a class serve, under names that no vendor has."""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Absence, Context, Lookup, Reading
from usher.workloads.claims import CLAIM_GROUP, accelerators_like

CLASS: Final = (CLAIM_GROUP, "DeviceClass")


def of_facts(facts: Store, vocabulary: Vocabulary) -> Mapping[str, str]:
    """The result of `of_classes` for the classes of a cluster."""
    found = facts.objects(*CLASS)
    return {} if isinstance(found, Absence) else of_classes(found, facts, vocabulary)


def of_classes(classes: Mapping[str, paths.Object], objects: Lookup, vocabulary: Vocabulary) -> Mapping[str, str]:
    """The class that serves each resource whose name the vocabulary lacks.

    A class is left out only if its devices are known not to be accelerators. A class that cannot be resolved stays, so
    that pods that ask for its resource are unknown.

    Args:
        classes: the classes by name.
        objects: finds them by name too.
        vocabulary: the known names.
    """
    served: dict[str, str] = {}
    for name, value in sorted(classes.items()):
        spec = value.get("spec")
        resource = spec.get("extendedResourceName") if isinstance(spec, dict) else None
        if not isinstance(resource, str) or not resource or vocabulary.meaning(resource) is not None:
            continue
        reading = Reading(Context(objects=objects))
        like = accelerators_like(name, path="", reading=reading, vocabulary=vocabulary)
        if like is not None or reading.unknowns:
            served.setdefault(resource, name)
    return served
