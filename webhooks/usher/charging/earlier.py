"""What earlier objects of the same name still hold: they are deleted, and their pods end in their own time.

Whoever deletes a workload and makes it anew holds both until the pods of the first have ended, and how long they take
is for them to say (`terminationGracePeriodSeconds`). Both are charged under one name.
"""

from usher import paths
from usher.authorities.gpu_quota.charge import ByClasses, together
from usher.authorities.gpu_quota.entries import Entry
from usher.charging.holdings import Holdings
from usher.charging.owners import read
from usher.cluster.api import Lists
from usher.kinds.registry import WORKLOADS


def ending(entry: Entry, *, holdings: Holdings) -> ByClasses:
    """What is held beside an object that is there, as far as watches have told."""
    left = holdings.left_of(entry)
    return {} if left is None else left.charge


def ending_at_creation(value: paths.Object, entry: Entry, *, api: Lists, holdings: Holdings) -> ByClasses:
    """What is held beside an object that is to be created.

    Where no watch has told of a deletion yet, the earlier object is looked up: if it is there, whoever creates another
    tries again, or will be refused; if it is not, it is taken to hold all that it was charged.

    Raises:
        ClusterError: the API server does not answer.
    """
    there = holdings.there(entry)
    untold = [holdings.at_least(each) for each in there] if there and _is_gone(value, entry, api) else []
    return together([ending(entry, holdings=holdings), *(each.charge for each in untold)])


def _is_gone(value: paths.Object, entry: Entry, api: Lists) -> bool:
    kind = WORKLOADS[entry.group, entry.kind]
    _, _, version = str(value.get("apiVersion")).rpartition("/")
    place: paths.Object = {"metadata": {"namespace": entry.namespace}}
    return read(api, kind.plural, group=entry.group, version=version, of=place, name=entry.name, uid=None) is None
