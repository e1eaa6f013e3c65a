"""The inputs of authorities: the facts of a cluster, usher.yaml, and the meaning of resource names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.kind import Key
from usher.kinds.reading import values
from usher.kinds.reading.values import Absence, Context, Lookup, Reading
from usher.workloads.claims import CLAIM_GROUP, accelerators_like
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles

DEVICE_CLASS: Final = (CLAIM_GROUP, "DeviceClass")


def served_resources(facts: Store, vocabulary: Vocabulary) -> Mapping[str, str]:
    """The result of `resources_of_classes` for the classes of a cluster."""
    found = facts.objects(*DEVICE_CLASS)
    return {} if isinstance(found, Absence) else resources_of_classes(found, facts, vocabulary)


def resources_of_classes(
    classes: Mapping[str, paths.Object], objects: Lookup, vocabulary: Vocabulary
) -> Mapping[str, str]:
    """The class that serves each resource whose name the vocabulary lacks.

    A class is left out only if its devices are known not to be accelerators. A class that cannot be resolved stays, so
    that pods that ask for its resource are unknown.

    Args:
        objects: finds classes by name too.
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


_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knowledge:
    """An evaluator owns one. `msgspec.structs.replace` gives one with other facts; both share the values of `once`."""

    facts: Store
    config: models.Config
    vocabulary: Vocabulary
    made: dict[str, Any] = field(default_factory=dict, repr=False)
    """The values that `once` made, by name."""

    def workload(
        self,
        value: paths.Object,
        *,
        namespace: str = "",
        objects: values.Lookup = values.NO_OBJECTS,
        believes_owner: bool = True,
    ) -> model.Workload | None:
        """The normalised object; None for an object that no rule reads.

        Args:
            namespace: the namespace to assume where the object has no namespace.
            objects: looked up before the facts, for objects that this one refers to by name.
            believes_owner: whether the owner that the object names counts.
        """
        found = self.lookup(objects)
        vocabulary = self.vocabulary_of_cluster
        if isinstance(objects, values.Objects) and (classes := objects.cluster_scoped(*DEVICE_CLASS)):
            served = resources_of_classes(classes, objects, self.vocabulary)
            vocabulary = vocabulary.serving(served) if served else vocabulary
        roles = self.once("roles", lambda: Roles(self.config))
        return normalise(
            value,
            vocabulary=vocabulary,
            namespace=namespace,
            objects=found,
            roles=roles,
            believes_owner=believes_owner,
        )

    @property
    def vocabulary_of_cluster(self) -> Vocabulary:
        """The vocabulary, with the extended resources that device classes among the facts serve."""
        if self.facts.empty:
            return self.vocabulary
        return self.derived("vocabulary", [DEVICE_CLASS], self._serving)

    def _serving(self) -> Vocabulary:
        served = served_resources(self.facts, self.vocabulary)
        return self.vocabulary.serving(served) if served else self.vocabulary

    def lookup(self, objects: values.Lookup) -> values.Lookup:
        """Looks up in `objects` first, and then in the facts."""
        return objects if self.facts.empty else values.LookupsInTurn(objects, self.facts)

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """A value that `make` derives from usher.yaml; made once and kept.

        Args:
            name: the key of the value.
            make: may run more than once, in several threads.
        """
        if name not in self.made:
            self.made.setdefault(name, make())
        result: _Made = self.made[name]
        return result

    def derived(self, name: str, of: Sequence[Key], make: Callable[[], _Made]) -> _Made:
        """A value that `make` derives from usher.yaml and the objects of some kinds; kept until one of them changes.

        Args:
            name: the key of the value.
            of: the kinds that the value is derived from.
            make: may run more than once, in several threads.
        """
        kept: dict[str, tuple[models.Config, _Made]] = self.facts.derived(name, of, dict)
        last = kept.get(name)
        # Comparing configurations is expensive, and only one is in use at a time.
        if last is None or last[0] is not self.config:
            last = kept[name] = self.config, make()
        return last[1]
