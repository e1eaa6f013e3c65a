"""The effects of a run's files on the verdicts about each other."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

from usher import paths
from usher.kinds.reading import values as reading_values
from usher.scan import neighbours, outlines
from usher.scan.batches import Batch
from usher.scan.outlines import Outline
from usher.scan.scalers import Scalers

ALONE: Final = b""
"""The digest of the surroundings of a file that no other file affects."""

Load = Callable[[Outline], Sequence[paths.Object]]
"""Reads the objects of a file whose outline does not have them."""


def _nothing(_outline: Outline) -> Sequence[paths.Object]:
    return ()


class Surroundings:
    """The autoscalers of a run, and the objects of each directory."""

    def __init__(self, files: Sequence[Outline], *, namespace: str, load: Load = _nothing) -> None:
        """Keeps the outlines of the files of a run.

        Args:
            files: the outlines of all files; empty for objects of a cluster, which already have the numbers that
                autoscalers chose.
            namespace: the namespace of objects without one.
            load: reads the objects of files whose outlines do not have them.
        """
        self.scalers = Scalers(files, namespace=namespace)
        self._files = files
        self._namespace = namespace
        self._load = load
        self._directories = neighbours.by_directory(files)
        self._around: dict[str, reading_values.Lookup] = {}
        self._digests: dict[str, bytes | None] = {}

    def around(self, batch: Batch) -> reading_values.Lookup:
        """The objects that are applied together with the objects of a file."""
        name = outlines.directory(batch)
        if name not in self._directories:
            return reading_values.NO_OBJECTS
        if name not in self._around:
            values = [value for each in self._directories[name] for value in self._offered(each)]
            self._around[name] = reading_values.Objects(values, namespace=self._namespace)
        return self._around[name]

    def _offered(self, outline: Outline) -> Sequence[paths.Object]:
        if outline.offered is not None:
            return outline.offered
        return self._load(outline) if outline.offers else ()

    def digest(self, outline: Outline) -> bytes | None:
        """The digest of what other files contribute to the verdict about a file; None if a file has no digest."""
        if self.scalers.found:
            return self._digest("", self._files)
        if outline.directory not in self._directories:
            return ALONE
        return self._digest(outline.directory, self._directories[outline.directory])

    def _digest(self, name: str, files: Sequence[Outline]) -> bytes | None:
        if name not in self._digests:
            keys = [each.key for each in files if each.offers or self.scalers.found]
            self._digests[name] = hashlib.sha256(b"".join(keys)).digest() if all(keys) else None
        return self._digests[name]
