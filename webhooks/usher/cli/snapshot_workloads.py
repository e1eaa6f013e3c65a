"""The workloads of a cluster as a record of reviews, which `usher replay` reads."""

from pathlib import Path
from typing import TYPE_CHECKING

from usher import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from usher.check.batches import Batch
    from usher.cluster.api import Lists


class Workloads:
    """Takes the pages of all kinds, and writes a line for each workload."""

    def __init__(self, path: Path) -> None:
        from usher.review import records

        self.path = path
        self.problems = 0
        """Kinds whose list ended early."""
        self._number = 0
        self._data = bytearray(records.head_line(version=__version__, anonymised=False))

    def add(self, batch: "Batch") -> None:
        """Takes a page of a kind."""
        from usher.review import records

        self.problems += len(batch.problems)
        for item in batch.items:
            self._number += 1
            self._data += records.object_line(item.value, number=self._number, version=__version__)

    def more(self, _api: "Lists") -> "Iterable[Batch]":
        """No other kinds."""
        return ()

    def write(self) -> str:
        """Writes the record. Returns what it wrote.

        Raises:
            InputError: it cannot be written.
        """
        from usher.cli import output

        output.replace_bytes(self.path, bytes(self._data), what="record of workloads")
        return f"{self.path}: {self._number:,} workloads, {len(self._data):,} bytes"

    def close(self) -> None:
        """Does nothing: the record is written at once."""
