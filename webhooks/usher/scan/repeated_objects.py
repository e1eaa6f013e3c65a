"""Finds objects that occur more than once in the files of an audit: a dump given twice, or dumps of two clusters."""

from collections.abc import Iterator
from typing import Final

from usher import errors, paths
from usher.kinds.kind import Key
from usher.scan import ownership
from usher.scan.batches import Batch
from usher.scan.findings import Note, Problem
from usher.scan.objects import exists

_NODE: Final[Key] = ("", "Node")
_NAMESPACE: Final[Key] = ("", "Namespace")

_REMEDY: Final = "dump one cluster, once, into a folder of its own"


class Repeated:
    """Counts each object of a cluster once: the first with its kind, namespace and name.

    There are as many objects as pods, so it keeps hashes and not texts.
    """

    def __init__(self) -> None:
        self._uids: dict[int, int] = {}
        """Uids by name."""
        self._states = set[int]()
        """Hashes of uids with their versions."""
        self._again = set[tuple[str, int, int]]()
        """Files with their parts, and the numbers of the objects in them to leave out."""
        self._changed = 0
        self._others = 0
        """Number of objects with the name of an earlier one and another uid."""
        self._other = Problem(source="", reason="")
        """The problem with the first of them."""
        self._manifests = dict[int, int]()
        """Number of objects without a uid, by name."""

    def add(self, batch: Batch) -> None:
        """Takes the objects of a file.

        Raises:
            InputError: a Node or a Namespace has two uids: the files hold two clusters, and no number would be right.
        """
        for number, item in enumerate(batch.items):
            metadata = paths.metadata(item.value)
            namespace, name = paths.text(metadata.get("namespace")), paths.text(metadata.get("name"))
            key, uid = ownership.key(item.value), paths.text(metadata.get("uid"))
            if not exists(item.value):
                manifest = hash((key, namespace or "default", name))
                self._manifests[manifest] = self._manifests.get(manifest, 0) + 1
                continue
            place, state = hash((key, namespace, name)), hash((uid, paths.text(metadata.get("resourceVersion"))))
            if place not in self._uids:
                self._uids[place] = hash(uid)
                self._states.add(state)
                continue
            self._again.add((batch.source, batch.part, number))
            if self._uids[place] != hash(uid):
                self._differs(key, "/".join(filter(None, (namespace, name))), batch.source)
            elif state not in self._states:
                self._changed += 1

    def _differs(self, key: Key, name: str, source: str) -> None:
        reason = (
            f"{key[1]} {name} has another uid than in a file before, so the files hold two clusters, or one cluster"
        )
        reason = f"{reason} at two times; {_REMEDY}"
        if key in (_NODE, _NAMESPACE):  # they keep their uid while a cluster is dumped
            raise errors.InputError(f"{source}: {reason}")
        if not self._others:
            self._other = Problem(source=source, reason=reason)
        self._others += 1

    def leaves_out(self, batch: Batch, number: int) -> bool:
        """Whether an object of a file, by its number there, occurs in an earlier file."""
        return (batch.source, batch.part, number) in self._again

    def problems(self) -> Iterator[Problem]:
        """Problems with objects that two clusters have, or that were created again between two dumps."""
        if self._others:
            more = f" ({self._others:,} objects)" if self._others > 1 else ""
            yield Problem(source=self._other.source, reason=f"{self._other.reason}{more}")

    def notes(self) -> Iterator[Note]:
        """Notes about objects that count once, and about manifests that count in addition to an object of
        the cluster.
        """
        if number := len(self._again):
            reason = f"{number:,} {'stand' if number > 1 else 'stands'} in the files before, so each counts once"
            if self._changed:
                changed = "has changed" if self._changed == 1 else "have changed"
                reason += f"; {self._changed:,} of them {changed}, and the first state counts: {_REMEDY}"
            yield Note(source="repeated objects", reason=reason)
        if both := sum(number for name, number in self._manifests.items() if name in self._uids):
            have = "has" if both == 1 else "have"
            reason = f"{both:,} {have} the name of an object of the cluster; what both ask for is added up"
            yield Note(source="manifests", reason=reason)
