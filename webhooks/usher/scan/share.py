"""The files of a run that one process reads and judges: the outlines first, then the verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

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
    """Reads its files when it is made."""

    def __init__(
        self, files: Sequence[sources.Found], *, evaluator: Evaluator, settings: Settings, verdicts: "Verdicts | None"
    ) -> None:
        self._evaluator = evaluator
        self._settings = settings
        self._verdicts = verdicts
        self._entries = [self._entry(found) for found in files]

    @property
    def outlines(self) -> list[Outline]:
        """Those of its files."""
        return [entry.outline for entry in self._entries]

    def judged(self, files: Sequence[Outline], *, watch: Watch = unwatched) -> Part:
        """What was found in its files.

        Args:
            files: the outlines of all files of the run.
            watch: hears how far the run is, as if all processes were as fast as this one.
        """
        around = Surroundings(files, namespace=self._settings.namespace, load=_objects)
        whole, new = Part(), list[tuple[Outline, bytes, Part]]()
        for index, entry in enumerate(self._entries):
            digest = around.digest(entry.outline) if entry.outline.key else None
            part = None
            if entry.kept is not None and self._verdicts is not None and entry.kept.surroundings == digest:
                part = self._verdicts.part(entry.kept)
            if part is None:
                part = judging.judge(entry.read(), around, evaluator=self._evaluator, settings=self._settings)
                if digest is not None and not part.failures and not entry.outline.growths:
                    new.append((entry.outline, digest, part))
            whole.add(part)
            # What was judged is not needed again.
            self._entries[index] = replace(entry, batch=None, content=b"", kept=None)
            watch("files judged", (index + 1) * len(files) // len(self._entries), len(files))
        if self._verdicts is not None:
            self._verdicts.put(new)
        return whole

    def _entry(self, found: sources.Found) -> _Entry:
        if isinstance(found, Batch):
            return self._read_already(found)
        content = sources.read_content(found)
        if isinstance(content, Batch):
            return self._read_already(content)
        key = b""
        if self._verdicts is not None:
            key = self._verdicts.key(sources.name(found.path), content, explicit=found.explicit)
            kept = self._verdicts.get(key, path=found.path)
            if kept is not None:
                return _Entry(found, kept.outline, None, content, kept)
        batch = sources.parse(found, content)
        outline = outlines.of(batch, namespace=self._settings.namespace, path=found.path, key=key)
        return _Entry(found, outline, batch)

    def _read_already(self, batch: Batch) -> _Entry:
        return _Entry(batch, outlines.of(batch, namespace=self._settings.namespace), batch)


def _objects(outline: Outline) -> list[paths.Object]:
    """The objects of a file that was not read, because its verdict is remembered."""
    if outline.path is None:
        return []
    batch = sources.load(sources.File(outline.path, explicit=False, size=0))
    return [item.value for item in batch.items]
