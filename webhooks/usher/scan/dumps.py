"""Objects of a cluster that were saved in files, as `kubectl get ... -o yaml` prints them.

Only the API server gives an object a uid, so an object with one comes from a cluster. usher treats it as in a cluster:
objects of a listed workload count as part of it, and finished ones hold no accelerators.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from usher import paths
from usher.cluster.facts.store import Store
from usher.kinds import registry
from usher.kinds.kind import Keep, Key
from usher.kinds.reading import pod_templates
from usher.scan import ownership
from usher.scan.batches import Batch, Item
from usher.scan.dump_gaps import Gaps
from usher.scan.objects import exists
from usher.scan.ownership import Owners
from usher.scan.repeated_objects import Repeated
from usher.scan.replica_sets import ReplicaSets

_LIST: Final = "List"
_POD: Final[Key] = ("", "Pod")


class Survey:
    """Knowledge from all files together. It takes one file at a time, so that a whole cluster never has to fit in
    memory.
    """

    def __init__(self, keep: Mapping[Key, Keep]) -> None:
        """An empty survey.

        Args:
            keep: the kinds whose objects to keep, each with a function that reduces an object.
        """
        self._keep = keep
        self._owners = Owners()
        self._kinds = set[Key]()
        self._facts = list[paths.Object]()
        self._kept = defaultdict[Key, list[paths.Object]](list)
        self._repeated = Repeated()
        self._replica_sets = ReplicaSets()
        self._gaps = Gaps()

    def add(self, batch: Batch) -> None:
        """Takes the objects of a file.

        Raises:
            InputError: it comes from another cluster than an earlier file.
        """
        self._kinds.update(_without_objects(batch))
        self._repeated.add(batch)
        for number, item in enumerate(batch.items):
            value = item.value
            self._owners.add(value)
            if not exists(value) or self._repeated.leaves_out(batch, number):
                continue
            key = ownership.key(value)
            self._kinds.add(key)
            self._replica_sets.add(value, key)
            self._gaps.add(value, key)
            if key in registry.FACTS:
                self._facts.append(registry.FACTS[key].keep(value))
            if key in self._keep:
                self._kept[key].append(self._keep[key](value))

    def finished(self) -> Batch:
        """A batch for all files together: notes about missing objects, and objects that follow from others."""
        made = () if ReplicaSets.KEY in self._kinds else tuple(self._replica_sets.made())
        for value in made:
            self._owners.add(value)
        return Batch(
            source="the files together",
            aside=made,
            problems=tuple(self._repeated.problems()),
            notes=(*self._repeated.notes(), *self._gaps.notes(self._kinds)),
            is_file=False,
        )

    @property
    def kinds(self) -> AbstractSet[Key]:
        """The kinds for which the files hold all objects of the cluster, even if the cluster has zero objects."""
        return self._kinds

    @property
    def facts(self) -> Store:
        """The facts of the cluster behind the objects. The files have all objects of each kind in them.

        Manifests without a uid add no facts about a cluster.
        """
        return Store.of(self._facts)

    def kept(self, key: Key) -> Sequence[paths.Object]:
        """The kept objects of a kind. The survey forgets them."""
        return self._kept.pop(key, ())

    def settled(self, batch: Batch) -> Batch:
        """A file without the objects that are owned or finished in their cluster. Call it after all files were added.

        These objects are `aside`. It drops objects that an earlier file has too.
        """
        judged, aside, owned, again = list[Item](), list[paths.Object](), 0, 0
        for number, item in enumerate(batch.items):
            if not exists(item.value):
                judged.append(item)
            elif self._repeated.leaves_out(batch, number):
                again += 1
            elif self._owners.own(item.value) or self._is_judged_by_its_pods(item.value):
                aside.append(item.value)
                owned += 1
            elif registry.is_finished(item.value):
                aside.append(item.value)
            else:
                judged.append(item)
        if not aside and not again:
            return batch
        return replace(batch, items=tuple(judged), aside=tuple(aside), owned=owned, finished=len(aside) - owned)

    def _is_judged_by_its_pods(self, value: paths.Object) -> bool:
        """Whether an object has an unknown kind and makes pods without devices that are in the files: an object of an
        operator, for example a ClusterServiceVersion. An audit of the cluster does not list them either.
        """
        if (
            _POD not in self._kinds
            or ownership.key(value) in registry.BY_KEY
            or not pod_templates.find_pod_specs(value)
        ):
            return False
        return pod_templates.find_resource_requests(value, lambda resource: "/" in resource) == []


def is_dump(items: Iterable[Item]) -> bool:
    """Whether the objects of a file all come from a cluster."""
    return all(exists(item.value) for item in items)


def _without_objects(batch: Batch) -> Iterator[Key]:
    """The kinds that have no objects: from an empty list that names its kind, as `usher snapshot` writes.

    Other programs write one for each namespace. Their list counts if its `selfLink` covers all namespaces.
    """
    for document in batch.documents:
        value = document.value
        if not isinstance(value, dict) or value.get("items") != []:
            continue
        kind, link = paths.text(value.get("kind")), paths.text(paths.metadata(value).get("selfLink"))
        key = paths.text(value.get("apiVersion")).rpartition("/")[0], kind.removesuffix(_LIST)
        known = registry.BY_KEY.get(key)
        everywhere = (known is not None and known.cluster_scoped) or (link and "/namespaces/" not in link)
        if kind.endswith(_LIST) and key[1] and everywhere:
            yield key
