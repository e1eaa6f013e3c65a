"""What authorities judge by: facts of a cluster, usher.yaml, and what resource names mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models
from usher.facts.store import Store
from usher.kinds.kept_fields import Key
from usher.reading import lookup
from usher.workloads.normalise import normalise

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knowledge:
    """An evaluator owns one. `dataclasses.replace` gives one with other facts, which shares what `once` made."""

    facts: Store
    config: models.Config
    vocabulary: Vocabulary
    made: dict[str, Any] = field(default_factory=dict, repr=False)
    """What `once` made, by name."""

    def workload(
        self, value: paths.Object, *, namespace: str = "", objects: lookup.Lookup = lookup.NOTHING
    ) -> model.Workload | None:
        """The normalised object; None for one that no rule reads.

        Args:
            value: the object.
            namespace: the namespace to assume where the object names none.
            objects: where to look up what the object refers to by name, before the facts.
        """
        found = self.lookup(objects)
        return normalise(value, vocabulary=self.vocabulary, namespace=namespace, objects=found)

    def lookup(self, objects: lookup.Lookup) -> lookup.Lookup:
        """Some objects first, and then the facts."""
        return objects if self.facts.empty else lookup.InTurn(objects, self.facts)

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """What `make` makes of usher.yaml.

        Args:
            name: under which it is kept.
            make: may run more than once, in several threads.
        """
        if name not in self.made:
            self.made.setdefault(name, make())
        result: _Made = self.made[name]
        return result

    def derived(self, name: str, of: Sequence[Key], make: Callable[[], _Made]) -> _Made:
        """What `make` makes of usher.yaml and of the objects of some kinds, until one of them changes.

        Args:
            name: under which it is kept.
            of: kinds that it is made of.
            make: may run more than once, in several threads.
        """
        kept: dict[str, tuple[models.Config, _Made]] = self.facts.derived(name, of, dict)
        last = kept.get(name)
        # Configurations cannot be compared cheaply, and there is one at a time.
        if last is None or last[0] is not self.config:
            last = kept[name] = self.config, make()
        return last[1]
