"""The files of an audit. Dumps of a cluster are read twice and never held; manifests are held, as they are few."""

from collections.abc import Iterable, Iterator, Sequence

from usher.dataclass import dataclass
from usher.scan import json_lines, sources
from usher.scan.batches import Batch
from usher.scan.dumps import Survey, is_dump
from usher.scan.json_lines import Lines
from usher.scan.sources import File, Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files after the first reading."""

    survey: Survey
    """Their statements about the cluster."""
    together: Batch
    """What follows from all of them."""
    found: Sequence[Found | Lines]
    """In their order: the dumps as files, or as parts of large ones; the others with their objects, settled."""

    @property
    def manifests(self) -> Sequence[Batch]:
        """The files that say something about each other, because they are applied together."""
        return [each for each in self.found if isinstance(each, Batch)]

    def batches(self) -> Iterator[Batch]:
        """All files in their order, settled; a dump is read once more when its turn comes."""
        for each in self.found:
            yield each if isinstance(each, Batch) else self.survey.settled(_load(each))


def read(found: Iterable[Found], *, survey: Survey) -> Files:
    """The files, which the survey has taken.

    Raises:
        InputError: they hold two clusters.
    """
    surveyed = [_surveyed(part, survey) for each in found for part in _parts(each)]
    together = survey.finished()
    settled = [survey.settled(each) if isinstance(each, Batch) else each for each in surveyed]
    return Files(survey=survey, together=together, found=settled)


def _parts(found: Found) -> Iterator[Found | Lines]:
    """A file as it is, or the parts of a large dump."""
    parts = json_lines.of_file(found) if isinstance(found, File) else None
    if parts is None or isinstance(parts, Batch):
        yield parts or found
    else:
        yield from parts


def _load(found: Found | Lines) -> Batch:
    return json_lines.read(found) if isinstance(found, Lines) else sources.load(found)


def _surveyed(found: Found | Lines, survey: Survey) -> Found | Lines:
    batch = _load(found)
    survey.add(batch)
    again = isinstance(found, Lines) or (isinstance(found, File) and found.is_regular)
    return found if again and is_dump(batch.items) else batch
