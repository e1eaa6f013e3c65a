"""Reads the files of an audit. It reads dumps of a cluster twice and never keeps them; it keeps manifests, which are
few.
"""

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
    """The knowledge about the cluster from all files."""
    together: Batch
    """The batch of objects and notes that follow from all files together."""
    found: Sequence[Found | Lines]
    """The files in order: dumps as files or parts of large files, all others with their settled objects."""

    @property
    def manifests(self) -> Sequence[Batch]:
        """The files that are applied together, so that each may affect the verdicts about the others."""
        return [each for each in self.found if isinstance(each, Batch)]

    def batches(self) -> Iterator[Batch]:
        """All files in order, settled. It reads each dump again when its turn comes."""
        for each in self.found:
            yield each if isinstance(each, Batch) else self.survey.settled(_load(each))


def read(found: Iterable[Found], *, survey: Survey) -> Files:
    """The files, after the survey has taken them.

    Raises:
        InputError: the files hold two clusters.
    """
    surveyed = [_surveyed(part, survey) for each in found for part in _parts(each)]
    together = survey.finished()
    settled = [survey.settled(each) if isinstance(each, Batch) else each for each in surveyed]
    return Files(survey=survey, together=together, found=settled)


def _parts(found: Found) -> Iterator[Found | Lines]:
    """A file unchanged, or the parts of a large dump."""
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
