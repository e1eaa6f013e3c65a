"""Objects of a cluster that were saved in files: what `kubectl get ... -o yaml` prints.

Only the API server gives an object a uid, so an object with one comes from a cluster. It is treated as there:
objects of a listed workload count as part of it, and finished ones hold nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from usher import paths
from usher.facts.store import Store
from usher.kinds import registry
from usher.kinds.kept_fields import Key
from usher.scan import ownership
from usher.scan.batches import Batch, Item
from usher.scan.ownership import Owners

_LIST: Final = "List"


def settled(batches: Iterable[Batch]) -> list[Batch]:
    """The files, without the objects that are owned or finished in their cluster; those are `aside`."""
    read = list(batches)
    owners = Owners()
    for batch in read:
        for item in batch.items:
            owners.add(item.value)
    return [_settled(batch, owners) for batch in read]


def without_objects(batches: Sequence[Batch]) -> Iterator[Key]:
    """The kinds that are known to have no objects: an empty list that names its kind, as `usher snapshot` writes."""
    for batch in batches:
        for document in batch.documents:
            value = document.value
            kind = paths.text(value.get("kind")) if isinstance(value, dict) and value.get("items") == [] else ""
            if isinstance(value, dict) and kind.endswith(_LIST) and kind != _LIST:
                yield paths.text(value.get("apiVersion")).rpartition("/")[0], kind.removesuffix(_LIST)


def _settled(batch: Batch, owners: Owners) -> Batch:
    judged, aside, owned = list[Item](), list[paths.Object](), 0
    for item in batch.items:
        is_owned = _existed(item.value) and owners.own(item.value)
        if is_owned or (_existed(item.value) and registry.is_finished(item.value)):
            aside.append(item.value)
            owned += is_owned
        else:
            judged.append(item)
    if not aside:
        return batch
    return replace(batch, items=tuple(judged), aside=tuple(aside), owned=owned, finished=len(aside) - owned)


def facts(batches: Sequence[Batch]) -> Store:
    """The facts of the cluster that the objects come from: of each kind among them, these are all objects.

    Manifests without a uid say nothing about a cluster.
    """
    return Store.of(
        registry.FACTS[key].keep(value)
        for value in existing(batches)
        if (key := ownership.key(value)) in registry.FACTS
    )


def existing(batches: Sequence[Batch]) -> Iterator[paths.Object]:
    """The objects that come from a cluster."""
    for batch in batches:
        for value in (*(item.value for item in batch.items), *batch.aside):
            if _existed(value):
                yield value


def _existed(value: paths.Object) -> bool:
    return bool(paths.text(paths.metadata(value).get("uid")))
