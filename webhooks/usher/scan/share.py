"""The share of a run's files that one process reads and judges: first their outlines, then the verdicts."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from usher import paths
from usher.dataclass import dataclass
from usher.policy.evaluator import Evaluator
from usher.scan import judging, outlines, sources
from usher.scan.batches import Batch
from usher.scan.judging import Settings
from usher.scan.outlines import Outline
from usher.scan.part import Part
from usher.scan.runner import Watch, unwatched
from usher.scan.surroundings import Surroundings

if TYPE_CHECKING:
    from usher.scan.verdicts import Kept, Verdicts


_AT_ONCE: Final = 500
"""Number of files to read before looking up their verdicts."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file with its objects, or with its content and a remembered verdict."""

    found: sources.Found
    outline: Outline
    batch: Batch | None
    content: bytes = b""
    kept: "Kept | None" = None

    def read(self) -> Batch:
        if isinstance(self.found, Batch):
            return self.found
        return self.batch or sources.parse(self.found, self.content)


class Share:
    """Reads its files on creation."""

    def __init__(
        self, files: Sequence[sources.Found], *, evaluator: Evaluator, settings: Settings, verdicts: "Verdicts | None"
    ) -> None:
        self._evaluator = evaluator
        self._settings = settings
        self._verdicts = verdicts
        # It reads some files at a time, because their text may be larger than the objects in it.
        parts = (files[start : start + _AT_ONCE] for start in range(0, len(files), _AT_ONCE))
        self._entries = deque(entry for part in parts for entry in self._read(part))

    @property
    def outlines(self) -> list[Outline]:
        """The outlines of its files."""
        return [entry.outline for entry in self._entries]

    def judged(self, files: Sequence[Outline], *, watch: Watch = unwatched) -> Part:
        """The results of its files. Call it once, because it forgets each file after judging.

        Args:
            files: the outlines of all files of the run.
            watch: receives the progress of the run, as if all processes were as fast as this one.
        """
        around = Surroundings(files, namespace=self._settings.namespace, load=_objects)
        whole, new, number = Part(), list[tuple[Outline, bytes, Part]](), len(self._entries)
        for done in range(1, number + 1):
            entry = self._entries.popleft()
            digest = around.digest(entry.outline) if entry.outline.key else None
            part = None
            if entry.kept is not None and self._verdicts is not None and entry.kept.surroundings == digest:
                part = self._verdicts.part(entry.kept)
            if part is None:
                part = judging.judge(entry.read(), around, evaluator=self._evaluator, settings=self._settings)
                if digest is not None and not part.failures and not entry.outline.growths:
                    new.append((entry.outline, digest, part))
            whole.add(part)
            watch("files judged", done * len(files) // number, len(files))
        if self._verdicts is not None:
            self._verdicts.put(new)
        return whole

    def _read(self, files: Sequence[sources.Found]) -> Iterator[_Entry]:
        """Reads some files, and looks up their verdicts together."""
        read = [_content(found) for found in files]
        keys = [b"" if isinstance(each, Batch) else self._key(*each) for each in read]
        wanted = {
            key: each[0].path for key, each in zip(keys, read, strict=True) if key and not isinstance(each, Batch)
        }
        kept = self._verdicts.find(wanted) if self._verdicts is not None else {}
        for each, key in zip(read, keys, strict=True):
            if isinstance(each, Batch):
                yield _Entry(each, outlines.of(each, namespace=self._settings.namespace), each)
            else:
                yield self._entry(*each, key, kept.get(key))

    def _key(self, file: sources.File, content: bytes) -> bytes:
        """The digest of a file; empty if no verdicts are remembered."""
        if self._verdicts is None:
            return b""
        return self._verdicts.key(sources.name(file.path), content, explicit=file.explicit)

    def _entry(self, file: sources.File, content: bytes, key: bytes, kept: "Kept | None") -> _Entry:
        if kept is not None:
            return _Entry(file, kept.outline, None, content, kept)
        batch = sources.parse(file, content)
        path = os.fspath(file.path)
        return _Entry(file, outlines.of(batch, namespace=self._settings.namespace, path=path, key=key), batch)


def _content(found: sources.Found) -> tuple[sources.File, bytes] | Batch:
    """A file with its content, or the batch of an input that was read already or cannot be read."""
    if isinstance(found, Batch):
        return found
    content = sources.read_content(found)
    return content if isinstance(content, Batch) else (found, content)


def _objects(outline: Outline) -> list[paths.Object]:
    """The objects of a file that was not read, because its verdict is remembered."""
    if not outline.path:
        return []
    batch = sources.load(sources.File(Path(outline.path), explicit=False, size=0))
    return [item.value for item in batch.items]
