"""Objects of a cluster that were saved in files: what `kubectl get ... -o yaml` prints.

Only the API server gives an object a uid, so an object with one comes from a cluster. It is treated as there:
objects of a listed workload count as part of it, and finished ones hold nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from usher import paths
from usher.facts.store import Store
from usher.kinds import registry
from usher.kinds.kept_fields import Keep, Key
from usher.scan import ownership
from usher.scan.batches import Batch, Item
from usher.scan.objects import exists
from usher.scan.ownership import Owners

_LIST: Final = "List"


class Survey:
    """What the files say together, taken from one at a time, so that a cluster is never held at once."""

    def __init__(self, keep: Mapping[Key, Keep]) -> None:
        """An empty survey.

        Args:
            keep: the kinds to keep objects of, each with what it keeps of one.
        """
        self._keep = keep
        self._owners = Owners()
        self._kinds = set[Key]()
        self._facts = list[paths.Object]()
        self._kept = defaultdict[Key, list[paths.Object]](list)

    def add(self, batch: Batch) -> None:
        """Takes the objects of a file."""
        self._kinds.update(_without_objects(batch))
        for item in batch.items:
            value = item.value
            self._owners.add(value)
            if not exists(value):
                continue
            key = ownership.key(value)
            self._kinds.add(key)
            if key in registry.FACTS:
                self._facts.append(registry.FACTS[key].keep(value))
            if key in self._keep:
                self._kept[key].append(self._keep[key](value))

    @property
    def kinds(self) -> AbstractSet[Key]:
        """The kinds of the cluster that the files have all objects of, even if there is not one."""
        return self._kinds

    @property
    def facts(self) -> Store:
        """The facts of the cluster that the objects come from: of each kind among them, these are all objects.

        Manifests without a uid say nothing about a cluster.
        """
        return Store.of(self._facts)

    def kept(self, key: Key) -> Sequence[paths.Object]:
        """What was kept of the objects of a kind. The survey does not hold it any longer."""
        return self._kept.pop(key, ())

    def settled(self, batch: Batch) -> Batch:
        """A file without the objects that are owned or finished in their cluster, once all files are taken.

        Those are `aside`.
        """
        judged, aside, owned = list[Item](), list[paths.Object](), 0
        for item in batch.items:
            is_owned = exists(item.value) and self._owners.own(item.value)
            if is_owned or (exists(item.value) and registry.is_finished(item.value)):
                aside.append(item.value)
                owned += is_owned
            else:
                judged.append(item)
        if not aside:
            return batch
        return replace(batch, items=tuple(judged), aside=tuple(aside), owned=owned, finished=len(aside) - owned)


def is_dump(items: Iterable[Item]) -> bool:
    """Whether the objects of a file all come from a cluster."""
    return all(exists(item.value) for item in items)


def _without_objects(batch: Batch) -> Iterator[Key]:
    """The kinds that are known to have no objects: an empty list that names its kind, as `usher snapshot` writes."""
    for document in batch.documents:
        value = document.value
        kind = paths.text(value.get("kind")) if isinstance(value, dict) and value.get("items") == [] else ""
        if isinstance(value, dict) and kind.endswith(_LIST) and kind != _LIST:
            yield paths.text(value.get("apiVersion")).rpartition("/")[0], kind.removesuffix(_LIST)
